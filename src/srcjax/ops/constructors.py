"""What makes arrays, what converts them, and what asks for their shape and dtype."""

from __future__ import annotations

import copy
import math
import typing
from typing import Any

import numpy as np

from srcjax import runtime
from srcjax.analysis.array_likes import nested
from srcjax.analysis.types import (
    INT,
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Object,
    Scalar,
    Shape,
    Tuple,
    Type,
    as_dim,
    as_number,
    broadcast_shapes,
    dtype_of,
    has_complex,
    is_number,
    map_parts,
    rank_of,
    shape_of,
    without_buffers,
)
from srcjax.ops.infer_rules import NONE, dims_of, dims_product, value_of_shape
from srcjax.ops.known import MISSING, known
from srcjax.ops.record import adjoint, inert, tangent
from srcjax.ops.reductions import named_dtype
from srcjax.runtime import zero_tangent, zeros_like

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

# -- types -----------------------------------------------------------------------------


def dtype_or(dtype: Type, default: Any) -> np.dtype | None:
    """The named dtype; the default where none is named; None where not known.

    Of fields (`[("p", float), ("v", float)]`) it is that of records.
    """
    if isinstance(dtype, (List, Tuple, Dict)):
        return np.dtype(np.void)
    return default if dtype == NONE else named_dtype(dtype)


def infer_filled(shape: Type, dtype: Type = NONE, **_: Type) -> Type:
    return Array(dtype=dtype_or(dtype, np.dtype(float)), shape=dims_of(shape))


def infer_full(shape: Type, fill_value: Type, dtype: Type = NONE, **_: Type) -> Type:
    return Array(dtype=dtype_or(dtype, dtype_of(fill_value)), shape=dims_of(shape))


def infer_filled_like(a: Type, dtype: Type = NONE, shape: Type = NONE) -> Type:
    dims = shape_of(a) if shape == NONE else dims_of(shape)
    return Array(dtype=dtype_or(dtype, dtype_of(a)), shape=dims)


def infer_full_like(
    a: Type, fill_value: Type, dtype: Type = NONE, shape: Type = NONE
) -> Type:
    return infer_filled_like(a, dtype, shape)


def infer_zeros_of(x: Type) -> Type:
    """Zeros in the structure of `x`: floats for Python numbers, ints too."""
    if isinstance(x, Array):
        return Array(dtype=x.dtype, shape=x.shape)
    if isinstance(x, Scalar) and not x.python:
        return Scalar(dtype=x.dtype)
    if isinstance(x, (Scalar, Const)):
        if dtype_of(x) is None:
            return NONE if x == NONE else UNKNOWN
        kind = complex if has_complex(x) else float
        return Scalar(dtype=np.dtype(kind), python=True)
    if isinstance(x, (Tuple, List, Dict, Object)):
        return without_buffers(map_parts(x, infer_zeros_of))
    return UNKNOWN


def infer_eye(N: Type, M: Type = NONE, k: Type = NONE, dtype: Type = NONE) -> Type:
    rows = as_dim(N)
    columns = rows if M == NONE else as_dim(M)
    return Array(dtype=dtype_or(dtype, np.dtype(float)), shape=(rows, columns))


def infer_identity(n: Type, dtype: Type = NONE) -> Type:
    return infer_eye(n, dtype=dtype)


def infer_arange(
    start: Type, stop: Type = NONE, step: Type = NONE, dtype: Type = NONE
) -> Type:
    given = [t for t in (start, stop, step) if t != NONE]
    values: list[Any] = [known(t) for t in given]
    dtypes = [dtype_of(t) for t in given]
    found: np.dtype | None = None
    if all(d is not None for d in dtypes):
        kinds = {d.kind for d in dtypes if d is not None}
        found = np.dtype(int) if kinds <= {"b", "i"} else None
        found = np.dtype(float) if kinds <= {"b", "i", "f"} and "f" in kinds else found
        if any(not isinstance(t, Const) and not _python(t) for t in given):
            found = None  # NumPy scalars bring their own dtype
    size = as_dim(given[0]) if len(given) == 1 else None
    if all(isinstance(v, (int, float)) for v in values):
        size = _steps(*values)
    return Array(dtype=dtype_or(dtype, found), shape=(size,))


def _steps(start: float, stop: float | None = None, step: float = 1) -> int | None:
    """How many numbers `np.arange` gives."""
    first, last = (0, start) if stop is None else (start, stop)
    count = (last - first) / step if step else math.inf
    return max(math.ceil(count), 0) if math.isfinite(count) else None


def _python(t: Type) -> bool:
    return isinstance(t, Scalar) and t.python is True


def infer_linspace(
    start: Type,
    stop: Type,
    num: Type = Const(value=50),  # noqa: B008
    endpoint: Type = NONE,
    dtype: Type = NONE,
    axis: Type = Const(value=0),  # noqa: B008
) -> Type:
    python = all(_python(t) or isinstance(t, Const) for t in (start, stop))
    kinds = [dtype_of(t) for t in (start, stop)]
    double = all(d is not None and d == np.dtype(float) for d in kinds)
    found: np.dtype | None = np.dtype(float) if python or double else None
    if any(d is not None and d.kind == "c" for d in kinds):
        found = np.dtype(complex) if python else None
    shape: Shape | None = None
    inner, along = broadcast_shapes(shape_of(start), shape_of(stop)), known(axis)
    if inner is not None and isinstance(along, int):
        along %= len(inner) + 1
        shape = (*inner[:along], as_dim(num), *inner[along:])
    return Array(dtype=dtype_or(dtype, found), shape=shape)


def infer_array(object: Type, dtype: Type = NONE, *, copy: Type = NONE) -> Type:
    """An array of the shape that the nesting of lists tells; 0-d for a number."""
    found, shape = nested(object)
    return Array(dtype=dtype_or(dtype, found), shape=shape)


def infer_require(a: Type, dtype: Type = NONE, requirements: Type = NONE) -> Type:
    return infer_array(a, dtype)


def infer_contiguous(object: Type, dtype: Type = NONE) -> Type:
    found = infer_array(object, dtype)
    return Array(dtype=dtype_of(found), shape=shape_of(found) or None)  # never 0-d


def infer_copy(a: Type) -> Type:
    return infer_array(a)


def infer_copy_method(a: Type) -> Type:
    """A NumPy scalar's copy is a scalar."""
    return a if is_number(a) else infer_array(a)


def infer_astype(x: Type, dtype: Type, *, copy: Type = NONE) -> Type:
    if not isinstance(x, (Array, Scalar)):
        return UNKNOWN
    found = named_dtype(dtype)
    if isinstance(x, Array):
        return Array(dtype=found, shape=x.shape)
    return Scalar(dtype=found)


def infer_cast(dtype: Any) -> Any:
    """The rule of `np.float32(x)`: a scalar, or an array of x's shape."""

    def infer(x: Type = INT) -> Type:
        _, shape = nested(x)
        return UNKNOWN if shape is None else value_of_shape(dtype, shape)

    return infer


def infer_shape(a: Type) -> Type:
    _, shape = nested(a)
    if shape is None:
        return UNKNOWN
    return Tuple(items=tuple(as_number(n) for n in shape))


def infer_broadcast_shapes(args: Any = ()) -> Type:
    shapes = [dims_of(t) for t in getattr(args, "items", args)]
    found = broadcast_shapes(*shapes)
    return UNKNOWN if found is None else Tuple(items=tuple(map(as_number, found)))


def infer_size(a: Type, axis: Type = NONE) -> Type:
    _, shape = nested(a)
    along = known(axis)
    if shape is None or along is MISSING:
        return INT
    if along is None:
        return as_number(dims_product(shape))
    return as_number(shape[along]) if isinstance(along, int) else INT


def infer_ndim(a: Type) -> Type:
    _, shape = nested(a)
    return INT if shape is None else Const(value=len(shape))


def infer_len(obj: Type) -> Type:
    if isinstance(obj, (Tuple, List, Dict)) and obj.items is not None:
        return Const(value=len(obj.items))
    shape = shape_of(obj)
    return as_number(shape[0]) if isinstance(obj, Array) and shape else INT


def infer_dtype(a: Type) -> Type:
    dtype = dtype_of(a)
    return UNKNOWN if dtype is None or _python(a) else Const(value=dtype)


# -- constructors --------------------------------------------------------------------
_function: Any
for _function in (np.zeros, np.ones, np.empty):
    inert(_function, signature="shape, dtype=None", infer=infer_filled)
for _function in (np.zeros_like, np.ones_like, np.empty_like):
    inert(_function, signature="a, dtype=None, *, shape=None", infer=infer_filled_like)
for _function in (zeros_like, zero_tangent):
    inert(_function, signature="x", infer=infer_zeros_of)
inert(runtime.unit_tangents, signature="x")
inert(np.eye, signature="N, M=None, k=0, dtype=None", infer=infer_eye)
inert(np.identity, signature="n, dtype=None", infer=infer_identity)
inert(
    np.tri,
    signature="N, M=None, k=0, dtype=None",
    infer=infer_eye,
)


@adjoint(np.full, infer=infer_full, linear="fill_value")
def _(y, shape, fill_value, dtype=None):
    """One number in many places gets the sum of their adjoints."""
    d[fill_value] = in_dtype_of(unbroadcast(d[y], fill_value), fill_value)


@adjoint(np.full_like, infer=infer_full_like, linear="fill_value")
def _(y, a, fill_value, dtype=None, *, shape=None):
    """One number in many places gets the sum of their adjoints."""
    d[fill_value] = in_dtype_of(unbroadcast(d[y], fill_value), fill_value)


@adjoint(np.arange, infer=infer_arange)
def _(y, start, stop=None, step=1, dtype=None):
    # With one argument the values do not depend on it, only how many there are.
    d[start] = 0.0 if stop is None else np.sum(d[y])
    d[step] = np.dot(d[y], np.arange(len(d[y])))


@tangent(np.arange)
def _(y, start, stop=None, step=1, dtype=None):
    d[y] = np.full_like(y, 0.0 if stop is None else d[start])
    d[y] = d[step] * np.arange(len(y))


@adjoint(np.linspace, infer=infer_linspace, linear=[("start", "stop")])
def _(y, start, stop, num=50, endpoint=True, *, dtype=None, axis=0):
    d[start] = linspace_adjoint(d[y], 1 - fractions(num, endpoint), axis, start)
    d[stop] = linspace_adjoint(d[y], fractions(num, endpoint), axis, stop)


# -- copies and conversions ----------------------------------------------------------


@adjoint(np.copy, infer=infer_copy, linear="a")
def _(y, a):
    """A copy passes its adjoint on as it is."""
    d[a] = d[y]


@adjoint(
    typing.cast,
    signature="typ, val",
    infer=lambda typ, val: val,
    alias="same",
    linear="val",
    constant=("typ",),
)
def _(y, typ, val):
    d[val] = d[y]


@adjoint(copy.deepcopy, signature="x", linear="x")  # of what no type says how to copy
def _(y, x):
    """A copy passes its adjoint on as it is."""
    d[x] = d[y]


@adjoint(
    np.ndarray.copy,
    signature="a",
    methods=["copy", "__copy__"],
    infer=infer_copy_method,
    linear="a",
)
def _(y, a):
    """A copy passes its adjoint on as it is."""
    d[a] = d[y]


@adjoint(
    np.array,
    signature="object, dtype=None, *, copy=True",
    infer=infer_array,
    name="numpy.array",
    linear="object",
)
def _(y, object, dtype=None, *, copy=True):
    d[object] = in_dtype_of(d[y], object)


@adjoint(
    np.asarray,
    np.asanyarray,
    signature="object, dtype=None, *, copy=None",
    infer=infer_array,
    alias="maybe",
    name="numpy.asarray",
    linear="object",
)
def _(y, object, dtype=None, *, copy=None):
    d[object] = in_dtype_of(d[y], object)


@adjoint(
    np.require,
    signature="a, dtype=None, requirements=None",
    infer=infer_require,
    alias="maybe",
    linear="a",
    constant=("requirements",),
)
def _(y, a, dtype=None, requirements=None):
    d[a] = in_dtype_of(d[y], a)


@adjoint(
    np.ascontiguousarray,
    np.asfortranarray,
    signature="object, dtype=None",
    infer=infer_contiguous,
    alias="maybe",
    name="numpy.ascontiguousarray",
    linear="object",
)
def _(y, object, dtype=None):
    d[object] = in_dtype_of(d[y], object).reshape(np.shape(object))


@adjoint(
    np.ndarray.astype,
    methods=["astype"],
    signature="x, dtype, *, copy=True",
    infer=infer_astype,
    linear="x",
)
def _(y, x, dtype, *, copy=True):
    d[x] = in_dtype_of(d[y], x)


@adjoint(runtime.apart, infer=lambda y, x: y, constant=("x",))
def _(z, y, x):
    d[y] = d[z]


@tangent(runtime.apart)
def _(z, y, x):
    d[z] = d[y].copy()


@adjoint(runtime.items_like, constant=("x",))
def _(y, d_, x):
    d[d_] = items_like(d[y], d_)


@tangent(runtime.items_like)
def _(y, d_, x):
    d[y] = items_like(d[d_], x)


if hasattr(np, "astype"):  # since NumPy 2.1

    @adjoint(
        np.astype, signature="x, dtype, *, copy=True", infer=infer_astype, linear="x"
    )
    def _(y, x, dtype, *, copy=True):
        d[x] = in_dtype_of(d[y], x)


_cast: Any
for _cast in (
    np.float64, np.float32, np.float16, np.longdouble, np.complex128, np.complex64,
):  # fmt: skip

    @adjoint(_cast, signature="x=0.0", infer=infer_cast(_cast), linear="x")
    def _(y, x=0.0):
        d[x] = in_dtype_of(d[y], x)


for _cast in (
    np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
    np.uint64,
):  # fmt: skip
    inert(_cast, signature="x=0", infer=infer_cast(_cast))

# -- questions about arrays ----------------------------------------------------------
inert(np.shape, signature="a", attributes=["shape"], infer=infer_shape, cheap=True)
inert(
    np.size,
    signature="a, axis=None",
    attributes=["size"],
    infer=infer_size,
    cheap=True,
)
inert(np.ndim, signature="a", attributes=["ndim"], infer=infer_ndim, cheap=True)
inert(len, signature="obj", methods=["__len__"], infer=infer_len, cheap=True)
inert(
    np.ndarray.dtype,
    signature="a",
    name="numpy.ndarray.dtype",
    attributes=["dtype"],
    infer=infer_dtype,
    cheap=True,
)


def infer_strides(a: Type) -> Type:
    rank = rank_of(a)
    return UNKNOWN if rank is None else Tuple(items=(INT,) * rank)


for _name, _infer in {
    "itemsize": lambda a: INT,
    "nbytes": lambda a: INT,
    "strides": infer_strides,
    "flags": None,
}.items():
    inert(
        getattr(np.ndarray, _name),
        signature="a",
        name=f"numpy.ndarray.{_name}",
        attributes=[_name],
        infer=_infer,
        cheap=True,
    )
inert(np.finfo, np.iinfo, np.dtype, np.result_type, np.common_type, np.can_cast)
inert(np.indices, np.unravel_index, np.ravel_multi_index)
inert(np.broadcast_shapes, signature="*args", infer=infer_broadcast_shapes)
inert(np.set_printoptions, np.errstate, np.seterr, signature="*args, **kwargs")

# -- random numbers do not depend on what they are asked with (see `random_numbers`) --

inert(np.random.seed, signature="*args, **kwargs")
