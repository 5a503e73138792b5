"""What a statement or expression does besides giving a value."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.unfollowed import place_of_out
from srcjax.frontend.helper_names import HELPERS

_PURE_MODULES = ("np", "numpy", "math", "scipy", "xp", "operator")
_PURE_NAMES = frozenset(
    [
        "len",
        "range",
        "abs",
        "min",
        "max",
        "float",
        "int",
        "bool",
        "sum",
        "reversed",
        "zip",
        "enumerate",
        "list",
        "tuple",
        "dict",
        "isinstance",
        "sorted",
        "round",
        "str",
        "repr",
        "slice",
        "divmod",
        "pow",
        "unbroadcast",
        "unreduce",
        "zeros_like",
        "add",
        "last_written",
        "type",
        "set",
        "getattr",
        "any",
        "all",
    ]
)
#: Methods that change the object they belong to.
MUTATING = frozenset(
    [
        "append",
        "extend",
        "insert",
        "pop",
        "remove",
        "clear",
        "sort",
        "reverse",
        "update",
        "setdefault",
        "popitem",
        "add",
        "discard",
        "fill",
        "put",
        "itemset",
        "resize",
        "partition",
    ]
)
_PURE_METHODS = frozenset(
    [
        "sum",
        "mean",
        "prod",
        "max",
        "min",
        "std",
        "var",
        "cumsum",
        "cumprod",
        "dot",
        "reshape",
        "ravel",
        "flatten",
        "transpose",
        "swapaxes",
        "squeeze",
        "copy",
        "astype",
        "clip",
        "conj",
        "repeat",
        "take",
        "trace",
        "diagonal",
        "get",
        "items",
        "keys",
        "values",
        "any",
        "all",
        "argmax",
        "argmin",
        "argsort",
        "round",
        "item",
        "tolist",
        "nonzero",
        "searchsorted",
        "index",
        "count",
    ]
)


def _gives_out(name: str, node: gast.Call) -> bool:
    """Whether a call of `np.name` has its `out` among the positional arguments."""
    function: Any = np
    for part in name.split("."):
        function = getattr(function, part, None)
    return bool(node.args[place_of_out(function)])


def is_pure_call(node: gast.Call, pure: frozenset[str] = frozenset()) -> bool:
    """Whether the call only computes its value."""
    if any(k.arg == "out" for k in node.keywords):
        return False
    chain = syntax.dotted(node.func)
    if chain is not None:
        first, _, rest = chain.partition(".")
        if first in _PURE_MODULES and rest:
            if (
                first in ("np", "numpy")
                and len(node.args) > 1
                and _gives_out(rest, node)
            ):
                return False
            return not rest.startswith("random") and not rest.endswith(
                (".at", "copyto", "fill_diagonal", "put", "place", "putmask")
            )
        if chain in _PURE_NAMES or chain in pure:
            return True
        if chain.startswith("un") and chain in HELPERS:
            return True  # the adjoint of an operation
    if isinstance(node.func, gast.Attribute):
        return node.func.attr in _PURE_METHODS
    return False


def is_pure(node: Any, pure: frozenset[str] = frozenset()) -> bool:
    """Whether evaluating the expression has no effect."""
    for sub in syntax.walk(node):
        if isinstance(sub, gast.Call) and not is_pure_call(sub, pure):
            return False
        if isinstance(sub, (gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)):
            return False
    return True


def written_bases(stmt: Any) -> set[str]:
    """Names whose objects the statement may change in place."""
    found: set[str] = set()
    for sub in syntax.walk(stmt):
        if isinstance(sub, gast.AugAssign):
            found.add(_base(sub.target))
        elif isinstance(sub, (gast.Subscript, gast.Attribute)) and isinstance(
            sub.ctx, (gast.Store, gast.Del)
        ):
            found.add(_base(sub))
        elif isinstance(sub, gast.Call) and not is_pure_call(sub):
            if isinstance(sub.func, gast.Attribute):
                base = _base(sub.func)
                found.add(base)
                if sub.func.attr in MUTATING and base not in _PURE_MODULES:
                    continue  # `s.add(x)`; but `np.add(x, 1, x)` writes to `x`
            chain = syntax.dotted(sub.func) or ""
            if chain.endswith(("_forward", "_backward")) or chain == "pullback":
                continue  # they never write to what they are given
            found |= syntax.names_read(sub.func)  # `partial(f, x)` holds `x`
            for argument in [*sub.args, *(k.value for k in sub.keywords)]:
                found |= syntax.names_read(argument)
    return found - {""}


def _base(node: Any) -> str:
    while isinstance(node, (gast.Subscript, gast.Attribute, gast.Call)):
        node = node.func if isinstance(node, gast.Call) else node.value
    return node.id if isinstance(node, gast.Name) else ""
