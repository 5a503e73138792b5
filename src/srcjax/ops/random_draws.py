"""Records of `srcjax.random`: types, derivatives and batch rules of its draws.

A draw is the same function of its key wherever it stands, so that a rule may draw again
what it needs of it: the derivative of even numbers with respect to their bounds is the
even numbers between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import gast
import numpy as np

from srcjax import random, syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Dim,
    Shape,
    Type,
    broadcast_shapes,
    dtype_of,
    is_number,
    shape_of,
)
from srcjax.ops.batch_kinds import batch, elementwise
from srcjax.ops.batch_operands import expr, has_ints
from srcjax.ops.batching import MappedCall
from srcjax.ops.infer_rules import NONE, dims_of, value_of_shape
from srcjax.ops.known import MISSING, known
from srcjax.ops.record import (
    NATIVE,
    adjoint,
    inert,
    key_of,
    lookup,
    operation,
    surely,
    tangent,
)
from srcjax.random import widths

# ruff: noqa: F821
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules
unbroadcast: Any
Found: TypeAlias = "gast.expr | None"

# -- types -----------------------------------------------------------------------------


def batch_of(key: Type) -> Shape | None:
    """The leading axes of keys, of which one is an array of shape (2,)."""
    shape = shape_of(key)
    return shape[:-1] if shape else None


def dtype_given(dtype: Type, default: Any) -> np.dtype | None:
    """The dtype that a call asks for; None where that is not known."""
    asked = known(dtype)
    if asked is None:
        return widths.default(default)
    try:
        return None if asked is MISSING else np.dtype(asked)  # type: ignore[call-overload]
    except TypeError:
        return None


def drawn_shape(key: Type, shape: Type, parameters: list[Type]) -> Shape | None:
    """The shape of a draw: the batch of keys, then that of a draw of one of them."""
    leading = batch_of(key)
    if leading is None:
        return None
    if shape != NONE:
        own = dims_of(shape) if not is_number(shape) else None
        return None if own is None else (*leading, *own)
    found: Shape | None = broadcast_shapes(*map(shape_of, parameters))
    return leading if found == () else found


def draws(default: Any, *parameters: str, shape: Any = ()) -> Callable[..., Type]:
    """The infer rule of a draw with these parameters, of a default dtype."""
    absent = NONE if shape is None else None

    def infer(key: Type, shape: Type | None = absent, **given: Type) -> Type:
        dtype = dtype_given(given.get("dtype", NONE), default)
        own = [given[p] for p in parameters if p in given]
        found = batch_of(key) if shape is None else drawn_shape(key, shape, own)
        return value_of_shape(dtype, found) if found is not None else Array(dtype=dtype)

    return infer


def infer_split(key: Type, num: Type | None = None) -> Type:
    leading = batch_of(key)
    own: Shape | None = (2,) if num is None else dims_of(num)
    if leading is None or own is None:
        return Array(dtype=np.dtype(np.uint32))
    return Array(dtype=np.dtype(np.uint32), shape=(*leading, *own, 2))


def infer_key(seed: Type, **_: Type) -> Type:
    shape = shape_of(seed)
    return Array(
        dtype=np.dtype(np.uint32), shape=None if shape is None else (*shape, 2)
    )


def infer_same_key(key: Type, *_: Type, **__: Type) -> Type:
    return Array(dtype=np.dtype(np.uint32), shape=shape_of(key))


def infer_categorical(
    key: Type,
    logits: Type,
    axis: Type | None = None,
    shape: Type = NONE,
    replace: Type | None = None,
    **_: Type,
) -> Type:
    leading, sizes = batch_of(key), shape_of(logits)
    place = known(axis, -1)
    if leading is None:
        return UNKNOWN
    if shape != NONE:
        own = dims_of(shape)
    elif sizes is None or not isinstance(place, int):
        own = None
    else:
        rest: list[Dim] = list(sizes)
        if not -len(rest) <= place < len(rest):
            return UNKNOWN
        del rest[place]
        own = tuple(rest[len(leading) :])
    found = known(replace, True)
    dtype = widths.default(np.int32) if found is True else None
    if found is False:
        dtype = np.dtype(np.int32)
    if own is None:
        return Array(dtype=dtype)
    return value_of_shape(dtype, (*leading, *own))


def infer_orthogonal(
    key: Type,
    n: Type,
    shape: Type | None = None,
    dtype: Type = NONE,
    m: Type = NONE,
) -> Type:
    own = () if shape is None else dims_of(shape)
    leading, columns = batch_of(key), n if m == NONE else m
    found = dtype_given(dtype, np.float32)
    size = dims_of(n), dims_of(columns)
    if own is None or leading is None or None in size:
        return Array(dtype=found)
    return Array(dtype=found, shape=(*leading, *own, *size[0], *size[1]))  # type: ignore[misc]


# -- batches ---------------------------------------------------------------------------


def keys_of_batch(call: MappedCall) -> gast.expr:
    """The key of each example, where it is the same for all of them too."""
    if call.is_mapped("key"):
        return call.arg("key")
    return syntax.expression(
        "np.broadcast_to(key, (n, *key.shape))", key=call.arg("key"), n=call.size
    )


def others_mapped(call: MappedCall, *parameters: str) -> bool:
    """Whether another argument than the key and these is mapped."""
    known = ("key", *parameters)
    return any(call.is_mapped(p) for p in call.bound if p not in known)


def of_each_key(*parameters: str, extra: dict[str, int] | None = None) -> Any:
    """The batch rule of a draw: that of a batch of keys has its axes first.

    `extra` says of how many axes more than the result a parameter is.
    """

    def rule(call: MappedCall) -> Found:
        rank = call.result_rank
        if rank is None or others_mapped(call, *parameters):
            return None
        changes = {"key": keys_of_batch(call)}
        whole = rank == 0 or not parameters
        for p in parameters:
            if not call.has(p):
                continue
            wanted = rank + (extra or {}).get(p, 0)
            own, lifted = call.rank(p), call.lifted(p, wanted)
            if own is None or lifted is None:
                return None
            changes[p] = lifted
            whole = whole or (call.is_mapped(p) and own == wanted)
        taken_from = "shape" in call.op.signature.parameters and (
            call.op.signature.parameters["shape"].default is None
        )
        absent = not call.has("shape") or call.const("shape") is None
        if taken_from and absent and not whole:
            changes["shape"] = draw_shape(call, extra is not None)
            if changes["shape"] is None:
                return None
        return call.rebuild(**changes)

    return rule


def draw_shape(call: MappedCall, vectors: bool) -> Any:
    """The shape of the draw of one key, written out; None where it is not known."""
    shape, keys = shape_of(call.result), call.rank("key")
    if shape is None or keys is None or not has_ints(shape):
        return None
    own = shape[keys - 1 :]
    return expr(own[:-1] if vectors else own)


def serves_batches(function: Any) -> Any:
    """Decorator: the batch rule of a function that derivatives treat as a composite."""

    def decorate(rule: Any) -> Any:
        op = lookup(function)
        assert op is not None
        batch(op)(rule)
        NATIVE[key_of(function)] = op, lambda **_: True
        return rule

    return decorate


def without_parameters(call: MappedCall) -> Found:
    """The rule of what has no other argument that may be mapped."""
    return None if others_mapped(call) else call.rebuild()


# -- keys ------------------------------------------------------------------------------

inert(random.key, random.PRNGKey, infer=infer_key)
inert(random.split, infer=infer_split)
inert(random.fold_in, infer=infer_same_key)
inert(random.clone, infer=infer_same_key)
inert(random.key_data, random.wrap_key_data, signature="key, **options")
operation(random.key_data, infer=infer_same_key)
batch(random.split, random.clone, random.key_data)(without_parameters)


@batch(random.key)
def _(call: MappedCall) -> Found:
    return call.rebuild()


@batch(random.fold_in)
def _(call: MappedCall) -> Found:
    rank = call.rank("key")
    data = None if rank is None else call.lifted("data", rank - 1)
    return data and call.rebuild(key=keys_of_batch(call), data=data)


# -- draws without a derivative --------------------------------------------------------

for _function in (
    random.normal,
    random.exponential,
    random.gumbel,
    random.laplace,
    random.logistic,
    random.cauchy,
):
    inert(_function, infer=draws(np.float32))
    batch(_function)(without_parameters)
inert(random.bits, infer=draws(np.uint32))
inert(random.rademacher, infer=draws(np.int32))
inert(random.orthogonal, infer=infer_orthogonal)
batch(random.bits, random.rademacher, random.orthogonal)(without_parameters)
inert(random.randint, infer=draws(np.int32, "minval", "maxval"))
batch(random.randint)(of_each_key("minval", "maxval"))
inert(random.bernoulli, infer=draws(np.bool_, "p", shape=None))
batch(random.bernoulli)(of_each_key("p"))
inert(random.geometric, infer=draws(np.int32, "p", shape=None))
batch(random.geometric)(of_each_key("p"))
inert(random.categorical, infer=infer_categorical)


@batch(random.categorical)
def _(call: MappedCall) -> Found:
    rank, axis = call.rank("logits"), call.const("axis", -1)
    if rank is None or not isinstance(axis, int) or others_mapped(call, "logits"):
        return None
    changes = {"key": keys_of_batch(call)}
    if not call.is_mapped("logits"):
        changes["logits"] = syntax.expression(
            "np.broadcast_to(x, (n, *np.shape(x)))", x=call.arg("logits"), n=call.size
        )
    if axis >= 0:
        changes["axis"] = expr(axis - rank)
    return call.rebuild(**changes)


# -- draws between bounds --------------------------------------------------------------

operation(random.uniform, infer=draws(np.float32, "minval", "maxval"))
batch(random.uniform)(of_each_key("minval", "maxval"))


@adjoint(random.uniform)
def _(y, key, shape=(), dtype=None, minval=0.0, maxval=1.0):
    if dtype is None:
        u = random.uniform(key, shape)
    else:
        u = random.uniform(key, shape, dtype)
    d[minval] = unbroadcast(d[y] * (1 - u), minval)
    d[maxval] = unbroadcast(d[y] * u, maxval)


@tangent(random.uniform)
def _(y, key, shape=(), dtype=None, minval=0.0, maxval=1.0):
    if dtype is None:
        u = random.uniform(key, shape)
    else:
        u = random.uniform(key, shape, dtype)
    d[y] = d[minval] * (1 - u) + d[maxval] * u


operation(
    random.truncated_normal, infer=draws(np.float32, "lower", "upper", shape=None)
)
batch(random.truncated_normal)(of_each_key("lower", "upper"))


# The number's place between the bounds stays: with the density p of the normal
# distribution, p(y) dy = (1 - u) p(lower) dlower + u p(upper) dupper.
@adjoint(random.truncated_normal)
def _(y, key, lower, upper, shape=None, dtype=None):
    if surely(np.ndim(key) == 1 and dtype is None):
        u = random.uniform(key, np.shape(y))
    else:
        u = random.uniform(key, np.shape(y)[np.ndim(key) - 1 :], dtype)
    at_lower = np.exp((y * y - lower * lower) / 2)
    at_upper = np.exp((y * y - upper * upper) / 2)
    d[lower] = unbroadcast(d[y] * (1 - u) * at_lower, lower)
    d[upper] = unbroadcast(d[y] * u * at_upper, upper)


@tangent(random.truncated_normal)
def _(y, key, lower, upper, shape=None, dtype=None):
    if surely(np.ndim(key) == 1 and dtype is None):
        u = random.uniform(key, np.shape(y))
    else:
        u = random.uniform(key, np.shape(y)[np.ndim(key) - 1 :], dtype)
    d[y] = d[lower] * (1 - u) * np.exp((y * y - lower * lower) / 2) + (
        d[upper] * u * np.exp((y * y - upper * upper) / 2)
    )


# -- draws whose derivative is that of what they are made of ---------------------------
# (`ops.composites.random_draws`)


def infer_permutation(key: Type, x: Type, *_: Type, **__: Type) -> Type:
    leading = batch_of(key)
    number = is_number(x)
    own = dims_of(x) if number else shape_of(x)
    dtype = widths.default(np.int32) if number else dtype_of(x)
    if leading is None or own is None:
        return Array(dtype=dtype)
    return Array(dtype=dtype, shape=(*leading, *own))


def infer_choice(
    key: Type,
    a: Type,
    shape: Type | None = None,
    replace: Type = NONE,
    p: Type = NONE,
    axis: Type | None = None,
    **_: Type,
) -> Type:
    leading, place = batch_of(key), known(axis, 0)
    drawn = () if shape is None else dims_of(shape)
    number = is_number(a)
    sizes: Shape | None = (None,) if number else shape_of(a)
    dtype = widths.default(np.int32) if number else dtype_of(a)
    place = 0 if number else place
    if None in (leading, drawn, sizes) or not isinstance(place, int):
        return Array(dtype=dtype)
    assert leading is not None and drawn is not None and sizes is not None
    if not -len(sizes) <= place < len(sizes):
        return UNKNOWN
    place %= len(sizes)
    own = (*sizes[:place], *drawn, *sizes[place + 1 :])
    return value_of_shape(dtype, (*leading, *own))


def infer_vectors(
    key: Type, mean: Type, cov: Type, shape: Type = NONE, dtype: Type = NONE, **_: Type
) -> Type:
    found = dtype_given(dtype, np.float32)
    if dtype == NONE and widths.WIDE:  # that of the parameters
        found = None
    leading, one, two = batch_of(key), shape_of(mean), shape_of(cov)
    if leading is None or not one or not two or len(two) < 2:
        return Array(dtype=found)
    if shape != NONE:
        own = dims_of(shape)
        whole = None if own is None else (*leading, *own)
    else:
        whole = broadcast_shapes(one[:-1], two[:-2]) or leading
    return Array(dtype=found, shape=None if whole is None else (*whole, one[-1]))


operation(random.permutation, infer=infer_permutation)
operation(random.choice, infer=infer_choice, constant=("p",))
batch(random.permutation, random.choice)(without_parameters)
operation(random.multivariate_normal, infer=infer_vectors)
serves_batches(random.multivariate_normal)(
    of_each_key("mean", "cov", extra={"mean": 0, "cov": 1})
)

# -- gamma numbers ---------------------------------------------------------------------

for _sampler in (random.gamma, random.loggamma):
    infer_sampled = draws(np.float32, "a", shape=None)
    operation(_sampler, infer=infer_sampled, on_average=True)
    batch(_sampler)(of_each_key("a"))


@adjoint(random.gamma)
def _(y, key, a, shape=None, dtype=None):
    d[a] = unbroadcast(d[y] * random.gamma_derivative(a, y), a)


@tangent(random.gamma)
def _(y, key, a, shape=None, dtype=None):
    d[y] = d[a] * random.gamma_derivative(a, y)


@adjoint(random.loggamma)
def _(y, key, a, shape=None, dtype=None):
    d[a] = unbroadcast(d[y] * random.loggamma_derivative(a, y), a)


@tangent(random.loggamma)
def _(y, key, a, shape=None, dtype=None):
    d[y] = d[a] * random.loggamma_derivative(a, y)


def infer_derivative(a: Type, x: Type) -> Type:
    dtype = dtype_of(x)
    real = dtype if dtype is not None and dtype.kind == "f" else np.dtype(float)
    shape = broadcast_shapes(shape_of(a), shape_of(x))
    known = dtype is not None and shape is not None
    return value_of_shape(real, shape) if known else Array()


# They have no derivatives themselves: one that is asked for is refused.
operation(random.gamma_derivative, signature="a, x", infer=infer_derivative)
operation(random.loggamma_derivative, signature="a, x", infer=infer_derivative)
batch(random.gamma_derivative, random.loggamma_derivative)(elementwise)

# -- counts ----------------------------------------------------------------------------

inert(random.poisson, infer=draws(np.int32, "lam", shape=None))
batch(random.poisson)(of_each_key("lam"))
inert(random.binomial, infer=draws(np.float32, "n", "p", shape=None))
batch(random.binomial)(of_each_key("n", "p"))
inert(random.multinomial)
inert(random.maxwell, infer=draws(np.float32))
batch(random.maxwell)(without_parameters)

for _name in random.__all__:
    _op = lookup(getattr(random, _name))
    if _op is not None:  # the dtype of what it gives is another one with x64
        _op.rests_on = (widths, "WIDE")
