// The content of a result, block by block. A Tool Service has written it, so that nothing of it is run or fetched.

import { copyButton } from "./copy.js";
import { block, el } from "./dom.js";
import { isJson, isList, isObject, own, pretty, write } from "./json.js";

/** As many characters as are shown of one text; browsers slow down beyond. */
const LONGEST = 200000;

const MEDIA = { image: /^image\/[\w.+-]+$/, audio: /^audio\/[\w.+-]+$/ };
const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;
const WEB = /^https?:\/\//i;

/** Return the elements for a list of content blocks. */
export const content = (blocks) => (isList(blocks) ? blocks : []).map((each, index) => one(each, index + 1));

function one(found, number) {
  const type = String(own(found, "type"));
  const shown = (own(KINDS, type) ?? unknown)(found);
  const kind = el("p", { class: "kind" }, type === "resource_link" ? "resource link" : type, shown.about && ` · ${shown.about}`);
  return el("section", { class: "content", "aria-label": `Content ${number}: ${type}` }, el("div", { class: "caption" }, kind, shown.copy), shown.node);
}

const KINDS = {
  text: (found) => text(own(found, "text")),
  image: (found) => media(found, "image", (src, words) => el("img", { src, alt: `The image that the tool answered with (${words})` })),
  audio: (found) => media(found, "audio", (src, words) => el("audio", { controls: true, src, "aria-label": `The sound that the tool answered with (${words})` })),
  resource: (found) => resource(own(found, "resource")),
  resource_link: (found) => ({ about: words(found), node: address(own(found, "uri")) }),
};

/** Show a text: JSON with a line for each member, anything else as it is. */
export function text(given) {
  const whole = typeof given === "string" ? given : write(given ?? null);
  if (whole === "") return { node: el("p", { class: "empty" }, "(empty text)") };
  const json = /^\s*[[{]/.test(whole) && whole.length <= LONGEST && isJson(whole);
  const shown = json ? pretty(whole) : whole;
  const cut = shown.length > LONGEST;
  return {
    about: json ? "JSON" : undefined,
    copy: copyButton("the text", () => whole),
    node: el("div", {},
      block(json ? "JSON" : "Text", cut ? shown.slice(0, LONGEST) : shown),
      cut && el("p", { class: "faint" }, `The first ${LONGEST} of ${shown.length} characters; Copy takes all of them.`)),
  };
}

function media(found, kind, make) {
  const type = String(own(found, "mimeType"));
  const data = own(found, "data");
  if (!MEDIA[kind].test(type) || typeof data !== "string" || !BASE64.test(data)) return unknown(found);
  const about = `${type}, ${size(data)}`;
  return { about, node: make(`data:${type};base64,${data.replace(/\s/g, "")}`, about) };
}

function resource(given) {
  const uri = address(own(given, "uri"));
  if (typeof own(given, "text") === "string") {
    const shown = text(given.text);
    return { about: own(given, "mimeType"), copy: shown.copy, node: el("div", {}, uri, shown.node) };
  }
  const blob = own(given, "blob");
  return { about: [own(given, "mimeType"), typeof blob === "string" && size(blob)].filter(Boolean).join(", "), node: uri };
}

const unknown = (found) => ({ ...text(isObject(found) ? write(found) : found), about: "as it came" });

const words = (found) => [own(found, "title") ?? own(found, "name"), own(found, "mimeType")].filter((each) => typeof each === "string").join(", ");

/** Show an address as text, and as a link only where it leads to a web page, which is opened by hand alone. */
function address(given) {
  const uri = String(given ?? "");
  return el("p", { class: "address" }, WEB.test(uri) ? el("a", { href: uri, target: "_blank", rel: "noopener noreferrer nofollow" }, uri) : el("code", {}, uri));
}

function size(base64) {
  const bytes = Math.floor((base64.replace(/[\s=]/g, "").length * 3) / 4);
  return bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`;
}
