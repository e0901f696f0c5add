// Where a page is: all behind the "#", which no browser sends to a server. So a link may carry arguments.

/** Longest link that is made; what is longer breaks in chats and mails. */
export const LONGEST = 30000;

/** Read a place from the part behind the "#". */
export function read(hash) {
  const [path, query = ""] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const [route, tool] = path.split("/").map(decoded);
  const asked = new URLSearchParams(query);
  return {
    route: route || undefined,
    tool: tool || undefined,
    version: asked.get("version") ?? undefined,
    arguments: asked.get("arguments") ?? undefined,
  };
}

/** Write a place; what is undefined is left out. */
export function write({ route, tool, version, arguments: text }) {
  const path = ["#", route, tool].filter((each) => each !== undefined).map((each) => (each === "#" ? each : encodeURIComponent(each)));
  const query = new URLSearchParams();
  if (version !== undefined) query.set("version", version);
  if (text !== undefined) query.set("arguments", text);
  const asked = query.toString();
  return `${path.length === 1 ? "#/" : path.join("/")}${asked ? `?${asked}` : ""}`;
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
