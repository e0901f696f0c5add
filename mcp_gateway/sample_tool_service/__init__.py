"""
A Tool Service to try the gateway with: real work on real data, and nothing of the gateway's code.

Enter at ``main.main``. The manifest is ``manifest.json``, served as it stands; ``server`` speaks HTTP, ``checking``
holds a call's arguments against the manifest, ``tools`` does the work with ``documents``, ``notes`` and ``chart``. It
knows the standard library only, so it can be copied out as the start of a Tool Service of one's own.
"""
