// A button that puts a text on the clipboard, and says that it did.

import { button } from "./dom.js";

const SAID_MS = 1500;

/** Make the button; *what* names what is copied, *read* returns it. */
export function copyButton(what, read, label = "Copy") {
  const made = button(label, async () => {
    const done = (await toClipboard(read())) ? "Copied" : "Press Ctrl+C";
    made.textContent = done;
    setTimeout(() => {
      made.textContent = label;
    }, SAID_MS);
  }, { class: "quiet", "aria-label": `${label} ${what}`, "aria-live": "polite" });
  return made;
}

async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byHand(text);
  }
}

// Only pages of https and of this machine have navigator.clipboard.
function byHand(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "offscreen";
  document.body.append(area);
  area.select();
  try {
    return document.execCommand("copy");
  } finally {
    area.remove();
  }
}
