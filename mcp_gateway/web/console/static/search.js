// A field that narrows a long list down, without asking anybody.

import { el, newId } from "./dom.js";

/** Make the field for *entries* ({node, text}); *empty* is shown when nothing fits, *noun* is what an entry is. */
export function search(entries, noun) {
  const id = newId();
  const said = el("p", { class: "faint", role: "status" }, counted(entries.length, entries.length, noun));
  const none = el("p", { class: "empty", hidden: true });
  const field = el("input", { type: "search", id, autocomplete: "off", spellcheck: "false", placeholder: "name, title or words", input: narrow, "data-search": true });

  function narrow() {
    const words = folded(field.value).split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { node, text } of entries) {
      const fits = words.every((word) => folded(text).includes(word));
      node.hidden = !fits;
      shown += fits ? 1 : 0;
    }
    said.textContent = counted(shown, entries.length, noun);
    none.hidden = shown > 0;
    none.textContent = `No ${noun} has “${field.value}”.`;
  }

  return { node: el("div", { class: "search" }, el("label", { for: id }, `Search ${noun}s`), field, said), none };
}

const folded = (text) => text.normalize("NFC").toLowerCase();
const counted = (shown, all, noun) => `${shown === all ? "" : `${shown} of `}${all} ${noun}${all === 1 ? "" : "s"}`;

/** Let "/" lead to the search field, as people are used to. */
export function install() {
  document.addEventListener("keydown", (event) => {
    const busy = event.target.closest?.("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey;
    const field = document.querySelector("[data-search]");
    if (event.key !== "/" || busy || !field) return;
    event.preventDefault();
    field.focus();
  });
}
