"""`scipy.sparse.linalg`, with solvers that take a linear function for the matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.linalg

from srcjax.flatten_util import as_vector, ravel_pytree
from srcjax.lax import custom_linear_solve

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

    In transformed functions it has the derivatives of the solution that it is: see
    `lax.custom_linear_solve`, which makes a matrix of the inverse there, with one run
    for each number in `b`.

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
    return _cg(lambda A, b, solve: solve(A, b), A, b, x0, tol, atol, maxiter, M)


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
    return _cg(custom_linear_solve, A, b, x0, tol, atol, maxiter, M)


cg.__srcjax_inside__ = _cg_inside  # type: ignore[attr-defined]


def _cg(
    way: Callable,
    A: Any,
    b: Any,
    x0: Any,
    tol: float,
    atol: float,
    maxiter: int | None,
    M: Callable | None,
) -> tuple[Any, None]:
    """What `way(product, b, solve)` gives of vectors, for trees."""
    wanted, restore = ravel_pytree(b)
    vector = np.ravel if isinstance(b, np.ndarray) else as_vector
    start = np.zeros_like(wanted) if x0 is None else vector(x0)

    def product(v: Any) -> Any:
        return vector(A(restore(v)) if callable(A) else A @ restore(v))

    def preconditioned(v: Any) -> Any:
        return v if M is None else vector(M(restore(v)))

    def solve(linear: Callable, y: Any) -> Any:
        most = 10 * len(y) if maxiter is None else maxiter
        enough = max(tol**2 * (y @ y), atol**2)
        x = start
        r = y - linear(x)
        z = preconditioned(r)
        p = z
        gamma = r @ z
        steps = 0
        while r @ r > enough and steps < most:
            moved = linear(p)
            alpha = gamma / (p @ moved)
            x = x + alpha * p
            r = r - alpha * moved
            z = preconditioned(r)
            before = gamma
            gamma = r @ z
            p = z + gamma / before * p
            steps += 1
        return x

    return restore(way(product, wanted, solve)), None


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

    `A` need not be symmetric. There is no derivative: it is refused.
    """
    solver = scipy.sparse.linalg.bicgstab
    return _by_scipy(solver, A, b, x0, M, tol, atol, maxiter), None


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

    `A` need not be symmetric. It starts again after `restart` steps. There is no
    derivative: it is refused.
    """
    solver = scipy.sparse.linalg.gmres
    return _by_scipy(solver, A, b, x0, M, tol, atol, maxiter, restart=restart), None


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
