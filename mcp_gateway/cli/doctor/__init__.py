"""
``mcp-gateway doctor``: one call, walked step by step, and whose fault it is where it fails.

Enter at ``command``. ``walk`` goes over a route: along the ``way`` to each Tool Service, then on with one ``call``,
with the gateway's own rooms, over connections that tell what went over them (``witness``, which ``evidence`` shows).
``report`` says what it came to (pure). Whose fault a failure is stands in ``causes`` and in ``..diagnosis``.
"""
