"""Lists where NumPy takes an array.

`np.mean(losses)` of a list is `np.mean(np.array(losses))`, and `x * [3, 5, 2]` of an
array is `x * np.array([3, 5, 2])`: the rules of operations are about arrays. Inference
takes the list as that array, and remembers the operand; then `transforms.settle` writes
it so.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcjax.analysis.foreign import is_sparse
from srcjax.analysis.types import (
    Array,
    Const,
    Dim,
    List,
    Range,
    Scalar,
    Shape,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    is_active,
    is_mapping,
    shape_of,
    type_of,
    with_active,
)

#: Parameters that take a sequence of arrays, or a list as such.
SEQUENCES = frozenset(
    """
    args arrays arrs c_and_lower choicelist choices condlist constant_values funclist
    kwargs lu_and_piv object sample varargs
    """.split()  # noqa: SIM905
)


def array_likes(
    signature: inspect.Signature,
    args: list[Type],
    kwargs: dict[str, Type],
    taken: frozenset[str] = frozenset(),
) -> list[int | str]:
    """The arguments (positions, keywords) that are lists where arrays are meant.

    Args:
        taken: parameters where any list is an array, not only one that carries a
            derivative, if something else among the arguments carries one.
    """
    given = [*enumerate(args), *kwargs.items()]
    lists = [k for k, t in given if is_list(t)]
    if not lists or not any(is_active(t) for _, t in given):
        return []
    active = {k for k, t in given if is_active(t)}
    try:
        bound = signature.bind(*range(len(args)), **{k: k for k in kwargs})
    except TypeError:
        return []
    found: list[int | str] = []
    for name, given_for in bound.arguments.items():
        keys = given_for if isinstance(given_for, tuple) else (given_for,)
        if name not in SEQUENCES and not isinstance(given_for, dict):
            found += [k for k in keys if k in lists and (k in active or name in taken)]
    return found


def is_list(t: Type) -> bool:
    """Whether it is a list, tuple or range of numbers or arrays."""
    if isinstance(t, Tuple) and t.cls not in (None, tuple):
        return False
    if isinstance(t, Const):
        return isinstance(t.value, (list, tuple, range))
    return isinstance(t, Range) or (isinstance(t, (List, Tuple)) and of_numbers(t))


def of_numbers(t: Any) -> bool:
    """Whether there is no dict, string or object inside."""
    if not isinstance(t, (List, Tuple)):
        return True
    if isinstance(t, List) and t.items is None:
        return t.elem is None or of_numbers(t.elem)
    return all(map(of_numbers, t.items or ()))


def nested(t: Type) -> tuple[np.dtype | None, Shape | None]:
    """Dtype and shape of the array that nested lists and tuples make."""
    if not isinstance(t, (Tuple, List)):
        return dtype_of(t), shape_of(t)
    if t.items is None:
        dtype, shape = nested(t.elem) if t.elem is not None else (None, None)
        return dtype, None if shape is None else (None, *shape)
    if not t.items:
        return np.dtype(float), (0,)
    found = [nested(item) for item in t.items]
    dtypes = {dtype for dtype, _ in found}
    dtype = None
    if not any(d is None for d in dtypes):  # None == np.dtype(float) is True
        dtype = np.result_type(*(d for d in dtypes if d is not None))
    shapes = [shape for _, shape in found]
    if any(shape is None for shape in shapes):
        return dtype, None
    known_shapes: list[Shape] = [shape for shape in shapes if shape is not None]
    if len({len(shape) for shape in known_shapes}) > 1:
        return None, None
    dims: list[Dim] = []
    for sizes in zip(*known_shapes, strict=True):
        dims.append(next((n for n in sizes if n is not None), None))
    return dtype, (len(t.items), *dims)


def array_of(t: Type) -> Type:
    """The type of `np.array(t)`."""
    if isinstance(t, Const):
        t = type_of(t.value)
    if isinstance(t, Range):
        return Array(is_active(t), dtype=dtype_of(INTEGER), shape=(t.length,))
    dtype, shape = nested(t)
    return with_active(Array(dtype=dtype, shape=shape), is_active(t))


INTEGER = type_of(0)

#: What the place of a list beside an operator is: of an array, of the same list over
#: again, of an operand that Python refuses, or one that is not known.
AN_ARRAY, REPEATED, NO_OPERAND, NOT_KNOWN = "array", "repeated", "none", "not known"


def meaning(function: Callable[..., Any], other: Type) -> str:
    """What a list is to an operator between it and the other operand.

    Python's numbers leave lists to Python: only whole ones multiply them.
    """
    if is_list(other) or isinstance(other, (List, Tuple)):
        return REPEATED
    if is_sparse(other):
        return AN_ARRAY
    dtype = dtype_of(other)
    product = function is operator.mul
    if isinstance(other, Array):
        # `xs.copy()` of what is not known yet may be a list.
        untold = other.dtype is None and other.shape is None
        return NOT_KNOWN if untold and function is operator.add else AN_ARRAY
    if isinstance(other, (Scalar, Const)) and dtype is not None:
        if product:
            return REPEATED if dtype.kind in "iub" else NO_OPERAND
        plain = isinstance(other, Const) or other.python
        if function is operator.matmul or plain:
            return NO_OPERAND
        return AN_ARRAY
    if isinstance(other, Unknown):
        flows = other.active and not is_mapping()
        if flows and function is not operator.add:
            return AN_ARRAY  # a list that carries a derivative is no operand of these
        return NOT_KNOWN
    return REPEATED
