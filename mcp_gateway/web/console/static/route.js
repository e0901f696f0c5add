// The page of one route: its tools, its snapshot, its Tool Services, and what is left out.

import { age } from "./ages.js";
import * as api from "./api.js";
import { copyButton } from "./copy.js";
import { el } from "./dom.js";
import { hints } from "./hints.js";
import { number, own } from "./json.js";
import * as link from "./link.js";
import { chips, facts, originNotice } from "./parts.js";
import { search } from "./search.js";

const STATES = {
  loaded: ["Loaded", "its manifest is served as it was last read"],
  stale: ["Stale", "the newest load failed, and the last good manifest is kept"],
  fallback: ["Fallback", "the local fallback manifest stands in"],
  failed: ["Failed", "nothing of it is served"],
};

/** Return {title, nodes} for the route that *place* names. */
export async function routePage(place) {
  const overview = await api.overview();
  const route = overview.routes.find((each) => each.route === place.route);
  if (!route) throw new api.Refused(404, `There is no route “${place.route}” at this moment.`);
  const now = overview.now;
  const path = location.origin + route.publicPath;
  return {
    title: route.route,
    nodes: [
      el("div", { class: "page-head" },
        el("h1", { tabindex: "-1" }, route.title ?? route.route),
        el("p", { class: "tool-name" }, el("code", {}, path), copyButton("the address", () => path)),
        facts([
          ["State", route.ready ? "ready" : "not ready"],
          ["Speaks", route.versions.join(", ")],
          ["Loaded", route.loadedAt ? el("time", { datetime: route.loadedAt, title: route.loadedAt }, age(route.loadedAt, now)) : "not yet"],
          ["Snapshot", route.digest ? digest(route.digest) : undefined],
          ["Loads that failed", number(route.loadFailures) > 0 ? String(number(route.loadFailures)) : undefined],
        ])),
      originNotice(overview.mayCall),
      route.error && el("p", { class: "notice" }, `The route could not be renewed: ${route.error}.`),
      tools(route),
      el("section", { class: "card", "aria-labelledby": "services" }, el("h2", { id: "services" }, "Tool Services"), el("ul", { class: "services" }, route.toolServices.map((each) => service(each, now)))),
      leftOut(route),
      warnings(route),
    ],
  };
}

const digest = (whole) => [el("code", { title: whole }, whole.slice(0, 12)), " ", copyButton("the whole digest", () => whole)];

function tools(route) {
  const entries = route.tools.map((each) => ({ node: row(route, each), text: [each.name, each.title, each.description, each.toolService].filter(Boolean).join(" ") }));
  const narrow = search(entries, "tool");
  return el("section", { class: "card", "aria-labelledby": "tools" },
    el("h2", { id: "tools" }, "Tools"),
    entries.length > 0 ? [narrow.node, el("ul", { class: "tools" }, entries.map((each) => each.node)), narrow.none] : el("p", { class: "empty" }, "This route has no tools yet. What its Tool Services say is below."));
}

function row(route, tool) {
  const title = typeof tool.title === "string" ? tool.title : own(tool.annotations, "title");
  return el("li", {},
    el("a", { href: link.write({ route: route.route, tool: tool.name }), class: "tool-link" }, el("span", { class: "title" }, title ?? tool.name), el("code", {}, tool.name)),
    el("p", { class: "words clamp" }, tool.description),
    chips(hints(tool.annotations)));
}

function service(report, now) {
  const [word, meaning] = STATES[report.state] ?? [report.state, ""];
  return el("li", {},
    el("p", { class: "service" }, el("strong", {}, report.name), el("span", { class: `tag ${report.state}` }, word), el("span", { class: "faint" }, meaning)),
    el("p", { class: "faint" }, `${number(report.tools)} of its tools are served`, report.loadedAt && [", read ", el("time", { datetime: report.loadedAt, title: report.loadedAt }, age(report.loadedAt, now))]),
    report.error && el("p", { class: "bad" }, report.error));
}

function leftOut(route) {
  const all = route.toolServices.flatMap((each) => each.leftOut.map((one) => ({ ...one, service: each.name })));
  if (all.length === 0) return undefined;
  return el("section", { class: "card", "aria-labelledby": "left-out" },
    el("h2", { id: "left-out" }, `Left out (${all.length})`),
    el("ul", { class: "left-out" }, all.map((each) => el("li", {}, el("p", {}, el("code", {}, each.tool), el("span", { class: "faint" }, ` of ${each.service}, at `), el("code", {}, each.place)), el("p", { class: "bad" }, each.reason)))));
}

function warnings(route) {
  if (route.warnings.length === 0) return undefined;
  return el("section", { class: "card", "aria-labelledby": "warnings" },
    el("h2", { id: "warnings" }, `Legal and harmful (${route.warnings.length})`),
    el("ul", { class: "left-out" }, route.warnings.map((each) => el("li", {}, el("a", { href: link.write({ route: route.route, tool: each.tool }) }, el("code", {}, each.tool)), el("p", {}, each.warning)))));
}
