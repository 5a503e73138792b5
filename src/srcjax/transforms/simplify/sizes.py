"""Ask the shape of what an array is made of, where that is the same.

Before:                                  After:

    power = centred**2                       power = centred**2
    dy = d / power.shape[1] * centred        dy = d / centred.shape[1] * centred

A power whose shape alone was asked for again may then go into the line that reads it.
So it is with whatever has the shape of something that it is made of, where its shape is
all that is asked for. And where types are not known:

    log_p = np.log(p)                        total = y * np.log(p)
    total = y * log_p
    dp = unbroadcast(d * y, log_p) / p       dp = unbroadcast(d * y, p) / p
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.ops.elementwise_facts import is_elementwise
from srcjax.transforms.call_effects import called, written_bases

_ASKED = ("shape", "size", "ndim")
#: Functions that look at nothing but the shape of one argument, and which one it is.
_LOOKING = {"unbroadcast": 1, "unreduce": 3, "np.size": 0, "np.shape": 0}


def sizes_of_operands(
    node: gast.FunctionDef,
    is_ours: Callable[[str], bool],
    is_array: Callable[[gast.expr], bool],
    alike_in_shape: Callable[[str, str], bool],
) -> bool:
    """Ask operands for their shapes in the function, in place; whether any was.

    `alike_in_shape` tells whether two names surely hold arrays of one shape.
    """
    asking = [sub for sub in syntax.walk(node.body) if _asks(sub)]
    if not asking:
        return False
    parameters = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    bound = Counter(
        n.id
        for n in syntax.names_in(node.body)
        if not isinstance(n.ctx, gast.Load) and n.id not in parameters
    )
    again = parameters & syntax.names_written(node.body)

    def once(name: str) -> bool:
        return bound[name] == 1 or (name in parameters and name not in again)

    changing = written_bases(node.body)
    asked_alone = _asked_alone(node, asking)
    made: dict[str, str] = {}
    alike: dict[str, str] = {}
    for stmt in node.body:
        if not isinstance(stmt, gast.Assign) or not syntax.is_name(stmt.targets[0]):
            continue
        name = stmt.targets[0].id
        whole, computed = _operand(stmt.value), _computed(stmt.value)
        if bound[name] != 1 or not is_ours(name):
            continue
        if not whole and name in asked_alone:
            whole = next(
                (n for n in _names(stmt.value) if once(n) and alike_in_shape(n, name)),
                "",
            )
        if whole and once(whole) and is_array(syntax.name(whole)):
            made[name] = made.get(whole, whole)
        # A list could grow, until an array is made of it.
        if computed and once(computed) and computed not in changing:
            alike[name] = alike.get(computed, computed)
    changed = False
    for sub in asking:
        asked = _asked(sub)
        if isinstance(asked, gast.Name) and asked.id in made:
            asked.id = made[asked.id]
            changed = True
        at = _LOOKING.get(called(sub))
        like: Any = sub.args[at] if at is not None and len(sub.args) > at else None
        if isinstance(like, gast.Name) and like.id in alike:
            like.id = alike[like.id]
            changed = True
    return changed


def _asks(node: Any) -> bool:
    """Whether the node itself looks at a shape."""
    if isinstance(node, gast.Attribute):
        return node.attr in _ASKED
    return isinstance(node, gast.Call) and (
        called(node) in _LOOKING or _asked(node) is not None
    )


def _asked(node: Any) -> Any:
    """`x` of `x.shape` or `len(x)`; None of anything else."""
    if isinstance(node, gast.Attribute) and node.attr in _ASKED:
        return node.value
    return node.args[0] if called(node) == "len" and len(node.args) == 1 else None


def _asked_alone(node: gast.FunctionDef, asking: list[Any]) -> set[str]:
    """The names that are read for their shapes, and nothing else."""
    asked: Counter[str] = Counter()
    for sub in asking:
        value = _asked(sub)
        if isinstance(value, gast.Name):
            asked[value.id] += 1
    read = syntax.read_counts(node.body) if asked else {}
    return {name for name, times in asked.items() if read[name] == times}


def _names(value: gast.expr) -> list[str]:
    """The names that an expression reads, in the order of the text."""
    return list(dict.fromkeys(n.id for n in syntax.names_in(value)))


def _computed(value: Any) -> str:
    """`x` of what is computed element by element of it and numbers, as `-np.exp(x)`.

    `2 * x` is a list twice, where `x` is one.
    """
    if isinstance(value, gast.Call):
        if not is_elementwise(called(value)) or value.keywords or len(value.args) != 1:
            return ""
        return _computed(value.args[0]) or getattr(value.args[0], "id", "")
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return _computed(value.operand) or getattr(value.operand, "id", "")
    if not isinstance(value, gast.BinOp) or isinstance(value.op, gast.MatMult):
        return ""
    number = isinstance(value.left, gast.Constant)
    if number == isinstance(value.right, gast.Constant):
        return ""
    constant, other = value.left, value.right
    if not number:
        constant, other = other, constant
    if type(constant.value) not in (int, float):
        return ""
    inside = _computed(other)
    repeats = isinstance(value.op, gast.Mult) and isinstance(constant.value, int)
    return inside or ("" if repeats else getattr(other, "id", ""))


def _operand(value: Any) -> str:
    """`x` of `-x`, `x**2` and `2 * x`."""
    if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
        return getattr(value.operand, "id", "")
    if not isinstance(value, gast.BinOp) or isinstance(value.op, gast.MatMult):
        return ""
    parts = [value.left, value.right]
    names = [p.id for p in parts if isinstance(p, gast.Name)]
    plain = len(names) == 1 and any(isinstance(p, gast.Constant) for p in parts)
    return names[0] if plain else ""
