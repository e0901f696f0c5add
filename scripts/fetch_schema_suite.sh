#!/bin/sh
# Fetch the official test suite of JSON Schema, checked against the hash of the LOCK, into FOLDER/json.
# Usage: fetch_schema_suite.sh TOOLS FOLDER LOCK
set -eu

tools=$1
folder=$2
lock=$3

rm -rf "$folder"
mkdir -p "$folder"
# The entry of the reference implementation alone: its name, its release and its hashes.
sed -n '/^jsonschema==/,/[^\\]$/p' "$lock" >"$folder/requirement.txt"
"$tools/bin/python" -m pip download --quiet --disable-pip-version-check --no-deps --no-build-isolation \
    --no-binary jsonschema --require-hashes -r "$folder/requirement.txt" --dest "$folder"
"$tools/bin/python" -m tarfile -e "$folder"/jsonschema-*.tar.gz "$folder"
mv "$folder"/jsonschema-*/json "$folder/json"
