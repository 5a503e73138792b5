"""Test arguments where a function begins, all for the same at once.

Before:                         After:

    h = x                           if isinstance(Ws, dict) or isinstance(bs, dict):
    if isinstance(Ws, dict):            raise TypeError("...")
        raise TypeError("...")      h = x
    if isinstance(bs, dict):        for W, b in zip(Ws, bs):
        raise TypeError("...")          h = np.tanh(W @ h + b)
    for W, b in zip(Ws, bs):
        h = np.tanh(W @ h + b)

Text without types has these tests, of what loops go over (`settle.loops`). What is
computed by arithmetic that no dict has needs none.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called
from srcjax.transforms.iterables import KEYS_REFUSED

#: Operations whose result is no dict: of two counters there are sums and unions.
_OF_NUMBERS = (gast.MatMult, gast.Mult, gast.Div, gast.Pow)


def tests_first(node: gast.FunctionDef) -> None:
    """Do so in the function, in place."""
    found = [s for s in node.body if _refuses_keys(s)]
    if not found:
        return
    given = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    given -= syntax.names_written(node.body)
    first: dict[str, Any] = {}
    gone: set[int] = set()
    for stmt in found:
        name = stmt.test.args[0].id
        if name in given:
            first.setdefault(name, stmt)
            gone.add(id(stmt))
        elif _is_computed(node, name):
            gone.add(id(stmt))
    node.body = [s for s in node.body if id(s) not in gone]
    if first:
        node.body.insert(0, _joined(first))


def _refuses_keys(stmt: Any) -> bool:
    """Whether it is the test of a name that a loop goes over."""
    if not isinstance(stmt, gast.If) or stmt.orelse or len(stmt.body) != 1:
        return False
    error = getattr(stmt.body[0], "exc", None)
    said = [getattr(a, "value", "") for a in getattr(error, "args", ())]
    named = called(stmt.test) == "isinstance" and syntax.is_name(stmt.test.args[0])
    return named and len(said) == 1 and KEYS_REFUSED in str(said[0])


def _joined(tests: dict[str, Any]) -> gast.If:
    """One statement that raises where one of the names stands for a dict."""
    made: gast.If
    made, *others = tests.values()
    if others:
        made.test = gast.BoolOp(gast.Or(), [stmt.test for stmt in tests.values()])
        made.body[0].exc.args = [syntax.const(f"one of these {KEYS_REFUSED}")]
    return made


def _is_computed(node: gast.FunctionDef, name: str) -> bool:
    """Whether the name stands for nothing but what such arithmetic gives."""
    values: list[Any] = [
        stmt.value
        for stmt in syntax.all_statements(node.body)
        if isinstance(stmt, gast.Assign) and syntax.is_name(stmt.targets[0], name)
    ]
    bound = syntax.binding_counts([node.args, *node.body])[name]
    computed = (isinstance(getattr(v, "op", None), _OF_NUMBERS) for v in values)
    return len(values) == bound and all(computed)


__all__ = ["tests_first"]
