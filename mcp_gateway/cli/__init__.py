"""
The command line room: one module for each command of ``mcp-gateway``.

Enter at ``main.main``. ``tools``, ``call`` and ``curl`` are clients of a running gateway: what they say on the wire
is in the client room, what comes back in ``answers`` (pure), and where they say it in ``target``.
"""
