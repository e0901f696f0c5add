"""
The tools room: what a route offers, listed and called.

Enter at ``route.Route``, ``listing.render`` and ``calling.call``. It knows snapshots and Tool Services; it knows
nothing of HTTP, of JSON-RPC envelopes, or of protocol revisions: what differs between those comes in as an argument.
"""
