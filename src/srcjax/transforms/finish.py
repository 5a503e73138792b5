"""From the two sweeps to a function that reads well."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import (
    ordered_names,
    read_from_around,
    surely,
)
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    Dict,
    List,
    Scalar,
    Tuple,
    Unknown,
    all_buffers,
    dtype_of,
    is_number,
    kind_of_count,
    same_dtype,
    same_shape,
    same_size,
    shape_of,
)
from srcjax.frontend.helper_names import HELPERS
from srcjax.frontend.joined_tapes import joined_tapes
from srcjax.frontend.stage_texts import is_recording
from srcjax.ops.elementwise_facts import is_elementwise
from srcjax.transforms.call_effects import called, written_bases
from srcjax.transforms.fresh import is_new_array, own
from srcjax.transforms.passes import Pass, Simplify, Watch
from srcjax.transforms.simplify.at_hand import read_at_hand
from srcjax.transforms.simplify.broken_trips import drop_broken_trips
from srcjax.transforms.simplify.coalesce import (
    coalesce,
    name_derivatives,
    renumber,
    share_names,
)
from srcjax.transforms.simplify.collected import collect
from srcjax.transforms.simplify.comments import add_comments
from srcjax.transforms.simplify.common_factors import factored
from srcjax.transforms.simplify.dead import remove_dead
from srcjax.transforms.simplify.delay import delay
from srcjax.transforms.simplify.else_of_loops import else_of_loops
from srcjax.transforms.simplify.fitting import drop_sums
from srcjax.transforms.simplify.items import set_items
from srcjax.transforms.simplify.kept_dtypes import keep_dtypes
from srcjax.transforms.simplify.kept_new import KeptNew, dropped
from srcjax.transforms.simplify.kin import Kin, Sharing
from srcjax.transforms.simplify.last_iteration import guard_last
from srcjax.transforms.simplify.nest import nest
from srcjax.transforms.simplify.one_loop import one_loop
from srcjax.transforms.simplify.one_sum import one_sum
from srcjax.transforms.simplify.owned import Held, own_results, own_written
from srcjax.transforms.simplify.plain import (
    drop_defaults,
    einsum_of_one,
    flat_call,
    flat_display,
    item_of_display,
    item_of_list,
    item_of_slice,
    join_copies,
    shape_of_zeros,
    store_number,
    transposed,
    without_minus,
)
from srcjax.transforms.simplify.put_in_place import put_in_place
from srcjax.transforms.simplify.quotients import use_quotients
from srcjax.transforms.simplify.restored import own_restored
from srcjax.transforms.simplify.rotate import rotate
from srcjax.transforms.simplify.saved_once import save_once
from srcjax.transforms.simplify.signs import signs_in_names
from srcjax.transforms.simplify.sizes import sizes_of_operands
from srcjax.transforms.simplify.spell_out import Leave, spell_out
from srcjax.transforms.simplify.spent import drop_spent
from srcjax.transforms.simplify.spread import spread_items
from srcjax.transforms.simplify.starts import read_starts
from srcjax.transforms.simplify.sugar import go_through_once, sugar
from srcjax.transforms.simplify.tapes import join_tapes, push_once
from srcjax.transforms.simplify.tests_first import tests_first
from srcjax.transforms.simplify.tidying import Tidying
from srcjax.transforms.simplify.together import bind_together
from srcjax.transforms.simplify.updates import (
    fold_starts,
    join_updates,
    merge_branches,
    restore_augmented,
    return_directly,
    sink_updates,
    update_places,
)
from srcjax.transforms.simplify.walks import walk_tapes
from srcjax.transforms.simplify.zeros import (
    without_stores_of_zero,
    zeros_of_batches,
)
from srcjax.transforms.writer import OLD, Writer
from srcjax.transforms.written import Written


def simplify_groups(
    groups: Sequence[Sequence[Written]],
    todo: Simplify,
    watch: Watch,
    infer: Callable[[], Any],
) -> None:
    """Simplify functions, and forward/backward pairs, and add the comments.

    `watch` is told of passes, `infer` looks at all of them as they stand by then.
    """
    finishers: list[Finisher] = []
    for written in groups:
        for w in written:
            run_passes(todo.as_written, Finisher(w), watch, written)
    for written in groups:
        if is_recording():
            for w in written:
                Finisher(w).mark_derivatives()
        if len(written) == 2:
            finisher = Finisher(written[1])
            run_passes(todo.before_link, finisher, watch, written)
            link_saved(*written)
            watch("link", written)
        for w in written:
            finisher = Finisher(w)
            finishers.append(finisher)
            run_passes(todo.passes, finisher, watch, [w])
    own_memory(finishers, todo.owning, watch, infer)
    for finisher in finishers:
        run_passes(todo.last, finisher, watch, [finisher.written])


def own_memory(
    finishers: Sequence[Finisher],
    todo: Sequence[Pass],
    watch: Watch,
    infer: Callable[[], Any],
) -> None:
    """Copy what must be a function's own; each pass knows what those before did.

    A copy takes memory apart: where a pass has nothing to do by what was known before,
    it has nothing to do after it, and nothing is inferred anew for it.
    """
    known, stale = False, True
    for each in todo:
        may_copy = each.may_copy if known else None
        if stale and (may_copy is None or any(map(may_copy, finishers))):
            inference = infer()
            for finisher in finishers:
                finisher.written.inference = inference
            known, stale = True, False
        holds = not stale
        for finisher in finishers:
            stale |= holds and bool(each.run(finisher))
            watch(each.name, [finisher.written])


def run_passes(
    todo: Iterable[Pass], finisher: Finisher, watch: Watch, written: Sequence[Written]
) -> None:
    """Run passes on a function, but for those that find it as they last left it.

    A pass that changed nothing has nothing to do until another one changes something.
    """
    version = 0
    idle: dict[str, int] = {}
    kinds = kinds_of(finisher.node)
    for each in todo:
        if idle.get(each.name) == version:
            continue
        if not any(issubclass(kind, each.of) for kind in kinds):
            continue
        if each.run(finisher) is False:
            idle[each.name] = version
        else:
            version += 1
            kinds = kinds_of(finisher.node)
        watch(each.name, written)


def kinds_of(node: gast.FunctionDef) -> set[type]:
    """The kinds of statements that the function has."""
    return set(map(type, syntax.all_statements(node.body)))


def link_saved(forward: Written, backward: Written) -> None:
    """Return from the forward function what the backward function reads.

    Before:                              After:

        def f_forward(x):                    def f_forward(x):
            y = np.exp(x)                        y = np.exp(x)
            return y                             return y, (y,)

        def f_backward(saved, dy):           def f_backward(saved, dy):
            return y * dy                        (y,) = saved
                                                 return y * dy
    """
    own = {a.id for a in syntax.walk(forward.node.args) if isinstance(a, gast.Name)}
    own |= syntax.names_written(forward.node.body)
    reads = read_from_around(backward.node)
    views = {n: v for n, v in views_of_names(forward).items() if n in reads}
    reads = (reads - set(views)) | syntax.names_read(list(views.values()))
    names = [n for n in ordered_names(forward.node) if n in reads and n in own]
    backward.node.body[:0] = [syntax.assign(n, v) for n, v in views.items()]
    items = [syntax.name(n) for n in names]
    sure: set[str] = {
        a.id for a in syntax.walk(forward.node.args) if isinstance(a, gast.Name)
    }
    for stmt in forward.node.body:
        sure |= surely(stmt)
        if isinstance(stmt, (gast.Assign, gast.Return)):
            sure |= syntax.names_read(stmt)  # not bound here, it would raise
    unsure = [n for n in names if n not in sure]
    body = forward.node.body
    values = _values_bound(body, unsure)
    body[:0] = [syntax.assign(n, _of_no_way(values[n])) for n in unsure]
    last = forward.node.body[-1]
    assert isinstance(last, gast.Return)
    last.value = gast.Tuple([last.value, gast.Tuple(items, syntax.LOAD)], syntax.LOAD)
    saved = backward.node.args.args[0].id
    if names:
        target = gast.Tuple([syntax.name(n, store=True) for n in names], syntax.STORE)
        for element in target.elts:
            kind = kind_of_count(forward.rules.type_of_name(element.id))
            if kind is not None:
                element.counts = kind
        unpack = gast.Assign([target], syntax.name(saved), None)
        backward.node.body.insert(0, unpack)


def _values_bound(
    body: list[gast.stmt], names: list[str]
) -> dict[str, list[gast.expr]]:
    """What assignments give each of the names."""
    found: dict[str, list[gast.expr]] = {name: [] for name in names}
    if names:
        for stmt in syntax.walk(body):
            if isinstance(stmt, gast.Assign):
                for name in syntax.names_written(stmt) & found.keys():
                    found[name].append(stmt.value)
    return found


def negated(value: Any) -> Any:
    """`x` of `-x`."""
    negative = isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub)
    return value.operand if negative else None


def is_square(value: Any) -> bool:
    """`x**2`, or another power of a name."""
    power = isinstance(value, gast.BinOp) and isinstance(value.op, gast.Pow)
    if not power:
        return False
    return isinstance(value.right, gast.Constant) and syntax.is_name(value.left)


def times_one(value: Any) -> gast.expr | None:
    """`i` of `1.0 * i`."""
    if not isinstance(value, gast.BinOp) or not isinstance(value.op, gast.Mult):
        return None
    one = isinstance(value.left, gast.Constant) and value.left.value == 1
    return value.right if one else None


def _of_no_way(bound: list[gast.expr]) -> gast.expr:
    """What a name holds where no statement has bound it: a tape is an empty list."""
    tape = all(isinstance(v, gast.List) and not v.elts for v in bound)
    return gast.List([], syntax.LOAD) if tape else syntax.const(None)


def views_of_names(written: Written) -> dict[str, gast.expr]:
    """Names that are a view of an array with a name, such as `x.T` or `x[:, 1:]`.

    The name of the array stands for one array, so that the view can be taken again.
    """
    node, finisher = written.node, Finisher(written)
    bound: dict[str, int] = {}
    for sub in syntax.walk(node):
        if isinstance(sub, gast.Name) and not isinstance(sub.ctx, gast.Load):
            bound[sub.id] = bound.get(sub.id, 0) + 1
    found = {}
    for stmt in node.body:
        if not isinstance(stmt, gast.Assign):
            continue
        target, value = stmt.targets[0], stmt.value
        base = getattr(value, "value", None)
        if not (isinstance(target, gast.Name) and isinstance(base, gast.Name)):
            continue
        once = bound.get(target.id) == 1 == bound.get(base.id)
        types = [finisher.type_of_name(n.id) for n in (target, base)]
        arrays = all(isinstance(t, Array) for t in types)
        if once and arrays and _is_view(value):
            found[target.id] = syntax.clone(value)
    return {n: v for n, v in found.items() if not syntax.names_read(v) & set(found)}


def _is_view(value: gast.expr) -> bool:
    """Whether the expression is `x.T`, or `x[1:, :, None]` with constant bounds."""
    if isinstance(value, gast.Attribute):
        return value.attr == "T"
    if not isinstance(value, gast.Subscript):
        return False
    index = value.slice
    entries = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(
        isinstance(node, (gast.Slice, gast.Constant, gast.UnaryOp))
        for entry in entries
        for node in syntax.walk(entry)
    )


@dataclass(frozen=True)
class _Settled:
    """That the value of a statement is tidy; no part of the tree, unlike the value."""

    value: gast.expr
    fresh: bool
    backward: bool

    def holds(self, value: gast.expr, fresh: bool, backward: bool) -> bool:
        """Whether the statement is still what was tidy."""
        same = (self.fresh, self.backward) == (fresh, backward)
        return same and syntax.equal(value, self.value)


class Finisher(Tidying):
    """Simplifies one written function: its methods are the passes, run by `finish`."""

    def __init__(self, written: Written) -> None:
        self.written = written
        self.node = written.node
        self.rules: Writer = written.rules
        self.unit = written.unit
        self.adjoints = {
            variable: place for place, variable in self.rules.places.variables.items()
        }
        self.atoms: set[str] = set()
        #: Names of derivatives that stand for those of what their values negate.
        self.flipped: set[str] = set()
        #: What is written to, as far as a pass asked for it.
        self.known_writes: KeptNew | None = None
        #: The memory of values, and the inference that found it.
        self.known_held: tuple[Any, Held] | None = None
        #: What `shared` found, which it is asked again and again.
        self.known_shares: dict[str, set[str]] = {}
        #: Names that see what is written through a name, and the other way round.
        self.shares = Sharing(
            self.shared, lambda: Kin(self.node, self.type_of_name, self.rules.types)
        )
        #: Whether anything is written in place: if not, no matter what shares memory.
        self.writes = self.writes_in_place()

    def mark_derivatives(self) -> None:
        """Say at each name of a derivative which of the user's names it belongs to.

        Renaming leaves the marks where they are. A temporary's derivative has none.
        """
        shown = self.unit.source.renamed
        for node in syntax.walk([self.node.args, *self.node.body]):
            place = self.adjoints.get(node.id) if isinstance(node, gast.Name) else None
            if place is None or place[1]:
                continue
            base = place[0].removesuffix(OLD)
            base = self.unit.base_names.get(base, base)
            while base in self.unit.inlined and base in self.unit.names.numbered:
                base = self.unit.names.numbered[base]  # a callee's own
            if base not in self.unit.temps:
                node.derivative_of = shown.get(base, base)

    # -- the passes, each of which changes `node` in place -----------------------------

    def mark_backward(self) -> None:
        mark_backward(self.node.body)

    def drop_sums(self) -> None:
        inferred = functools.partial(self.written.inference.type_of, self.written)
        drop_sums(self.node.body, inferred)

    def remove_dead(self) -> bool:
        before = self.outline()
        remove_dead(self.node, self.shares)
        return self.outline() != before

    def delay(self) -> bool:
        before = self.outline()
        self.atoms = self.atomic_adjoints()
        delay(self.node.body, self.may_nest, self.shares)
        return self.outline() != before

    def nest(self) -> bool:
        def named(name: str) -> bool:
            return name in self.unit.made and name not in self.unit.temps

        return nest(self.node, self.may_nest, self.shares, named)

    def factor_sums(self) -> bool:
        """`d - d * x` of the way back is `d * (1 - x)`."""
        changed = False

        def alike(part: gast.expr, whole: gast.expr) -> bool:
            dtypes = [dtype_of(self.type_of(e)) for e in (part, whole)]
            floating = dtypes[0] is not None and dtypes[0].kind in "fc"
            return floating and dtypes[0] == dtypes[1]

        for stmt in _statements(self.node.body):
            plain = isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Return))
            if plain and stmt.value is not None and getattr(stmt, "backward", False):
                value = factored(stmt.value, alike)
                changed |= value is not stmt.value
                stmt.value = value
        return changed and self.algebra() is not None

    def put_in_place(self) -> bool:
        return put_in_place(self.node, self.shares)

    def zeros_of_batches(self) -> bool:
        return zeros_of_batches(self.node, self.may_nest, self.type_of_name)

    def without_stores_of_zero(self) -> bool:
        def own(name: str) -> bool:
            return self.is_ours(name) or name in self.unit.made

        return without_stores_of_zero(self.node.body, own)

    def sizes_of_operands(self) -> bool:
        def alike(first: str, second: str) -> bool:
            a, b = (self.type_of_name(n) for n in (first, second))
            arrays = isinstance(a, Array) and isinstance(b, Array)
            return arrays and same_shape(shape_of(a), shape_of(b))

        return sizes_of_operands(self.node, self.may_nest, self.is_array, alike)

    def spell_out(self) -> bool:
        return spell_out(self.node, self.may_spell_out, self.leave, self.shares)

    def read_at_hand(self) -> bool:
        changed = read_at_hand(self.node, self.may_nest, self.shares)
        return changed and self.algebra() is not None

    def one_loop(self) -> bool:
        def is_number(name: str) -> bool:
            return self.is_number(syntax.name(name))

        tapes = self.unit.names.tapes
        changed = one_loop(self.node, tapes, self.shares, is_number)
        if changed:
            self.nest()
            self.use_quotients()
        return changed

    def signs_in_names(self) -> bool:
        def may_flip(name: str) -> bool:
            value, *path = self.adjoints.get(name, ("",))
            negative = value in self.unit.names.negated
            return negative and not any(path) and not self.is_read(value)

        found = signs_in_names(self.node, may_flip)
        self.flipped.update(found)
        return bool(found)

    def is_read(self, name: str) -> bool:
        return bool(syntax.count_reads(self.node.body, name))

    def one_sum(self) -> bool:
        return one_sum(self.node, self.is_number_of_ours)

    def drop_spent(self) -> bool:
        changed = drop_spent(self.node, self.shares, self.is_number)
        return changed and (self.nest() or True)

    def is_number_of_ours(self, name: str) -> bool:
        """Whether it is the derivative of a number, or a temporary for one."""
        ours = name in self.adjoints or self.may_nest(name)
        return ours and self.is_number(syntax.name(name))

    def write_again(self) -> bool:
        """As `spell_out`, once all else is settled: what a person reads twice.

        Before it, an item's or a difference's name is what algebra knows it by.
        """
        changed = spell_out(
            self.node, self.may_spell_out, self.leave_again, self.shares
        )
        return changed and self.algebra() is not None

    def fold_starts(self, across: bool = True) -> bool:
        before = self.outline()
        self.node.body = fold_starts(
            self.node.body, self.shares, self.starts_anew, across
        )
        return self.outline() != before

    def fold_in_lines(self) -> bool:
        return self.fold_starts(across=False)

    def join_updates(self) -> bool:
        before = self.outline()
        self.node.body = join_updates(self.node.body, self.shares, self.starts_anew)
        return self.outline() != before

    def read_starts(self) -> bool:
        return read_starts(self.node.body, self.is_ours)

    def merge_branches(self) -> bool:
        before = self.outline()
        self.node.body = merge_branches(self.node.body)
        return self.outline() != before

    def sink_updates(self) -> bool:
        before = self.outline()
        sink_updates(self.node, self.is_ours)
        return self.outline() != before

    def outline(self) -> list[tuple[gast.stmt, type]]:
        """The statements in their order: other ones after passes that move them.

        Which kind each one is too: updates become assignments in place.
        """
        return [(s, type(s)) for s in syntax.all_statements(self.node.body)]

    def rotate(self) -> None:
        if rotate(self.node, self.shares):
            remove_dead(self.node, self.shares)

    def set_items(self) -> None:
        self.node.body = set_items(self.node.body, self.type_of, self.shares)

    def join_copies(self) -> None:
        self.node.body = join_copies(self.node.body)

    def collect(self) -> bool:
        return collect(self.node, self.type_of)

    def sugar(self) -> None:
        for stmt in syntax.all_statements(self.node.body):
            if isinstance(stmt, gast.For):
                stmt.iter = syntax.rewritten(stmt.iter, self.shortest)
        sugar(self.node, self.unit.temps, self.as_long, self.shares)
        for call in syntax.walk(self.node.body):
            name = getattr(getattr(call, "func", None), "id", "")
            if isinstance(call, gast.Call) and name in HELPERS and self.is_ours(name):
                drop_defaults(call, HELPERS[name])

    def go_through_once(self) -> None:
        def own(name: str) -> bool:
            return self.is_ours(name) or self.may_nest(name)

        go_through_once(self.node, own, self.is_kept, self.shares)

    def bind_together(self) -> None:
        def own(name: str) -> bool:
            return self.is_ours(name) or self.may_nest(name)

        def is_helper(name: str) -> bool:
            return name in HELPERS and self.is_ours(name)

        bind_together(self.node, own, self.shares, is_helper)

    def is_kept(self, name: str) -> bool:
        """Whether the name stands for a container, which may be gone through again."""
        kept = (Array, Dict, List, Tuple)
        return isinstance(self.type_of_name(name), kept)

    def as_long(self, first: str, second: str) -> bool:
        """Whether two names certainly hold as many items."""
        a, b = (self.type_of(syntax.name(n)) for n in (first, second))
        if isinstance(a, Array) and isinstance(b, Array):
            if not a.shape or not b.shape:
                return False
            return same_size(a.shape[0], b.shape[0])
        if isinstance(a, (List, Tuple)) and isinstance(b, (List, Tuple)):
            if a.items is None or b.items is None:
                return False
            return len(a.items) == len(b.items)
        return False

    def guard_last(self) -> None:
        guard_last(self.node, self.has_product, self.shares)

    def own_written(self) -> bool:
        return own_written(
            self.node,
            self.held,
            self.is_immutable,
            self.rules.types,
            self.type_of,
        )

    def own_restored(self, only_ask: bool = False) -> bool:
        return own_restored(
            self.node,
            self.rules.types,
            self.held,
            self.is_immutable,
            lambda value: own(value, self.type_of(value)),
            only_ask=only_ask,
        )

    def may_own_restored(self) -> bool:
        return self.own_restored(only_ask=True)

    def own_results(self, only_ask: bool = False) -> bool:
        if self.written.gradient_at is None:
            return False
        return own_results(
            self.node,
            self.held,
            self.is_immutable,
            self.written.gradient_at,
            lambda value: not isinstance(self.type_of(value), Array),
            [self.type_of_name(n) for n in self.written.wrt],
            only_ask,
        )

    def may_own_results(self) -> bool:
        return self.own_results(only_ask=True)

    def held(self) -> Held:
        """The memory of values, as inference finds it in the text as it stands."""
        inference = self.written.inference
        if self.known_held is None or self.known_held[0] is not inference:
            found = Held(
                functools.partial(inference.memory_of, self.written),
                inference.memory(self.written),
                inference.given(self.written),
            )
            self.known_held = inference, found
        return self.known_held[1]

    def keep_dtypes(self) -> None:
        at = self.written.gradient_at
        if at is not None:
            wanted = [self.type_of_name(n) for n in self.written.wrt]
            inferred = functools.partial(self.written.inference.type_of, self.written)
            keep_dtypes(self.node, at, wanted, inferred, self.adjoints)

    def floats_of_counts(self) -> None:
        """`d = 1.0 * i` of a whole number is `d = float(i)`; -1.0 is a minus."""
        if not self.is_ours("float"):
            return
        for stmt in _statements(self.node.body):
            product: Any = getattr(stmt, "value", None)
            plain = without_minus(product)
            value = times_one(product if plain is None else plain)
            if value is None or isinstance(stmt, gast.AugAssign):
                continue
            t = self.type_of(value)
            if isinstance(t, Scalar) and t.python and t.dtype == int:
                whole = syntax.call("float", value)
                stmt.value = (
                    whole if plain is None else gast.UnaryOp(gast.USub(), whole)
                )

    def coalesce(self) -> None:
        coalesce(self.node, self.wanted_names())

    def spread_items(self) -> None:
        made = self.unit.made
        spread_items(
            self.node, self.type_of_name, lambda n: n in made or self.is_ours(n)
        )

    def drop_broken_trips(self) -> None:
        drop_broken_trips(self.node, self.is_ours)

    def join_tapes(self) -> None:
        before = self.unit.names.tapes | self.unit.parted
        tangents = {n for n, (base, *_) in self.adjoints.items() if base in before}
        push_once(self.node, before | tangents)
        save_once(self.node, before | tangents, self.is_number, self.shares)
        join_tapes(self.node, before | tangents, self.unit.names)

    def walk_tapes(self) -> None:
        joined = set(joined_tapes(self.node))
        own = self.unit.names.tapes | self.unit.parted | joined
        walk_tapes(self.node, own, self.unit.names)

    def renumber(self) -> None:
        names, inlined = self.unit.names, self.unit.inlined | self.unit.own_targets
        renamed = renumber(self.node, names, inlined)
        values = {
            renamed.get(name, name): renamed.get(value, value)
            for name, (value, *path) in self.adjoints.items()
            if value in self.unit.temps | inlined and not any(path)
        }
        derived = {n: v for n, v in values.items() if isinstance(v, str)}
        negated = {n: names.negated[self.adjoints[n][0]] for n in self.flipped}
        for name in self.flipped & set(derived):
            derived[name] = negated.get(name, derived[name])
        name_derivatives(self.node, names, derived, self.rules.derivative_name)

    def share_names(self) -> None:
        def alike(first: str, second: str) -> bool:
            """Whether the second is the first with a number, and both are ours."""
            stems = [re.sub(r"_?\d+$", "", n) for n in (first, second)]
            ours = self.is_ours(first) and self.is_ours(second)
            return stems[0] == stems[1] and ours

        share_names(self.node, alike)

    def update_places(self) -> None:
        """`x[lanes] += v` at places that srcjax chose, where the dtype stays."""

        users = syntax.all_names(self.unit.source.node)

        def updates(place: gast.Subscript, value: gast.BinOp) -> bool:
            base, new = (dtype_of(self.type_of(e)) for e in (place.value, value))
            ours = place.slice.id not in users
            return ours and base is not None and same_dtype(base, new)

        self.node.body = update_places(self.node.body, updates)

    def restore_augmented(self) -> None:
        self.node.body = restore_augmented(self.node.body)

    def tests_first(self) -> None:
        tests_first(self.node)

    def else_of_loops(self) -> None:
        else_of_loops(self.node, self.is_ours)

    def return_directly(self) -> None:
        return_directly(self.node, self.is_ours, self.shares)

    def quote_no_lines(self) -> None:
        for stmt in syntax.all_statements(self.node.body):
            line = getattr(stmt, "user_line", None)
            if line is not None:
                stmt.user_line = (*line[:2], "")

    def add_comments(self) -> None:
        add_comments(self.node)

    def name_results(self) -> None:
        """`return dx, ddifference` of a function of x and y is `return dx, dy`.

        And `return ddifference, -ddifference` is `return dx, -dx`.
        """
        last = self.node.body[-1]
        result = last.value if isinstance(last, gast.Return) else None
        at = self.written.gradient_at
        if isinstance(result, gast.Tuple) and at is not None and at >= 0:
            result = result.elts[at]
        wrt = self.written.wrt
        if not isinstance(result, gast.Tuple) or len(result.elts) != len(wrt):
            return
        parameters = {a.id for a in syntax.walk(self.node.args) if syntax.is_name(a)}
        for argument, value in zip(wrt, result.elts, strict=True):
            wanted = self.rules.derivative_name(
                self.unit.base_names.get(argument, argument)
            )
            name = getattr(value, "id", "")
            place = self.adjoints.get(name)
            made = (name if place is None else place[0]) in self.unit.temps
            once = sum(syntax.is_name(e, name) for e in result.elts) == 1
            if name in parameters or not made or not once:
                continue
            bound = [s for s in _statements(self.node.body) if _binds(s, name)]
            if not all(getattr(s, "backward", False) for s in bound):
                continue
            if wanted not in syntax.all_names(self.node):
                syntax.rename(self.node.body, {name: wanted})

    def writes_in_place(self) -> bool:
        """Whether the function may write to memory that has another name.

        Numbers have none, and a tape is only ever appended to and taken from.
        """
        written = written_bases(self.node.body)
        if written:
            written -= tapes(self.node)
        return not all(map(self.is_immutable, map(syntax.name, sorted(written))))

    @functools.cached_property
    def buffers(self) -> dict[str, Buffers]:
        """The memory of names: as inference finds it in what was written."""
        if self.written.inference is not None:
            known: dict[str, Buffers] = self.written.inference.memory(self.written)
            return known
        return {name: all_buffers(t) for name, t in self.rules.types.items()}

    @functools.cached_property
    def changed(self) -> dict[str, Buffers]:
        """The memory that is written to through each name."""
        if self.written.inference is not None:
            known: dict[str, Buffers] = self.written.inference.changed(self.written)
            return known
        heads = map(syntax.head, _statements(self.node.body))
        names = set().union(*map(written_bases, heads))
        return {name: self.buffers.get(name, NONE) for name in names}

    def shared(self, name: str) -> set[str]:
        """What inference finds of `shares`."""
        if not self.writes:
            return set()
        if name not in self.known_shares:
            self.known_shares[name] = self.sharing(name)
        return self.known_shares[name]

    def sharing(self, name: str) -> set[str]:
        if self.written.forward:  # what a call changes may have names of its own here
            held = self.buffers.get(name, ())
            return {n for b in held for n in self.holders.get(b, ())} - {name}
        found = {n for b in self.changed.get(name, ()) for n in self.holders.get(b, ())}
        for buffer in self.buffers.get(name, ()):
            found |= self.changers.get(buffer, set())
        for buffer in all_buffers(self.rules.types.get(name, UNKNOWN)):
            found |= self.primal_holders.get(buffer, set())
        return found - {name}

    @functools.cached_property
    def primal_holders(self) -> dict[Any, set[str]]:
        """The names by their memory in the function that was transformed."""
        return _by_buffer({n: all_buffers(t) for n, t in self.rules.types.items()})

    @functools.cached_property
    def holders(self) -> dict[Any, set[str]]:
        """The names of the values that are, or have parts, in each piece of memory."""
        return _by_buffer(self.buffers)

    @functools.cached_property
    def changers(self) -> dict[Any, set[str]]:
        """The names through which each piece of memory is written to."""
        return _by_buffer(self.changed)

    def starts_anew(self, stmt: gast.Assign) -> bool:
        """Whether nothing but the name holds what it is assigned.

        An adjoint is added to under one name (`own_written` copies what it starts
        from), but for shadows; a tangent is the memory of all names that its array has.
        An array without axes stays one: a sum with it would be a number.
        """
        if getattr(self.type_of(stmt.value), "shape", None) == ():
            return False
        if is_new_array(stmt.value):
            return True
        if not self.written.forward and not self.is_shadow(stmt.targets[0]):
            return True
        return self.is_immutable(stmt.value)

    def is_shadow(self, place: gast.expr) -> bool:
        """Whether it names an adjoint that shares memory as its value does."""
        shadows = getattr(self.rules, "shadows", None)
        return shadows is not None and any(
            syntax.is_name(place, name) for name in shadows.names.values()
        )

    def may_spell_out(self, name: str) -> bool:
        """Names for what is cheap to write twice: gathered examples are not."""
        return self.may_nest(name) and name not in self.written.gathers

    def may_nest(self, name: str) -> bool:
        """Names that srcjax made; the user's own stay, and so do their adjoints."""
        place = self.adjoints.get(name)
        ours = (self.unit.temps, self.unit.made, self.unit.inlined)
        if any(name in names or (place and place[0] in names) for names in ours):
            return True
        return name in self.atoms

    def leave(self, value: gast.expr) -> Leave | None:
        """How often a value may be written out instead of being held in a name."""
        if isinstance(value, gast.Attribute) and isinstance(value.value, gast.Name):
            view = value.attr in ("T", "shape", "size", "ndim")
            return Leave(4, in_loops=True) if view else None
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            index = value.slice
            if any(isinstance(n, gast.Call) for n in syntax.walk(index)):
                return None
            base = self.type_of(value.value)
            if isinstance(base, Array):
                return Leave(4, together=True)
            held = isinstance(index, gast.Constant) and not isinstance(base, Unknown)
            return Leave(3) if held else None
        if isinstance(value, gast.List) and len(value.elts) <= 4:
            plain = all(isinstance(e, gast.Constant) for e in value.elts)
            return Leave(4, in_brackets=True) if plain else None
        if isinstance(value, gast.Compare):
            atoms = [value.left, *value.comparators]
            return Leave(2) if all(map(syntax.is_atom, atoms)) else None
        if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
            return Leave(2) if syntax.is_atom(value.operand) else None
        if isinstance(value, gast.BinOp) and not isinstance(value.op, gast.Pow):
            parts = [value.left, value.right]
            constant = any(isinstance(p, gast.Constant) for p in parts)
            plain = all(map(syntax.is_atom, parts)) and self.is_number(value)
            return Leave(2) if constant and plain else None
        return None

    def is_of_module(self, value: Any) -> bool:
        """Whether it is a number that a module has: `math.pi`."""
        if not isinstance(value, gast.Attribute) or not syntax.is_name(value.value):
            return False
        name = value.value.id
        if name in self.rules.types or name in syntax.names_written(self.node):
            return False
        home = getattr(self.rules.typer.type_of(value.value, {}), "value", None)
        return isinstance(home, ModuleType) and self.is_number(value)

    def is_of_constants(self, value: Any) -> bool:
        """Whether it is a number that a function gives of literals: `math.sqrt(2)`."""
        if not isinstance(value, gast.Call) or value.keywords or not value.args:
            return False
        return is_elementwise(called(value)) and all(
            isinstance(a, gast.Constant) or self.is_of_module(a) for a in value.args
        )

    def leave_again(self, value: gast.expr) -> Leave | None:
        """How often a value may be written out in the text as it stands in the end.

        An item of an array is read as cheaply as a name. A sum or difference of two
        names is computed as fast as it is read from memory.
        """
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            index = value.slice
            computed = any(isinstance(n, gast.Call) for n in syntax.walk(index))
            base = self.type_of(value.value)
            item = isinstance(base, Array) and self.is_number(value)
            counted = all(self.is_number(n) for n in syntax.names_in(index))
            if computed or not (item or (isinstance(base, Unknown) and counted)):
                return None
            numbered = item and isinstance(index, gast.Constant)
            return Leave(6 if numbered else 3, in_loops=item, held=False)
        if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
            if is_square(value.operand):
                return Leave(2, held=False) if self.is_number(value) else None
            plain = syntax.is_atom(value.operand) and self.is_number(value)
            return Leave(6, in_loops=True, held=False) if plain else None
        if self.is_of_module(value):
            return Leave(6, in_loops=True)
        if self.is_of_constants(value):
            return Leave(2, held=False)
        if called(value) == "len" and len(value.args) == 1:
            counted = value.args[0]
            plain = syntax.is_name(counted) and self.is_array(counted)
            return Leave(2, held=False) if plain else None
        if isinstance(value, gast.BinOp):
            parts = [negated(value.left) or value.left, value.right]
            scales = isinstance(value.op, gast.Mult) and is_square(value.right)
            if scales:
                parts[1] = value.right.left
            if not all(syntax.is_atom(p) or self.is_of_module(p) for p in parts):
                return None
            number = self.is_number(value)
            constant = any(isinstance(p, gast.Constant) for p in parts)
            if isinstance(value.op, gast.Pow) and not constant:
                return None
            if not isinstance(value.op, (gast.Add, gast.Sub)):
                return Leave(2, held=False) if number else None
            return Leave(6 if number and constant else 2, held=False)
        return None

    def atomic_adjoints(self) -> set[str]:
        """Adjoint variables whose value is an atom or seed.

        Or the negative of a name that is read for more than that: it keeps its own.
        """
        reads = syntax.read_counts(self.node.body)

        def is_atom(value: gast.expr) -> bool:
            if isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub):
                inner = value.operand
                if isinstance(inner, gast.Name):
                    return reads[inner.id] > 1
            return bool(syntax.is_atom(value))

        return {
            stmt.targets[0].id
            for stmt in syntax.all_statements(self.node.body)
            if isinstance(stmt, gast.Assign)
            and isinstance(stmt.targets[0], gast.Name)
            and is_atom(stmt.value)
            and getattr(stmt, "backward", False)
        }

    def use_quotients(self) -> bool:
        return use_quotients(self.node.body, self.shares)

    def algebra(self) -> bool:
        """Local algebra in every backward expression; whether any is another now."""

        def item(node: gast.expr) -> gast.expr:
            inner = transposed(node)
            if inner is not None and transposed(inner) is not None:
                return transposed(inner) or node
            found = item_of_list(shape_of_zeros(node, self.is_array), self.is_array)
            found = item_of_slice(item_of_display(found), self.is_array)
            found = einsum_of_one(found, self.is_float)
            return flat_call(flat_display(found))

        changed = False
        self.known_writes = self.known_floating = None
        last = self.node.body[-1]
        for stmt in _statements(self.node.body):
            plain = isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Return))
            if not plain and not isinstance(stmt, gast.Expr) or stmt.value is None:
                continue
            before: Any = stmt.value
            fresh = getattr(stmt, "fresh", False)
            backward = getattr(stmt, "backward", False)
            settled = getattr(stmt, "settled", None)
            if settled and settled.holds(before, fresh, backward):
                continue
            stmt.value = syntax.rewritten(before, item if plain else flat_call)
            if backward or (plain and (stmt is last or self.is_of_text(stmt))):
                stmt.value = self.tidied(stmt)
            if backward and plain:
                self.fold_updates(stmt)
                store_number(stmt)
            same = syntax.equal(before, stmt.value)
            if plain:  # passes change it in place: no part may stand in it twice
                stmt.value = syntax.clone(stmt.value)
            if same:
                stmt.settled = _Settled(before, fresh, backward)
            else:
                changed = True
        return changed

    def is_of_text(self, stmt: Any) -> bool:
        """Whether the statement gives a name that an earlier transform made.

        Or writes to a place of what has such a name.
        """
        if isinstance(stmt, (gast.Assign, gast.AugAssign)):
            place = stmt.targets[0] if isinstance(stmt, gast.Assign) else stmt.target
            return syntax.root_of(place) in self.unit.made
        return False

    def tidied(self, stmt: Any) -> gast.expr:
        """The tidy value; what has to be a new array stays one: `x * 1` is a copy."""
        before = stmt.value
        value = self.tidy(before)
        lost = dropped(before, value)
        lost = [e for e in lost if not self.is_immutable(e)]
        if not lost:
            return value
        kept = getattr(stmt, "fresh", False) or self.kept_new.must_be_new(stmt, lost)
        return self.owned(value, lost) if kept else value

    def owned(self, value: Any, parts: list[gast.expr]) -> Any:
        """The value with copies of some parts in it."""
        if any(value is part for part in parts):
            return own(value, self.type_of(value))
        if isinstance(value, (gast.Tuple, gast.List)):
            elts = [self.owned(e, parts) for e in value.elts]
            return type(value)(elts, syntax.LOAD)
        if isinstance(value, gast.Dict):
            values = [self.owned(v, parts) for v in value.values]
            return gast.Dict(value.keys, values)
        if isinstance(value, gast.Call):
            value = syntax.clone_shallow(value)
            value.args = [self.owned(a, parts) for a in value.args]
        return value

    @property
    def kept_new(self) -> KeptNew:
        """What knows whether something is written while two names are in use."""
        if self.known_writes is None:
            self.known_writes = KeptNew(
                self.node,
                self.shares,
                lambda: self.buffers,
                lambda n: isinstance(self.type_of_name(n), (List, Dict)),
                not self.written.forward,
            )
        return self.known_writes

    def fold_updates(self, stmt: Any) -> None:
        """`x += -e` is `x -= e`, and `x -= -a * b / c` is `x += a * b / c`."""
        if not isinstance(stmt, gast.AugAssign) or not isinstance(
            stmt.op, (gast.Add, gast.Sub)
        ):
            return
        product = without_minus(stmt.value)
        if product is not None:
            stmt.op = gast.Sub() if isinstance(stmt.op, gast.Add) else gast.Add()
            stmt.value = product
        self.add_count(stmt)

    def add_count(self, stmt: gast.AugAssign) -> None:
        """`d += 1.0 * i` is `d += i` of a count and what is floating."""
        value = times_one(stmt.value)
        if value is None or not isinstance(stmt.target, gast.Name):
            return
        count, total = self.type_of(value), self.type_of_name(stmt.target.id)
        kinds = [d and d.kind for d in map(dtype_of, (count, total))]
        if is_number(count) and is_number(total) and kinds == ["i", "f"]:
            stmt.value = value

    def wanted_names(self) -> dict[str, str]:
        """Names that webs and inlining made, and the names a reader expects."""
        way = {name: new for new, name in self.unit.source.renamed.items()}
        wanted = {k: way.get(v, v) for k, v in self.unit.base_names.items()}
        for name in self.unit.names.taken:
            place = self.adjoints.get(name)
            if place is not None and not place[1]:
                shown = place[0].removesuffix(OLD)
                base = self.unit.base_names.get(shown, shown)
                wanted[name] = self.rules.derivative_name(base)
        # `dx` of the user's is another variable, also where both could share a name.
        users = syntax.all_names(self.unit.source.node)
        for name in [n for n in self.adjoints if wanted.get(n) in users]:
            del wanted[name]
        return {k: v for k, v in wanted.items() if k != v}


def tapes(node: gast.FunctionDef) -> set[str]:
    """Lists that the function makes, and of which it calls methods alone.

    They may be returned.
    """
    made: set[str] = set()
    plain: set[int] = set()
    for sub in syntax.walk(node):
        if isinstance(sub, gast.Call) and isinstance(sub.func, gast.Attribute):
            plain.add(id(sub.func.value))
        elif isinstance(sub, gast.Assign) and isinstance(sub.value, gast.List):
            if not sub.value.elts:
                plain |= set(map(id, sub.targets))
                made |= syntax.names_written(sub.targets)
        elif isinstance(sub, gast.Return):
            plain |= set(map(id, _displayed(sub.value)))
    names = (n for n in syntax.walk(node) if isinstance(n, gast.Name))
    return made - {n.id for n in names if id(n) not in plain}


def _displayed(value: Any) -> list[Any]:
    """The parts of a tuple of tuples, or the value itself."""
    if not isinstance(value, gast.Tuple):
        return [value]
    return [part for item in value.elts for part in _displayed(item)]


def _by_buffer(table: dict[str, Buffers]) -> dict[Any, set[str]]:
    """The names by the memory that the table has for them."""
    found: dict[Any, set[str]] = {}
    for name, buffers in table.items():
        for buffer in buffers:
            found.setdefault(buffer, set()).add(name)
    return found


def mark_backward(body: list[gast.stmt], inside: bool = False) -> None:
    """Statements inside backward statements are backward as well."""
    for stmt in body:
        mine = inside or getattr(stmt, "backward", False)
        stmt.backward = mine
        for inner in syntax.inner_blocks(stmt):
            mark_backward(inner, mine)


def _statements(body: list[gast.stmt]) -> list[Any]:
    return list(syntax.all_statements(body))


def _binds(stmt: gast.stmt, name: str) -> bool:
    return isinstance(stmt, gast.Assign) and name in syntax.names_written(stmt)
