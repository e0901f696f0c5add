"""The options that several commands share, and the types of their values (a wrong value is a usage error)."""

from __future__ import annotations

import argparse
import os
import re
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ..client import wire
from ..config import load
from ..config.load import ConfigFaults
from ..config.model import Config
from ..protocol import eras
from .terminal import Failed

Commands = Any
"""What ``ArgumentParser.add_subparsers`` returns; its type has no public name."""

LONGEST_CALL_S = 310.0
"""How long an answer is waited for: the longest call that a gateway allows (300 s), and what it takes to say so."""

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
_URL = re.compile(r"https?://[A-Za-z0-9._~\[\]:-]+(?:/[!-\"$->@-~]*)?")
_TCP_PORTS = range(1, 65536)


class Help(argparse.HelpFormatter):
    """Help whose examples, a command a line, stay as they are written."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text.strip("\n") if text.startswith("\n") else super()._fill_text(text, width, indent)


class Header(NamedTuple):
    """One header given with ``--header``."""

    name: str
    value: str


def header(text: str) -> Header:
    """Read ``name: value``."""
    name, colon, value = text.partition(":")
    if not colon or not _TOKEN.fullmatch(name) or not _HEADER_VALUE.fullmatch(value):
        raise ArgumentTypeError(f"{text!r} is no header; write 'name: value'")
    return Header(name, value.strip(" \t"))


def address(text: str) -> str:
    """Read the URL of a gateway or of one of its routes."""
    try:
        parts = urlsplit(text)
        usable = _URL.fullmatch(text) and parts.hostname and (parts.port is None or parts.port in _TCP_PORTS)
    except ValueError:
        usable = None  # brackets that hold no IPv6 address, or a port out of range
    if not usable:
        raise ArgumentTypeError(f"{text!r} is no URL of the form http://host:port/path")
    return text


def seconds(text: str) -> float:
    """Read a time in seconds."""
    if not re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]+)?", text) or float(text) == 0:
        raise ArgumentTypeError(f"{text!r} is no time in seconds above 0")
    return float(text)


def name(text: str) -> str:
    """Read a name that goes onto the wire, which takes only text."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ArgumentTypeError(f"{text!r} is no UTF-8 text") from None
    return text


def add_config(command: argparse.ArgumentParser) -> None:
    """Add ``--config``."""
    command.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help="configuration file (default: MCP_GATEWAY_CONFIG, else config/PROFILE.yaml, with PROFILE from "
        "MCP_GATEWAY_PROFILE, else local)",
    )


def add_gateway(command: argparse.ArgumentParser, *, waits: bool = True) -> None:
    """Add the options that say which gateway is asked, and how."""
    add_config(command)
    command.add_argument(
        "--url",
        type=address,
        help="where the gateway is: its address (http://host:port), to which the route's public path is added, or the "
        "whole URL of the route, for which no configuration is read (default: HOST and PORT of the environment, else "
        "http://127.0.0.1:8080)",
    )
    add_caller(command)
    command.add_argument("--ca-bundle", type=Path, metavar="FILE", help="certificates to trust for an https URL")
    if waits:
        command.add_argument(
            "--timeout",
            type=seconds,
            default=LONGEST_CALL_S,
            metavar="S",
            help="seconds that an answer may take in all (default: %(default)g)",
        )


def add_caller(command: argparse.ArgumentParser) -> None:
    """Add the options that say how the caller speaks."""
    command.add_argument(
        "--protocol",
        choices=wire.PROTOCOLS,
        help="MCP version to speak (default: 2025-11-25, unless the configured route serves only another)",
    )
    command.add_argument(
        "--header",
        type=header,
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help="send this header too; may be given several times",
    )


def add_call(command: argparse.ArgumentParser) -> None:
    """Add the arguments that say what is called."""
    command.add_argument("route", metavar="ROUTE", help="key of the route, or its public path")
    command.add_argument("tool", metavar="TOOL", type=name, help="name of the tool")


def config_path(options: argparse.Namespace) -> Path:
    """Return where the configuration is."""
    chosen: Path | None = options.config
    return chosen or load.locate(os.environ)


def read_config(options: argparse.Namespace) -> Config:
    """
    Read the configuration.

    Raises:

        Failed: It is faulty; the message has a line for each fault.
    """
    path = config_path(options)
    try:
        return load.load(path, os.environ, versions=eras.VERSIONS)
    except ConfigFaults as faulty:
        number = len(faulty.faults)
        total = f"{path}: {number} fault{'' if number == 1 else 's'}"
        raise Failed("\n".join([*faulty.faults, total])) from None
