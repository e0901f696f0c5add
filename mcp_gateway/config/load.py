"""
The door of the room: a configuration file, or the portal's answer, into frozen values or all of its faults.

Faults are for the operator who wrote the document: one line each, the key's path first, all of them at once, and never
a value, since that may be a secret.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .document import MAX_FILE_BYTES, Problem, Unreadable, read
from .fields import Reading
from .model import Config, Route
from .schema import PORTAL_NAMES, ConfigSchema, PortalRoutes, PortalRoutesSchema, contradictions, loaded, repetitions


class ConfigFaults(Exception):
    """
    Raised when a document cannot be used.

    Args:

        faults: One readable line for each thing that is wrong, beginning with the path of its key.
    """

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


def locate(environ: Mapping[str, str]) -> Path:
    """
    Return where the configuration file is: ``MCP_GATEWAY_CONFIG``, else ``config/{MCP_GATEWAY_PROFILE}.yaml``.

    The profile is ``local`` by default; a variable that is empty counts as not set.
    """
    return Path(environ.get("MCP_GATEWAY_CONFIG") or f"config/{environ.get('MCP_GATEWAY_PROFILE') or 'local'}.yaml")


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except OSError as fault:
        raise Unreadable(f"it cannot be read: {fault.strerror}") from None
    except ValueError:
        raise Unreadable("it cannot be read: the path holds a character that no file name can have") from None


def _lines(problems: Iterable[Problem]) -> list[str]:
    return [problem.line() for problem in sorted(problems, key=Problem.order)]


def load(path: Path, environ: Mapping[str, str], *, versions: Sequence[str]) -> Config:
    """
    Read the configuration file at *path*.

    Args:

        environ: Where ``${NAME}`` is looked up.

        versions: The protocol versions that the gateway implements, newest first.

    Raises:

        ConfigFaults: With every fault of the file.
    """
    try:
        document, problems = read(_bytes(path), environ)
    except Unreadable as fault:
        raise ConfigFaults([f"{path}: {fault}"]) from None
    # Not resolved: a file that is a symbolic link, as Kubernetes mounts them, belongs to the folder of the link.
    root = path.absolute().parent.parent
    reading = Reading(tuple(versions), root, str(document.get("profile")))
    config: Config
    config, faults = loaded(ConfigSchema(), document, reading)
    faults += [*problems, *repetitions(document, {}), *contradictions(document)]
    if faults:
        raise ConfigFaults(_lines(faults))
    return config


def crowded(routes: Iterable[Route], threads: int) -> tuple[str, ...]:
    """
    Return the warning that Tool Services which hang could hold every thread of a worker; else nothing.

    ``max_in_flight`` keeps a service from holding more than its share, and only as long as the shares leave something.

    Args:

        threads: Those of one worker.
    """
    together = sum(service.max_in_flight for route in routes for service in route.tool_services)
    if together < threads:
        return ()
    warning = (
        f"routes: all max_in_flight together are {together}, and a worker has {threads} threads (GUNICORN_THREADS): "
        "Tool Services that hang could hold them all, and then every request waits, whatever it asks for"
    )
    return (warning,)


def routes_from_portal(document: Any, *, versions: Sequence[str]) -> tuple[Route, ...]:
    """
    Read the routes of the portal registry's answer (version 0.1), already parsed by ``jsontext.parse``.

    Args:

        versions: The protocol versions that the gateway implements, newest first.

    Raises:

        ConfigFaults: With every fault of the answer.
    """
    if not isinstance(document, dict):
        raise ConfigFaults(["(top level): must be an object"])
    answer: PortalRoutes
    answer, faults = loaded(PortalRoutesSchema(), document, Reading(tuple(versions)))
    faults += repetitions(document, PORTAL_NAMES)
    if faults:
        raise ConfigFaults(_lines(faults))
    return answer.routes
