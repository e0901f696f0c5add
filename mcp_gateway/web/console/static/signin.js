// Asking for the console's token, which stays in this tab.

import { el, newId } from "./dom.js";
import * as token from "./token.js";

/** Return {title, nodes}; *wrong* says that the last one was not it, *done* is called with a new one kept. */
export function signInPage(wrong, done) {
  const id = newId();
  const field = el("input", { type: "password", id, autocomplete: "off", required: true, spellcheck: "false", "aria-describedby": `${id}-about`, "aria-invalid": String(wrong) });
  const submit = (event) => {
    event.preventDefault();
    token.keep(field.value.trim());
    done();
  };
  return {
    title: "Token",
    nodes: [
      el("form", { class: "card sign-in", submit },
        el("h1", { tabindex: "-1" }, "This console asks for its token"),
        wrong && el("p", { class: "bad", role: "alert" }, "That was not the token."),
        el("label", { for: id }, "Token"), field,
        el("p", { class: "faint", id: `${id}-about` }, "It is console.token of the gateway's configuration; its operator has it. This tab keeps it until it is closed."),
        el("button", { type: "submit", class: "primary" }, "Look")),
    ],
    begin: () => field.focus(),
  };
}
