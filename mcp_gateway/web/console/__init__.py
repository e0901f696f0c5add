"""
The console: the pages at ``/console`` on which people see tools, try them and copy the call.

Enter at ``views.blueprint``. The pages are static files that hold nothing secret, and read JSON documents below
``/console/api/``. The console only reads: it calls no Tool Service, and what it shows of a call comes from the browser,
which makes it at the route's public path like any other caller. See ``docs/contracts/console.md``.
"""
