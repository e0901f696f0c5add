// Trying a tool: the form, what the gateway says while one types, the request, Send, and the answer.

import { answer, noAnswer } from "./answer.js";
import * as api from "./api.js";
import { copyButton } from "./copy.js";
import { button, el, fill } from "./dom.js";
import { cancelled, unanswered, verdict } from "./failure.js";
import { form } from "./form.js";
import { isList, own, parse, write as writeJson } from "./json.js";
import * as link from "./link.js";
import { request } from "./request.js";
import { send } from "./send.js";

const PAUSE_MS = 120;
const TICK_MS = 1000;

/** Make the trial of *tool* at *place*; {node, request}. */
export function trial(tool, place, failed) {
  let version = tool.versions.includes(place.version) ? place.version : tool.versions.at(-1);
  let touched = false;
  let checked;
  let asking;
  let timer;

  const fields = form(tool.inputSchema, changed);
  const panel = request(tool.versions, version, pick);
  const state = el("div", { class: "state", role: "status", "aria-busy": "true" });
  const outcome = el("div", { class: "outcome", "aria-live": "polite" });
  const sender = button("Send", call, { class: "primary" });
  const stopper = button("Stop waiting", () => {}, { hidden: true });
  const actions = el("div", { class: "actions" },
    sender, stopper,
    button("Fill in an example", example),
    button("Clear", clear),
    copyButton("a link to these arguments", () => new URL(here(), location.href).href, "Copy link"));

  function example() {
    fields.fillText(writeJson(tool.example));
    changed();
  }

  function clear() {
    fields.clear();
    fill(outcome);
    changed();
    touched = false;
  }

  function pick(chosen) {
    version = chosen;
    remember();
    show();
  }

  function here() {
    const text = fields.text();
    return link.write({ route: tool.route, tool: tool.name, version, arguments: text === "{}" ? undefined : text });
  }

  function remember() {
    const place = here();
    history.replaceState(null, "", place.length <= link.LONGEST ? place : link.write({ route: tool.route, tool: tool.name, version }));
  }

  function changed() {
    touched = true;
    checked = undefined;
    state.setAttribute("aria-busy", "true");
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE_MS);
  }

  /** Ask the gateway what it says to the arguments as they are; resolves when it has said so. */
  async function check() {
    clearTimeout(timer);
    asking?.abort();
    const mine = (asking = new AbortController());
    remember();
    const broken = fields.broken();
    if (broken.length > 0) {
      checked = { problem: `This is no JSON yet: ${broken.map((path) => path || "the arguments").join(", ")}.`, violations: [], revisions: [] };
      return show();
    }
    try {
      const said = await api.check(tool.route, tool.name, fields.text(), mine.signal);
      if (asking === mine) checked = said;
    } catch (fault) {
      if (fault.name === "AbortError") return undefined;
      checked = { problem: fault.message, violations: [], revisions: [], refusedBy: fault };
      if (fault.status === 401 || fault.status === 404) return failed(fault);
    }
    return show();
  }

  const current = () => checked?.revisions.find((each) => each.version === version);

  function show() {
    if (!checked) return;
    const revision = current();
    panel.show(checked.revisions, version);
    sender.disabled = !revision;
    fields.show(touched ? checked.violations.map((each) => [each.path, each.message]) : []);
    fill(state, ...said(checked, revision, touched));
    state.setAttribute("aria-busy", "false");
  }

  async function call() {
    if (!checked) await check();
    const revision = current();
    if (!revision || !sender.isConnected || !stopper.hidden) return;
    const stop = new AbortController();
    const began = performance.now();
    stopper.onclick = () => stop.abort();
    busy(true);
    const wait = el("p", { class: "waiting" }, "Waiting for the answer …");
    fill(outcome, wait);
    const ticking = setInterval(() => {
      wait.textContent = `Waiting for the answer … ${Math.round((performance.now() - began) / 1000)} s`;
    }, TICK_MS);
    const given = await send(tool.publicPath, revision, stop.signal).catch((fault) => fault);
    clearInterval(ticking);
    busy(false);
    if (given instanceof Error) fill(outcome, ...noAnswer(given.name === "AbortError" ? cancelled() : unanswered(), performance.now() - began));
    else fill(outcome, ...answer(given, Boolean(revision.refusal)));
    outcome.scrollIntoView({ block: "nearest" });
  }

  function busy(is) {
    sender.disabled = is;
    stopper.hidden = !is;
    (is ? stopper : sender).focus({ preventScroll: true });
  }

  const node = el("section", { class: "card trial", "aria-labelledby": "try-title", keydown: sendByKey },
    el("h2", { id: "try-title" }, "Try it"), fields.node, state, actions,
    el("p", { class: "faint keys" }, el("kbd", {}, "Ctrl"), " + ", el("kbd", {}, "Enter"), " sends."), outcome);

  function sendByKey(event) {
    // Enter also ends a syllable that is being put together.
    if (event.key !== "Enter" || event.isComposing || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    call();
  }

  return {
    node,
    request: panel.node,
    /** Begin; the elements must be on the page. */
    begin() {
      if (place.arguments !== undefined) {
        fields.fillText(place.arguments);
        touched = true;
      }
      return check();
    },
  };
}

/** What the gateway says to the arguments, as elements. */
function said(checked, revision, touched) {
  if (checked.refusedBy?.error === "origin_not_allowed") return [el("p", { class: "bad" }, verdict(403, { error: "origin_not_allowed" }).what)];
  if (checked.problem) return [el("p", { class: "bad" }, checked.problem)];
  if (!revision.refusal) return [el("p", { class: "good" }, "The arguments fit; Send makes the call.")];
  const faults = checked.violations.map((each) => each.message);
  const words = faults.length > 0 ? faults : [sentence(revision.refusal)];
  return [
    el("p", { class: touched ? "bad" : "" }, touched ? "The gateway would refuse this call, and send nothing:" : "Still to be filled in:"),
    el("ul", { class: "faults" }, words.map((each) => el("li", {}, each))),
    touched && el("p", { class: "faint" }, answered(revision.refusal)),
  ];
}

function sentence(refusal) {
  const body = parse(refusal.body);
  const content = own(own(body, "result"), "content");
  return String(own(own(body, "error"), "message") ?? own(body, "message") ?? (isList(content) ? own(content[0], "text") : refusal.body));
}

/** How the refusal looks on the wire. */
function answered(refusal) {
  const code = own(own(parse(refusal.body), "error"), "code");
  const form = code === undefined ? "a result with isError: true" : `JSON-RPC error ${code.rawJSON}`;
  return `It would answer HTTP ${refusal.status.rawJSON} with ${form}.`;
}
