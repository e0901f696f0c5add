// What an answer means, in words: whether the call was made, which layer failed, whose fault that is, what to do next.

import { isObject, number, own } from "./json.js";

/** Who can mend it. */
const WHO = {
  configuration: "the owner of the gateway's configuration",
  tool_service: "the owner of the Tool Service",
  caller: "the caller: these arguments or this request",
  gateway: "the gateway",
  network: "the network between this browser and the gateway",
};

const DELIVERY = {
  not_sent: "The Tool Service cannot have seen the call, so trying again is safe.",
  unknown: "The Tool Service may have carried the call out all the same.",
  answered: "",
};

/** Reasons of the failure note: layer, culprit, what happened, what to do next. */
export const REASONS = {
  budget: ["answer", "tool_service", "The Tool Service did not finish within the tool's time budget.", "Make the tool faster, or give it more time: timeoutMs in the manifest, else timeout_s in the configuration."],
  refused: ["connect", "tool_service", "Nobody took the connection to the Tool Service.", "Is it up, and at its base_url? “mcp-gateway doctor”, beside the gateway, says where it fails."],
  connection_lost: ["answer", "tool_service", "The Tool Service, or a proxy in front of it, hung up instead of answering.", "Look for the guid in its log."],
  tls: ["TLS", "configuration", "No TLS connection to the Tool Service came about.", "“mcp-gateway doctor”, beside the gateway, shows what is wrong with its certificate."],
  redirect: ["answer", "tool_service", "The Tool Service answered with a redirect, which is not followed.", "Correct endpoint in the manifest, or base_url in the configuration."],
  too_large: ["answer", "tool_service", "The answer is larger than limits.max_response_bytes, and an answer is never cut.", "Answer less at once: give the tool a limit or pages."],
  unreadable: ["answer", "tool_service", "The answer is not what its Content-Type says, broke off, or is no right HTTP.", "Answer JSON, text, an image or audio, whole. If it is about HTTP: look at how it, or a proxy in front of it, writes that."],
  output_schema: ["answer", "tool_service", "The answer does not fit the tool's outputSchema.", "Answer what outputSchema promises, or promise something else."],
};

/** What reads otherwise when the Tool Service cannot have seen the call. */
export const UNSENT = {
  budget: ["connect", "tool_service", "The time was up before there was a connection to the Tool Service.", "Is it up, and at its base_url? “mcp-gateway doctor”, beside the gateway, says where it fails."],
  connection_lost: ["answer", "tool_service", "The Tool Service, or a proxy in front of it, hung up at once.", "Look at its log."],
};

/** The failure of a status, by what the status says. */
export function ofStatus(status) {
  const words = `The Tool Service answered with HTTP status ${status}.`;
  if (status === 401 || status === 403) return ["answer", "configuration", words, "Give the Tool Service the credentials that it asks for, as its headers in the configuration."];
  if (status === 407) return ["answer", "configuration", words, "A proxy in front of the Tool Service asks for credentials, and the gateway has none for proxies: have the proxy let it pass, or write a base_url that leads past the proxy."];
  if ([408, 425, 429, 503].includes(status)) return ["answer", "tool_service", words, "It is busy or late: try again later, or have it scaled."];
  if (status === 404 || status === 410) return ["answer", "tool_service", words, "Read its words: either what was asked for is not there, or the manifest's endpoint leads nowhere."];
  if ([400, 409, 413, 422].includes(status)) return ["answer", "caller", words, "Read what it says, if anything, and change the arguments."];
  if ([405, 406, 411, 415].includes(status)) return ["answer", "tool_service", words, "No argument changes that: have the endpoint take a POST of application/json, all that it ever gets."];
  if (status >= 400 && status < 500) return ["answer", "tool_service", words, `Read what it says, if anything, and ask its owner what ${status} means there: its log has the guid.`];
  if (status === 502 || status === 504) return ["answer", "tool_service", words, "It, or a proxy in front of it, got no answer from what stands behind: look for the guid in both logs."];
  return ["answer", "tool_service", words, "Look for the guid in its log, and in the gateway's, which holds the start of its answer."];
}

const CANNOT_START = {
  busy: ["request", "tool_service", "As many calls of this Tool Service are under way as max_in_flight allows.", "Try again shortly. If it stays so, the service is too slow."],
  registry_unavailable: ["manifest", "tool_service", "The route has no tools yet: no manifest of it could be loaded.", "The page of the route says why."],
};

const CALLERS = [-32700, -32600, -32601, -32602, -32020, -32022];
const BY_CALLER = ["request", "caller", "The gateway refused the request, and nothing was sent to a Tool Service.", "Change the request."];
const BROKEN = ["request", "gateway", "The gateway itself failed.", "Look for the guid in the gateway's log."];

const HTTP = {
  origin_not_allowed: () => ["request", "configuration", `The gateway takes no calls from pages of ${location.origin}.`, "Add this origin to server.allowed_origins. The curl line works meanwhile."],
  host_not_allowed: () => ["request", "configuration", `The gateway is not served as ${location.hostname}.`, "Add this name to server.allowed_hosts."],
  not_found: () => ["request", "configuration", "The gateway serves nothing at this path any more.", "Look at the list of routes."],
  request_timeout: () => ["request", "network", "The request did not arrive in time.", "Try again."],
};

/**
 * Return {good, headline, layer, who, what, next, more}.
 *
 * *refused*: the gateway was to refuse this call, so that a failure without a note is its own.
 */
export function verdict(status, body, refused) {
  if (typeof own(body, "error") === "string") return failed("The gateway refused the request", own(HTTP, body.error)?.() ?? BY_CALLER);
  if (isObject(own(body, "error"))) return ofError(body.error);
  const result = own(body, "result");
  if (!isObject(result)) return failed(`HTTP ${status}, and no JSON-RPC`, ["request", "network", "Something else than the gateway answered, perhaps a proxy.", "Look at the answer as it came."]);
  if (own(result, "isError") !== true) return { good: true, headline: "The tool answered" };
  const note = own(own(result, "_meta"), "mcp-gateway/failure");
  if (isObject(note)) return ofNote(note);
  if (refused) return { ...failed("The gateway refused the arguments", ["request", "caller", "The arguments do not fit the tool's inputSchema, and nothing was sent to the Tool Service.", "Change the arguments."]), unsent: true };
  return failed("The tool says that it failed", ["answer", "tool_service", "The tool answered, and says itself that it failed.", "Read its words. If the arguments are right, its owner can say more."]);
}

export const unanswered = () =>
  failed("No answer", ["request", "network", "The gateway did not answer, or the connection broke off.", "Is it up? Is there a proxy that gives up before the gateway does?"]);

export const cancelled = () => ({ good: false, headline: "Cancelled here", what: "This browser stopped waiting. The Tool Service may go on all the same." });

function ofNote(note) {
  const reason = String(own(note, "reason"));
  const outcome = String(own(note, "outcome"));
  const unsent = outcome === "not_sent" ? own(UNSENT, reason) : undefined;
  const found = reason === "status" ? ofStatus(number(own(note, "status")) ?? 0) : (unsent ?? own(REASONS, reason));
  const wait = number(own(note, "retryAfter"));
  const more = [own(DELIVERY, outcome), wait !== undefined && `It asks to wait ${wait} s before the next try.`].filter(Boolean);
  return { ...failed("The call failed", found ?? BROKEN), more, reason };
}

function ofError(error) {
  const code = number(own(error, "code"));
  const why = String(own(own(error, "data"), "reason"));
  const found = CALLERS.includes(code) ? BY_CALLER : (own(CANNOT_START, why) ?? BROKEN);
  return { ...failed("The gateway refused the call", found), reason: `JSON-RPC error ${code}` };
}

const failed = (headline, [layer, culprit, what, next]) => ({ good: false, headline, layer, culprit, who: WHO[culprit], what, next });
