"""Calls of NumPy as a person writes them where the types of the arguments are known.

np.expand_dims(d, -1)        d[:, None]           of a vector
np.swapaxes(x, -1, -2)       x.T                  of a matrix
np.reshape(d, np.shape(x))   d                    of an array of that shape already
np.conj(x)                   x                    of a real one
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import Array, Type, dtype_of, is_number, rank_of, shape_of
from srcjax.ops.expand import EXPANSIONS, is_real
from srcjax.ops.expand.asking import permuted
from srcjax.ops.known import MISSING, known, known_value
from srcjax.ops.shaping_types import dims_in

TypeOf = Callable[[gast.expr], Type]


def plain_call(call: gast.expr, function: Any, type_of: TypeOf) -> gast.expr:
    """The call, or what is simpler and the same for arguments of these types."""
    if not isinstance(call, gast.Call):
        return call
    if function is None and getattr(call.func, "attr", "") == "astype":
        return _as_its_own(call, type_of)
    rule = _RULES.get(function)
    if rule is not None and not any(isinstance(a, gast.Starred) for a in call.args):
        call = drop_defaults(call)
        found = rule(call, type_of)
        return call if found is None else found
    return call


def drop_defaults(call: gast.Call) -> gast.Call:
    """Without `axis=None` and `keepdims=False`, which are the defaults."""
    kept = [
        k
        for k in call.keywords
        if not (
            isinstance(k.value, gast.Constant)
            and (k.arg, k.value.value) in (("axis", None), ("keepdims", False))
        )
    ]
    return gast.Call(call.func, call.args, kept)


def _as_its_own(call: Any, type_of: TypeOf) -> gast.expr:
    """`x.astype(d.dtype)` of arrays of one dtype is `x`."""
    owner, wanted = call.func.value, call.args[0] if call.args else None
    if isinstance(wanted, gast.Attribute) and wanted.attr == "dtype":
        dtype = dtype_of(type_of(owner))
        if dtype is not None and dtype == dtype_of(type_of(wanted.value)):
            found: gast.expr = owner
            return found
    return call


def plain_product(node: gast.expr, type_of: TypeOf) -> gast.expr:
    """`np.outer(a, b)` for `a[:, None] * b[None]` of vectors."""
    if not (isinstance(node, gast.BinOp) and isinstance(node.op, gast.Mult)):
        return node
    sides: list[Any] = [node.left, node.right]
    if not all(isinstance(s, gast.Subscript) for s in sides):
        return node
    shown = [syntax.text(s.slice) for s in sides]
    ranks = [rank_of(type_of(s.value)) for s in sides]
    if ranks != [1, 1] or shown != ["(:, None)", "None"]:
        return node
    return syntax.call("np.outer", sides[0].value, sides[1].value)


def _shape(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    (x,) = call.args
    return gast.Attribute(x, "shape", syntax.LOAD) if _is_array(type_of(x)) else None


def _is_array(t: Type) -> bool:
    return isinstance(t, Array)


def _reshape(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    """In the shape of another array: as `unreshape` does."""
    if len(call.args) != 2 or call.keywords:
        return None
    d, shape = call.args
    if not isinstance(shape, gast.Attribute) or shape.attr != "shape":
        return None
    x = shape.value
    return EXPANSIONS["unreshape"]([d, x], [type_of(d), type_of(x)])


def _expand_dims(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    axis = known(type_of(call.args[1]))
    t = type_of(call.args[0])
    rank = rank_of(t)
    if not isinstance(axis, int) or not _is_array(t) or not rank:
        return None
    if axis == -1:
        index = "..., None" if rank != 1 else ":, None"
    elif axis >= 0:
        index = ", ".join([":"] * axis + ["None"])
    elif axis == -2:
        index = "None" if rank == 1 else "..., None, :"
    else:
        return None
    return syntax.expression(f"d[{index}]", d=call.args[0])


def _swapaxes(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    axes = [known(type_of(a)) for a in call.args[1:]]
    if sorted(axes) != [-2, -1]:  # type: ignore[type-var]
        return None
    return EXPANSIONS["transposed"](call.args[:1], [type_of(call.args[0])])


def _real(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    return call.args[0] if is_real(type_of(call.args[0])) else None


def _ravel(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    t = type_of(call.args[0])
    return call.args[0] if _is_array(t) and rank_of(t) == 1 else None


def _transpose(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    t = type_of(call.args[0])
    if not _is_array(t):
        return None
    if len(call.args) == 1:
        return syntax.expression("x.T", x=call.args[0])
    order = known_value(type_of(call.args[1]))
    return None if order is MISSING else permuted(call.args[0], list(order))


def _moveaxis(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    x, *places = call.args
    rank = rank_of(type_of(x))
    axes = [known(type_of(p)) for p in places]
    if rank is None or not all(isinstance(a, int) for a in axes):
        return None
    return x if axes[0] % rank == axes[1] % rank else None  # type: ignore[operator]


def _at_least(rank: int) -> Callable[[gast.Call, TypeOf], gast.expr | None]:
    def rule(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
        have = rank_of(type_of(call.args[0]))
        plain = len(call.args) == 1 and have is not None and have >= rank
        return call.args[0] if plain else None

    return rule


def _asarray(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    held, *more = call.args
    wanted = more + [k.value for k in call.keywords if k.arg == "dtype"]
    if len(more) + len(call.keywords) != len(wanted) or len(wanted) > 1:
        return None
    t = type_of(held)
    itself = _is_array(t) and all(_is_of(t, type_of(dtype)) for dtype in wanted)
    return held if itself else None


def _is_of(t: Type, dtype: Type) -> bool:
    """Whether an array is surely of a dtype that is known."""
    own: Any = dtype_of(t)
    wanted: Any = known(dtype)
    try:
        return None not in (own, wanted) and np.dtype(wanted) == own
    except TypeError:
        return False


def _broadcast_to(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    """An array of that shape already."""
    t, wanted = type_of(call.args[0]), call.args[1:]
    shape = shape_of(t) if _is_array(t) else None
    if len(wanted) != 1 or call.keywords or shape is None or None in shape:
        return None
    return call.args[0] if dims_in(type_of(wanted[0])) == shape else None


def _negative(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    """Of a shift, or several."""
    value = known_value(type_of(call.args[0]))
    if isinstance(value, (int, tuple)):
        minus = tuple(-v for v in value) if isinstance(value, tuple) else -value
        return syntax.expression(repr(minus))
    if is_number(type_of(call.args[0])):
        return syntax.expression("-x", x=call.args[0])
    return None


def _pad(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    """A border of zeros is what `np.pad` gives."""
    kept = [
        k
        for k in call.keywords
        if not (k.arg == "constant_values" and known(type_of(k.value)) == 0)
        and not (k.arg == "reflect_type" and known(type_of(k.value)) == "even")
    ]
    return gast.Call(call.func, call.args, kept)


def _roll(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    d, shift, axis = call.args
    if known(type_of(axis)) is None:
        return gast.Call(call.func, [d, shift], [])
    return gast.Call(call.func, [d, shift], [gast.keyword("axis", axis)])


def _result_type(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    if len(call.args) != 1 or not _is_array(type_of(call.args[0])):
        return None
    return gast.Attribute(call.args[0], "dtype", syntax.LOAD)


def _zeros_like(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    """`np.zeros_like(x, dtype=d.dtype)` of arrays of one dtype."""
    kept = []
    for k in call.keywords:
        of = k.value.value if isinstance(k.value, gast.Attribute) else None
        wanted = dtype_of(type_of(of)) if k.arg == "dtype" and of is not None else None
        if wanted is None or wanted != dtype_of(type_of(call.args[0])):
            kept.append(k)
    return gast.Call(call.func, call.args, kept)


def _trace(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    axes = [(k.arg, known(type_of(k.value))) for k in call.keywords]
    last = axes == [("axis1", -2), ("axis2", -1)]
    if last and rank_of(type_of(call.args[0])) == 2:
        return gast.Call(call.func, call.args, [])
    return None


def _without_zero(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    """`np.tril(x)` for `np.tril(x, 0)`."""
    plain = len(call.args) == 2 and known(type_of(call.args[1])) == 0
    return gast.Call(call.func, call.args[:1], []) if plain else None


def _same(call: gast.Call, type_of: TypeOf) -> gast.expr | None:
    return None


_RULES: dict[Any, Callable[[gast.Call, TypeOf], gast.expr | None]] = {
    np.shape: _shape,
    np.reshape: _reshape,
    np.expand_dims: _expand_dims,
    np.swapaxes: _swapaxes,
    np.real: _real,
    np.conj: _real,
    np.ravel: _ravel,
    np.transpose: _transpose,
    np.moveaxis: _moveaxis,
    np.atleast_1d: _at_least(1),
    np.atleast_2d: _at_least(2),
    np.atleast_3d: _at_least(3),
    np.asarray: _asarray,
    np.broadcast_to: _broadcast_to,
    np.negative: _negative,
    np.diag: _without_zero,
    np.tril: _without_zero,
    np.triu: _without_zero,
    np.trace: _trace,
    np.result_type: _result_type,
    np.zeros_like: _zeros_like,
    np.pad: _pad,
    np.roll: _roll,
    np.sum: _same,
    np.mean: _same,
    np.max: _same,
    np.min: _same,
}
