// The place of an argument, spelled as the gateway spells it: filter.from, tags[2], ["two words"].

const PLAIN = /^[\p{L}\p{N}_$-]+$/u;

/** Return *path* one step further. */
export function step(path, name) {
  if (typeof name === "number") return `${path}[${name}]`;
  const short = cut(name);
  if (!PLAIN.test(name)) return `${path}[${JSON.stringify(short)}]`;
  return path ? `${path}.${short}` : short;
}

function cut(name) {
  const characters = [...name];
  return characters.length <= 100 ? name : `${characters.slice(0, 99).join("")}…`;
}

/** Return the place among *places* that *path* is at or in, the nearest one; undefined: there is none. */
export function nearest(places, path) {
  const holds = (place) => place === "" || path === place || path.startsWith(`${place}.`) || path.startsWith(`${place}[`);
  return [...places].filter(holds).sort((one, other) => other.length - one.length)[0];
}
