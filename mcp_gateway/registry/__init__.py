"""
The registry room: where tools come from, and the picture of them that requests read (CONTRACT section 2).

Enter at ``loader.Loader`` (brings snapshots in) and ``snapshots.current`` (reads them). It knows manifests and how to
fetch them; it knows nothing of Flask, of JSON-RPC, or of calling a tool.
"""
