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
  const figures = {
    body: figure("JSON-RPC body"),
    http: figure("HTTP request"),
    curl: figure("curl"),
  };
  const note = el("p", { class: "faint" }, "The browser adds headers of its own, such as Origin and User-Agent.");

  return {
    node: el("section", { class: "card request", "aria-labelledby": `${group}-title` },
      el("h2", { id: `${group}-title` }, "The request"),
      el("fieldset", { class: "segments" }, el("legend", {}, "MCP revision"), versions.map(radio)),
      Object.values(figures).map((each) => each.node), note),

    /** Show the request of one revision; undefined: there is none, as the arguments are no JSON. */
    show(revision) {
      for (const [name, each] of Object.entries(figures)) each.show(revision?.[name]);
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
