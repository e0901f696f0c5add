// The first page: every route, and how this gateway is.

import { age } from "./ages.js";
import * as api from "./api.js";
import { el } from "./dom.js";
import * as link from "./link.js";
import { originNotice } from "./parts.js";
import { search } from "./search.js";

const STATES = { ready: "Every route is ready.", not_ready: "Not every route is ready.", draining: "This gateway is about to stop." };

/** Return {title, nodes}. */
export async function overviewPage() {
  const overview = await api.overview();
  const entries = overview.routes.map((each) => ({ node: card(each, overview.now), text: [each.route, each.title, each.publicPath, ...each.tools.flatMap((tool) => [tool.name, tool.title])].filter(Boolean).join(" ") }));
  const narrow = search(entries, "route");
  return {
    title: "Routes",
    nodes: [
      el("div", { class: "page-head" }, el("h1", { tabindex: "-1" }, "Routes"), el("p", { class: "words lead" }, STATES[overview.status] ?? overview.status)),
      originNotice(overview.mayCall),
      overview.registryError && el("p", { class: "notice" }, `The routes could not be had: ${overview.registryError}`),
      overview.configurationFaults.length > 0 && el("div", { class: "notice" }, el("p", {}, "The newest configuration was not taken:"), el("ul", {}, overview.configurationFaults.map((each) => el("li", {}, each)))),
      entries.length > 3 && narrow.node,
      entries.length > 0 ? el("ul", { class: "routes" }, entries.map((each) => each.node)) : el("p", { class: "empty" }, "This gateway serves no route yet."),
      narrow.none,
      el("footer", { class: "faint" }, `mcp-gateway ${overview.version} · `, el("a", { href: "/console/manifest-v1.schema.json" }, "JSON Schema of a manifest")),
    ],
  };
}

function card(route, now) {
  const troubles = route.toolServices.filter((each) => each.state !== "loaded").length;
  return el("li", { class: "card" },
    el("h2", {}, el("a", { href: link.write({ route: route.route }) }, route.title ?? route.route)),
    el("p", { class: "tool-name" }, el("code", {}, route.publicPath)),
    el("p", { class: "facts" },
      el("span", { class: `tag ${route.ready ? "loaded" : "failed"}` }, route.ready ? "Ready" : "Not ready"),
      el("span", {}, `${route.tools.length} tool${route.tools.length === 1 ? "" : "s"}`),
      route.loadedAt && el("span", {}, "loaded ", age(route.loadedAt, now)),
      troubles > 0 && el("span", { class: "bad" }, `${troubles} Tool Service${troubles === 1 ? "" : "s"} in trouble`)));
}
