"""Give the values of one variable its one name again, where they do not overlap.

Before:                          After:

    z = x @ W                        z = x @ W
    z2 = np.tanh(z)                  z = np.tanh(z)
    return z2                        return z
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed, ordered_names
from srcjax.analysis.flow.liveness import Meeting
from srcjax.analysis.flow.mentions import Known


def coalesce(node: gast.FunctionDef, bases: dict[str, str]) -> None:
    """Rename `bases` (name -> wanted name) where the wanted name is free, in place."""
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    names = _Renaming(node)
    present = syntax.all_names(node)
    outside = present - parameters - syntax.names_written(node.body)
    for name, base in sorted(bases.items(), key=lambda item: (len(item[0]), item[0])):
        if name not in present or name in parameters or base in outside:
            continue
        if base in present and _overlap(node, names, name, base):
            continue
        names.rename(name, base)
        present = (present - {name}) | {base}
        if any(map(_is_self_copy, names.copies)):
            _drop_self_copies(node)
            names = _Renaming(node)
            present = syntax.all_names(node)


def renumber(
    node: gast.FunctionDef, own: syntax.Names, inlined: Container[str] = ()
) -> dict[str, str]:
    """Give numbered names (`total3`) the lowest number that is free, in place.

    A name of the user's is free for what it was called in an `inlined` function alone.
    Then tapes have the names of what is on them. What was renamed is returned.
    """
    renamed: dict[str, str] = {}
    reserved = own.reserved
    present = syntax.all_names(node) | {node.name}
    bound = syntax.names_written(node.body)
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    names = _Renaming(node.body)
    #: The lowest number of each base that may be free: only higher ones are given back.
    lowest: dict[str, int] = {}
    for name, base in sorted(own.numbered.items(), key=lambda i: (len(i[0]), i[0])):
        if name not in bound or name in parameters:
            continue
        may_be_theirs = name in inlined
        number = 1 if may_be_theirs else lowest.get(base, 1)
        while (free := syntax.numbered_name(base, number)) != name and (
            free in present or (free in reserved and not may_be_theirs)
        ):
            number += 1
        if not may_be_theirs:
            lowest[base] = number
        if len(free) <= len(name) and free != name:
            names.rename(name, free)
            renamed[name] = free
            present.discard(name)
            present.add(free)
    for tape, name in sorted(_tapes(node).items()):
        wanted = f"{name}_tape"
        if tape in own.tapes and wanted not in present | reserved:
            names.rename(tape, wanted)
            renamed[tape] = wanted
            present.discard(tape)
            present.add(wanted)
    return renamed


def name_derivatives(
    node: gast.FunctionDef,
    own: syntax.Names,
    values: dict[str, str],
    derivative_name: Callable[[str], str],
) -> None:
    """Name derivatives after their values, with as few numbers as can be, in place.

    `values` are the names of the values, as they are now, by the names of their
    derivatives. Where the value was nested away, the derivative is that of no other
    value that has a name:

        total = X @ w                           total = X @ w
        dtotal3 = 2 * (total - y) / y.size      dtotal2 = 2 * (total - y) / y.size
    """
    present = syntax.all_names(node) | {node.name}
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    bound = syntax.names_written(node.body) - parameters
    order = [n for n in ordered_names(node) if n in bound]
    derived = {name: values[name] for name in order if name in values}
    names = syntax.Names((present | own.reserved) - set(derived))
    #: What the values that have no name may be called: names that nothing has.
    unused: dict[str, Iterator[str]] = {}
    found: dict[str, str] = {}
    for named in (True, False):
        for name, value in derived.items():
            if (value in present) is not named:
                continue
            base = own.numbered.get(value, value)
            if named:
                new = derivative_name(value)
                if new in names.taken:
                    new = names.fresh(derivative_name(base))
            else:  # names are never given back: those passed by stay taken
                if base not in unused:
                    free = (n for n in syntax.numbered(base) if n not in present)
                    unused[base] = map(derivative_name, free)
                new = next(w for w in unused[base] if w not in names.taken)
            found[name] = new
            names.taken.add(new)
    changed = {name: new for name, new in found.items() if name != new}
    if changed:
        syntax.rename(node, changed)


def share_names(node: gast.FunctionDef, alike: Callable[[str, str], bool]) -> None:
    """Let the sides of a branch call their own values the same, in place.

    Before:                          After:

        if x > 0:                        if x > 0:
            dtotal = dy * np.cos(y)          dtotal = dy * np.cos(y)
            dx += dtotal                     dx += dtotal
        else:                            else:
            dtotal2 = dy * y                 dtotal = dy * y
            dx += dtotal2                    dx += dtotal

    `alike` tells whether two names may be one: `dtotal2` for `dtotal`.
    """
    everywhere = Counter(n.id for n in syntax.names_in(node))
    for stmt in syntax.all_statements(node.body):
        if not isinstance(stmt, gast.If) or not stmt.orelse:
            continue
        first, second = (_own_names(s, everywhere) for s in (stmt.body, stmt.orelse))
        mentioned = syntax.all_names(stmt.orelse)
        for name in sorted(second, key=_by_length):
            wanted = sorted((n for n in first if alike(n, name)), key=_by_length)
            free = next((n for n in wanted if n not in mentioned), None)
            if free is not None:
                syntax.rename(stmt.orelse, {name: free})
                mentioned = (mentioned - {name}) | {free}
                everywhere[free] += everywhere.pop(name)


def _by_length(name: str) -> tuple[int, str]:
    """The shortest names first: in one order, whatever set they are from."""
    return len(name), name


def _own_names(side: list[Any], everywhere: Counter[str]) -> set[str]:
    """Names that are nowhere but in the block, which binds them before it reads."""
    inside = Counter(n.id for n in syntax.names_in(side))
    bound = syntax.names_written(side) - exposed(side)
    return {n for n in bound if inside[n] == everywhere[n]}


def _tapes(node: gast.FunctionDef) -> dict[str, str]:
    """Lists that one name is put on and taken from, and that name."""
    found: dict[str, set[str | None]] = {}
    for sub in syntax.walk(node):
        taken = sub.value if isinstance(sub, gast.Assign) else None
        call: Any = sub.value if isinstance(sub, gast.Expr) else taken
        method = getattr(call, "func", None)
        if not isinstance(method, gast.Attribute):
            continue
        if not isinstance(method.value, gast.Name):
            continue
        match method.attr, sub, call.args:
            case "append", gast.Expr(), [value]:
                held = value
            case "pop", gast.Assign(targets=[target]), []:
                held = target
            case _:
                held = None
        found.setdefault(method.value.id, set()).add(getattr(held, "id", None))
    return {
        tape: name
        for tape, (name, *others) in found.items()
        if name is not None and not others
    }


#: No name: what statements with a `break` or `continue` are noted under.
_JUMP = ""


class _Renaming:
    """Renames in a tree, and knows what its statements mention, without new walks."""

    def __init__(self, tree: Any) -> None:
        self.tree = tree
        #: The places of statements in the body by the names that they mention, once
        #: they are asked for.
        self.places: dict[str, set[int]] | None = None
        self.look()

    def look(self) -> None:
        """Find the names in the tree."""
        #: The nodes of each name, and the names that other nodes bind.
        self.nodes: dict[str, list[gast.Name]] = {}
        self.others: set[str] = set()
        #: Assignments of a name to a name.
        self.copies: list[gast.Assign] = []
        #: Nodes with scopes of their own.
        self.scopes: list[Any] = []
        self.known = Known()
        for sub in syntax.walk(self.tree):
            if isinstance(sub, gast.Name):
                self.nodes.setdefault(sub.id, []).append(sub)
            elif isinstance(sub, (gast.FunctionDef, gast.ClassDef)):
                self.others.add(sub.name)
            elif isinstance(sub, (gast.Global, gast.Nonlocal)):
                self.others |= set(sub.names)
            elif isinstance(sub, gast.ExceptHandler) and isinstance(sub.name, str):
                self.others.add(sub.name)
            elif isinstance(sub, gast.Assign) and isinstance(sub.value, gast.Name):
                self.copies.append(sub)
            own = isinstance(sub, (gast.FunctionDef, gast.Lambda, gast.comprehension))
            if own and sub is not self.tree:
                self.scopes.append(sub)
        self.places = None

    def around(self, *names: str) -> list[gast.stmt]:
        """The statements of the body that mention one of the names, or jump."""
        body = self.tree.body
        if self.places is None:
            self.places = {}
            for place, stmt in enumerate(body):
                found = self.known.of(stmt)
                for name in (*found.reads, *found.binds, *[_JUMP] * found.jumps):
                    self.places.setdefault(name, set()).add(place)
        wanted = (self.places.get(name, set()) for name in (*names, _JUMP))
        return [body[place] for place in sorted(set().union(*wanted))]

    def rename(self, name: str, new: str) -> None:
        """Rename every occurrence of the name, in place."""
        if name in self.others or new in self.others:
            syntax.rename(self.tree, {name: new})
            self.look()
            return
        nodes = self.nodes.pop(name, [])
        for node in nodes:
            node.id = new
        self.nodes.setdefault(new, []).extend(nodes)
        self.known.renamed(name, new)
        if self.places is not None:
            places = self.places.pop(name, set())
            self.places.setdefault(new, set()).update(places)


def _drop_self_copies(node: gast.FunctionDef) -> None:
    def kept(block: list[gast.stmt]) -> list[gast.stmt]:
        return [s for s in block if not _is_self_copy(s)]

    for sub in syntax.walk(node):
        syntax.rewrite_blocks(sub, kept)
    node.body = kept(node.body) or [gast.Pass()]


def _is_self_copy(stmt: Any) -> bool:
    return (
        isinstance(stmt, gast.Assign)
        and len(stmt.targets) == 1
        and isinstance(stmt.targets[0], gast.Name)
        and syntax.is_name(stmt.value, stmt.targets[0].id)
    )


def _overlap(node: gast.FunctionDef, names: _Renaming, a: str, b: str) -> bool:
    """Whether one is defined while the other's value is still needed."""
    if any({a, b} & syntax.all_names(scope) for scope in names.scopes):
        return True
    live = Meeting(names.known, a, b)
    start = live.block(names.around(a, b), frozenset())
    parameters = {p.id for p in syntax.walk(node.args) if isinstance(p, gast.Name)}
    if a in parameters and b in start or b in parameters and a in start:
        return True
    return bool(live.found)
