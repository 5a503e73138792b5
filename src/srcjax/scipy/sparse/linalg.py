"""`scipy.sparse.linalg`, with solvers that take a linear function for the matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.linalg

from srcjax.flatten_util import as_vector, ravel_pytree

#: The name is JAX's, and that of every book.
# ruff: noqa: N803


def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Callable | None = None,
) -> tuple[Any, None]:
    """The `x` with `A(x) = b`, by conjugate gradients (Hestenes and Stiefel, 1952).

    It has the derivatives of the solution that it is, found by the same steps, as those
    of `scipy.sparse.linalg` have. Of a function `A` a matrix is made where a derivative
    is asked for, with one call for each number in `b`.

    Args:
        A: a symmetric positive definite matrix (n, n), or the function `A(x)` of what
            has the structure of `b`.
        b: an array, or a pytree of arrays.
        x0: where to begin, of the structure of `b`; zeros.
        tol: it ends where the residual is no longer than `tol` times `b`,
        atol: or than this,
        maxiter: or after so many steps; 10 for each number in `b`.
        M: a function that is nearly the inverse of `A`, symmetric and positive definite
            too.

    Returns:
        The solution, and None, as in JAX.
    """
    return _cg(A, b, x0, tol, atol, maxiter, M), None


def _cg_inside(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Callable | None = None,
) -> tuple[Any, None]:
    """The same with the derivatives of the equation."""
    solver = scipy.sparse.linalg.cg
    return _solution(solver, A, b, x0, M, tol, atol, maxiter), None


cg.__srcjax_inside__ = _cg_inside  # type: ignore[attr-defined]


def _solution(
    solver: Callable,
    A: Any,
    b: Any,
    x0: Any,
    M: Any,
    tol: float,
    atol: float,
    maxiter: int | None,
    **options: Any,
) -> Any:
    """What a solver of SciPy's gives, of matrices: it has derivatives."""
    wanted, restore = ravel_pytree(b)
    vector = np.ravel if isinstance(b, np.ndarray) else as_vector
    start = None if x0 is None else vector(x0)

    def matrix(f: Any) -> Any:
        if not callable(f):
            return f
        columns = [vector(f(restore(unit))) for unit in np.eye(len(wanted))]
        return np.stack(columns, axis=1)

    given = {"rtol": tol, "atol": atol, "maxiter": maxiter, "M": matrix(M)}
    return restore(solver(matrix(A), wanted, x0=start, **given, **options)[0])


def _solution_alone(
    solver: Callable,
    A: Any,
    b: Any,
    x0: Any,
    M: Any,
    tol: float,
    atol: float,
    maxiter: int | None,
    **options: Any,
) -> Any:
    """The solution, where no derivative is asked for."""
    if solver is scipy.sparse.linalg.cg:
        return _cg(A, b, x0, tol, atol, maxiter, M)
    return _by_scipy(solver, A, b, x0, M, tol, atol, maxiter, **options)


_solution.__srcjax_alone__ = _solution_alone  # type: ignore[attr-defined]


def _cg(
    A: Any,
    b: Any,
    x0: Any,
    tol: float,
    atol: float,
    maxiter: int | None,
    M: Callable | None,
) -> Any:
    """The solution by conjugate gradients, of a matrix or a function, for trees."""
    wanted, restore = ravel_pytree(b)
    vector = np.ravel if isinstance(b, np.ndarray) else as_vector
    start = np.zeros_like(wanted) if x0 is None else vector(x0)

    def product(v: Any) -> Any:
        return vector(A(restore(v)) if callable(A) else A @ restore(v))

    def preconditioned(v: Any) -> Any:
        return v if M is None else vector(M(restore(v)))

    most = 10 * len(wanted) if maxiter is None else maxiter
    enough = max(tol**2 * (wanted @ wanted), atol**2)
    x = start
    r = wanted - product(x)
    z = preconditioned(r)
    p = z
    gamma = r @ z
    steps = 0
    while r @ r > enough and steps < most:
        moved = product(p)
        alpha = gamma / (p @ moved)
        x = x + alpha * p
        r = r - alpha * moved
        z = preconditioned(r)
        before = gamma
        gamma = r @ z
        p = z + gamma / before * p
        steps += 1
    return restore(x)


def bicgstab(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Callable | None = None,
) -> tuple[Any, None]:
    """The `x` with `A(x) = b`, by SciPy's `bicgstab`; the arguments are those of `cg`.

    `A` need not be symmetric. Derivatives are those of `cg`.
    """
    solver = scipy.sparse.linalg.bicgstab
    return _by_scipy(solver, A, b, x0, M, tol, atol, maxiter), None


def _bicgstab_inside(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Callable | None = None,
) -> tuple[Any, None]:
    """The same with the derivatives of the equation."""
    solver = scipy.sparse.linalg.bicgstab
    return _solution(solver, A, b, x0, M, tol, atol, maxiter), None


bicgstab.__srcjax_inside__ = _bicgstab_inside  # type: ignore[attr-defined]


def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Callable | None = None,
) -> tuple[Any, None]:
    """The `x` with `A(x) = b`, by SciPy's `gmres`; the arguments are those of `cg`.

    `A` need not be symmetric. It starts again after `restart` steps. Derivatives are
    those of `cg`.
    """
    solver = scipy.sparse.linalg.gmres
    return _by_scipy(solver, A, b, x0, M, tol, atol, maxiter, restart=restart), None


def _gmres_inside(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    tol: float = 1e-5,
    atol: float = 0.0,
    restart: int = 20,
    maxiter: int | None = None,
    M: Callable | None = None,
) -> tuple[Any, None]:
    """The same with the derivatives of the equation."""
    solver = scipy.sparse.linalg.gmres
    return _solution(solver, A, b, x0, M, tol, atol, maxiter, restart=restart), None


gmres.__srcjax_inside__ = _gmres_inside  # type: ignore[attr-defined]


def _by_scipy(
    solver: Callable,
    A: Any,
    b: Any,
    x0: Any,
    M: Any,
    tol: float,
    atol: float,
    maxiter: int | None,
    **options: Any,
) -> Any:
    """What a solver of SciPy's gives, of functions of pytrees."""
    wanted, restore = ravel_pytree(b)

    def operator(f: Any) -> Any:
        def product(v: Any) -> Any:
            return as_vector(f(restore(np.ravel(v))))

        shape = (len(wanted), len(wanted))
        made = scipy.sparse.linalg.LinearOperator
        return made(shape, product, dtype=wanted.dtype) if callable(f) else f

    start = None if x0 is None else as_vector(x0)
    given = {"rtol": tol, "atol": atol, "maxiter": maxiter, "M": operator(M)}
    found = solver(operator(A), wanted, x0=start, **given, **options)
    return restore(found[0].astype(wanted.dtype))


def __getattr__(name: str) -> Any:
    """What SciPy's module has."""
    return getattr(scipy.sparse.linalg, name)


__all__ = ["bicgstab", "cg", "gmres"]
