// The controls of objects and lists: fields within a field.

import { button, el } from "./dom.js";
import { frame, MOST_FIELDS } from "./frame.js";
import { isList, isObject, own } from "./json.js";
import { step } from "./path.js";

export function objectControl({ schema }, context) {
  const needed = isList(own(schema, "required")) ? schema.required : [];
  const names = Object.keys(schema.properties);
  const frames = new Map(
    names.map((name) => [
      name,
      frame(schema.properties[name], {
        ...context,
        name,
        path: step(context.path, name),
        required: needed.includes(name),
        item: false,
        remove: undefined,
        depth: context.depth + 1,
      }),
    ]),
  );
  return {
    node: el("div", { class: "members" }, [...frames.values()].map((each) => each.node)),
    text() {
      const members = names.flatMap((name) => {
        const text = frames.get(name).text();
        return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
      });
      return members.length === 0 && !context.required && !context.item ? undefined : `{${members.join(",")}}`;
    },
    fill(value) {
      if (!isObject(value) || !Object.keys(value).every((name) => frames.has(name))) return false;
      if (Object.keys(value).length === 0 && !context.required && !context.item) return false;
      for (const [name, each] of frames) each.fill(own(value, name));
      return true;
    },
    clear: () => frames.forEach((each) => each.fill(undefined)),
    leave: () => frames.forEach((each) => each.leave()),
  };
}

export function listControl({ schema }, context) {
  const frames = [];
  const items = el("ol", { class: "items" });
  const add = button("Add an item", () => {
    push().focus();
    context.changed();
  }, { class: "quiet", "aria-label": `Add an item to ${context.path || "the list"}` });

  function push() {
    const index = frames.length;
    const remove = button("Remove", () => take(made), { class: "quiet", "aria-label": `Remove ${step(context.path, index)}` });
    const made = frame(schema.items, {
      ...context,
      name: String(index),
      path: step(context.path, index),
      required: true,
      item: true,
      depth: context.depth + 1,
      // Items are made one by one, as somebody asks for them.
      above: [],
      room: { left: MOST_FIELDS },
      remove,
    });
    const row = el("li", {}, made.node);
    frames.push({ ...made, row });
    items.append(row);
    return made;
  }

  function take(made) {
    // The places of those behind it change, so they are made anew.
    const at = frames.findIndex((each) => each.node === made.node);
    const texts = frames.slice(at + 1).map((each) => each.text());
    clear(at);
    texts.forEach((text) => push().fillText(text));
    (frames[at]?.focus ?? (() => add.focus()))();
    context.changed();
  }

  function clear(from) {
    frames.splice(from).forEach((each) => {
      each.leave();
      each.row.remove();
    });
  }

  return {
    node: el("div", {}, items, add),
    text: () => (frames.length === 0 && !context.required && !context.item ? undefined : `[${frames.map((each) => each.text()).join(",")}]`),
    fill(value) {
      if (!isList(value) || (value.length === 0 && !context.required && !context.item)) return false;
      clear(0);
      value.forEach((each) => push().fill(each));
      return true;
    },
    clear: () => clear(0),
    leave: () => clear(0),
  };
}
