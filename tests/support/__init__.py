"""
What tests that cross a process share: servers to start, Tool Services to script, a client to ask with.

Nothing here imports ``mcp_gateway``: a test of the outside must not lean on the inside it checks.
"""
