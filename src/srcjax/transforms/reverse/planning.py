"""How each value that backward code reads is had: kept, computed again or saved."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import (
    bound_names,
    entered_names,
    exposed,
    swap_pairs,
)
from srcjax.analysis.flow.control import Way, has_break, is_compound, runs
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import (
    NONE,
    Array,
    Const,
    Dict,
    List,
    Range,
    Tuple,
    Unknown,
    is_number,
    same_shape,
)
from srcjax.frontend.attempts import caught_flag
from srcjax.transforms.call_effects import called, is_pure
from srcjax.transforms.reads_writes import backward_range, is_range, shape_only_names
from srcjax.transforms.reverse.plan import Plan, Read
from srcjax.transforms.reverse.rules import Rules
from srcjax.transforms.reverse.sharing import Sharing
from srcjax.transforms.reverse.stored import Stored
from srcjax.transforms.reverse.sweep import (
    Attempt,
    Block,
    Branch,
    Group,
    Loop,
    has_code,
)
from srcjax.transforms.writer import OLD

#: Zeros for which an array gives its shape and dtype.
ZEROS = {"np.zeros_like", "zeros_like"}
_CHEAP_CALLS = {"len", "range", "abs", "min", "max", "isinstance", "reversed", "list"}


class Planner(Stored, Sharing):
    """Decides what to save; `Saver` writes the code."""

    def __init__(self, rules: Rules, nodes: list[Any]) -> None:
        self.rules = rules
        self.unit = rules.unit
        self.nodes = nodes
        self.where: dict[int, Position] = {}
        self.stmts: dict[int, gast.stmt] = {}
        self.places: dict[int, set[int]] = {}
        self.defs: dict[str, list[tuple[Position, gast.stmt]]] = {}
        self.writes: list[tuple[Position, gast.stmt]] = []
        self.hidden: dict[int, list[Any]] = {}
        self.reads: dict[str, list[Read]] = {}
        self.content_reads: dict[str, list[Read]] = {}
        self.loops: dict[int, Loop] = {}
        #: The places where a `try` or a loop has been left, by its identity.
        self.ends: dict[int, Position] = {}
        #: The `try` that sets each flag (0 where several do), and the loops around it.
        self.flags: dict[str, tuple[int, tuple[int, ...]]] = {}
        self.attempts: dict[int, Any] = {}
        self.blocks: dict[int, list[Any]] = {}
        self.orders: dict[int, list[Position]] = {}
        self.known_names: dict[int, tuple[Any, frozenset[str], frozenset[str]]] = {}
        self.plan = Plan()
        self.tapes: dict[Any, str] = {}
        self.tape_inits: dict[int, list[str]] = {}
        self.held = {}
        #: Arrays whose update is a new array, with the names that keep the old ones.
        self.renewed: list[tuple[str, str]] = []
        self.trips = {}
        self.declared: dict[int, list[str]] = {}
        # The adjoints of parameters that are made in the forward sweep are results.
        started = [rules.shadows.names[n] for n in rules.shadows.given]
        self.parameters = {*self.unit.parameters, *started}
        self.counter = 0
        top = Position(-1, (), (id(nodes),))
        self.blocks[id(nodes)] = nodes
        for name in self.parameters:
            self.defs.setdefault(name, []).append((top, self.unit.node))
        self.reads |= {name: [Read(top, True)] for name in started}
        self.locate(nodes, (), {}, (id(nodes),))
        self.carried: set[tuple[int, str]] = set()

    # -- looking ----------------------------------------------------------------------

    def locate(self, nodes: list, loops: tuple, sides: dict, blocks: tuple) -> None:
        """Number the statements and collect definitions and in-place writes."""
        for node in nodes:
            self.counter += 1
            where = Position(self.counter, loops, blocks, sides)
            stmt = node.stmt
            self.where[id(stmt)] = where
            self.stmts[where.order] = stmt
            if isinstance(node, Group):
                extra = self.rules.extra_defs.get(id(stmt), [])
                for name in [*bound_names(stmt), *extra]:
                    self.defs.setdefault(name, []).append((where, stmt))
                if self.is_write(stmt):
                    self.writes.append((where, stmt))
            elif isinstance(node, Branch):
                if isinstance(node, Attempt):
                    self.attempts[id(stmt)] = stmt
                    # The flag is set in a handler, and by nothing else.
                    caught = syntax.names_written(stmt.handlers) - {caught_flag(stmt)}
                    for name in sorted(caught):
                        self.defs.setdefault(name, []).append((where, stmt))
                if self.is_write(stmt):
                    self.writes.append((where, stmt))
                for side, part in enumerate((node.then, node.orelse)):
                    self.blocks[id(part)] = part
                    inner = {
                        **sides,
                        id(stmt): side,
                        **self.caught_sides(stmt, side, loops),
                    }
                    self.locate(part, loops, inner, (*blocks, id(part)))
                if isinstance(node, Attempt):
                    self.counter += 1
                    self.ends[id(stmt)] = Position(self.counter, loops, blocks, sides)
            elif isinstance(node, Loop):
                self.loops[id(stmt)] = node
                self.blocks[id(node.body)] = node.body
                inside = (*loops, id(stmt))
                if self.is_write(stmt):
                    head = Position(self.counter, inside, blocks, sides)
                    self.writes.append((head, stmt))
                if isinstance(stmt, gast.For):
                    target = Position(
                        self.counter, inside, (*blocks, id(node.body)), sides
                    )
                    for name in syntax.names_written(stmt.target):
                        self.defs.setdefault(name, []).append((target, stmt))
                self.locate(node.body, inside, sides, (*blocks, id(node.body)))
                self.counter += 1
                self.ends[id(stmt)] = Position(self.counter, loops, blocks, sides)
            else:
                self.blocks[id(node.body)] = node.body
                for name in entered_names(stmt):
                    self.defs.setdefault(name, []).append((where, stmt))
                if self.is_write(stmt):
                    self.writes.append((where, stmt))
                self.locate(node.body, loops, sides, (*blocks, id(node.body)))
                if self.is_write(stmt):  # what is entered is left, too
                    self.counter += 1
                    self.writes.append(
                        (Position(self.counter, loops, blocks, sides), stmt)
                    )

    def caught_sides(
        self, stmt: gast.stmt, side: int, loops: tuple[int, ...]
    ) -> dict[int, int]:
        """`if caught:` is the side on which the body of the `try` has failed."""
        if runs(stmt, Way.ATTEMPT):
            flag = caught_flag(stmt) or ""
            mine = (id(stmt), loops)
            self.flags[flag] = mine if self.flags.get(flag, mine) == mine else (0, ())
            return {}
        test = stmt.test if isinstance(stmt, gast.If) else None
        name = test.id if isinstance(test, gast.Name) else ""
        attempt, around = self.flags.get(name, (0, ()))
        return {attempt: 1 - side} if attempt and around == loops else {}

    def note_reads(
        self, code: Any, where: Position, stmt: gast.stmt | None, after: bool = False
    ) -> None:
        """Remember what backward code reads."""
        results = set(bound_names(stmt)) if stmt is not None else set()
        if stmt is not None:
            results |= set(self.rules.extra_defs.get(id(stmt), ()))
        self.take_lasting_shapes(code)
        shape_only = shape_only_names(code)
        local = syntax.names_written(code)
        for name, count in syntax.read_counts(code).items():
            old = name.endswith(OLD)
            plain = name.removesuffix(OLD)
            if plain not in self.defs or (name in local and not old):
                continue
            read = Read(where, after=after or (plain in results and not old))
            self.reads.setdefault(plain, []).append(read)
            grows = isinstance(self.rules.type_of_name(plain), (List, Dict, Unknown))
            if grows or count > shape_only.get(name, 0):
                self.content_reads.setdefault(plain, []).append(read)

    def take_lasting_shapes(self, code: Any) -> None:
        """Zeros like a name with many values are those like a parameter of its shape.

            du_prev = np.zeros_like(u_prev)        du_prev = np.zeros_like(u0)

        The parameter is there in the backward sweep, and nothing has to be saved.
        """
        for node in syntax.walk(code):
            if not isinstance(node, gast.Call) or called(node) not in ZEROS:
                continue
            like = node.args[0]
            if not isinstance(like, gast.Name) or self.is_lasting(like.id):
                continue
            t = self.rules.type_of_name(like.id)
            if not isinstance(t, Array) or t.dtype is None or t.shape is None:
                continue
            for name in filter(self.is_lasting, self.unit.parameters):
                other = self.rules.type_of_name(name)
                if not isinstance(other, Array) or other.dtype != t.dtype:
                    continue
                if same_shape(other.shape, t.shape):
                    like.id = name
                    break

    def is_lasting(self, name: str) -> bool:
        """Whether the name stands for one value, which the backward sweep finds."""
        found = self.defs.get(name, ())
        return all(not where.loops for where, _ in found) and len(found) <= 1

    def collect(self, nodes: list) -> None:
        """All reads of the backward code."""
        for node in nodes:
            where = self.where[id(node.stmt)]
            if isinstance(node, Group):
                # An adjoint starts as what the statement left, not as what it found.
                starts = [s for s in node.code if getattr(s, "initial", False)]
                rest = [s for s in node.code if not getattr(s, "initial", False)]
                self.note_reads(rest, where, node.stmt)
                self.note_reads(starts, where, node.stmt, after=True)
            elif isinstance(node, Branch):
                self.collect(node.then)
                self.collect(node.orelse)
                for tail in (node.then_tail, node.else_tail):
                    self.note_reads(tail, where, None)
            elif isinstance(node, Loop):
                self.collect(node.body)
                self.note_reads(node.before, self.ends[id(node.stmt)], None)
                inner = Position(
                    where.order,
                    (*where.loops, id(node.stmt)),
                    (*where.blocks, id(node.body)),
                    where.sides,
                )
                self.note_reads(node.tail, inner, None)
            else:
                self.collect(node.body)

    # -- planning ---------------------------------------------------------------------

    def decide(self) -> None:
        """Find everything that has to be saved."""
        self.collect(self.nodes)
        self.find_carried()
        self.check_swaps()
        self.check_objects()
        self.check_aliases()
        self.check_repeats()
        self.plan_all()
        self.headers(self.nodes)
        self.plan_all()
        self.recompute_more()
        self.prefer_results()
        self.read_stored()

    def plan_all(self) -> None:
        """Plan names and contents until nothing is added."""
        changed = True
        while changed:
            changed = False
            for name in sorted(self.reads):
                changed |= self.plan_name(name)
            changed |= self.plan_contents()

    def has_backward(self, node: Any) -> bool:
        """Whether the backward sweep has anything below the node: code or a restore."""
        if has_code(node):
            return True
        inside = [s for s in syntax.walk(node.stmt) if isinstance(s, gast.stmt)]
        return any(
            id(s) in self.plan.overwritten or id(s) in self.plan.contents
            for s in inside
        )

    def find_carried(self) -> None:
        """Names whose value goes from one iteration of a loop to the next."""
        for key, loop in self.loops.items():
            first = exposed(loop.stmt.body)
            if isinstance(loop.stmt, gast.While):
                first = first | syntax.names_read(loop.stmt.test)
            for name, defs in self.defs.items():
                if not any(key in w.loops for w, _ in defs):
                    continue
                if name in syntax.names_written(getattr(loop.stmt, "target", [])):
                    continue  # each trip begins with another value
                at = self.where[key]
                outside = any(
                    key not in w.loops
                    and (w.order < at.order or set(w.loops) & set(at.loops))
                    for w, _ in defs
                )
                if outside or name in first:
                    self.carried.add((key, name))
                    # Carried over a loop around too, it is declared before that one.
                    around = any((k, name) in self.carried for k in at.loops)
                    if not outside and not around:
                        self.declared.setdefault(id(loop.stmt), []).append(name)

    def plan_name(self, name: str) -> bool:
        """Plan saves for one name; True if something new was planned."""
        changed = False
        reads = self.reads[name]
        for where, stmt in self.overwriting(name):
            if self.old_is_read(name, where) and self.may_hold_before(name, where):
                known = self.plan.overwritten.setdefault(id(stmt), [])
                if name not in known:
                    known.append(name)
                    changed = True
        for key in self.loops:
            defs = [(w, s) for w, s in self.defs[name] if key in w.loops]
            inside = [r for r in reads if key in r.where.loops]
            if not defs or not inside or not self.own_value(key, name):
                continue
            if self.is_target_only(key, name):
                continue
            deeper = [r for r in inside if self.local_loop(name, r.where.loops) == key]
            if deeper:
                changed |= self.plan_local(name, defs, deeper)
        return changed

    def local_loop(self, name: str, loops: tuple[int, ...]) -> int | None:
        """The innermost of the loops that has a value of its own in each iteration."""
        for key in reversed(loops):
            if not self.own_value(key, name):
                continue
            if any(key in w.loops for w, _ in self.defs[name]):
                return key
        return None

    def own_value(self, key: int, name: str) -> bool:
        """Whether each iteration has a value of its own to be saved at its end."""
        if (key, name) not in self.carried:
            return True
        inside = [(w, s) for w, s in self.defs[name] if key in w.loops]
        if not inside or not all(isinstance(s, gast.For) for _, s in inside):
            return False
        first = min(w.order for w, _ in inside)
        return not any(
            key in read.where.loops and read.where.order < first
            for read in self.reads.get(name, [])
        )

    def is_target_only(self, key: int, name: str) -> bool:
        stmt = self.loops[key].stmt
        if not isinstance(stmt, gast.For):
            return False
        return name in syntax.names_written(stmt.target) and (
            sum(key in w.loops for w, _ in self.defs[name]) == 1
        )

    def old_is_read(self, name: str, at: Position) -> bool:
        """Whether the value overwritten at `at` is read by later backward code."""
        return any(self.reaches(read, at, name) for read in self.reads.get(name, []))

    def reaches(self, read: Read, at: Position, name: str) -> bool:
        """Whether a statement at `at` can run between the read's place and the end."""
        if any(read.where.sides.get(key) != 0 for key in self.attempts_around(at)):
            return False  # the `try` itself takes the value away, for reads outside
        shared = set(read.where.loops) & set(at.loops)
        if any((key, name) in self.carried for key in shared):
            return True
        return read.before(at)

    def may_hold_before(self, name: str, at: Position) -> bool:
        """Whether the name can have a value when the definition at `at` runs."""
        for where, _ in self.defs[name]:
            if where is at:
                if any((key, name) in self.carried for key in at.loops):
                    return True
                continue
            if where.order < at.order and not where.excludes(at):
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
        if name in self.plan.late:
            return False
        if any(name in self.bound_by(s) for s in self.plan.again.get(block, [])):
            return False
        again = self.can_recompute(name, defs, block)
        if again is not None:
            self.plan.again.setdefault(block, []).append(again)
            where = self.where[id(again)]
            value = again.value
            for other in syntax.names_read(value):
                if other in self.defs:
                    self.reads.setdefault(other, []).append(Read(where, False, again))
                    self.content_reads.setdefault(other, [])
            return True
        if self.is_same_always(name):
            return False
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

    # -- branch conditions and loop ranges --------------------------------------------

    def headers(self, nodes: list) -> None:
        """Decide how the backward sweep knows each condition and range."""
        for node in nodes:
            if isinstance(node, Branch):
                self.headers(node.then)
                self.headers(node.orelse)
                if isinstance(node, Attempt) and self.has_backward(node):
                    self.hold_flag(node.stmt)
                elif self.has_backward(node):
                    self.header(node.stmt, node.stmt.test)
            elif isinstance(node, Loop):
                self.headers(node.body)
                if not self.has_backward(node):
                    continue
                stmt = node.stmt
                if isinstance(stmt, gast.While) or has_break(stmt):
                    self.count_trips(stmt)
                if isinstance(stmt, gast.For):
                    self.header(stmt, stmt.iter)
            elif isinstance(node, Block):
                self.headers(node.body)

    def header(self, stmt: Any, value: gast.expr) -> None:
        where = self.where[id(stmt)]
        names = {n for n in syntax.names_read(value) if n in self.defs}
        own = getattr(stmt, "target", [])  # `for k in range(k)`
        inside = syntax.names_written([own, *stmt.body, *stmt.orelse])
        looked_at = shape_only_names(value)
        held = {
            n
            for n in names
            if not isinstance(
                self.rules.type_of_name(n), Array
            )  # a list's length changes
            or syntax.count_reads(value, n) > looked_at.get(n, 0)
        }
        changes = bool(names & inside) or self.writes_inside(stmt, held)
        kept = isinstance(value, gast.Name) and is_number(
            self.rules.type_of_name(value.id)
        )  # saved by its own name, if it has to be
        if (
            not changes
            and self.is_simple_header(stmt, value)
            and (kept or not any(self.is_kept_for(n, where, n in held) for n in names))
        ):
            for name in names:
                read = Read(where, False)
                self.reads.setdefault(name, []).append(read)
            return
        base = "condition" if isinstance(stmt, gast.If) else "items"
        if isinstance(stmt, gast.For) and is_range(value):
            base = "steps"
        self.hold(stmt, base)
        if base == "condition":
            self.unit.temps.add(self.held[id(stmt)])
        if base == "steps":
            self.rules.types[self.held[id(stmt)]] = Range()

    def is_kept_for(self, name: str, where: Position, contents: bool) -> bool:
        """Whether a header that reads the name needs a save of it."""
        if not self.would_save(name, where, contents):
            return False
        if not is_number(self.rules.type_of_name(name)):
            return True  # it may hold something else by then
        reads = [*self.reads.get(name, []), Read(where, False)]
        block = self.home(self.defs[name], reads)
        return self.can_recompute(name, self.defs[name], block) is None

    def writes_inside(self, stmt: Any, names: set[str]) -> bool:
        """Whether the statement's own body writes in place to one of the names."""
        buffers: frozenset = frozenset()
        for name in names:
            buffers |= self.buffers_of(name)
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

    def hold_flag(self, stmt: gast.Try) -> None:
        """Whether this `try` was left; a copy where another one sets the flag too."""
        flag = caught_flag(stmt) or ""
        end = self.ends[id(stmt)]
        tries = [s for s in syntax.walk(self.unit.node) if isinstance(s, gast.Try)]
        once = sum(caught_flag(s) == flag for s in tries) == 1
        if once and any(w.blocks == end.blocks for w, _ in self.defs[flag]):
            self.reads.setdefault(flag, []).append(Read(end, True))
            return
        name = self.unit.names.fresh("finished")
        self.held[id(stmt)] = name
        self.define(name, end, stmt)

    def define(self, name: str, where: Position, stmt: Any) -> None:
        self.defs[name] = [(where, gast.Pass())]
        self.reads[name] = [Read(where, True)]

    def count_trips(self, stmt: Any) -> None:
        name = self.unit.names.fresh("trips")
        self.trips[id(stmt)] = name
        self.define(name, self.where[id(stmt)], stmt)

    def is_simple_header(self, stmt: Any, value: gast.expr) -> bool:
        known: tuple[type, ...] = (Const, Array, Tuple, List, Dict)
        if is_range(value):  # bounds: whole numbers, and lengths
            known = (*known, Unknown)
        for name in syntax.names_read(value):
            t = self.rules.type_of_name(name)
            if name in self.defs and not (is_number(t) or isinstance(t, known)):
                return False
        if not is_pure(value):
            return False
        for sub in syntax.walk(value):
            if isinstance(sub, gast.Call):
                if called(sub) not in _CHEAP_CALLS:
                    return False
            elif isinstance(
                sub, (gast.NamedExpr, gast.Lambda, gast.ListComp, gast.GeneratorExp)
            ):
                return False
        if isinstance(stmt, gast.For):
            if is_range(value):
                return True
            if backward_range(value) is not None:
                return id(stmt) not in self.trips
            if called(value) == "list":
                return True
            if isinstance(value, gast.Name):
                t = self.rules.type_of_name(value.id)
                return isinstance(t, (List, Tuple, Array))
            return False
        return True

    def would_save(self, name: str, where: Position, contents: bool) -> bool:
        """Whether reading the name (and what it holds) at `where` needs a save."""
        read = Read(where, False)
        for at, stmt in self.overwriting(name):
            if (
                self.reaches(read, at, name)
                and self.may_hold_before(name, at)
                and name not in self.plan.overwritten.get(id(stmt), [])
            ):
                return True
        held = self.memory_of(name, read) if contents else NONE
        if any(self.may_change(held, read, at, stmt) for at, stmt in self.writes):
            return True
        for key in where.loops:
            if not any(key in w.loops for w, _ in self.defs[name]):
                continue
            if any(self.is_target_only(inner, name) for inner in where.loops):
                continue  # the loop around the read binds it again
            saved = any(name in names for names in self.plan.local.values())
            again = any(
                name in self.bound_by(s)
                for stmts in self.plan.again.values()
                for s in stmts
            )
            if saved or again or self.is_same_always(name):
                continue
            if (key, name) not in self.carried:
                return True
        return False

    # -- contents of arrays -----------------------------------------------------------

    def plan_contents(self) -> bool:
        """In-place writes whose overwritten part the backward sweep reads."""
        before = len(self.plan.contents)
        for name, reads in self.content_reads.items():
            buffers = self.buffers_of(name)
            if not buffers or is_number(self.rules.type_of_name(name)):
                continue
            for at, stmt in self.writes:
                if not self.written_buffers(stmt) & buffers:
                    continue
                for read in reads:
                    if id(stmt) in self.plan.contents:
                        break
                    held = self.memory_of(name, read)
                    if self.may_change(held, read, at, stmt) and not (
                        self.view_is_intact(name, read.where, at, stmt)
                    ):
                        self.check_simple(stmt)
                        self.plan.contents.add(id(stmt))
                        self.note_undo(stmt, at)
        return len(self.plan.contents) > before

    def check_simple(self, stmt: Any) -> None:
        """Refuse a write in the head of a branch or loop, which nothing can undo."""
        if is_compound(stmt):
            self.rules.stmt = stmt
            head = self.hidden_writes(stmt)[0]
            called = syntax.text(syntax.head(head) if is_compound(head) else head)
            raise self.rules.refuse(
                f"`{called}` may change a value that the gradient needs",
                "a name for its result, in a statement before",
            )

    def note_undo(self, stmt: Any, where: Position) -> None:
        """Putting contents back reads the name that was written through, and where."""
        if swap_pairs(stmt):
            return
        target: Any = getattr(stmt, "target", None)
        if isinstance(stmt, (gast.Assign, gast.Delete)):
            target = stmt.targets[0]
        value = getattr(stmt, "value", None)
        if not isinstance(target, (gast.Subscript, gast.Attribute)) and (
            isinstance(value, gast.Call)
        ):
            target = [getattr(value.func, "value", None), *value.args[:2]]
        target = [target, *self.hidden_writes(stmt)]
        for name in sorted(syntax.all_names(target)):
            if name in self.defs and name not in bound_names(stmt):
                self.reads.setdefault(name, []).append(Read(where, False))
