"""
The Tool Service room: how one tool is called, and what its answer means.

Enter at ``client.ToolServiceClient.call``, which returns an ``Outcome``. It knows nothing of JSON-RPC, of protocol
revisions, of the registry's sources, or of Flask.
"""
