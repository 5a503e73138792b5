"""How many threads BLAS may use on each device, so that all devices have cores.

Each matrix product on its own would use all cores, and those of several devices at a
time are in each other's way: on two cores, four devices took six times as long. BLAS is
told by threadpoolctl, where that is installed.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
from contextlib import AbstractContextManager
from typing import Any

#: What launchers say of how many processes they started on this machine.
_ON_THIS_MACHINE = ("MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE")


@functools.cache
def _controller() -> Any:
    """What tells BLAS; None without it. What is loaded later is not told."""
    try:
        found: Any = importlib.import_module("threadpoolctl").ThreadpoolController()
    except ImportError:
        return None
    return found.select(user_api="blas")


def shared_among(devices: int) -> AbstractContextManager:
    """The context in which BLAS uses a device's share of the cores of the process."""
    named = [os.environ[n] for n in _ON_THIS_MACHINE if n in os.environ]
    users = devices * (int(named[0]) if named else 1)
    if users == 1 or _controller() is None:
        return contextlib.nullcontext()
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    limited: AbstractContextManager = _controller().limit(limits=max(cores // users, 1))
    return limited


__all__ = ["shared_among"]
