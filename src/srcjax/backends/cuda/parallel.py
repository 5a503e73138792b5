"""Which loops' iterations do not depend on each other, but for folds.

Iterations run one after the other unless it is proved that they may run at once
(`Parallel.independent`, which all that is parallel is asked of): each statement is of a
kind that is known, and each element that an iteration writes is read and written by
that one alone. Every index of an array that is written to has the variable of the loop
in the same place, and is not negative. Numbers that are carried from one to the next
are sums, products, extremes or truth values of all, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.analysis.flow.looking import MAKERS
from srcjax.backends.cuda.expressions import affine
from srcjax.backends.cuda.kinds import (
    BOOL,
    Elements,
    Kinds,
    NotCuda,
    Tape,
    items_of,
)
from srcjax.backends.cuda.sizes import is_size
from srcjax.backends.cuda.statements import bounds, is_differs


@dataclass(frozen=True)
class Fold:
    """A number that all iterations add to, or the like."""

    name: str
    #: How two values become one, as `srcjax.cuh` calls it.
    by: str


#: What a fold starts from, by how it goes on.
IDENTITY = {
    "by_sum": "0",
    "by_product": "1",
    "by_largest": "-INF",
    "by_smallest": "INF",
    "by_any": "false",
    "by_all": "true",
}
#: Steps of folds: `x` is the element, `y` what was found so far.
_STEPS = {
    "added(y, x)": "by_sum",
    "y + x": "by_sum",
    "x + y": "by_sum",
    "y - x": "by_sum",
    "y * x": "by_product",
    "x * y": "by_product",
    "x if x > y or x != x else y": "by_largest",
    "x if x < y or x != x else y": "by_smallest",
    "y or x": "by_any",
    "y and x": "by_all",
}
#: Those of truth values alone: Python's `or` of numbers gives one of them.
_OF_TRUTH = {"by_any", "by_all"}
_PATTERNS = {text: syntax.expression(text) for text in _STEPS}


@dataclass
class Nest:
    """Loops directly inside each other, and what stands in the innermost one."""

    loops: list[gast.For]
    #: What is computed before an inner loop, and does not change in it.
    prelude: list[Any]
    body: list[Any]
    #: The places, in `loops`, of those whose iterations may run at once.
    parallel: list[int] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    #: Arrays that are written to and others, which have to be apart in memory.
    apart: list[tuple[str, str]] = field(default_factory=list)
    #: What the least index of an array that is written to is: it must not be negative.
    least: list[Any] = field(default_factory=list)
    #: Elements that the other loops add to, or the like: the place, and how.
    columns: list[tuple[gast.Subscript, str]] = field(default_factory=list)

    @property
    def rest(self) -> list[gast.For]:
        """The loops whose iterations come one after the other."""
        return [loop for k, loop in enumerate(self.loops) if k not in self.parallel]

    @property
    def stmts(self) -> list[Any]:
        return [*self.prelude, *self.body]

    @property
    def is_sure(self) -> bool:
        """Whether nothing has to be asked when it runs."""
        return not self.apart and not self.least

    @property
    def in_order(self) -> bool:
        """Whether one thread that runs all of it runs it in Python's order."""
        return self.parallel == list(range(len(self.parallel)))


@dataclass
class Access:
    """An index of an array."""

    array: str
    items: list[Any]
    stores: bool


class Parallel:
    """Says what may run at once in a kernel."""

    def __init__(self, function: gast.FunctionDef, kinds: Kinds, after: Any) -> None:
        self.kinds = kinds
        self.after = after
        self.bindings = syntax.binding_counts(function.body)
        self.given = frozenset(kinds.given)
        self.fresh: set[str] = set()
        #: The loops that bind a name, by the name.
        self.loops: dict[str, list[gast.For]] = {}
        #: What a name that is bound once is a part of.
        self.parts: dict[str, str] = {}
        for stmt in syntax.walk(function.body):
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                self.note(stmt.targets[0].id, stmt.value)
            elif isinstance(stmt, gast.For):
                self.loops.setdefault(stmt.target.id, []).append(stmt)

    def note(self, name: str, value: Any) -> None:
        """An array is made, or is a part of another."""
        if self.bindings[name] != 1 or name in self.given:
            return
        path = syntax.dotted(getattr(value, "func", None))
        if path in MAKERS or path == "np.dot":
            self.fresh.add(name)
        while isinstance(value, (gast.Subscript, gast.Attribute)):
            value = value.value
        if isinstance(value, gast.Name):
            self.parts[name] = value.id

    def root(self, array: str) -> str:
        """The array that has the memory, as far as it is known."""
        while array in self.parts:
            array = self.parts[array]
        return array

    def surely_apart(self, a: str, b: str) -> bool:
        """Whether two arrays under different names have no memory in common."""
        a, b = self.root(a), self.root(b)
        still = {n for n in self.given if not self.bindings[n]}
        both = {a, b} <= self.fresh | still
        return a != b and both and bool({a, b} & self.fresh)

    # -- nests -----------------------------------------------------------------------

    def nest(self, loop: gast.For) -> Nest | None:
        """The loops of a nest that may run at once; None if there are none."""
        try:
            found = self.grown(loop)
        except NotCuda:
            return None
        live = self.after.live(loop)
        for place, each in enumerate(found.loops):
            one = Nest([each], [], found.stmts)
            others = [o for o in found.loops if o is not each]
            if self.independent(one, live, others):
                found.parallel.append(place)
                found.folds, found.apart = one.folds, one.apart
                found.least += one.least
        if not found.parallel:
            return None
        if not found.is_sure and not found.in_order:
            return None
        # The others stay loops in each thread: what is folded is theirs as well.
        whole = Nest(found.loops, [], found.stmts)
        if not self.independent(whole, live, []):
            return None
        found.folds = whole.folds
        if found.rest and not found.folds and found.is_sure:
            found.columns = self.columns(found)
        return found

    def columns(self, nest: Nest) -> list[tuple[gast.Subscript, str]]:
        """What is folded along the loops that are not parallel; empty if other is."""
        body = nest.stmts
        if any(isinstance(s, (gast.For, gast.While)) for s in syntax.walk(body)):
            return []
        accesses = self.accesses(body) or []
        targets = {loop.target.id for loop in nest.rest}
        inside = targets | syntax.names_written(body)
        found = []
        for array in sorted({a.array for a in accesses if a.stores}):
            items = [a.items for a in accesses if a.array == array]
            own = all(
                any(
                    self.is_own([i[p] for i in items], target)
                    for p in range(len(items[0]))
                )
                for target in targets
            )
            if own:
                continue
            folded = folded_element(body, array)
            if folded is None or not is_one_place(folded[0], inside):
                return []
            found.append(folded)
        return found

    def grown(self, loop: gast.For) -> Nest:
        """As many loops inside each other as there are."""
        found = Nest([loop], [], loop.body)
        bounds(loop)
        while True:
            stmts = [s for s in found.body if not syntax.is_comment(s)]
            inner = stmts[-1] if stmts else None
            if not isinstance(inner, gast.For):
                return found
            if not all(map(self.is_pure, stmts[:-1])) or breaks(inner.body):
                return found
            start, stop, _ = bounds(inner)
            reads = syntax.names_read([start, stop])
            inside = syntax.names_written([found.loops[0], *found.prelude])
            if reads & inside or has_elements([start, stop]):
                return found
            if inner.target.id in {each.target.id for each in found.loops}:
                return found
            before = [*found.prelude, *stmts[:-1]]
            changed = syntax.names_written(inner.body) | stored_arrays(inner.body)
            if changed & syntax.all_names(before):
                return found  # it is not the same each time
            found.loops.append(inner)
            found.prelude = [*found.prelude, *stmts[:-1]]
            found.body = inner.body

    def is_pure(self, stmt: Any) -> bool:
        """Whether a statement only binds a number, to what stays the same."""
        if not isinstance(stmt, gast.Assign) or not isinstance(
            stmt.targets[0], gast.Name
        ):
            return False
        name = stmt.targets[0].id
        kind = self.kinds.of.get(name)
        methods = [
            n
            for n in syntax.walk(stmt.value)
            if isinstance(n, gast.Attribute) and n.attr == "pop"
        ]
        return (
            isinstance(kind, str)
            and not methods
            and name not in syntax.names_read(stmt.value)
        )

    def independent(self, nest: Nest, live: Any, others: list[gast.For]) -> bool:
        """Whether iterations may run at once; fills in the folds of a nest."""
        body = nest.stmts
        if not all(map(is_known, syntax.walk(body))):
            return False
        targets = {loop.target.id for loop in nest.loops}
        inner = {loop.target.id for loop in others}
        if any(breaks(b) for b in ([nest.body] if others else [body])):
            return False
        written = {
            n
            for n in syntax.names_written(body)
            if not isinstance(self.kinds.of.get(n), Elements)
        }
        written -= stored_arrays(body)
        if targets & (written | live):
            return False
        carried = (exposed(body) | live) & written - inner
        nest.folds = []
        for name in sorted(carried):
            kind = self.kinds.of.get(name)
            by = fold_of(body, name) if isinstance(kind, str) else None
            if by is None or (by in _OF_TRUTH) != (kind == BOOL):
                return False
            nest.folds.append(Fold(name, by))
        lists = {n for n, k in self.kinds.of.items() if isinstance(k, Tape)}
        if syntax.all_names(body) & lists - syntax.names_written(body):
            return False
        return self.arrays_apart(nest, body, targets)

    def arrays_apart(self, nest: Nest, body: list[Any], targets: set[str]) -> bool:
        """Whether each element that is written belongs to one iteration."""
        found = self.accesses(body)
        if found is None:
            return False
        stored = {a.array for a in found if a.stores}
        nest.apart, nest.least = [], []
        for array in sorted(stored):
            items = [a.items for a in found if a.array == array]
            for loop in nest.loops if len(nest.loops) == 1 else ():
                own = self.own_index(items, loop.target.id)
                if own is None:
                    return False
                least = least_index(loop, own)
                if (self.at_least(least) or 0) < 0:
                    return False
                if self.at_least(least) is None:
                    nest.least.append(least)
            for other in sorted({a.array for a in found} - {array}):
                if not self.surely_apart(array, other):
                    nest.apart.append((array, other))
        return True

    def own_index(self, items: list[list[Any]], target: str) -> Any:
        """The index that is another one in each iteration; None if there is none."""
        for p in range(max(map(len, items))):
            if self.is_own([i[p] if p < len(i) else None for i in items], target):
                return items[0][p]
        return None

    def at_least(self, node: Any, inside: frozenset[str] = frozenset()) -> int | None:
        """What a whole number is at least; None where it is not known."""
        if isinstance(node, gast.Constant):
            return node.value if type(node.value) is int else None
        if is_size(node):
            return 0
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            exact = getattr(node.operand, "value", None)
            return -exact if type(exact) is int else None
        if isinstance(node, gast.BinOp):
            a, b = self.at_least(node.left, inside), self.at_least(node.right, inside)
            if a is None or b is None:
                return None
            if isinstance(node.op, gast.Sub) and isinstance(node.right, gast.Constant):
                return a - b
            if isinstance(node.op, gast.Add):
                return a + b
            positive = isinstance(node.op, (gast.Mult, gast.FloorDiv, gast.Mod))
            return 0 if positive and min(a, b) >= 0 else None
        if not isinstance(node, gast.Name) or node.id in self.given | inside:
            return None
        loops = self.loops.get(node.id, [])
        if len(loops) != self.bindings[node.id]:
            return None
        inside |= {node.id}
        firsts = [self.at_least(least_index(f, f.target), inside) for f in loops]
        known = [first for first in firsts if first is not None]
        return min(known) if firsts and len(known) == len(firsts) else None

    def is_own(self, items: list[Any], target: str) -> bool:
        """Whether all of these are the same place, another one in each iteration."""
        if any(item is None for item in items):
            return False
        name, _ = affine(items[0])
        return name == target and all(syntax.equal(items[0], i) for i in items)

    def accesses(self, body: list[Any]) -> list[Access] | None:
        """All indices of arrays; None where an array is used as a whole."""
        views: dict[str, tuple[str, list[Any]]] = {}
        for stmt in syntax.walk(body):
            if not isinstance(stmt, gast.Assign):
                continue
            for name in syntax.names_written(stmt):
                if not isinstance(self.kinds.of.get(name), Elements):
                    continue
                value = stmt.value
                if (
                    isinstance(stmt.targets[0], gast.Name)
                    and stmt.targets[0].id == name
                ):
                    part = isinstance(value, gast.Subscript) and isinstance(
                        value.value, gast.Name
                    )
                    plain = part and not has_slices(value)
                    if not plain or self.bindings[name] != 1:
                        return None
                    views[name] = value.value.id, items_of(value)
        found, known = [], set()
        for node in syntax.walk(body):
            base = getattr(node, "value", None)
            if isinstance(node, gast.Subscript) and isinstance(base, gast.Subscript):
                return None  # `a[i][j]`
            if isinstance(node, gast.Subscript) and isinstance(base, gast.Name):
                known.add(id(base))
                array, items = base.id, items_of(node)
                if has_slices(node):
                    return None
                while array in views:
                    array, before = views[array]
                    items = [*before, *items]
                found.append(Access(array, items, isinstance(node.ctx, gast.Store)))
            elif isinstance(node, gast.Attribute) and node.attr in ("shape", "size"):
                known.add(id(base))
            elif isinstance(node, gast.Call) and syntax.is_name(node.func, "len"):
                known |= set(map(id, node.args))
        for node in syntax.walk(body):
            if isinstance(node, gast.Name) and id(node) not in known:
                whole = isinstance(self.kinds.of.get(node.id), Elements)
                if whole and not (isinstance(node.ctx, gast.Store)):
                    return None
        return found


def least_index(loop: gast.For, index: Any) -> gast.expr:
    """The least value of an index, `i + 1`, in a loop over `i`."""
    start, stop, step = bounds(loop)
    _, more = affine(index)
    first = start if step > 0 else stop
    more += step < 0
    if not more:
        return syntax.clone(first)
    if isinstance(first, gast.Constant) and type(first.value) is int:
        return syntax.const(first.value + more)
    op = gast.Add() if more > 0 else gast.Sub()
    return gast.BinOp(syntax.clone(first), op, syntax.const(abs(more)))


def is_known(stmt: Any) -> bool:
    """Whether it is known what a statement does to numbers, arrays and lists."""
    if isinstance(stmt, gast.Expr):
        return syntax.is_comment(stmt) or is_appended(stmt.value)
    if isinstance(stmt, gast.Raise):
        return is_differs(stmt)
    kinds = (gast.Assign, gast.For, gast.While, gast.If, gast.Break, gast.Pass)
    return not isinstance(stmt, gast.stmt) or isinstance(stmt, kinds)


def is_appended(node: Any) -> bool:
    """`tape.append(v)`."""
    called = node.func if isinstance(node, gast.Call) else None
    return isinstance(called, gast.Attribute) and called.attr == "append"


def is_one_place(place: gast.Subscript, inside: set[str]) -> bool:
    """Whether an element is the same one, whatever the loops inside do."""
    plain = not any(isinstance(n, gast.Subscript) for n in syntax.walk(place.slice))
    return plain and not syntax.names_read(place.slice) & inside


def has_slices(node: gast.Subscript) -> bool:
    return any(
        isinstance(i, gast.Slice) or getattr(i, "value", 0) in (None, ...)
        for i in items_of(node)
        if isinstance(i, (gast.Slice, gast.Constant))
    )


def has_elements(nodes: Any) -> bool:
    """Whether an element of an array is read, and not only its sizes."""
    return any(
        isinstance(n, gast.Subscript) and not isinstance(n.value, gast.Attribute)
        for n in syntax.walk(nodes)
    )


def stored_arrays(body: list[Any]) -> set[str]:
    """Names that are written through, which `names_written` may have."""
    return {
        n.value.id
        for n in syntax.walk(body)
        if isinstance(n, gast.Subscript)
        and isinstance(n.ctx, gast.Store)
        and isinstance(n.value, gast.Name)
    }


def breaks(body: list[Any]) -> bool:
    """Whether a block leaves the loop that it is the body of, or raises an error."""
    for stmt in body:
        if isinstance(stmt, (gast.Break, gast.Return)):
            return True
        if isinstance(stmt, gast.Raise) and not is_differs(stmt):
            return True
        inside = syntax.inner_blocks(stmt)
        if isinstance(stmt, (gast.For, gast.While)):
            if any(
                isinstance(s, (gast.Return, gast.Raise)) and not is_differs_or_return(s)
                for s in syntax.walk(inside)
            ):
                return True
            continue
        if any(map(breaks, inside)):
            return True
    return False


def is_differs_or_return(stmt: Any) -> bool:
    return isinstance(stmt, gast.Raise) and is_differs(stmt)


def fold_of(body: list[Any], name: str) -> str | None:
    """How a number goes on from one iteration to the next, if it is folded."""
    ways: set[str | None] = set()
    mentions = 0
    for stmt in syntax.walk(body):
        if not isinstance(stmt, gast.Assign) or not syntax.is_name(
            stmt.targets[0], name
        ):
            continue
        way, inside = step_of(stmt.value, name)
        ways.add(way)
        mentions += inside
    if len(ways) != 1 or None in ways:
        return None
    return ways.pop() if mentions == syntax.count_uses(body, name) else None


def folded_element(body: list[Any], array: str) -> tuple[gast.Subscript, str] | None:
    """The one element of an array that a block goes on with, and how."""
    place: Any = None
    ways: set[str] = set()
    mentions = 0
    for stmt in syntax.walk(body):
        if not isinstance(stmt, gast.Assign):
            continue
        (target,) = stmt.targets
        if not isinstance(target, gast.Subscript) or not syntax.is_name(
            target.value, array
        ):
            continue
        here = syntax.as_load(syntax.clone(target))
        if place is not None and not syntax.equal(place, here):
            return None
        place = here
        for text, way in _STEPS.items():
            holes: dict[str, Any] = {}
            if matches(_PATTERNS[text], stmt.value, holes) and syntax.equal(
                holes["y"], here
            ):
                ways.add(way)
                mentions += 1 + array_mentions(stmt.value, array)
                break
        else:
            return None
    total = sum(array_mentions(s, array) for s in body)
    one = len(ways) == 1 and place is not None and mentions == total
    return (place, ways.pop()) if one else None


def array_mentions(node: Any, array: str) -> int:
    return sum(isinstance(n, gast.Name) and n.id == array for n in syntax.walk(node))


def step_of(value: Any, name: str) -> tuple[str | None, int]:
    """The way of a step, and how often it has the name."""
    for text, way in _STEPS.items():
        holes: dict[str, Any] = {}
        if matches(_PATTERNS[text], value, holes) and syntax.is_name(holes["y"], name):
            if syntax.count_uses([gast.Expr(holes["x"])], name):
                return None, 0
            return way, syntax.count_uses([gast.Expr(value)], name)
    return None, 0


def held(value: Any, name: str) -> Any:
    """The element of a step, `x[i]` of `total + x[i]`."""
    for text in _STEPS:
        holes: dict[str, Any] = {}
        if matches(_PATTERNS[text], value, holes) and syntax.is_name(holes["y"], name):
            return holes["x"]
    raise NotCuda("no step of a fold")


def matches(pattern: Any, node: Any, holes: dict[str, Any]) -> bool:
    """Whether an expression is a pattern, with something in the place of `x`, `y`."""
    if isinstance(pattern, gast.Name) and pattern.id in ("x", "y"):
        if pattern.id in holes:
            return syntax.equal(holes[pattern.id], node)
        holes[pattern.id] = node
        return True
    if type(pattern) is not type(node):
        return False
    if isinstance(pattern, gast.Name):
        return bool(pattern.id == node.id)
    mine, theirs = (
        list(gast.iter_child_nodes(pattern)),
        list(gast.iter_child_nodes(node)),
    )
    return len(mine) == len(theirs) and all(
        matches(a, b, holes) for a, b in zip(mine, theirs, strict=True)
    )
