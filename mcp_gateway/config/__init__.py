"""
The configuration room: one YAML file in, frozen values out, every fault named (CONTRACT section 1).

Enter at ``load.load``. It knows the leaves only: not Flask, not gunicorn, not what the values are used for.
"""
