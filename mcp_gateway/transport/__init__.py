"""
One HTTP exchange with a service outside, bounded by a deadline (``docs/adr`` has the reasons).

Enter at ``http.HttpClient.send``. This room is the only one that knows ``requests``, sockets and HTTP/1.1 as bytes. It
knows nothing of tools, manifests, routes or JSON: bytes go out, an ``Answer`` or one ``Unanswered`` comes back.

``http`` asks through ``adapter``, whose ``pool`` has each ``connection``; ``body`` reads the rest of an answer off it,
and ``sweeper`` closes those that nobody takes again.
``approach`` is how a connection comes about, and ``probe`` shows each step of it to whoever looks for a fault.
``wire`` says what the bytes mean and does no I/O, ``sockets`` does all waiting, ``translation`` says what faults mean.
"""
