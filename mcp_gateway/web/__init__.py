"""
The web room: all that knows Flask and HTTP requests (contract: HTTP).

Enter at ``endpoint.blueprint``, one for each route key, ``health.blueprint`` and ``console.views.blueprint``. A route's
endpoint never looks inside a body: bytes go to ``protocol.exchange`` and a ``Reply`` comes back.
"""
