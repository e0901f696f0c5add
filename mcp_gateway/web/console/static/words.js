// A schema's rules in a few words.

import { isList, isNumber, isObject, own, write } from "./json.js";

/** Return what the schema asks for: "string, 1 to 200 characters, format date". */
export function rules(schema) {
  if (schema === true) return ["anything"];
  if (schema === false) return ["nothing"];
  if (!isObject(schema)) return [];
  return [
    typeWords(schema),
    span(schema, "minimum", "maximum", "", "exclusiveMinimum", "exclusiveMaximum"),
    span(schema, "minLength", "maxLength", "characters"),
    span(schema, "minItems", "maxItems", "items"),
    span(schema, "minProperties", "maxProperties", "members"),
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

function typeWords(schema) {
  const said = own(schema, "type");
  const types = (isList(said) ? said : [said]).filter((each) => typeof each === "string");
  if (types.length > 0) return types.map((each) => (each === "array" ? listWords(schema) : each)).join(" or ");
  for (const keyword of ["oneOf", "anyOf", "allOf"]) {
    if (isList(own(schema, keyword))) return `${keyword === "allOf" ? "all" : keyword === "oneOf" ? "exactly one" : "one"} of ${schema[keyword].length} schemas`;
  }
  return undefined;
}

function listWords(schema) {
  const inner = own(own(schema, "items"), "type");
  return typeof inner === "string" ? `array of ${inner}` : "array";
}

function span(schema, low, high, unit, above, below) {
  const at = (name) => (name && isNumber(own(schema, name)) ? write(schema[name]) : undefined);
  const least = at(low) ?? (at(above) && `more than ${at(above)}`);
  const most = at(high) ?? (at(below) && `less than ${at(below)}`);
  const words = [unit].filter(Boolean);
  if (least && most) return at(low) && at(high) ? [least, "to", most, ...words].join(" ") : [`${least} and ${most}`, ...words].join(" ");
  if (least) return [at(low) ? `at least ${least}` : least, ...words].join(" ");
  if (most) return [at(high) ? `at most ${most}` : most, ...words].join(" ");
  return undefined;
}

function said(schema, name, write) {
  const value = own(schema, name);
  return typeof value === "string" ? write(value) : undefined;
}

/** Return the values that the schema shows: its default, examples, allowed values; each a pair of a word and JSON text. */
export function values(schema) {
  if (!isObject(schema)) return [];
  const pairs = [];
  if (isList(own(schema, "enum"))) pairs.push(["one of", schema.enum.map(write).join(", ")]);
  if (Object.hasOwn(schema, "const")) pairs.push(["always", write(schema.const)]);
  if (Object.hasOwn(schema, "default")) pairs.push(["default", write(schema.default)]);
  if (isList(own(schema, "examples")) && schema.examples.length > 0) pairs.push(["for example", schema.examples.map(write).join(", ")]);
  return pairs;
}
