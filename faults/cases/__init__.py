"""The faults, by what is at fault; importing them puts each into ``FAULTS``, in the order of the table."""

from __future__ import annotations

from ..stage import FAULTS
from . import answers, clients, instances, isolation, machine, manifests, noise, processes, volume  # noqa: F401

__all__ = ["FAULTS"]
