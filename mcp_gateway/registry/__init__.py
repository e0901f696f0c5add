"""
The registry room: where tools come from, and the picture of them that requests read.

Enter at ``loader.Loader`` (brings snapshots in) and ``snapshots.snapshots`` (holds them). It knows manifests
(``docs/contracts/tool-service-manifest.md``) and how to fetch them; it knows nothing of Flask, of JSON-RPC, or of
calling a tool.
"""
