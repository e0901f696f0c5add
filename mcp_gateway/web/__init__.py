"""
The web room: all that knows Flask and HTTP requests (contract: HTTP).

Enter at ``endpoint.blueprint``, one for each route key, and ``health.blueprint``. It never looks inside a body: bytes
go to ``protocol.exchange`` and a ``Reply`` comes back.
"""
