// How long ago something was, in words.

const STEPS = [[60, "second"], [60, "minute"], [24, "hour"], [Infinity, "day"]];

/** Return how long before *now* the moment *then* was; both as the gateway writes them. */
export function age(then, now) {
  let count = Math.max(0, (Date.parse(now) - Date.parse(then)) / 1000);
  for (const [size, word] of STEPS) {
    const whole = Math.floor(count);
    if (count < size) return whole === 0 ? "just now" : `${whole} ${word}${whole === 1 ? "" : "s"} ago`;
    count /= size;
  }
  return "";
}
