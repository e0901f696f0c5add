// A schema for reading: what each member is, in words, and all of it as it was written.

import { copyButton } from "./copy.js";
import { block, details, el } from "./dom.js";
import { isList, isObject, own, pretty, write } from "./json.js";
import { resolved } from "./shape.js";
import { rules, values } from "./words.js";

const DEEPEST = 8;

/** Show the schema *given*, which *title* names. */
export function schemaView(title, given, open) {
  const written = pretty(write(given));
  return details(title, open,
    el("div", { class: "schema" },
      node(given, given, [], 0),
      details("As it was written", false, el("div", { class: "caption" }, copyButton(title, () => written)), block(title, written))));
}

/** *above*: the references that lead here; a schema may refer to itself. */
function node(schema, root, above, depth) {
  const reference = own(schema, "$ref");
  if (above.includes(reference)) return el("p", { class: "faint" }, "again ", el("code", {}, reference), ", as above");
  const found = resolved(schema, root);
  const parts = [el("p", { class: "hints" }, rules(found).map((each) => el("span", {}, each)))];
  if (!isObject(found)) return el("div", {}, parts);
  if (typeof found.description === "string") parts.push(el("p", { class: "words" }, found.description));
  parts.push(...values(found).map(([word, text]) => el("p", { class: "values" }, `${word} `, el("code", {}, text))));
  if (depth >= DEEPEST) return el("div", {}, parts, el("p", { class: "faint" }, "… and deeper"));
  const inner = (part) => node(part, root, reference === undefined ? above : [...above, reference], depth + 1);
  parts.push(members(found, inner));
  if (isObject(own(found, "items"))) parts.push(labelled("each item", inner(found.items)));
  for (const [keyword, words] of [["oneOf", "exactly one of"], ["anyOf", "one of"], ["allOf", "all of"], ["prefixItems", "item"]]) {
    if (isList(own(found, keyword))) parts.push(...found[keyword].map((each, index) => labelled(`${words} · ${index + 1}`, inner(each))));
  }
  if (isObject(own(found, "additionalProperties"))) parts.push(labelled("any other member", inner(found.additionalProperties)));
  return el("div", {}, parts.filter(Boolean));
}

function members(schema, inner) {
  const properties = own(schema, "properties");
  if (!isObject(properties)) return undefined;
  const needed = isList(own(schema, "required")) ? schema.required : [];
  const listed = Object.entries(properties).map(([name, part]) =>
    el("li", {}, el("p", { class: "member" }, el("code", {}, name), needed.includes(name) && el("span", { class: "required" }, "required")), inner(part)));
  return listed.length > 0 ? el("ul", { class: "tree" }, listed) : el("p", { class: "faint" }, "no members");
}

const labelled = (words, shown) => el("div", { class: "inner" }, el("p", { class: "faint" }, words), shown);
