"""Which names statements bind, surely bind, and read before they bind them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import Way, control, leaves


def swap_pairs(stmt: Any) -> list[tuple[str, str]]:
    """(new name, old name) of an assignment that permutes names; else empty."""
    if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
        return []
    target, value = stmt.targets[0], stmt.value
    if not isinstance(target, gast.Tuple) or not isinstance(value, gast.Tuple):
        return []
    if not all(isinstance(e, gast.Name) for e in (*target.elts, *value.elts)):
        return []
    new, old = [e.id for e in target.elts], [e.id for e in value.elts]
    if len(new) < 2 or len(set(new)) != len(new) or sorted(new) != sorted(old):
        return []
    return list(zip(new, old, strict=True))


def stored_names(target: Any) -> set[str]:
    """The names that an assignment to the target binds."""
    return {n.id for n in syntax.names_in(target) if isinstance(n.ctx, gast.Store)}


def named_inside(node: Any) -> set[str]:
    """The names that `:=` binds in an expression; functions have their own."""
    plain = not isinstance(node, gast.AnnAssign)
    if plain and gast.NamedExpr not in syntax.kinds(node):
        return set()
    if isinstance(node, (gast.FunctionDef, gast.Lambda)):
        return set()
    found = {node.target.id} if isinstance(node, gast.NamedExpr) else set()
    return found.union(*map(named_inside, gast.iter_child_nodes(node)))


def bound_names(stmt: Any) -> list[str]:
    """Names that a simple statement binds (not those it writes through)."""
    if swap_pairs(stmt):
        return []  # what the names hold is exchanged, not the names
    if isinstance(stmt, gast.Assign):
        return sorted(stored_names(stmt.targets) | named_inside(stmt.value))
    if isinstance(stmt, gast.AugAssign):
        return sorted(named_inside(stmt))
    if isinstance(stmt, gast.AnnAssign) and stmt.value is None:
        return []
    return sorted(syntax.names_written(stmt))


def entered_names(stmt: Any) -> list[str]:
    """The names that a statement whose blocks run once binds before them."""
    run = control(stmt)
    return sorted(syntax.names_written(run.head)) if run is not None else []


def surely(stmt: Any) -> set[str]:
    """Names that the statement binds on every path that reaches its end."""
    run = control(stmt)
    if run is None:
        return set(bound_names(stmt))
    if run.way is Way.LOOP:
        return set()
    if run.way is Way.ONCE:
        return syntax.names_written(run.head).union(*map(surely_in, run.blocks))
    reached = [block for block in run.blocks if not leaves(block)] or run.blocks
    return set.intersection(*map(surely_in, reached)) | surely_in(run.last)


def surely_in(block: Iterable[Any]) -> set[str]:
    """The same for the statements of a block."""
    return set().union(*map(surely, block))


def bound_before(block: list[Any], stmt: Any) -> set[str]:
    """Names that have a value for sure when the statement is reached."""
    bound: set[str] = set()
    for each in block:
        if each is stmt:
            break
        inside = [b for b in syntax.inner_blocks(each) if _stands_in(stmt, b)]
        if inside:
            run = control(each)
            if run is not None and run.target is not None:
                bound |= syntax.names_written(run.target)
            return bound.union(*(bound_before(b, stmt) for b in inside))
        bound |= surely(each)
    return bound


def _stands_in(stmt: Any, block: list[Any]) -> bool:
    return any(s is stmt for s in syntax.all_statements(block))


def exposed(stmts: Iterable[Any]) -> set[str]:
    """Names that the statements may read before they bind them."""
    found: set[str] = set()
    bound: set[str] = set()
    for stmt in stmts:
        found |= _reads_first(stmt) - bound
        bound |= surely(stmt)
    return found


def read_from_around(node: gast.FunctionDef) -> set[str]:
    """Names that the function reads before it binds them."""
    parameters = {a.id for a in syntax.walk(node.args) if isinstance(a, gast.Name)}
    return exposed(node.body) - parameters


def ordered_names(node: gast.FunctionDef) -> list[str]:
    """Names of a function in the order in which they are bound."""
    found: dict[str, None] = {}
    for sub in syntax.walk(node.args):
        if isinstance(sub, gast.Name):
            found[sub.id] = None
    for sub in syntax.walk(node.body):
        if isinstance(sub, gast.Name) and isinstance(sub.ctx, gast.Store):
            found[sub.id] = None
    return list(found)


def _reads_first(stmt: Any) -> set[str]:
    run = control(stmt)
    if run is not None:
        found = syntax.names_read(run.head)
        if run.way is Way.ONCE:
            inner = exposed(s for block in run.blocks for s in block)
            return found | (inner - syntax.names_written(run.head))
        inner = set().union(*map(exposed, run.blocks))
        if run.target is not None:
            inner -= syntax.names_written(run.target)
        return found | inner | exposed(run.last)
    reads = syntax.names_read(stmt)
    if syntax.names_written(stmt) & reads:
        reads = free_reads(stmt)  # the variable of a comprehension is its own
    if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
        reads.add(stmt.target.id)
    return reads


def free_reads(node: Any, later: bool = True) -> set[str]:
    """Names that are read, but for the variables of comprehensions and lambdas inside.

    Without `later` those are left out that a lambda reads when it is called.
    """
    found: set[str] = set()
    for child in gast.iter_child_nodes(node):
        found |= free_reads(child, later)
    if isinstance(node, gast.Lambda):
        names = (n for n in syntax.walk(node.args) if isinstance(n, gast.Name))
        own = {n.id for n in names if isinstance(n.ctx, gast.Param)}
        inside = free_reads(gast.Expr(node.body)) - own if later else set()
        return inside | free_reads(node.args, later)
    if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
        found.add(node.id)
    elif isinstance(node, syntax.COMPREHENSIONS):
        found -= syntax.names_written([g.target for g in node.generators])
        found |= free_reads(node.generators[0].iter)
    return found
