"""The WSGI entry: ``gunicorn -c gunicorn.conf.py wsgi:app``. ``app.start()`` is called by its ``post_worker_init``."""

from mcp_gateway.boot import gateway

app = gateway()
