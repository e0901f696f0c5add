"""
What the gateway is held against: one bare Flask view and ``requests``, as anyone would write it in twenty lines.

It checks nothing, bounds nothing, logs nothing. What needs no Tool Service it answers with a stored result.
``TOOL_SERVICE`` is the base URL.
"""

from __future__ import annotations

import json
import os
import threading

import requests
from flask import Flask, Response, request

BASE = os.environ["TOOL_SERVICE"]
TOOLS = requests.get(f"{BASE}/manifest", timeout=5).json()["tools"]
ENDPOINTS = {tool["name"]: BASE + tool["endpoint"] for tool in TOOLS}
PUBLIC = ("name", "title", "description", "inputSchema", "annotations", "_meta")

STORED = {
    method: json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    for method, result in {
        "ping": {},
        "tools/list": {"tools": [{name: tool[name] for name in PUBLIC} for tool in TOOLS]},
        "initialize": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "passthrough", "title": "Passthrough", "version": "1"},
        },
    }.items()
}

app = Flask(__name__)
_own = threading.local()


def session() -> requests.Session:
    """Return the session of this thread: they are not meant to be shared."""
    kept: requests.Session | None = getattr(_own, "session", None)
    if kept is None:
        kept = _own.session = requests.Session()
        kept.trust_env = False  # looking for proxies and netrc in each call would be the dearest part
    return kept


@app.post("/mcp/bench")
def mcp() -> Response:
    """Answer one request."""
    message = json.loads(request.get_data())
    if message["method"] != "tools/call":
        stored = f'{{"jsonrpc":"2.0","id":{message["id"]},"result":{STORED[message["method"]]}}}'
        return Response(stored, mimetype="application/json")
    params = message["params"]
    answer = session().post(ENDPOINTS[params["name"]], json=params.get("arguments", {}), timeout=(3, 60))
    result = {"content": [{"type": "text", "text": answer.text}], "isError": False}
    body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}, ensure_ascii=False)
    return Response(body, mimetype="application/json")
