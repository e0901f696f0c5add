// The controls of single values. Each is {node, input, text, fill, clear}: text() is JSON, undefined where the value is
// left out; fill(value) returns whether the control can show the value.

import { el } from "./dom.js";
import { isJson, isNumber, write } from "./json.js";

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;
const LEFT_OUT = "";

export function textControl(_shape, { item, changed }) {
  const input = el("textarea", { rows: "1", spellcheck: "false", input: changed });
  return {
    node: input,
    input,
    text: () => (input.value === "" && !item ? undefined : JSON.stringify(input.value)),
    fill(value) {
      if (typeof value !== "string" || (value === "" && !item)) return false;
      input.value = value;
      return input.value === value;
    },
    clear: () => empty(input),
  };
}

export function numberControl(_shape, { changed }) {
  const input = el("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", input: changed });
  return {
    node: input,
    input,
    // What is no number goes out as text, so that it is the gateway that says so.
    text() {
      const written = input.value.trim();
      if (written === "") return undefined;
      return NUMBER.test(written) ? written : JSON.stringify(input.value);
    },
    fill(value) {
      if (!isNumber(value)) return false;
      input.value = value.rawJSON;
      return true;
    },
    clear: () => empty(input),
  };
}

export const booleanControl = (_shape, context) => choiceControl({ options: ["true", "false"] }, context);

export function choiceControl({ options, titles = [] }, { changed }) {
  const input = el("select", { change: changed }, el("option", { value: LEFT_OUT }, "(left out)"));
  const label = options.every((option) => option.startsWith('"')) ? plain : (option) => option; // "1" beside 1 needs its quotes
  options.forEach((option, index) => input.append(el("option", { value: String(index) }, called(label(option), titles[index]))));
  return {
    node: input,
    input,
    text: () => (input.value === LEFT_OUT ? undefined : options[Number(input.value)]),
    fill(value) {
      const index = options.indexOf(write(value));
      if (index < 0) return false;
      input.value = String(index);
      return true;
    },
    clear: () => empty(input),
  };
}

const called = (label, title) => (typeof title === "string" ? `${label} · ${title}` : label);
const plain = (text) => (text.startsWith('"') && text !== '""' ? JSON.parse(text) : text);

/** A field for any JSON, kept as it is written. */
export function rawControl(_shape, { changed }) {
  const input = el("textarea", { rows: "2", spellcheck: "false", class: "code", placeholder: "JSON", input: changed });
  return {
    node: input,
    input,
    text: () => (input.value.trim() === "" ? undefined : input.value),
    broken: () => input.value.trim() !== "" && !isJson(input.value),
    fill(value) {
      input.value = write(value);
      return true;
    },
    clear: () => empty(input),
  };
}

function empty(input) {
  input.value = "";
}
