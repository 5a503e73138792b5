"""Arguments that are nearly numbers or arrays: served as what they are, or refused."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections import deque
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError

A = np.array([0.7, 1.3])


class Plain(float):
    """A float under another name."""


class Tripled(float):
    def __mul__(self, other):
        return float(self) * other * 3


class Whole(int):
    pass


class Named(np.ndarray):
    """An array under another name."""


class TripledArray(np.ndarray):
    def __mul__(self, other):
        return np.asarray(self) * other * 3


@dataclasses.dataclass
class Held:
    a: Any
    name: str = "held"


class NearlyArray:
    """As a `pandas.Series` is: a dtype, a shape, `__array__` and operators."""

    dtype = A.dtype
    shape = A.shape

    def __array__(self, dtype=None, copy=None):
        return A.copy()

    def __mul__(self, other):
        return A * other * 3

    __rmul__ = __mul__


def total(v):
    return np.sum(np.exp(v) * v)


def matrix():
    """An `np.matrix`, which warns of itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.matrix(A)


WAYS = {
    "alone": (lambda v: v, total),
    "in a dict": (lambda v: {"a": v}, lambda d: total(d["a"])),
    "in a list": (lambda v: [1.0, v], lambda d: total(d[1])),
    "in a dataclass": (Held, lambda d: total(d.a)),
    "deep": (lambda v: {"a": [Held(v)]}, lambda d: total(d["a"][0].a)),
}
NEARLY = {
    "series": NearlyArray(),
    "masked": np.ma.array(A, mask=[0, 1]),
    "matrix": matrix(),
    "records": np.rec.fromarrays([A], names="u"),
    "structured": np.zeros(2, dtype=[("u", float)]),
    "objects": A.astype(object),
    "subclass of an array": A.view(TripledArray),
    "subclass of float": Tripled(1.3),
    "subclass of int": Whole(2),
    "fraction": Fraction(1, 3),
    "decimal": Decimal("1.3"),
    "deque": deque([1.0]),
    "set": {1.0},
}


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", NEARLY)
def test_refused_by_name(kind, way, mode):
    wrap, function = WAYS[way]
    given = wrap(NEARLY[kind])
    with pytest.raises(ArgumentError, match="argument `[vd]"):
        if mode == "grad":
            srcjax.grad(function)(given)
        else:
            srcjax.jvp(function, (given,), (given,))


def differentiated(gradient):
    """The part of a gradient that belongs to the array or number."""
    if isinstance(gradient, dict):
        return gradient["a"]
    if isinstance(gradient, list):
        return gradient[1]
    return getattr(gradient, "a", gradient)


@pytest.mark.parametrize("way", list(WAYS)[:4])
def test_a_subclass_that_adds_nothing_is_a_number_or_an_array(way):
    wrap, function = WAYS[way]
    for given, plain in ((Plain(1.3), 1.3), (A.view(Named), A)):
        found = differentiated(srcjax.grad(function)(wrap(given)))
        expected = differentiated(srcjax.grad(function)(wrap(plain)))
        np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("kind", ["series", "masked", "objects", "structured"])
def test_vmap_refuses_what_is_no_array_of_numbers(kind):
    with pytest.raises(ArgumentError, match="`v`"):
        srcjax.vmap(lambda v: v * 2.0)(NEARLY[kind])


def test_what_is_not_differentiated_is_refused_where_it_is_used():
    def weighted(x, w):
        return np.sum(x * w)

    with pytest.raises(srcjax.errors.SrcjaxError, match="NearlyArray"):
        srcjax.grad(weighted)(A, NearlyArray())


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 0,
        lambda x: int(x[0]),
        lambda x: x[0] > 0,
        lambda x: np.argmax(x),
        lambda x: "text",
        lambda x: f"{x}",
    ],
)
def test_a_result_that_is_no_real_number_is_refused(function):
    with pytest.raises(ArgumentError, match="the function returns"):
        srcjax.grad(function)(A)


def test_a_whole_number_beside_floats_is_a_result():
    def cut(x):
        return 0 if x[0] < 0 else x[0] ** 2

    np.testing.assert_allclose(srcjax.grad(cut)(A), [1.4, 0.0])


class Pair:
    def __init__(self, v):
        self.v = v


NO_PYTREES = [
    lambda x: {x[0] * 2, x[1]},
    lambda x: (x[0], {v * 2 for v in x}),
    lambda x: frozenset([x[0] * 2]),
    lambda x: {"a": x[0] * 2}.values(),
    lambda x: (x[0], {"a": x[0] * 2}.items()),
    lambda x: reversed([x[0], x[1] * 2]),
    lambda x: zip([x[0]], [x[1]], strict=True),
    lambda x: enumerate([x[0], x[1]]),
    lambda x: iter([x[0] * 2, x[1]]),
    lambda x: zip(x, x * 2, strict=True),
    lambda x: enumerate(x * 2),
    lambda x: deque([x[0] * 2]),
    lambda x: memoryview(x * 2),
    lambda x: np.array([x[0] * 2, None], dtype=object),
    lambda x: lambda: x[0] * 2,
    lambda x: (x[0], lambda y: y * x[1]),
    lambda x: functools.partial(max, x[0] * 2),
]


@pytest.mark.parametrize("mode", ["grad", "vjp", "jvp", "linearize", "vmap"])
@pytest.mark.parametrize("function", NO_PYTREES)
def test_a_result_that_is_no_pytree_is_refused(function, mode):
    with pytest.raises(srcjax.errors.SrcjaxError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if mode == "grad":
            srcjax.grad(function)(A)
        elif mode == "vjp":
            srcjax.vjp(function, A)
        elif mode == "jvp":
            srcjax.jvp(function, (A,), (A,))
        elif mode == "linearize":
            srcjax.linearize(function, A)[1](A)
        else:
            srcjax.vmap(function)(np.stack([A, A]))


def test_vmap_refuses_a_slice():
    with pytest.raises(ArgumentError, match="the function returns a slice"):
        srcjax.vmap(lambda x: slice(0, 2))(np.stack([A, A]))


def test_a_result_that_is_an_object_is_no_number():
    with pytest.raises(ArgumentError, match="the function returns a Pair"):
        srcjax.grad(lambda x: Pair(x[0] * 2))(A)


MASKED = np.ma.array(A, mask=[0, 1])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: MASKED * x,
        lambda x: np.cumsum(MASKED * x),
        lambda x: np.ma.masked_where(x > 1, x),
        lambda x: np.ma.masked_where(x > 0, x).mean(),
        lambda x: np.ma.masked_where(x > 1, x)[1],
        lambda x: {"a": [x, np.ma.masked_invalid(np.sqrt(x - 1))]},
    ],
)
def test_vmap_refuses_masked_results(function):
    """Examples are put together as arrays, which would lose the masks."""
    refused = pytest.raises(srcjax.errors.SrcjaxError, match="masked array")
    with refused, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        srcjax.vmap(function)(np.stack([A, A / 4]))


def test_vmap_of_what_masked_arrays_give():
    def total(x):
        return np.sum(np.ma.masked_where(x > 1, x)) + np.sum(x * MASKED)

    batch = np.stack([A, A / 4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = srcjax.vmap(total)(batch)
    np.testing.assert_allclose(found, [total(x) for x in batch])
