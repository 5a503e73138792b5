"""What holds for all calls for a while: `disable_jit` and `debug_nans`.

Calls that find their version by a few tests do not look for it: where something is on,
there are no such versions.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np

from srcjax.backends.load import LINES, place_of
from srcjax.errors import ArgumentError

#: What is on, by name.
ON: dict[str, bool] = {"disable_jit": False, "debug_nans": False}


class Found(dict):
    """Versions that are found fast, by key."""

    __hash__ = object.__hash__  # type: ignore[assignment]

    def forget(self) -> None:
        self.clear()

    def __reduce__(self) -> tuple:
        """In another process they are found anew."""
        return _remembered, ()


def _remembered() -> Found:
    found = Found()
    remember(found)
    return found


#: All tables of versions that are found fast, and what to do to forget what is in one.
_TABLES: weakref.WeakSet[Any] = weakref.WeakSet()


def any_on() -> bool:
    """Whether calls are to be looked at."""
    return ON["disable_jit"] or ON["debug_nans"]


def remember(table: Any) -> None:
    """From now on what is in the table is forgotten when something is turned on."""
    _TABLES.add(table)


def turn(name: str, on: Any) -> None:
    """Turn something on or off. Raises ArgumentError if it is no truth value."""
    if not isinstance(on, (bool, np.bool_)):
        raise ArgumentError(
            f"{name} must be True or False, not {on!r}", instead=f"`{name}(True)`"
        )
    ON[name] = bool(on)
    if on:
        for table in list(_TABLES):
            table.forget()


@contextlib.contextmanager
def turned(name: str, on: bool) -> Iterator[None]:
    """Inside of it something is on, or off."""
    before = ON[name]
    turn(name, on)
    try:
        yield
    finally:
        turn(name, before)


def disable_jit(disable: bool = True) -> contextlib.AbstractContextManager[None]:
    """`with disable_jit(): ...`: what `jit` made runs as the function itself.

    So a debugger steps through the function, and prints are those of Python.
    """
    return turned("disable_jit", disable)


def debug_nans(on: bool = True) -> contextlib.AbstractContextManager[None]:
    """`with debug_nans(): ...`: a result with NaN raises FloatingPointError.

    Inside, what a transform made is run once more, line by line, if its result has a
    NaN: the error says which variable had the first one, and the user's line. For the
    rest of the program, `srcjax.config.update("jax_debug_nans", True)` does the same.
    """
    return turned("debug_nans", on)


# -- where a NaN comes from ------------------------------------------------------------


def has_nan(value: Any, depth: int = 4) -> bool:
    """Whether an array or number in it is not a number."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return bool(np.isnan(value).any())
    if isinstance(value, (float, complex, np.floating, np.complexfloating)):
        return bool(np.isnan(value))
    if depth and isinstance(value, dict):
        value = tuple(value.values())
    if depth and isinstance(value, (tuple, list)):
        return any(has_nan(each, depth - 1) for each in value)
    return False


def refuse_nans(name: str, result: Any, again: Callable[[], Any]) -> None:
    """Raise FloatingPointError if a result has a NaN; `again` computes it once more."""
    if not has_nan(result):
        return
    hunt = Hunt()
    with turned("debug_nans", False):
        hunt.run(again)
    error = FloatingPointError(f"NaN in what {name} gives{hunt.told()}")
    if hunt.place is not None:
        filename, line, text = hunt.place
        error.add_note(f"in the user's code: {filename}:{line}: {text}")
    raise error


class Hunt:
    """Runs a function line by line, until a variable has a NaN that no one had."""

    def __init__(self) -> None:
        #: The variable and the place: file, line and its text.
        self.name: str | None = None
        self.place: tuple[str, int, str] | None = None
        #: Lines that were begun, and variables with NaN, by frame.
        self.lines: dict[FrameType, int] = {}
        self.known: dict[FrameType, set[str]] = {}

    def told(self) -> str:
        """What was found, as the end of a sentence."""
        return "" if self.name is None else f": the first one is in `{self.name}`"

    def run(self, again: Callable[[], Any]) -> None:
        before = sys.gettrace()
        sys.settrace(self.entered)
        try:
            with contextlib.suppress(Exception):
                again()
        finally:
            sys.settrace(before)

    def entered(self, frame: FrameType, event: str, value: Any) -> Any:
        """Called for each function that is called."""
        if self.name is not None or not is_looked_into(frame.f_code, frame.f_globals):
            return None
        self.known[frame] = {n for n, v in frame.f_locals.items() if has_nan(v)}
        return self.line

    def line(self, frame: FrameType, event: str, value: Any) -> Any:
        """Called before each line, and after the last one."""
        if self.name is None and event in ("line", "return") and frame in self.lines:
            self.look(frame, value if event == "return" else None)
        self.lines[frame] = frame.f_lineno
        return self.line

    def look(self, frame: FrameType, result: Any) -> None:
        """Whether the line that was run made a NaN."""
        known = self.known[frame]
        for name, value in frame.f_locals.items():
            if name not in known and has_nan(value):
                self.found(name, frame)
                return
        if result is not None and not known and has_nan(result):
            self.found("return", frame)

    def found(self, name: str, frame: FrameType) -> None:
        self.name = name
        self.place = user_place(frame, self.lines[frame])


def is_looked_into(code: CodeType, names: dict[str, Any]) -> bool:
    """Whether a function is the user's, or was written for it."""
    if LINES in names:
        return True
    home = str(names.get("__name__")).partition(".")[0]
    installed = "site-packages" in code.co_filename or code.co_filename[:1] == "<"
    return not installed and home not in (*sys.stdlib_module_names, "srcjax", "numpy")


def user_place(frame: FrameType, line: int) -> tuple[str, int, str] | None:
    """The user's line of a line of a function."""
    if LINES in frame.f_globals:
        found: tuple[str, int, str] | None = place_of(frame.f_globals, line)
        return found
    path = frame.f_code.co_filename
    return path, line, linecache.getline(path, line, frame.f_globals).strip()


__all__ = ["debug_nans", "disable_jit"]
