"""Reverse mode as transforms: `grad`, `value_and_grad`, `vjp`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from srcjax.errors import ArgumentError
from srcjax.late import late
from srcjax.versions.callables import Argnums, Transform
from srcjax.versions.facts import has_real, listed, without_activity

if TYPE_CHECKING:
    from srcjax.analysis import types as ty
    from srcjax.backends.module import Module
    from srcjax.checks import world as worlds
    from srcjax.versions import tree
else:
    ty = late("srcjax.analysis.types")
    worlds = late("srcjax.checks.world")
    tree = late("srcjax.versions.tree")


class Gradient(Transform):
    """`grad` and `value_and_grad`."""

    of_number = True

    def __init__(
        self,
        function: Callable,
        argnums: Argnums,
        has_aux: bool,
        with_value: bool,
        holomorphic: bool = False,
    ) -> None:
        self.name = "value_and_grad" if with_value else "grad"
        super().__init__(function, argnums)
        self.has_aux = has_aux
        self.with_value = with_value
        self.holomorphic = holomorphic

    def summary(self) -> str:
        what = "Value and gradient" if self.with_value else "Gradient"
        return f"{what} of {self.shown_name} with respect to {listed(self.wrt)}"

    def annotations(self, given: dict[str, Any]) -> dict[str, Any]:
        """Those of the function; a gradient is like what it is of."""
        found = super().annotations(given)
        plain = self.single and not self.has_aux and not self.with_value
        if plain and "wrt" in vars(self) and self.wrt[0] in found:
            found["return"] = found[self.wrt[0]]
        return found

    def build(self, types: list[ty.Type], typed: bool) -> Module:
        if self.holomorphic:
            for name, t in zip(self.parameters, types, strict=True):
                if name in self.wrt and has_real(t):
                    raise ArgumentError(
                        f"argument `{name}` is real; grad with holomorphic=True needs "
                        "complex arguments",
                        instead=f"`{name} + 0j`, or grad without holomorphic=True",
                    )
        request = self.request(types)
        from srcjax import pipeline

        return pipeline.gradient(
            request,
            self.single,
            self.with_value,
            self.has_aux,
            typed,
            self.holomorphic,
        )

    def along(self, values: list[Any], tangents: list[Any], weights: Any) -> Any:
        args, kwargs = self.arguments(values)
        version, values, keywords = self.prepare(tuple(args), kwargs)
        result = version.function(*values, **keywords)
        if self.with_value:
            result = result[1]
        elif self.has_aux:
            result = result[0]
        return [result] if self.single else list(result), tangents

    def opposite(self) -> Transform | None:
        return self.OPPOSITES["forward"](self.function, tuple(self.wrt), self.has_aux)

    def result_type(
        self, types: list[ty.Type], value: Callable[[], ty.Type]
    ) -> ty.Type:
        named = dict(zip(self.parameters, types, strict=True))
        found = tuple(tree.as_real(without_activity(named[n])) for n in self.wrt)
        gradient = found[0] if self.single else ty.Tuple(items=found)
        if not (self.with_value or self.has_aux):
            return gradient
        result = value()
        if self.with_value:
            return ty.Tuple(items=(result, gradient))
        aux = result.items[1] if isinstance(result, ty.Tuple) else ty.UNKNOWN
        return ty.Tuple(items=(gradient, aux))


class Pullback(Transform):
    """`vjp`: a forward function and a backward function."""

    name = "vjp"
    #: Whether the value that is differentiated has something beside it.
    has_aux = False

    def summary(self) -> str:
        return f"Value of {self.shown_name}, and what its backward function reads"

    def build(self, types: list[ty.Type], typed: bool) -> Module:
        from srcjax import pipeline

        return pipeline.vjp(self.request(types))

    def along(self, values: list[Any], tangents: list[Any], weights: Any) -> Any:
        args, kwargs = self.arguments(values)
        version, values, keywords = self.prepare(tuple(args), kwargs)
        y, saved = version.function(*values, **keywords)
        seed = tree.seed_like(weights, y[0] if self.has_aux else y)
        if self.has_aux:
            from srcjax.runtime import zeros_like

            seed = (seed, zeros_like(y[1]))
        backward = getattr(version.loaded, version.module.functions[-1].name)
        result = run_backward(backward, saved, seed)
        return [result] if len(self.wrt) == 1 else list(result), tangents

    def opposite(self) -> Transform | None:
        return self.OPPOSITES["forward"](self.function, tuple(self.wrt), self.has_aux)


def run_backward(backward: Callable, saved: Any, seed: Any) -> Any:
    """Call a backward function that may write to what was saved for it.

    Pullbacks that were saved hold arrays themselves: no copy can stand for these, and
    what was written to is put back.
    """
    if not holds_functions(saved):
        return backward(*tree.copy_saved((saved, seed)))
    world = worlds.World([saved, seed])
    try:
        return backward(saved, seed)
    finally:
        world.put_back()


def holds_functions(value: Any) -> bool:
    """Whether a function is among what was saved."""
    if isinstance(value, dict):
        return any(map(holds_functions, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(holds_functions, value))
    return inspect.isfunction(value)


def pullback_of(
    function: Callable, argnums: tuple[str, ...], has_aux: bool
) -> Pullback:
    found = Pullback(function, argnums)
    found.has_aux = has_aux
    return found


Transform.OPPOSITES["reverse"] = pullback_of


class KeptPullback(Pullback):
    """`vjp` whose backward function leaves intact what the forward function saved."""

    def build(self, types: list[ty.Type], typed: bool) -> Module:
        from srcjax import pipeline

        module = pipeline.vjp(self.request(types))
        pipeline.keep_saved(module)
        return module


class ValueAndPullback(KeptPullback):
    """`vjp(f)`: a function that gives the value and the pullback of each call."""

    def summary(self) -> str:
        names = listed(self.wrt)
        return f"Value of {self.shown_name}, and its pullback with respect to {names}"

    def build(self, types: list[ty.Type], typed: bool) -> Module:
        from srcjax import pipeline

        module = super().build(types, typed)
        pipeline.return_pullback(module, self.source.name, len(self.wrt))
        return module
