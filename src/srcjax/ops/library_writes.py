"""What functions of libraries write to: `out`, or their first argument."""

from __future__ import annotations

import heapq
import inspect
from functools import cache
from typing import Any

import numpy as np

#: Functions that write to their first argument, by its name.
FIRST_WRITTEN: dict[Any, str] = {
    np.copyto: "dst",
    np.fill_diagonal: "a",
    np.place: "arr",
    np.put: "a",
    np.put_along_axis: "arr",
    np.putmask: "a",
    np.random.shuffle: "x",
    heapq.heapify: "x",
    **dict.fromkeys(
        [heapq.heappush, heapq.heappop, heapq.heapreplace, heapq.heappushpop], "heap"
    ),
}


def written_places(function: Any, called: int) -> frozenset[int | str]:
    """The positions and keywords that a call with so many arguments may write to."""
    places = [*range(called)[place_of_out(function)], "out"]
    if any(function is f for f in FIRST_WRITTEN):
        places += [0, FIRST_WRITTEN[function]]
    return frozenset(places)


def place_of_out(function: Any) -> slice:
    """Which positional arguments a function of NumPy's writes its result to."""
    if isinstance(function, np.ufunc):
        return slice(function.nin, None)
    if not str(getattr(function, "__module__", "")).startswith("numpy"):
        return slice(0)
    if type(function).__hash__ is None:  # an object that is called: a polynomial
        return slice(0)
    return _place_by_name(function)


@cache
def _place_by_name(function: Any) -> slice:
    """Where the parameter `out` is, of those that take positional arguments."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return slice(0)
    for place, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.KEYWORD_ONLY):
            break
        if parameter.name == "out":
            return slice(place, place + 1)
    return slice(0)
