"""Functions with rules of their own, for all the examples of a batch.

The function, and the functions of its rule, are mapped one by one: what is made of them
is a function with a rule again, which later derivatives go by.

    y = f(x, w)                 y, saved = vmap(f_fwd)(x, w)
                                dx, dw = vmap(f_bwd)(saved, dy)
                                dw = dw.sum(axis=0)     one w for all the examples
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from inspect import Parameter
from typing import Any

from srcjax import pipeline
from srcjax.analysis import types as ty
from srcjax.analysis.custom import CustomBatch, CustomRule, CustomTangent
from srcjax.analysis.kept import Kept
from srcjax.analysis.request import Request
from srcjax.api.batch import vmap
from srcjax.backends.load import load
from srcjax.errors import UnsupportedError
from srcjax.runtime import given_for_all, sum_of_examples
from srcjax.transforms.batch.lanes import all_active, axes_of_type
from srcjax.transforms.places import keyed_parts
from srcjax.versions.functions import with_source

_MADE = Kept()
#: The axes of what is not known, or has no batch.
_UNKNOWN = object()


def batched_rule(
    rule: CustomRule | CustomTangent, types: Sequence[ty.Type], axes: tuple
) -> CustomRule | CustomTangent:
    """The function with its rule for a batch.

    Args:
        rule: what `custom_vjp` or `custom_jvp` made.
        types: those of the arguments of one example, mapped parts active.
        axes: the axes of the arguments, by position: 0 or None, or containers of them.

    Raises:
        UnsupportedError: no rule was given, or what its forward function saves has no
            batch.
    """
    if isinstance(rule, CustomTangent):
        parts = [rule.function, rule.rule]
        made: Any = _batched_tangent
    else:
        parts = [rule.function, rule.fwd, rule.bwd]
        made = _batched_pullback
    if None in parts:
        raise UnsupportedError("it has no rule")
    if any(isinstance(t, ty.Object) and ty.is_active(t) > all_active(t) for t in types):
        raise UnsupportedError("an object of which examples share some parts")
    key = (id(rule), *map(id, parts), repr(axes), tuple(types))
    found: CustomRule | CustomTangent = _MADE.get(
        key, (rule, parts), lambda: made(rule, list(types), axes)
    )
    return found


def _batched_tangent(
    rule: CustomTangent, types: list[ty.Type], axes: tuple
) -> CustomTangent:
    static = rule.nondiff_argnums
    moving = tuple(a for k, a in enumerate(axes) if k not in static)
    fixed = tuple(axes[k] for k in static)
    named = [*(f"a{k}" for k in range(len(fixed))), "primals", "tangents"]
    made = CustomTangent(_calling(rule, axes), static, rule.pair_of)
    made.rule = _written(
        f"{rule.__name__}_rule_batch",
        named,
        f"return mapped({', '.join(named)})",
        mapped=vmap(rule.rule, in_axes=(*fixed, moving, moving)),
    )
    return made


def _batched_pullback(rule: CustomRule, types: list[ty.Type], axes: tuple) -> Any:
    assert rule.fwd is not None and rule.bwd is not None
    static = rule.nondiff_argnums
    made = CustomRule(_calling(rule, axes), static)
    forward = with_source(rule.fwd, len(axes))
    names = _names(rule.function, len(axes))
    saved = _axes_of_saved(forward, types)
    given = [*(names[k] for k in static), "saved", "dy"]
    fixed = tuple(axes[k] for k in static)
    if saved is _UNKNOWN:
        forward, backward = _saving_arguments(rule, names, given)
        saved = axes
    else:
        backward = rule.bwd
    made.fwd = _written(
        f"{rule.__name__}_fwd_batch",
        names,
        f"return mapped({', '.join(names)})",
        mapped=vmap(forward, in_axes=axes, out_axes=(0, saved)),
    )
    moving = [k for k in range(len(axes)) if k not in static]
    found = [
        _summed(f"found[{place}]", types[k], axes[k]) for place, k in enumerate(moving)
    ]
    made.bwd = _written(
        f"{rule.__name__}_bwd_batch",
        given,
        f"found = mapped({', '.join(given)})\n    return {', '.join(found)},",
        mapped=vmap(backward, in_axes=(*fixed, saved, 0)),
        sum_of_examples=sum_of_examples,
    )
    return made


def _saving_arguments(
    rule: CustomRule, names: list[str], given: list[str]
) -> tuple[Callable, Callable]:
    """A rule that saves the arguments, and computes what it saved of them again.

    What the function for the way forward saves may be a function, which has no batch.
    """
    joined = ", ".join(names)
    forward = _written(
        f"{rule.__name__}_fwd",
        names,
        f"return forward({joined})[0], ({joined},)",
        forward=rule.fwd,
    )
    passed = ", ".join([*given[:-2], "forward(*saved)[1]", "dy"])
    backward = _written(
        f"{rule.__name__}_bwd",
        given,
        f"return backward({passed})",
        forward=rule.fwd,
        backward=rule.bwd,
    )
    return forward, backward


def _summed(text: str, t: ty.Type, axes: Any) -> str:
    """The adjoint of an argument, summed in the parts that all examples share."""
    if axes is None:
        return f"sum_of_examples({text})"
    if isinstance(axes, dict):
        parts = dict(keyed_parts(t))
        items = (
            f"{key!r}: {_summed(f'{text}[{key!r}]', parts[key], a)}"
            for key, a in axes.items()
        )
        return f"{{{', '.join(items)}}}"
    if not isinstance(axes, tuple):
        return text
    if getattr(t, "cls", None) not in (None, tuple, list):
        raise UnsupportedError("a named tuple of which examples share some parts")
    shown = [
        _summed(f"{text}[{k}]", part, a)
        for k, (part, a) in enumerate(zip(ty.parts(t), axes, strict=True))
    ]
    joined = ", ".join(shown)
    return f"[{joined}]" if isinstance(t, ty.List) else f"({joined},)"


def batch_by_rule(rule: CustomBatch, types: Sequence[ty.Type]) -> Callable:
    """`f_batch(axis_size, *args)`: what the rule that `def_vmap` was given gives.

    Args:
        rule: what `custom_vmap` made, with its rule.
        types: those of the arguments of one example, mapped parts active.
    """
    names = _names(rule.function, len(types))
    size = next(n for n in ("axis_size", "batch_size", "size_") if n not in names)
    batched = ", ".join(map(_which, types))
    body = (
        f"found, batched = rule({', '.join([size, f'[{batched}]', *names])})\n"
        f"    return given_for_all(found, batched, {size})"
    )
    values = {"rule": rule.rule, "given_for_all": given_for_all}
    key = (id(rule.rule), tuple(names), batched)
    found: Callable = _MADE.get(
        key,
        rule.rule,
        lambda: _written(f"{rule.__name__}_batch", [size, *names], body, **values),
    )
    return found


def _which(t: ty.Type) -> str:
    """Which parts of an argument have an axis for the examples, as an expression."""
    found = keyed_parts(t)
    if not found or isinstance(t, ty.Object):
        return repr(ty.is_active(t))
    if isinstance(t, ty.Dict):
        items = (f"{key!r}: {_which(part)}" for key, part in found)
        return f"{{{', '.join(items)}}}"
    joined = ", ".join(_which(part) for _, part in found)
    return f"[{joined}]" if isinstance(t, ty.List) else f"({joined},)"


def _calling(rule: CustomRule | CustomTangent, axes: tuple) -> Callable:
    """A Python function that maps the function."""
    names = _names(rule.function, len(axes))
    name = f"{rule.__name__}_batch"
    mapped = vmap(with_source(rule.function, len(axes)), in_axes=axes)
    return _written(name, names, f"return mapped({', '.join(names)})", mapped=mapped)


def _written(name: str, names: list[str], body: str, **values: Any) -> Callable:
    text = f"def {name}({', '.join(names)}):\n    {body}\n"
    made: Callable = getattr(load(text, name, values), name)
    return made


def _names(function: Callable, count: int) -> list[str]:
    """Names for so many arguments, those of the parameters where there are as many."""
    parameters = list(inspect.signature(function).parameters.values())[:count]
    plain = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    if len(parameters) == count and all(p.kind in plain for p in parameters):
        return [p.name for p in parameters]
    return [f"a{k}" for k in range(count)]


def _axes_of_saved(forward: Callable, types: list[ty.Type]) -> Any:
    """The axes of what a forward function saves: none where examples have the same."""
    names = list(inspect.signature(forward).parameters)[: len(types)]
    given = dict(zip(names, types, strict=True))
    wrt = [n for n, t in given.items() if ty.is_active(t)]
    result, _ = pipeline.result_of_examples(Request(forward, given, wrt))
    if not isinstance(result, ty.Tuple) or len(result.items) != 2:
        return _UNKNOWN
    saved = result.items[1]
    return axes_of_type(saved) if _has_batch(saved) else _UNKNOWN


def _has_batch(t: ty.Type) -> bool:
    """Whether it is known what a value is, and that it is no function."""
    if isinstance(t, (ty.Closure, ty.Transformed)) or type(t) is ty.Unknown:
        return False
    shared = isinstance(t, ty.Object) and ty.is_active(t)
    return all(_has_batch(p) and ty.is_active(p) >= shared for p in ty.parts(t))


__all__ = ["batch_by_rule", "batched_rule"]
