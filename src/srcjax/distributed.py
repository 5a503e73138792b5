"""`jax.distributed`: what starts several processes as one program is `mpiexec` here."""

from __future__ import annotations

from typing import Any

from srcjax.parallel.processes import processes


def initialize(*args: Any, **kwargs: Any) -> None:
    """Take part in the program that `mpiexec` started, as every use of `pmap` does.

    Arguments that JAX takes (addresses, the number of processes) are taken and not
    needed. A process that was started alone stays alone.

    Raises:
        ArgumentError: `mpiexec` started it, and mpi4py is not installed.
    """
    processes()


def is_initialized() -> bool:
    """Whether there are other processes."""
    return processes().count > 1


def shutdown() -> None:
    """Nothing: processes leave the program when they end."""


__all__ = ["initialize", "is_initialized", "shutdown"]
