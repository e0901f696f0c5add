// What came back: the verdict in words, status and time, the content, and all of it as it came.

import { content, text } from "./content.js";
import { copyButton } from "./copy.js";
import { block, details, el } from "./dom.js";
import { verdict } from "./failure.js";
import { isList, isObject, member, number, own, parse } from "./json.js";

/** Show an answer: {status, statusText, headers, body (text), ms}; *refused* as for `verdict`. */
export function answer(given, refused) {
  const body = read(given.body);
  const found = verdict(given.status, body, refused);
  const guid = given.headers.find(([name]) => name === "guid")?.[1];
  const result = own(body, "result");
  return [
    headline(found, [
      `HTTP ${given.status}`,
      `${Math.round(given.ms)} ms`,
      found.unsent ? undefined : toolTime(result),
      found.reason && `reason: ${found.reason}`,
    ]),
    blame(found),
    guid && el("p", { class: "guid" }, el("span", {}, "Search the logs for guid "), el("code", {}, guid), copyButton("the guid", () => guid)),
    wrongs(body),
    ...content(own(result, "content")),
    structured(given.body, result),
    details("Headers", false, headers(given.headers)),
    details("The answer as it came", !isObject(body), el("div", { class: "caption" }, copyButton("the answer", () => given.body)), block("The answer as it came", shortened(given.body))),
  ];
}

/** Show that there is no answer. */
export const noAnswer = (found, ms) => [headline(found, [`after ${Math.round(ms)} ms`]), blame(found)];

const LONGEST = 200000;
const shortened = (whole) => (whole.length <= LONGEST ? whole : `${whole.slice(0, LONGEST)}\n… ${whole.length - LONGEST} more characters; Copy takes all of them.`);

function read(body) {
  try {
    return parse(body);
  } catch {
    return undefined;
  }
}

function headline(found, facts) {
  return el("div", { class: `verdict ${found.good ? "good" : "bad"}` },
    el("p", { class: "headline" }, found.headline),
    el("p", { class: "facts" }, facts.filter(Boolean).map((each) => el("span", {}, each))));
}

function blame(found) {
  if (found.good) return undefined;
  return el("dl", { class: "blame" },
    pair("What happened", [found.what, ...(found.more ?? [])].filter(Boolean).join(" ")),
    found.layer && pair("Layer", found.layer),
    found.who && pair("Who can mend it", found.who),
    found.next && pair("What to do", found.next));
}

const pair = (term, words) => el("div", {}, el("dt", {}, term), el("dd", {}, words));

function toolTime(result) {
  const first = isList(own(result, "content")) ? result.content[0] : undefined;
  const ms = number(own(own(first, "_meta"), "searchTime"));
  return ms === undefined ? undefined : `${ms} ms at the Tool Service`;
}

/** What a JSON-RPC error, or an error outside JSON-RPC, says. */
function wrongs(body) {
  const error = own(body, "error");
  const message = typeof error === "string" ? own(body, "message") : own(error, "message");
  const listed = own(own(error, "data"), "errors");
  if (isList(listed)) return el("ul", { class: "faults" }, listed.map((each) => el("li", {}, String(own(each, "message")))));
  return typeof message === "string" && el("p", { class: "message" }, message);
}

function structured(body, result) {
  if (!isObject(result) || !Object.hasOwn(result, "structuredContent")) return undefined;
  const written = member(member(body, "result"), "structuredContent");
  const shown = text(written);
  return details("Structured content", false, el("div", { class: "caption" }, shown.copy), shown.node);
}

const headers = (pairs) => el("dl", { class: "headers" }, pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
