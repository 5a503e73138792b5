"""What a temporary is called: after what it is made of, else after its operation.

    W @ x                 Wx
    0.5 * dt * rate       half_dt_rate
    np.exp(-y * z)        exp_neg_y_z
    x**2                  x_squared
    x - mu                difference: `dx_minus_mu` would not read as its adjoint

The words for the temporaries in it are known when a temporary gets its name.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from typing import Any

import gast

from srcjax import syntax

#: By name of a temporary, the word for its value.
Words = Mapping[str, str]
#: The longest name, in characters, that is made of operands.
_LIMIT = 17
#: How long two names are, together, that are not put beside each other.
_LONG = 11
#: What a temporary is called after the operation that it holds.
_OPERATOR_NAMES = {
    gast.Add: "total",
    gast.Sub: "difference",
    gast.Mult: "product",
    gast.Div: "ratio",
    gast.Pow: "power",
    gast.MatMult: "product",
    gast.Mod: "remainder",
    gast.FloorDiv: "quotient",
    gast.USub: "negative",
}
#: What begins the name of a temporary for a negated value.
_NEGATIVE = "neg_"
#: What begins a word for no value in particular.
_VAGUE = "?"
_POWERS = {2: "squared", 3: "cubed"}
_NUMBERS = {0.5: "half", 1: "one", 2: "two", 3: "three", 4: "four"}


def describe(value: gast.expr, words: Words) -> tuple[str, str]:
    """A name for a temporary, from what it holds, and the word for its value.

    `words` are those for the values of temporaries.
    """
    said = _spoken(value, words)
    if said and len(said) <= _LIMIT and not syntax.is_atom(value):
        return said, said
    name = _operation(value)
    return name, said or f"{_VAGUE}{name}"


def without_minus(name: str) -> str | None:
    """The name of what a value that `describe` named so negates, if it does."""
    return name.removeprefix(_NEGATIVE) if name.startswith(_NEGATIVE) else None


def _operation(value: gast.expr) -> str:
    """A name that says what was done."""
    if isinstance(value, (gast.BinOp, gast.UnaryOp)):
        return _OPERATOR_NAMES.get(type(value.op), "value")
    if isinstance(value, gast.Call):
        return f"{_function(value)}_value"
    if isinstance(value, gast.Subscript):
        named = isinstance(value.value, gast.Name)
        return f"{value.value.id.rstrip('_')}_{_part(value.slice)}" if named else "item"
    if isinstance(value, gast.Attribute):
        return value.attr
    if isinstance(value, gast.Compare):
        return "condition"
    if isinstance(value, (gast.List, gast.ListComp)):
        return "values"
    return "value"


def _part(index: Any) -> str:
    """A word for the part of an array or list that an index reads."""
    if isinstance(index, gast.Slice):
        return _stretch(index)
    if isinstance(index, gast.Tuple) and len(index.elts) == 2:
        rows, column = index.elts
        plain = isinstance(column, (gast.Name, gast.Constant)) and not _is_none(column)
        return "column" if plain and syntax.is_full_slice(rows) else "part"
    if _number(index) == -1:
        return "last"
    if isinstance(index, gast.BinOp) and _number(index.right) == 1:
        return _BESIDE.get(type(index.op), "part")
    return "part"


def _stretch(index: gast.Slice) -> str:
    """`x[1:]` is the rest, `x[1:-1]` the inner part, `x[::-1]` all of it, reversed."""
    lower, upper = index.lower, index.upper
    if index.step is not None:
        return "reversed" if _number(index.step) == -1 and not lower else "part"
    if upper is None:
        return "rest" if _number(lower) == 1 else "end"
    if lower is None:
        return "start"
    return "inner" if (_number(lower), _number(upper)) == (1, -1) else "part"


#: What is beside an item: `x[i + 1]`.
_BESIDE = {gast.Add: "next", gast.Sub: "previous"}


def _is_none(index: Any) -> bool:
    return isinstance(index, gast.Constant) and index.value is None


def _number(index: Any) -> int | None:
    """The whole number that an expression is, with its sign."""
    if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub):
        number = _number(index.operand)
        return None if number is None else -number
    known = isinstance(index, gast.Constant) and type(index.value) is int
    return index.value if known else None


def _spoken(value: Any, words: Words) -> str | None:
    """A word for a value, from those of what it is made of; None: too long for one."""
    said = _said(value, words)
    return said if said and len(said) <= 2 * _LIMIT else None


def _said(value: Any, words: Words) -> str | None:
    if isinstance(value, gast.Name):
        word = words.get(value.id, value.id)
        return None if word.startswith(_VAGUE) else word
    if isinstance(value, gast.Constant):
        number = type(value.value) in (int, float)
        return _NUMBERS.get(value.value) if number else None
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        inner = _said(value.operand, words)
        return inner and f"{_NEGATIVE}{inner}"
    if isinstance(value, gast.BinOp):
        return _of_two(value, words)
    if isinstance(value, gast.Call):
        return _of_call(value, words)
    if isinstance(value, gast.Subscript):
        return _of_item(value)
    if isinstance(value, (gast.List, gast.Tuple)):
        parts = [_said(part, words) or "" for part in value.elts]
        return "_".join(parts) if all(parts) else None
    if isinstance(value, gast.Attribute) and value.attr in ("T", "pi"):
        inner = _said(value.value, words)
        return value.attr if value.attr == "pi" else inner and f"{inner}T"
    return None


def _of_two(value: gast.BinOp, words: Words) -> str | None:
    first, second = (_said(part, words) for part in (value.left, value.right))
    if isinstance(value.op, gast.Pow) and isinstance(value.right, gast.Constant):
        power = value.right.value
        named = type(power) in (int, float) and _POWERS.get(power)
        return f"{first}_{named}" if first and named else None
    if not isinstance(value.op, (gast.Mult, gast.MatMult)) or not first or not second:
        return None
    if isinstance(value.right, gast.Constant):
        first, second = second, first
    if first == second and isinstance(value.op, gast.Mult):
        return f"{first}_squared"
    return _beside(first, second)


def _beside(first: str, second: str) -> str | None:
    """`Wx` of two short names, `dt_rate` of others: never one that means something."""
    if first.startswith(_NEGATIVE):
        inner = _beside(first.removeprefix(_NEGATIVE), second)
        return inner and f"{_NEGATIVE}{inner}"
    counted = any(f"{word}_" in f"{first}_" for word in _NUMBERS.values())
    if len(first) + len(second) >= _LONG and not counted:
        return None
    tight = f"{first}{second}"
    short = len(first) <= 2 and len(second) <= 2 and "_" not in tight
    taken = keyword.iskeyword(tight) or hasattr(builtins, tight) or tight[0] == "d"
    return tight if short and not taken else f"{first}_{second}"


def _function(value: gast.Call) -> str:
    """The name of what is called, without those of modules."""
    chain = syntax.dotted(value.func)
    return chain.split(".")[-1] if chain else getattr(value.func, "attr", "value")


def _of_call(value: gast.Call, words: Words) -> str | None:
    if isinstance(value.func, gast.Lambda) or not value.args:
        return None
    first, *others = value.args
    plain = all(isinstance(other, gast.Constant) for other in others)
    if isinstance(first, gast.Starred) or not plain:
        return None
    inner = _said(first, words)
    if isinstance(first, gast.Name):
        inner = words.get(first.id, first.id)[:_LIMIT].removeprefix(_VAGUE)
    return inner and f"{_function(value)}_{inner}"


def _of_item(value: gast.Subscript) -> str | None:
    """`params_W`, `x_0`, `A_ij`, or the key itself: `W` of `params["W"]`."""
    index = value.slice
    if isinstance(value.value, gast.Attribute) and value.value.attr == "shape":
        return "size"
    if not isinstance(value.value, gast.Name):
        return None
    if isinstance(index, gast.Constant) and isinstance(index.value, str):
        return index.value if index.value.isidentifier() else None
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    atoms = all(isinstance(part, (gast.Name, gast.Constant)) for part in parts)
    texts = [syntax.text(part) for part in parts] if atoms else [""]
    plain = all(text.isidentifier() or text.isdigit() for text in texts)
    if len(texts) > 1 and any(len(text) > 1 for text in texts):
        return None
    return f"{value.value.id}_{''.join(texts)}" if plain else None
