"""`vmap` of what a transform gives, by transforming in another order.

Generated code with tapes and gathered examples has no batched form where examples go
their own ways: how long a tape is, or how many examples a mask takes, would differ.
Another order of the same transforms has one:

    vmap(value_and_grad(f))     the gradient of the sum over a batch: an example's
                                result depends on its own arguments alone
    vmap(vmap(f))               f of one batch with the examples of all batches
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from srcjax import runtime, syntax
from srcjax.analysis.types import Array, Scalar, Type, dtype_of, map_parts, parts
from srcjax.backends.module import Module
from srcjax.errors import ArgumentError, NoRuleError, UnsupportedError
from srcjax.versions.facts import without_activity
from srcjax.versions.reverse_mode import Gradient


def other_order(batch: Any, batches: list[Type], axes: list[Any]) -> Module | None:
    """The module of a `Batched`, transformed in another order; None: there is none.

    Args:
        batch: the `Batched`, whose function was made by a transform. No collective
            names its axis.
        batches: the types of its arguments, with the axes of the batch.
        axes: the axis of each.
    """
    if not batch.positional or not all(a is None or isinstance(a, int) for a in axes):
        return None
    types = list(map(without_activity, batches))
    try:
        if isinstance(batch.inner, Gradient):
            return gradient_of_batch(batch, types, axes)
        if isinstance(batch.inner, type(batch)):
            return batch_of_batches(batch, types, axes)
    except (UnsupportedError, ArgumentError, NoRuleError):
        pass
    return None


def gradient_of_batch(batch: Any, types: list[Type], axes: list[Any]) -> Module | None:
    """`vmap(grad(f))` as the gradient of the sum of a batch of `f`.

    An argument that is differentiated and the same for all is one for each example.
    """
    inner = batch.inner
    names = batch.parameters
    body: list[gast.stmt] = []
    types = [
        t if a is None else moved(body, n, t, a, 0)
        for n, t, a in zip(names, types, axes, strict=True)
    ]
    repeated = [
        n for n, a in zip(names, axes, strict=True) if a is None and n in inner.wrt
    ]
    of_each = tuple(
        0 if n in repeated or a is not None else None
        for n, a in zip(names, axes, strict=True)
    )
    examples = type(batch)(inner.function, of_each, 0, batch.axis_size)
    examples.strict = True
    given = [
        with_axis(t) if n in repeated else t for n, t in zip(names, types, strict=True)
    ]
    one = examples.version_of(given).module
    total = sum_of(one, names, inner.with_value, inner.has_aux)
    more = inner.with_value or inner.has_aux
    gradient = Gradient(total, inner.argnums, more, False, inner.holomorphic)
    module = gradient.version_of(given).module
    entry = f"vmap_{inner.name}_{batch.source.name}"
    if not more and not repeated and not body and batch.out_axes == 0:
        return renamed(module, entry)
    first = next((n for n, a in zip(names, axes, strict=True) if a is not None), None)
    if first is None:
        return None
    kinds = dict(zip(names, types, strict=True))
    for n in repeated:
        text = "spread_items(x, n)"
        if isinstance(kinds[n], (Array, Scalar)):
            text = "np.broadcast_to(x, (n, *np.shape(x)))"
        count = count_of(first, kinds[first])
        body.append(
            syntax.assign(n, syntax.expression(text, x=syntax.name(n), n=count))
        )
    got, given_back = {
        (False, False): ("slope", "slope"),
        (True, False): ("slope, value", "value, slope"),
        (False, True): ("slope, aux", "slope, aux"),
        (True, True): ("slope, (value, aux)", "(value, aux), slope"),
    }[inner.with_value, inner.has_aux]
    call = syntax.call(module.entry, *map(syntax.name, names))
    if got == given_back:
        body.append(gast.Return(with_axes(call, batch.out_axes)))
    else:
        free = {n: syntax.name(fresh(n, names)) for n in ("slope", "value", "aux")}
        body += syntax.statements(f"{got} = call", call=call)
        end = syntax.expression(given_back)
        body.append(gast.Return(with_axes(end, batch.out_axes)))
        syntax.rename(body, {n: free[n].id for n in free})
    return wrapped(entry, module, names, body)


def sum_of(module: Module, names: list[str], with_value: bool, has_aux: bool) -> Any:
    """The sum over the batch, along with what is wanted of each example.

    It is what the batched function is but for its result, so that its gradient is one
    function too. A function that calls itself is called.
    """
    name = f"sum_of_{module.entry.removeprefix('vmap_')}"
    functions = syntax.clone(module.functions)
    values = {"np": np, **module.values}
    entry = next(f for f in functions if f.name == module.entry)
    if any(syntax.is_name(n, module.entry) for n in syntax.walk(functions)):
        given = ", ".join(names)
        text = f"def {name}({given}):\n    return {module.entry}({given})\n"
        functions = syntax.statements(text)
        values |= {module.entry: getattr(module.load(), module.entry)}
        entry = functions[0]
    entry.name = name
    own = syntax.Names(syntax.all_names(entry) | values.keys())
    value, aux = own.fresh("value"), own.fresh("aux")
    shown = f"{value}, {aux}" if has_aux else value
    kept = {
        (False, False): "",
        (True, False): f", {value}",
        (False, True): f", {aux}",
        (True, True): f", ({value}, {aux})",
    }[with_value, has_aux]
    last = entry.body[-1]
    assert isinstance(last, gast.Return)
    end = "return np.sum(result)"
    if kept:
        end = f"{shown} = result\nreturn np.sum({value}){kept}"
    entry.body[-1:] = syntax.statements(end, result=last.value)
    made = Module(name, functions, values)
    made.entry, made.made, made.kept = name, module.made, module.kept
    made.guards = module.guards
    made.print()
    return getattr(made.load(), name)


def batch_of_batches(batch: Any, types: list[Type], axes: list[Any]) -> Module | None:
    """`vmap(vmap(f))` as one batch with the examples of all batches."""
    inner = batch.inner
    names = batch.parameters
    within = inner.axes_of_types(len(names))
    plain = inner.axis_name is None and inner.out_axes == 0
    if not plain or not all(a is None or isinstance(a, int) for a in within):
        return None
    have = {
        n: (a is not None, b is not None)
        for n, a, b in zip(names, axes, within, strict=True)
    }
    body: list[gast.stmt] = []
    kinds = {}
    for n, t, a, b in zip(names, types, axes, within, strict=True):
        t = t if a is None else moved(body, n, t, a, 0)
        place = int(a is not None)
        kinds[n] = (
            t if b is None else moved(body, n, t, b if b < 0 else b + place, place)
        )
    first = next((n for n in names if have[n][0]), None)
    second = next((n for n in names if have[n][1]), None)
    if first is None or second is None:
        return None
    flat = type(batch)(
        inner.function, tuple(0 if any(have[n]) else None for n in names), 0
    )
    flat.strict = True
    merged = []
    for n in names:
        t = kinds[n]
        for _ in range(sum(have[n])):
            t = without_axis(t)
        merged.append(with_axis(t) if any(have[n]) else kinds[n])
    module = flat.version_of(merged).module
    outer, inside = fresh("outer", names), fresh("inner", names)
    axis = int(have[second][0])
    body += [
        syntax.assign(outer, count_of(first, kinds[first])),
        syntax.assign(inside, count_of(second, kinds[second], axis)),
    ]
    holes = {"n": syntax.name(outer), "m": syntax.name(inside)}
    for n in names:
        t = kinds[n]
        if not any(have[n]):
            continue
        text = f"merge_batches(x, n, m, {have[n]!r})"
        if all(have[n]) and isinstance(t, Array) and t.shape is not None:
            rest = ", *x.shape[2:]" if len(t.shape) > 2 else ""
            text = f"x.reshape(n * m{rest})"
        body.append(
            syntax.assign(n, syntax.expression(text, x=syntax.name(n), **holes))
        )
    results = fresh("results", names)
    call = syntax.call(module.entry, *map(syntax.name, names))
    text = "split_batches(y, n, m)"
    if isinstance(module.example, Scalar):
        text = "y.reshape(n, m)"
    elif isinstance(module.example, Array):
        text = "y.reshape(n, m, *y.shape[1:])"
    end = syntax.expression(text, y=syntax.name(results), **holes)
    end = with_axes(end, batch.out_axes)
    body += [syntax.assign(results, call), gast.Return(end)]
    return wrapped(f"vmap_{module.entry}", module, names, body)


# -- types -----------------------------------------------------------------------------


def with_axis(t: Type) -> Type:
    """The type of a batch of such values."""
    if parts(t):
        return map_parts(t, with_axis)
    if isinstance(t, Array):
        shape = None if t.shape is None else (None, *t.shape)
        return replace(t, shape=shape)
    if dtype_of(t) is None:
        return t
    return Array(False, t.buffers, dtype_of(t), (None,))


def without_axis(t: Type) -> Type:
    """The type of one of a batch of values."""
    if parts(t):
        return map_parts(t, without_axis)
    if not isinstance(t, Array) or t.shape is None:
        return t
    return replace(t, shape=t.shape[1:])


def moved(body: list[Any], name: str, t: Type, axis: int, place: int) -> Type:
    """The type of an argument with an axis moved, as `body` does first.

    Raises:
        UnsupportedError: the argument is not known to be an array.
    """
    if axis == place:
        return t
    if not isinstance(t, Array) or t.shape is None:
        raise UnsupportedError("axes of the arrays in a container")
    shape = list(t.shape)
    shape.insert(place, shape.pop(axis))
    text = "x.T" if len(shape) == 2 else f"np.moveaxis(x, {axis}, {place})"
    body.append(syntax.assign(name, syntax.expression(text, x=syntax.name(name))))
    return replace(t, shape=tuple(shape))


# -- text ------------------------------------------------------------------------------


def renamed(module: Module, entry: str) -> Module:
    """The module with another name for its entry."""
    names = set().union(*map(syntax.all_names, module.functions), module.values)
    if entry in names | {f.name for f in module.functions}:
        return module
    made = copy(module)
    made.functions = syntax.clone(module.functions)
    syntax.rename(made.functions, {module.entry: entry})
    made.kept = {
        entry if n == module.entry else n: kept for n, kept in made.kept.items()
    }
    made.name = made.entry = entry
    made.print()
    return made


def wrapped(entry: str, module: Module, names: list[str], body: list[Any]) -> Module:
    """The module with one more function, which calls its entry."""
    header = f"def {entry}({', '.join(names)}):\n    pass\n"
    node: gast.FunctionDef = syntax.gast_of(header).body[0]
    node.body = body
    values = dict(module.values)
    for name in sorted(syntax.names_read(body)):
        if name == "np" or hasattr(runtime, name):
            values[name] = np if name == "np" else getattr(runtime, name)
    made = Module(entry, [*syntax.clone(module.functions), node], values)
    made.guards, made.stages, made.entry = module.guards, module.stages, entry
    made.opinions = module.opinions
    made.print()
    return made


def with_axes(value: gast.expr, out_axes: Any) -> gast.expr:
    """The results of all examples with their axis where it is asked for."""
    if out_axes == 0:
        return value
    axes = syntax.expression(repr(out_axes))
    return syntax.call("move_axes", value, syntax.const(0), axes)


def count_of(name: str, t: Type, axis: int = 0) -> gast.expr:
    """The number of examples in an argument."""
    text = "len(x)" if axis == 0 else f"x.shape[{axis}]"
    if not isinstance(t, Array):
        text = f"batch_count(x, {axis})"
    return syntax.expression(text, x=syntax.name(name))


def fresh(base: str, names: list[str]) -> str:
    """A name that no parameter has."""
    while base in names:
        base += "_"
    return base


__all__ = ["other_order"]
