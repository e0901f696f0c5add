"""
What the server tells the application of a request, beyond what WSGI has words for. A leaf.

``serving`` writes these into the environ of each request, ``web`` reads them. Under a server that does not, nothing is
draining and no header was repeated.
"""

from __future__ import annotations

DRAINING = "mcp_gateway.draining"
"""Whether the server has been told to stop: ``True``, or the key is not there."""

REPEATED = "mcp_gateway.repeated"
"""Those headers that came more than once with different values, as WSGI variables; not there: none."""
