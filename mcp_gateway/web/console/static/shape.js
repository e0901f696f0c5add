// What a schema asks for, as far as a form can show it; everything else is left to a field of raw JSON.

import { isList, isObject, own, write } from "./json.js";

/** As deep as forms nest; schemas may refer to themselves. */
const DEEPEST = 6;

const SCALARS = ["string", "integer", "number", "boolean"];

/** Words about a value that say nothing of its shape. */
const ABOUT = ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "$comment", "x-mcp-header"];

/**
 * Return {kind, schema, options}: kind is text, number, boolean, choice, object, list or raw; schema is what is left of
 * the references; options are the values of a choice, as JSON text.
 */
export function shape(given, root, depth = 0) {
  const schema = resolved(given, root);
  if (!isObject(schema) || depth > DEEPEST) return { kind: "raw", schema: isObject(schema) ? schema : {} };
  const options = choices(schema);
  if (options) return { kind: "choice", schema, options };
  const type = typeOf(schema);
  if (type === "object" && isPlainObject(schema)) return { kind: "object", schema };
  if (type === "array" && isPlainList(schema)) return { kind: "list", schema };
  if (type === "string") return { kind: "text", schema };
  if (type === "integer" || type === "number") return { kind: "number", schema };
  if (type === "boolean") return { kind: "boolean", schema };
  return { kind: "raw", schema };
}

/** Follow references within *root*, and look through what only wraps one schema: allOf with one member, "or null". */
export function resolved(given, root, followed = new Set()) {
  if (!isObject(given)) return given;
  const reference = own(given, "$ref");
  if (typeof reference === "string") {
    const target = pointed(root, reference);
    if (followed.has(reference) || !isObject(target)) return { ...about(given) };
    return over(resolved(target, root, new Set([...followed, reference])), given, ["$ref", "$defs", "definitions"]);
  }
  const only = wrapped(given);
  if (!only) return given;
  return over(resolved(only.inner, root, followed), given, [only.keyword]);
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
export function pointed(root, reference) {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  const steps = reference.slice(2).split("/").map((each) => unescaped(each));
  return steps.reduce((part, name) => (isList(part) ? part[Number(name)] : own(part, name)), root);
}

function unescaped(text) {
  const plain = text.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** Return the values that may be chosen from, as JSON text; undefined: there is no such list. */
function choices(schema) {
  const listed = own(schema, "enum");
  if (isList(listed) && listed.length > 0) return listed.map(write);
  if (Object.hasOwn(schema, "const")) return [write(schema.const)];
  const members = own(schema, "oneOf") ?? own(schema, "anyOf");
  const constants = isList(members) && members.length > 0 && members.every((each) => isObject(each) && Object.hasOwn(each, "const"));
  return constants ? members.map((each) => write(each.const)) : undefined;
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

const isPlainObject = (schema) =>
  isObject(own(schema, "properties")) &&
  Object.keys(schema.properties).length > 0 &&
  !["patternProperties", "oneOf", "anyOf", "allOf", "if"].some((name) => Object.hasOwn(schema, name) && decides(schema, name));

// Alternatives that only say which members go together leave the members as they are.
const decides = (schema, name) =>
  name === "patternProperties" || [own(schema, name)].flat().some((each) => isObject(own(each, "properties")));

const isPlainList = (schema) => isObject(own(schema, "items")) && !Object.hasOwn(schema, "prefixItems");

export const isScalar = (type) => SCALARS.includes(type);
