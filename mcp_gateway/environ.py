"""
What the server tells the application of a request, beyond what WSGI has words for. A leaf.

``serving`` writes these into the environ of each request, ``web`` reads them. Under a server that does not, nothing is
draining, no header was repeated, and nobody knows of a queue.
"""

from __future__ import annotations

DRAINING = "mcp_gateway.draining"
"""There, and ``True``, when the server has been told to stop."""

QUEUED_S = "mcp_gateway.queued_s"
"""How long the request had waited for a thread, in seconds; not there: nobody knows."""

REPEATED = "mcp_gateway.repeated"
"""The values of each header that came more than once, by WSGI variable, which joins them; not there: none did."""
