#!/bin/sh
# Make the virtual environment FOLDER anew with exactly what each LOCK lists, every file checked against its hash.
# Usage: make_venv.sh FOLDER LOCK…
set -eu

folder=$1
shift
python=$("$(dirname "$0")/find_python.sh")

echo "Making $folder with $("$python" --version) from $*"
"$python" -m venv --clear "$folder"
for lock; do
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock"
done
