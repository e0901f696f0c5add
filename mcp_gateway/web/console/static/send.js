// Making the call, at the route's public path like any other caller.

/** POST one revision's request; resolves to what `answer` shows. */
export async function send(path, revision, signal) {
  const began = performance.now();
  const response = await fetch(path, {
    method: "POST",
    headers: revision.headers,
    body: revision.body,
    cache: "no-store",
    credentials: "omit",
    redirect: "manual",
    signal,
  });
  const body = await response.text();
  return { status: response.status, headers: [...response.headers], body, ms: performance.now() - began };
}
