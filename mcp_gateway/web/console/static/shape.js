// What a schema asks for, as far as a form can show it; everything else is left to a field of raw JSON.

import { isList, isObject, own, write } from "./json.js";

/** As deep as forms nest. */
const DEEPEST = 6;

/** As often as a form follows one reference on the way to a field: a schema may refer to itself. */
const TURNS = 2;

/** Words about a value that say nothing of its shape. */
const ABOUT = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "x-mcp-header"];

/**
 * Return {kind, schema, options, titles, above}: kind is text, number, boolean, choice, object, list or raw; schema is
 * what is left of the references; options are the values of a choice, as JSON text, and titles what they are called;
 * above are the references that lead here, those of *led* first.
 */
export function shape(given, root, depth = 0, led = []) {
  const above = [...led];
  const schema = resolved(given, root, (reference) => above.push(reference));
  const again = above.some((each) => above.filter((other) => other === each).length > TURNS);
  return { ...shown(schema, root, again || depth > DEEPEST), above };
}

function shown(schema, root, tooDeep) {
  if (!isObject(schema)) return { kind: "raw", schema: typeof schema === "boolean" ? schema : {} };
  if (tooDeep) return { kind: "raw", schema };
  const offered = choices(schema);
  if (offered) return { kind: "choice", schema, ...offered };
  const type = typeOf(schema);
  if (type === "object" && isPlainObject(schema, root)) return { kind: "object", schema };
  if (type === "array" && isPlainList(schema)) return { kind: "list", schema };
  if (type === "string") return { kind: "text", schema };
  if (type === "integer" || type === "number") return { kind: "number", schema };
  if (type === "boolean") return { kind: "boolean", schema };
  return { kind: "raw", schema };
}

/**
 * Follow references within *root*, and look through what only wraps one schema: allOf with one member, "or null".
 *
 * *met* is told each reference.
 */
export function resolved(given, root, met = () => {}, followed = new Set()) {
  if (!isObject(given)) return given;
  const reference = own(given, "$ref");
  if (typeof reference === "string") {
    const target = pointed(root, reference);
    if (followed.has(reference) || !isObject(target)) return { ...about(given) };
    met(reference);
    return over(resolved(target, root, met, new Set([...followed, reference])), given, ["$ref", "$defs", "definitions"]);
  }
  const only = wrapped(given);
  if (!only) return given;
  return over(resolved(only.inner, root, met, followed), given, [only.keyword]);
}

/** Return the schema that *given* does nothing but wrap. */
function wrapped(given) {
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    const members = own(given, keyword);
    if (!isList(members) || !Object.keys(given).every((name) => name === keyword || ABOUT.includes(name))) continue;
    const others = keyword === "allOf" ? members : members.filter((each) => own(each, "type") !== "null");
    if (others.length === 1) return { keyword, inner: others[0] };
  }
  return undefined;
}

const over = (inner, outer, without) => {
  const left = Object.entries(outer).filter(([name]) => !without.includes(name));
  return isObject(inner) ? { ...inner, ...Object.fromEntries(left) } : inner;
};

const about = (schema) => Object.fromEntries(Object.entries(schema).filter(([name]) => ABOUT.includes(name)));

/** Return what a reference within the document points at. */
function pointed(root, reference) {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  const steps = decoded(reference.slice(2)).split("/").map((each) => each.replaceAll("~1", "/").replaceAll("~0", "~"));
  return steps.reduce((part, name) => (isList(part) ? part[Number(name)] : own(part, name)), root);
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Return the values that may be chosen from, with what they are called; undefined: there is no such list. */
function choices(schema) {
  const listed = own(schema, "enum");
  if (isList(listed) && listed.length > 0) return { options: listed.map(write), titles: [] };
  if (Object.hasOwn(schema, "const")) return { options: [write(schema.const)], titles: [] };
  const members = own(schema, "oneOf") ?? own(schema, "anyOf");
  const constants = isList(members) && members.length > 0 && members.every((each) => isObject(each) && Object.hasOwn(each, "const"));
  return constants ? { options: members.map((each) => write(each.const)), titles: members.map((each) => own(each, "title")) } : undefined;
}

/** Return the one type that the schema asks for, "or null" left aside. */
function typeOf(schema) {
  const said = own(schema, "type");
  const types = (isList(said) ? said : [said]).filter((each) => each !== "null" && each !== undefined);
  if (types.length === 1) return types[0];
  if (types.length > 1) return undefined;
  if (isObject(own(schema, "properties"))) return "object";
  return isObject(own(schema, "items")) ? "array" : undefined;
}

const isPlainObject = (schema, root) =>
  isObject(own(schema, "properties")) &&
  Object.keys(schema.properties).length > 0 &&
  !["oneOf", "anyOf", "allOf", "if"].some((name) => decides(own(schema, name), root));

// Alternatives that only say which members go together leave the members as they are.
const decides = (branches, root) => [branches].flat().some((each) => isObject(own(resolved(each, root), "properties")));

const isPlainList = (schema) => isObject(own(schema, "items")) && !tuple(schema);

/** Return the schemas of a list's first items, which draft-07 writes as items; undefined: there are none. */
export const tuple = (schema) => [own(schema, "prefixItems"), own(schema, "items")].find(isList);
