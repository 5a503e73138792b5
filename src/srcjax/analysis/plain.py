"""Which values are numbers and arrays, and which are only nearly so.

A `pandas.Series`, a masked array, a subclass of float with operators of its own: they
have the look of numbers and arrays, and their classes say what operations on them do.
A subclass that changes nothing is what it derives from.
"""

from __future__ import annotations

import numbers
from collections import OrderedDict, defaultdict
from types import ModuleType
from typing import Any

import numpy as np

from srcjax.analysis.arrays import ARRAYS, Array

#: The classes of dicts that are followed, as pytrees have them.
DICTS = (dict, OrderedDict, defaultdict)

#: What a class has whatever it does.
_EVERY = frozenset(
    [
        *("__module__", "__doc__", "__dict__", "__weakref__", "__slots__", "__new__"),
        *("__init__", "__init_subclass__", "__firstlineno__", "__static_attributes__"),
        *("__array_finalize__", "__array_priority__", "__reduce__", "__setstate__"),
        *("__repr__", "__str__", "__format__", "__annotations__", "__hash__"),
    ]
)


def changes_nothing(cls: type, base: type) -> bool:
    """Whether a subclass leaves all that its base does as it is."""
    between = cls.__mro__[: cls.__mro__.index(base)]
    known = set(dir(base)) | {"__array_ufunc__", "__array_function__"}
    return cls in (Array, np.memmap) or not any(
        name in known and name not in _EVERY for c in between for name in vars(c)
    )


def is_plain_array(value: Any) -> bool:
    """Whether operations on an array are those of NumPy."""
    return type(value) in ARRAYS or changes_nothing(type(value), np.ndarray)


#: A larger number among the arguments is not the size of an axis.
LARGEST_SIZE = 2**31


def is_size(value: int) -> bool:
    """Whether a number among the arguments may be how long an axis is."""
    return 0 < value <= LARGEST_SIZE


def is_plain_number(value: Any) -> bool:
    """Whether it is a float or complex number, of a subclass that adds nothing."""
    if isinstance(value, np.generic):
        return False
    return any(
        isinstance(value, base) and changes_nothing(type(value), base)
        for base in (float, complex)
    )


def is_array_of_others(value: Any) -> bool:
    """Whether it is an array of another library, with the functions of NumPy."""
    cls = type(value)  # an alias such as `np.ndarray[...]` has what its class has
    return not isinstance(value, ModuleType) and (
        hasattr(cls, "__array_namespace__") or hasattr(cls, "__cuda_array_interface__")
    )


def is_nearly_number(value: Any) -> bool:
    """Whether it has the look of a number or array, and is none."""
    if isinstance(value, type) or type(value) in (int, float, complex, bool):
        return False
    if isinstance(value, (np.ndarray, np.generic)) or is_array_of_others(value):
        return False
    if isinstance(value, numbers.Number):
        return not isinstance(value, int)
    return hasattr(value, "__array__") or hasattr(value, "__array_ufunc__")
