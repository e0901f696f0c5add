"""
``mcp-gateway doctor``: one call, walked step by step, and whose fault it is where it fails.

Enter at ``command``. ``walk`` takes the steps with the gateway's own rooms, over connections that tell what went over
them (``witness``); ``report`` says what they came to (pure). Whose fault a failure is stands in ``..diagnosis``.
"""
