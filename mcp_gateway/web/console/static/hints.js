// A tool's annotations in words. They are what its owner says, and nothing that the gateway checks.

import { own } from "./json.js";

const WORDS = {
  readOnlyHint: ["reads only", "may change things"],
  destructiveHint: ["may destroy", "destroys nothing"],
  idempotentHint: ["may be repeated", "each call counts"],
  openWorldHint: ["reaches the outside", "stays inside"],
};

/** Return the words for what is declared, as pairs of word and annotation. */
export function hints(annotations) {
  return Object.entries(WORDS).flatMap(([name, [yes, no]]) => {
    const value = own(annotations, name);
    return typeof value === "boolean" ? [[value ? yes : no, `${name}: ${value}`]] : [];
  });
}
