"""Composites of NumPy: the value of what they stand for, and both modes to order 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax.backends.load import load
from srcjax.errors import UnsupportedError
from srcjax.ops.record import composite_of
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 24

RNG = np.random.default_rng(7)
MODES = ("rev", "fwd")


def array(*shape: int) -> Any:
    """Values well apart, so that no step changes their order."""
    size = int(np.prod(shape))
    steps = RNG.permutation(size) + RNG.uniform(-0.3, 0.3, size)
    return np.reshape(4 * steps / max(size, 1) - 1.93, shape)


def positive(*shape: int) -> Any:
    return RNG.uniform(0.5, 2.0, size=shape)


def with_nan(*shape: int) -> Any:
    x = array(*shape)
    x.flat[::3] = np.nan
    return x


X, Y, V, W = array(3, 5), array(3, 5), array(6), positive(5)
CUBE = array(2, 3, 4)
SQUARE = array(4, 4) + 4 * np.eye(4)
SIX = array(6, 6) + 5 * np.eye(6)
MOVED = np.moveaxis(SIX.reshape(6, 3, 2), (1, 2), (0, 2))
ANGLES = np.array([0.1, 2.0, 4.9, 8.0, 6.1, 2.9, -0.2])
TIES = np.array([1.0, 2.0, 2.0, 0.5, 2.0, 1.0])


class Case:
    """One call: the arguments at `wrt` are differentiated."""

    def __init__(self, function, *args, wrt=(0,), parts=None, order=2, **kwargs):
        self.function, self.args, self.kwargs = function, args, kwargs
        self.wrt, self.parts, self.order = wrt, parts, order

    def __repr__(self):
        args = [shown(a) for a in self.args]
        named = [f"{k}={shown(v)}" for k, v in self.kwargs.items()]
        return f"{self.function.__name__}({', '.join([*args, *named])})"


def shown(value: Any) -> str:
    return str(np.shape(value)) if isinstance(value, (np.ndarray, list)) else str(value)


METHODS = [
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
    "interpolated_inverted_cdf",
    "hazen",
    "weibull",
    "median_unbiased",
    "normal_unbiased",
    "lower",
    "higher",
    "midpoint",
    "nearest",
]

STATISTICS = [
    Case(np.cov, X),
    Case(np.cov, V),
    Case(np.cov, X, Y, wrt=(0, 1)),
    Case(np.cov, V, array(6), wrt=(0, 1)),
    Case(np.cov, X, rowvar=False),
    Case(np.cov, X, rowvar=False, bias=True),
    Case(np.cov, X, ddof=0),
    Case(np.cov, X, None, True, False, 2),
    Case(np.cov, X, fweights=np.array([1, 2, 1, 3, 1])),
    Case(np.cov, X, aweights=W),
    Case(np.cov, X, aweights=W, ddof=0),
    Case(np.cov, X, fweights=np.array([1, 2, 1, 3, 1]), aweights=W),
    Case(np.corrcoef, X),
    Case(np.corrcoef, X, Y, wrt=(0, 1)),
    Case(np.corrcoef, X, rowvar=False),
    Case(np.median, V),
    Case(np.median, array(5)),
    Case(np.median, X, axis=1),
    Case(np.median, X, 0),
    Case(np.median, X, keepdims=True),
    Case(np.median, CUBE, axis=(0, 2)),
    Case(np.median, CUBE, axis=(0, -1), keepdims=True),
    Case(np.median, CUBE, axis=-2, keepdims=True),
    Case(np.quantile, V, 0.3),
    Case(np.quantile, V, 0.3, wrt=(0, 1)),
    Case(np.quantile, X, np.array([0.11, 0.77]), axis=1, wrt=(0, 1)),
    Case(np.quantile, X, [0.11, 0.77]),
    Case(np.quantile, CUBE, 0.4, axis=(0, 2)),
    Case(np.quantile, CUBE, np.array([[0.1, 0.2], [0.7, 0.9]]), axis=1),
    Case(np.quantile, CUBE, np.array([0.1, 0.8]), axis=(0, 1), keepdims=True),
    Case(np.quantile, CUBE, 0.4, axis=1, keepdims=True),
    *(
        Case(np.quantile, X, np.array([0.0, 0.23, 0.6, 1.0]), axis=1, method=m)
        for m in METHODS
    ),
    Case(np.percentile, X, 30.0),
    Case(np.percentile, X, [20, 70], axis=0, keepdims=True),
    Case(np.percentile, V, 30.0, wrt=(0, 1)),
    Case(np.nanprod, with_nan(3, 4)),
    Case(np.nanprod, with_nan(3, 4), axis=1),
    Case(np.nanprod, with_nan(3, 4), axis=0, keepdims=True),
    Case(np.nancumsum, with_nan(3, 4)),
    Case(np.nancumsum, with_nan(3, 4), axis=1),
    Case(np.nancumprod, with_nan(3, 4)),
    Case(np.nancumprod, with_nan(3, 4), axis=0),
    Case(np.nanvar, with_nan(3, 4)),
    Case(np.nanvar, with_nan(3, 4), axis=1),
    Case(np.nanvar, with_nan(3, 4), axis=(0, 1), ddof=1, keepdims=True),
    Case(np.nanstd, with_nan(3, 4)),
    Case(np.nanstd, with_nan(3, 4), axis=0, ddof=1),
    Case(np.nanmedian, with_nan(7)),
    Case(np.nanmedian, with_nan(3, 4)),
    Case(np.nanmedian, with_nan(3, 4), axis=1),
    Case(np.nanmedian, with_nan(2, 3, 4), axis=(0, 2), keepdims=True),
    Case(np.nanmedian, array(3, 4), axis=1),
    Case(np.nanquantile, with_nan(3, 4), 0.3),
    Case(np.nanquantile, with_nan(3, 4), 0.3, wrt=(0, 1)),
    Case(np.nanquantile, with_nan(3, 4), np.array([0.1, 0.6]), axis=1, wrt=(0, 1)),
    Case(
        np.nanquantile, with_nan(2, 3, 4), np.array([0.1, 0.6]), (0, 2), keepdims=True
    ),
    Case(np.nanquantile, with_nan(3, 4), 0.3, axis=0, method="hazen"),
    Case(np.nanquantile, array(3, 4), 0.3, axis=0, method="higher"),
    Case(np.nanpercentile, with_nan(3, 4), 30.0, axis=1),
    Case(np.nanpercentile, with_nan(3, 4), np.array([[10.0, 20.0], [30.0, 40.0]]), 0),
]

HISTOGRAMS = [
    Case(np.bincount, np.array([0, 3, 1, 3, 3, 1]), V, wrt=(1,)),
    Case(np.bincount, np.array([0, 3, 1, 3, 3, 1]), V, 7, wrt=(1,)),
    Case(np.bincount, np.array([0, 3, 1, 3, 3, 1]), V, minlength=2, wrt=(1,)),
    Case(np.histogram_bin_edges, V, 4),
    Case(np.histogram_bin_edges, V, 4, (-1.0, 2.0)),
    Case(np.histogram_bin_edges, np.ones(3), 4, wrt=()),
    Case(np.histogram, V, 4, parts=(1,)),
    Case(np.histogram, V, 4, density=True, parts=(0, 1)),
    Case(np.histogram, V, 4, None, None, V**2, wrt=(0, 4), parts=(0, 1)),
    Case(np.histogram, X, 4, (-1.0, 1.0), weights=positive(3, 5), parts=(0, 1)),
    Case(np.histogram, V, np.array([-1.0, 0.0, 0.5, 2.0]), density=True, parts=(0, 1)),
    Case(
        np.histogram2d,
        V,
        array(6),
        3,
        density=True,
        wrt=(0, 1),
        parts=(0, 1, 2),
        order=1,
    ),
    Case(np.histogram2d, V, array(6), [3, 4], wrt=(0, 1), parts=(0, 1, 2), order=1),
    Case(np.histogramdd, array(7, 2), 3, density=True, parts=(0,), order=1),
    Case(
        np.histogramdd,
        array(7, 3),
        (2, 3, 2),
        None,
        None,
        positive(7),
        wrt=(0, 4),
        parts=(0,),
        order=1,
    ),
]

POLYNOMIALS = [
    Case(np.polyadd, V, array(3), wrt=(0, 1)),
    Case(np.polyadd, array(2), V, wrt=(0, 1)),
    Case(np.polyadd, V, array(6), wrt=(0, 1)),
    Case(np.polysub, V, array(3), wrt=(0, 1)),
    Case(np.polysub, array(2), V, wrt=(0, 1)),
    Case(np.polymul, V, array(3), wrt=(0, 1)),
    Case(np.polymul, np.array([0.0, 0.0, 2.0, 1.0]), array(3), wrt=(1,)),
    Case(np.polydiv, V, positive(3), wrt=(0, 1), parts=(0, 1)),
    Case(np.polydiv, array(2), positive(3), wrt=(0, 1), parts=(0, 1)),
    Case(np.polyder, V),
    Case(np.polyder, V, 2),
    Case(np.polyder, V, 0),
    Case(np.polyint, V),
    Case(np.polyint, V, 2),
    Case(np.polyint, V, 2, np.array([0.3, 0.7]), wrt=(0, 2)),
    Case(np.polyint, V, m=3, k=2.0),
    Case(np.polyfit, V, array(6), 2, wrt=(0, 1)),
    Case(np.polyfit, V, array(6, 2), 2, wrt=(0, 1)),
    Case(np.polyfit, V, array(6), 1, w=positive(6), wrt=(0, 1)),
    Case(np.polyfit, V, array(6), 2, cov=True, wrt=(0, 1), parts=(0, 1)),
    Case(np.polyfit, V, array(6), 2, cov="unscaled", wrt=(0, 1), parts=(0, 1)),
    Case(np.polyfit, V, array(6), 2, full=True, wrt=(1,), parts=(0, 1)),
]

LINEAR_ALGEBRA = [
    Case(np.linalg.diagonal, X),
    Case(np.linalg.diagonal, CUBE, offset=1),
    Case(np.linalg.trace, X),
    Case(np.linalg.trace, CUBE, offset=-1),
    *(
        Case(np.linalg.matrix_norm, X, ord=o)
        for o in ("fro", "nuc", 1, -1, 2, -2, np.inf)
    ),
    Case(np.linalg.matrix_norm, CUBE, keepdims=True),
    *(Case(np.linalg.vector_norm, V, ord=o) for o in (1, 2, 3, np.inf, -np.inf)),
    Case(np.linalg.vector_norm, W, ord=0.5),
    Case(np.linalg.vector_norm, CUBE),
    Case(np.linalg.vector_norm, CUBE, keepdims=True),
    Case(np.linalg.vector_norm, CUBE, axis=1),
    Case(np.linalg.vector_norm, CUBE, axis=(0, 2), keepdims=True, ord=3),
    Case(np.linalg.vector_norm, CUBE, axis=(2, 0)),
    Case(np.linalg.cond, SQUARE),
    *(Case(np.linalg.cond, SQUARE, p) for p in (2, -2, 1, -1, np.inf, "fro")),
    Case(np.linalg.tensorinv, SIX.reshape(2, 3, 3, 2)),
    Case(np.linalg.tensorinv, SIX.reshape(6, 2, 3), ind=1),
    Case(np.linalg.eigvals, np.diag([1.0, 2.0, 4.0]) + array(3, 3) / 5),
    Case(np.linalg.tensorsolve, SIX.reshape(2, 3, 6), array(2, 3), wrt=(0, 1)),
    Case(
        np.linalg.tensorsolve, SIX.reshape(2, 3, 6), array(2, 3), axes=None, wrt=(0, 1)
    ),
    Case(np.linalg.tensorsolve, MOVED, array(6), (0, 2), wrt=(0, 1)),
    Case(np.matvec, X, W, wrt=(0, 1)),
    Case(np.matvec, CUBE, array(4), wrt=(0, 1)),
    Case(np.matvec, CUBE, array(2, 4), wrt=(0, 1)),
    Case(np.vecmat, array(3), X, wrt=(0, 1)),
    Case(np.vecmat, array(2, 3), CUBE, wrt=(0, 1)),
]

CONSTRUCTION = [
    Case(np.logspace, 0.1, 1.2, 5, wrt=(0, 1)),
    Case(np.logspace, 0.1, 1.2, 5, False, 3.0, wrt=(0, 1, 4)),
    Case(np.logspace, array(3), array(3), 4, axis=1, wrt=(0, 1)),
    Case(np.logspace, 0.1, 1.2, 4, base=np.array([2.0, 3.0]), wrt=(0, 1)),
    Case(np.geomspace, 0.5, 20.0, 5, wrt=(0, 1)),
    Case(np.geomspace, -0.5, -20.0, 5, wrt=(0, 1)),
    Case(np.geomspace, 0.5, 20.0, 5, endpoint=False, wrt=(0, 1)),
    Case(np.geomspace, positive(3), 3 + positive(3), 4, wrt=(0, 1)),
    Case(np.geomspace, positive(3), 9.0, 4, axis=1, wrt=(0, 1)),
    Case(np.kaiser, 7, 2.5, wrt=(1,)),
    Case(np.kaiser, 1, 2.5, wrt=(1,)),
    Case(np.fft.fftfreq, 5, 0.3, wrt=(1,)),
    Case(np.fft.rfftfreq, 6, d=0.3, wrt=()),
    Case(np.resize, X, (4, 5)),
    Case(np.resize, X, 7),
    Case(np.resize, V, (2, 0)),
    Case(np.unwrap, ANGLES),
    Case(np.unwrap, ANGLES, period=4.0),
    Case(np.unwrap, 3 * X, axis=0),
    Case(np.unwrap, 3 * X, 4.0, 1),
    Case(np.cumulative_sum, V),
    Case(np.cumulative_sum, X, axis=1, include_initial=True),
    Case(np.cumulative_prod, V),
    Case(np.cumulative_prod, X, axis=0, include_initial=True),
    Case(np.real_if_close, V),
    Case(np.trim_zeros, np.array([0.0, 0.0, 1.0, 0.0, 2.0, 0.0]), wrt=()),
    Case(np.trim_zeros, np.zeros(3), wrt=()),
    Case(np.trim_zeros, V),
    Case(np.trim_zeros, V, "f"),
]

SETS = [
    Case(np.unique, V),
    Case(np.unique, TIES, wrt=()),
    Case(np.unique, X),
    Case(np.unique, array(0)),
    Case(np.unique, TIES, True, True, True, wrt=()),
    Case(np.unique, V, True, True, True, parts=(0,)),
    Case(np.unique, np.array([1.0, np.nan, 1.0, np.nan]), wrt=()),
    Case(np.unique, np.array([1.0, np.nan, 1.0, np.nan]), equal_nan=False, wrt=()),
    Case(np.unique_values, X),
    Case(np.unique_counts, TIES, wrt=()),
    Case(np.unique_counts, V, parts=(0,)),
    Case(np.unique_inverse, TIES, wrt=()),
    Case(np.unique_inverse, V, parts=(0,)),
    Case(np.unique_all, TIES, wrt=()),
    Case(np.unique_all, V, parts=(0,)),
    Case(np.union1d, V, array(4), wrt=(0, 1)),
    Case(np.intersect1d, TIES, np.array([2.0, 0.5, 7.0]), wrt=()),
    Case(np.intersect1d, V, V[2:], True, wrt=()),
    Case(np.setdiff1d, TIES, np.array([2.0, 7.0]), wrt=()),
    Case(np.setdiff1d, V, np.array([2.0, 7.0])),
    Case(np.setdiff1d, V, V[2:], True, wrt=()),
    Case(np.setxor1d, V, np.append(V[2:], 9.0), wrt=()),
    Case(np.setxor1d, V, np.array([7.0, 9.0]), wrt=(0, 1)),
]

CHOICES = [
    Case(np.choose, np.array([0, 2, 1, 0, 1]), [W, array(5), array(5)], wrt=()),
    Case(np.choose, np.array([0, 2, 1, 0, 1]), X, wrt=(1,)),
    Case(np.choose, np.array([0, 5, 1, -4, 1]), X, mode="wrap", wrt=(1,)),
    Case(np.choose, np.array([0, 5, 1, -4, 1]), X, mode="clip", wrt=(1,)),
]

CASES = [
    *STATISTICS,
    *HISTOGRAMS,
    *POLYNOMIALS,
    *LINEAR_ALGEBRA,
    *CONSTRUCTION,
    *SETS,
    *CHOICES,
]


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_the_value_is_that_of_numpy(case):
    definition = composite_of(case.function)
    got = definition(*case.args, **case.kwargs)
    expected = case.function(*case.args, **case.kwargs)
    assert isinstance(got, tuple) == isinstance(expected, tuple)
    if isinstance(got, tuple):
        for mine, theirs in zip(got, expected, strict=True):
            assert_same(mine, theirs)
    else:
        assert_same(got, expected)


def assert_same(mine, theirs):
    """Equal up to rounding; a number where NumPy gives a number."""
    if isinstance(theirs, list):
        for a, b in zip(mine, theirs, strict=True):
            assert_same(a, b)
        return
    assert np.shape(mine) == np.shape(theirs)
    assert isinstance(mine, np.ndarray) == isinstance(theirs, np.ndarray)
    np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("case", [c for c in CASES if c.wrt], ids=repr)
def test_derivatives(case):
    function, args = written_out(case)
    check_grads(function, args, case.order, MODES)


def written_out(case: Case) -> Any:
    """`def loss(a0, a1): return np.cov(a0, c1, ddof=k)`, and the arguments of it.

    NaN is put in afterwards: there are no differences at it.
    """
    scope: dict[str, Any] = {"np": np, "inf": np.inf, "function": case.function}
    lines, args, names = [], [], []
    for i, value in enumerate(case.args):
        name = f"a{i}"
        names.append(name)
        if i not in case.wrt:
            scope[name] = value
            continue
        if np.any(np.isnan(value)):
            scope[f"nan{i}"] = np.isnan(value)
            value = np.nan_to_num(value)
            lines.append(f"{name} = np.where(nan{i}, np.nan, {name})")
        args.append(value)
    for key, value in case.kwargs.items():
        scope[f"{key}_"] = value
        names.append(f"{key}={value!r}" if plain(value) else f"{key}={key}_")
    lines.append(f"y = function({', '.join(names)})")
    if case.parts is not None:
        lines.append(f"return {', '.join(f'y[{i}]' for i in case.parts)},")
    else:
        lines.append("return y")
    wanted = ", ".join(f"a{i}" for i in case.wrt)
    text = f"def loss({wanted}):\n    " + "\n    ".join(lines) + "\n"
    return load(text, "loss", scope).loss, tuple(args)


def plain(value: Any) -> bool:
    return isinstance(value, (int, float, str, bool, tuple))


WITH_NAN = [c for c in CASES if c.function.__name__.startswith("nan")]


@pytest.mark.parametrize("case", WITH_NAN, ids=repr)
def test_no_derivative_comes_to_nan(case):
    def loss(x):
        return np.sum(case.function(x, *case.args[1:], **case.kwargs) ** 2)

    x = case.args[0]
    dx = srcjax.grad(loss)(x)
    assert np.all(np.isfinite(dx))
    assert np.all(dx[np.isnan(x)] == 0)


def test_what_broadcast_tells_of_arrays():
    def multiplied(x, y):
        both = np.broadcast(x, y)
        out = np.empty(np.broadcast(x, y).shape)
        out[...] = x * y
        return out + both.size / both.ndim

    y = np.array([0.5, 0.25, 0.125])
    x = np.arange(6.0).reshape(2, 3)
    out, pullback = srcjax.vjp(multiplied, x, y)
    np.testing.assert_allclose(out, x * y + 3)
    np.testing.assert_allclose(pullback(x)[1], (x * x).sum(axis=0))
    np.testing.assert_allclose(srcjax.jvp(multiplied, (x, y), (x, y))[1], 2 * x * y)
    many = srcjax.vmap(multiplied, in_axes=(0, None))(np.stack([x, -x]), y)
    np.testing.assert_allclose(many[1], 3 - x * y)


def test_items_of_broadcast_are_refused():
    with pytest.raises(UnsupportedError, match="items of a Broadcast"):
        srcjax.grad(lambda x: sum(a * b for a, b in np.broadcast(x, x)))(np.ones(2))
