// The form of a tool's arguments, made from its inputSchema.

import { el } from "./dom.js";
import { frame, MOST_FIELDS } from "./frame.js";
import { nearest } from "./path.js";

/** Make the form; *changed* is called after every change. */
export function form(schema, changed) {
  const frames = new Map();
  const root = frame(schema, {
    root: schema,
    frames,
    path: "",
    name: "Arguments",
    required: true,
    item: false,
    depth: 0,
    above: ["#"],
    room: { left: MOST_FIELDS },
    changed,
  });
  const shown = () => new Map([...frames].filter(([, each]) => each.node.isConnected));

  return {
    node: el("form", { class: "arguments", "aria-label": "Arguments", autocomplete: "off", submit: (event) => event.preventDefault() }, root.node),

    /** The arguments as JSON text. */
    text: () => root.text() ?? "{}",

    /** Show the arguments that the JSON text *text* holds; what the form cannot show stays JSON. */
    fillText: root.fillText,

    clear: () => root.fill(undefined),

    /** The places of what is being written as JSON and is none yet. */
    broken: () => [...shown()].filter(([, each]) => each.broken()).map(([path]) => path),

    /** Say at each field what is wrong with it; *faults* are pairs of a place and a sentence. */
    show(faults) {
      const fields = shown();
      const said = new Map();
      for (const [path, words] of faults) {
        const at = nearest(fields.keys(), path);
        if (at) said.set(at, [...(said.get(at) ?? []), words]);
      }
      fields.forEach((each, path) => each.say(said.get(path)?.join("; ")));
    },
  };
}
