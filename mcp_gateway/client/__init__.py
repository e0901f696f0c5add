"""
The client room: what an MCP client says to a gateway (pure), for the command line to send and the console to show.

``wire`` is one request in each protocol version, ``script`` the same as a shell script with curl, ``examples`` are
arguments to begin with. Written from the outside: nothing of the code that reads a request is used here.
"""
