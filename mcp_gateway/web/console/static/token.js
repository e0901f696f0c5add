// The console's token, kept by this tab until it is closed.

const NAME = "mcp-gateway-console-token";

export const read = () => sessionStorage.getItem(NAME);
export const keep = (token) => sessionStorage.setItem(NAME, token);
export const forget = () => sessionStorage.removeItem(NAME);

/** Whether the gateway asks for one. */
export const needed = () => document.documentElement.dataset.locked === "true";
