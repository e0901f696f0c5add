"""
The configuration room: one YAML file in, frozen values out, every fault named (contract: ``docs/contracts/configuration.md``).

Enter at ``load.load``. The way of a file: ``document`` (YAML into plain values), ``schema`` and ``fields`` (values into ``model``).
It knows the leaves only: not Flask, not gunicorn, not what the values are used for.
"""
