"""
The configuration room: one YAML file in, frozen values out, every fault named (``docs/contracts/configuration.md``).

Enter at ``load.load``. A file passes ``document`` (YAML into plain values), then ``schema`` with its ``fields`` (plain
values into those of ``model``). The room knows the leaves only: not Flask, not gunicorn, not what the values are for.
"""
