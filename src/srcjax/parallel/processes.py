"""The processes that run one program: this one alone, or those `mpiexec` started.

    mpiexec -n 4 python train.py

Each of the processes has its number and its own devices, and goes through the same
collectives in the same order; each collective is one of MPI's (mpi4py, the extra
`mpi`). Before it the processes tell each other what they come for: one that failed,
ended or comes for something else stops all others with an error.
"""

from __future__ import annotations

import atexit
import importlib
import io
import os
import sys
import threading
import zlib
from contextlib import redirect_stderr
from typing import Any

import numpy as np

from srcjax.errors import ArgumentError, DeviceError
from srcjax.parallel.meeting import told

#: What launchers set in the environment of the processes that they start.
_STARTED_BY_MPI = ("PMI_SIZE", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_SIZE")
_RUNNING, _ENDED, _FAILED = range(3)


class Processes:
    """This process alone."""

    index = 0
    count = 1

    def fail(self, error: BaseException) -> None:
        """Tell the others that a program failed here."""


class MpiProcesses(Processes):
    """The processes of MPI's world, which meet for each collective."""

    def __init__(self, mpi: Any) -> None:
        self.mpi = mpi
        self.comm = mpi.COMM_WORLD.Dup()
        self.index, self.count = self.comm.rank, self.comm.size
        #: Why there are no meetings any more.
        self.over: str | None = None
        #: What ends this process.
        self.error: str | None = None
        self.shown = sys.excepthook
        sys.excepthook = self.failed
        atexit.register(self.leave)

    # -- meeting -------------------------------------------------------------------

    def demand_same(self, subject: Any) -> None:
        """All processes came for the same. Raises DeviceError."""
        if self.over is not None:
            raise DeviceError(self.over)
        self.meet(_RUNNING, told(subject))
        if self.over is not None:
            raise DeviceError(self.over)

    def fail(self, error: BaseException) -> None:
        """Tell the others that a program failed here, when they come to meet."""
        if self.over is None:
            self.meet(_FAILED, f"{type(error).__name__}: {error}")

    def failed(self, cls: Any, error: Any, traceback: Any) -> None:
        """What Python calls with an error that ends the process.

        It is shown in one piece: `mpiexec` joins what the processes write.
        """
        self.error = f"{cls.__name__}: {error}"
        with redirect_stderr(io.StringIO()) as text:
            self.shown(cls, error, traceback)
        sys.stderr.write(text.getvalue())
        sys.stderr.flush()

    def leave(self) -> None:
        """The process ends: those that wait for it are told."""
        if self.over is None and not self.mpi.Is_finalized():
            sys.stdout.flush()
            if self.error is None:
                self.meet(_ENDED, "")
            else:
                self.meet(_FAILED, self.error)

    def meet(self, state: int, text: str) -> None:
        """Tell all what this process comes for; `over` is why it is the last time."""
        mine = np.array([state, zlib.crc32(text.encode())], dtype=np.int64)
        every = np.empty((self.count, 2), dtype=np.int64)
        self.comm.Allgather(mine, every)
        if (every == every[0]).all() and state == _RUNNING:
            return
        texts = self.comm.allgather(text)
        states = every[:, 0].tolist()
        self.over = _what_happened(states, texts)

    # -- what is computed ----------------------------------------------------------

    def all_reduced(self, x: Any, how: str) -> Any:
        """The sum, maximum or minimum ("SUM", "MAX", "MIN") over the processes."""
        given = np.asarray(x)
        work, back = _for_arithmetic(given)
        found = np.empty_like(work)
        self.comm.Allreduce(work, found, op=getattr(self.mpi, how))
        return _like(x, found.astype(back, copy=False))

    def all_gathered(self, x: np.ndarray) -> np.ndarray:
        """The arrays of all processes, joined along the first axis."""
        mine = np.ascontiguousarray(x)
        found = np.empty((self.count, *mine.shape), mine.dtype)
        self.comm.Allgather(_bytes(mine), _bytes(found))
        return found.reshape(-1, *mine.shape[1:])

    def scattered_sum(self, x: np.ndarray) -> np.ndarray:
        """Of the sum over the processes, this one's part of the first axis."""
        work, back = _for_arithmetic(x)
        found = np.empty((len(x) // self.count, *x.shape[1:]), work.dtype)
        self.comm.Reduce_scatter_block(work, found, op=self.mpi.SUM)
        return found.astype(back, copy=False)

    def exchanged(self, x: np.ndarray) -> np.ndarray:
        """Item `k` along the first axis goes to process `k`; those from all."""
        mine = np.ascontiguousarray(x)
        found = np.empty_like(mine)
        self.comm.Alltoall(_bytes(mine), _bytes(found))
        return found

    def passed_on(
        self, sent: dict[tuple[int, int], np.ndarray], wanted: dict[int, tuple]
    ) -> dict[int, np.ndarray]:
        """Arrays from one process to another.

        Args:
            sent: arrays by the process they go to and a label.
            wanted: by label, the process that an array comes from, and an empty one.
        """
        requests = []
        for label, (source, empty) in wanted.items():
            requests.append(self.comm.Irecv(_bytes(empty), source, label))
        for (target, label), array in sent.items():
            mine = _bytes(np.ascontiguousarray(array))
            requests.append(self.comm.Isend(mine, target, label))
        self.mpi.Request.Waitall(requests)
        return {label: empty for label, (_, empty) in wanted.items()}


def _what_happened(states: list[int], texts: list[str]) -> str:
    """Why the processes meet no more."""
    if _FAILED in states:
        worst = states.index(_FAILED)
        return f"process {worst} failed: {texts[worst]}"
    if _ENDED not in states:
        other = next(k for k, text in enumerate(texts) if text != texts[0])
        return f"process 0 is in {texts[0]}, and process {other} in {texts[other]}"
    ended = states.index(_ENDED)
    if _RUNNING not in states:
        return "the processes have come to their end"
    waiting = states.index(_RUNNING)
    return (
        f"process {ended} came to its end while process {waiting} waits for all in "
        f"{texts[waiting]}"
    )


def _for_arithmetic(x: np.ndarray) -> tuple[np.ndarray, np.dtype]:
    """The array in a dtype that MPI computes with, and its own."""
    other = {"?": np.int8, "e": np.float32}.get(x.dtype.char, x.dtype)
    return np.array(x, dtype=other, order="C", copy=None), x.dtype


def _bytes(x: np.ndarray) -> np.ndarray:
    """The memory of an array, of whatever dtype."""
    return x.reshape(-1).view(np.uint8)


def _like(x: Any, found: np.ndarray) -> Any:
    """A number of NumPy's, or of Python's, where `x` is one."""
    if isinstance(x, np.ndarray):
        return found.reshape(x.shape)
    return found[()] if isinstance(x, np.generic) else found.item()


# -- which there are -------------------------------------------------------------------

_LOCK = threading.Lock()
_FOUND: list[Processes] = []


def processes() -> Processes:
    """The processes of this program; found out when it is first asked for.

    Raises:
        ArgumentError: `mpiexec` started it, and mpi4py is not installed.
    """
    if not _FOUND:
        with _LOCK:
            if not _FOUND:
                _FOUND.append(_look_for_processes())
    return _FOUND[0]


def _look_for_processes() -> Processes:
    started = any(name in os.environ for name in _STARTED_BY_MPI)
    if not started and "mpi4py.MPI" not in sys.modules:
        return Processes()
    try:
        mpi: Any = importlib.import_module("mpi4py.MPI")
    except ImportError as error:
        raise ArgumentError(
            f"the program was started by mpiexec, and mpi4py does not load: {error}",
            instead='`pip install "srcjax[mpi]"`, or python without mpiexec',
        ) from None
    return MpiProcesses(mpi) if mpi.COMM_WORLD.size > 1 else Processes()


__all__ = ["MpiProcesses", "Processes", "processes"]
