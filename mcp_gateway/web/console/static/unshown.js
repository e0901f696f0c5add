// Why a control cannot show a value, as a sentence.

import { isList, isNumber, isObject } from "./json.js";

const TAKES = {
  text: "text",
  number: "a number",
  boolean: "true or false",
  choice: "one of the values that it offers",
  object: "an object",
  list: "a list",
};

const LONGEST = 60;

/** Return why the control for *kind* cannot show *value*; *members* are those that an object's control has fields for. */
export function unshown(kind, value, members) {
  const nature = natureOf(value);
  if (TAKES[kind] !== nature) return stays(`The field takes ${TAKES[kind]}, and this is ${kind === "choice" ? "none of them" : nature}`);
  if (kind === "object") {
    const strangers = Object.keys(value).filter((name) => !members.includes(name));
    if (strangers.length > 0) return stays(`The form has no field for ${cut(strangers.map((name) => JSON.stringify(name)).join(", "))}`);
  }
  if (kind === "text" && value !== "") return stays("The field would change a character of this text");
  return stays(`The form would leave out ${kind === "text" ? "an empty text" : `${TAKES[kind]} that is empty`}`);
}

/** What is said of a text that is no JSON. */
export const UNFINISHED = stays("This is no JSON yet");

/** What is said of an object of which a form would keep one member only. */
export const TWICE = stays("An object in this has two members of one name, and the form would keep the last one alone");

function stays(why) {
  return `${why}, so it stays JSON.`;
}

function natureOf(value) {
  if (value === null) return "null";
  if (typeof value === "boolean") return TAKES.boolean;
  if (typeof value === "string") return TAKES.text;
  if (isNumber(value)) return TAKES.number;
  if (isList(value)) return TAKES.list;
  return isObject(value) ? TAKES.object : undefined;
}

const cut = (text) => (text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`);
