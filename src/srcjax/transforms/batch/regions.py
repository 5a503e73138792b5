"""Branches and loops that each example takes on its own.

Where a test differs between examples, those that take a branch are gathered, the
branch runs on them alone, and what it changed is put back:

    if x > 0:                       taken = x > 0
        y = np.log(x)               y = np.empty(...)
    else:                           y[taken] = np.log(x[taken])
        y = -x                      y[~taken] = -x[~taken]

A loop that examples leave one by one runs on those that are still in it (`lanes`).
Short branches of operations that no value can upset run on all, and `np.where` chooses.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import bound_before, exposed, surely, surely_in
from srcjax.analysis.flow.control import Way, is_compound, runs
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Object,
    Scalar,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    is_active,
    is_number,
    parts,
    shape_of,
)
from srcjax.ops.batching import lift
from srcjax.ops.elementwise_facts import is_harmless
from srcjax.transforms.batch.failing import may_fail
from srcjax.transforms.batch.items import reach_at
from srcjax.transforms.batch.sharing import Sharing
from srcjax.transforms.call_effects import called
from srcjax.transforms.places import keyed_parts, read_part
from srcjax.transforms.reasons import Reason, because
from srcjax.transforms.simplify.plain import join_copies
from srcjax.transforms.webs import renamed_webs

_CONTAINERS = (Tuple, List, Dict, Object)
#: So many statements run for all examples at most, where each takes some of them.
_SHORT = 8
BOOL = np.dtype(bool)
#: Whether each example takes a branch.
MASK = Scalar(True, frozenset(), BOOL, True)


def is_plain_array(t: Type) -> bool:
    """Whether the value is, or holds, an array without a batch axis."""
    if isinstance(t, Array):
        return not is_active(t)
    return any(map(is_plain_array, parts(t)))


def _says(words: str) -> Reason:
    return Reason(slot="batch", said=words)


#: What explained text says of branches that some examples take and others do not.
TEST = _says("which examples take this side")
OTHERS = _says("the examples that are left")
CHOSEN = _says("both sides for all examples, and each takes its own")
ROOM = _says("a place for each example, filled below")
GATHERED = _says("only these examples")
PUT_BACK = _says("only for these examples")


class Regions(Sharing):
    """Writes blocks, with what each example decides for itself."""

    def __init__(self, program: Any, unit: Any, callees: Any) -> None:
        super().__init__(program, unit, callees)
        #: Names that tell which examples stay in a loop.
        self.flags: set[str] = set()
        #: Names of gathered examples.
        self.gathers: set[str] = set()
        #: Names of the numbers of the examples that are still in a loop.
        self.numbered: set[str] = set()
        #: Names that may have no value yet where some examples get one: they start as
        #: None.
        self.declared: set[str] = set()
        #: Those that are None before the first examples are put in.
        self.started: set[str] = set()
        #: Items that all examples have read when a branch begins, as they are written.
        self.read: set[str] = set()
        #: Those for which an array can be made before any value is known.
        self.roomy: set[str] = set()
        unsure = self.unsure_names()
        self.roomy = {n for n in unsure if self.has_room(n)}
        self.declared = unsure - self.roomy

    def unsure_names(self) -> set[str]:
        """Names that a branch or loop may give the first value, for some examples."""
        found: set[str] = set()
        everywhere = syntax.use_counts(self.unit.node.body)
        for stmt in syntax.walk(self.unit.node.body):
            if not isinstance(stmt, (gast.If, gast.For, gast.While)):
                continue
            written = {n for n in syntax.names_written(stmt) if self.is_lane_name(n)}
            if isinstance(stmt, gast.If):
                sides = [
                    set().union(*map(surely, side)) if side else set()
                    for side in (stmt.body, stmt.orelse)
                ]
                written -= sides[0] & sides[1]
            inside = syntax.use_counts(stmt)
            outside = {n for n in written if everywhere[n] > inside[n]}
            if outside:
                found |= outside & self.maybe_unbound(stmt)
        return found

    def declarations(self) -> list[gast.stmt]:
        """An array, or None, for the names that may have no value yet."""
        made: list[gast.stmt] = []
        for n in sorted(self.declared | self.roomy):
            made += self.room(n)
        for stmt in made:
            stmt.backward = True
        return made

    def has_room(self, name: str) -> bool:
        """Whether the size of an array for all examples is known beforehand."""
        t = self.examples[name]
        shape = shape_of(t)
        return (
            isinstance(t, (Array, Scalar))
            and self.dtypes.get(name) is not None
            and shape is not None
            and all(isinstance(d, int) for d in shape)
        )

    def block(self, stmts: list[gast.stmt]) -> list[gast.stmt]:
        """The statements of a block on batches."""
        out: list[gast.stmt] = []
        for k, stmt in enumerate(stmts):
            self.read = _read_by(stmts[:k]) if isinstance(stmt, gast.If) else set()
            made = self.one(stmt)
            for s in made:
                if getattr(s, "user_line", None) is None:
                    s.user_line = getattr(stmt, "user_line", None)
            out += made
        return out

    def one(self, stmt: Any) -> list[gast.stmt]:
        self.stmt = stmt
        if isinstance(stmt, gast.If):
            return self.branch(stmt)
        if isinstance(stmt, gast.While):
            return self.while_loop(stmt)
        if isinstance(stmt, gast.For):
            return self.for_loop(stmt)
        if runs(stmt, Way.ATTEMPT):
            raise self.refuse(
                "`try ... except`: which example raised is not known",
                "a test before the operation",
            )
        if is_compound(stmt):
            return [syntax.rebuilt(stmt, self.block)]
        if isinstance(stmt, gast.Break):
            return [stmt]
        return self.statement(stmt)

    def while_loop(self, stmt: gast.While) -> list[gast.stmt]:
        """The batch of a `while` (written in `lane_loops`)."""
        raise NotImplementedError

    def for_loop(self, stmt: gast.For) -> list[gast.stmt]:
        """The batch of a `for` (written in `lane_loops`)."""
        raise NotImplementedError

    # -- branches ----------------------------------------------------------------------

    def branch(self, stmt: gast.If) -> list[gast.stmt]:
        test = self.condition(stmt.test)
        if test is None:
            new = gast.If(
                self.shapes(stmt.test),
                self.block(stmt.body) or [gast.Pass()],
                self.block(stmt.orelse),
            )
            return [new]
        self.check_for_some([*stmt.body, *stmt.orelse])
        return self.chosen(stmt, test) or self.taken_apart(stmt, test)

    def check_for_some(self, stmts: list[gast.stmt]) -> None:
        """Statements that some of the examples come to must not be felt by others."""
        done = (gast.Raise, gast.FunctionDef)
        some = [s for s in syntax.all_statements(stmts) if not isinstance(s, done)]
        self.check_effects(map(syntax.head, some))
        for stmt in some:
            if isinstance(stmt, gast.For) and self.felt.may_run_out(stmt.iter):
                raise self.felt_by_others(stmt.iter)

    def chosen(self, stmt: gast.If, test: gast.expr) -> list[gast.stmt] | None:
        """Both sides for all examples, and `np.where`; None if that may be seen."""
        if not self.is_mild(stmt):
            return None
        names = self.merged_names(stmt)
        if any(
            not isinstance(self.examples.get(n), (Array, Scalar))
            or self.rank(syntax.name(n)) is None
            for n in names
        ):
            return None
        before = set(names) - (surely_in(stmt.body) & surely_in(stmt.orelse))
        if before & (self.maybe_unbound(stmt) | self.declared):
            return None
        self.check_merged(stmt, names)
        mask = self.held("taken", MASK)
        out: list[gast.stmt] = [syntax.assign(mask.id, test)]
        because(out[0], TEST)
        values: list[dict[str, str]] = []
        for side, suffix in ((stmt.body, "then"), (stmt.orelse, "otherwise")):
            made = [s for each in side for s in self.one(each)]
            if not all(map(_binds_or_passes, made)):
                return None  # a branch inside is taken apart
            renamed = {}
            for n in sorted(self.assigned(side) & set(names)):
                fresh = self.held(f"{n}_{suffix}", self.examples[n])
                renamed[n] = fresh.id
            made = _renamed_after(made, renamed)
            values.append(renamed)
            out += [s for s in made if not isinstance(s, gast.Pass)]
        for n in names:
            rank = self.rank(syntax.name(n)) or 0
            lifted = lift(mask, self.example(mask), rank)
            out.append(
                syntax.assign(
                    n,
                    syntax.expression(
                        "np.where(c, a, b)",
                        c=lifted,
                        a=syntax.name(values[0].get(n, n)),
                        b=syntax.name(values[1].get(n, n)),
                    ),
                )
            )
            because(out[-1], CHOSEN)
        for s in out:
            s.backward = True
        return out

    def is_mild(self, stmt: gast.If) -> bool:
        """Whether all examples may run both sides."""
        inside = [s for s in syntax.all_statements([stmt]) if s is not stmt]
        bound = syntax.names_written(stmt)
        return len(inside) <= _SHORT and all(
            self.is_harmless(s) or self.is_read_again(s, bound) for s in inside
        )

    def is_read_again(self, stmt: Any, bound: set[str]) -> bool:
        """`v = x[i]` of an item that all have read; `bound` names may be others now."""
        value = stmt.value if isinstance(stmt, gast.Assign) else None
        names = isinstance(value, gast.Subscript) and syntax.is_name(stmt.targets[0])
        return (
            names
            and not bound & syntax.names_read(value)
            and gast.dump(value) in self.read
            and isinstance(self.examples.get(stmt.targets[0].id), (Array, Scalar))
        )

    def is_harmless(self, stmt: gast.stmt) -> bool:
        """An assignment whose value no example can upset."""
        if isinstance(stmt, gast.Pass):
            return True
        if isinstance(stmt, gast.If):
            plain = isinstance(stmt.test, (gast.Name, gast.Compare))
            return plain and self.reads_mapped(stmt.test)
        if not isinstance(stmt, gast.Assign) or not isinstance(
            stmt.targets[0], gast.Name
        ):
            return False
        value = stmt.value
        t = self.examples.get(stmt.targets[0].id, UNKNOWN)
        if not isinstance(t, (Array, Scalar)):
            return False
        operands = [n.id for n in syntax.walk(value) if isinstance(n, gast.Name)]
        if any(isinstance(self.examples.get(n), _CONTAINERS) for n in operands):
            return False
        if isinstance(value, (gast.Name, gast.Constant, gast.Compare)):
            return True
        if not self.may_be_none.isdisjoint(operands):
            return False
        if isinstance(value, gast.BinOp):
            if isinstance(value.op, gast.Pow):
                power = value.right
                return isinstance(power, gast.Constant) and power.value in (1, 2, 3)
            return isinstance(value.op, (gast.Add, gast.Sub, gast.Mult))
        if isinstance(value, gast.UnaryOp):
            return not isinstance(value.op, gast.Invert)
        return isinstance(value, gast.Call) and is_harmless(called(value))

    def maybe_unbound(self, stmt: gast.stmt) -> set[str]:
        """Names that may have no value yet when the statement is reached."""
        stmt = getattr(stmt, "origin", stmt)
        bound = bound_before(self.unit.node.body, stmt) | set(self.unit.parameters)
        return set(self.examples) - bound - self.flags - self.roomy

    def taken_apart(self, stmt: gast.If, test: gast.expr) -> list[gast.stmt]:
        """Each side on the examples that take it."""
        names = self.merged_names(stmt)
        self.check_merged(stmt, names)
        unbound = self.maybe_unbound(stmt)
        sides = self.sides_of(stmt, set(names), unbound)
        written = [self.assigned(side) for _, _, side in sides]
        sure = [
            set().union(*map(surely, side)) if side else set() for _, _, side in sides
        ]
        complete = sides[-1][1] is None
        out: list[gast.stmt] = []
        masks: list[gast.expr] = []
        made: set[str] = set()
        for k, (before, own_test, side) in enumerate(sides):
            out += [s for each in before for s in self.one(each)]
            self.stmt = stmt
            condition = test if k == 0 else own_test and self.condition(own_test)
            where = self.side_mask(condition, masks)
            out.append(syntax.assign(where.id, where.value))
            because(out[-1], TEST if own_test is not None else OTHERS)
            masks.append(where)
            inside = [n for n in names if n in written[k]]
            for n in inside:
                everywhere = complete and all(n in s for s in sure)
                everywhere = everywhere and n not in exposed([stmt])
                if n in made:
                    continue
                made.add(n)
                if everywhere or (n in unbound and n not in self.declared):
                    out += self.room(n)
                else:
                    out += self.own(n)
            entry = {n for n in inside if n not in sure[k]}
            loops = self.loops
            word = "taken" if own_test is not None else "other"
            body = self.on_lanes(side, where, word, inside, entry)
            if self.needs_guard(side) or self.loops > loops:
                body = [gast.If(syntax.expression("m.any()", m=where), body, [])]
            out += body
        for s in out:
            s.backward = True
        return out

    def sides_of(
        self, stmt: gast.If, names: set[str], unbound: set[str]
    ) -> list[tuple[list[gast.stmt], gast.expr | None, list[gast.stmt]]]:
        """The sides of `if ... elif ... else`: what the test needs, the test, the body.

        An `elif` is one whose test may be computed for all examples. The last side has
        no test; it is left out where it does nothing.
        """
        sides: list[tuple[list[gast.stmt], gast.expr | None, list[gast.stmt]]] = []
        before: list[gast.stmt] = []
        while True:
            sides.append((before, stmt.test, stmt.body))
            rest = [s for s in stmt.orelse if not isinstance(s, gast.Pass)]
            inner = rest[-1] if rest else None
            before = rest[:-1]
            if (
                not isinstance(inner, gast.If)
                or self.is_mild(inner)
                or not isinstance(inner.test, (gast.Name, gast.Compare))
                or not all(map(self.is_harmless, syntax.all_statements(before)))
                or syntax.names_written(before) & names
                or self.reads_too_early([*before, inner.test], unbound)
                or not self.reads_mapped(inner.test)
            ):
                break
            stmt = inner
        if rest:
            sides.append(([], None, stmt.orelse))
        return sides

    def reads_too_early(self, nodes: list[Any], unbound: set[str]) -> bool:
        """Whether the code reads names that may have no value for some examples."""
        reads = syntax.names_read(nodes) - syntax.names_written(nodes)
        return bool(reads & (unbound | self.declared))

    def side_mask(self, test: gast.expr | None, before: list[gast.expr]) -> gast.Name:
        """A name for the examples that pass the test, and none before it."""
        mask = self.held("taken" if test is not None else "other", MASK)
        self.unit.temps.discard(mask.id)  # it reads better than the test repeated
        value = test
        if before:
            some: gast.expr = before[0]
            for m in before[1:]:
                some = gast.BinOp(some, gast.BitOr(), m)
            value = syntax.expression("~m", m=some)
            if test is not None:
                value = syntax.expression("m & t", m=value, t=test)
        mask.value = value
        return mask

    def room(self, name: str) -> list[gast.stmt]:
        """An array for the values of all examples, before they are put in."""
        if not self.has_room(name):
            self.started.add(name)
            return [syntax.assign(name, syntax.const(None))]
        shape = shape_of(self.examples[name])
        dtype = self.dtypes[name]
        dims = self.count()
        if shape:
            sizes: list[gast.expr] = [syntax.const(d) for d in shape]
            dims = gast.Tuple([self.count(), *sizes], syntax.LOAD)
        empty = syntax.expression("np.empty(s)", s=dims)
        if dtype != np.dtype(float):
            empty.keywords = [gast.keyword("dtype", self.shown(dtype))]
        made = syntax.assign(name, empty)
        because(made, ROOM)
        return [made]

    def own(self, name: str) -> list[gast.stmt]:
        """A copy that can be written to without any other name seeing it."""
        t = self.examples[name]
        value = syntax.name(name)
        copy = None
        if name not in self.declared:
            copy = self.by_parts(t, value, copy_of_array)
        return [syntax.assign(name, copy or syntax.call("copied", value))]

    def split_webs(self, node: gast.FunctionDef) -> None:
        """Give each value in the batched function a name of its own, in place.

        What is put back was gathered under the same name:

            x_lanes = x[lanes]                  x_lanes = x[lanes]
            x_lanes = 0.5 * x_lanes             x_lanes2 = 0.5 * x_lanes
            x[lanes] = x_lanes                  x[lanes] = x_lanes2
        """
        node.body = join_copies(node.body)
        for name, old in renamed_webs(node, self.unit.names).items():
            self.unit.base_names[name] = self.unit.base_names.get(old, old)
            for names in (self.unit.temps, self.gathers):
                if old in names:
                    names.add(name)
            for held in (self.examples, self.types, self.dtypes):
                if old in held:
                    held[name] = held[old]

    def needs_guard(self, stmts: list[gast.stmt]) -> bool:
        """Whether the code must not run for no example at all."""
        if may_fail(stmts, self.examples, self.may_be_none):
            return True
        for node in syntax.walk(stmts):
            if isinstance(node, (gast.While, gast.Raise, gast.Assert)):
                return True
            if isinstance(node, gast.Call):
                for callee in self.facts.callees.get(id(node), ()):
                    function = getattr(callee, "__func__", callee)
                    if id(function) in self.program.units:
                        return True
        return False

    def on_lanes(
        self,
        stmts: list[gast.stmt],
        where: gast.expr,
        word: str,
        changed: list[str],
        entry: set[str],
        keep: frozenset[str] = frozenset(),
    ) -> list[gast.stmt]:
        """The statements on the examples at `where`, gathered and put back."""
        self.check_for_some(stmts)
        self.apart += 1
        body = self.block(stmts)
        self.apart -= 1
        reads = exposed(body)
        buffers = self.changed_buffers(stmts)
        in_place = [
            n
            for n in sorted(reads)
            if self.is_lane_name(n)
            and n not in changed
            and self.examples[n].buffers & buffers
        ]
        self.check_aliases(sorted(reads | set(changed)), buffers, changed)
        gathered = [
            n
            for n in sorted(reads | (entry & set(self.examples)))
            if self.is_lane_name(n) and n not in keep
        ]
        body = without_first_copies(body, set(gathered))
        reached = {
            n
            for n in gathered
            if n not in changed and self.reach_items(n, body, where, n in in_place)
        }
        gathered = [n for n in gathered if n not in reached]
        in_place = [n for n in in_place if n not in reached]
        local = syntax.names_written(body) - {self.size}
        names = {
            n: self.unit.names.fresh(f"{n}_{word}")
            for n in sorted(set(gathered) | set(changed) | set(in_place))
        }
        for n, fresh in names.items():
            if f"{n}_{word}" in self.unit.temps:  # at these places it is that again
                self.unit.base_names[fresh] = f"{n}_{word}"
            self.unit.temps.add(fresh)
            self.examples[fresh] = self.examples[n]
            self.types[fresh] = self.types.get(n, UNKNOWN)
            if n in self.dtypes:
                self.dtypes[fresh] = self.dtypes[n]
        inside = syntax.use_counts(stmts)
        everywhere = syntax.use_counts(self.unit.node.body)
        temporaries = {
            n: self.unit.names.fresh(n)
            for n in sorted(local)
            if n not in names
            and self.is_lane_name(n)
            and n not in self.unit.temps
            and n not in keep
            and everywhere[n] > inside[n]
        }
        for n, fresh in temporaries.items():
            self.examples[fresh] = self.examples[n]
            self.types[fresh] = self.types.get(n, UNKNOWN)
        out: list[gast.stmt] = []
        for n in gathered:
            out.append(syntax.assign(names[n], self.gather(n, where)))
            because(out[-1], GATHERED)
            self.gathers.add(names[n])
        if self.size in syntax.names_read(body):
            fresh = self.unit.names.fresh(f"{self.size}_{word}")
            self.unit.temps.add(fresh)
            self.types[fresh] = self.types[self.size]
            number = self.number(where)
            chosen = isinstance(where, gast.Name) and where.id in self.numbered
            arrays = (n for n in gathered if self.is_surely_batch(n))
            first = next(arrays, None)
            if first is not None and not chosen:
                number = syntax.call("len", syntax.name(names[first]))
            out.append(syntax.assign(fresh, number))
            names[self.size] = fresh
        syntax.rename(body, {**names, **temporaries})
        out += [s for s in body if not isinstance(s, gast.Pass)]
        for n in changed:
            back = self.put_back(n, where, names[n])
            for s in back:
                because(s, PUT_BACK)
            out += back
        for n in in_place:
            item = gast.Subscript(syntax.name(n), syntax.clone(where), syntax.STORE)
            out.append(syntax.assign(item, syntax.name(names[n])))
            because(out[-1], PUT_BACK)
        return out

    def reach_items(
        self, name: str, body: list[gast.stmt], where: gast.expr, written: bool
    ) -> bool:
        """Let the body read and write items of the array where it is, if it can."""
        t = self.examples[name]
        shape = shape_of(t)
        if not isinstance(t, Array) or shape is None or not self.is_surely_batch(name):
            return False

        def is_whole(entry: Any) -> bool:
            if isinstance(entry, gast.BinOp):
                whole = isinstance(entry.op, (gast.Add, gast.Sub, gast.Mult))
                return whole and is_whole(entry.left) and is_whole(entry.right)
            if isinstance(entry, gast.UnaryOp):
                return is_whole(entry.operand)
            found = self.example(entry)
            dtype = dtype_of(found) if is_number(found) else None
            return dtype is not None and dtype.kind in "iu"

        def is_shared(entry: Any) -> bool:
            return is_whole(entry) and not any(
                map(self.is_lane_name, syntax.names_read(entry))
            )

        return reach_at(body, name, where, len(shape), written, is_whole, is_shared)

    def is_surely_batch(self, name: str) -> bool:
        """Whether a name holds an array with a batch axis, and None on no path."""
        known = isinstance(self.examples[name], (Array, Scalar))
        return known and name not in self.declared and self.is_batch(syntax.name(name))

    def gather(self, name: str, where: gast.expr) -> gast.expr:
        t = self.examples[name]
        if isinstance(t, _CONTAINERS) and name not in self.declared:
            made = self.by_parts(
                t,
                syntax.name(name),
                lambda part: gast.Subscript(part, syntax.clone(where), syntax.LOAD),
            )
            if made is not None:
                return made
            if is_plain_array(t):
                raise self.refuse(
                    f"`{name}` mixes mapped arrays with others",
                    "them in a tuple or a dict, or apart",
                )
        if isinstance(t, (*_CONTAINERS, Unknown)) or name in self.declared:
            return syntax.call("gathered", syntax.name(name), syntax.clone(where))
        return gast.Subscript(syntax.name(name), syntax.clone(where), syntax.LOAD)

    def number(self, where: gast.expr) -> gast.expr:
        """How many examples are at `where`."""
        if isinstance(where, gast.Name) and where.id in self.numbered:
            return syntax.call("len", syntax.clone(where))
        return syntax.call("np.count_nonzero", syntax.clone(where))

    def put_back(self, name: str, where: gast.expr, made: str) -> list[gast.stmt]:
        if name not in self.declared and self.has_room(name):
            item = gast.Subscript(syntax.name(name), syntax.clone(where), syntax.STORE)
            return [syntax.assign(item, syntax.name(made))]
        t = self.examples[name]
        started = self.declared | self.started
        if name not in started and isinstance(t, _CONTAINERS):
            old, new = (self.leaves(t, syntax.name(n)) for n in (name, made))
            if old is not None and new is not None:
                return [
                    syntax.assign(
                        gast.Subscript(a, syntax.clone(where), syntax.STORE), b
                    )
                    for a, b in zip(old, new, strict=True)
                ]
        call = syntax.call(
            "put_back",
            syntax.name(name),
            syntax.clone(where),
            syntax.name(made),
            self.count(),
        )
        return [syntax.assign(name, call)]

    def leaves(self, t: Type, value: gast.expr) -> list[gast.expr] | None:
        """The mapped arrays and numbers in a container.

        None where it is not known what they are, or in which dtype.
        """
        found: list[tuple[gast.expr, Type]] = []

        def visit(part: Type, at: gast.expr) -> bool:
            if not is_active(part):
                return True
            if isinstance(part, (Array, Scalar)):
                found.append((at, part))
                return True
            inner = keyed_parts(part)
            return bool(inner) and all(
                visit(p, read_part(part, syntax.clone(at), key)) for key, p in inner
            )

        known = visit(t, value) and all(
            shape_of(p) is not None and dtype_of(p) is not None for _, p in found
        )
        return [at for at, _ in found] if known else None


def without_first_copies(body: list[gast.stmt], gathered: set[str]) -> list[gast.stmt]:
    """`x = x.copy()` is not needed where `x` has just been gathered.

    It is after `y = x`, by which `y` has the memory too.
    """
    others: set[str] = set()  # written, or held by another name
    out: list[gast.stmt] = []
    for stmt in body:
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        if isinstance(target, gast.Name) and target.id in gathered - others:
            own = syntax.expression("x.copy()", x=syntax.name(target.id))
            if syntax.equal(stmt.value, own):
                others.add(target.id)
                continue
        others |= syntax.names_written(stmt) | held_names(stmt)
        out.append(stmt)
    return out


def held_names(node: Any) -> set[str]:
    """Names that are read, but not only to compute something new of what they hold."""
    computed: set[int] = set()
    for sub in syntax.walk(node):
        ufunc = isinstance(sub, gast.Call) and isinstance(
            getattr(np, getattr(sub.func, "attr", ""), None), np.ufunc
        )
        if ufunc or isinstance(sub, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            computed |= {id(child) for child in gast.iter_child_nodes(sub)}
    return {
        n.id
        for n in syntax.walk(node)
        if isinstance(n, gast.Name)
        and isinstance(n.ctx, gast.Load)
        and id(n) not in computed
    }


def _read_by(stmts: list[gast.stmt]) -> set[str]:
    """Items that the last of the statements, which only bind names, have read."""
    found: set[str] = set()
    bound: set[str] = set()
    for stmt in reversed(stmts):
        if not isinstance(stmt, gast.Assign):
            break
        if not isinstance(stmt.targets[0], gast.Name):
            break
        bound.add(stmt.targets[0].id)
        value = stmt.value
        if isinstance(value, gast.Subscript) and not syntax.names_read(value) & bound:
            found.add(gast.dump(value))
    return found


def _binds_or_passes(stmt: Any) -> bool:
    named = isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name)
    return named or isinstance(stmt, gast.Pass)


def _renamed_after(stmts: list[gast.stmt], names: dict[str, str]) -> list[gast.stmt]:
    """Each name stands for its new value from its first assignment on."""
    known: dict[str, str] = {}
    out = []
    for s in stmts:
        new = syntax.clone(s)
        if isinstance(new, gast.Assign):
            new.value = syntax.rename(new.value, dict(known)) or new.value
            target = new.targets[0]
            if isinstance(target, gast.Name) and target.id in names:
                known[target.id] = names[target.id]
                target.id = names[target.id]
        out.append(new)
    return out


def copy_of_array(value: gast.expr) -> gast.Call:
    """`x.copy()`, marked as the method of an array."""
    made: gast.Call = syntax.expression("x.copy()", x=value)
    made.of_array = True
    return made


__all__ = ["Regions"]
