"""Distributions of scipy.stats: their values, tails, edges and derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.ops.record import composite_of
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 20

stats = pytest.importorskip("scipy.stats")

#: "fwd" as soon as there is forward mode.
MODES = ("rev", "fwd") if hasattr(srcjax, "jvp") else ("rev",)

INF = np.inf
LINE = [-INF, -1e3, -40.0, -9.0, -1.3, -0.2, 0.0, 0.4, 1.0, 2.7, 12.0, 45.0, 1e3, INF]
HALF = [-1.0, 0.0, 1e-12, 0.3, 1.0, 1.2, 2.7, 12.0, 80.0, 1e3, INF]
UNIT = [-0.5, 0.0, 1e-9, 0.2, 0.5, 0.85, 1 - 1e-9, 1.0, 1.5]
COUNTS = [-1, 0, 1, 2, 3, 5, 6, 40, 1.5]

#: Shape parameters (also senseless ones) and points of each distribution.
TABLE = {
    "norm": ([()], LINE),
    "truncnorm": ([(-1.0, 2.0), (3.0, 5.0), (-45.0, -40.0), (30.0, INF), (2.0, 1.0)], [
        -50.0, -44.0, -40.2, -40.0, -1.0, -0.3, 0.0, 1.2, 2.0, 3.0, 4.1, 5.0, 30.01,
        35.0,
    ]),
    "gennorm": ([(1.5,), (2.0,), (0.7,), (-1.0,)], LINE),
    "laplace": ([()], [x for x in LINE if abs(x) != 1e3]),  # SciPy's tails end before

    "logistic": ([()], LINE),
    "cauchy": ([()], LINE),
    "gumbel_r": ([()], LINE),
    "gumbel_l": ([()], LINE),
    "t": ([(1.0,), (3.5,), (1e9,), (-1.0,)], LINE),
    "expon": ([()], HALF),
    "gamma": ([(1.0,), (2.5,), (0.4,), (150.0,), (-1.0,)], HALF),
    "chi2": ([(2.0,), (5.0,), (0.8,), (-1.0,)], HALF),
    "pareto": ([(2.5,), (0.4,), (-1.0,)], HALF),
    "uniform": ([()], UNIT),
    "beta": ([(1.0, 1.0), (2.5, 0.7), (40.0, 90.0), (-1.0, 2.0)], UNIT),
    "vonmises": ([(0.0,), (2.5,), (900.0,), (-1.0,)], [-4.0, -0.3, 0.0, 1.2, 7.0]),
    "wrapcauchy": ([(0.3,), (0.95,), (1.5,)], [-0.1, 0.0, 0.4, 3.0, 6.2, 6.3]),
    "bernoulli": ([(0.3,), (0.0,), (1.0,)], COUNTS),
    "binom": ([(5, 0.3), (40, 0.9), (6, 0.0), (6, 1.0), (5.5, 0.3)], COUNTS),
    "nbinom": ([(5, 0.3), (2.5, 0.9), (3, 1.0), (-1, 0.3)], COUNTS),
    "geom": ([(0.3,), (1.0,), (-0.5,)], COUNTS),
    "poisson": ([(2.5,), (0.0,), (30.0,), (-1.0,)], COUNTS),
    "betabinom": ([(5, 0.7, 2.5), (40, 3.0, 1.0), (5, -1.0, 2.0)], COUNTS),
}  # fmt: skip
METHODS = [
    "pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf",
]  # fmt: skip
#: Where nothing more than rounding is left of a value: it may be zero.
ROUNDING = {"ppf": 1e-15, "logpmf": 1e-15}
#: Of the whole numbers there is no scale.
DISCRETE = {"bernoulli", "binom", "nbinom", "geom", "poisson", "betabinom"}


def functions():
    """(distribution, method) of every composite."""
    found = []
    for name in TABLE:
        distribution = getattr(stats, name)
        for method in METHODS:
            function = getattr(distribution, method, None)
            if function is not None and composite_of(function) is not None:
                found.append((name, method))
    return found


def placements(name):
    return [(), (1,), (0.5, 2.0), (0.0, -1.0)] if name not in DISCRETE else [(), (2,)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name, method", functions())
def test_values(name, method):
    """The value is that of SciPy, in the tails and for senseless arguments too."""
    function = getattr(getattr(stats, name), method)
    definition = composite_of(function)
    shapes, points = TABLE[name]
    if method in ("ppf", "isf"):
        points = [-0.1, 0.0, 1e-300, 1e-12, 0.2, 0.5, 0.7, 0.9999, 1.0, 1.1]
    for shape in shapes:
        for place in placements(name):
            scale = place[1] if len(place) > 1 else 1
            x = np.asarray(points)
            if method not in ("ppf", "isf") and scale > 0:
                x = x * scale + (place[0] if place else 0)
            expected = function(x, *shape, *place)
            found = definition(x, *shape, *place)
            label = f"{name}.{method}{(*shape, *place)} at {points}"
            same = (found == expected) | (np.isnan(found) & np.isnan(expected))
            found, expected = np.where(same, 0, found), np.where(same, 0, expected)
            np.testing.assert_allclose(
                found,
                expected,
                rtol=1e-10,
                atol=ROUNDING.get(method, 1e-300),
                err_msg=label,
            )


# -- derivatives --------------------------------------------------------------------

#: Shapes and points inside of the support, in the tails too.
SMOOTH = {
    "norm": ((), [-9.0, -0.4, 1.3, 7.0]),
    "truncnorm": ((-1.0, 2.0), [-0.7, 0.3, 1.8]),
    "gennorm": ((1.5,), [-2.5, 0.6, 3.0]),
    "laplace": ((), [-9.0, -0.4, 1.3, 7.0]),
    "logistic": ((), [-9.0, -0.4, 0.0, 1.3, 40.0]),
    "cauchy": ((), [-6.0, -0.4, 0.0, 1.3, 4.0]),
    "gumbel_r": ((), [-2.5, -0.4, 1.3, 20.0]),
    "gumbel_l": ((), [2.5, 0.4, -1.3, -20.0]),
    "t": ((3.5,), [-9.0, -0.4, 0.0, 1.3, 40.0]),
    "expon": ((), [0.1, 1.3, 20.0]),
    "gamma": ((2.5,), [0.8, 1.3, 20.0]),
    "chi2": ((3.0,), [0.8, 1.3, 20.0]),
    "pareto": ((2.5,), [1.4, 3.0, 9.0]),
    "uniform": ((), [0.1, 0.6, 0.9]),
    "beta": ((2.5, 0.7), [0.1, 0.6, 0.93]),
    "vonmises": ((2.5,), [-3.0, 0.0, 1.2]),
    "wrapcauchy": ((0.3,), [0.2, 3.0, 6.1]),
    "bernoulli": ((0.3,), [0, 1]),
    "binom": ((5, 0.3), [0, 2, 5]),
    "nbinom": ((2.5, 0.3), [0, 2, 5]),
    "geom": ((0.3,), [1, 2, 7]),
    "poisson": ((2.5,), [0, 2, 7]),
    "betabinom": ((5, 0.7, 2.5), [0, 2, 5]),
}
#: Distribution functions whose derivative to the shape is not known.
NO_SHAPE = {"gennorm", "t", "gamma", "chi2", "beta"}
OF_DENSITY = {"pdf", "logpdf", "pmf", "logpmf"}


def of_arguments(function, shape, differentiate_shape, x, place):
    """The function of the arguments to differentiate, and these arguments."""
    if shape and not differentiate_shape:
        first = shape[0]
        if len(shape) == 1:
            return lambda x, loc, s: function(x, first, loc, s), (x, *place)
        second = shape[1]
        return lambda x, loc, s: function(x, first, second, loc, s), (x, *place)
    if not shape:
        return lambda x, loc, s: function(x, loc, s), (x, *place)
    if len(shape) == 1:
        return lambda x, a, loc, s: function(x, a, loc, s), (x, *shape, *place)
    return lambda x, a, b, loc, s: function(x, a, b, loc, s), (x, *shape, *place)


def standard(function, shape, differentiate_shape, x):
    """The same at the location 0 and the scale 1."""
    if not shape:
        return lambda x: function(x), (x,)
    first = shape[0]
    if len(shape) == 1 and differentiate_shape:
        return lambda x, a: function(x, a), (x, first)
    if len(shape) == 1:
        return lambda x: function(x, first), (x,)
    second = shape[1]
    if differentiate_shape:
        return lambda x, a, b: function(x, a, b), (x, first, second)
    return lambda x: function(x, first, second), (x,)


def of_shape(function, k, shape):
    """The probability of counts, of the parameters that are real numbers."""
    if len(shape) == 1:
        return lambda p: function(k, p), shape
    first = shape[0]
    if len(shape) == 2 and isinstance(first, int):
        return lambda p: function(k, first, p), shape[1:]
    if len(shape) == 2:
        return lambda n, p: function(k, n, p), shape
    return lambda a, b: function(k, first, a, b), shape[1:]


CONTINUOUS = [(n, m) for n, m in functions() if n not in DISCRETE]
COUNTING = [(n, m) for n, m in functions() if n in DISCRETE and m != "ppf"]


@pytest.mark.parametrize("name, method", CONTINUOUS)
def test_derivatives(name, method):
    """To the argument, the shape, the location and the scale, to second order."""
    function = getattr(getattr(stats, name), method)
    shape, points = SMOOTH[name]
    with_shape = method in OF_DENSITY or name not in NO_SHAPE
    loc, scale = 0.3, np.array(1.7)
    x = np.asarray(points) * scale + loc
    if method in ("ppf", "isf"):
        x = np.array([0.1, 0.3, 0.8])
    f, args = of_arguments(function, shape, with_shape, x, (loc, scale))
    check_grads(f, args, 2, MODES, rtol=1e-5, atol=1e-6)
    if shape and not with_shape:
        f, args = of_arguments(function, shape, True, x, (loc, scale))
        gradient = srcjax.grad(lambda a: np.sum(f(x, a, *shape[1:], loc, scale)))
        with pytest.raises(NotImplementedError, match="not known"):
            gradient(shape[0])


@pytest.mark.parametrize("name, method", COUNTING)
def test_derivatives_of_counts(name, method):
    function = getattr(getattr(stats, name), method)
    shape, points = SMOOTH[name]
    f, args = of_shape(function, np.array(points), shape)
    check_grads(f, args, 2, MODES, rtol=1e-5, atol=1e-6)


#: Those that others are made of: JAX is slow to start. Its gumbel.ppf does not run.
AS_JAX = {"logpdf", "logpmf", "cdf", "logcdf", "ppf"}
COMPARED = [
    (name, method)
    for name, method in functions()
    if method in AS_JAX and (method != "ppf" or name in ("norm", "cauchy", "logistic"))
]


@pytest.mark.parametrize("name, method", COMPARED)
def test_as_jax(name, method):
    """The same gradient as JAX has, to the argument and the shape.

    Not all of JAX's functions have a location and a scale; its tails are less precise.
    """
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    theirs = getattr(getattr(jax.scipy.stats, name, None), method, None)
    if theirs is None:
        pytest.skip("not in JAX")
    function = getattr(getattr(stats, name), method)
    shape, points = SMOOTH[name]
    if name in DISCRETE:
        f, args = of_shape(function, np.array(points), shape)
        g, _ = of_shape(theirs, np.array(points), shape)
    else:
        x = np.array([0.1, 0.3, 0.8]) if method == "ppf" else np.asarray(points)
        with_shape = method in OF_DENSITY or name not in NO_SHAPE
        f, args = standard(function, shape, with_shape, x)
        g, _ = standard(theirs, shape, with_shape, x)
    args = tuple(np.asarray(a, float) for a in args)
    value, pullback = srcjax.vjp(f, *args)
    expected, their_pullback = jax.vjp(g, *args)
    np.testing.assert_allclose(value, expected, rtol=1e-6, atol=1e-10)
    seed = np.linspace(0.5, 1.5, np.size(value)).reshape(np.shape(value))
    for ours, other in zip(pullback(seed), their_pullback(seed), strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-6, atol=1e-10)
