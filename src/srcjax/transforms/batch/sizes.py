"""Numbers of examples that nothing reads.

Before:                                 After:

    def g_batch(x, batch_size):             def g_batch(x):
        return np.sin(x)                        return np.sin(x)

    def vmap_f(x):                          def vmap_f(x):
        batch_size = len(x)                     return g_batch(x)
        return g_batch(x, batch_size)
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax


def drop_unused_sizes(functions: list[gast.FunctionDef], callees: set[str]) -> None:
    """Take away the last parameter of batched callees where nothing reads it.

    In place; so are the arguments for it, and the counts that are needed no more.
    """
    todo = {f.name: f for f in functions if f.name in callees}
    changed = True
    while changed:
        changed = False
        for name, function in list(todo.items()):
            size = function.args.args[-1].id
            if size in syntax.names_read(function.body):
                continue
            function.args.args.pop()
            for call in calls_of(functions, name):
                call.args.pop()
            del todo[name]
            changed = True
        for function in functions:
            function.body = without_counts(function.body, function) or function.body


def calls_of(functions: list[gast.FunctionDef], name: str) -> list[gast.Call]:
    """Every call of the function of that name."""
    return [
        node
        for function in functions
        for node in syntax.walk(function.body)
        if isinstance(node, gast.Call) and syntax.is_name(node.func, name)
    ]


def without_counts(block: list[Any], function: gast.FunctionDef) -> list[Any]:
    """The statements without `batch_size = len(x)` where that is not read."""
    reads = syntax.names_read(function.body)
    kept = []
    for stmt in block:
        for key in ("body", "orelse", "finalbody"):
            inner = getattr(stmt, key, None)
            if isinstance(inner, list) and inner:
                setattr(stmt, key, without_counts(inner, function) or [gast.Pass()])
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        name = target.id if isinstance(target, gast.Name) else ""
        unread = name.startswith("batch_size") and name not in reads
        if not (unread and counts(stmt.value)):
            kept.append(stmt)
    return kept


def counts(value: gast.expr) -> bool:
    """Whether the value is a number of examples, which has no effect."""
    counting = isinstance(value, gast.Call) and syntax.dotted(value.func) in (
        "len",
        "np.count_nonzero",
    )
    return counting or isinstance(value, gast.Constant)


__all__ = ["drop_unused_sizes"]
