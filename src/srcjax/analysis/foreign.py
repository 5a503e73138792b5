"""Operands of classes that say themselves what an operation does.

`x * obj` calls `obj.__rmul__`, `np.exp(obj)` its `__array_ufunc__` or `__array__`. The
rules of operations are about numbers and arrays: with such an operand they would give
the derivative of something else. A method of the user's own is followed where Python
calls it for sure (`Expressions.of_BinOp`); all else is refused.
"""

from __future__ import annotations

import math
import operator
import sys
import types as pytypes
from typing import Any

import gast
import numpy as np

from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Object,
    Other,
    Told,
    Tuple,
    Type,
    Unknown,
    is_active,
)
from srcjax.frontend.inherited import for_class

_OPERATORS = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow"),
    *("lshift", "rshift", "and", "xor", "or"),
)
#: The methods that an operator or a function of one operand calls.
OF_ONE = {
    operator.neg: "__neg__",
    operator.pos: "__pos__",
    operator.invert: "__invert__",
    abs: "__abs__",
    round: "__round__",
    math.trunc: "__trunc__",
    math.floor: "__floor__",
    math.ceil: "__ceil__",
    int: "__int__",
    float: "__float__",
    complex: "__complex__",
}
#: Methods by which a class takes part in operations on numbers and arrays.
_METHODS = (
    *(f"__{prefix}{name}__" for name in _OPERATORS for prefix in ("", "r", "i")),
    *OF_ONE.values(),
    "__index__",
)
#: The method that a function of one object calls, whatever the object is.
BEHIND = OF_ONE | {len: "__len__"}
_PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array__")
_PLAIN = (
    *(int, float, complex, str, bytes, type(None), tuple, list, dict, set, frozenset),
    *(type, range, slice, np.ndarray, np.generic, np.dtype, np.ufunc),
    *(pytypes.FunctionType, pytypes.BuiltinFunctionType, pytypes.MethodType),
    *(pytypes.ModuleType, type(Ellipsis)),
)


def own_class(t: Type) -> Any:
    """The class of an instance, if it has ways of its own in operations."""
    if isinstance(t, Told):
        return None
    if isinstance(t, (Object, Other)):
        cls = t.cls
    elif isinstance(t, Const) and not isinstance(t.value, _PLAIN):
        cls = type(t.value)
    elif isinstance(t, Const) and type(t.value) not in _PLAIN:
        cls = type(t.value)  # a subclass of float, say
        return cls if any(own_method(cls, m) for m in _METHODS) else None
    else:
        return None
    if cls is None or cls in _PLAIN:
        return None
    if any(own_method(cls, m) for m in _METHODS):
        return cls
    return cls if any(hasattr(cls, p) for p in _PROTOCOLS) else None


def own_method(cls: Any, name: str) -> Any:
    """The method of that name, if it is written in Python."""
    method = getattr(cls, name, None)
    return for_class(method, cls) if isinstance(method, pytypes.FunctionType) else None


def foreign(operands: list[Type]) -> Any:
    """The class of an operand (or an item of one) with its own ways; None if none has.

    Only where a differentiated value is among the operands.
    """
    if not any(map(is_active, operands)):
        return None
    return next((c for t in operands if (c := _foreign_class(t)) is not None), None)


def _foreign_class(t: Type) -> Any:
    if isinstance(t, (List, Tuple)):
        items = t.items if t.items is not None else (t.elem,)
        found = (_foreign_class(i) for i in items if i is not None)
        return next((c for c in found if c is not None), None)
    if isinstance(t, Dict):
        return None
    return own_class(t)


#: What is called where a sparse matrix and an array are multiplied, as it may be spelt.
PRODUCT = operator.matmul


def is_sparse(t: Type) -> bool:
    """Whether a value is a sparse matrix of SciPy's, or a linear operator."""
    return _is_of(t, "sparray", "spmatrix") or _is_of(t, "LinearOperator")


def as_array(t: Type) -> Type:
    """A sparse matrix as the array that it stands for; anything else as it is."""
    if not is_sparse(t):
        return t
    if isinstance(t, Const):
        return Array(dtype=t.value.dtype, shape=t.value.shape)
    return Array(shape=(None, None))


def is_matrix_product(function: Any, left: Type, right: Type) -> bool:
    """Whether an operator is the product of a sparse matrix and an array.

    That of `scipy.sparse.csr_matrix` and its like is `*`, too.
    """
    if function is PRODUCT:
        return is_sparse(left) or is_sparse(right)
    return function is operator.mul and any(
        _is_of(a, "spmatrix") and isinstance(b, Array) and b.shape not in (None, ())
        for a, b in ((left, right), (right, left))
    )


def is_sparse_dot(node: gast.Call) -> bool:
    """Whether a call is the product of a sparse matrix by name: `A.dot(x)`."""
    func = node.func
    named = isinstance(func, gast.Attribute) and func.attr == "dot"
    starred = any(isinstance(a, gast.Starred) for a in node.args)
    return named and len(node.args) == 1 and not node.keywords and not starred


def _is_of(t: Type, *names: str) -> bool:
    """Whether a value is of one of these classes of `scipy.sparse`, or a part of it."""
    cls = own_class(t)
    homes = [sys.modules.get(f"scipy.sparse{part}") for part in ("", ".linalg")]
    found = [getattr(home, name, None) for home in homes for name in names]
    known = tuple(each for each in found if each is not None)
    return isinstance(cls, type) and issubclass(cls, known)


def takes_over(left: Type, cls: Any) -> bool:
    """Whether `left op obj` calls the method of the object's class once, for sure.

    An array calls it for each of its items, unless the class forbids it.
    """
    if isinstance(left, (Array, Unknown)):
        return getattr(cls, "__array_ufunc__", 0) is None
    return True
