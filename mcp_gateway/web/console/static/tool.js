// The page of one tool.

import * as api from "./api.js";
import { copyButton } from "./copy.js";
import { el } from "./dom.js";
import { hints } from "./hints.js";
import { isList, isObject, number, own, write } from "./json.js";
import { chips, facts, originNotice, warningList } from "./parts.js";
import { schemaView } from "./schema.js";
import { trial } from "./trial.js";

/** Return {title, nodes, begin} for the tool that *place* names. */
export async function toolPage(place, failed) {
  const tool = await api.tool(place.route, place.tool);
  const title = typeof tool.title === "string" ? tool.title : (own(tool.annotations, "title") ?? tool.name);
  const tried = trial(tool, place, failed);
  const header = el("div", { class: "page-head" },
    icon(tool.icons),
    el("h1", { tabindex: "-1" }, title),
    el("p", { class: "tool-name" }, el("code", {}, tool.name), copyButton("the name", () => tool.name)),
    el("p", { class: "words lead" }, tool.description || "(no description)"),
    chips(hints(tool.annotations)),
    facts([
      ["Tool Service", tool.toolService],
      ["Path there", el("code", {}, tool.endpoint)],
      ["Time budget", budget(tool)],
      ["Answer", tool.resultFormat === "mcp" ? "a whole MCP result" : undefined],
      ["Mirrored", tool.mirrored.map((each) => `${each.path.join(".")} in ${each.header}`).join(", ")],
      ["Version", own(tool._meta, "version") && String(own(tool._meta, "version"))],
    ]));
  const schemas = el("section", { class: "card", "aria-labelledby": "schemas" },
    el("h2", { id: "schemas" }, "Schemas"),
    schemaView("inputSchema", tool.inputSchema, false),
    tool.outputSchema === undefined ? el("p", { class: "faint" }, "There is no outputSchema: the answer may have any form.") : schemaView("outputSchema", tool.outputSchema, false),
    isObject(tool._meta) && el("p", { class: "values" }, "_meta ", el("code", {}, write(tool._meta))),
    isObject(tool.annotations) && el("p", { class: "values" }, "annotations ", el("code", {}, write(tool.annotations))));
  return {
    title: `${tool.name} · ${tool.route}`,
    nodes: [header, originNotice(tool.mayCall), warningList(tool.warnings), el("div", { class: "bench" }, tried.node, tried.request), schemas],
    begin: tried.begin,
  };
}

function budget(tool) {
  const seconds = number(tool.budgetS);
  return seconds === undefined ? undefined : `${seconds} s`;
}

const EMBEDDED = /^data:image\/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]+$/;

/** Show an icon that the manifest itself holds; one from elsewhere is never fetched. */
function icon(icons) {
  const found = (isList(icons) ? icons : []).map((each) => own(each, "src")).find((src) => typeof src === "string" && EMBEDDED.test(src));
  return found && el("img", { class: "icon", src: found, alt: "", width: "40", height: "40" });
}
