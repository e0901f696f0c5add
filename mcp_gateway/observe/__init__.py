"""
Seeing what happened: one record for each exchange, written once at its end.

``interaction`` is the record, which the road fills in; each other module is one small sink that reads it
(``interaction.Sink``), and ``app.Gateway`` is given the sinks. Nothing here is called along the way.
"""
