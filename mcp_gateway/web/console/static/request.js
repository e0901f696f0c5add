// The request that Send makes, shown in every form in which people want to copy it.

import { copyButton } from "./copy.js";
import { block, el, newId } from "./dom.js";

/** Make the panel; *versions* are those that the route speaks, *chosen* is called with the one that is picked. */
export function request(versions, version, chosen) {
  const group = newId();
  const radio = (each) => {
    const input = el("input", { type: "radio", name: group, value: each, checked: each === version, change: () => chosen(each) });
    return el("label", { class: "segment" }, input, el("span", {}, each));
  };
  const body = figure("JSON-RPC body");
  const http = figure("HTTP request");
  const curls = versions.map((each) => [each, figure(`curl for ${each}`)]).reverse();
  const note = el("p", { class: "faint" }, "The browser adds headers of its own, such as Origin and User-Agent.");

  return {
    node: el("section", { class: "card request", "aria-labelledby": `${group}-title` },
      el("h2", { id: `${group}-title` }, "The request"),
      el("fieldset", { class: "segments" }, el("legend", {}, "MCP revision"), versions.map(radio)),
      body.node, http.node, note, curls.map(([, each]) => each.node)),

    /** Show the requests of all *revisions*, that of *version* in every form; none while the arguments are no JSON. */
    show(revisions, version) {
      const of = (wanted) => revisions.find((each) => each.version === wanted);
      body.show(of(version)?.body);
      http.show(of(version)?.http);
      curls.forEach(([each, shown]) => shown.show(of(each)?.curl));
    },
  };
}

function figure(title) {
  let shown = "";
  const text = block(title);
  const copy = copyButton(title, () => shown);
  return {
    node: el("div", { class: "figure" }, el("div", { class: "caption" }, el("h3", {}, title), copy), text),
    show(given) {
      shown = given ?? "";
      text.textContent = given ?? "There is no request while the arguments are no JSON.";
      text.classList.toggle("empty", given === undefined);
      copy.disabled = given === undefined;
    },
  };
}
