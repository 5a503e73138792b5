"""What only the whole batched module shows: parameters that can go.

Before:                                 After:

    def g_batch(x, flag, batch_size):       def g_batch(x):
        return np.sin(x)                        return np.sin(x)

    def vmap_f(x):                          def vmap_f(x):
        batch_size = len(x)                     return g_batch(x)
        return g_batch(x, None, batch_size)
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.transforms.call_effects import called, is_pure
from srcjax.transforms.callees import Callees


def drop_unused_parameters(functions: list[gast.FunctionDef], callees: Callees) -> None:
    """Take away the parameters of batched callees that nothing reads, in place.

    So are the arguments for them, and the numbers of examples that are then not needed.
    """
    names = {name for _, (name,) in callees.wanted.values()}
    inside = [f for f in functions if f.name in names]
    changed = True
    while changed:
        changed = False
        for function in inside:
            calls = calls_of(functions, function.name)
            reads = syntax.names_read(function.body)
            for k in reversed(range(len(function.args.args))):
                given = [call.args[k] for call in calls]
                if function.args.args[k].id in reads or not all(map(is_plain, given)):
                    continue
                del function.args.args[k]
                for call in calls:
                    del call.args[k]
                changed = True
        for function in functions:
            function.body = without_counts(function.body, function) or function.body


def is_plain(value: gast.expr) -> bool:
    """Whether leaving the argument out leaves no effect out."""
    if isinstance(value, (gast.Tuple, gast.List)):
        return all(map(is_plain, value.elts))
    return isinstance(value, (gast.Name, gast.Constant)) or counts(value)


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
        syntax.rewrite_blocks(stmt, lambda block: without_counts(block, function))
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        name = target.id if isinstance(target, gast.Name) else ""
        if not (name and name not in reads and counts(stmt.value)):
            kept.append(stmt)
    return kept


def counts(value: gast.expr) -> bool:
    """Whether the value is a number of examples, which has no effect."""
    counting = isinstance(value, gast.Call) and called(value) in (
        "len",
        "np.count_nonzero",
    )
    return (counting and is_pure(value)) or isinstance(value, gast.Constant)


__all__ = ["drop_unused_parameters"]
