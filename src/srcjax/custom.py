"""Functions that come with a derivative of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class CustomRule:
    """What `custom_vjp` returns: a function and, once given, its derivative rule."""

    __name__: str  # of the function

    def __init__(
        self, function: Callable, nondiff_argnums: tuple[int, ...] = ()
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.fwd: Callable | None = None
        self.bwd: Callable | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def defvjp(self, fwd: Callable, bwd: Callable) -> None:
        """Set the rule.

        `fwd(*args) -> (y, residuals)`; `bwd(residuals, dy) -> tuple of adjoints`, one
        for each differentiable argument (arguments at `nondiff_argnums` come first).
        """
        self.fwd = fwd
        self.bwd = bwd


class Checkpointed:
    """What `checkpoint` returns: the backward sweep runs the function again."""

    def __init__(self, function: Callable) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    @staticmethod
    def vjp(checkpointed: Any, *args: Any) -> tuple[Any, Callable]:
        """The value, and a pullback that runs the forward sweep only when called."""
        from srcjax import api

        function = getattr(checkpointed, "function", checkpointed)
        value = function(*args)

        def pullback(dy: Any) -> Any:
            return api.vjp(function, *args)[1](dy)

        return value, pullback
