"""
One HTTP exchange with a service outside, bounded by a deadline (``docs/adr`` has the reasons).

Enter at ``http.HttpClient.send``. This room is the only one that knows ``requests``, ``urllib3`` and sockets. It knows
nothing of tools, manifests, routes or JSON: bytes go out, an ``Answer`` or one ``Unanswered`` comes back.
"""
