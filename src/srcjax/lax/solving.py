"""Solutions with the derivatives of the equations that they solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcjax import tree
from srcjax.analysis.stopped import stop_gradient
from srcjax.api.forward import jvp


def custom_root(
    f: Callable,
    initial_guess: Any,
    solve: Callable,
    tangent_solve: Callable,
    has_aux: bool = False,
) -> Any:
    """A root of `f`, with the derivatives of the root that it is.

    `f` may read differentiated values from around it. No derivative goes through
    `solve`: two of Newton's steps from where it ends, the value without them, have
    those of the root, exact to the third order (the implicit function theorem).

    Args:
        f: `f(x)`, of the structure of `x`.
        initial_guess: where to begin: a number, an array, or a pytree of these.
        solve: `solve(f, initial_guess)`, a root of `f`; with `has_aux` a pair of it and
            of anything else.
        tangent_solve: `tangent_solve(g, y)`, the `x` with `g(x) = y`, for a linear `g`:
            `lambda g, y: y / g(1.0)` for numbers.
        has_aux: whether `solve` gives a pair, and so this does.
    """
    solved = solve(f, initial_guess)
    aux = solved[1] if has_aux else None
    root = stop_gradient(solved[0] if has_aux else solved)

    def step(x: Any) -> Any:
        def along(v: Any) -> Any:
            return jvp(f, (x,), (v,))[1]

        return tree.map(lambda a, b: a - b, x, tangent_solve(along, f(x)))

    twice = step(step(root))
    found = tree.map(lambda r, t: r + (t - stop_gradient(t)), root, twice)
    return (found, stop_gradient(aux)) if has_aux else found
