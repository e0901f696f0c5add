"""
Seeing what happened: one record for each exchange, written once at its end.

``interaction`` is the record, which the road fills in; each other module is one small sink that reads it. Nothing here
is called along the way.
"""
