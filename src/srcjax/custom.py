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


class CustomTangent:
    """What `custom_jvp` returns: a function and, once given, its tangent rule.

    Reverse mode takes the transpose of the rule, which is linear in the tangents.
    """

    __name__: str  # of the function

    def __init__(
        self, function: Callable, nondiff_argnums: tuple[int, ...] = ()
    ) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.nondiff_argnums = tuple(nondiff_argnums)
        self.rule: Callable | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def defjvp(self, rule: Callable) -> Callable:
        """Set the rule: `rule(primals, tangents) -> (y, y_dot)`.

        Both are tuples, without the arguments at `nondiff_argnums`, which come first:
        `rule(n, primals, tangents)`. Returns the rule, so that it can decorate.
        """
        self.rule = rule
        return rule

    def defjvps(self, *rules: Callable | None) -> None:
        """Set a rule for each argument: `rule(x_dot, y, *args) -> its share of y_dot`.

        None says that the derivative to that argument is zero.
        """
        if self.nondiff_argnums:
            raise TypeError("defjvps takes no nondiff_argnums: use defjvp")
        text, values = _sum_of_rules(self.__name__, rules)
        values[self.__name__] = self.function
        from srcjax.backends.load import load

        name = f"{self.__name__}_rule"
        self.rule = getattr(load(text, name, values), name)

    @staticmethod
    def vjp(custom: Any, *args: Any) -> tuple[Any, Callable]:
        """The value, and the transpose of the rule as a pullback."""
        from srcjax import api
        from srcjax.runtime import zeros_like

        static = custom.nondiff_argnums
        fixed = [args[i] for i in static]
        primals = tuple(a for i, a in enumerate(args) if i not in static)
        zeros = tuple(zeros_like(p) for p in primals)
        value = custom.rule(*fixed, primals, zeros)[0]
        tangent = custom.tangent(len(static))

        def pullback(dy: Any) -> tuple:
            transform = api._pullback_of(tangent, (len(fixed) + 1,))
            pull = api.pull_back(transform, (*fixed, primals, zeros))[1]
            found = iter(pull(dy)[0])
            return tuple(
                zeros_like(a) if i in static else next(found)
                for i, a in enumerate(args)
            )

        return value, pullback

    def tangent(self, fixed: int) -> Callable:
        """The tangent alone, as a function with source."""
        if not hasattr(self, "_tangent"):
            from srcjax.backends.load import load

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
