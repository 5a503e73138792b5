"""Which equations NumPy's functions are, by the names of JAX's primitives.

A function that is none of JAX's primitives is made of several, where that is short, and
else is an equation with its own name (`remainder`, `floor_divide`, `inv`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from srcjax.analysis.stopped import stop_gradient
from srcjax.jaxprs.forms import Literal
from srcjax.jaxprs.traced import (
    Traced,
    apply,
    by_name,
    lowering,
    trace_of,
)
from srcjax.ops import registry  # noqa: F401  (fills the table of operations)
from srcjax.ops.composites import places as at_places

#: NumPy's (and SciPy's) functions of single items, by the primitives that they are.
ELEMENTWISE = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div",
    "negative": "neg", "power": "pow", "square": "square", "sqrt": "sqrt",
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log1p": "log1p",
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos",
    "arctan": "atan", "arctan2": "atan2", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "maximum": "max", "minimum": "min", "absolute": "abs", "fabs": "abs",
    "sign": "sign", "floor": "floor", "ceil": "ceil", "rint": "round",
    "cbrt": "cbrt", "isfinite": "is_finite", "conjugate": "conj",
    "greater": "gt", "less": "lt", "greater_equal": "ge", "less_equal": "le",
    "equal": "eq", "not_equal": "ne", "logical_and": "and", "logical_or": "or",
    "logical_not": "not", "logical_xor": "xor", "bitwise_and": "and",
    "bitwise_or": "or", "bitwise_xor": "xor", "invert": "not",
    "left_shift": "shift_left", "right_shift": "shift_right_arithmetic",
    "nextafter": "nextafter", "erf": "erf", "erfc": "erfc", "erfinv": "erf_inv",
    "expit": "logistic", "gammaln": "lgamma", "psi": "digamma", "digamma": "digamma",
}  # fmt: skip
#: Those that take truth values for what they are given.
_LOGICAL = ("logical_and", "logical_or", "logical_not", "logical_xor")


def like_number(x: Any) -> Any:
    """What tells the dtype of a result: of one item."""
    if isinstance(x, Traced):
        one = np.ones((), x.dtype)
        return one.item() if x.python else one[()]
    return (
        x if np.ndim(x) == 0 else np.asarray(x).ravel()[:1].astype(np.asarray(x).dtype)
    )


@lowering(np.ufunc)
def elementwise(ufunc: Any, *args: Any, dtype: Any = None, **options: Any) -> Any:
    """One equation, with its operands of one dtype, and of one rank or none."""
    if options.get("where", True) is not True or ufunc.nout != 1 or ufunc.signature:
        return by_name(ufunc, args, options)
    trace = trace_of(args)
    assert trace is not None
    if ufunc is np.power and type(args[1]) is int:
        x = args[0]
        return trace.emit("integer_pow", [x], x.shape, x.dtype, y=args[1])
    name = ELEMENTWISE.get(ufunc.__name__, ufunc.__name__)
    with np.errstate(all="ignore"):
        result = np.asarray(ufunc(*map(like_number, args))).dtype
    if dtype is not None:
        result = np.dtype(dtype)
    common = np.result_type(*map(like_number, args))
    if result.kind not in "b" and result != common and name not in ("abs", "sign"):
        common = result
    if ufunc.__name__ in _LOGICAL:
        common = np.dtype(bool)
    operands = same_rank([of_dtype(trace, x, common) for x in args])
    shape = np.broadcast_shapes(*(np.shape(x) for x in operands))
    found = trace.emit(name, operands, shape, result)
    found.python = all(
        x.python if isinstance(x, Traced) else isinstance(x, (int, float, complex))
        for x in args
    )
    return found


def of_dtype(trace: Any, x: Any, dtype: np.dtype) -> Any:
    """An operand of a dtype: numbers are written so, arrays converted."""
    if isinstance(x, Traced):
        return converted(x, dtype)
    if np.ndim(x) == 0:
        return np.asarray(x).astype(dtype)[()]
    x = np.asarray(x)
    return converted(constant(trace, x), dtype)


def constant(trace: Any, x: np.ndarray) -> Traced:
    """An array from around the function; of one number, that number spread."""
    if x.size and x.base is None and x.flags.owndata and np.all(x == x.flat[0]):
        found: Traced = trace.emit("broadcast_in_dim", [x.flat[0]], x.shape, x.dtype)
        trace.spare.add(id(trace.eqns[-1]))
        return found
    return Traced(trace, trace.constant(x))


def traced(trace: Any, x: Any) -> Traced:
    """The value, as one that equations are about."""
    if isinstance(x, Traced):
        return x
    python = type(x) in (bool, int, float, complex)
    x = np.asarray(x)
    if x.ndim == 0:
        return Traced(trace, trace.atom(x[()]), python)
    return constant(trace, x)


@lowering(np.ndarray.astype)
def converted(x: Any, dtype: np.dtype) -> Any:
    if not isinstance(x, Traced):
        return np.asarray(x).astype(dtype)
    if x.dtype == dtype:
        return x
    if isinstance(x.var, Literal):
        return Traced(x.trace, x.trace.atom(np.asarray(x.var.val, dtype)[()]), x.python)
    return x.trace.emit(
        "convert_element_type", [x], x.shape, dtype, new_dtype=dtype, weak_type=False
    )


def same_rank(operands: list[Any]) -> list[Any]:
    """Arrays of fewer axes get more in front; numbers stay numbers."""
    ranks = {np.ndim(x) for x in operands if np.ndim(x)}
    if len(ranks) < 2:
        return operands
    return [
        spread(x, (1,) * (max(ranks) - np.ndim(x)) + np.shape(x)) if np.ndim(x) else x
        for x in operands
    ]


def spread(x: Traced, shape: Sequence[int]) -> Traced:
    """`np.broadcast_to(x, shape)`."""
    shape = tuple(shape)
    if shape == x.shape:
        return x
    first = len(shape) - x.ndim
    axes = tuple(range(first, len(shape)))
    params = {"broadcast_dimensions": axes} if axes else {}
    return x.trace.emit("broadcast_in_dim", [x], shape, x.dtype, **params)


@lowering(np.broadcast_to)
def _(array: Any, shape: Any, subok: bool = False) -> Any:
    shape = (shape,) if isinstance(shape, int) else shape
    return spread(array, shape)


@lowering(np.shape)
def _(a: Any) -> Any:
    return a.shape


@lowering(np.ndim)
def _(a: Any) -> Any:
    return a.ndim


@lowering(np.size)
def _(a: Any, axis: Any = None) -> Any:
    return a.size if axis is None else a.shape[axis]


@lowering(np.copy)
def _(a: Any, **options: Any) -> Any:
    return a.renamed()


@lowering(np.asarray, np.array, np.ascontiguousarray)
def _(a: Any, dtype: Any = None, **options: Any) -> Any:
    if isinstance(a, (tuple, list)):
        a = apply(np.stack, (a,), {})
    return a if dtype is None else converted(a, np.dtype(dtype))


@lowering(np.iscomplexobj)
def _(x: Any) -> bool:
    return bool(x.dtype.kind == "c")


@lowering(np.result_type)
def _(*given: Any) -> Any:
    return np.result_type(
        *(like_number(x) if isinstance(x, Traced) else x for x in given)
    )


# -- reductions ------------------------------------------------------------------------


def axes_of(x: Traced, axis: Any) -> tuple[int, ...]:
    """The axes that are reduced over, from the front."""
    if axis is None:
        return tuple(range(x.ndim))
    found = axis if isinstance(axis, tuple) else (axis,)
    return tuple(sorted(k % x.ndim for k in found))


def reduced(name: str, x: Traced, axis: Any, keepdims: bool, dtype: Any) -> Traced:
    """A reduction over axes, which may stay with length 1."""
    axes = axes_of(x, axis)
    shape = tuple(n for k, n in enumerate(x.shape) if k not in axes)
    found = x
    if axes:
        found = x.trace.emit(name, [x], shape, dtype, axes=axes)
    if not keepdims:
        return found
    whole = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    rest = tuple(k for k in range(x.ndim) if k not in axes)
    params = {"broadcast_dimensions": rest} if rest else {}
    return x.trace.emit("broadcast_in_dim", [found], whole, dtype, **params)


def reduction(function: Any, name: str) -> None:
    """`np.sum` and the like."""

    @lowering(function)
    def _(
        a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, **more: Any
    ) -> Any:
        if set(more) - {"out"} or more.get("out") is not None:
            return by_name(function, (a,), {"axis": axis, "keepdims": keepdims, **more})
        one = function(np.ones(1, a.dtype))
        result = one.dtype if dtype is None else np.dtype(dtype)
        if name in ("reduce_sum", "reduce_prod", "reduce_or", "reduce_and"):
            a = converted(a, result)
        return reduced(name, a, axis, bool(keepdims), result)


for _function, _name in (
    (np.sum, "reduce_sum"), (np.prod, "reduce_prod"), (np.max, "reduce_max"),
    (np.min, "reduce_min"), (np.any, "reduce_or"), (np.all, "reduce_and"),
):  # fmt: skip
    reduction(_function, _name)


@lowering(np.mean)
def _(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    total = apply(np.sum, (a, axis), {"dtype": dtype, **options})
    if total.dtype.kind not in "fc":
        total = converted(total, np.dtype(float))
    count = math.prod(a.shape[k] for k in axes_of(a, axis))
    return total / float(count)


@lowering(np.argmax)
def _(a: Any, axis: Any = None, **options: Any) -> Any:
    return by_axis("argmax", a, axis)


@lowering(np.argmin)
def _(a: Any, axis: Any = None, **options: Any) -> Any:
    return by_axis("argmin", a, axis)


def by_axis(name: str, a: Traced, axis: Any) -> Traced:
    """The place of an item along one axis."""
    if axis is None:
        a, axis = apply(np.ravel, (a,), {}), 0
    axis %= a.ndim
    shape = a.shape[:axis] + a.shape[axis + 1 :]
    index = np.dtype(np.intp)
    return a.trace.emit(name, [a], shape, index, axes=(axis,), index_dtype=index)


def cumulative(function: Any, name: str) -> None:
    """`np.cumsum` and the like."""

    @lowering(function)
    def _(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            a, axis = apply(np.ravel, (a,), {}), 0
        result = function(np.ones(1, a.dtype)).dtype if dtype is None else dtype
        a = converted(a, np.dtype(result))
        params = {"axis": axis % a.ndim, "reverse": False}
        return a.trace.emit(name, [a], a.shape, result, **params)


cumulative(np.cumsum, "cumsum")
cumulative(np.cumprod, "cumprod")


# -- products --------------------------------------------------------------------------


def dot_general(a: Any, b: Any, contracted: tuple, batch: tuple = ((), ())) -> Traced:
    """`dot_general`, whose axes are those of the batch, the others of `a`, of `b`."""
    trace = trace_of((a, b))
    dtype = np.result_type(like_number(a), like_number(b))
    a = traced(trace, of_dtype(trace, a, dtype))
    b = traced(trace, of_dtype(trace, b, dtype))
    (ca, cb), (ba, bb) = contracted, batch
    free = [n for k, n in enumerate(a.shape) if k not in (*ca, *ba)]
    other = [n for k, n in enumerate(b.shape) if k not in (*cb, *bb)]
    shape = [*(a.shape[k] for k in ba), *free, *other]
    numbers = (list(ca), list(cb)), (list(ba), list(bb))
    return a.trace.emit(
        "dot_general",
        [a, b],
        shape,
        dtype,
        dimension_numbers=numbers,
        preferred_element_type=dtype,
    )


@lowering(np.dot)
def _(a: Any, b: Any, out: Any = None) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return a * b
    return dot_general(a, b, ((np.ndim(a) - 1,), (max(np.ndim(b) - 2, 0),)))


@lowering(np.matmul)
def _(a: Any, b: Any, **options: Any) -> Any:
    count = max(np.ndim(a), np.ndim(b)) - 2
    if np.ndim(a) <= 2 and np.ndim(b) <= 2:
        return apply(np.dot, (a, b), {})
    if np.ndim(a) != np.ndim(b) or np.shape(a)[:count] != np.shape(b)[:count]:
        return by_name(np.matmul, (a, b), {})
    axes = tuple(range(count))
    return dot_general(a, b, ((count + 1,), (count,)), (axes, axes))


@lowering(np.inner)
def _(a: Any, b: Any) -> Any:
    return dot_general(a, b, ((np.ndim(a) - 1,), (np.ndim(b) - 1,)))


@lowering(np.outer)
def _(a: Any, b: Any, out: Any = None) -> Any:
    a, b = (apply(np.ravel, (x,), {}) if np.ndim(x) != 1 else x for x in (a, b))
    return a[:, None] * b[None, :]


@lowering(np.tensordot)
def _(a: Any, b: Any, axes: Any = 2) -> Any:
    if isinstance(axes, int):
        first = np.ndim(a) - axes
        left, right = tuple(range(first, np.ndim(a))), tuple(range(axes))
    else:
        left, right = ((k,) if isinstance(k, int) else tuple(k) for k in axes)
    left = tuple(k % np.ndim(a) for k in left)
    return dot_general(a, b, (left, tuple(k % np.ndim(b) for k in right)))


@lowering(np.einsum)
def _(subscripts: Any, *operands: Any, **options: Any) -> Any:
    whole = (subscripts, *operands)
    if not isinstance(subscripts, str) or "." in subscripts or len(operands) > 2:
        return by_name(np.einsum, whole, options)
    given, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = given.split(",")
    if not arrow:
        letters = sorted(set(given) - {","})
        result = "".join(c for c in letters if given.count(c) == 1)
    if any(len(set(term)) < len(term) for term in terms):
        return by_name(np.einsum, whole, options)
    trace = trace_of(operands)
    arrays = [traced(trace, x) for x in operands]
    for k, term in enumerate(terms):
        others = set(result).union(*terms[:k], *terms[k + 1 :])
        alone = tuple(i for i, c in enumerate(term) if c not in others)
        if alone:
            arrays[k] = apply(np.sum, (arrays[k], alone), {})
            terms[k] = "".join(c for c in term if c in others)
    (found,), order = arrays[:1], terms[0]
    if len(terms) == 2:
        first, second = terms
        both = [c for c in first if c in second]
        over = [c for c in both if c not in result]
        batch = [c for c in both if c in result]
        axes = [tuple(t.index(c) for c in cs) for cs in (over, batch) for t in terms]
        found = dot_general(arrays[0], arrays[1], tuple(axes[:2]), tuple(axes[2:]))
        rest = [c for t in terms for c in t if c not in both]
        order = "".join([*batch, *rest])
    return apply(np.transpose, (found, tuple(order.index(c) for c in result)), {})


@lowering(np.var)
def _(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    ddof = options.pop("ddof", options.pop("correction", 0))
    keepdims = options.pop("keepdims", False)
    if options or dtype is not None:
        return by_name(np.var, (a, axis), {"ddof": ddof, **options})
    mean = apply(np.mean, (a, axis), {"keepdims": True})
    total = apply(np.sum, (np.square(a - mean), axis), {"keepdims": keepdims})
    return total / float(math.prod(a.shape[k] for k in axes_of(a, axis)) - ddof)


@lowering(np.std)
def _(a: Any, axis: Any = None, dtype: Any = None, **options: Any) -> Any:
    return np.sqrt(apply(np.var, (a, axis, dtype), options))


# -- shapes ----------------------------------------------------------------------------


@lowering(np.reshape)
def _(a: Any, *shape: Any, order: str = "C", **options: Any) -> Any:
    if order != "C" or options:
        return by_name(np.reshape, (a, *shape), {"order": order, **options})
    new = shape[0] if len(shape) == 1 else shape
    new = (new,) if isinstance(new, (int, np.integer)) else tuple(new)
    if -1 in new:
        rest = math.prod(n for n in new if n != -1)
        new = tuple(a.size // max(rest, 1) if n == -1 else n for n in new)
    return reshaped(a, new)


def reshaped(a: Traced, shape: Sequence[int]) -> Traced:
    new = tuple(map(int, shape))
    if new == a.shape:
        return a
    params = {"dimensions": None, "new_sizes": new}
    return a.trace.emit("reshape", [a], new, a.dtype, **params)


@lowering(np.ravel)
def _(a: Any, order: str = "C") -> Any:
    return reshaped(a, (a.size,))


@lowering(np.transpose)
def _(a: Any, *axes: Any) -> Any:
    given = axes[0] if len(axes) == 1 else axes
    if given is None or given == ():
        given = tuple(reversed(range(a.ndim)))
    order = tuple(k % a.ndim for k in given)
    if order == tuple(range(a.ndim)):
        return a
    shape = tuple(a.shape[k] for k in order)
    return a.trace.emit("transpose", [a], shape, a.dtype, permutation=order)


@lowering(np.swapaxes)
def _(a: Any, axis1: int, axis2: int) -> Any:
    order = list(range(a.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return apply(np.transpose, (a, tuple(order)), {})


@lowering(np.moveaxis)
def _(a: Any, source: Any, destination: Any) -> Any:
    shown = np.empty(tuple(range(2, 2 + a.ndim)))
    moved = np.moveaxis(shown, source, destination).shape
    return apply(np.transpose, (a, tuple(n - 2 for n in moved)), {})


@lowering(np.expand_dims)
def _(a: Any, axis: Any) -> Any:
    shape = np.expand_dims(np.empty(a.shape), axis).shape
    axes = axis if isinstance(axis, tuple) else (axis,)
    new = {k % len(shape) for k in axes}
    kept = tuple(k for k in range(len(shape)) if k not in new)
    params = {"broadcast_dimensions": kept} if kept else {}
    return a.trace.emit("broadcast_in_dim", [a], shape, a.dtype, **params)


@lowering(np.squeeze)
def _(a: Any, axis: Any = None) -> Any:
    axes = axes_of(a, axis)
    if axis is None:
        axes = tuple(k for k, n in enumerate(a.shape) if n == 1)
    return squeezed(a, axes)


def squeezed(a: Traced, axes: tuple[int, ...]) -> Traced:
    if not axes:
        return a
    shape = tuple(n for k, n in enumerate(a.shape) if k not in axes)
    return a.trace.emit("squeeze", [a], shape, a.dtype, dimensions=axes)


@lowering(np.concatenate)
def _(arrays: Any, axis: Any = 0, **options: Any) -> Any:
    trace = trace_of(arrays)
    dtype = np.result_type(*map(like_number, arrays))
    parts = [traced(trace, of_dtype(trace, a, dtype)) for a in arrays]
    if axis is None:
        parts, axis = [reshaped(p, (p.size,)) for p in parts], 0
    axis %= parts[0].ndim
    shape = list(parts[0].shape)
    shape[axis] = sum(p.shape[axis] for p in parts)
    return parts[0].trace.emit("concatenate", parts, shape, dtype, dimension=axis)


@lowering(np.stack)
def _(arrays: Any, axis: int = 0, **options: Any) -> Any:
    trace = trace_of(arrays)
    dtype = np.result_type(*map(like_number, arrays))
    parts = [traced(trace, of_dtype(trace, a, dtype)) for a in arrays]
    axis %= parts[0].ndim + 1
    shape = (*parts[0].shape[:axis], len(parts), *parts[0].shape[axis:])
    return parts[0].trace.emit("stack", parts, shape, dtype, axis=axis)


@lowering(np.where)
def _(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None:
        return by_name(np.where, (condition,), {})
    trace = trace_of((condition, x, y))
    assert trace is not None
    dtype = np.result_type(*map(like_number, (x, y)))
    shape = np.broadcast_shapes(*map(np.shape, (condition, x, y)))
    cases = [spread(traced(trace, of_dtype(trace, c, dtype)), shape) for c in (y, x)]
    which = of_dtype(trace, condition, np.dtype(bool))
    if np.ndim(which):
        which = spread(traced(trace, which), shape)
    return trace.emit("select_n", [which, *cases], shape, dtype)


@lowering(np.clip)
def _(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **more: Any
) -> Any:
    low, high = more.get("min", a_min), more.get("max", a_max)
    if low is not None:
        a = np.maximum(low, a)
    return a if high is None else np.minimum(high, a)


@lowering(np.square)
def _(x: Any, **options: Any) -> Any:
    return x.trace.emit("square", [x], x.shape, x.dtype)


@lowering(np.positive)
def _(x: Any, **options: Any) -> Any:
    return x.renamed()


@lowering(np.real)
def _(val: Any) -> Any:
    if val.dtype.kind != "c":
        return val
    return val.trace.emit("real", [val], val.shape, np.zeros(0, val.dtype).real.dtype)


@lowering(np.imag)
def _(val: Any) -> Any:
    if val.dtype.kind != "c":
        return np.zeros(val.shape, val.dtype)
    return val.trace.emit("imag", [val], val.shape, np.zeros(0, val.dtype).imag.dtype)


@lowering(np.sort)
def _(a: Any, axis: Any = -1, **options: Any) -> Any:
    if axis is None:
        a, axis = reshaped(a, (a.size,)), 0
    params = {"dimension": axis % a.ndim, "is_stable": True, "num_keys": 1}
    return a.trace.emit("sort", [a], a.shape, a.dtype, **params)


@lowering(np.flip)
def _(m: Any, axis: Any = None) -> Any:
    return m.trace.emit("rev", [m], m.shape, m.dtype, dimensions=axes_of(m, axis))


@lowering(np.zeros_like, np.empty_like)
def _(a: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
    return np.zeros(a.shape if shape is None else shape, dtype or a.dtype)


@lowering(np.ones_like)
def _(a: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
    return np.ones(a.shape if shape is None else shape, dtype or a.dtype)


@lowering(np.full_like)
def _(a: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    if isinstance(fill_value, Traced):
        return spread(converted(fill_value, np.dtype(dtype or a.dtype)), a.shape)
    return np.full(a.shape, fill_value, dtype or a.dtype)


@lowering(stop_gradient)
def _(x: Any) -> Any:
    return x.trace.emit("stop_gradient", [x], x.shape, x.dtype)


# -- Python's own ----------------------------------------------------------------------

_OF_MATH = {
    **{name: name for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp")},
    **{name: name for name in ("expm1", "log", "log1p", "sqrt", "floor", "ceil")},
    **{"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"},
    **{"acosh": "arccosh", "atanh": "arctanh", "pow": "power", "atan2": "arctan2"},
    "fabs": "fabs",
}
for _name, _same in _OF_MATH.items():
    lowering(getattr(math, _name))(getattr(np, _same))
lowering(math.hypot)(np.hypot)


@lowering(float)
def _(x: Any) -> Any:
    return as_python(converted(x, np.dtype(float)))


@lowering(int)
def _(x: Any) -> Any:
    return as_python(converted(x, np.dtype(int)))


@lowering(bool)
def _(x: Any) -> Any:
    return as_python(converted(x, np.dtype(bool)))


def as_python(x: Traced) -> Traced:
    found = x.renamed()
    found.python = True
    return found


@lowering(abs)
def _(x: Any) -> Any:
    return np.absolute(x)


@lowering(sum)
def _(items: Any, start: Any = 0) -> Any:
    for item in items:
        start = item if isinstance(start, int) and start == 0 else start + item
    return start


@lowering(max)
def _(*args: Any) -> Any:
    items = list(args[0]) if len(args) == 1 else args
    found = items[0]
    for item in items[1:]:
        found = np.maximum(found, item)
    return found


@lowering(min)
def _(*args: Any) -> Any:
    items = list(args[0]) if len(args) == 1 else args
    found = items[0]
    for item in items[1:]:
        found = np.minimum(found, item)
    return found


@lowering(len)
def _(x: Any) -> int:
    return len(x)


# -- indices ---------------------------------------------------------------------------


def is_mask(part: Any) -> bool:
    """Whether a part of an index is an array of truth values."""
    return np.dtype(bool) == getattr(part, "dtype", None)


def entries(index: Any, rank: int) -> list[Any]:
    """The parts of an index, with a slice for each axis that is left whole."""
    found = list(index) if isinstance(index, tuple) else [index]
    used = sum(
        np.ndim(e) if is_mask(e) else 1 for e in found if e is not None and e is not ...
    )
    whole = [slice(None)] * (rank - used)
    for k, e in enumerate(found):
        if e is ...:
            return [*found[:k], *whole, *found[k + 1 :]]
    return found + whole


@lowering(operator.getitem)
def getitem(x: Any, index: Any) -> Any:
    """`slice` and `squeeze`, `dynamic_slice`, `gather`."""
    parts = entries(index, np.ndim(x))
    trace = trace_of((x, parts))
    x = traced(trace, x)
    whole = (int, np.integer, slice, type(None))
    if all(isinstance(p, whole) for p in parts):
        return static_item(x, parts)
    single = [k for k, p in enumerate(parts) if isinstance(p, Traced) and not p.ndim]
    if len(single) == 1 and all(
        k in single or isinstance(p, whole) for k, p in enumerate(parts)
    ):
        (place,) = single
        rest = [slice(None) if k in single else p for k, p in enumerate(parts)]
        dropped = [isinstance(p, (int, np.integer)) for p in rest[:place]]
        axis = place - sum(dropped)
        found = dynamic_item(static_item(x, rest), parts[place], axis)
        if found.ndim:
            found.shared, found.of = True, (x, x.var)
        return found
    return gathered(x, parts)


def static_item(x: Traced, parts: list[Any]) -> Traced:
    starts, limits, strides, dropped, backwards = [], [], [], [], []
    axis = 0
    for part in parts:
        if part is None:
            continue
        n = x.shape[axis]
        if isinstance(part, slice):
            start, stop, step = part.indices(n)
            if step < 0:
                count = len(range(start, stop, step))
                backwards.append(axis)
                start, stop, step = start + (count - 1) * step, start + 1, -step
            starts.append(start)
            limits.append(max(stop, start))
            strides.append(step)
        else:
            k = operator.index(part)
            k += n if k < 0 else 0
            if not 0 <= k < n:
                raise IndexError(
                    f"index {part} is out of bounds for axis {axis} with size {n}"
                )
            starts.append(k)
            limits.append(k + 1)
            strides.append(1)
            dropped.append(axis)
        axis += 1
    shape = tuple(
        len(range(a, b, c)) for a, b, c in zip(starts, limits, strides, strict=True)
    )
    found = x
    if shape != x.shape:
        found = x.trace.emit(
            "slice",
            [x],
            shape,
            x.dtype,
            limit_indices=tuple(limits),
            start_indices=tuple(starts),
            strides=None if set(strides) == {1} else tuple(strides),
        )
    if backwards:
        found = found.trace.emit(
            "rev", [found], shape, x.dtype, dimensions=tuple(backwards)
        )
    found = squeezed(found, tuple(dropped))
    new = [
        k
        for k, p in enumerate(q for q in parts if not isinstance(q, (int, np.integer)))
        if p is None
    ]
    if new:
        found = apply(np.expand_dims, (found, tuple(new)), {})
    found = found.renamed()
    if any(isinstance(p, slice) for p in parts):
        found.shared, found.of = True, (x, x.var)
    return found


def dynamic_item(x: Traced, index: Traced, axis: int) -> Traced:
    """One item along an axis, at a place that the program computes."""
    index = from_front(index, x.shape[axis])
    zero = np.zeros((), index.dtype)[()]
    starts = [index if k == axis else zero for k in range(x.ndim)]
    sizes = tuple(1 if k == axis else n for k, n in enumerate(x.shape))
    given = [x, *starts]
    found = x.trace.emit("dynamic_slice", given, sizes, x.dtype, slice_sizes=sizes)
    return squeezed(found, (axis,))


def from_front(index: Traced, n: int) -> Traced:
    """Places that are negative count from the end."""
    return apply(np.where, (index < 0, index + n, index), {})


def example_index(parts: list[Any], ones: bool = False) -> tuple:
    """The index with zeros in place of what is not known."""
    return tuple(
        (np.ones if p.dtype == bool else np.zeros)(p.shape, p.dtype)
        if isinstance(p, Traced)
        else p
        for p in parts
    )


def gathered(x: Traced, parts: list[Any]) -> Traced:
    """Items at places in arrays."""
    if any(isinstance(p, Traced) and p.dtype == bool for p in parts):
        x._unknown()  # how many there are is not known
    shape = np.empty(x.shape, x.dtype)[example_index(parts)].shape
    places = [p for p in parts if is_place(p)]
    index = index_text(parts)
    return x.trace.emit("gather", [x, *places], shape, x.dtype, index=index)


def is_place(part: Any) -> bool:
    """Whether a part of an index is an operand of the equation."""
    return isinstance(part, Traced) or np.ndim(part) > 0


@lowering(operator.setitem)
def setitem(x: Traced, index: Any, value: Any) -> Traced:
    """The array with other values at some places: `scatter`, or `select_n` of masks."""
    parts = entries(index, x.ndim)
    if len(parts) == 1 and is_mask(parts[0]):
        if np.ndim(value) == 0 and np.ndim(parts[0]) == x.ndim:
            return apply(np.where, (parts[0], of_dtype(x.trace, value, x.dtype), x), {})
        x._unknown()
    place = np.empty(x.shape, x.dtype)[example_index(parts)]
    np.broadcast_shapes(np.shape(value), place.shape)
    value = of_dtype(x.trace, value, x.dtype)
    if (
        parts
        and all(p == slice(None) for p in parts if isinstance(p, slice))
        and all(isinstance(p, slice) for p in parts)
    ):
        return spread(traced(x.trace, value), x.shape)
    places = [p for p in parts if is_place(p)]
    index = index_text(parts)
    return x.trace.emit("scatter", [x, *places, value], x.shape, x.dtype, index=index)


@lowering(at_places.is_plain)
def is_plain(x: Any, index: Any, mode: Any, wrap: bool) -> bool:
    """`x.at[i]`, as one `gather` or `scatter`: they are about bounds what `.at` is."""
    usual = "promise_in_bounds" if mode is None else mode
    return at_places.is_plain(x, index, usual, wrap)


def index_text(parts: list[Any]) -> str:
    """`[1:3, _]`, with a place for each operand that is an index."""

    def text(part: Any) -> str:
        if is_place(part):
            return "_"
        if not isinstance(part, slice):
            return str(part)
        ends = [part.start, part.stop] + ([] if part.step is None else [part.step])
        return ":".join("" if e is None else str(e) for e in ends)

    return f"[{', '.join(map(text, parts))}]"
