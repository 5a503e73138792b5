"""Checks of what you write in the exercises of the course.

`check(answer, f, *args)` compares your gradient of `f` with finite differences of `f`.
It knows no solution, and so any way of writing the right gradient is right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEP = 1e-6


def check(
    answer: Callable[..., Any], f: Callable[..., Any], *args: Any, wrt: Any = None
) -> bool:
    """Compare a gradient with differences of `f` at `args`, and say what is wrong.

    Args:
        answer: your function: a number or array for each argument that `wrt` names, a
            tuple if there are several. `...` stands for no answer yet.
        f: the function of the arguments; it gives a number.
        wrt: the positions of the arguments to differentiate with respect to: an int or
            a tuple of them; all arguments if it is left out.

    Returns:
        Whether it is right.
    """
    places = range(len(args)) if wrt is None else np.atleast_1d(wrt).tolist()
    slopes = [slope(f, args, place) for place in places]
    return compare(answer(*_copies(args)), slopes, [_name(f, p) for p in places])


def check_value(answer: Any, expected: Any, name: str = "the result") -> bool:
    """Compare one value with what it should be, and say what is wrong."""
    return compare(answer, [expected], [name])


def compare(found: Any, expected: list[Any], names: list[str]) -> bool:
    """Say for each name what is wrong with what was found."""
    if found is ... or isinstance(found, tuple) and any(part is ... for part in found):
        print("Not answered yet: put your answer in the place of `...`")
        return False
    if len(expected) == 1 and not isinstance(found, tuple):
        found = (found,)
    if not isinstance(found, tuple) or len(found) != len(expected):
        print(f"It should give {len(expected)} values: for {', '.join(names)}.")
        return False
    hints = [
        f"{name}: {hint}"
        for name, one, other in zip(names, found, expected, strict=True)
        if (hint := _difference(one, other))
    ]
    print("Not right. " + "; ".join(hints) if hints else "Right.")
    return not hints


def slope(f: Callable[..., Any], args: tuple[Any, ...], place: int) -> Any:
    """The gradient of `f` to one argument, from two values of `f` for each number."""
    at = np.asarray(args[place], float)
    found = np.zeros(at.shape)
    for index in np.ndindex(at.shape):
        sides = []
        for step in (STEP, -STEP):
            moved = at.copy()
            moved[index] += step
            given = _copies(args)
            given[place] = moved if at.ndim else moved.item()
            sides.append(f(*given))
        found[index] = (sides[0] - sides[1]) / (2 * STEP)
    return found[()]


def _difference(found: Any, expected: Any) -> str | None:
    """What is wrong with a number or an array, if anything."""
    expected = np.asarray(expected, float)
    try:
        found = np.asarray(found, float)
    except (TypeError, ValueError):
        return f"a {type(found).__name__} is no number and no array"
    if found.shape != expected.shape:
        return f"its shape is {found.shape}, it should be {expected.shape}"
    if np.allclose(found, expected, rtol=1e-4, atol=1e-6):
        return None
    if np.allclose(found, -expected, rtol=1e-4, atol=1e-6):
        return "the sign is wrong"
    if not np.any(found):
        return "it is zero everywhere, and should not be"
    if not np.any(np.abs(expected) < 1e-6):
        factors = found / expected
        factor = factors.flat[0]
        if np.allclose(factors, factor, rtol=1e-3) and (found.ndim or _simple(factor)):
            return f"it is {factor:.3g} times what it should be"
    if not expected.ndim:
        return f"it is {found:.4g}, it should be {expected:.4g}"
    wrong = ~np.isclose(found, expected, rtol=1e-4, atol=1e-6)
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    there = ", ".join(str(i) for i in first)
    return (
        f"{np.sum(wrong)} of {wrong.size} numbers differ; at [{there}] it is "
        f"{found[first]:.4g}, it should be {expected[first]:.4g}"
    )


def _simple(factor: float) -> bool:
    """Whether it is no accident: 2, 3, 1/2, -1/4 and the like."""
    return any(abs(f - round(f)) < 1e-3 and round(f) for f in (factor, 1 / factor))


def _copies(args: tuple[Any, ...]) -> list[Any]:
    """The arguments, so that no answer can write to those of another."""
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def _name(f: Callable[..., Any], place: int) -> str:
    return f"d{f.__code__.co_varnames[place]}"
