"""Functions of the structure of containers alone, as `srcjax.tree.map` is.

Where types tell the structure, a call of one is written out: the function itself is run
on containers of the same structure that hold expressions instead of numbers, and what
it gives is what stands there. So there is one text of what it means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])

#: By the identity of the function, which is kept alive here.
_FUNCTIONS: dict[int, tuple[Callable[..., Any], str | None, bool]] = {}


def structural(by_item: str | None = None, calls: bool = False) -> Callable[[_F], _F]:
    """Say of a function that it never looks at what the leaves of containers are.

    But for the classes of them, and the rank and the dtype of arrays.

    It passes them on, or gives them to the functions that are among its arguments, and
    uses nothing of what those return; but for `is_leaf`, which is asked what is a leaf.

    `by_item`: of a list of trees it gives a list of what it gives of each ("append"),
    or those lists joined ("extend"). `calls`: it calls a function that it is given.
    """

    def mark(function: _F) -> _F:
        _FUNCTIONS[id(function)] = function, by_item, calls
        return function

    return mark


def is_structural(value: Any) -> bool:
    """Whether calls of the function are written out where the structure is known."""
    return value is not None and _FUNCTIONS.get(id(value), (None,))[0] is value


def by_item(function: Any) -> str | None:
    """The method of a list that joins what the function gives of the items of one."""
    return _FUNCTIONS[id(function)][1]


def calls(function: Any) -> bool:
    """Whether it calls a function that it is given."""
    return _FUNCTIONS[id(function)][2]
