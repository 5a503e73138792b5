"""A time limit for what may have no end."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from typing import NoReturn


class TooLong(BaseException):
    """The time is over; nothing that is called may catch this."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises `TooLong` in the block after so many seconds (in the main thread).

    A limit around this one has its time again afterwards.
    """

    def stop(*_: object) -> NoReturn:
        raise TooLong(f"longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)
