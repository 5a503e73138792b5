"""Indices that were made before they are used, written out where they are used.

    key = (i, slice(0, 2))                  y[i, 0:2] = v
    y[key] = v

Rules of operations go by what an index says, and a reader does too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.control import is_compound
from srcjax.frontend.unit import Unit


class Keys:
    """Keys by the name that holds them: an index, as it may stand in brackets."""

    def __init__(self) -> None:
        self.held: dict[str, gast.expr] = {}
        #: The names that each of them goes by, its own too, and the other way round.
        self.names: dict[str, frozenset[str]] = {}
        self.by: dict[str, set[str]] = {}

    def copy(self) -> Keys:
        found = Keys()
        found.held, found.names = dict(self.held), dict(self.names)
        found.by = {name: set(holders) for name, holders in self.by.items()}
        return found

    def hold(self, name: str, key: gast.expr) -> None:
        """A key gets a name, which holds none."""
        self.held[name] = key
        self.names[name] = frozenset({name, *syntax.names_read(key)})
        for each in self.names[name]:
            self.by.setdefault(each, set()).add(name)

    def forget(self, written: set[str]) -> None:
        """Keep the keys that stay what they are when names are bound."""
        for name in written & self.by.keys():
            for holder in list(self.by.get(name, ())):
                del self.held[holder]
                for each in self.names.pop(holder):
                    self.by[each].discard(holder)


def write_out_keys(unit: Unit, is_builtin: Callable[[gast.expr, str], bool]) -> bool:
    """Write indices out, in place. True if something changed.

    Args:
        is_builtin: whether an expression is what Python itself calls so.
    """
    writing = _Writing(unit.temps | unit.inlined, is_builtin)
    writing.block(unit.node.body, Keys())
    return writing.changed


class _Writing:
    def __init__(
        self, own: set[str], is_builtin: Callable[[gast.expr, str], bool]
    ) -> None:
        #: Names that are not the user's.
        self.own = own
        self.is_builtin = is_builtin
        self.changed = False

    def block(self, stmts: list[gast.stmt], keys: Keys) -> None:
        """Go through a block, given the keys that are made before."""
        for stmt in stmts:
            if is_compound(stmt):
                if keys.held:  # a loop comes here again
                    keys.forget(syntax.names_written(stmt))
                if not isinstance(stmt, gast.FunctionDef):
                    for part in syntax.inner_blocks(stmt):
                        self.block(part, keys.copy())
                continue
            if keys.held:
                if gast.Subscript in syntax.kinds(stmt):
                    self.use(stmt, keys)
                keys.forget(syntax.names_written(stmt))
            key = self.key_in(stmt, keys)
            if key is not None:
                keys.hold(stmt.targets[0].id, key)

    def use(self, stmt: gast.stmt, keys: Keys) -> None:
        """Write keys out in the statement."""
        for node in syntax.walk(stmt):
            if isinstance(node, gast.Lambda):
                return
        for node in syntax.walk(stmt):
            if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Name):
                key = keys.held.get(node.slice.id)
                if key is not None:
                    node.slice = syntax.clone(key)
                    self.changed = True

    def key_in(self, stmt: gast.stmt, keys: Keys) -> gast.expr | None:
        """The key that the statement gives a name."""
        if not isinstance(stmt, gast.Assign) or len(stmt.targets) != 1:
            return None
        target, value = stmt.targets[0], stmt.value
        if not isinstance(target, gast.Name):
            return None
        key = self.written_out(value, keys)
        if key is None or target.id in syntax.names_read(key):
            return None
        named = isinstance(key, (gast.Name, gast.Constant))
        return None if named and target.id not in self.own else key

    def written_out(self, value: Any, keys: Keys) -> gast.expr | None:
        """A value as it may stand in brackets, if it is made of names and numbers."""
        if isinstance(value, gast.Name):
            return keys.held.get(value.id, value)
        if isinstance(value, gast.Constant):
            return value
        if isinstance(value, gast.UnaryOp) and isinstance(value.operand, gast.Constant):
            return value
        if isinstance(value, gast.Call) and self.is_builtin(value.func, "slice"):
            return self.as_slice(value)
        if isinstance(value, gast.Tuple) and value.elts:
            parts = [self.written_out(e, keys) for e in value.elts]
            if any(p is None or isinstance(p, gast.Tuple) for p in parts):
                return None
            return gast.Tuple(parts, syntax.LOAD)
        return None

    def as_slice(self, call: gast.Call) -> gast.expr | None:
        """`slice(a, b)` as `a:b`."""
        bounds = call.args
        if call.keywords or not 1 <= len(bounds) <= 3:
            return None
        if not all(map(syntax.is_atom, bounds)):
            return None
        if len(bounds) == 1:
            bounds = [None, *bounds]
        shown = [None if _is_none(b) else b for b in bounds]
        return gast.Slice(*shown, *[None] * (3 - len(shown)))


def _is_none(node: Any) -> bool:
    return node is None or isinstance(node, gast.Constant) and node.value is None
