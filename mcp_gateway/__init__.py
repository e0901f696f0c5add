"""
An MCP gateway: plain HTTP Tool Services in, MCP servers out.

The rooms of this package stand in the order in which a request meets them: ``web``, ``protocol``, ``tools``,
``registry`` and ``toolservice``, ``transport``. ``app`` joins them; ``docs/life-of-a-call.md`` walks through them.
"""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("mcp_gateway")
except PackageNotFoundError:  # run from a source tree that is not installed
    __version__ = "0+unknown"
