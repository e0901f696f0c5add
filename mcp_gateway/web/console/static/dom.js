// Making elements. Whatever text goes in stays text: nothing here reads markup.

let lastId = 0;

/** Return an id that no other element has. */
export const newId = () => `n${(lastId += 1)}`;

/** Make an element; an attribute of undefined, null or false is left out, and so is such a child. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...present(children));
  return made;
}

/** Put *children* in the place of all that *parent* holds. */
export const fill = (parent, ...children) => parent.replaceChildren(...present(children));

const present = (children) => children.flat().filter((each) => each !== undefined && each !== null && each !== false);

/** Make a button. */
export const button = (label, click, attributes = {}) => el("button", { type: "button", click, ...attributes }, label);

/** Make something that opens; *open* says whether it is. */
export const details = (summary, open, ...children) => el("details", { open }, el("summary", {}, summary), ...children);

/** Make a block of text as it is, which scrolls where it is too long and can be reached with the keyboard. */
export const block = (label, text = "") =>
  el("pre", { tabindex: "0", role: "region", "aria-label": label, class: "block" }, text);
