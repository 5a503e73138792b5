"""What is around the functions that users call: their options, and errors that leave.

An option that a transform does not have is an error that names the one that was meant.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from srcjax.backends.load import report
from srcjax.errors import ArgumentError

Public = TypeVar("Public", bound=Callable[..., Any])


def boundary(function: Public) -> Public:
    """The same function; errors that leave it show what is for users (`report`)."""

    @functools.wraps(function)
    def outermost(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except BaseException as error:
            report(error)
            raise

    # What transforms read in its place.
    vars(outermost).setdefault("__srcjax_inside__", function)
    return cast("Public", outermost)


def with_known_options(function: Public) -> Public:
    """The same function; what it is given by a name that it has not is an error.

    Raises ArgumentError, which names the option that is spelt most like it.
    """
    known = list(inspect.signature(function).parameters)

    @functools.wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                raise _unknown(function.__name__, name, known)
        return function(*args, **options)

    return cast("Public", boundary(checked))


def _unknown(function: str, name: str, known: list[str]) -> ArgumentError:
    close = difflib.get_close_matches(name, known, 1, 0.5)
    named = ", ".join(f"`{n}`" for n in known[1:])
    return ArgumentError(
        f"{function} has no option `{name}`",
        instead=f"`{close[0]}`" if close else f"one of {named}",
    )


def as_decorator(make: Callable[[Callable], Callable], f: Callable | None) -> Any:
    """Use as `grad(f, ...)`, `@grad` or `@grad(...)`."""
    return make if f is None else make(f)
