"""Every rule of the elementwise, reduction, special and constructor families."""

from __future__ import annotations

import inspect
import itertools
import math
import operator
import types

import numpy as np
import pytest

import srcjax.ops.arithmetic
import srcjax.ops.constructors
import srcjax.ops.reductions
import srcjax.ops.special  # noqa: F401
from srcjax.ops.record import TABLE, lookup

from .helpers import (
    call,
    check_adjoint,
    check_infer,
    cotangent,
    quietly,
    rules_missing,
    run_adjoint,
)
from .test_scipy_special import ROWS as SPECIAL_ROWS

SAMPLE = {"test_elementwise": 6, "test_reductions": 8}

special = pytest.importorskip("scipy.special")
rng = np.random.default_rng(0)


def draw(shape=(2, 3), low=0.2, high=0.9):
    """Distinct numbers, well apart, so that no kink is near."""
    size = int(np.prod(shape))
    step = (high - low) / max(size, 1)
    values = low + step * (rng.permutation(size) + rng.uniform(0.3, 0.7, size))
    return values.reshape(shape)


# -- the table ----------------------------------------------------------------------


def test_every_differentiable_operation_has_an_adjoint():
    for lazy in (np.fft.fft, srcjax.random.normal):  # records that are made when asked
        assert lookup(lazy) is not None
    assert rules_missing() == [
        # The sample spacing of these is an argument named `d`, as the rules' own table
        # is: they are refused where it is differentiated.
        "numpy.fft.fftfreq",
        "numpy.fft.rfftfreq",
        # Second derivatives of these draws are refused.
        "srcjax.random.gammas.gamma_derivative",
        "srcjax.random.gammas.loggamma_derivative",
        # Composites stand for these where they are differentiated.
        "srcjax.random.normals.multivariate_normal",
        "srcjax.random.orders.choice",
        "srcjax.random.orders.permutation",
    ]


def test_every_real_ufunc_of_numpy_has_a_record():
    left_out = {"isnat", "bitwise_count"}
    names = [n for n in dir(np) if isinstance(getattr(np, n), np.ufunc)]
    products = {"matmul", "vecdot", "matvec", "vecmat"}
    missing = [n for n in names if lookup(getattr(np, n)) is None]
    assert set(missing) <= left_out | products


def test_every_math_function_of_numbers_has_a_record():
    # These take sequences, or lists of numbers: Python code gives their derivative.
    left_out = {"dist", "fsum", "prod", "sumprod", "cmp", "fma"}
    names = [n for n in dir(math) if callable(getattr(math, n)) and n[0] != "_"]
    assert {n for n in names if lookup(getattr(math, n)) is None} <= left_out


def module_of(function):
    return getattr(function, "__module__", None) or ""


def elementwise_rows():
    """(function, number of arguments) of every differentiable row."""
    seen = {}
    for op in TABLE.values():
        if op.elementwise and not op.inert and op.tangent is not None:
            for function in op.functions:
                seen[id(function)] = (function, len(op.signature.parameters))
    skipped = {np.where, np.clip, np.ndarray.clip, np.nan_to_num, np.ldexp, math.ldexp}
    rows = [row for row in seen.values() if row[0] not in skipped]
    rows = [
        row for row in rows if row[0].__name__ not in (*SPECIAL_ROWS, "wofz", "zetac")
    ]
    return sorted(rows, key=lambda row: (module_of(row[0]), row[0].__name__))


#: Where a function of one argument is smooth, if not between 0.2 and 0.9.
DOMAIN = {
    "arccosh": (1.2, 2.0),
    "acosh": (1.2, 2.0),
    "gamma": (0.5, 3.0),
    "erfcinv": (0.3, 1.7),
}
#: The arguments that a row of several has its derivative to, if not to all.
WRT = {
    "copysign": ("a",),
    "heaviside": ("b",),
    "polygamma": ("b",),
    "gammainc": ("b",),
    "gammaincc": ("b",),
    "betainc": ("c",),
    **dict.fromkeys(["jv", "yv", "yn", "iv", "kv", "kn"], ("b",)),
}
#: SciPy's polygamma has no float32.
DOUBLE_ONLY = {"polygamma", "psi", "digamma"}
#: Jumps: kept away from by a large second argument.
JUMPS = {"mod", "remainder", "fmod"}
INTEGER_FIRST = {"polygamma", "yn", "kn"}


def is_of_numbers(function):
    """Whether it takes Python numbers only."""
    return function in (max, min) or module_of(function) == "math"


def is_of_arrays(function):
    """Whether it is a method that takes no number: `np.ndarray.conjugate`."""
    return isinstance(function, types.MethodDescriptorType)


@pytest.mark.parametrize(
    "function, arity", elementwise_rows(), ids=lambda v: getattr(v, "__name__", str(v))
)
def test_elementwise(function, arity):
    name = function.__name__
    low, high = DOMAIN.get(name, (0.2, 0.9))
    wrt = WRT.get(name)
    tolerance = {"rtol": 2e-6, "atol": 1e-7, "float32": name not in DOUBLE_ONLY}
    scalars = [float(v) for v in draw((arity,), low, high)]
    if name in INTEGER_FIRST:
        scalars[0] = 2
    shapes = [(2, 3), (3,), (2, 1), (), (1, 1, 3), (0, 3), (1,)]
    if is_of_arrays(function):
        shapes.remove(())  # there a number is drawn
    else:
        check_adjoint(function, *scalars, wrt=wrt, **tolerance)
        if is_of_numbers(function):
            return
        check_adjoint(function, *map(np.float64, scalars), wrt=wrt, **tolerance)
    if arity == 1:
        combinations = [(s,) for s in shapes]
    else:
        combinations = itertools.product(shapes, repeat=2)
    for combination in combinations:
        combination = (*combination, *[(2, 3)] * (arity - 2))[:arity]
        try:
            np.broadcast_shapes(*combination)
        except ValueError:
            continue
        args = [draw(s, low, high) for s in combination]
        args = [a + 0.013 * i for i, a in enumerate(args)]
        if name in JUMPS:
            args[1] = args[1] + 3
        if name in INTEGER_FIRST:
            args[0] = np.full(combination[0], 2)
        check_adjoint(function, *args, wrt=wrt, **tolerance)
    if arity == 2 and name not in INTEGER_FIRST | JUMPS:  # Python numbers on one side
        check_adjoint(function, draw((3,), low, high), 0.511, wrt=wrt, **tolerance)
        check_adjoint(function, 0.511, draw((3,), low, high), wrt=wrt, **tolerance)


NEGATIVE = [
    np.sin, np.cos, np.tan, np.arctan, np.sinh, np.cosh, np.tanh, np.arcsinh, np.exp,
    np.expm1, np.exp2, np.absolute, np.fabs, np.square, np.reciprocal, np.cbrt, np.sinc,
    np.arcsin, np.arccos, np.arctanh, np.log1p,
]  # fmt: skip


@pytest.mark.parametrize("function", NEGATIVE, ids=lambda f: f.__name__)
def test_elementwise_at_negative_numbers(function):
    check_adjoint(function, -draw())


@pytest.mark.parametrize(
    "function",
    [np.arctan2, np.hypot, np.copysign, np.maximum, np.minimum, np.logaddexp, np.fmax],
    ids=lambda f: f.__name__,
)
def test_pairs_of_either_sign(function):
    wrt = ("a",) if function is np.copysign else None
    for s, t in itertools.product((1, -1), repeat=2):
        check_adjoint(function, s * draw(), t * draw() * 1.1, wrt=wrt)


@pytest.mark.parametrize(
    "function", [np.mod, np.fmod, operator.mod], ids=lambda f: f.__name__
)
def test_remainders_of_either_sign(function):
    for s, t in itertools.product((1, -1), repeat=2):
        check_adjoint(function, s * np.array([5.3, 7.9]), t * np.array([2.0, 1.1]))


def test_two_results():
    check_adjoint(np.divmod, np.array([5.3, -7.9]), np.array([2.0, 1.1]))
    check_adjoint(divmod, 5.3, 2.0)
    check_adjoint(np.modf, np.array([5.3, -7.9]))
    check_adjoint(math.modf, 5.3)


def test_where():
    mask = np.array([True, False, True])
    check_adjoint(np.where, mask, draw((3,)), draw((2, 3)))
    check_adjoint(np.where, mask, draw((2, 1)), 0.5)
    check_adjoint(np.where, True, 0.25, draw((3,)))
    check_infer(np.where, np.array([[0.0, 1.0]]))
    op = lookup(np.where)
    found = run_adjoint(
        op,
        {"a": mask, "b": draw((3,)), "c": draw((3,))},
        draw((3,)),
        np.array([1.0, np.nan, np.inf]),
        ("b", "c"),
    )
    np.testing.assert_array_equal(found["b"], [1.0, 0.0, np.inf])
    np.testing.assert_array_equal(found["c"], [0.0, np.nan, 0.0])


def test_ldexp_nan_to_num_float_real():
    check_adjoint(np.ldexp, draw((3,)), np.array([1, 2, -3]))
    check_adjoint(math.ldexp, 0.3, 3)
    check_adjoint(np.nan_to_num, np.array([1.0, 2.0]), nan=3.0)
    check_adjoint(np.nan_to_num, np.array([np.nan, np.inf]), numeric=False)
    check_adjoint(float, np.float64(2.5))
    check_adjoint(float, np.array(2.5))
    check_adjoint(np.real, draw())
    check_adjoint(np.conjugate, draw())


@pytest.mark.parametrize("clip", [np.clip, np.ndarray.clip])
def test_clip(clip):
    x = np.linspace(-1, 1, 8).reshape(2, 4)
    first, second = ("a_min", "a_max") if clip is np.clip else ("min", "max")
    for lo, hi in itertools.product((None, -0.5, np.full(4, -0.5)), (None, 0.6)):
        if lo is None and hi is None and clip is np.ndarray.clip:
            continue
        check_adjoint(clip, x, **{first: lo, second: hi})
    check_adjoint(clip, x, np.full((2, 1), 0.5), -0.6)  # the upper bound wins


# -- powers -------------------------------------------------------------------------


def adjoint_of(function, *args, wrt, seed=None, **kwargs):
    op = lookup(function)
    bound = op.bind(list(args), kwargs)
    result = quietly(call, function, op, bound)
    seed = np.ones_like(result) if seed is None else seed
    return quietly(run_adjoint, op, bound, result, seed, (wrt,))[wrt]


def test_powers_at_awkward_places():
    x = np.array([-2.0, 0.0, 3.0])
    for n in (0, 1, 2, 3):
        check_adjoint(operator.pow, x, n, atol=1e-6)
        check_adjoint(np.power, x, float(n), wrt=("a",), atol=1e-6)
        check_adjoint(operator.pow, x, np.full(3, float(n)), wrt=("a",), atol=1e-6)
    check_adjoint(operator.pow, np.array([-2.0, 3.0]), -2)
    assert adjoint_of(operator.pow, 0.0, 0, wrt="a") == 0
    np.testing.assert_array_equal(
        adjoint_of(np.power, np.zeros(3), np.array([0.5, 2.0, 0.0]), wrt="b"), 0
    )
    assert np.isnan(adjoint_of(np.power, -2.0, 2.0, wrt="b"))


def test_a_python_number_as_base_keeps_float32():
    b = np.array([1.0, 2.0], np.float32)
    assert adjoint_of(operator.pow, 2.0, b, wrt="b").dtype == np.float32


# -- conventions --------------------------------------------------------------------


@pytest.fixture(scope="module")
def jax():
    return pytest.importorskip("jax")


TIES = [
    (np.maximum, [np.array([1.0, 0.0, -1.0]), np.zeros(3)], {}),
    (np.minimum, [np.array([1.0, 0.0, -1.0]), np.zeros(3)], {}),
    (np.clip, [np.array([-1.0, -0.5, 0.0, 0.5, 1.0]), -0.5, 0.5], {}),
    (np.max, [np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]])], {"axis": 1}),
    (np.max, [np.array([[1.0, 3.0, 2.0], [3.0, 3.0, 3.0]])], {}),
    (np.min, [np.array([[1.0, 1.0, 2.0], [1.0, 3.0, 3.0]])], {"axis": 0}),
    (np.prod, [np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 3.0]])], {"axis": 1}),
    (np.cumprod, [np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 3.0]])], {"axis": 1}),
    (np.sinc, [np.array([0.0, 1.0])], {}),
]


@pytest.mark.parametrize("function, args, kwargs", TIES)
def test_ties_and_kinks_as_in_jax(jax, function, args, kwargs):
    jax.config.update("jax_enable_x64", True)
    twin = getattr(jax.numpy, function.__name__)
    y, pullback = jax.vjp(lambda x: twin(x, *args[1:], **kwargs), args[0])
    seed = cotangent(np.asarray(y))
    name = lookup(function).differentiable[0]
    found = check_adjoint(function, *args, wrt=(name,), numeric=False, **kwargs)
    np.testing.assert_allclose(found[name], pullback(seed)[0], rtol=1e-6, atol=1e-12)


def test_norm_of_zeros_has_derivative_zero():
    for ord in (None, 1, 2, 3, 1.5):
        found = adjoint_of(np.linalg.norm, np.zeros(3), ord=ord, wrt="x")
        np.testing.assert_array_equal(found, np.zeros(3))
    assert adjoint_of(np.hypot, 0.0, 0.0, wrt="a") == 0


# -- reductions ---------------------------------------------------------------------

AXES = [None, 0, 1, -1, (0, 1), (1,), (-1, 0), (0, 2), (2, 1, 0)]
REDUCTIONS = [
    np.sum, np.mean, np.prod, np.max, np.min, np.var, np.std, np.ptp, np.nansum,
    np.nanmean, np.nanmax, np.nanmin, np.linalg.norm, special.logsumexp,
]  # fmt: skip
SHAPES = [(2, 3, 2), (1, 3, 2), (2, 3), (2, 1), (4,), (1,)]


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(function, keepdims):
    for shape, axis in itertools.product(SHAPES, AXES):
        axes = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
        if any(not -len(shape) <= a < len(shape) for a in axes):
            continue
        if len({a % len(shape) for a in axes}) < len(axes):
            continue
        if function is np.linalg.norm and len(axes) > 2:
            continue
        x = draw(shape)
        if function is np.std and np.ptp(x, axis=axis).min() == 0:
            continue  # no derivative there
        if function is np.linalg.norm and axes == (1,):
            axis = 1  # it takes one axis as an int
        check_adjoint(function, x, axis=axis, keepdims=keepdims, rtol=1e-5)


@pytest.mark.parametrize("function", REDUCTIONS[:-2], ids=lambda f: f.__name__)
def test_reductions_of_numbers(function):
    if function is not np.std:
        check_adjoint(function, np.float64(0.7))
        check_adjoint(function, np.array(0.7))
        check_infer(function, 0.7)


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
def test_reductions_of_nothing(function):
    check_adjoint(function, np.ones((0, 3)), axis=1)
    if function in (np.sum, np.prod, np.nansum, np.linalg.norm):
        check_adjoint(function, np.ones((0, 3)))


@pytest.mark.parametrize("function", [np.mean, np.var, np.std])
def test_means_of_nothing(function):
    found = adjoint_of(function, np.ones((0, 3)), wrt="a")
    assert found.shape == (0, 3)


@pytest.mark.parametrize("function", [np.var, np.std])
def test_ddof(function):
    for axis, ddof in itertools.product((None, 0, -1), (0, 1, 0.5)):
        check_adjoint(function, draw(), axis=axis, ddof=ddof)


def test_dtype_of_sums():
    x = draw().astype(np.float32)
    for function in (np.sum, np.mean):
        check_infer(function, x, dtype=np.float64)
        found = adjoint_of(function, x, dtype=np.float64, wrt="a")
        assert found.dtype == np.float32
    check_infer(np.sum, np.arange(3, dtype=np.int8))
    check_infer(np.sum, np.array([True]))
    check_infer(np.mean, np.arange(3))


def test_average():
    x = draw((2, 3))
    w = draw((2, 3), 0.5, 1.5)
    for axis, keepdims in itertools.product((None, 0, -1, (0, 1)), (False, True)):
        check_adjoint(np.average, x, axis=axis, keepdims=keepdims)
        check_adjoint(np.average, x, axis=axis, weights=w, keepdims=keepdims)
    check_adjoint(np.average, x, axis=1, weights=w[0])
    check_adjoint(np.average, draw((4,)), weights=draw((4,)))
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        check_adjoint(np.average, draw((2, 3, 2)), axis=(2, 1), weights=draw((2, 3)))


@pytest.mark.parametrize("function", [np.prod, np.cumprod])
def test_products_with_zeros(function):
    for x in (
        np.array([2.0, 0.0, 3.0]),
        np.array([0.0, 0.0, 3.0]),
        np.array([[0.0, 2.0, 4.0], [1.0, 0.0, 0.0]]),
    ):
        for axis in range(-1, x.ndim):
            check_adjoint(function, x, axis=axis, atol=1e-6)
        check_adjoint(function, x, atol=1e-6)


@pytest.mark.parametrize("function", [np.cumsum, np.cumprod])
def test_scans(function):
    for shape in ((4,), (2, 3), (2, 3, 2), (1,), (0, 2), (2, 1)):
        for axis in (None, *range(-len(shape), len(shape))):
            check_adjoint(function, draw(shape), axis=axis)
    check_adjoint(function, np.array(0.7))
    check_adjoint(function, np.float64(0.7))


def test_norms_of_vectors():
    x = draw((2, 3)) * np.array([1, -1, 1])
    for ord in (None, 1, 2, 3, 2.5, 0.5, np.inf, -np.inf, 0, -1):
        for axis, keepdims in itertools.product((0, 1, -1), (False, True)):
            check_adjoint(
                np.linalg.norm, x, ord=ord, axis=axis, keepdims=keepdims, rtol=1e-5
            )
        check_adjoint(np.linalg.norm, x[0], ord=ord, rtol=1e-5)


def test_norms_of_matrices():
    x = draw((2, 3)) * np.array([1, -1, 1])
    for ord in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        check_adjoint(np.linalg.norm, x, ord=ord, rtol=1e-5)
        check_adjoint(np.linalg.norm, x.T, ord=ord, keepdims=True, rtol=1e-5)
        stack = draw((2, 3, 2)) * np.array([1, -1])
        for axis in ((0, 1), (2, 0), (-1, -2)):
            check_adjoint(np.linalg.norm, stack, ord=ord, axis=axis, rtol=1e-5)


def test_nans_are_left_out():
    x = np.array([[1.0, np.nan, 2.0], [np.nan, 5.0, 3.0]])
    for function in (np.nansum, np.nanmean, np.nanmax, np.nanmin):
        for axis in (None, 0, 1):
            found = adjoint_of(function, x, axis=axis, wrt="a")
            assert np.all(found[np.isnan(x)] == 0)
            assert np.isfinite(found).all()


@pytest.mark.parametrize(
    "function", [np.argmax, np.argmin, np.all, np.any, np.count_nonzero]
)
def test_types_of_reductions_without_derivative(function):
    assert lookup(function).inert
    for axis, keepdims in itertools.product((None, 0, -1), (False, True)):
        check_infer(function, draw(), axis=axis, keepdims=keepdims)


# -- scipy.special ------------------------------------------------------------------


def test_softmax():
    for function in (special.softmax, special.log_softmax):
        for axis in (None, 0, -1, (0, 1)):
            check_adjoint(function, draw(), axis=axis)


def test_weighted_logsumexp():
    for axis, keepdims in itertools.product((None, 0, 1), (False, True)):
        check_adjoint(special.logsumexp, draw(), axis=axis, b=draw(), keepdims=keepdims)
    check_adjoint(special.logsumexp, draw(), b=draw((3,)), axis=1)


def test_xlogy_at_zero():
    found = adjoint_of(special.xlogy, np.zeros(2), np.array([0.0, 2.0]), wrt="b")
    np.testing.assert_array_equal(found, 0)


def test_an_unknown_derivative_raises():
    with pytest.raises(NotImplementedError, match="stop_gradient"):
        adjoint_of(special.jv, 1.5, 2.0, wrt="a")


# -- constructors -------------------------------------------------------------------


def test_constructors():
    for function in (np.zeros, np.ones, np.empty):
        check_infer(function, 3)
        check_infer(function, (2, 3), dtype=np.float32)
        assert lookup(function).inert
        twin = getattr(np, function.__name__ + "_like")
        check_infer(twin, draw())
        check_infer(twin, 3.0)
        check_infer(twin, draw(), dtype=int, shape=(4,))
    check_infer(np.eye, 3)
    check_infer(np.eye, 2, 3, dtype=np.float32)
    check_infer(np.identity, 3)
    for args in ((3,), (1, 7), (1, 7, 2), (7, 1, -2), (0.0, 1.0, 0.3), (2.5,)):
        check_infer(np.arange, *args)


def test_full_and_linspace():
    check_adjoint(np.full, (2, 3), 1.5)
    check_adjoint(np.full, 3, np.float64(1.5))
    check_adjoint(np.full, (2, 3), draw((3,)))
    check_adjoint(np.full_like, draw(), 1.5)
    check_adjoint(np.linspace, 0.5, 2.0, 5)
    check_adjoint(np.linspace, 0.5, 2.0, num=5, endpoint=False)
    check_adjoint(np.linspace, 0.5, 2.0, num=1)
    check_adjoint(np.linspace, draw((3,)), 2.0, 4)
    check_adjoint(np.linspace, draw((3,)), draw((2, 1)), 4, axis=1)
    check_adjoint(np.arange, 0.5, 3.1, 0.6, wrt=("start", "step"))


def test_copies_and_conversions():
    x = draw()
    for function in (np.copy, np.ndarray.copy, np.array, np.asarray):
        check_adjoint(function, x)
        check_adjoint(function, np.array(0.5), numeric=False)
    check_adjoint(np.ascontiguousarray, x)
    check_adjoint(np.require, x, np.float64, ["C", "W"])
    check_adjoint(np.ascontiguousarray, np.float64(0.5))
    check_infer(np.array, [1.0, 2.0])
    check_infer(np.array, [[1, 2], [3, 4]])
    check_infer(np.array, [draw((3,)), draw((3,))])
    check_infer(np.array, 2.0)
    check_infer(np.asarray, [1.0, 2], dtype=np.float32)
    check_adjoint(np.float64, 0.5)
    check_adjoint(np.float64, x)
    for function, args in (
        (np.ndarray.astype, (x, np.float32)),
        (np.float32, (x,)),
        (np.float32, (np.float64(0.5),)),
    ):
        check_infer(function, *args)
        found = adjoint_of(function, *args, wrt="x")
        assert found.dtype == np.float64


def test_questions_about_arrays():
    for function in (np.shape, np.size, np.ndim, len):
        check_infer(function, draw())
        check_infer(function, [1.0, 2.0])
    check_infer(np.shape, 2.0)
    check_infer(np.size, draw(), 1)


# -- no rule that only looks right --------------------------------------------------


def test_inert_elementwise_types():
    for function in (np.sign, np.floor, np.isnan, np.logical_not, np.rint, np.signbit):
        assert lookup(function).inert
        check_infer(function, draw())
        check_infer(function, np.float64(0.5))
    for function in (np.less, operator.lt, operator.eq, np.floor_divide):
        assert lookup(function).inert
        check_infer(function, draw(), 0.5)
        check_infer(function, draw(), draw((3,)))
    check_infer(np.round, draw())
    check_infer(np.round, np.float64(0.5), 1)


def test_signatures_accept_what_the_functions_accept():
    """Every parameter of a signature is one that the function has."""
    for op in {id(op): op for op in TABLE.values()}.values():
        for function in op.functions:
            try:
                real = inspect.signature(function).parameters
            except (TypeError, ValueError):
                continue
            if isinstance(function, np.ufunc) or op.elementwise:
                continue
            if any(p.kind is p.VAR_KEYWORD for p in real.values()):
                continue
            for name, parameter in op.signature.parameters.items():
                if parameter.kind is parameter.KEYWORD_ONLY:
                    assert name in real, f"{op.name}: {name}"


def clamped_root(x):
    t = 1.0 - x if x < 1.0 else 0.0
    return 2 * x + t**0.35


def items_with_new_axes(a):
    first, second = np.array([a[0] * a[1], a[1]])
    return np.sum(np.concatenate([v[..., np.newaxis] for v in (first, second)]) ** 2)


def test_a_fractional_power_of_the_number_zero():
    with np.errstate(divide="ignore"):
        assert srcjax.grad(clamped_root)(1.5) == 2.0
        assert srcjax.grad(lambda x: x**0.25)(0.0) == np.inf
    np.testing.assert_allclose(srcjax.grad(clamped_root)(0.5), 2 - 0.35 * 0.5**-0.65)


def test_new_axes_of_numbers():
    a = np.array([0.5, 2.0])
    expected = [2 * a[0] * a[1] ** 2, 2 * a[0] ** 2 * a[1] + 2 * a[1]]
    np.testing.assert_allclose(srcjax.grad(items_with_new_axes)(a), expected)
