"""Lists of differentiated numbers where NumPy takes an array.

`np.mean(losses)` of a list is `np.mean(np.array(losses))`: the rules of operations are
about arrays. Inference takes the list as that array, and remembers the argument; then
`transforms.settle` writes it so.
"""

from __future__ import annotations

import inspect
from typing import Any

from srcjax.analysis.types import Array, List, Tuple, Type, is_active

#: Parameters that take a sequence of arrays, or a list as such.
SEQUENCES = frozenset(
    """
    args arrays arrs c_and_lower choicelist choices condlist constant_values funclist
    kwargs lu_and_piv object sample varargs
    """.split()  # noqa: SIM905
)


def array_likes(
    signature: inspect.Signature, args: list[Type], kwargs: dict[str, Type]
) -> list[int | str]:
    """The arguments (positions, keywords) that are lists where arrays are meant."""
    lists = [k for k, t in [*enumerate(args), *kwargs.items()] if is_list(t)]
    if not lists:
        return []
    try:
        bound = signature.bind(*range(len(args)), **{k: k for k in kwargs})
    except TypeError:
        return []
    found: list[int | str] = []
    for name, given in bound.arguments.items():
        keys = given if isinstance(given, tuple) else (given,)
        if name not in SEQUENCES and not isinstance(given, dict):
            found += [key for key in keys if key in lists]
    return found


def is_list(t: Type) -> bool:
    """Whether it is a list or tuple of differentiated numbers or arrays."""
    if isinstance(t, Tuple) and t.cls not in (None, tuple):
        return False
    return isinstance(t, (List, Tuple)) and is_active(t) and of_numbers(t)


def of_numbers(t: Any) -> bool:
    """Whether there is no dict, string or object inside."""
    if not isinstance(t, (List, Tuple)):
        return True
    if isinstance(t, List) and t.items is None:
        return t.elem is None or of_numbers(t.elem)
    return all(map(of_numbers, t.items or ()))


def array_of(t: Type) -> Type:
    """The type of `np.array(t)`."""
    from srcjax.ops.constructors import nested  # rules of `ops`: later

    dtype, shape = nested(t)
    return Array(active=True, dtype=dtype, shape=shape)
