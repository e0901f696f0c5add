// One field of the form: its label, its rules in words, its control, the way out to raw JSON, and what is wrong.

import { booleanControl, choiceControl, numberControl, rawControl, textControl } from "./controls.js";
import { button, el, newId } from "./dom.js";
import { listControl, objectControl } from "./groups.js";
import { isWhole, own, parse } from "./json.js";
import { shape } from "./shape.js";
import { TWICE, UNFINISHED, unshown } from "./unshown.js";
import { apart, named, rules, size, unnamed, values } from "./words.js";

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

/** As many fields are made at once: references can make a small schema stand for a very large form. */
export const MOST_FIELDS = 500;

/**
 * Make the field of one value.
 *
 * context: {root, frames, path, name, required, item, depth, above, room, changed}; `frames` knows every field by its
 * place, `above` are the references that lead here, `room.left` is how many more fields are made.
 */
export function frame(given, context) {
  const { root, frames, path, name, required, item, depth, room, changed, remove } = context;
  room.left -= 1;
  const found = shape(given, root, room.left < 0 ? Infinity : depth, context.above);
  const id = newId();
  const note = el("p", { class: "note", id: `${id}-note`, hidden: true });
  const fault = el("p", { class: "fault", id: `${id}-fault`, hidden: true });
  const slot = el("div", { class: "slot", input: () => tell(note, undefined) });
  const isGroup = found.kind === "object" || found.kind === "list";
  const way = button("JSON", () => turn(control === usual), {
    class: "quiet way",
    "aria-pressed": "false",
    "aria-label": `Write ${path || "all arguments"} as JSON`,
  });
  const usual = CONTROLS[found.kind](found, { ...context, above: found.above });
  const raw = rawControl(found, context);
  let control;

  const words = item ? `Item ${Number(name) + 1}` : name === "" ? '""' : name;
  const label = isGroup ? el("span", { id: `${id}-name`, class: "name" }, words) : el("label", { for: id, class: "name" }, words);
  const about = el("div", { class: "about", id: `${id}-about` }, hints(found, root, path === ""), path === "" ? undefined : description(found.schema));
  const group = isGroup ? { role: "group", "aria-labelledby": `${id}-name` } : {};
  const node = el("div", { class: `field ${found.kind}`, "data-place": path, ...group },
    el("div", { class: "head" },
      el("div", { class: "what" }, label, path !== "" && title(found.schema, name), required && !item && el("span", { class: "required" }, "required")),
      found.kind !== "raw" && way, remove),
    about, slot, note, fault);

  function use(chosen) {
    control = chosen;
    if (control.input) {
      control.input.id = id;
      control.input.setAttribute("aria-describedby", `${id}-about ${id}-note ${id}-fault`);
      if (isGroup) control.input.setAttribute("aria-label", `${path} as JSON`);
    }
    way.setAttribute("aria-pressed", String(control !== usual));
    slot.replaceChildren(control.node);
  }

  function turn(toRaw) {
    const text = control.text();
    if (toRaw) stay(text);
    else if (!putText(text)) return;
    (control.input ?? way).focus();
    changed();
  }

  /** Show *text* as JSON; *why* it has to be, in words. */
  function stay(text, why) {
    use(raw);
    raw.input.value = text ?? "";
    tell(note, why);
  }

  /** Show what *text* is in the usual control, or else say why it stays JSON; returns whether it is shown. */
  function putText(text) {
    let why;
    try {
      const value = text === undefined ? undefined : parse(text);
      why = value === undefined || isWhole(text, value) ? put(value) : TWICE;
    } catch {
      why = UNFINISHED;
    }
    if (why) stay(text, why);
    return !why;
  }

  /** Show *value* in the usual control; returns why that cannot be. */
  function put(value) {
    if (value === undefined) usual.clear();
    else if (!usual.fill(value)) return unshown(found.kind, value, Object.keys(own(found.schema, "properties") ?? {}));
    use(usual);
    tell(note, undefined);
    return undefined;
  }

  function say(words) {
    tell(fault, words);
    control.input?.setAttribute("aria-invalid", String(Boolean(words)));
  }

  const made = {
    node,
    say,
    broken: () => Boolean(control.broken?.()),
    focus: () => (control.input ?? node.querySelector("input, textarea, select, button"))?.focus(),
    text: () => control.text() ?? (item ? (EMPTY[found.kind] ?? "null") : undefined),
    fill(value) {
      const why = put(value);
      if (!why) return;
      raw.fill(value);
      stay(raw.text(), why);
    },
    fillText: putText,
    leave() {
      frames.delete(path);
      usual.leave?.();
    },
  };
  use(usual);
  frames.set(path, made);
  return made;
}

function tell(where, words) {
  where.textContent = words ?? "";
  where.hidden = !words;
}

/** The rules of a field; of the arguments as a whole only what no field says. */
function hints({ kind, schema }, root, whole) {
  const strangers = unnamed(schema, root);
  const words = [
    ...(whole ? [size(schema)] : rules(schema)),
    ...(kind === "raw" ? named(schema) : []),
    ...strangers,
    kind === "object" && strangers.length > 0 && "the JSON button takes those",
    ...apart(schema, root),
  ].filter(Boolean);
  return el("span", { class: "hints" },
    words.map((each) => el("span", {}, shortened(each))),
    whole ? [] : values(schema).map(([word, text]) => el("span", {}, `${word} `, el("code", {}, shortened(text)))));
}

const LONGEST_HINT = 120;
const shortened = (text) => (text.length <= LONGEST_HINT ? text : `${text.slice(0, LONGEST_HINT)}…`);

// Many schemas are made from code, and call "query" "Query".
const bare = (words) => words.toLowerCase().replaceAll(/[\s_-]/g, "");
const title = (schema, name) => typeof own(schema, "title") === "string" && bare(schema.title) !== bare(name) && el("span", { class: "called" }, schema.title);
const description = (schema) => typeof own(schema, "description") === "string" && el("p", { class: "words" }, schema.description);
