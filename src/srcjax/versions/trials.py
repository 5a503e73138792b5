"""The first calls of what `jit` made run the function itself.

To write and compile kernels takes from half a second to many, and most functions are
called a few times only. So a function runs as it is until that has taken a quarter of
the time that compiling it will, about; from then on it is compiled. A function of which
a single call may take as long is compiled at once: of loops that are long, or of which
nothing tells how long they are (`effort`).
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from srcjax.late import late
from srcjax.versions import relatives
from srcjax.versions.generating import Taken

if TYPE_CHECKING:
    from srcjax.versions import effort
else:
    effort = late("srcjax.versions.effort")

#: Turns `config.jit_at_once` on.
VARIABLE = "SRCJAX_JIT_AT_ONCE"


class Setting:
    """Whether first calls compile."""

    at_once = os.environ.get(VARIABLE, "") not in ("", "0")


_here = threading.local()


@contextlib.contextmanager
def at_once() -> Iterator[None]:
    """Inside, this thread compiles in first calls."""
    before = getattr(_here, "at_once", False)
    _here.at_once = True
    try:
        yield
    finally:
        _here.at_once = before


def is_at_once() -> bool:
    return Setting.at_once or getattr(_here, "at_once", False)


#: Seconds that it takes to write and compile kernels: of any function, for each of its
#: statements and calls, and where another process did it. Measured on the functions of
#: `benchmarks` and `examples`, within a factor of three.
COMPILING, EACH, LOADING = 0.5, 0.05, 0.2
#: The part of that which the function itself may take before it is compiled.
PART = 0.25
#: Seconds that a statement takes with what Python does around it.
STEP = 2e-6
#: The least that a call takes, with its key.
LEAST = 5e-6


@dataclass
class Account:
    """How long calls of a function have taken, and may take."""

    #: Seconds in the function itself since it was compiled last.
    spent: float = 0.0
    #: How many calls there were, in all.
    calls: int = 0
    #: What is known of the effort of a call, by the longest axis.
    efforts: dict[int, effort.Effort | None] = field(default_factory=dict)

    def allowance(self, function: Callable, values: list[Any]) -> float:
        """The seconds that it may take; none if a call may take as long by itself."""
        longest = effort.longest(values)
        if longest is None:
            return 0.0
        if longest not in self.efforts:
            try:
                self.efforts[longest] = effort.effort_of(function, longest)
            except Exception:  # no text, or what asking an object raises
                self.efforts[longest] = None
        found = self.efforts[longest]
        if found is None:
            return 0.0
        limit = PART * (COMPILING + EACH * found.size)
        return limit if STEP * found.steps < limit else 0.0


#: Accounts by what functions are made of, for many are made of the same code; with that
#: code, so that it lives.
_ACCOUNTS: dict[Any, tuple[Any, Account]] = {}


def account_of(transform: Any) -> Account:
    """The account of a transform, and of those of functions of the same code."""
    key, code = relatives.key_of(transform)
    if key is None:
        return Account()
    if len(_ACCOUNTS) >= relatives.MOST:
        _ACCOUNTS.clear()
    return _ACCOUNTS.setdefault(key, (code, Account()))[1]


def to_load() -> float:
    """The seconds that calls may take where another process compiled the kernels."""
    return 0.0 if "numba" in sys.modules else PART * LOADING


class Trial:
    """Stands for a version: calls the function itself, and measures how long it takes.

    What is written meanwhile does not count: a derivative that it is, or calls.
    """

    tries = True
    __slots__ = ("account", "allowance", "function")

    def __init__(self, function: Callable, account: Account, allowance: float) -> None:
        self.function = function
        self.account = account
        #: Seconds that all calls may take.
        self.allowance = allowance

    @property
    def is_over(self) -> bool:
        """Whether it is time to compile."""
        return self.account.spent >= self.allowance

    def call(self, *values: Any, **keywords: Any) -> Any:
        """What the function gives."""
        start, generating = time.perf_counter(), Taken.seconds
        try:
            return self.function(*values, **keywords)
        finally:
            took = time.perf_counter() - start - (Taken.seconds - generating)
            self.account.spent += max(took, LEAST)
            self.account.calls += 1
