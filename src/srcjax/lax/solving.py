"""Solutions with the derivatives of the equations that they solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax import tree
from srcjax.analysis.stopped import stop_gradient
from srcjax.api.forward import jvp
from srcjax.flatten_util import as_vector, ravel_pytree


def custom_root(
    f: Callable,
    initial_guess: Any,
    solve: Callable,
    tangent_solve: Callable,
    has_aux: bool = False,
) -> Any:
    """A root of `f`, with the derivatives of the root that it is.

    `f` may read differentiated values from around it. No derivative goes through
    `solve`, nor through `tangent_solve`: three steps `x - J^-1 f(x)` from where `solve`
    ends, with the inverse of the Jacobian there held constant, have the derivatives of
    the root (the implicit function theorem), exact to the third order; `grad` of `grad`
    of `grad` is refused. That inverse is a matrix, for which `tangent_solve` is called
    once for each number in `x`.

    Args:
        f: `f(x)`, of the structure of `x`.
        initial_guess: where to begin: a number, an array, or a pytree of these.
        solve: `solve(f, initial_guess)`, a root of `f`; with `has_aux` a pair of it and
            of anything else.
        tangent_solve: `tangent_solve(g, y)`, the `x` with `g(x) = y`, for a linear `g`:
            `lambda g, y: y / g(1.0)` for numbers; it may iterate.
        has_aux: whether `solve` gives a pair, and so this does.
    """
    solved = solve(f, initial_guess)
    aux = solved[1] if has_aux else None
    root = stop_gradient(solved[0] if has_aux else solved)

    def along(v: Any) -> Any:
        return jvp(f, (root,), (v,))[1]

    flat, restore = ravel_pytree(root)
    vector = np.ravel if isinstance(root, np.ndarray) else as_vector
    columns = [
        vector(tangent_solve(along, restore(unit))) for unit in np.eye(len(flat))
    ]
    inverse = stop_gradient(np.stack(columns, axis=1))

    moved = flat
    for _ in range(3):
        moved = moved - inverse @ vector(f(restore(moved)))
    moved = restore(moved)
    found = tree.map(lambda r, t: r + (t - stop_gradient(t)), root, moved)
    return (found, stop_gradient(aux)) if has_aux else found


def _root_alone(
    f: Callable,
    initial_guess: Any,
    solve: Callable,
    tangent_solve: Callable,
    has_aux: bool = False,
) -> Any:
    """The root, where no derivative is asked for."""
    return solve(f, initial_guess)


custom_root.__srcjax_alone__ = _root_alone  # type: ignore[attr-defined]


def custom_linear_solve(
    matvec: Callable,
    b: Any,
    solve: Callable,
    transpose_solve: Callable | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The `x` with `matvec(x) = b`, with the derivatives of the solution that it is.

    `matvec` may read differentiated values from around it. No derivative goes through
    `solve`: see `custom_root`, of which this is the case of a linear equation.

    Args:
        matvec: a linear function of what has the structure of `b`.
        b: a number, an array, or a pytree of these.
        solve: `solve(matvec, b)`, the solution; with `has_aux` a pair of it and of
            anything else.
        transpose_solve: accepted; derivatives do not need it.
        symmetric: accepted; derivatives do not need it.
        has_aux: whether `solve` gives a pair, and so this does.
    """

    def residual(x: Any) -> Any:
        return tree.map(lambda y, wanted: y - wanted, matvec(x), b)

    def solved(_: Callable, wanted: Any) -> Any:
        return solve(matvec, wanted)

    def tangent_solve(linear: Callable, y: Any) -> Any:
        return solve(linear, y)[0] if has_aux else solve(linear, y)

    return custom_root(residual, b, solved, tangent_solve, has_aux)


def _solution_alone(
    matvec: Callable,
    b: Any,
    solve: Callable,
    transpose_solve: Callable | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The solution, where no derivative is asked for."""
    return solve(matvec, b)


custom_linear_solve.__srcjax_alone__ = _solution_alone  # type: ignore[attr-defined]
