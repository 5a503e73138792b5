"""Rules of linear algebra: against differences, under types that tell less."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax.ops.record import lookup
from srcjax.runtime import linalg
from srcjax.testing import check_grads

from .helpers import assert_close, check_adjoint, check_infer, cotangent, run_adjoint
from .test_products import array, text

#: One test in so many runs, unless SRCJAX_TESTS=all; `sweep_sampled` has all.
SAMPLE = {"test_solve_triangular": 6}
LOOSE = {"rtol": 1e-5, "atol": 1e-6}


def square(n: int, *batch: int) -> Any:
    """A well-conditioned matrix (or a stack of them)."""
    return array(*batch, n, n) + 3 * np.eye(n)


def positive(n: int, *batch: int) -> Any:
    """A positive definite matrix (or a stack of them)."""
    a = array(*batch, n, n)
    return a @ np.swapaxes(a, -1, -2) + 2 * np.eye(n)


def check_triangle(
    function: Any, a: Any, *args: Any, part: Any = None, **kwargs: Any
) -> None:
    """Check the adjoint of a matrix that is read in one triangle, along any change.

    The matrix is made unsymmetric. `part` picks one of several results: entries of the
    cotangent that are left out are None, as the reverse pass hands them.
    """
    a = a + 0.2 * array(*a.shape)
    check_infer(function, a, *args, **kwargs)
    op = lookup(function)
    assert op is not None

    def at(matrix: Any) -> Any:
        return function(matrix, *args, **kwargs)

    result = at(a)
    seed = cotangent(result)
    if part is not None:
        seed = tuple(s if i in part else None for i, s in enumerate(seed))
    bound = op.bind([a, *args], kwargs)
    found = run_adjoint(op, bound, result, seed, ("a",))["a"]
    assert found.shape == a.shape
    assert not (np.triu(found, 1).any() and np.tril(found, -1).any())
    assert_along(at, a, seed, found)


def assert_along(function: Any, a: Any, seed: Any, found: Any) -> None:
    """The adjoint predicts the differences along random directions."""
    rng = np.random.default_rng(11)
    for _ in range(4):
        step = rng.normal(size=a.shape)
        h = 1e-4
        plus, minus = function(a + h * step), function(a - h * step)
        far, back = function(a + 2 * h * step), function(a - 2 * h * step)
        near = total(seed, plus) - total(seed, minus)
        expected = (8 * near - total(seed, far) + total(seed, back)) / (12 * h)
        assert_close(np.sum(found * step), expected, "along", rtol=1e-5, atol=1e-6)


def total(seed: Any, value: Any) -> float:
    if isinstance(value, tuple):
        return sum(total(s, v) for s, v in zip(seed, value, strict=True))
    return 0.0 if seed is None else float(np.sum(seed * value))


BATCHES = [(), (2,), (2, 1)]

# -- numpy.linalg -------------------------------------------------------------------


@pytest.mark.parametrize("batch", BATCHES)
def test_inv_det_slogdet(batch):
    for n in (1, 3):
        check_adjoint(np.linalg.inv, square(n, *batch), **LOOSE)
        check_adjoint(np.linalg.det, square(n, *batch), rtol=1e-5, atol=1e-4)
        a = square(n, *batch)
        y = np.linalg.slogdet(a)
        check_infer(np.linalg.slogdet, a)
        op = lookup(np.linalg.slogdet)
        seed = None, cotangent(y[1])
        found = run_adjoint(op, {"a": a}, y, seed, ("a",))["a"]
        assert_along(np.linalg.slogdet, a, seed, found)


@pytest.mark.parametrize(
    ("m", "n"),
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 2)),
        ((2, 3, 3), (3,)),
        ((2, 3, 3), (3, 2)),
        ((2, 3, 3), (2, 3, 2)),
        ((1, 3, 3), (2, 3, 1)),
        ((3, 3), (2, 3, 2)),
    ],
)
def test_solve(m, n):
    check_adjoint(np.linalg.solve, square(3, *m[:-2]), array(*n), **LOOSE)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("batch", BATCHES)
def test_cholesky(batch, upper):
    check_triangle(np.linalg.cholesky, positive(3, *batch), upper=upper)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3)])
def test_pinv(shape):
    check_adjoint(np.linalg.pinv, array(*shape), rtol=1e-4, atol=1e-4, float32=False)


@pytest.mark.parametrize("part", [(0,), (0, 1)])
@pytest.mark.parametrize("batch", BATCHES)
def test_eigh(batch, part):
    a = positive(3, *batch)
    check_triangle(np.linalg.eigh, a, part=part)
    check_triangle(np.linalg.eigvalsh, a)
    check_triangle(np.linalg.eigvalsh, a, "U")


@pytest.mark.parametrize("part", [(1,), (0,), (2,), (0, 1, 2)])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3)])
def test_svd(shape, part):
    a = array(*shape)
    op = lookup(np.linalg.svd)

    def svd(a):
        return np.linalg.svd(a, full_matrices=False)

    y = svd(a)
    seed = tuple(s if i in part else None for i, s in enumerate(cotangent(y)))
    found = run_adjoint(op, {"a": a, "full_matrices": False}, y, seed, ("a",))["a"]
    assert_along(svd, a, seed, found)
    for full in (True, False):
        check_infer(np.linalg.svd, a, full_matrices=full)


def test_singular_values():
    for shape in [(3, 3), (4, 2), (2, 3, 4)]:
        check_adjoint(np.linalg.svdvals, array(*shape), **LOOSE)
        check_adjoint(np.linalg.svd, array(*shape), compute_uv=False, **LOOSE)
    a = array(4, 2)
    with pytest.raises(NotImplementedError, match="full_matrices"):
        y = np.linalg.svd(a)
        linalg.unsvd(cotangent(y), y, a)


@pytest.mark.parametrize("part", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 4, 3), (2, 2, 3)])
def test_qr(shape, part):
    a = array(*shape)
    y = np.linalg.qr(a)
    op = lookup(np.linalg.qr)
    seed = tuple(s if i in part else None for i, s in enumerate(cotangent(y)))
    found = run_adjoint(op, {"a": a}, y, seed, ("a",))["a"]
    assert_along(np.linalg.qr, a, seed, found)
    for mode in ("reduced", "complete"):
        check_infer(np.linalg.qr, a, mode)
    with pytest.raises(NotImplementedError, match="mode 'r'"):
        linalg.unqr(None, None, a, "r")


@pytest.mark.parametrize("n", [(5,), (5, 2)])
@pytest.mark.parametrize("part", [(0,), (1,), (0, 1)])
def test_lstsq(n, part):
    a, b = array(5, 3), array(*n)
    y = np.linalg.lstsq(a, b)
    check_infer(np.linalg.lstsq, a, b)
    op = lookup(np.linalg.lstsq)
    seed = tuple(cotangent(v) if i in part else None for i, v in enumerate(y))
    found = run_adjoint(op, {"a": a, "b": b}, y, seed, ("a", "b"))
    assert found["b"].shape == b.shape
    assert_along(lambda a: np.linalg.lstsq(a, b), a, seed, found["a"])
    assert_along(lambda b: np.linalg.lstsq(a, b), b, seed, found["b"])


def test_textbook_text():
    a = square(3)
    assert text(np.linalg.inv, a, names="A") == {"a": "-y.T @ dy @ y.T"}


def solved(A, b):
    x = np.linalg.solve(A, b)
    return np.sum(x**2)


def log_volume(A):
    L = np.linalg.cholesky(A)
    return np.sum(np.log(np.diag(L)))


def orthogonality(A, B):
    Q, R = np.linalg.qr(A)
    return np.sum(Q * B)


TEXTS = [
    (
        solved,
        (square(3), array(3)),
        """
        dx = 2 * x
        db = np.linalg.solve(A.T, dx)
        dA = -np.outer(db, x)
        return dA, db
        """,
    ),
    (
        solved,
        (square(3), array(3, 2)),
        """
        dx = 2 * x
        db = np.linalg.solve(A.T, dx)
        dA = -db @ x.T
        return dA, db
        """,
    ),
    (
        log_volume,
        (square(3) @ square(3).T,),
        """
        dL = np.diag(1 / np.diag(L))
        lower = np.tril(L.T @ dL)
        whole = 0.5 * np.linalg.solve(
            L.T, np.linalg.solve(L.T, lower + np.tril(lower, -1).T).T
        )
        dA = np.tril(whole) + np.tril(whole, -1)
        return (dA,)
        """,
    ),
    (
        orthogonality,
        (array(4, 3), array(4, 3)),
        """
        inner = -(B.T @ Q)
        dA = np.linalg.solve(R, (B + Q @ (np.tril(inner) + np.tril(inner, -1).T)).T).T
        return dA, Q
        """,
    ),
]


@pytest.mark.parametrize(("function", "args", "expected"), TEXTS)
def test_plain_text_of_gradients(function, args, expected):
    gradient = srcjax.grad(function, argnums=tuple(range(len(args))))
    lines = str(srcjax.source(gradient, *args)).splitlines()
    code = [line for line in lines if not line.lstrip().startswith("#")]
    wanted = textwrap.indent(textwrap.dedent(expected).strip(), "    ")
    assert "\n".join(code).endswith(wanted)
    assert "runtime" not in "\n".join(code)


def sides(A):
    Q, R = np.linalg.qr(A)
    if A.shape[0] >= A.shape[1]:
        return np.sum(Q**3) + np.sum(R**2)
    return np.sum(Q**3) - np.sum(R**2)


@pytest.mark.parametrize("mode", ["rev", "fwd"])
def test_tall_and_wide_matrices_have_versions_of_their_own(mode):
    derivative = srcjax.jacrev(sides) if mode == "rev" else srcjax.jacfwd(sides)
    for shape in [(4, 3), (3, 4), (3, 3), (5, 2), (2, 5), (3, 1), (1, 3)] * 2:
        A = array(*shape)
        d = derivative(A)
        step = array(*shape) * 1e-6
        wanted = sides(A + step) - sides(A - step)
        np.testing.assert_allclose(np.sum(d * 2 * step), wanted, rtol=1e-4)


def test_the_text_for_a_tall_matrix_refuses_a_wide_one():
    gradient = srcjax.grad(orthogonality)
    text = str(srcjax.source(gradient, array(4, 3), array(4, 3)))
    assert "n >= m" in text
    scope = {}
    exec(text, scope)
    with pytest.raises(ValueError, match="n >= m"):
        scope["grad_orthogonality"](array(3, 4), array(3, 4))
    wide = str(srcjax.source(gradient, array(3, 4), array(3, 3)))
    assert "> n" in wide
    exec(wide, scope)
    with pytest.raises(ValueError, match="is for"):
        scope["grad_orthogonality"](array(3, 3), array(3, 3))


# -- scipy.linalg -------------------------------------------------------------------

scipy_linalg = pytest.importorskip("scipy.linalg")


def test_scipy_inv_det():
    check_adjoint(scipy_linalg.inv, square(3), **LOOSE)
    check_adjoint(scipy_linalg.det, square(3), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("n", [(3,), (3, 2)])
@pytest.mark.parametrize("transposed", [False, True])
def test_scipy_solve(n, transposed):
    how = {"transposed": transposed, **LOOSE}
    check_adjoint(scipy_linalg.solve, square(3), array(*n), **how)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [(3,), (3, 2)])
def test_scipy_solve_symmetric(n, lower):
    a, b = positive(3), array(*n)
    for kind in ("pos", "sym"):
        how = {"assume_a": kind, "lower": lower}
        check_triangle(scipy_linalg.solve, a, b, **how)
        check_adjoint(scipy_linalg.solve, a, b, wrt=("b",), **how, **LOOSE)


@pytest.mark.parametrize("lower", [False, True])
def test_scipy_cholesky(lower):
    check_triangle(scipy_linalg.cholesky, positive(3), lower=lower)
    a, b = positive(3), array(3, 2)
    factor = scipy_linalg.cho_factor(a, lower=lower)
    check_infer(scipy_linalg.cho_factor, a, lower=lower)
    y = scipy_linalg.cho_solve(factor, b)
    seed = cotangent(y)
    found = run_adjoint(
        lookup(scipy_linalg.cho_solve),
        {"c_and_lower": factor, "b": b},
        y,
        seed,
        ("c_and_lower", "b"),
    )
    inner = {"a": a, "lower": lower}
    seeds = found["c_and_lower"]
    da = run_adjoint(lookup(scipy_linalg.cho_factor), inner, factor, seeds, ("a",))["a"]
    expected = linalg.unsolve_left(seed, y, a, b)
    both = expected + expected.T - np.diag(np.diag(expected))
    np.testing.assert_allclose(da, np.tril(both) if lower else np.triu(both))
    np.testing.assert_allclose(found["b"], np.linalg.solve(a, seed))


@pytest.mark.parametrize("trans", [0, 1, "N", "T"])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit_diagonal", [False, True])
@pytest.mark.parametrize("n", [(3,), (3, 2)])
def test_solve_triangular(trans, lower, unit_diagonal, n):
    how = {"trans": trans, "lower": lower, "unit_diagonal": unit_diagonal}
    check_adjoint(scipy_linalg.solve_triangular, square(3), array(*n), **how, **LOOSE)


def test_expm():
    check_adjoint(scipy_linalg.expm, array(3, 3), **LOOSE)
    check_adjoint(scipy_linalg.expm, array(2, 2, 2), **LOOSE)


# -- JAX ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["inv", "det", "cholesky", "pinv"])
def test_as_jax(name):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    a = positive(3)
    function = getattr(np.linalg, name)
    y = function(a)
    seed = cotangent(y)
    found = run_adjoint(lookup(function), {"a": a}, y, seed, ("a",))["a"]
    if name == "cholesky":  # JAX reads both triangles
        found = (found + found.T) / 2
    _, pullback = jax.vjp(getattr(jax.numpy.linalg, name), a)
    np.testing.assert_allclose(found, pullback(jax.numpy.asarray(seed))[0], rtol=1e-8)


@pytest.mark.parametrize("name", ["eigh", "svd", "qr"])
def test_as_jax_of_factors(name):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    a = positive(3)
    function = getattr(np.linalg, name)
    y = function(a)
    seed = cotangent(y)
    found = run_adjoint(lookup(function), {"a": a}, y, seed, ("a",))["a"]
    if name == "eigh":  # JAX reads both triangles
        found = (found + found.T) / 2
    theirs, pullback = jax.vjp(getattr(jax.numpy.linalg, name), a)
    signs = [
        np.where(np.isclose(u, v), 1.0, -1.0) for u, v in zip(y, theirs, strict=True)
    ]
    leaves = [jax.numpy.asarray(s * m) for s, m in zip(seed, signs, strict=True)]
    (expected,) = pullback(type(theirs)(*leaves))
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def largest(a):
    w, v = np.linalg.eigh(a)
    return v[:, np.argmax(w)] ** 3


def largest_of_scipy(a):
    w, v = scipy_linalg.eigh(a)
    return v[:, np.argmax(w)] ** 3


def first_left(a):
    u, _, _ = np.linalg.svd(a, full_matrices=False)
    return u[:, 0] ** 3


def first_pair(a):
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.outer(u[:, 0], vh[0]) ** 3


@pytest.mark.parametrize("f", [largest, largest_of_scipy, first_left, first_pair])
def test_vectors_that_nothing_reads_may_have_equal_values(f):
    a = np.diag([1.0, 1.0, 3.0])
    da = np.array([[0.3, 0.2, -0.4], [0.2, 0.1, 0.7], [-0.4, 0.7, 1.0]])
    y, pullback = srcjax.vjp(f, a)
    d = np.cos(np.arange(y.size)).reshape(y.shape)
    expected = np.sum(d * (f(a + 1e-6 * da) - f(a - 1e-6 * da)) / 2e-6)
    with np.errstate(invalid="ignore"):  # the others have no derivative
        _, change = srcjax.jvp(f, (a,), (da,))
    np.testing.assert_allclose(np.sum(d * change), expected, atol=1e-8)
    np.testing.assert_allclose(np.sum(pullback(d)[0] * da), expected, atol=1e-8)


def logarithm(a):
    w, v = np.linalg.eigh(a)
    return ((v * np.log(w)) @ v.T)[0, 1]


def test_vectors_times_0_are_read():
    """The gradient is [[0, 1], [1, 0]], half and half: not to be found, and not 0."""
    with np.errstate(all="ignore"):
        assert not np.all(np.isfinite(srcjax.grad(logarithm)(np.eye(2))))


@pytest.mark.parametrize("shapes", [((0, 3), (0,)), ((0, 3), (0, 2)), ((3, 0), (3, 2))])
def test_lstsq_of_nothing(shapes):
    a, b = map(np.zeros, shapes)
    x, pullback = srcjax.vjp(lambda a, b: np.linalg.lstsq(a, b)[0], a, b)
    da, db = pullback(np.ones_like(x))
    assert x.shape == (shapes[0][1], *shapes[1][1:])
    np.testing.assert_array_equal(da, a)
    np.testing.assert_array_equal(db, b)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4)])
def test_the_triangular_factor_alone(shape):
    def factor(a):
        return np.linalg.qr(a, mode="r")

    a = np.random.default_rng(3).normal(size=shape)
    check_grads(factor, (a,))
