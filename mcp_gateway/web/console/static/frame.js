// One field of the form: its label, its rules in words, its control, the way out to raw JSON, and what is wrong.

import { booleanControl, choiceControl, numberControl, rawControl, textControl } from "./controls.js";
import { button, el, newId } from "./dom.js";
import { listControl, objectControl } from "./groups.js";
import { parse } from "./json.js";
import { shape } from "./shape.js";
import { rules, values } from "./words.js";

const CONTROLS = {
  text: textControl,
  number: numberControl,
  boolean: booleanControl,
  choice: choiceControl,
  object: objectControl,
  list: listControl,
  raw: rawControl,
};

/** What an item of a list is while nothing is written in it. */
const EMPTY = { text: '""', object: "{}", list: "[]" };

/**
 * Make the field of one value.
 *
 * context: {root, frames, path, name, required, item, depth, changed}; `frames` knows every field by its place.
 */
export function frame(given, context) {
  const { root, frames, path, name, required, item, depth, changed, remove } = context;
  const found = shape(given, root, depth);
  const id = newId();
  const fault = el("p", { class: "fault", id: `${id}-fault`, hidden: true });
  const slot = el("div", { class: "slot" });
  const isGroup = found.kind === "object" || found.kind === "list";
  const way = button("JSON", () => turn(control === usual), {
    class: "quiet way",
    "aria-pressed": "false",
    "aria-label": `Write ${path || "all arguments"} as JSON`,
  });
  const usual = CONTROLS[found.kind](found, context);
  const raw = rawControl(found, context);
  let control;

  const words = item ? `Item ${Number(name) + 1}` : name;
  const title = isGroup ? el("span", { id: `${id}-name`, class: "name" }, words) : el("label", { for: id, class: "name" }, words);
  const hints = [
    ...rules(found.schema).map((each) => el("span", {}, each)),
    ...values(found.schema).map(([word, text]) => el("span", {}, `${word} `, el("code", {}, shortened(text)))),
  ];
  const about = el("div", { class: "about", id: `${id}-about` }, el("span", { class: "hints" }, hints), description(found.schema));
  const group = isGroup ? { role: "group", "aria-labelledby": `${id}-name` } : {};
  const node = el("div", { class: `field ${found.kind}`, "data-place": path, ...group },
    el("div", { class: "head" },
      el("div", { class: "what" }, title, required && !item && el("span", { class: "required" }, "required")),
      found.kind !== "raw" && way, remove),
    about, slot, fault);

  function use(chosen) {
    control = chosen;
    if (control.input) {
      control.input.id = id;
      control.input.setAttribute("aria-describedby", `${id}-about ${id}-fault`);
      if (isGroup) control.input.setAttribute("aria-label", `${path} as JSON`);
    }
    way.setAttribute("aria-pressed", String(control !== usual));
    slot.replaceChildren(control.node);
  }

  function turn(toRaw) {
    const text = control.text();
    if (toRaw) {
      use(raw);
      raw.input.value = text ?? "";
    } else if (!putText(usual, text)) {
      say("The form cannot show this; it stays JSON.");
      return;
    }
    (control.input ?? way).focus();
    changed();
  }

  function putText(target, text) {
    let value;
    try {
      value = text === undefined ? undefined : parse(text);
    } catch {
      return false;
    }
    if (value === undefined) target.clear();
    else if (!target.fill(value)) return false;
    use(target);
    return true;
  }

  function say(words) {
    fault.textContent = words ?? "";
    fault.hidden = !words;
    control.input?.setAttribute("aria-invalid", String(Boolean(words)));
  }

  const made = {
    node,
    say,
    broken: () => Boolean(control.broken?.()),
    focus: () => (control.input ?? node.querySelector("input, textarea, select, button"))?.focus(),
    text: () => control.text() ?? (item ? (EMPTY[found.kind] ?? "null") : undefined),
    fill(value) {
      if (value === undefined) {
        usual.clear();
        use(usual);
      } else if (usual.fill(value)) use(usual);
      else {
        raw.fill(value);
        use(raw);
      }
    },
    fillText(text) {
      if (!putText(usual, text)) {
        use(raw);
        raw.input.value = text ?? "";
      }
    },
    leave() {
      frames.delete(path);
      usual.leave?.();
    },
  };
  use(usual);
  frames.set(path, made);
  return made;
}

const LONGEST_HINT = 120;
const shortened = (text) => (text.length <= LONGEST_HINT ? text : `${text.slice(0, LONGEST_HINT)}…`);

function description(schema) {
  const title = typeof schema.title === "string" ? schema.title : "";
  const words = typeof schema.description === "string" ? schema.description : title;
  return words && el("p", { class: "words" }, words);
}
