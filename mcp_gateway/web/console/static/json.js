// JSON whose digits are kept: numbers are held as the text that they came as.

/** Read JSON; a number becomes what JSON.isRawJSON knows. */
export const parse = (text) =>
  JSON.parse(text, (_, value, context) => (typeof value === "number" ? JSON.rawJSON(context.source) : value));

/** Write what `parse` has read, without white space. */
export const write = (value) => JSON.stringify(value);

export const isNumber = (value) => JSON.isRawJSON(value);
export const number = (value) => (isNumber(value) ? Number(value.rawJSON) : undefined);
export const isList = (value) => Array.isArray(value);
export const isObject = (value) => typeof value === "object" && value !== null && !isList(value) && !isNumber(value);

/** Return the member of that very name, and nothing that JavaScript gives every object. */
export const own = (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined);

/** Return whether *text* is one JSON value. */
export function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Return whether *value*, which was read from *text*, holds all of it: of two members of one name only the last is kept. */
export const isWhole = (text, value) => text.match(TOKEN).length === write(value).match(TOKEN).length;

/** Return valid JSON with a line for each member; digits and the order of members stay, escaped letters are shown. */
export function pretty(text) {
  const tokens = text.match(TOKEN) ?? [];
  const out = [];
  let depth = 0;
  const line = () => `\n${"  ".repeat(depth)}`;
  tokens.forEach((token, index) => {
    if (token === "{" || token === "[") {
      const empty = tokens[index + 1] === (token === "{" ? "}" : "]");
      depth += 1;
      out.push(token, empty ? "" : line());
    } else if (token === "}" || token === "]") {
      depth -= 1;
      const empty = tokens[index - 1] === (token === "}" ? "{" : "[");
      out.push(empty ? "" : line(), token);
    } else if (token === ",") out.push(",", line());
    else if (token === ":") out.push(": ");
    else out.push(token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token);
  });
  return out.join("");
}

/** Return the text of a member of an object, as it is written in the valid JSON *text*; undefined: it has none. */
export function member(text, name) {
  let depth = 0;
  let key;
  let start;
  let last;
  for (const found of text.matchAll(TOKEN)) {
    const token = found[0];
    const end = found.index + token.length;
    if (depth === 1 && start !== undefined && (token === "," || token === "}")) {
      if (key === name) return text.slice(start, found.index).trim();
      start = undefined;
    }
    if (depth === 1 && start === undefined && token === ":") {
      key = JSON.parse(last);
      start = end;
    }
    if (token === "{" || token === "[") depth += 1;
    if (token === "}" || token === "]") depth -= 1;
    last = token;
  }
  return undefined;
}
