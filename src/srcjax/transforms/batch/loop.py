"""The function in a loop over the examples, where there is no batched form.

    def vmap_f(x, w):
        # A loop over the examples: `try ... except`: which example raised ...
        examples = [f(x[k], w) for k in range(len(x))]
        return np.stack(examples)

What the types of the arguments and of the result do not tell is left to helpers, which
look at the values: that text is right for every rank and structure.
"""

from __future__ import annotations

import copy
import inspect
import textwrap
from collections.abc import Callable, Set
from dataclasses import is_dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.counts import uncounted
from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    is_active,
    is_number,
    shape_of,
)
from srcjax.transforms.places import keyed_parts, read_part, rebuild
from srcjax.transforms.reasons import Reason, because

_CONTAINERS = (Tuple, List, Dict, Object)


class ExampleLoop:
    """Writes `vmap_f` as a loop that calls `f`.

    `types` are those of one example, mapped parts active; `result` is that of `f`, None
    if it is not known. `values` collects what the names in the text stand for.
    """

    def __init__(
        self,
        signature: inspect.Signature,
        types: dict[str, Type],
        axes: dict[str, Any],
        out_axes: Any,
        result: Type | None,
        copied: Set[str] = frozenset(),
    ) -> None:
        self.signature = signature
        self.types = types
        self.axes = axes
        self.out_axes = out_axes
        self.result = result
        #: Arguments that the function writes to, mapped or not: each example has a
        #: copy of its own.
        self.copied = copied
        self.values: dict[str, Any] = {}
        self.taken = set(types)

    def fresh(self, base: str) -> str:
        """A name that no parameter has."""
        found, number = base, 2
        while found in self.taken:
            found, number = f"{base}{number}", number + 1
        self.taken.add(found)
        return found

    def write(self, name: str, function: Callable, reason: str) -> gast.FunctionDef:
        """The function `vmap_name`."""
        called = self.fresh(name)
        self.values[called] = function
        k, examples = self.fresh("k"), self.fresh("examples")
        call = syntax.call(called)
        for n, parameter in self.signature.parameters.items():
            value = self.example_of(
                syntax.name(n), self.types[n], self.axes.get(n), syntax.name(k)
            )
            if n in self.copied:
                value = self.copy_of(value, self.types[n])
            if parameter.kind is parameter.KEYWORD_ONLY:
                call.keywords.append(gast.keyword(n, value))
            elif parameter.kind is parameter.VAR_KEYWORD:
                call.keywords.append(gast.keyword(None, value))
            elif parameter.kind is parameter.VAR_POSITIONAL:
                call.args.append(gast.Starred(value, syntax.LOAD))
            else:
                call.args.append(value)
        over = syntax.call("range", self.count())
        made = gast.ListComp(
            call, [gast.comprehension(syntax.name(k, store=True), over, [], 0)]
        )
        about = textwrap.wrap(f"A loop over the examples: {reason}", 80)
        body: list[gast.stmt] = [syntax.comment(line) for line in about]
        body.append(syntax.assign(examples, made))
        because(body[-1], Reason(slot="batch", said="one example after the other"))
        body.append(gast.Return(self.stacked(examples, self.result, [], self.out_axes)))
        shown = [
            p.replace(annotation=p.empty, default=p.empty)
            for p in self.signature.parameters.values()
        ]
        header = f"def vmap_{name}{inspect.Signature(shown)}:\n    pass\n"
        node: gast.FunctionDef = syntax.gast_of(header).body[0]
        node.body = body
        return node

    # -- arguments ---------------------------------------------------------------------

    def count(self) -> gast.expr:
        """How many examples there are, from the first mapped argument."""
        name = next(n for n, t in self.types.items() if is_active(t))
        return self.count_in(syntax.name(name), self.types[name], self.axes.get(name))

    def count_in(self, value: gast.expr, t: Type, axes: Any) -> gast.expr:
        """The same, from one argument."""
        if isinstance(t, _CONTAINERS) and keyed_parts(t):
            for key, part in keyed_parts(t):
                if is_active(part):
                    inner = read_part(t, value, key)
                    return self.count_in(inner, part, axis_at(axes, key))
        if has_axes(t):
            axis = self.axis(t, axes)
            if axis == 0:
                return syntax.call("len", value)
            return syntax.expression(f"x.shape[{axis}]", x=value)
        return self.helper("batch_count", value, literal(axes))

    def example_of(self, value: gast.expr, t: Type, axes: Any, k: gast.expr) -> Any:
        """One example of an argument."""
        if not is_active(t):
            return value
        if isinstance(t, _CONTAINERS) and keyed_parts(t) and can_be_rebuilt(t):
            self.needs(t)
            made = [
                self.example_of(read_part(t, value, key), part, axis_at(axes, key), k)
                for key, part in keyed_parts(t)
            ]
            return rebuild(t, made)
        if has_axes(t):
            index = ", ".join([":"] * self.axis(t, axes) + ["k"])
            return syntax.expression(f"x[{index}]", x=value, k=k)
        return self.helper("example", value, literal(axes), k)

    def copy_of(self, value: gast.expr, t: Type) -> gast.expr:
        """An example that may be written to."""
        if isinstance(t, Array):
            return syntax.expression("x.copy()", x=value)
        if is_number(t) or isinstance(t, Const):
            return value
        self.values["copy"] = copy
        return syntax.expression("copy.deepcopy(x)", x=value)

    def axis(self, t: Type, axes: Any) -> int:
        """The batch axis, counted from the start."""
        rank = len(t.shape) if isinstance(t, Array) and t.shape is not None else 0
        return int(axes) % (rank + 1)

    # -- results -----------------------------------------------------------------------

    def stacked(
        self, examples: str, t: Type | None, path: list, axes: Any
    ) -> gast.expr:
        """The results of all examples as one; `path` leads into the result."""
        if axes is None or (isinstance(t, Const) and not is_number(t)):
            first = syntax.expression("e[0]", e=syntax.name(examples))
            return at_path(first, path)
        if (
            isinstance(t, _CONTAINERS)
            and fits(axes, keyed_parts(t))
            and can_be_rebuilt(t)
        ):
            self.needs(t)
            made = [
                self.stacked(examples, part, [*path, (t, key)], axis_at(axes, key))
                for key, part in keyed_parts(t)
            ]
            return rebuild(t, made)
        each: gast.expr = syntax.name(examples)
        if path:
            item = self.fresh("result")
            self.taken.discard(item)  # another comprehension has a scope of its own
            each = gast.ListComp(
                at_path(syntax.name(item), path),
                [gast.comprehension(syntax.name(item, store=True), each, [], 0)],
            )
        if t is not None and has_known_sizes(t):
            self.values["np"] = np
            if axes == 0:
                return syntax.expression("np.stack(e)", e=each)
            return syntax.expression("np.stack(e, axis=a)", e=each, a=literal(axes))
        return self.helper("stacked", each, literal(axes))

    # -- names -------------------------------------------------------------------------

    def helper(self, name: str, *args: gast.expr) -> gast.Call:
        from srcjax import runtime

        self.values[name] = getattr(runtime, name)
        return syntax.call(syntax.name(name), *args)

    def needs(self, t: Type) -> None:
        """The class of a container has to be known in the text."""
        cls = getattr(t, "cls", None)
        if cls is not None and cls not in (tuple, list):
            self.values[cls.__name__] = cls


def has_known_sizes(t: Type) -> bool:
    """Whether it is an array or number of the same shape for all examples."""
    shape = shape_of(uncounted(t))
    return shape is not None and None not in shape


def has_axes(t: Type) -> bool:
    """Whether the value is a number or an array of known rank."""
    return is_number(t) or (isinstance(t, Array) and t.shape is not None)


def can_be_rebuilt(t: Type) -> bool:
    """Whether its class makes the container from its parts alone."""
    return not isinstance(t, Object) or is_dataclass(t.cls)


def fits(axes: Any, found: list[tuple[Any, Type]]) -> bool:
    """Whether there is an axis for each part, and a part at all."""
    if isinstance(axes, dict):
        return bool(found) and axes.keys() == {key for key, _ in found}
    if isinstance(axes, (list, tuple)):
        return bool(found) and len(axes) == len(found)
    return bool(found)


def axis_at(axes: Any, key: Any) -> Any:
    """The axes of a part of a container."""
    if isinstance(axes, dict) or (
        isinstance(axes, (list, tuple)) and isinstance(key, int)
    ):
        return axes[key]
    return axes


def at_path(value: gast.expr, path: list[tuple[Type, Any]]) -> gast.expr:
    """A part of a part of the value."""
    for t, key in path:
        value = read_part(t, value, key)
    return value


def literal(value: Any) -> gast.expr:
    """The axes as written."""
    return syntax.expression(repr(value))


__all__ = ["ExampleLoop"]
