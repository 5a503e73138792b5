"""Names that read well: without gaps in their numbers, and `i` for each loop.

    for i7 in range(len(w)):             for i in range(len(w)):
        total_i3 = w[i7] * x[i7]   ->        total_i = w[i] * x[i]

Only names that srcjax made up, or numbered, are changed; what is handed from a function
to a kernel is called the same in both.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.unit import Unit, parameter_names

_INDICES = "ijklmn"


def renumber(functions: list[gast.FunctionDef], unit: Unit) -> None:
    """Give the functions of a module better names, in place."""
    for function in functions:
        name_indices(function, unit)
    bound: dict[str, None] = {}
    for function in functions:
        bound |= dict.fromkeys(parameter_names(function.args))
        bound |= dict.fromkeys(bound_in_order(function.body))
    elements = {n: found for n in bound if (found := element_of(n, unit))}
    arrays = [array for array, _ in elements.values()]
    numbered = [n for n in (*bound, *arrays) if n in unit.names.numbered]
    changing = {n: base_of(n, unit) for n in numbered}
    used = {f.name for f in functions}.union(*map(syntax.all_names, functions))
    names = syntax.Names(used - set(changing) - set(elements))
    renamed = {n: names.fresh(b) for n, b in changing.items() if n not in elements}
    for name, (array, marks) in elements.items():
        renamed[name] = names.fresh(f"{renamed.get(array, array)}_{marks}")
    for function in functions:
        checks: Any = [
            d.args for d in function.decorator_list if isinstance(d, gast.Call)
        ]
        syntax.rename([checks, function.args, *function.body], renamed)


def base_of(name: str, unit: Unit) -> str:
    """What a name was called before it got numbers."""
    while name in unit.names.numbered:
        name = unit.names.numbered[name]
    return name


def element_of(name: str, unit: Unit) -> tuple[str, str] | None:
    """The array that a name has an element of, and its indices: `x2_ij` of `x2`."""
    array, _, marks = base_of(name, unit).rpartition("_")
    known = name in unit.temps and array in unit.names.numbered
    return (array, marks) if known and set(marks) <= {*_INDICES, "0"} else None


def bound_in_order(body: list[Any]) -> list[str]:
    """The names that statements bind, in the order in which they stand."""
    return [
        node.id
        for stmt in syntax.all_statements(body)
        for part in syntax.head(stmt)
        for node in syntax.walk(part)
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)
    ]


def name_indices(function: gast.FunctionDef, unit: Unit) -> None:
    """`i`, `j` for the indices of loops, the same in loops that stand apart."""
    taken = syntax.all_names(function) | {function.name}
    loops = [s for s in syntax.walk(function.body) if isinstance(s, gast.For)]
    ours = {
        s.target.id: s
        for s in loops
        if isinstance(s.target, gast.Name) and is_index(s, function, unit)
    }
    more = [f"{n}{k}" for k in range(2, 10) for n in _INDICES]
    names = [*_INDICES, *more]
    free = [n for n in names if n not in taken or n in ours]

    def visit(body: list[Any], around: list[str]) -> None:
        for stmt in body:
            inside = around
            index = getattr(getattr(stmt, "target", None), "id", "")
            if isinstance(stmt, gast.For) and ours.get(index) is stmt:
                left = [n for n in free if n not in around]
                syntax.rename(stmt, {index: f"{left[0]}@"})
                inside = [*around, left[0]]
            for block in syntax.inner_blocks(stmt):
                visit(block, inside)

    visit(function.body, [])
    syntax.rename(function.body, {f"{n}@": n for n in names})


def is_index(loop: gast.For, function: gast.FunctionDef, unit: Unit) -> bool:
    """Whether the name of a loop was made for it, and means nothing outside of it."""
    name = loop.target.id
    outside = syntax.count_uses(function.body, name) == syntax.count_uses(loop, name)
    return outside and name in unit.temps and base_of(name, unit) in _INDICES
