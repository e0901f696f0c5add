#!/bin/sh
# Make the virtual environment FOLDER anew with exactly what LOCK lists, every file checked against its hash.
# Usage: make_venv.sh FOLDER LOCK
set -eu

folder=$1
lock=$2
python=$("$(dirname "$0")/find_python.sh")

echo "Making $folder with $("$python" --version) from $lock"
"$python" -m venv --clear "$folder"
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r "$lock"
