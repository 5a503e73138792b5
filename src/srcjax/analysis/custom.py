"""Functions that come with a derivative of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import MethodType
from typing import Any

from srcjax.backends.load import load


class Rules:
    """How often rules were given: what was written before may not have the new ones."""

    given = 0
    #: Whether users gave some to operations, or made operations.
    of_users = False


class AsMethod:
    """What a class has under a name is a method of its objects, as a function is."""

    def __get__(self, owner: Any, cls: Any = None) -> Any:
        return self if owner is None else MethodType(self, owner)  # type: ignore[arg-type]


class CustomRule(AsMethod):
    """What `custom_vjp` returns: a function and, once given, its derivative rule."""

    __name__: str  # of the function

    def __init__(
        self, function: Callable, nondiff_argnums: tuple[int, ...] = ()
    ) -> None:
        functools.update_wrapper(self, function)
        if not self.__name__.isidentifier():
            self.__name__ = "function"  # a lambda: generated names begin with it
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
        Rules.given += 1


class CustomRules(CustomRule):
    """A function that runs as it is, with a rule for each mode, and a known type."""

    def __init__(self, function: Callable) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.nondiff_argnums = ()

    @property
    def rule(self) -> Callable:
        """`rule(primals, tangents) -> (y, y_dot)`, for forward mode."""
        raise NotImplementedError

    @property
    def batched(self) -> Callable:
        """What gives the same value, and can be followed."""
        raise NotImplementedError

    def result_type(self, types: list[Any], named: dict[str, Any]) -> Any:
        """The type of the value for arguments of these types."""
        raise NotImplementedError


class CustomTangent(AsMethod):
    """What `custom_jvp` returns: a function and, once given, its tangent rule.

    Reverse mode takes the transpose of the rule, which is linear in the tangents:
    `pair_of` gives the transform for it (of a function, the positions of what is
    differentiated, and the number of arguments).
    """

    __name__: str  # of the function

    def __init__(
        self,
        function: Callable,
        nondiff_argnums: tuple[int, ...],
        pair_of: Callable[[Callable, tuple[int, ...], int], Any],
    ) -> None:
        functools.update_wrapper(self, function)
        if not self.__name__.isidentifier():
            self.__name__ = "function"  # a lambda: generated names begin with it
        self.function = function
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.pair_of = pair_of
        self.rule: Callable | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def defjvp(self, rule: Callable) -> Callable:
        """Set the rule: `rule(primals, tangents) -> (y, y_dot)`.

        Both are tuples, without the arguments at `nondiff_argnums`, which come first:
        `rule(n, primals, tangents)`. Returns the rule, so that it can decorate.
        """
        self.rule = rule
        Rules.given += 1
        return rule

    def defjvps(self, *rules: Callable | None) -> None:
        """Set a rule for each argument: `rule(x_dot, y, *args) -> its share of y_dot`.

        None says that the derivative to that argument is zero.
        """
        if self.nondiff_argnums:
            raise TypeError("defjvps takes no nondiff_argnums: use defjvp")
        text, values = _sum_of_rules(self.__name__, rules)
        values[self.__name__] = self.function
        name = f"{self.__name__}_rule"
        self.rule = getattr(load(text, name, values), name)
        Rules.given += 1

    def tangent(self, fixed: int) -> Callable:
        """The tangent alone, as a function with source."""
        if not hasattr(self, "_tangent"):
            names = ", ".join([f"a{i}" for i in range(fixed)] + ["primals", "tangents"])
            name = f"{self.__name__}_tangent"
            text = f"def {name}({names}):\n    return rule({names})[1]\n"
            self._tangent: Callable = getattr(
                load(text, name, {"rule": self.rule}), name
            )
        return self._tangent


def _sum_of_rules(
    name: str, rules: tuple[Callable | None, ...]
) -> tuple[str, dict[str, Any]]:
    """The text of one rule made of the rules of the arguments."""
    values: dict[str, Any] = {}
    terms = []
    for i, rule in enumerate(rules):
        if rule is not None:
            values[f"rule_{i}"] = rule
            terms.append(f"rule_{i}(tangents[{i}], y, *primals)")
    total = " + ".join(terms) or "0.0 * y"
    text = (
        f"def {name}_rule(primals, tangents):\n"
        f"    y = {name}(*primals)\n"
        f"    return y, {total}\n"
    )
    return text, values


class CustomBatch(AsMethod):
    """What `custom_vmap` returns: a function and, once given, its batched form."""

    __name__: str  # of the function

    def __init__(self, function: Callable) -> None:
        functools.update_wrapper(self, function)
        if not self.__name__.isidentifier():
            self.__name__ = "function"
        self.function = function
        self.rule: Callable | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def def_vmap(self, rule: Callable) -> Callable:
        """Set `rule(axis_size, in_batched, *args) -> (out, out_batched)`.

        Returns the rule, so that it can decorate.
        """
        self.rule = rule
        Rules.given += 1
        return rule


class Checkpointed(AsMethod):
    """What `checkpoint` returns: the backward sweep runs the function again."""

    def __init__(self, function: Callable) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Checkpointed) and self.function is other.function

    def __hash__(self) -> int:
        return hash((Checkpointed, self.function))


def is_made(function: Any) -> bool:
    """Whether a transform made it, or a rule or `checkpoint` was given to it."""
    return isinstance(function, AsMethod) or hasattr(function, "__srcjax_transform__")
