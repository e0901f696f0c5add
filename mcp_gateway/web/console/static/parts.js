// Pieces that several pages have.

import { el } from "./dom.js";

/** Say that calls from this page would be refused, where that is so. */
export const originNotice = (mayCall) =>
  !mayCall &&
  el("p", { class: "notice", role: "note" },
    "This gateway takes no calls from pages of ", el("code", {}, location.origin), ": Send and the check of arguments are refused until its operator adds that to ",
    el("code", {}, "server.allowed_origins"), ". Looking and copying work.");

export const chips = (pairs) => pairs.length > 0 && el("ul", { class: "chips", "aria-label": "Annotations" }, pairs.map(([words, meaning]) => el("li", { title: meaning }, words)));

export const warningList = (warnings) =>
  warnings.length > 0 && el("div", { class: "warnings" }, el("h2", {}, "Legal and harmful"), el("ul", {}, warnings.map((each) => el("li", {}, each))));

/** Make a list of facts; pairs of a term and a text or an element, those without a second part left out. */
export const facts = (pairs) =>
  el("dl", { class: "fact-list" }, pairs.filter(([, value]) => value !== undefined && value !== null && value !== "").map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))));
