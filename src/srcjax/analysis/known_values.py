"""What is known of operations on constants: folding, truth, comparisons."""

from __future__ import annotations

import functools
import inspect
import math
import operator
import types as pytypes
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.types import (
    BOOL,
    INT,
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    List,
    Object,
    OrNone,
    Other,
    Range,
    Scalar,
    Span,
    Sym,
    Transformed,
    Tuple,
    Type,
    Unknown,
    as_dim,
    as_number,
    broadcast_shapes,
    combined_dims,
    is_number,
    known_order,
    plus,
    replace,
    same_dtype,
    shape_of,
    site_of,
)
from srcjax.errors import SrcjaxError
from srcjax.frontend.dataclass_init import describe_init
from srcjax.frontend.read import read

OPERATORS = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.Mod: operator.mod,
    gast.FloorDiv: operator.floordiv,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}


def in_place_method(op: gast.operator, t: Type | None) -> Any:
    """The method of its class by which `x op= v` changes `x`; None without one.

    Arrays and lists are not asked: what they do is known.
    """
    cls = type(t.value) if isinstance(t, Const) else getattr(t, "cls", None)
    name = OPERATORS[type(op)].__name__.strip("_")
    return None if isinstance(t, List) else getattr(cls, f"__i{name}__", None)


UNARY = {
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Not: operator.not_,
    gast.Invert: operator.invert,
}


COMPARISONS = {
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
}


_FIXED = (
    *(bool, int, float, complex, str, bytes, type(None), range, slice, type(...)),
    *(type, pytypes.FunctionType, pytypes.BuiltinFunctionType, pytypes.ModuleType),
    *(np.generic, np.dtype, np.ufunc),
)


def is_fixed(value: Any) -> bool:
    """Whether it is what it is for good, and looking at it runs no code of the user's.

    Not so an object with a method for it, and what may have other items later.
    """
    if isinstance(value, (tuple, frozenset)):
        return type(value) in (tuple, frozenset) and all(map(is_fixed, value))
    return isinstance(value, _FIXED) and type(value).__module__ in _OF_PYTHON


#: Where the classes are from whose instances are looked at here.
_OF_PYTHON = ("builtins", "types", "numpy", "numpy.dtypes")


def fold_constants(function: Any, operands: list[Type]) -> Type | None:
    """Arithmetic on known numbers."""
    if not operands or getattr(function, "__module__", "") not in (
        "_operator",
        "math",
    ):
        return None
    if not all(isinstance(t, Const) and is_fixed(t.value) for t in operands):
        return None
    try:
        value = function(*(t.value for t in operands))  # type: ignore[attr-defined]
    except Exception:
        return None
    if type(value) not in (int, float, bool) or abs(value) > 1e15:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return Const(value=value)


#: Methods of strings that say how one is spelled, as where a method's name is given.
_SPELLING = frozenset(
    [str.lower, str.upper, str.casefold, str.capitalize, str.title, str.swapcase]
    + [str.strip, str.lstrip, str.rstrip, str.removeprefix, str.removesuffix]
    + [str.startswith, str.endswith, str.replace]
)


def fold_spelling(function: Any, operands: list[Type]) -> Type | None:
    """`"Spencer".lower()`, and other methods of a known string of known arguments."""
    text = getattr(function, "__self__", None)
    if type(text) is not str or getattr(str, function.__name__) not in _SPELLING:
        return None
    values = [_plain_value(t) for t in operands]
    if not all(type(value) in (str, int, tuple) for value in values):
        return None
    try:
        return Const(value=function(*values))
    except Exception:
        return None


def _plain_value(t: Type) -> Any:
    """The value of a constant, or of a tuple of constants; None for what else it is."""
    if isinstance(t, Tuple) and t.cls is None:
        return tuple(map(_plain_value, t.items))
    return t.value if isinstance(t, Const) else None


def sized_number(function: Any, operands: list[Type]) -> Type | None:
    """Arithmetic on sizes that are known by name."""
    if function not in (operator.add, operator.sub, operator.mul, operator.floordiv):
        return None
    if len(operands) != 2 or not all(map(_is_whole, operands)):
        return None
    if not any(isinstance(t, Scalar) and t.size is not None for t in operands):
        return None
    found = combined_dims(function.__name__, *map(as_dim, operands))
    return replace(INT, size=found) if isinstance(found, int) else as_number(found)


def spanned_number(function: Any, operands: list[Type]) -> Type | None:
    """Arithmetic on whole numbers that stay between others."""
    if function not in (operator.add, operator.sub, operator.mod):
        return None
    if len(operands) != 2 or not all(map(_is_whole, operands)):
        return None
    a, b = operands
    m, n = as_dim(a), as_dim(b)
    if function is operator.mod:
        positive = isinstance(n, Sym) and n.offset >= 0 or isinstance(n, int) and n > 0
        return replace(INT, span=(0, n)) if positive else None
    if all(getattr(t, "span", None) is None for t in operands):
        return None
    if function is operator.add and span_of(a) is None:
        a, b, m, n = b, a, n, m
    own = span_of(a)
    if own is not None and isinstance(n, int):
        offset = n if function is operator.add else -n
        return replace(INT, span=(plus(own[0], offset), plus(own[1], offset)))
    own = span_of(b)
    if own is None or function is operator.add or not isinstance(m, int | Sym):
        return None
    least, most = _difference(m, plus(own[1], -1)), _difference(m, own[0])
    if least is None or most is None:
        return None
    return replace(INT, span=(least, plus(most, 1)))


def _difference(m: int | Sym, n: int | Sym) -> int | Sym | None:
    """`m - n` of sizes, where it is a number or a size."""
    if isinstance(n, int):
        return plus(m, -n)
    named = isinstance(m, Sym) and m.name == n.name
    return m.offset - n.offset if named else None  # type: ignore[union-attr]


def span_of(t: Type) -> Span | None:
    """The numbers between which a whole number stays, None where that is not known."""
    if isinstance(t, Scalar) and t.span is not None:
        return t.span
    dim = as_dim(t) if _is_whole(t) else None
    return (dim, plus(dim, 1)) if isinstance(dim, int | Sym) else None


def span_of_range(numbers: list[Type]) -> Span | None:
    """The numbers between which those in `range(...)` stay."""
    if not 1 <= len(numbers) <= 3:
        return None
    first, last = ([Const(value=0), *numbers] if len(numbers) == 1 else numbers)[:2]
    step = getattr(numbers[2], "value", None) if len(numbers) == 3 else 1
    if step == -1:
        first, last = last, first
    elif not isinstance(step, int) or step < 1:
        return None
    low, high = span_of(first), span_of(last)
    if low is None or high is None:
        return None
    above = step == -1  # it goes down to what is above the last one
    return plus(low[0], int(above)), plus(high[1], -1 + int(above))


def _is_whole(t: Type) -> bool:
    """Whether it is a Python integer."""
    if isinstance(t, Const):
        return type(t.value) is int
    return isinstance(t, Scalar) and t.python is True and same_dtype(t.dtype, INT.dtype)


def truth(t: Type) -> bool | None:
    """Whether a condition is known to hold."""
    if isinstance(t, Const):
        kind = type(t.value)
        if not hasattr(kind, "__bool__") and not hasattr(kind, "__len__"):
            return True
        if not is_fixed(t.value):
            return None
        try:
            return bool(t.value)
        except Exception:
            return None
    if isinstance(t, (Tuple, List, Dict)) and t.items is not None:
        return bool(t.items)
    if isinstance(t, Object) and (
        t.cls is None or hasattr(t.cls, "__bool__") or hasattr(t.cls, "__len__")
    ):
        return None
    if isinstance(t, (Closure, Object, Transformed)):
        return True
    return None


def where(test: Any, env: dict[str, Type], outcome: bool) -> dict[str, Type]:
    """The types of names where a test had that outcome.

    `v is None`, alone or with others, tells whether a value is there that may be.
    """
    found = dict(env)
    parts = [(test, outcome)]
    while parts:
        part, truth = parts.pop()
        if isinstance(part, gast.UnaryOp) and isinstance(part.op, gast.Not):
            parts.append((part.operand, not truth))
        elif isinstance(part, gast.BoolOp) and truth is isinstance(part.op, gast.And):
            parts += [(value, truth) for value in part.values]
        elif isinstance(part, gast.Compare) and isinstance(part.left, gast.Name):
            t = found.get(part.left.id)
            against = [getattr(c, "value", part) for c in part.comparators]
            asked = type(part.ops[0]) in (gast.Is, gast.IsNot) and against == [None]
            if asked and isinstance(t, OrNone):
                is_none = truth is isinstance(part.ops[0], gast.Is)
                found[part.left.id] = Const(value=None) if is_none else t.value
    return found


def _cannot_be(a: Type, b: Type) -> bool:
    """Whether a known object, a mark for "not given", is no value of the type."""
    kinds = (Array, Scalar, Tuple, List, Dict, Range, Object)
    if not isinstance(a, Const) or not isinstance(b, kinds):
        return False
    values = (int, float, complex, np.generic, np.ndarray, tuple, list, dict, range)
    return not isinstance(a.value, (*values, getattr(b, "cls", None) or Const))


def _made_apart(a: Type, b: Type) -> bool:
    """Whether they are objects that different places make."""
    if not isinstance(a, Object) or not isinstance(b, Object):
        return False
    made = [{site_of(buffer) for buffer in t.buffers} for t in (a, b)]
    return all(made) and None not in made[0] | made[1] and not made[0] & made[1]


def compare(op: Any, a: Type, b: Type) -> Type:
    """The type of one comparison; identity with None and equality of constants."""
    if isinstance(op, (gast.Is, gast.IsNot)):
        same: bool | None = None
        if isinstance(a, Const) and isinstance(b, Const):
            same = a.value is b.value
        elif Const(value=None) in (a, b):
            other = b if a == Const(value=None) else a
            if not isinstance(other, (Unknown, Other)):
                same = False
        elif _cannot_be(a, b) or _cannot_be(b, a) or _made_apart(a, b):
            same = False
        if same is None:
            return BOOL
        return Const(value=same == isinstance(op, gast.Is))
    if isinstance(op, (gast.In, gast.NotIn)):
        keys: Any = None
        if isinstance(b, Dict) and b.items is not None:
            keys = [k for k, _ in b.items]
        elif isinstance(b, Tuple) and all(isinstance(i, Const) for i in b.items):
            keys = [i.value for i in b.items]  # type: ignore[attr-defined]
        elif isinstance(b, Const) and isinstance(b.value, (str, tuple)):
            known = isinstance(a, Const) and isinstance(a.value, str)
            keys = b.value if known or isinstance(b.value, tuple) else None
        if keys in ([], ()):
            return Const(value=isinstance(op, gast.NotIn))
        if isinstance(a, Const) and keys is not None and is_fixed((a.value, *keys)):
            return Const(value=(a.value in keys) == isinstance(op, gast.In))
        return BOOL
    function = COMPARISONS[type(op)]
    if isinstance(a, Const) and isinstance(b, Const):
        if not all(is_fixed(t.value) or by_identity(t.value, op) for t in (a, b)):
            return BOOL
        try:
            return Const(value=bool(function(a.value, b.value)))
        except Exception:
            return BOOL
    if is_number(a) and is_number(b):
        outcome = _order(op, as_dim(a), as_dim(b))
        if outcome is not None:
            return Const(value=outcome)
        of_numpy = any(isinstance(t, Scalar) and not t.python for t in (a, b))
        return BOOL if not of_numpy else Scalar(dtype=np.dtype(bool))
    shapes = broadcast_shapes(shape_of(a), shape_of(b))
    if isinstance(a, Array) or isinstance(b, Array):
        return Array(dtype=np.dtype(bool), shape=shapes)
    return UNKNOWN


def by_identity(value: Any, op: Any) -> bool:
    """Whether the object is equal to itself alone."""
    known = type(value).__eq__ is object.__eq__
    return known and isinstance(op, (gast.Eq, gast.NotEq))


def _order(op: Any, m: Any, n: Any) -> bool | None:
    """The outcome of a comparison of sizes of which is supposed which is larger.

    Or of one size with itself: `n = len(x)`, and then `len(x) != n`.
    """
    if isinstance(op, (gast.Eq, gast.NotEq)):
        if not isinstance(m, Sym) or not isinstance(n, Sym) or m.name != n.name:
            return None
        return (m.offset == n.offset) == isinstance(op, gast.Eq)
    if isinstance(op, (gast.LtE, gast.Gt)):
        m, n = n, m
    outcome = known_order(m, n) if isinstance(op, _ORDERS) else None
    if outcome is None:
        return None
    return outcome == isinstance(op, (gast.GtE, gast.LtE))


_ORDERS = (gast.Lt, gast.LtE, gast.Gt, gast.GtE)


def length(t: Type) -> Type:
    """`len(x)`."""
    if isinstance(t, (Tuple, List, Dict)) and t.items is not None:
        return Const(value=len(t.items))
    if isinstance(t, Array) and t.shape:
        return as_number(t.shape[0])
    if isinstance(t, Range) and t.length is not None:
        return Const(value=t.length)
    return INT


_PYTHON_TYPES = {Tuple: tuple, Array: np.ndarray}


def is_instance(value: Type, cls: Type) -> Type:
    """`isinstance(x, C)` where the types tell."""
    wanted: Any = getattr(cls, "value", None)
    if isinstance(cls, Tuple):
        wanted = tuple(getattr(i, "value", None) for i in cls.items)
        if None in wanted:
            return BOOL
    if wanted is None:
        return BOOL
    if isinstance(value, Scalar) and value.python is None:
        each = {is_instance(replace(value, python=way), cls) for way in (True, False)}
        return each.pop() if len(each) == 1 else BOOL
    actual = class_of(value)
    if actual is None:
        return BOOL
    try:
        return Const(value=issubclass(actual, wanted))
    except TypeError:
        return BOOL


def tells_ints(value: Type, cls: Type) -> bool:
    """Whether `isinstance` gives something else of a Python float than of an int."""
    if class_of(value) is not float:
        return False
    both = [is_instance(Const(value=number), cls) for number in (0, 0.0)]
    return both[0] != both[1]


def has_attribute(value: Type, name: str) -> bool | None:
    """Whether a value has it; None where it is not known."""
    if isinstance(value, Object) and value.cls is not None:
        return _object_has(value, name)
    number = isinstance(value, Const) and type(value.value) in (int, float, complex)
    named = isinstance(value, Tuple) and value.cls is not None
    if named or not (number or isinstance(value, (Array, Scalar, Tuple, List, Dict))):
        return None
    cls = class_of(value)
    return None if cls is None else hasattr(cls, name)


def _object_has(value: Object, name: str) -> bool | None:
    """Whether an object has an attribute, where its class or its making tells.

    What is among the items may be set on some paths alone. What is not, nor in the
    class, an object has not that is made in the text, where all is that sets any.
    """
    cls: Any = value.cls
    static = inspect.getattr_static(cls, name, None)
    if isinstance(static, pytypes.FunctionType):
        return True
    slot = isinstance(static, pytypes.MemberDescriptorType)
    asked = any(hasattr(cls, way) for way in ("__getattr__", "__slots__"))
    plain = cls.__getattribute__ is object.__getattribute__
    if asked or slot or not plain or hasattr(type(static), "__get__"):
        return None
    if static is not None or name in attributes_set(cls, cls.__init__):
        return True
    return None if name in dict(value.items) else False


@functools.lru_cache(maxsize=256)
def attributes_set(cls: type, init: Any) -> frozenset[str]:
    """The attributes that each object of the class gets from its `__init__`."""
    describe_init(cls)
    made: Any = cls.__new__
    if made is not object.__new__ or not isinstance(init, pytypes.FunctionType):
        return frozenset()
    try:
        node = read(init).node
    except SrcjaxError:
        return frozenset()
    first = node.args.args[0].id if node.args.args else ""
    found: set[str] = set()
    for stmt in node.body:
        if any(isinstance(each, gast.Return) for each in syntax.walk(stmt)):
            break
        places = [t for t in getattr(stmt, "targets", ()) if hasattr(t, "attr")]
        found |= {t.attr for t in places if syntax.is_name(t.value, first)}
    return frozenset(found)


def class_of(value: Type) -> Any:
    """The Python class of the value, None where the type does not tell."""
    actual: Any = _PYTHON_TYPES.get(type(value))
    if (
        isinstance(value, Tuple)
        and value.cls is not None
        or isinstance(value, (List, Dict, Object, Other))
    ):
        actual = value.cls
    elif isinstance(value, Const):
        actual = type(value.value)
    elif isinstance(value, Scalar) and value.dtype is not None:
        if value.python is None:
            return None
        actual = value.dtype.type
        if value.python:
            actual = {"f": float, "i": int, "b": bool, "c": complex}[value.dtype.kind]
    return actual
