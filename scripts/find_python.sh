#!/bin/sh
# Print the newest Python of this machine that can make a virtual environment, or say what is missing.
# PYTHON=… names one and ends the search.
set -u

lacking_venv=""
for candidate in ${PYTHON:-python3.14 python3.13 python3.12 python3.11 python3}; do
    # Run it: a name on PATH may be a shim of a version manager with nothing behind it.
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
    if "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        echo "$candidate"
        exit 0
    fi
    lacking_venv="${lacking_venv:-$candidate}"
done

if [ -n "$lacking_venv" ]; then
    version=$("$lacking_venv" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "Python $version is here, but without its venv module." >&2
    echo "On Debian and Ubuntu: sudo apt-get install python$version-venv" >&2
elif [ -n "${PYTHON:-}" ]; then
    echo "PYTHON=$PYTHON is no Python 3.11 or newer that can be run." >&2
else
    echo "Python 3.11 or newer is needed and was not found (looked for python3.14 to python3.11, and python3)." >&2
    echo "Install one, or name one: make PYTHON=/path/to/python3 …" >&2
fi
exit 1
