"""Numbers that are used once stand where they are used, as a person writes them."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.unit import Unit

#: What has functions, and no methods.
MODULES = ("np", "math")
#: Functions that raise where there is no result.
SOLVING = tuple(f"np.linalg.{f}" for f in ("inv", "solve", "cholesky", "det"))
#: Functions of all elements of an array.
READING = ("np.dot", "np.sum", *SOLVING)
#: No expression gets wider than this by what is nested into it.
WIDTH = 64
#: What is evaluated once, before anything in the statement's blocks.
_HEADS = {gast.If: "test", gast.For: "iter"}


def tidied(stmts: list[Any], unit: Unit) -> list[Any]:
    """The statements with the temporaries nested that are read once, near by."""
    counts = syntax.read_counts(stmts)
    bindings = syntax.binding_counts(stmts)
    names = unit.temps | unit.made

    def may_go(name: str) -> bool:
        return name in names and counts[name] == 1 and bindings[name] == 1

    def block(body: list[Any]) -> list[Any]:
        out: list[Any] = []
        for stmt in body:
            syntax.rewrite_blocks(stmt, block)
            out.append(stmt)
            while nested(out):
                pass
        return out

    def nested(out: list[Any]) -> bool:
        """Nest the nearest temporary that the last statement reads."""
        last = out[-1]
        head = [] if syntax.has_blocks(last) else [last]
        if isinstance(last, (gast.If, gast.For)):
            head = [getattr(last, _HEADS[type(last)])]
        reads = set(filter(may_go, syntax.names_read(head)))
        for k in range(len(out) - 2, -1, -1) if reads else ():
            stmt = out[k]
            name = assigned_name(stmt)
            if name not in reads:
                continue
            if moves(stmt.value, out[k + 1 : -1]) and fits(last, stmt.value):
                substitute(last, name, stmt.value)
                del out[k]
                return True
        return False

    return block(stmts)


def without_dead(stmts: list[Any], unit: Unit, checked: bool) -> list[Any]:
    """The statements without numbers that nobody reads.

    Args:
        checked: whether an index may be out of bounds: then elements are looked at.
    """
    while True:
        reads = syntax.read_counts(stmts)

        def is_dead(stmt: Any, reads: Any = reads) -> bool:
            name = assigned_name(stmt)
            if name is None or reads[name] or name not in unit.temps | unit.made:
                return False
            return not any(
                (isinstance(n, gast.Subscript) and checked)
                or (isinstance(n, gast.Call) and is_loud(n))
                for n in syntax.walk(stmt.value)
            )

        def block(body: list[Any], is_dead: Any = is_dead) -> list[Any]:
            kept = [s for s in body if not is_dead(s)]
            for stmt in kept:
                syntax.rewrite_blocks(stmt, lambda b: block(b) or [gast.Pass()])
            return kept

        before = len(list(syntax.all_statements(stmts)))
        stmts = block(stmts)
        if len(list(syntax.all_statements(stmts))) == before:
            return stmts


def is_loud(call: gast.Call) -> bool:
    """Whether a call may do more than give a number."""
    path = syntax.dotted(call.func) or ""
    quiet = path in ("float", "int", "abs") or path.partition(".")[0] == "np"
    return not quiet or path in SOLVING


def assigned_name(stmt: Any) -> str | None:
    """The name that a statement binds to a number."""
    if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
        name: str = stmt.targets[0].id
        return name
    return None


def moves(value: Any, between: list[Any]) -> bool:
    """Whether a value is the same after these statements."""
    if any(map(is_method, syntax.walk(value))):
        return False
    reads = syntax.names_read(value)
    if reads & syntax.names_written(between):
        return False
    loads = any(
        isinstance(n, gast.Subscript) or syntax.dotted(n) in READING
        for n in syntax.walk(value)
    )
    return not (loads and any(map(stores, between)))


def is_method(node: Any) -> bool:
    """Whether an expression calls a method, which may change what it is of."""
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
        return False
    return not (
        isinstance(node.func.value, gast.Name) and node.func.value.id in MODULES
    )


def stores(stmt: Any) -> bool:
    """Whether a statement may write to an array."""
    return any(
        isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)
        for n in syntax.walk(stmt)
    )


def fits(stmt: Any, value: Any) -> bool:
    """Whether the statement stays short enough to read."""
    if syntax.is_atom(value):
        return True
    head = _HEADS.get(type(stmt))
    own = syntax.text(getattr(stmt, head) if head else stmt)
    return len(own) + len(syntax.text(value)) <= WIDTH


def substitute(stmt: Any, name: str, value: gast.expr) -> None:
    """Put the value in the place of the name."""

    def visit(node: Any) -> Any:
        return value if syntax.is_name(node, name) else node

    if type(stmt) in _HEADS:
        key = _HEADS[type(stmt)]
        setattr(stmt, key, syntax.map_expressions(getattr(stmt, key), visit))
        return
    new = syntax.map_expressions(stmt, visit)
    if new is not stmt:
        stmt.__dict__.update(new.__dict__)
