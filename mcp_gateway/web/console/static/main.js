// Which page is shown. There is no state but the address.

import { Refused } from "./api.js";
import { button, el, fill } from "./dom.js";
import * as link from "./link.js";
import { overviewPage } from "./overview.js";
import { routePage } from "./route.js";
import * as search from "./search.js";
import { signInPage } from "./signin.js";
import * as token from "./token.js";
import { toolPage } from "./tool.js";

const main = document.getElementById("content");
const trail = document.getElementById("trail");
const leave = document.getElementById("leave");
let turn = 0;

async function render(first = false) {
  const mine = (turn += 1);
  const place = link.read(location.hash);
  showTrail(place);
  leave.hidden = !(token.needed() && token.read());
  if (token.needed() && !token.read()) return show(signInPage(false, render), false);
  main.setAttribute("aria-busy", "true");
  try {
    const page = await (place.tool ? toolPage(place, failed) : place.route ? routePage(place) : overviewPage());
    if (mine === turn) await show(page, !first);
  } catch (fault) {
    if (mine === turn) failed(fault);
  }
  return undefined;
}

/** Put a page up; *moved* says that a person came from another one, whose focus is gone. */
async function show(page, moved) {
  fill(main, ...page.nodes);
  main.removeAttribute("aria-busy");
  document.title = `${page.title} · MCP Gateway console`;
  if (moved) {
    window.scrollTo(0, 0);
    main.querySelector("h1")?.focus({ preventScroll: true });
  }
  await page.begin?.();
}

function failed(fault) {
  if (fault instanceof Refused && fault.status === 401) {
    token.forget();
    leave.hidden = true;
    show(signInPage(true, render), false);
    return;
  }
  if (!(fault instanceof Refused)) throw fault;
  show({
    title: "Nothing to show",
    nodes: [el("div", { class: "card" }, el("h1", { tabindex: "-1" }, fault.status === 404 ? "It is not there" : "Nothing to show"), el("p", { role: "alert" }, fault.message), el("p", { class: "actions" }, button("Look again", () => render()), el("a", { href: "#/" }, "All routes")))],
  }, true);
}

function showTrail(place) {
  const steps = [["MCP Gateway", {}], place.route && [place.route, { route: place.route }], place.tool && [place.tool, place]].filter(Boolean);
  fill(trail, el("ol", {}, steps.map(([words, to], index) => el("li", {}, el("a", { href: link.write({ route: to.route, tool: to.tool }), "aria-current": index === steps.length - 1 ? "page" : undefined }, words)))));
}

leave.addEventListener("click", () => {
  token.forget();
  render();
});
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => render());
search.install();
if (JSON.rawJSON) render(true);
else fill(main, el("p", { class: "notice" }, "This browser is too old for the console, which keeps every digit of a number: Chrome 114, Firefox 135 and Safari 18.4 can."));
