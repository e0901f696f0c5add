// A schema for reading: what each member is, in words, and all of it as it was written.

import { copyButton } from "./copy.js";
import { block, details, el } from "./dom.js";
import { isList, isObject, own, pretty, write } from "./json.js";
import { resolved, tuple } from "./shape.js";
import { rules, values } from "./words.js";

const DEEPEST = 8;

/** As many schemas are shown: references can make a small document stand for a very large one. */
const MOST = 1000;

const BRANCHES = [["oneOf", "exactly one of"], ["anyOf", "one of"], ["allOf", "all of"]];

/** Show the schema *given*, which *title* names. */
export function schemaView(title, given, open) {
  const written = pretty(write(given));
  return details(title, open,
    el("div", { class: "schema" },
      node(given, { root: given, above: [], depth: 0, room: { left: MOST } }),
      details("As it was written", false, el("div", { class: "caption" }, copyButton(title, () => written)), block(title, written))));
}

/** context: {root, above, depth, room}; *above*: the references that lead here; a schema may refer to itself. */
function node(schema, context) {
  const { root, above, depth, room } = context;
  const reference = own(schema, "$ref");
  if (above.includes(reference)) return el("p", { class: "faint" }, "again ", el("code", {}, reference), ", as above");
  room.left -= 1;
  const found = resolved(schema, root);
  const parts = [el("p", { class: "hints" }, rules(found).map((each) => el("span", {}, each)))];
  if (!isObject(found)) return el("div", {}, parts);
  for (const words of [own(found, "title"), own(found, "description")]) {
    if (typeof words === "string") parts.push(el("p", { class: "words" }, words));
  }
  parts.push(...values(found).map(([word, text]) => el("p", { class: "values" }, `${word} `, el("code", {}, text))));
  if (depth >= DEEPEST) return el("div", {}, parts, el("p", { class: "faint" }, "… and deeper"));
  if (room.left < 0) return el("div", {}, parts, el("p", { class: "faint" }, "… and more"));
  const inner = (part) => node(part, { ...context, above: reference === undefined ? above : [...above, reference], depth: depth + 1 });
  parts.push(members(found, inner), demands(found));
  parts.push(...inside(found).map(([words, part]) => labelled(words, inner(part))));
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

/** The members that have to be there and that the schema itself says nothing else of. */
function demands(schema) {
  const names = (isList(own(schema, "required")) ? schema.required : []).filter((name) => own(own(schema, "properties"), name) === undefined);
  return names.length > 0 && el("p", { class: "values" }, "requires ", el("code", {}, names.join(", ")));
}

/** Return the schemas within *schema* that are no members of a name, each with what it is of. */
function inside(schema) {
  const listed = tuple(schema) ?? [];
  const patterns = own(schema, "patternProperties");
  return [
    ...listed.map((part, index) => [`item ${index + 1}`, part]),
    ...BRANCHES.flatMap(([keyword, words]) => (isList(own(schema, keyword)) ? schema[keyword].map((part, index) => [`${words} · ${index + 1}`, part]) : [])),
    ...(isObject(patterns) ? Object.entries(patterns).map(([pattern, part]) => [`any member like ${pattern}`, part]) : []),
    [listed.length > 0 ? "any further item" : "each item", own(schema, "items")],
    ["any further item", own(schema, "additionalItems")],
    ["any other member", own(schema, "additionalProperties")],
    ["any other member", own(schema, "unevaluatedProperties")],
  ].filter(([, part]) => isObject(part));
}

const labelled = (words, shown) => el("div", { class: "inner" }, el("p", { class: "faint" }, words), shown);
