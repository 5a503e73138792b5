"""Names that JAX's programs give to parts of themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


class named_scope:  # noqa: N801 (a function, to those who call it)
    """A name for what is computed inside: `with named_scope("layer"): ...`.

    Generated text has the same `with` around what it was written for. It changes
    nothing else. As a decorator it gives the function back as it is.
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"named_scope needs a string, not {type(name).__name__}")
        self.name = name

    def __enter__(self) -> None:
        """Nothing happens."""

    def __exit__(self, *error: object) -> None:
        """Nothing happens; what was raised goes on."""

    def __call__(self, function: _F) -> _F:
        return function


def named_call(fun: _F, *, name: str | None = None) -> _F:
    """The function itself: in generated text functions have the names they have."""
    return fun


class ensure_compile_time_eval:  # noqa: N801 (a function, to those who call it)
    """`with ensure_compile_time_eval(): ...` is what is inside.

    Functions are read and not traced: what is known when text is written for them is
    computed when it runs, or is a constant in it.
    """

    def __enter__(self) -> None:
        """Nothing happens."""

    def __exit__(self, *error: object) -> None:
        """Nothing happens; what was raised goes on."""


__all__ = ["ensure_compile_time_eval", "named_call", "named_scope"]
