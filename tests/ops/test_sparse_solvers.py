"""Systems that are solved step by step: the derivatives are those of the equation."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import srcjax
from srcjax.scipy.sparse import linalg
from srcjax.versions.trials import at_once

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 8

A = np.array([[4.0, 1.0, 0.5, 0.2], [0.3, 5, 1, 0], [0, 2, 6, 1], [1, 0, 0.5, 3]])
B = np.array([1.0, -2.0, 0.5, 3.0])
MANY = np.stack([B, 2 * B, B[::-1]])
SOLVERS = {
    "cg": (scipy.sparse.linalg.cg, A + A.T),
    "gmres": (scipy.sparse.linalg.gmres, A),
    "bicgstab": (scipy.sparse.linalg.bicgstab, A),
}
KINDS = {
    "dense": np.array,
    "sparse": scipy.sparse.csr_matrix,
    "array": scipy.sparse.csr_array,
    "operator": lambda a: scipy.sparse.linalg.LinearOperator(
        a.shape, matvec=lambda v: a @ v, rmatvec=lambda v: a.T @ v, dtype=float
    ),
}


def preconditioner(a):
    return np.diag(1 / np.diag(a))


def check(ours, theirs, *args, n=0):
    """Values, both modes and second order."""
    close = {"rtol": 1e-6, "atol": 1e-9}
    np.testing.assert_allclose(ours(*args), theirs(*args), **close)
    wanted = srcjax.grad(theirs, n)(*args)
    np.testing.assert_allclose(srcjax.grad(ours, n)(*args), wanted, **close)
    hessians = [srcjax.hessian(f, n)(*args) for f in (ours, theirs)]
    np.testing.assert_allclose(*hessians, **close)
    dots = tuple(np.cos(a) for a in args)
    tangents = [srcjax.jvp(f, args, dots)[1] for f in (ours, theirs)]
    np.testing.assert_allclose(*tangents, **close)


def check_batches(ours, theirs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        for wrap in (srcjax.vmap, lambda f: srcjax.vmap(srcjax.grad(f))):
            found, wanted = wrap(ours)(MANY), wrap(theirs)(MANY)
            np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SOLVERS)
def test_right_hand_sides(name, kind):
    solver, a = SOLVERS[name]
    matrix = KINDS[kind](a)

    def ours(b):
        return np.sum(solver(matrix, b, rtol=1e-13)[0] ** 3)

    def theirs(b):
        return np.sum(np.linalg.solve(a, b) ** 3)

    check(ours, theirs, B)
    check_batches(ours, theirs)
    if kind == "dense":
        with at_once():
            found = srcjax.jit(srcjax.grad(ours))(B)
        np.testing.assert_allclose(found, srcjax.grad(theirs)(B), rtol=1e-6)


@pytest.mark.parametrize("helped", [False, True])
@pytest.mark.parametrize("name", SOLVERS)
def test_matrices(name, helped):
    solver, a = SOLVERS[name]
    given = {"M": preconditioner(a), "x0": B} if helped else {}

    def ours(t, b):
        system = a + t * np.eye(4)
        x, info = solver(system, b, rtol=1e-13, **given)
        return np.sum(x**3) + info

    def theirs(t, b):
        return np.sum(np.linalg.solve(a + t * np.eye(4), b) ** 3)

    check(ours, theirs, 0.3, B)
    check(ours, theirs, 0.3, B, n=1)
    text = srcjax.source(srcjax.grad(ours, 1), 0.3, B)
    assert f"{name}(" in text
    if not helped:  # what the user did not say is not said
        assert "maxiter" not in text
        assert "M=" not in text


@pytest.mark.parametrize("name", SOLVERS)
def test_functions_and_trees(name):
    """Those of srcjax take functions, as JAX's do."""
    solver, (_, a) = getattr(linalg, name), SOLVERS[name]

    def of_function(t, b):
        system = a + t * np.eye(4)
        return np.sum(solver(lambda x: system @ x, b, tol=1e-13)[0] ** 3)

    def of_trees(t, b):
        system = a + t * np.eye(4)

        def product(p):
            x = system @ np.concatenate([p["u"], p["v"]])
            return {"u": x[:2], "v": x[2:]}

        x = solver(product, {"u": b[:2], "v": b[2:]}, tol=1e-13)[0]
        return np.sum(x["u"] ** 3) + np.sum(x["v"] ** 3)

    def of_matrix(t, b):
        return np.sum(solver(a + t * np.eye(4), b, tol=1e-13)[0] ** 3)

    def theirs(t, b):
        return np.sum(np.linalg.solve(a + t * np.eye(4), b) ** 3)

    for n, ours in enumerate((of_function, of_trees, of_matrix)):
        check(ours, theirs, 0.3, B, n=n % 2)
    check_batches(lambda b: of_matrix(0.3, b), lambda b: theirs(0.3, b))


def test_an_operator_made_of_what_is_differentiated_is_refused():
    def f(t):
        operator = scipy.sparse.linalg.LinearOperator((4, 4), matvec=lambda v: t * v)
        return np.sum(scipy.sparse.linalg.cg(operator, B)[0])

    with pytest.raises(srcjax.errors.SrcjaxError):
        srcjax.grad(f)(2.0)


def test_a_sparse_matrix_made_of_what_is_differentiated_is_refused():
    def f(t):
        return np.sum(scipy.sparse.linalg.cg(scipy.sparse.csr_matrix(A * t), B)[0])

    with pytest.raises(srcjax.errors.SrcjaxError):
        srcjax.grad(f)(2.0)
