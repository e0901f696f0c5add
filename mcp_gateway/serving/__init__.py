"""
The serving room: how gunicorn takes requests in, so that no client can hold a thread that others need.

It knows gunicorn and sockets, and nothing of MCP, routes or tools. Only ``gunicorn.conf.py`` uses it: enter at
``worker.Worker``. Why there is one at all: ``docs/adr/0011-requests-are-awaited-without-a-thread.md``.
"""
