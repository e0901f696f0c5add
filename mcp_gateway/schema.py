"""
A compiled JSON Schema: does a value fit it, and if not, what exactly is wrong, in words.

A leaf. The engine is ``jsonschema-rs`` (ECMA-262 patterns in bounded time, exact decimals, no network); the Python
``jsonschema`` is the reference it is held to in the tests. ``docs/adr`` says why and lists every difference.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import jsonschema_rs
from jsonschema_rs import ValidationErrorKind as Kind

from .faults import Violation

DIALECTS = {
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
    "https://json-schema.org/draft/2019-09/schema": "2019-09",
    "http://json-schema.org/draft-07/schema": "draft-07",
}
"""The dialects that a schema may name in ``$schema`` (a trailing ``#`` is allowed); without one it is 2020-12."""
