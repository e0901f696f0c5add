// A schema's rules in a few words.

import { isList, isNumber, isObject, own, write } from "./json.js";
import { resolved, tuple } from "./shape.js";

/** Return what the schema asks for: "string, 1 to 200 characters, format date". */
export function rules(schema) {
  if (schema === true) return ["anything"];
  if (schema === false) return ["nothing"];
  if (!isObject(schema)) return [];
  return [
    typeWords(schema),
    span(schema, "minimum", "maximum", "", "exclusiveMinimum", "exclusiveMaximum"),
    span(schema, "minLength", "maxLength", "character"),
    span(schema, "minItems", "maxItems", "item"),
    size(schema),
    own(schema, "uniqueItems") === true && "no two alike",
    isNumber(own(schema, "multipleOf")) && `a multiple of ${write(schema.multipleOf)}`,
    said(schema, "format", (value) => `format ${value}`),
    said(schema, "pattern", (value) => `pattern ${value}`),
    said(schema, "contentMediaType", (value) => `holds ${value}`),
    own(schema, "additionalProperties") === false && "no other members",
    said(schema, "x-mcp-header", (value) => `mirrored in the header Mcp-Param-${value}`),
    own(schema, "deprecated") === true && "deprecated",
  ].filter(Boolean);
}

/** Return how many members the schema asks for; undefined: it does not say. */
export const size = (schema) => span(schema, "minProperties", "maxProperties", "member");

/** Return what the schema says of members that it does not name: "other members: string". *root*: what references are within. */
export const unnamed = (schema, root) => (isObject(schema) ? [...patterned(schema, root), ...others(schema, root)] : []);

/** Return the alternatives that the schema leaves, and what the items of a list are one by one. */
export const apart = (schema, root) => (isObject(schema) ? [...ways(schema, root), ...places(schema, root)] : []);

const patterned = (schema, root) =>
  Object.entries(isObject(own(schema, "patternProperties")) ? schema.patternProperties : {}).map(
    ([pattern, part]) => `members like ${pattern}: ${brief(part, root)}`,
  );

function others(schema, root) {
  const part = own(schema, "additionalProperties") ?? own(schema, "unevaluatedProperties");
  if (!isObject(part)) return [];
  const some = isObject(own(schema, "properties")) || isObject(own(schema, "patternProperties"));
  return [`${some ? "other members" : "each member"}: ${brief(part, root)}`];
}

/** Alternatives, each in one breath; of those that only say which members have to be there, the members. */
function ways(schema, root) {
  return [["anyOf", "at least one of"], ["oneOf", "exactly one of"]].flatMap(([keyword, words]) => {
    const branches = own(schema, keyword);
    if (!isList(branches) || branches.every(isConstant)) return [];
    if (branches.every(onlyRequires)) return [`${words}: ${branches.map((each) => each.required.join(" with ")).join(" or ")}`];
    return [`${words}: ${branches.map((each, index) => `(${index + 1}) ${brief(each, root)}`).join(" ")}`];
  });
}

const isConstant = (schema) => isObject(schema) && Object.hasOwn(schema, "const");
const onlyRequires = (schema) => isList(own(schema, "required")) && Object.keys(schema).length === 1;

function places(schema, root) {
  const listed = tuple(schema);
  if (!listed) return [];
  const rest = isList(own(schema, "prefixItems")) ? own(schema, "items") : own(schema, "additionalItems");
  const words = listed.map((part, index) => `item ${index + 1}: ${brief(part, root)}`);
  if (rest === false) return [...words, "no further items"];
  return isObject(rest) ? [...words, `further items: ${brief(rest, root)}`] : words;
}

/** Return the names of the members, for where none of them is shown. */
export function named(schema) {
  const names = Object.keys(own(schema, "properties") ?? {});
  return names.length > 0 ? [`with ${names.join(", ")}`] : [];
}

/** Return a schema within a schema in one breath. */
function brief(given, root) {
  const schema = resolved(given, root);
  const fixed = values(schema).filter(([word]) => word === ALLOWED || word === ALWAYS);
  const words = [
    ...rules(schema),
    ...named(schema),
    ...fixed.map(([word, text]) => `${word} ${text}`),
  ].filter(Boolean);
  return words.join(", ") || "anything";
}

function typeWords(schema) {
  const said = own(schema, "type");
  const types = (isList(said) ? said : [said]).filter((each) => typeof each === "string");
  if (types.length > 0) return types.map((each) => (each === "array" ? listWords(schema) : each)).join(" or ");
  for (const [keyword, words] of [["oneOf", "exactly one of"], ["anyOf", "one of"], ["allOf", "all of"]]) {
    if (isList(own(schema, keyword)) && !schema[keyword].every(isConstant)) return `${words} ${counted(String(schema[keyword].length), "schema")}`;
  }
  return undefined;
}

function listWords(schema) {
  const inner = tuple(schema) ? undefined : own(own(schema, "items"), "type");
  return typeof inner === "string" ? `array of ${inner}` : "array";
}

function span(schema, low, high, unit, above, below) {
  const at = (name) => (name && isNumber(own(schema, name)) ? write(schema[name]) : undefined);
  const [least, most] = [at(low), at(high)];
  const from = least ?? (at(above) && `more than ${at(above)}`);
  const to = most ?? (at(below) && `less than ${at(below)}`);
  if (least !== undefined && least === most) return counted(`exactly ${least}`, unit);
  if (from && to) return counted(least && most ? `${least} to ${most}` : `${from} and ${to}`, unit);
  if (from) return counted(least ? `at least ${least}` : from, unit);
  return to && counted(most ? `at most ${most}` : to, unit);
}

/** Return *words*, which end in a number, with what is counted: "at least 1 item", "2 to 3 items". */
const counted = (words, unit) => (unit ? `${words} ${unit}${/(?:^|\s)1$/.test(words) ? "" : "s"}` : words);

function said(schema, name, write) {
  const value = own(schema, name);
  return typeof value === "string" ? write(value) : undefined;
}

const ALLOWED = "one of";
const ALWAYS = "always";

/** Return the values that the schema shows: its default, examples, allowed values; each a pair of a word and JSON text. */
export function values(schema) {
  if (!isObject(schema)) return [];
  const pairs = [];
  if (isList(own(schema, "enum"))) pairs.push([ALLOWED, schema.enum.map(write).join(", ")]);
  if (Object.hasOwn(schema, "const")) pairs.push([ALWAYS, write(schema.const)]);
  if (Object.hasOwn(schema, "default")) pairs.push(["default", write(schema.default)]);
  if (isList(own(schema, "examples")) && schema.examples.length > 0) pairs.push(["for example", schema.examples.map(write).join(", ")]);
  return pairs;
}
