"""Which values the backward sweep reads, and how they reach it.

A value that still stands when the backward sweep needs it is just read. One that a loop
or an assignment overwrites is saved: on a tape (a list) inside loops, in a variable
elsewhere. Cheap values (items, shapes, index arithmetic) are computed again instead. An
array that is written in place keeps the overwritten part, and only where the backward
sweep reads what it held.

The question is always whether some backward code Q reads the value and a statement S
that overwrites it can run after Q's statement: S comes later in the program (and not in
the other side of a branch), or both are in a loop that carries the value.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Dict,
    List,
    Tuple,
    Type,
    all_buffers,
    is_number,
)
from srcjax.ops.record import Op
from srcjax.transforms.reverse.rules import OLD, Rules
from srcjax.transforms.reverse.sweep import Block, Branch, Group, Loop

#: Calls that look at the shape of an argument, not at what it holds.
_SHAPE_ONLY = {"np.zeros_like", "np.full_like", "np.shape", "len", "np.ones_like"}
_SHAPE_ATTRIBUTES = {"shape", "size", "ndim", "dtype"}
_CHEAP_CALLS = {"len", "range", "abs", "min", "max", "isinstance", "reversed", "list"}


@dataclass
class Where:
    """A position in the program: order, loops around, branch sides around."""

    order: int
    loops: tuple[int, ...]
    sides: dict[int, int]
    blocks: tuple[int, ...]

    def excludes(self, other: Where) -> bool:
        """Whether the two are on different sides of one branch."""
        return any(
            self.sides[key] != other.sides[key]
            for key in self.sides.keys() & other.sides.keys()
        )


@dataclass
class Read:
    """Backward code at `where` reads the value before or after its statement."""

    where: Where
    after: bool


@dataclass
class Plan:
    """What to save and restore, by statement and block."""

    #: statement id -> names whose old value is saved before it
    overwritten: dict[int, list[str]] = field(default_factory=dict)
    #: statement id of in-place writes whose old content is saved
    contents: set[int] = field(default_factory=set)
    #: block id -> names saved at its end
    local: dict[int, list[str]] = field(default_factory=dict)
    #: block id -> definitions computed again at the start of its backward code
    again: dict[int, list[gast.stmt]] = field(default_factory=dict)


class Saver:
    """Plans what is saved, and writes the two sweeps."""

    def __init__(self, rules: Rules, nodes: list[Any]) -> None:
        self.rules = rules
        self.unit = rules.unit
        self.nodes = nodes
        self.where: dict[int, Where] = {}
        self.defs: dict[str, list[tuple[Where, gast.stmt]]] = {}
        self.writes: list[tuple[Where, gast.stmt]] = []
        self.reads: dict[str, list[Read]] = {}
        self.content_reads: dict[str, list[Read]] = {}
        self.loops: dict[int, Loop] = {}
        self.blocks: dict[int, list[Any]] = {}
        self.plan = Plan()
        self.tapes: dict[Any, str] = {}
        self.tape_inits: dict[int, list[str]] = {}
        self.held: dict[int, str] = {}
        self.trips: dict[int, str] = {}
        self.declared: dict[int, list[str]] = {}
        self.parameters = set(self.unit.parameters)
        self.counter = 0
        top = Where(-1, (), {}, (id(nodes),))
        self.blocks[id(nodes)] = nodes
        for name in self.parameters:
            self.defs.setdefault(name, []).append((top, self.unit.node))
        self.locate(nodes, (), {}, (id(nodes),))
        self.carried: set[tuple[int, str]] = set()

    # -- looking ----------------------------------------------------------------------

    def locate(self, nodes: list, loops: tuple, sides: dict, blocks: tuple) -> None:
        """Number the statements and collect definitions and in-place writes."""
        for node in nodes:
            self.counter += 1
            where = Where(self.counter, loops, sides, blocks)
            stmt = node.stmt
            self.where[id(stmt)] = where
            if isinstance(node, Group):
                extra = self.rules.extra_defs.get(id(stmt), [])
                for name in [*_bound_names(stmt), *extra]:
                    self.defs.setdefault(name, []).append((where, stmt))
                if self.is_write(stmt):
                    self.writes.append((where, stmt))
            elif isinstance(node, Branch):
                for side, part in enumerate((node.then, node.orelse)):
                    self.blocks[id(part)] = part
                    inner = {**sides, id(stmt): side}
                    self.locate(part, loops, inner, (*blocks, id(part)))
            elif isinstance(node, Loop):
                self.loops[id(stmt)] = node
                self.blocks[id(node.body)] = node.body
                inside = (*loops, id(stmt))
                if isinstance(stmt, gast.For):
                    target = Where(self.counter, inside, sides, (*blocks, id(node.body)))
                    for name in syntax.names_written(stmt.target):
                        self.defs.setdefault(name, []).append((target, stmt))
                self.locate(node.body, inside, sides, (*blocks, id(node.body)))
            else:
                self.blocks[id(node.body)] = node.body
                self.locate(node.body, loops, sides, (*blocks, id(node.body)))

    def is_write(self, stmt: gast.stmt) -> bool:
        if id(stmt) in self.rules.facts.writes:
            return True
        value = getattr(stmt, "value", None)
        return id(value) in self.rules.facts.writes

    def written_buffers(self, stmt: gast.stmt) -> frozenset:
        writes = self.rules.facts.writes
        found = writes.get(id(stmt), frozenset())
        return found | writes.get(id(getattr(stmt, "value", None)), frozenset())

    def note_reads(self, code: Any, where: Where, stmt: gast.stmt | None) -> None:
        """Remember what backward code reads."""
        results = set(_bound_names(stmt)) if stmt is not None else set()
        if stmt is not None:
            results |= set(self.rules.extra_defs.get(id(stmt), ()))
        shape_only = _shape_only_names(code)
        local = syntax.names_written(code)
        for name, count in _read_counts(code).items():
            old = name.endswith(OLD)
            plain = name.removesuffix(OLD)
            if plain not in self.defs or (name in local and not old):
                continue
            read = Read(where, after=plain in results and not old)
            self.reads.setdefault(plain, []).append(read)
            if count > shape_only.get(name, 0):
                self.content_reads.setdefault(plain, []).append(read)

    def collect(self, nodes: list) -> None:
        """All reads of the backward code."""
        for node in nodes:
            where = self.where[id(node.stmt)]
            if isinstance(node, Group):
                self.note_reads(node.code, where, node.stmt)
            elif isinstance(node, Branch):
                self.collect(node.then)
                self.collect(node.orelse)
                for tail in (node.then_tail, node.else_tail):
                    self.note_reads(tail, where, None)
            elif isinstance(node, Loop):
                self.collect(node.body)
                self.note_reads(node.before, where, None)
                inner = Where(
                    where.order,
                    (*where.loops, id(node.stmt)),
                    where.sides,
                    (*where.blocks, id(node.body)),
                )
                self.note_reads(node.tail, inner, None)
            else:
                self.collect(node.body)

    # -- planning ---------------------------------------------------------------------

    def decide(self) -> None:
        """Find everything that has to be saved."""
        self.collect(self.nodes)
        self.find_carried()
        self.check_aliases()
        changed = True
        while changed:
            changed = False
            for name in sorted(self.reads):
                changed |= self.plan_name(name)
        self.headers(self.nodes)
        changed = True
        while changed:
            changed = False
            for name in sorted(self.reads):
                changed |= self.plan_name(name)
        self.plan_contents()

    def find_carried(self) -> None:
        """Names whose value goes from one iteration of a loop to the next."""
        for key, loop in self.loops.items():
            exposed = _exposed(loop.stmt.body)
            if isinstance(loop.stmt, gast.While):
                exposed = exposed | syntax.names_read(loop.stmt.test)
            for name, defs in self.defs.items():
                inside = [w for w, _ in defs if key in w.loops]
                if not inside:
                    continue
                outside = any(key not in w.loops for w, _ in defs)
                target = isinstance(loop.stmt, gast.For) and name in (
                    syntax.names_written(loop.stmt.target)
                )
                if target and len(inside) == 1:
                    continue
                if outside or (name in exposed and not target):
                    self.carried.add((key, name))
                    if not outside:
                        self.declared.setdefault(id(loop.stmt), []).append(name)

    def plan_name(self, name: str) -> bool:
        """Plan saves for one name; True if something new was planned."""
        changed = False
        reads = self.reads[name]
        for where, stmt in self.defs[name]:
            if isinstance(stmt, (gast.FunctionDef, gast.For)):
                continue
            if self.old_is_read(name, where) and self.may_hold_before(name, where):
                known = self.plan.overwritten.setdefault(id(stmt), [])
                if name not in known:
                    known.append(name)
                    changed = True
        for key in self.loops:
            defs = [(w, s) for w, s in self.defs[name] if key in w.loops]
            inside = [r for r in reads if key in r.where.loops]
            if not defs or not inside or (key, name) in self.carried:
                continue
            if self.is_target_only(key, name):
                continue
            deeper = [r for r in inside if self.local_loop(name, r.where.loops) == key]
            if deeper:
                changed |= self.plan_local(name, defs, deeper)
        return changed

    def local_loop(self, name: str, loops: tuple[int, ...]) -> int | None:
        """The innermost of the loops in which the name is defined."""
        for key in reversed(loops):
            if any(key in w.loops for w, _ in self.defs[name]):
                return key
        return None

    def is_target_only(self, key: int, name: str) -> bool:
        stmt = self.loops[key].stmt
        if not isinstance(stmt, gast.For):
            return False
        return name in syntax.names_written(stmt.target) and (
            sum(key in w.loops for w, _ in self.defs[name]) == 1
        )

    def old_is_read(self, name: str, at: Where) -> bool:
        """Whether the value overwritten at `at` is read by later backward code."""
        for read in self.reads.get(name, []):
            if self.reaches(read, at, name):
                return True
        return False

    def reaches(self, read: Read, at: Where, name: str) -> bool:
        """Whether a statement at `at` can run between the read's place and the end."""
        shared = set(read.where.loops) & set(at.loops)
        if any((key, name) in self.carried for key in shared):
            return True
        if read.where.excludes(at):
            return False
        if read.where.order == at.order:
            return not read.after
        return read.where.order < at.order

    def may_hold_before(self, name: str, at: Where) -> bool:
        """Whether the name can have a value when the definition at `at` runs."""
        for where, stmt in self.defs[name]:
            if where is at:
                if any((key, name) in self.carried for key in at.loops):
                    return True
                continue
            if where.order < at.order and not where.excludes(at):
                common = set(where.loops) & set(at.loops)
                local = set(where.loops) - common
                del local, stmt
                return True
            shared = set(where.loops) & set(at.loops)
            if any((key, name) in self.carried for key in shared):
                return True
        return False

    def plan_local(self, name: str, defs: list, reads: list[Read]) -> bool:
        """Save (or compute again) a value that lives within one iteration."""
        block = self.home(defs, reads)
        if name in self.plan.local.get(block, []):
            return False
        if any(
            name in syntax.names_written(s) for s in self.plan.again.get(block, [])
        ):
            return False
        again = self.can_recompute(name, defs, block)
        if again is not None:
            self.plan.again.setdefault(block, []).append(again)
            where = self.where[id(again)]
            inner = Where(where.order, where.loops, where.sides, where.blocks)
            value = again.value  # type: ignore[attr-defined]
            for other in syntax.names_read(value):
                if other in self.defs:
                    self.reads.setdefault(other, []).append(Read(inner, False))
                    self.content_reads.setdefault(other, [])
            return True
        self.plan.local.setdefault(block, []).append(name)
        return True

    def home(self, defs: list, reads: list[Read]) -> int:
        """The smallest block with all definitions and reads of the iteration."""
        paths = [w.blocks for w, _ in defs] + [r.where.blocks for r in reads]
        common = paths[0]
        for path in paths[1:]:
            length = 0
            for a, b in zip(common, path, strict=False):
                if a != b:
                    break
                length += 1
            common = common[:length]
        return common[-1]

    def can_recompute(self, name: str, defs: list, block: int) -> gast.stmt | None:
        """The definition, if it is cheap and its operands are at hand."""
        if len(defs) != 1:
            return None
        where, stmt = defs[0]
        if not isinstance(stmt, gast.Assign) or where.blocks[-1] != block:
            return None
        if id(stmt) in self.plan.overwritten:
            return None
        value = stmt.value
        if not self.is_cheap(value):
            return None
        for other in syntax.names_read(value):
            if other not in self.defs:
                continue
            if not self.steady(other, where):
                return None
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            t = self.rules.type(name)
            base = self.rules.type(value.value.id)
            if isinstance(t, Array) and t.buffers:
                return stmt
            written = self.rules.written | self.inactive_writes()
            if all_buffers(base) & written or not all_buffers(base):
                if all_buffers(base) & written or isinstance(base, (List, Dict)):
                    return None
        return stmt

    def inactive_writes(self) -> frozenset:
        found: frozenset = frozenset()
        for _, stmt in self.writes:
            found |= self.written_buffers(stmt)
        return found

    def steady(self, name: str, at: Where) -> bool:
        """Whether the name has the same value at the end of the iteration as at `at`."""
        for where, stmt in self.defs[name]:
            if isinstance(stmt, gast.For) and id(stmt) in at.loops:
                if sum(id(stmt) in w.loops for w, _ in self.defs[name]) > 1:
                    return False
                continue
            if set(where.loops) & set(at.loops):
                if where.order > at.order or any(
                    (key, name) in self.carried for key in where.loops
                ):
                    return False
                if len(self.defs[name]) > 1:
                    return False
        return True

    def is_cheap(self, value: gast.expr) -> bool:
        """Cheaper to compute again than to save."""
        if isinstance(value, (gast.Name, gast.Constant)):
            return True
        if isinstance(value, gast.Subscript):
            if not isinstance(value.value, gast.Name):
                return False
            parts = syntax.walk(value.slice)
            cheap = not any(isinstance(p, gast.Call) for p in parts)
            t = self.rules.type(value.value.id)
            arrays = any(
                isinstance(self.rules.type(n), (Array, List)) or n not in self.defs
                for n in syntax.names_read(value.slice)
            )
            return cheap and not (arrays and isinstance(t, Array))
        if isinstance(value, gast.Attribute):
            return value.attr in ("T", *_SHAPE_ATTRIBUTES)
        if isinstance(value, gast.BinOp):
            plain = (gast.Add, gast.Sub, gast.Mult, gast.Div)
            return isinstance(value.op, plain) and all(
                is_number(self.rules.type(n)) for n in syntax.names_read(value)
            )
        if isinstance(value, gast.Call):
            if syntax.dotted(value.func) == "len":
                return True
            callees = self.rules.facts.callees.get(id(value), [])
            return any(isinstance(c, Op) and c.cheap and c.alias == "view"
                       for c in callees)
        return False

    # -- branch conditions and loop ranges --------------------------------------------

    def headers(self, nodes: list) -> None:
        """Decide how the backward sweep knows each condition and range."""
        for node in nodes:
            if isinstance(node, Branch):
                self.headers(node.then)
                self.headers(node.orelse)
                if _has_code(node):
                    self.header(node.stmt, node.stmt.test)
            elif isinstance(node, Loop):
                self.headers(node.body)
                if not _has_code(node):
                    continue
                stmt = node.stmt
                if isinstance(stmt, gast.While) or _has_break(stmt):
                    self.count_trips(stmt)
                if isinstance(stmt, gast.For):
                    self.header(stmt, stmt.iter)
            elif isinstance(node, Block):
                self.headers(node.body)

    def header(self, stmt: Any, value: gast.expr) -> None:
        where = self.where[id(stmt)]
        names = {n for n in syntax.names_read(value) if n in self.defs}
        inside = syntax.names_written([*stmt.body, *stmt.orelse])
        looked_at = _shape_only_names(value)
        held = {
            n
            for n in names
            if not isinstance(self.rules.type(n), Array)  # a list's length changes
            or syntax.count_reads(value, n) > looked_at.get(n, 0)
        }
        changes = bool(names & inside) or self.writes_inside(stmt, held)
        if not changes and self.is_simple_header(stmt, value) and not any(
            self.would_save(n, where, n in held) for n in names
        ):
            for name in names:
                read = Read(where, False)
                self.reads.setdefault(name, []).append(read)
            return
        base = "condition" if isinstance(stmt, gast.If) else "items"
        if isinstance(stmt, gast.For) and _is_range(value):
            base = "steps"
        self.hold(stmt, base)

    def writes_inside(self, stmt: Any, names: set[str]) -> bool:
        """Whether the statement's own body writes in place to one of the names."""
        buffers: frozenset = frozenset()
        for name in names:
            buffers |= all_buffers(self.rules.type(name))
        return any(
            self.written_buffers(s) & buffers
            for s in syntax.walk(stmt.body + stmt.orelse)
            if isinstance(s, gast.stmt)
        )

    def hold(self, stmt: Any, base: str) -> None:
        """Keep the condition or range in a variable."""
        where = self.where[id(stmt)]
        name = self.unit.names.fresh(base)
        self.held[id(stmt)] = name
        self.define(name, where, stmt)

    def define(self, name: str, where: Where, stmt: Any) -> None:
        self.defs[name] = [(where, gast.Pass())]
        self.reads[name] = [Read(where, True)]

    def count_trips(self, stmt: Any) -> None:
        name = self.unit.names.fresh("trips")
        self.trips[id(stmt)] = name
        self.define(name, self.where[id(stmt)], stmt)

    def is_simple_header(self, stmt: Any, value: gast.expr) -> bool:
        for name in syntax.names_read(value):
            t = self.rules.type(name)
            if name in self.defs and not (
                is_number(t) or isinstance(t, (Const, Array, Tuple, List, Dict))
            ):
                return False
        for sub in syntax.walk(value):
            if isinstance(sub, gast.Call):
                if syntax.dotted(sub.func) not in _CHEAP_CALLS:
                    return False
            elif isinstance(
                sub, (gast.NamedExpr, gast.Lambda, gast.ListComp, gast.GeneratorExp)
            ):
                return False
        if isinstance(stmt, gast.For):
            if _is_range(value):
                return True
            if syntax.dotted(getattr(value, "func", None)) == "list":
                return True
            if isinstance(value, gast.Name):
                t = self.rules.type(value.id)
                return isinstance(t, (List, Tuple, Array))
            return False
        return True

    def would_save(self, name: str, where: Where, contents: bool) -> bool:
        """Whether reading the name (and what it holds) at `where` needs a save."""
        read = Read(where, False)
        for at, stmt in self.defs[name]:
            if isinstance(stmt, (gast.FunctionDef, gast.For)):
                continue
            if self.reaches(read, at, name) and self.may_hold_before(name, at):
                if name not in self.plan.overwritten.get(id(stmt), []):
                    return True
        t = self.rules.type(name)
        buffers = all_buffers(t) if contents else frozenset()
        for at, stmt in self.writes:
            if self.written_buffers(stmt) & buffers:
                if self.content_reaches(read, at, buffers):
                    return True
        for key in where.loops:
            if not any(key in w.loops for w, _ in self.defs[name]):
                continue
            if self.is_target_only(key, name):
                continue
            saved = any(name in names for names in self.plan.local.values())
            again = any(
                name in syntax.names_written(s)
                for stmts in self.plan.again.values()
                for s in stmts
            )
            if not saved and not again and (key, name) not in self.carried:
                return True
        return False

    # -- contents of arrays -----------------------------------------------------------

    def check_aliases(self) -> None:
        """Refuse writes to memory that a container or another name holds as well.

        The adjoint of a buffer lives in one place; a second name for the buffer that is
        no view of the first (an item of a list, say) has an adjoint of its own, which
        is right only as long as nothing is written to the buffer any more.
        """
        types = self.rules.types
        trees = {n: self.rules.views[n][0] for n in self.rules.views}
        for stmt, where in self.linking():
            facts = self.rules.facts.of(stmt)
            reads = syntax.names_read(stmt)
            targets = set(_bound_names(stmt)) | _changed_container(stmt)
            for target in sorted(targets):
                holds = {
                    b
                    for v in facts
                    if target in v.after
                    for b in all_buffers(v.after[target])
                } & self.rules.written
                root = trees.get(target, target)
                for other in sorted(reads - {target}):
                    shared = holds & {
                        b
                        for v in facts
                        if other in v.before
                        for b in all_buffers(v.before[other])
                    }
                    if not shared or trees.get(other, other) == root:
                        continue
                    if target not in types or not self.rules.active(
                        syntax.name(target)
                    ):
                        continue
                    self.refuse_later_writes(stmt, where, shared, other, target)

    def linking(self) -> list[tuple[gast.stmt, Where]]:
        """Simple statements with their places."""
        found = []

        def visit(nodes: list) -> None:
            for node in nodes:
                if isinstance(node, Group):
                    found.append((node.stmt, self.where[id(node.stmt)]))
                elif isinstance(node, Branch):
                    visit(node.then)
                    visit(node.orelse)
                else:
                    visit(node.body)

        visit(self.nodes)
        return found

    def refuse_later_writes(
        self, stmt: Any, where: Where, shared: frozenset, other: str, target: str
    ) -> None:
        for at, write in self.writes:
            if write is stmt or not self.direct_buffers(write) & shared:
                continue
            link = Read(where, False)
            if not self.seen_after(write, at, other, target):
                continue
            if self.content_reaches(link, at, frozenset(shared)):
                self.rules.stmt = write
                raise self.rules.refuse(
                    f"this writes to memory that both `{other}` and `{target}` hold",
                    f"a copy where `{target}` gets it: `{other}.copy()`",
                )

    def seen_after(self, write: Any, at: Where, other: str, target: str) -> bool:
        """Whether the write goes through one name and the other is read later."""
        views = self.rules.views
        base = _written_name(write)
        root = views.get(base, (base,))[0]
        groups = []
        for name in (other, target):
            mine = views.get(name, (name,))[0]
            groups.append({mine, *(n for n, v in views.items() if v[0] == mine)})
        for mine, theirs in (groups, groups[::-1]):
            if root in mine and root not in theirs:
                return any(self.read_after(n, at) for n in sorted(theirs))
        return True

    def read_after(self, name: str, at: Where) -> bool:
        """Whether the program reads the name after the place, before it is bound again."""
        for stmt, where in self.linking():
            if name in syntax.names_read(stmt):
                shared = set(where.loops) & set(at.loops)
                if any((key, name) in self.carried for key in shared):
                    return True
                if where.order > at.order and not where.excludes(at):
                    return True
        last = self.unit.node.body[-1]
        return name in syntax.names_read(last)

    def direct_buffers(self, stmt: gast.stmt) -> frozenset:
        """Buffers that the statement writes itself."""
        return self.written_buffers(stmt)

    def plan_contents(self) -> None:
        """In-place writes whose overwritten part the backward sweep reads."""
        for name, reads in self.content_reads.items():
            t = self.rules.type(name)
            buffers = all_buffers(t)
            if not buffers or is_number(t):
                continue
            for at, stmt in self.writes:
                if not self.written_buffers(stmt) & buffers:
                    continue
                for read in reads:
                    if self.content_reaches(read, at, buffers):
                        self.plan.contents.add(id(stmt))

    def content_reaches(self, read: Read, at: Where, buffers: frozenset) -> bool:
        shared = set(read.where.loops) & set(at.loops)
        for key in shared:
            if not self.allocated_in(key, buffers):
                return True
        if read.where.excludes(at):
            return False
        if read.where.order == at.order:
            return not read.after
        return read.where.order < at.order

    def allocated_in(self, loop: int, buffers: frozenset) -> bool:
        """Whether all the buffers are made anew in each iteration of the loop."""
        inside = {id(n) for n in syntax.walk(self.loops[loop].stmt.body)}
        return all(isinstance(b, int) and b in inside for b in buffers)

    # -- writing ----------------------------------------------------------------------

    def write(self) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """The forward sweep and the backward sweep."""
        self.decide()
        forward, backward = self.write_block(self.nodes)
        return syntax.clone(forward), syntax.clone(backward)

    def write_block(self, nodes: list) -> tuple[list[gast.stmt], list[gast.stmt]]:
        forward: list[gast.stmt] = []
        backward: list[gast.stmt] = []
        for node in nodes:
            first, second = self.write_node(node)
            forward += first
            backward = second + backward
        key = id(nodes)
        names = self.plan.local.get(key, [])
        if names:
            pushes: list[gast.stmt] = []
            pops: list[gast.stmt] = []
            for name in names:
                tape = self.tape(name, self.block_loops(nodes, key))
                pushes.append(_push(tape, syntax.name(name)))
                pops.append(_pop(name, tape))
            forward = _at_ends(forward, pushes)
            missing = [n for n in names if not _surely_bound(nodes, n)]
            forward = [syntax.assign(n, syntax.const(None)) for n in missing] + forward
            backward = pops + backward
        again = self.plan.again.get(key, [])
        if again:
            ordered = [n.stmt for n in nodes if any(n.stmt is s for s in again)]
            copies = syntax.clone(ordered)
            for s in copies:
                s.user_line = None  # not a line that is differentiated
            backward = copies + backward
            if names:
                count = len(names)
                head = backward[len(ordered) : len(ordered) + count]
                rest = backward[len(ordered) + count :]
                backward = _in_order(head, backward[: len(ordered)]) + rest
        return forward, backward

    def block_loops(self, nodes: list, key: int) -> tuple[int, ...]:
        """The loops around a block."""
        for node in nodes:
            return self.where[id(node.stmt)].loops
        return ()

    def tape(self, name: Any, loops: tuple[int, ...], base: str | None = None) -> str:
        """The tape of a name; it is made before the outermost loop."""
        key = (name, loops[0])
        if key not in self.tapes:
            shown = base or self.unit.base_names.get(name, name)
            tape = self.unit.names.fresh(f"{shown}_tape")
            self.tapes[key] = tape
            self.tape_inits.setdefault(loops[0], []).append(tape)
        return self.tapes[key]

    def write_node(self, node: Any) -> tuple[list[gast.stmt], list[gast.stmt]]:
        if isinstance(node, Group):
            return self.write_group(node)
        if isinstance(node, Branch):
            return self.write_branch(node)
        if isinstance(node, Loop):
            return self.write_loop(node)
        return self.write_with(node)

    def write_group(self, node: Group) -> tuple[list[gast.stmt], list[gast.stmt]]:
        stmt = node.stmt
        where = self.where[id(stmt)]
        forward = list(node.forward) if node.forward is not None else [stmt]
        code = list(node.code)
        restored: list[gast.stmt] = []
        names = self.plan.overwritten.get(id(stmt), [])
        for name in names:
            if where.loops:
                tape = self.tape(name, where.loops)
                forward.insert(0, _push(tape, syntax.name(name)))
                old: gast.expr = syntax.expression("t.pop()", t=syntax.name(tape))
            else:
                held = self.unit.names.fresh(f"{name}_before")
                forward.insert(0, syntax.assign(held, syntax.name(name)))
                old = syntax.name(held)
            reads_new = name in _read_counts(code)
            if reads_new and name + OLD in _read_counts(code):
                previous = self.unit.names.fresh(f"previous_{name}")
                code = syntax.substitute(code, {name + OLD: syntax.name(previous)})
                code = [syntax.assign(previous, old), *code]
                code.append(syntax.assign(name, syntax.name(previous)))
            elif reads_new:
                code.append(syntax.assign(name, old))
            else:
                restored.append(syntax.assign(name, old))
        code = [*restored, *code]
        olds = {n for n in _read_counts(code) if n.endswith(OLD)}
        code = syntax.substitute(
            code, {n: syntax.name(n.removesuffix(OLD)) for n in sorted(olds)}
        )
        if id(stmt) in self.plan.contents:
            before, after, restore = self.save_content(stmt, where)
            forward = [*before, *forward, *after]
            code = [*restore, *code]
        return forward, _commented(stmt, code)

    def save_content(
        self, stmt: Any, where: Where
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Keep what an in-place write overwrites; and put it back."""
        target = getattr(stmt, "target", None)
        if isinstance(stmt, gast.Assign):
            target = stmt.targets[0]
        value = getattr(stmt, "value", None)
        if isinstance(target, gast.Name) and isinstance(stmt, gast.AugAssign):
            target = syntax.as_load(target)
            target = gast.Subscript(target, syntax.const(...), syntax.STORE)
        at = isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "at"
        if at and len(value.args) >= 2:
            target = gast.Subscript(value.args[0], value.args[1], syntax.STORE)
        if not isinstance(target, gast.Subscript):
            return self.save_container(stmt, value, where)
        item = syntax.as_load(target)
        base = target.value
        whole = isinstance(target.slice, gast.Constant) and target.slice.value is ...
        scalar = all(
            is_number(self.rules.typer.type_of(item, env))
            for env in self.rules.environments(stmt)
        )
        t = self.rules.type(base.id) if isinstance(base, gast.Name) else UNKNOWN
        if isinstance(t, Dict):
            raise self.rules.refuse(
                "an item of a dict is overwritten that the gradient needs",
                "use another key, or build a new dict",
            )
        kept = item
        if isinstance(t, Array) and not scalar:
            kept = syntax.expression("v.copy()", v=base if whole else item)
        label = base.id if isinstance(base, gast.Name) else "item"
        store = syntax.as_store(syntax.clone(item))
        if where.loops:
            tape = self.tape((label, id(stmt)), where.loops, label)
            before: list[gast.stmt] = [_push(tape, kept)]
            restore = [
                syntax.assign(store, syntax.expression("t.pop()", t=syntax.name(tape)))
            ]
        else:
            held = self.unit.names.fresh(f"{label}_before")
            before = [syntax.assign(held, kept)]
            restore = [syntax.assign(store, syntax.name(held))]
        return before, [], restore

    def save_container(
        self, stmt: Any, value: Any, where: Where
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Undo a change of a list."""
        method = getattr(getattr(value, "func", None), "attr", None)
        base = value.func.value if method else None
        if method == "append":
            undo = syntax.expression("v.pop()", v=base)
            return [], [], [gast.Expr(undo)]
        if method == "extend":
            rest = syntax.expression("v[len(v) - len(w):]", v=base, w=value.args[0])
            rest.ctx = gast.Del()
            return [], [], [gast.Delete([rest])]
        if method == "insert":
            undo = syntax.expression("v.pop(i)", v=base, i=value.args[0])
            return [], [], [gast.Expr(undo)]
        if method == "reverse":
            return [], [], [gast.Expr(syntax.expression("v.reverse()", v=base))]
        if method == "pop" and isinstance(stmt, gast.Assign) and not value.args:
            name = stmt.targets[0].id  # type: ignore[attr-defined]
            undo = syntax.expression("v.append(x)", v=base, x=syntax.name(name))
            self.reads.setdefault(name, [])
            if not where.loops:
                return [], [], [gast.Expr(undo)]
            tape = self.tape((name, "popped"), where.loops, name)
            push = _push(tape, syntax.name(name))
            undo = syntax.expression("v.append(t.pop())", v=base, t=syntax.name(tape))
            return [], [push], [gast.Expr(undo)]
        if method == "fill":
            return self.save_content(
                gast.Assign(
                    [gast.Subscript(base, syntax.const(...), syntax.STORE)],
                    value.args[0],
                    None,
                ),
                where,
            )
        self.rules.stmt = stmt
        raise self.rules.refuse(
            f"`{syntax.text(stmt)}` changes a value that the gradient needs",
            "build a new value instead of changing this one",
        )

    def write_branch(self, node: Branch) -> tuple[list[gast.stmt], list[gast.stmt]]:
        stmt = node.stmt
        then_forward, then_backward = self.write_block(node.then)
        else_forward, else_backward = self.write_block(node.orelse)
        then_backward += node.then_tail
        else_backward += node.else_tail
        test = stmt.test
        forward: list[gast.stmt] = []
        if id(stmt) in self.held:
            name = self.held[id(stmt)]
            forward.append(_like(syntax.assign(name, test), stmt))
            test = syntax.name(name)
        new = gast.If(test, then_forward or [gast.Pass()], else_forward)
        forward.append(_like(new, stmt))
        if not _does_something(then_backward) and not _does_something(else_backward):
            return forward, node.before
        backward = gast.If(syntax.clone(test), then_backward, else_backward)
        if not _does_something(then_backward):
            negated = gast.UnaryOp(gast.Not(), syntax.clone(test))
            backward = gast.If(negated, else_backward, [])
        elif not _does_something(else_backward):
            backward.orelse = []
        return forward, [*node.before, _like(backward, stmt)]

    def write_loop(self, node: Loop) -> tuple[list[gast.stmt], list[gast.stmt]]:
        stmt = node.stmt
        body_forward, body_backward = self.write_block(node.body)
        body_backward += node.tail
        forward: list[gast.stmt] = []
        for name in self.declared.get(id(stmt), []):
            if name in self.reads:
                forward.append(syntax.assign(name, syntax.const(None)))
        trips = self.trips.get(id(stmt))
        if trips is not None:
            forward.append(syntax.assign(trips, syntax.const(0)))
            body_forward = [
                gast.AugAssign(
                    syntax.name(trips, store=True), gast.Add(), syntax.const(1)
                ),
                *body_forward,
            ]
        for tape in self.tape_inits.get(id(stmt), []):
            forward.append(syntax.assign(tape, gast.List([], syntax.LOAD)))
        body_forward = body_forward or [gast.Pass()]
        if isinstance(stmt, gast.While):
            new: Any = gast.While(stmt.test, body_forward, [])
            target: gast.expr = syntax.name("_", store=True)
            over: gast.expr = syntax.call("range", syntax.name(trips or "trips"))
        else:
            iterable = stmt.iter
            if id(stmt) in self.held:
                name = self.held[id(stmt)]
                value = iterable if _is_range(iterable) else _as_list(iterable)
                forward.append(_like(syntax.assign(name, value), stmt))
                iterable = syntax.name(name)
            new = gast.For(stmt.target, iterable, body_forward, [], None)
            target = syntax.clone(stmt.target)
            over = syntax.clone(iterable)
            if trips is not None:
                over = syntax.expression("v[:n]", v=over, n=syntax.name(trips))
            over = syntax.call("reversed", over)
        forward.append(_like(new, stmt))
        if not _does_something(body_backward):
            return forward, node.before
        backward = gast.For(target, over, body_backward, [], None)
        return forward, [*node.before, _like(backward, stmt)]

    def write_with(self, node: Block) -> tuple[list[gast.stmt], list[gast.stmt]]:
        body_forward, body_backward = self.write_block(node.body)
        stmt = node.stmt
        if isinstance(stmt, gast.Try):
            count = len(stmt.finalbody)
            inner = len(node.body) - count
            parts = [self.write_node(n)[0] for n in node.body]
            body = [s for p in parts[:inner] for s in p]
            final = [s for p in parts[inner:] for s in p]
            new: gast.stmt = gast.Try(body or [gast.Pass()], [], [], final)
            return [_like(new, stmt)], body_backward
        new = gast.With(stmt.items, body_forward or [gast.Pass()], None)
        if not _does_something(body_backward):
            return [_like(new, stmt)], []
        quiet = all(
            syntax.dotted(getattr(i.context_expr, "func", None)) == "np.errstate"
            for i in stmt.items
        )
        if quiet:
            again = gast.With(syntax.clone(stmt.items), body_backward, None)
            return [_like(new, stmt)], [_like(again, stmt)]
        return [_like(new, stmt)], body_backward


# -- helpers ------------------------------------------------------------------------


def _bound_names(stmt: Any) -> list[str]:
    """Names that a simple statement binds (not those it writes through)."""
    if isinstance(stmt, gast.Assign):
        return sorted(
            {
                n.id
                for t in stmt.targets
                for n in syntax.walk(t)
                if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
            }
        )
    if isinstance(stmt, gast.AugAssign):
        return []
    return sorted(syntax.names_written(stmt))


def _written_name(stmt: Any) -> str:
    """The name through which a statement writes in place."""
    target: Any = getattr(stmt, "target", None)
    if isinstance(stmt, gast.Assign):
        target = stmt.targets[0]
        if isinstance(target, (gast.Name, gast.Tuple)):
            target = None
    if target is None:
        call = getattr(stmt, "value", None)
        if isinstance(call, gast.Call):
            if isinstance(call.func, gast.Attribute) and call.func.attr == "at":
                target = call.args[0]
            else:
                target = getattr(call.func, "value", None)
    while isinstance(target, (gast.Subscript, gast.Attribute)):
        target = target.value
    return target.id if isinstance(target, gast.Name) else ""


def _changed_container(stmt: Any) -> set[str]:
    """The container that the statement puts something into."""
    target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
    if isinstance(target, (gast.Subscript, gast.Attribute)):
        while isinstance(target, (gast.Subscript, gast.Attribute)):
            target = target.value
        return {target.id} if isinstance(target, gast.Name) else set()
    call = getattr(stmt, "value", None)
    if isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute):
        if call.func.attr in ("append", "extend", "insert", "setdefault", "update"):
            base = call.func.value
            return {base.id} if isinstance(base, gast.Name) else set()
    return set()


def _read_counts(code: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for node in syntax.walk(code):
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
            counts[node.id] = counts.get(node.id, 0) + 1
    return counts


def _shape_only_names(code: Any) -> dict[str, int]:
    """How often each name is read for its shape alone."""
    counts: dict[str, int] = {}
    for node in syntax.walk(code):
        inner = None
        if isinstance(node, gast.Call) and syntax.dotted(node.func) in _SHAPE_ONLY:
            inner = node.args[0] if node.args else None
        elif isinstance(node, gast.Attribute) and node.attr in _SHAPE_ATTRIBUTES:
            inner = node.value
        if isinstance(inner, gast.Name):
            counts[inner.id] = counts.get(inner.id, 0) + 1
    return counts


def _exposed(stmts: list[gast.stmt]) -> set[str]:
    """Names that the statements may read before they bind them."""
    exposed: set[str] = set()
    bound: set[str] = set()
    for stmt in stmts:
        exposed |= _reads_first(stmt) - bound
        bound |= _surely(stmt)
    return exposed


def _reads_first(stmt: Any) -> set[str]:
    if isinstance(stmt, gast.If):
        inner = _exposed(stmt.body) | _exposed(stmt.orelse)
        return syntax.names_read(stmt.test) | inner
    if isinstance(stmt, gast.For):
        inner = _exposed(stmt.body) - syntax.names_written(stmt.target)
        return syntax.names_read(stmt.iter) | inner
    if isinstance(stmt, gast.While):
        return syntax.names_read(stmt.test) | _exposed(stmt.body)
    if isinstance(stmt, (gast.With, gast.Try)):
        return _exposed(stmt.body + getattr(stmt, "finalbody", []))
    reads = syntax.names_read(stmt)
    if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
        reads.add(stmt.target.id)
    return reads


def _surely(stmt: Any) -> set[str]:
    """Names that the statement binds on every path."""
    if isinstance(stmt, gast.If):
        sides = [set(), set()]
        for side, part in enumerate((stmt.body, stmt.orelse)):
            for s in part:
                sides[side] |= _surely(s)
        ends = [part and isinstance(part[-1], gast.Break) for part in
                (stmt.body, stmt.orelse)]
        if ends[0]:
            return sides[1]
        if ends[1]:
            return sides[0]
        return sides[0] & sides[1]
    if isinstance(stmt, (gast.For, gast.While)):
        return set()
    if isinstance(stmt, (gast.With, gast.Try)):
        found: set[str] = set()
        for s in stmt.body:
            found |= _surely(s)
        return found
    return set(_bound_names(stmt))


def _surely_bound(nodes: list, name: str) -> bool:
    return any(name in _surely(node.stmt) for node in nodes) or not any(
        name in syntax.names_written(node.stmt) for node in nodes
    )


def _push(tape: str, value: gast.expr) -> gast.stmt:
    call = syntax.expression("t.append(v)", t=syntax.name(tape), v=value)
    return gast.Expr(call)


def _pop(name: str, tape: str) -> gast.stmt:
    return syntax.assign(name, syntax.expression("t.pop()", t=syntax.name(tape)))


def _at_ends(stmts: list[gast.stmt], pushes: list[gast.stmt]) -> list[gast.stmt]:
    """Add statements at every end of a block: before each `break`, and at its end."""
    if not stmts:
        return list(pushes)
    last = stmts[-1]
    if isinstance(last, gast.Break):
        return [*stmts[:-1], *syntax.clone(pushes), last]
    if isinstance(last, gast.If) and any(
        isinstance(n, gast.Break) for n in _own_breaks([last])
    ):
        last.body = _at_ends(last.body, pushes)
        last.orelse = _at_ends(last.orelse, pushes)
        return stmts
    return [*stmts, *syntax.clone(pushes)]


def _own_breaks(stmts: list[gast.stmt]) -> list[gast.stmt]:
    found: list[gast.stmt] = []
    for stmt in stmts:
        if isinstance(stmt, gast.Break):
            found.append(stmt)
        elif isinstance(stmt, gast.If):
            found += _own_breaks(stmt.body) + _own_breaks(stmt.orelse)
        elif isinstance(stmt, (gast.With, gast.Try)):
            found += _own_breaks(stmt.body)
    return found


def _has_break(stmt: Any) -> bool:
    return bool(_own_breaks(stmt.body))


def _in_order(pops: list[gast.stmt], again: list[gast.stmt]) -> list[gast.stmt]:
    """Recomputed definitions after the pops that they read."""
    return [*pops, *again]


def _does_something(code: list[gast.stmt]) -> bool:
    return any(not syntax.is_comment(s) for s in code)


def _has_code(node: Any) -> bool:
    """Whether any backward code hangs below a branch or loop."""
    if isinstance(node, Group):
        return bool(node.code)
    if isinstance(node, Branch):
        tails = bool(node.then_tail or node.else_tail)
        return tails or any(map(_has_code, [*node.then, *node.orelse]))
    if isinstance(node, Loop):
        return bool(node.tail) or any(map(_has_code, node.body))
    return any(map(_has_code, node.body))


def _is_range(value: Any) -> bool:
    return isinstance(value, gast.Call) and syntax.dotted(value.func) == "range"


def _as_list(value: gast.expr) -> gast.expr:
    if syntax.dotted(getattr(value, "func", None)) == "list":
        return value
    return syntax.call("list", value)


def _like(new: Any, old: Any) -> Any:
    new.user_line = getattr(old, "user_line", None)
    return new


def _commented(stmt: gast.stmt, code: list[gast.stmt]) -> list[gast.stmt]:
    """Mark the code with the user's line that it differentiates."""
    for s in code:
        if getattr(s, "user_line", None) is None:
            s.user_line = getattr(stmt, "user_line", None)
    return code
