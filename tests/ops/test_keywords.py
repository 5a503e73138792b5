"""Calls with keywords (`where=`, `initial=`, `out=`, `dtype=`), lists, ufuncs.

Each call is the body of a function of `x` (and `y`), checked against differences in
both modes; with float32 arguments the derivatives have the dtypes of what they are of.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax.backends.load import load
from srcjax.errors import SrcjaxError
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_call": 12}

RNG = np.random.default_rng(4)
X = np.linspace(0.3, 0.9, 12)[RNG.permutation(12)].reshape(3, 4)
V = np.linspace(0.4, 0.8, 5)[RNG.permutation(5)]
MASK = np.array([[1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]], bool)
WHERE = ["where=M", "axis=0, where=M", "axis=1, keepdims=True, where=M", "where=M[:1]"]
PLAIN = ["sum", "mean", "prod", "var", "std"]
EXTREMES = ["max", "min"]
ALL = [*PLAIN, *EXTREMES]
#: Lists of numbers, and of arrays, as they are written and as they come to be.
LISTS = [
    "[y, y * y, 1.0]",
    "(x, 2 + x)",
    "[y * i for i in range(3)]",
    "[x[i] ** 2 for i in range(3)]",
]


def reductions():
    for name in ALL:
        first = ", initial=0.5" if name in EXTREMES else ""
        for how in WHERE:
            yield f"np.{name}(x, {how}{first})"
            yield f"x.{name}({how}{first})"
    for name in ("sum", "prod", "max", "min"):
        yield f"np.{name}(x, initial=2.0)"
        yield f"np.{name}(x, axis=0, initial=0.5)"
        yield f"np.{name}(x, axis=0, initial=y)"
        yield f"np.{name}(x[3:], initial=y) * x[0]"
        yield f"np.{name}(x[:, 4:], axis=1, initial=y) * x[:, 0]"
    for name in PLAIN:
        yield f"np.{name}(x, axis=0, dtype=np.float64)"
        yield f"x.{name}(1, np.float64)"
    for name in ALL:
        yield f"o = np.empty(4)\nnp.{name}(x, axis=0, out=o)\nreturn o * x"
        yield f"o = np.zeros(4)\nz = np.{name}(x, 0, out=o)\nreturn z * o"
    for name in ("var", "std"):
        yield f"np.{name}(x, correction=1)"
        yield f"np.{name}(x, ddof=1, where=M)"
        yield f"np.{name}(x, axis=0, mean=x.mean(axis=0, keepdims=True))"
    for name in ("nansum", "nanmean", "nanprod", "nanvar", "nanstd"):
        yield f"np.{name}(x, where=M)"
        yield f"np.{name}(x, axis=0, where=M)"
    for name in ("cumsum", "cumprod", "nancumsum", "nancumprod"):
        yield f"np.{name}(x, axis=0, dtype=np.float64)"


def lists():
    for name in (*ALL, "median", "ptp", "cumsum", "sort", "nanmax", "exp", "nanstd"):
        for given in LISTS:
            yield f"np.{name}({given})"
    yield "xs = []\nfor i in range(4):\n    xs.append(x[i % 3])\nreturn np.mean(xs, 0)"
    yield "xs = [y * 2.0, y * 3.0]\nreturn np.max(xs) * xs[0]"
    yield "np.dot([y, 2 * y], [y, y])"
    yield "np.add([y, 1.0], y)"
    yield "np.maximum([y, 2 * y], 0.5)"
    yield "np.power([y, 1.5], [2.0, y])"
    yield "np.linalg.det([[y, 1.0], [0.5, y * y]])"
    yield "np.einsum('i,i', [y, y * y], [y, 1.0])"
    yield "np.select([[True, False]], [[y, y * y]], default=y)"
    yield "np.quantile([y, y * y, 0.2], 0.3)"
    yield "x.dot([y, 1.0, y * y, 0.0])"


def ufuncs():
    for name in ("exp", "sqrt", "log", "arcsin", "tanh", "absolute"):
        yield f"np.{name}(x, dtype=np.float64)"
        yield f"o = np.empty((3, 4))\nnp.{name}(x, o)\nreturn o * x"
        yield f"o = np.empty((3, 4))\nnp.{name}(x, out=(o,))\nreturn o * x"
        yield f"np.{name}(x, where=M, out=x.copy())"
        yield f"o = np.ones((3, 4))\nnp.{name}(x, where=M, out=o)\nreturn o * x"
    for name in ("add", "multiply", "divide", "power", "maximum", "arctan2"):
        yield f"np.{name}(x, y, out=np.empty((3, 4)))"
        yield f"o = np.ones((3, 4))\nnp.{name}(x, x[0], where=M, out=o)\nreturn o * x"
        yield f"z = x.copy()\nnp.{name}(z, x[1], out=z)\nreturn z * x"
        yield f"np.{name}.outer(x[0], y)"
    for name in ("add", "multiply", "maximum", "minimum", "logaddexp", "hypot"):
        yield f"np.{name}.reduce(x)"
        yield f"np.{name}.reduce(x, axis=1, keepdims=True)"
        yield f"np.{name}.reduce(x, axis=(0, 1))"
    for name in ("add", "multiply", "maximum", "minimum"):
        yield f"np.{name}.reduce(x, 0, None, None, True)"
        yield f"np.{name}.reduce(x, axis=0, where=M, initial=0.5)"
        yield f"np.{name}.accumulate(x, axis=1)"
        yield f"np.{name}.reduceat(x, [0, 2, 1], axis=1)"
    for name in ("subtract", "divide"):
        yield f"np.{name}.reduce(x)"
    yield "np.subtract.accumulate(x)"
    yield "np.logaddexp.accumulate(x, axis=1)"


def borders_and_slopes():
    for mode in ("mean", "median", "maximum", "minimum"):
        yield f"np.pad(x, ((1, 2), (0, 3)), '{mode}')"
        yield f"np.pad(x**2, (1, 2), mode='{mode}', stat_length=((1, 2), (3, 7)))"
    yield "np.pad(x, ((1, 2), (4, 3)), 'linear_ramp', end_values=((1.0, y), (2.0, y)))"
    yield "np.pad(x, 2, 'linear_ramp')"
    for mode in ("reflect", "symmetric"):
        yield f"np.pad(x, ((7, 12), (1, 0)), '{mode}', reflect_type='odd')"
    yield "np.pad(x[:1], 2, 'reflect', reflect_type='odd')"
    for order in (1, 2):
        yield f"np.gradient(x, [0.1, 0.4, 1.2, 1.3], axis=1, edge_order={order})"
        yield f"np.gradient(x, np.cumsum(x[:, 0]), y, edge_order={order})[0]"
    yield "np.gradient(x, np.cumsum(x[0]), axis=-1)"
    yield "np.interp(x, [0.2, 2.36, 1.2, 3.7], x[0], period=y + 0.05)"
    for made_double in ("cov(x)", "corrcoef(x)", "dot(x, 0.6)", "append(x, 0.6)"):
        yield f"np.{made_double}"
    yield "np.sort_complex(x).real"
    yield "np.interp(3 * y, x[0], x[1], period=-0.35, left=9.0)"


def written_out(body: str) -> Any:
    """`def f(x, y)` of the lines, or of the expression."""
    lines = body.split("\n") if "return" in body else [f"return {body}"]
    text = "def f(x, y):\n" + "".join(f"    {line}\n" for line in lines)
    return load(text, "f", {"np": np, "M": MASK}).f


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "body", [*reductions(), *lists(), *ufuncs(), *borders_and_slopes()]
)
def test_call(body):
    f = written_out(body)
    check_grads(f, (X, 0.7), modes=("rev", "fwd"))
    check_dtypes(f, X.astype(np.float32), 0.7)


def check_dtypes(f, x, y):
    """Value and tangent have the function's own dtype, the adjoint that of `x`."""
    wanted = np.asarray(f(x.copy(), y)).dtype
    got, moved = srcjax.jvp(f, (x, y), (np.ones_like(x), 1.0))
    assert np.asarray(got).dtype == np.asarray(moved).dtype == wanted
    got, pullback = srcjax.vjp(f, x, y)
    assert np.asarray(got).dtype == wanted
    dx, _ = pullback(np.ones_like(got))
    assert dx.dtype == x.dtype and dx.shape == x.shape


@pytest.mark.parametrize(
    "body",
    [
        "np.exp(x, where=M)",  # the other entries have no value
        "np.sum(x, 0, None, np.empty(4))",  # `out` by position
        "z = x.copy()\nnp.power.at(z, [0], y)\nreturn z",
        "np.hypot.reduceat(x, [0, 1])",
    ],
)
def test_what_is_not_supported_is_refused(body):
    with pytest.raises(SrcjaxError):
        srcjax.vjp(written_out(body), X, 0.7)
    with pytest.raises(SrcjaxError):
        srcjax.jvp(written_out(body), (X, 0.7), (X, 1.0))


def test_masked_entries_outside_of_the_domain_do_no_harm():
    """`sqrt` of the entries that are not asked for is not computed, in no mode."""
    x = np.array([4.0, -1.0, 0.0, 9.0])

    def f(x):
        return np.sum(np.sqrt(x, where=x > 1, out=np.zeros(4)))

    np.testing.assert_allclose(srcjax.grad(f)(x), [0.25, 0, 0, 1 / 6])
    _, moved = srcjax.jvp(f, (x,), (np.ones(4),))
    np.testing.assert_allclose(moved, 0.25 + 1 / 6)


def test_lists_of_unknown_length():
    def f(x, n):
        xs = []
        for i in range(n):
            xs.append(x[i] * x[i + 1])
        return np.mean(xs) + np.std(xs)

    check_grads(lambda x: f(x, 4), (V,), order=2, modes=("rev", "fwd"))


def test_the_running_maximum_of_equal_values():
    """The derivative goes to the last of them (docs/conventions.md)."""
    x = np.array([1.0, 3.0, 3.0, 2.0])
    jacobian = srcjax.jacrev(lambda x: np.maximum.accumulate(x))(x)
    forward = srcjax.jacfwd(lambda x: np.maximum.accumulate(x))
    np.testing.assert_array_equal(np.argmax(jacobian, axis=1), [0, 1, 2, 2])
    np.testing.assert_array_equal(forward(x), jacobian)


def test_the_running_maximum_of_numbers():
    """`np.fmax` leaves nan out, from where there is a number."""
    x = np.array([np.nan, -np.inf, np.nan, 3.0, 3.0, 2.0, np.nan])
    for function, places in (
        (np.fmax, [0, 1, 1, 3, 4, 4, 4]),
        (np.fmin, [0, 1, 1, 1, 1, 1, 1]),
    ):
        values, pullback = srcjax.vjp(lambda x, f=function: f.accumulate(x), x)
        np.testing.assert_array_equal(values, function.accumulate(x))
        (found,) = pullback(np.ones(7))
        np.testing.assert_array_equal(found, np.bincount(places, minlength=7))


def total_in_double_precision(x):
    return np.sum(np.sin(x) ** 2, dtype=np.float64) + np.mean(x, dtype=np.float64)


def test_dtypes_of_sums_of_what_no_type_tells():
    gradient = srcjax.grad(total_in_double_precision)
    text = str(srcjax.source(gradient, general=True))
    names: dict = {"np": np}
    exec(text, names)
    expected = 2.0 * np.sin(X) * np.cos(X) + 1.0 / X.size
    np.testing.assert_allclose(names["grad_total_in_double_precision"](X), expected)
