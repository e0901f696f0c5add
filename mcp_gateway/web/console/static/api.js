// Asking the gateway for the console's own documents.

import { parse } from "./json.js";
import * as token from "./token.js";

/** What is thrown when there is no document: `status` is the HTTP status, 0: no answer at all. */
export class Refused extends Error {
  constructor(status, message, error) {
    super(message);
    this.status = status;
    this.error = error;
  }
}

export const overview = () => ask(`/console/api/routes?${query({})}`);
export const tool = (route, name) => ask(`/console/api/tool?${query({ route, tool: name })}`);

/** Ask what would become of a call with the JSON text *text*. */
export const check = (route, name, text, signal) =>
  ask(`/console/api/check?${query({ route, tool: name })}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: text,
    signal,
  });

const query = (members) => new URLSearchParams({ ...members, origin: location.origin }).toString();

async function ask(path, options = {}) {
  const known = token.read();
  // No header can carry anything else, and no token has it: a keyboard left on another script is the usual reason.
  if (known && !/^[\x21-\x7e]+$/.test(known)) throw new Refused(401, "That was not the token.");
  const headers = { ...options.headers, ...(known ? { Authorization: `Bearer ${known}` } : {}) };
  let response;
  let text;
  try {
    response = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit", redirect: "error" });
    text = await response.text();
  } catch (fault) {
    if (fault.name === "AbortError") throw fault;
    throw new Refused(0, "The gateway does not answer.");
  }
  if (response.ok) return parse(text);
  throw refused(response.status, text);
}

function refused(status, text) {
  try {
    const body = JSON.parse(text);
    return new Refused(status, body.message ?? `HTTP ${status}`, body.error);
  } catch {
    return new Refused(status, `HTTP ${status}`);
  }
}
