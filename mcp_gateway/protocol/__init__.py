"""
The protocol room: the bytes of a POST in, the bytes of its answer out.

Enter at ``exchange.exchange``, the road on one page. It knows JSON-RPC, the methods and the revisions of MCP; it does
no I/O of its own and knows neither Flask nor requests. A revision is one file (``v….py``) and one line in ``eras``; a
method is one file in ``methods`` and one line in the table of each revision that has it.
"""
