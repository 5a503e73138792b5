"""Work on large arrays that is shared by threads: some blocks of rows each.

    @in_threads
    def f_blocks(first, last, step, x, y): ...

    f_blocks(0, len(x), 32768, x, y)

calls the function for parts of the rows, each some blocks of `step` rows. The blocks
are the same for any number of threads, and so is what is computed. NumPy's functions do
not hold Python's lock while they go through large arrays.

The threads wait for work between calls; they end with the process, and a process that
is forked makes its own.
"""

from __future__ import annotations

import contextvars
import functools
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

#: So many blocks at least for each thread: to wake one takes about as long as a block.
BLOCKS_PER_THREAD = 8
#: So many iterations of a kernel are a block.
STEP = 1 << 15
#: Into so many parts for each thread work is cut: the machine may be busy with others.
PARTS_PER_THREAD = 4


def least() -> int:
    """From so many iterations on, threads share a kernel."""
    return 2 * BLOCKS_PER_THREAD * STEP


class Setting:
    """How many threads there may be: None, as many as there are cores for."""

    limit: int | None = None


class Pool:
    """The threads of this process, made when they are first needed."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.executor: ThreadPoolExecutor | None = None
        self.size = 0
        #: Whether this thread does a part of the work of another.
        self.here = threading.local()

    def submit(self, threads: int, work: Callable[[], None]) -> list[Future]:
        """Have so many threads do work, each with the settings of this one."""
        with self.lock:
            if self.executor is None or self.size < threads:
                if self.executor is not None:
                    self.executor.shutdown(wait=False)  # when its work is done
                self.executor = ThreadPoolExecutor(threads, "srcjax")
                self.size = threads
            found: list[Future] = []
            try:
                for _ in range(threads):
                    settings = contextvars.copy_context()  # as those of `np.errstate`
                    found.append(self.executor.submit(settings.run, work))
            except RuntimeError:  # there are no more threads, or the process ends
                pass
            return found


POOL = Pool()


def forget() -> None:
    """A forked process has none of the threads."""
    POOL.__init__()  # type: ignore[misc]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget)


def available() -> int:
    """How many threads there may be: as many as there are cores for this process."""
    if Setting.limit is not None:
        return Setting.limit
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Parts:
    """Parts of the rows, which threads take one after the other."""

    def __init__(
        self, call: Callable[[int, int], Any], first: int, last: int, rows: int
    ) -> None:
        self.call = call
        self.next = first
        self.last = last
        self.rows = rows
        self.lock = threading.Lock()
        #: What was raised, by the first row of the part.
        self.failures: dict[int, BaseException] = {}

    def take(self) -> int | None:
        """The first row of a part that nobody has; None if there is none."""
        with self.lock:
            first = self.next
            if first >= self.last or self.failures:
                return None
            self.next += self.rows
            return first

    def run(self) -> None:
        """Compute parts while there are some."""
        outer = getattr(POOL.here, "busy", False)
        POOL.here.busy = True
        try:
            while (first := self.take()) is not None:
                try:
                    self.call(first, min(first + self.rows, self.last))
                except BaseException as error:
                    self.failures[first] = error
        finally:
            POOL.here.busy = outer


def in_threads(blocks: Callable) -> Callable:
    """Decorator: a function of rows, called for parts of them if there are many.

    Its parameters are the first row, the last one (not included), the rows of a block,
    and what else there is; it gives nothing back. What the first of the parts raises is
    raised when all have ended.
    """

    @functools.wraps(blocks)
    def shared(first: int, last: int, step: int, *args: Any) -> None:
        count = -(-(last - first) // step)
        threads = min(available(), count // BLOCKS_PER_THREAD)
        if threads < 2 or getattr(POOL.here, "busy", False):
            blocks(first, last, step, *args)
            return
        part = step * -(-count // (threads * PARTS_PER_THREAD))
        parts = Parts(lambda a, b: blocks(a, b, step, *args), first, last, part)
        others = POOL.submit(threads - 1, parts.run)
        parts.run()
        wait([each for each in others if not each.cancel()])
        if parts.failures:
            raise parts.failures[min(parts.failures)]

    return shared


#: An exported module does without.
in_threads.__srcjax_optional__ = True  # type: ignore[attr-defined]
