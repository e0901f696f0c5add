"""
What one fault is played on: the Tool Services, gateways and loads that it asks for, and what is found wrong with them.

A fault is a function with a name, the words of its row, and two lengths::

    @fault("silent", "takes the call and says nothing", "budget/unknown", seconds=15)
    async def silent(stage: Stage) -> None:
        ...
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from .gateway import Gateway, route, running
from .load import Load, Tally
from .tool_service import Behaviour, Ledger, ToolService, answers
from .wire import RIGHT

HEALTHY: Final = "healthy"
"""The tool of every stage that does its work."""

QUICK_S: Final = 3.0
"""How long a load lasts with ``--quick``."""

Play: TypeAlias = "Callable[[Stage], Coroutine[Any, Any, None]]"


def listed(counts: Mapping[str, int]) -> str:
    """Return counts as a note has them."""
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


class CannotPlay(Exception):
    """Raised when a fault cannot be played on this machine; the message says why."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One row of the table."""

    name: str
    what: str
    expected: str
    seconds: float
    play: Play


FAULTS: Final[dict[str, Fault]] = {}
"""Every fault by its name, in the order of the table."""


def fault(name: str, what: str, expected: str, *, seconds: float) -> Callable[[Play], Play]:
    """
    Put a fault into the table.

    Args:

        name: What ``--only`` calls it.

        what: What happens.

        expected: What the callers must get.

        seconds: How long it lasts in a full run.
    """

    def put(play: Play) -> Play:
        FAULTS[name] = Fault(name, what, expected, seconds, play)
        return play

    return put


@dataclass
class Stage:
    """
    Where one fault is played.

    Args:

        folder: For configurations and logs.

        seconds: How long the load lasts.

        quick: Whether numbers may be smaller than those of the table's words.

        seed: Of whatever is left to chance.

    ``problems`` is what is wrong, one line each; ``notes`` are figures worth a line.
    """

    folder: Path
    seconds: float
    quick: bool = False
    seed: int = 0
    ledger: Ledger = field(default_factory=Ledger)
    tallies: list[Tally] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def service(self, name: str, budgets: Mapping[str, int] | None = None, /, **tools: Behaviour) -> ToolService:
        """Return a Tool Service with these tools; a context manager."""
        return ToolService(name, self.ledger, tools, budgets)

    def healthy(self) -> ToolService:
        """Return a Tool Service that does its work."""
        return self.service("well", healthy=answers)

    @contextlib.asynccontextmanager
    async def gateway(
        self,
        *services: ToolService,
        routes: Sequence[Mapping[str, Any]] = (),
        name: str = "gateway",
        ready: bool = True,
        rests: bool = True,
        steady: bool = True,
        environment: Mapping[str, str] | None = None,
        within: Sequence[str] = (),
        service_fields: Mapping[str, Any] | None = None,
        **members: Any,
    ) -> AsyncIterator[Gateway]:
        """
        Run a gateway with one route, ``faults``, in front of these Tool Services.

        Args:

            routes: Further routes.

            ready: Whether to wait for the tools as well.

            rests: Whether nothing may be left behind after the load.

            steady: Whether the workers must be the same at the end.

            environment: Further variables.

            within: A command that the gateway is run by.

            service_fields: Members of each Tool Service's configuration.

            members: Further members of the configuration.
        """
        first = route("faults", *services, **(service_fields or {}))
        configuration = {"profile": "production", "routes": [first, *routes], **members}
        here = Gateway(self.folder, name, configuration, environment or {}, within)
        tools = [tool for service in services for tool in service.tools if tool == HEALTHY]
        try:
            async with running(here):
                await here.serves(ready=ready)
                if rests:
                    await here.remember(tools)
                yield here
                if rests:
                    self.left.append(await here.rests())
                if steady:
                    here.look_at_workers()
        finally:
            self.problems += [f"{name}: {problem}" for problem in here.problems]

    def load(
        self,
        gateway: Gateway,
        tool: str = HEALTHY,
        expected: Collection[str] = (RIGHT,),
        *,
        beside: bool = False,
        port: int | None = None,
        **more: Any,
    ) -> Load:
        """
        Return calls of a tool, which are counted in this fault's row.

        Args:

            expected: The labels that are right.

            beside: Whether the tool has nothing to do with the fault.

            port: Where to call, when it is not the gateway itself.

            more: As ``Load`` takes them.
        """
        tally = Tally(expected, beside)
        self.tallies.append(tally)
        more.setdefault("path", gateway.path)
        return Load(port or gateway.port, tool, tally, self.ledger, **more)

    def at_most(self, tally: Tally, name: str, most: int) -> None:
        """Note a problem when more calls than that have this label."""
        if tally.labels[name] > most:
            self.problems.append(f"{tally.labels[name]} calls are '{name}'; at most {most} may be")

    def within(self, tally: Tally, seconds: float) -> None:
        """Note a problem when a call took longer than that."""
        if tally.slowest > seconds:
            self.problems.append(f"the slowest call took {tally.slowest:.2f} s; {seconds:g} s are the bound")

    def must(self, holds: bool, sentence: str) -> None:
        """Note *sentence* as a problem unless it holds."""
        if not holds:
            self.problems.append(sentence)
