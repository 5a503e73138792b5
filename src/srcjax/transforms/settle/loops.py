"""Loops over what varies, by an index; loops over functions, written out."""

from __future__ import annotations

import contextlib
import types as pytypes
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.counts import fixed_numbers
from srcjax.analysis.keys import keys_of
from srcjax.analysis.program import Variant
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Closure,
    Const,
    Dict,
    List,
    Object,
    Other,
    Tuple,
    Unknown,
    Varies,
    is_active,
    is_iterator,
    is_lowered,
    is_mapping,
    is_number,
    site_of,
    varies,
)
from srcjax.errors import UnsupportedError, error_at
from srcjax.transforms.iterables import KEYS_REFUSED, is_collection
from srcjax.transforms.settle.base import SettlingBase, is_function
from srcjax.transforms.settle.trips import (
    ends_plainly,
    in_a_row,
    leaves_early,
    names_of_one_trip,
    one_trip,
)

#: What a list may not be asked to do while a loop runs over it.
_RESIZING = frozenset(
    f"list.{name}" for name in ("append", "extend", "insert", "pop", "remove", "clear")
)


def holds_function(t: Any) -> bool:
    """Whether it is a function, or a tuple with one in it."""
    return is_function(t) or (isinstance(t, Tuple) and any(map(is_function, t.items)))


def leaf_itself(item: gast.expr, held: dict[str, list[Any]]) -> gast.expr:
    """`leaves[0]` as what it was made of."""
    if isinstance(item, gast.Subscript):
        elements = held.get(getattr(item.value, "id", ""))
        if isinstance(item.value, (gast.List, gast.Tuple)):
            elements = item.value.elts
        place = _place(item.slice)
        if elements is not None and place is not None:
            return syntax.clone(elements[place])
    return item


def _place(index: gast.expr) -> int | None:
    """The number of an item: that of `2`, and of `-1 - 2` where it is backwards."""
    if isinstance(index, gast.Constant):
        return index.value if type(index.value) is int else None
    if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub):
        inner = _place(index.operand)
        return None if inner is None else -inner
    if isinstance(index, gast.BinOp) and isinstance(index.op, gast.Sub):
        first, second = _place(index.left), _place(index.right)
        return None if first is None or second is None else first - second
    return None


#: How many leaves of a tree a loop is written out for.
LISTED = 16
#: For how many items of a tuple a loop of no more statements is written out.
SHOWN = 4


def placed(copied: Any, inner: Any, loop: gast.For) -> Any:
    """The copy of a statement, with the place of it, or of the loop it is made for."""
    copied.user_line = getattr(inner, "user_line", None)
    if getattr(copied, "lineno", None) is None:
        gast.copy_location(copied, loop)
    return copied


def _classes(items: Any) -> set[Any]:
    """The classes of the objects among the items."""
    return {t.cls for t in items or () if isinstance(t, Object)}


def _is_mixed(t: Any) -> bool:
    """Whether it is a tuple of few of which some vary: in a loop it would be all."""
    if not isinstance(t, Tuple):
        return False
    return len(t.items) <= LISTED and len(set(map(is_active, t.items))) > 1


def _items_of(t: Any) -> Any:
    """What a loop over it visits, by type; None where it is not known how many."""
    if isinstance(t, Array) and t.shape and isinstance(t.shape[0], int):
        return (UNKNOWN,) * t.shape[0]  # no functions
    return getattr(t, "items", None)


def _has_places(t: Any) -> bool:
    """Whether it is a list, tuple or array, of any length: no iterator."""
    return isinstance(t, (List, Array)) and not is_iterator(t)


class LoopSettling(SettlingBase):
    """Rewrites `for` loops."""

    def on_For(self, stmt: gast.For) -> list[gast.stmt]:
        before: list[gast.stmt] = []
        if self.never_runs(stmt):
            self.changed = True
            return []
        self.spell_range(stmt)
        variants = self.facts.of(stmt)
        unrolled = self.unroll_table(stmt) or self.unroll_functions(stmt, variants)
        if unrolled is None:
            unrolled = self.unroll_counted(stmt)
        if unrolled is not None:
            self.changed = True
            return self.block(unrolled)
        followed = any(
            is_lowered(t)
            for v in variants
            for n, t in v.before.items()
            if n in syntax.names_read(stmt.iter)
        )
        stays = self.is_counted(stmt) or self.is_by_key(stmt)
        sequences = self.sequences_of(stmt.iter)
        asked = any(map(self.is_to_be_asked_for, sequences))
        pending = self.facts.structural or asked
        if self.goes_through_items_of(stmt):
            self.waiting = True  # for `__iter__` to be asked
        elif followed and not stays and self.patient and pending:
            self.waiting = True  # for what the loop may be found to run over
        elif followed and not stays and not self.takes_as_they_come(stmt, variants):
            self.changed = True
            before = self.index_loop(stmt, variants)
        stmt.body = self.block(stmt.body)
        return [*before, stmt]

    def is_to_be_asked_for(self, over: gast.expr) -> bool:
        """Whether what is gone through is given by a method that may become known."""
        if not isinstance(over, gast.Name):
            return False  # as most are: the whole unit need not be looked at
        given = fixed_numbers(self.unit.node).get(over.id)
        call = getattr(given, "value", None)
        if not isinstance(given, gast.Assign) or not isinstance(call, gast.Call):
            return False
        if not isinstance(call.func, gast.Attribute):
            return self.is_builtin(call.func, "iter")
        owner = self.atom_type(given, call.func.value)
        return owner is None or isinstance(owner, (Object, Other, Unknown))

    def goes_through_items_of(self, stmt: gast.For) -> bool:
        """Whether it goes through what an object's `__iter__` gives."""
        types = (self.atom_type(stmt, s) for s in self.sequences_of(stmt.iter))
        return any(isinstance(t, Object) and is_active(t) for t in types)

    def never_runs(self, stmt: gast.For) -> bool:
        """Whether there never is anything to visit; inference has not seen the body."""
        if self.facts.tests.get(id(stmt)) != {False} or self.facts.unseen:
            return False
        over = self.atom_type(stmt, stmt.iter)
        if isinstance(over, (List, Tuple)):  # made here: what is given may get items
            return all(site_of(b) is not None for b in over.buffers)
        return self.is_range(stmt.iter)

    def spell_range(self, stmt: gast.For) -> None:
        """`for k in range(n)` for `for k in steps`, where that is what `steps` is.

        In place; also where the loop runs over it backwards.
        """
        over = stmt.iter
        if isinstance(over, gast.Call) and self.is_builtin(over.func, "reversed"):
            over = over.args[0] if len(over.args) == 1 else over
        if not isinstance(over, gast.Name):
            return
        given = fixed_numbers(self.unit.node)
        made = given.get(over.id)
        if not isinstance(made, gast.Assign) or not self.is_range(made.value):
            return
        body = self.unit.node.body
        known: list[Any] = [self.unit.node, *body]  # they run once
        bounds = made.value.args
        once = all(
            isinstance(a, gast.Constant)
            or (
                isinstance(a, gast.Name)
                and any(given.get(a.id) is s for s in known)
                and is_number(self.type_before(made, a.id) or UNKNOWN)
            )
            for a in bounds
        )
        if once and any(made is s for s in body):
            spelled = syntax.clone(made.value)
            stmt.iter = syntax.substitute(stmt.iter, {over.id: spelled})
            self.changed = True

    def is_counted(self, stmt: gast.For) -> bool:
        """Whether it runs over a range, or over one from its end that all have."""
        over = stmt.iter
        if not isinstance(over, gast.Call) or self.is_range(over):
            return self.is_range(over)
        of = over.args[0] if self.is_builtin(over.func, "reversed") else None
        if not isinstance(of, gast.Call) or not self.is_range(of):
            return False
        bounds = [self.atom_type(stmt, a) for a in of.args]
        of_each = any(t is not None and is_active(t) for t in bounds)
        return not (of_each and is_mapping())

    def takes_as_they_come(self, stmt: gast.For, variants: list[Variant]) -> bool:
        """Whether it runs over nothing but what may be iterators."""
        over = stmt.iter
        zipped = isinstance(over, gast.Call) and self.is_builtin(over.func, "zip")
        sequences = over.args if zipped else [over]
        return all(self.may_be_iterator(s, variants) for s in sequences)

    def is_by_key(self, stmt: gast.For) -> bool:
        """Whether it visits what surely are keys of what may be any container."""
        over = keys_of(stmt)
        made = stmt.iter.func if isinstance(stmt.iter, gast.Call) else None
        if over is None or (made is not None and not self.is_builtin(made, "list")):
            return False
        return isinstance(self.type_before(stmt, over), Unknown)

    def unroll_table(self, stmt: gast.For) -> list[gast.stmt] | None:
        """A loop over a dict of functions, written out."""
        over, view = stmt.iter, ""
        if isinstance(over, gast.Call) and isinstance(over.func, gast.Attribute):
            over, view = over.func.value, over.func.attr
        t = self.atom_type(stmt, over)
        known = t.items if isinstance(t, Dict) else None
        if not known:
            return None
        if not self.asks_by_name(stmt) and not any(is_function(t) for _, t in known):
            return None
        nodes = list(syntax.walk(stmt.body))
        leaves = any(isinstance(n, (gast.Break, gast.Continue)) for n in nodes)
        written = getattr(over, "id", "") in syntax.names_written(stmt.body)
        if leaves or written or view not in ("", "items", "keys", "values"):
            return None
        if not syntax.names_read(stmt.body) & self.unit.varying:
            return None
        out: list[gast.stmt] = []
        for key, _ in known:
            name = syntax.const(key)
            item = gast.Subscript(syntax.clone(over), name, syntax.LOAD)
            binds: list[gast.stmt] = []
            target = syntax.clone(stmt.target)
            if view == "values":
                self.bind_target(target, item, binds)
            elif view == "items" and isinstance(target, gast.Tuple):
                first, second = target.elts
                self.bind_target(first, name, binds)
                self.bind_target(second, item, binds)
            elif view == "items":
                return None
            else:
                self.bind_target(target, name, binds)
            for inner in [*binds, *stmt.body]:
                out.append(placed(syntax.clone(inner), inner, stmt))
        return out

    def unroll_functions(
        self, stmt: gast.For, variants: list[Variant]
    ) -> list[gast.stmt] | None:
        """A loop over functions, written out: each is then called by what it is.

        So is a loop over objects of several classes, for their methods, one over names
        of attributes, one over the leaves of a tree, which are listed in the text, and
        one over few items (`lists_few`).
        """
        over = stmt.iter
        sequences = self.sequences_of(over)
        types = [self.type_of_items(stmt, s) for s in sequences]
        items: list[Any] = [_items_of(t) for t in types]
        functions = any(holds_function(t) for known in items for t in known or ())
        functions = functions or any(len(_classes(known)) > 1 for known in items)
        few = self.lists_few(stmt, types)
        leaves = [self.leaves(t) for t in types]
        functions = functions or self.asks_by_name(stmt)
        functions = functions or any(leaves) or few
        functions = functions or self.goes_through_objects(stmt, items)
        objects = [self.objects(t) for t in types]
        varying = syntax.names_read(stmt.body) & self.unit.varying
        listed = [t for t, known in zip(types, items, strict=True) if known is None]
        if not functions or not varying or not all(map(_has_places, listed)):
            return None
        if len(listed) == len(items):
            return None  # names of attributes that are not known
        count = min(len(known) for known in items if known is not None)
        if not ends_plainly(stmt.body):
            return None
        if leaves_early(stmt.body) and (count > LISTED or self.is_read_after(stmt)):
            return None
        self.body_of_loop = [stmt]
        self.before.clear()
        index = self.unit.names.fresh("i")
        binds: list[gast.stmt] = []
        self.bind_items(stmt.target, over, index, [], binds, variants)
        out = list(self.before)
        shown = [self.shown(sequence) for sequence in sequences]
        held: dict[str, list[Any]] = {
            sequence.id: next(filter(None, known))
            for sequence, *known in zip(sequences, leaves, objects, shown, strict=True)
            if any(known) and isinstance(sequence, gast.Name)
        }
        gathers = self.gathered(stmt) if any(leaves) or few else None
        gathered: list[gast.expr] = []
        trips: list[list[gast.stmt]] = []
        for i in range(count):
            trip: list[gast.stmt] = []
            trips.append(trip)
            number: dict[str, gast.expr] = {index: syntax.const(i)}
            itself: dict[str, gast.expr] = {}
            for inner in [*binds, *stmt.body]:
                copied = syntax.substitute(inner, {**number, **itself})
                if inner is stmt.body[-1] and gathers is not None:
                    gathered.append(self.kept(copied.value.args[0], trip))
                    continue
                if any(inner is b for b in binds) and isinstance(copied, gast.Assign):
                    leaf = leaf_itself(copied.value, held)
                    told = leaf is not copied.value or isinstance(leaf, gast.Constant)
                    if told and self.is_own(stmt, copied):
                        itself[copied.targets[0].id] = leaf
                        continue
                    copied.value = leaf
                trip.append(placed(copied, inner, stmt))
        out += in_a_row(trips)
        if gathers is not None:
            made = gast.List(gathered, syntax.LOAD)
            made.of_parts = True
            out.append(gast.copy_location(syntax.assign(gathers, made), stmt))
        return out

    def asks_by_name(self, stmt: gast.For) -> bool:
        """Whether its items are names of attributes that are read or set."""
        items = syntax.names_written(stmt.target)
        return any(
            isinstance(node, gast.Call)
            and self.is_builtin(node.func, "getattr", "setattr")
            and len(node.args) > 1
            and getattr(node.args[1], "id", None) in items
            for node in syntax.walk(stmt.body)
        )

    def goes_through_objects(self, stmt: gast.For, items: list[Any]) -> bool:
        """Whether it is a loop over few objects that is to be written out.

        That there is one is noted: another try, if this one fails, writes it out.
        """
        lists = [known for known in items if known and _classes(known)]
        few = all(len(known) <= LISTED for known in lists)
        if lists and few:
            return self.may_write_out()
        return False

    def may_write_out(self) -> bool:
        """Whether loops over objects are written out; that there is one is noted."""
        request = self.program.request
        if request is None or varies() is Varies.RUN_TIME:
            return False
        request.holds_objects = True
        return request.writes_out

    def unroll_counted(self, stmt: gast.For) -> list[gast.stmt] | None:
        """A loop of few trips that puts objects into lists, or takes them out."""
        target = stmt.target
        if not isinstance(target, gast.Name) or not self.is_range(stmt.iter):
            return None
        counts = [self.trips(v.before, stmt.iter) for v in self.facts.of(stmt)]
        if len(set(counts)) != 1 or not counts[0] or len(counts[0]) > LISTED:
            return None
        nodes = list(syntax.walk(stmt.body))
        if any(isinstance(n, (gast.Break, gast.Continue)) for n in nodes):
            return None
        apart = any(self.takes_function(node, target.id) for node in nodes)
        objects = apart or any(map(self.handles_object, nodes))
        if not objects or not (apart or self.may_write_out()):
            return None
        own = names_of_one_trip(self.unit, stmt)
        if own is None:
            return None
        out: list[gast.stmt] = []
        for number in counts[0]:
            bind, *body = one_trip(self.unit, stmt, number, own)
            out.append(placed(bind, bind, stmt))
            for inner, new in zip(stmt.body, body, strict=True):
                out.append(placed(new, inner, stmt))
        return out

    def trips(self, env: dict[str, Any], over: gast.expr) -> range | None:
        """The numbers of a range, if they are known."""
        found = [self.bound_of_trips(env, bound) for bound in over.args]
        bounds = [number for number in found if number is not None]
        return range(*bounds) if len(bounds) == len(found) else None

    def bound_of_trips(self, env: dict[str, Any], bound: gast.expr) -> int | None:
        """The number that a bound of a range is: of constants, and of known lengths."""
        number: Any = getattr(bound, "value", None)
        if isinstance(bound, gast.Name):
            number = getattr(env.get(bound.id), "value", None)
        elif isinstance(bound, gast.Call) and self.is_builtin(bound.func, "min"):
            found = [self.bound_of_trips(env, part) for part in bound.args]
            known = [n for n in found if n is not None]
            number = min(known) if found and len(known) == len(found) else None
        elif isinstance(bound, gast.Call) and self.is_builtin(bound.func, "len"):
            items = getattr(env.get(getattr(bound.args[0], "id", "")), "items", None)
            number = None if items is None else len(items)
        return number if type(number) is int else None

    def takes_function(self, node: gast.AST, index: str) -> bool:
        """Whether a statement takes the item of a trip out of a list of functions, or
        of objects of several classes.
        """
        taken = node.value if isinstance(node, gast.Assign) else None
        if not isinstance(taken, gast.Subscript) or not syntax.is_name(taken.value):
            return False
        if index not in syntax.names_read(taken.slice):
            return False
        known = getattr(self.atom_type(node, taken.value), "items", None) or ()
        if isinstance(self.atom_type(node, taken.value), Dict):
            return False
        return any(map(holds_function, known)) or len(_classes(known)) > 1

    def handles_object(self, node: gast.AST) -> bool:
        """Whether a statement takes an object out of a list, puts one into it, or makes
        a function, which is another one in each trip.
        """
        if isinstance(node, gast.FunctionDef):
            return True
        if isinstance(node, gast.Assign) and isinstance(node.value, gast.Call):
            made = getattr(node.targets[0], "id", "")
            return isinstance(self.type_after(node, made), Closure)
        if isinstance(node, gast.Assign) and isinstance(node.value, gast.Subscript):
            taken = getattr(node.targets[0], "id", "")
            return isinstance(self.type_after(node, taken), Object)
        put = node.value if isinstance(node, gast.Expr) else None
        if not isinstance(put, gast.Call) or len(put.args) != 1:
            return False
        if "list.append" not in self.called_methods(put):
            return False
        return isinstance(self.atom_type(node, put.args[0]), Object)

    def sequences_of(self, over: gast.expr) -> list[gast.expr]:
        """What is gone through, in `zip`, `enumerate` and `reversed` of it too."""
        if not isinstance(over, gast.Call):
            return [over]
        if self.is_builtin(over.func, "zip"):
            return [s for part in over.args for s in self.sequences_of(part)]
        of_one = self.is_builtin(over.func, "enumerate", "reversed") and over.args
        return self.sequences_of(over.args[0]) if of_one else [over]

    def type_of_items(self, stmt: gast.For, over: gast.expr) -> Any:
        """What a loop runs over: a tuple from around the function, if it is one."""
        found = self.atom_type(stmt, over)
        if isinstance(over, (gast.List, gast.Tuple)):
            shown = [getattr(e, "value", stmt) for e in over.elts]
            if all(isinstance(v, str) for v in shown):  # names of attributes
                return Tuple(items=tuple(Const(value=v) for v in shown))
        if found is None and isinstance(over, gast.Name) and self.facts.of(stmt):
            with contextlib.suppress(KeyError):
                value = self.program.look(self.unit, over.id)
                around = self.program.type_around(value, over.id)
                found = around if isinstance(around, (Tuple, List)) else None
        variants = self.facts.of(stmt)
        if found is None and is_mapping() and isinstance(over, gast.Subscript):
            parts = [self.typer.type_of(over, dict(v.before)) for v in variants]
            found = parts[0] if len(parts) == 1 and _items_of(parts[0]) else None
        if found is None and isinstance(over, (gast.List, gast.Tuple)):
            parts = [self.typer.type_of(over, dict(v.before)) for v in variants[:1]]
            found = parts[0] if parts and _items_of(parts[0]) else None
        return found

    def is_read_after(self, loop: gast.For) -> bool:
        """Whether an item is read outside of the loop: the one that it ended with."""
        return any(
            syntax.count_reads(self.unit.node, name) != syntax.count_reads(loop, name)
            for name in syntax.names_written(loop.target)
        )

    def is_own(self, loop: gast.For, bind: gast.Assign) -> bool:
        """Whether the name of an item is bound at the head of the loop alone, and read
        in it.
        """
        name = getattr(bind.targets[0], "id", None)
        return (
            name is not None
            and name not in syntax.names_written(loop.body)
            and syntax.count_reads(self.unit.node, name)
            == syntax.count_reads(loop, name)
        )

    def lists_few(self, stmt: gast.For, types: list[Any]) -> bool:
        """Whether it goes through few items of which not all vary, as they would in a
        loop, or does little for few items that vary, which the text shows.
        """
        if varies() is Varies.RUN_TIME:
            return False
        if not any(is_active(t) for t in types if t is not None):
            return False
        if any(isinstance(n, gast.FunctionDef) for n in syntax.walk(stmt.body)):
            return False  # each trip makes one of its own
        if any(map(_is_mixed, types)) or self.makes_mixed(stmt, types):
            return True
        shown = [self.shown(over) or () for over in self.sequences_of(stmt.iter)]
        return len(stmt.body) <= SHOWN and all(0 < len(s) <= SHOWN for s in shown)

    def makes_mixed(self, stmt: gast.For, types: list[Any]) -> bool:
        """Whether it lists few tuples of which only some parts differ in a batch.

        `[(random.normal(k, (m, n)), np.zeros(n)) for k, m, n in zip(keys, ...)]`
        """
        counts = [len(known) for t in types if (known := _items_of(t)) is not None]
        few = is_mapping() and len(counts) == len(types) and min(counts) <= LISTED
        if not few or self.gathered(stmt) is None:
            return False
        last: Any = stmt.body[-1]
        return _is_mixed(self.atom_type(last, last.value.args[0]))

    def gathered(self, stmt: gast.For) -> str | None:
        """The list that a comprehension makes: it is empty before."""
        last = stmt.body[-1]
        call = last.value if isinstance(last, gast.Expr) else None
        if not isinstance(call, gast.Call) or not isinstance(call.func, gast.Attribute):
            return None
        name = getattr(call.func.value, "id", "")
        made = fixed_numbers(self.unit.node).get(name)
        shown = made.value if isinstance(made, gast.Assign) else None
        empty = isinstance(shown, gast.List) and not shown.elts
        if not empty or name not in self.unit.temps:
            return None
        if not self.is_untouched(name, made, stmt):
            return None
        simple = call.func.attr == "append" and len(call.args) == 1
        inside = name in syntax.all_names(stmt.body[:-1])
        return name if simple and not inside else None

    def is_untouched(self, name: str, made: gast.stmt, stmt: gast.stmt) -> bool:
        """Whether a block binds the name, and mentions it not before a statement."""
        for block in syntax.blocks(self.unit.node.body):
            places = [k for k, s in enumerate(block) if s is made or s is stmt]
            if len(places) == 2 and block[places[0]] is made:
                between = block[places[0] + 1 : places[1]]
                return name not in syntax.all_names(between)
        return False

    def kept(self, value: gast.expr, out: list[gast.stmt]) -> gast.expr:
        """The item of one turn: the name it has there is bound again in the next."""
        if isinstance(value, gast.Constant):
            return value
        item = self.fresh("item")
        out.append(syntax.assign(item, value))
        return syntax.name(item)

    def objects(self, t: Any) -> list[gast.expr] | None:
        """The names of the objects in a list that the text makes, if it has them still.

        What is set on one of them is set on the object that the name stands for.
        """
        stmt = self.making(t)
        if stmt is None or t.buffers != {id(stmt.value)}:
            return None
        for name, item in zip(stmt.value.elts, t.items, strict=True):
            then = self.atom_type(stmt, name)
            same = isinstance(then, Object) and then.buffers == item.buffers
            if not same or len(item.buffers) != 1:
                return None
            if syntax.count_bindings(self.unit.node, name.id) != 1:
                return None
        return list(stmt.value.elts)

    def leaves(self, t: Any) -> list[gast.expr] | None:
        """The items in the text of a list of few leaves, as `tree.leaves` makes it."""
        stmt = self.making(t)
        if stmt is None or not getattr(stmt.value, "of_parts", False):
            return None
        listed: list[gast.expr] = stmt.value.elts
        few = len(listed) <= LISTED
        return list(listed) if few and all(map(self.is_once, listed)) else None

    def shown(self, over: gast.expr) -> list[gast.expr] | None:
        """The items of a tuple that the text makes of what is the same all the time.

        So are those of a list that nothing else reads.
        """
        given = fixed_numbers(self.unit.node)
        name = getattr(over, "id", "")
        made = getattr(given.get(name), "value", None)
        if isinstance(made, gast.List):
            alone = syntax.count_reads(self.unit.node, name) == 1
            made = made if alone and name in self.unit.temps else None
        if not isinstance(made, (gast.List, gast.Tuple)):
            return None
        once = [self.unit.node, *self.unit.node.body]
        fixed = all(
            isinstance(e, gast.Constant)
            or any(given.get(getattr(e, "id", "")) is s for s in once)
            for e in made.elts
        )
        return list(made.elts) if fixed else None

    def is_from_around(self, node: gast.expr) -> bool:
        """Whether it is a constant, or a name from around, or what a module has."""
        if isinstance(node, gast.Constant):
            return True
        if syntax.dotted(node) is None:
            return False
        value = self.value_around(syntax.root_of(node))
        if isinstance(node, gast.Name):
            return value is not None
        return isinstance(value, pytypes.ModuleType)

    def making(self, t: Any) -> Any:
        """The statement that makes a list of as many items, if the text has it."""
        sites = {site_of(b) for b in t.buffers} if isinstance(t, List) else set()
        if len(sites) != 1 or not t.items:
            return None
        for stmt in syntax.all_statements(self.unit.node.body):
            made = stmt.value if isinstance(stmt, gast.Assign) else None
            if isinstance(made, gast.List) and id(made) in sites:
                return stmt if len(made.elts) == len(t.items) else None
        return None

    def is_once(self, node: gast.expr) -> bool:
        """Whether an atom is the same wherever it is read."""
        once = isinstance(node, gast.Name) and node.id in self.unit.temps
        return isinstance(node, gast.Constant) or (
            once and syntax.count_bindings(self.unit.node, node.id) == 1
        )

    def index_loop(self, stmt: gast.For, variants: list[Variant]) -> list[gast.stmt]:
        """Rewrite the loop over an index; returns what must stand before it."""
        self.before = []
        self.body_of_loop = [stmt]
        if self.is_dict_view(stmt, variants):
            return self.dict_loop(stmt, variants)
        index = self.index_name(stmt)
        lengths: list[gast.expr] = []
        binds: list[gast.stmt] = []
        self.as_they_come = []
        self.bind_items(stmt.target, stmt.iter, index, lengths, binds, variants)
        count = lengths[0]
        if len(lengths) > 1:
            count = syntax.call("min", *lengths)
        for bind in binds:
            bind.user_line = getattr(stmt, "user_line", None)
            gast.copy_location(bind, stmt)
        stmt.target = syntax.name(index, store=True)
        stmt.iter = syntax.call("range", count)
        if self.as_they_come:
            # zip(range(count), iterator): no item is taken before it is needed.
            over = syntax.call("range", self.hold(count, "count"))
            targets = [target for target, _ in self.as_they_come]
            stmt.target = gast.Tuple([stmt.target, *targets], syntax.STORE)
            stmt.iter = syntax.call("zip", over, *(v for _, v in self.as_they_come))
        stmt.body = [*binds, *stmt.body]
        return self.before

    def index_name(self, stmt: gast.For) -> str:
        """`i` (the user's own counter where the loop has one)."""
        taken = syntax.all_names(stmt)
        for id in ("i", "j", "k"):
            if id not in taken and id not in self.unit.names.taken:
                self.unit.names.taken.add(id)
                break
        else:
            id = self.unit.names.fresh("i")
        self.unit.temps.add(id)
        return id

    def bind_items(
        self,
        target: Any,
        over: gast.expr,
        index: str,
        lengths: list[gast.expr],
        binds: list[gast.stmt],
        variants: list[Variant],
    ) -> None:
        """Bind `target` to item number `index` of what the loop runs over."""
        i: gast.expr = syntax.name(index)
        plain = isinstance(over, gast.Call) and isinstance(over.func, gast.Name)
        if (
            plain
            and self.is_builtin(over.func, "zip")
            and isinstance(target, gast.Tuple)
            and len(target.elts) == len(over.args)
        ):
            for element, part in zip(target.elts, over.args, strict=True):
                self.bind_items(element, part, index, lengths, binds, variants)
            return
        if self.may_be_iterator(over, variants):
            self.as_they_come.append((target, over))
            return
        if (
            plain
            and self.is_builtin(over.func, "enumerate")
            and isinstance(target, gast.Tuple)
            and len(target.elts) == 2
        ):
            number = i
            if len(over.args) > 1:
                number = gast.BinOp(i, gast.Add(), over.args[1])
            binds.append(syntax.assign(target.elts[0], number))
            self.bind_items(
                target.elts[1], over.args[0], index, lengths, binds, variants
            )
            return
        if plain and self.is_builtin(over.func, "reversed"):
            sequence = self.sequence(over.args[0], variants)
            lengths.append(syntax.call("len", sequence))
            item = syntax.expression("s[-1 - i]", s=sequence, i=i)
            self.bind_target(target, item, binds)
            return
        if self.is_range(over):
            held = self.hold(over, "steps")
            lengths.append(syntax.call("len", held))
            self.bind_target(target, gast.Subscript(held, i, syntax.LOAD), binds)
            return
        sequence = self.sequence(over, variants)
        lengths.append(syntax.call("len", sequence))
        self.bind_target(target, gast.Subscript(sequence, i, syntax.LOAD), binds)

    def may_be_iterator(self, over: gast.expr, variants: list[Variant]) -> bool:
        """Whether inactive items should be taken one by one, as they are needed."""
        envs = [v.before for v in variants]
        names = syntax.names_read(over)
        if any(is_active(env[n]) for env in envs for n in names if n in env):
            return False
        return not any(is_collection(over, self.typer, env) for env in envs)

    def bind_target(
        self, target: Any, value: gast.expr, binds: list[gast.stmt]
    ) -> None:
        """`target = value`, with tuple targets by way of a temporary."""
        if isinstance(target, gast.Name):
            binds.append(syntax.assign(target, value))
            return
        item = self.fresh("item")
        binds.append(syntax.assign(item, value))
        names: list[gast.expr] = []
        nested = []
        for element in target.elts:
            if isinstance(element, gast.Name):
                names.append(element)
            else:
                inner = self.fresh("item")
                names.append(syntax.name(inner, store=True))
                nested.append((element, inner))
        whole = gast.Tuple(names, syntax.STORE)
        binds.append(gast.Assign([whole], syntax.name(item), None))
        for element, inner in nested:
            parts: list[gast.stmt] = []
            self.bind_target(element, syntax.name(inner), parts)
            binds.extend(parts)

    def sequence(self, over: gast.expr, variants: list[Variant]) -> gast.expr:
        """A name that can be indexed."""
        if isinstance(over, gast.Name):
            if over.id in syntax.names_written(self.body_of_loop):
                return self.hold(over, "items")
            self.refuse_growing(over)
            types = [v.before[over.id] for v in variants if over.id in v.before]
            if not types:  # it is from around the function
                types = [self.typer.type_of(over, {})]
            known = [t for t in types if not isinstance(t, Unknown)]
            if known and all(isinstance(t, Dict) for t in known):
                return self.hold(syntax.call("list", over), "keys")
            indexable = (Tuple, List, Array)
            if all(isinstance(t, indexable) for t in types):
                return over
            unclear = len(known) < len(types) and over.id in self.unit.varying
            if any(is_active(t) for t in types) or unclear:
                self.refuse_keys(over)
                return over
        view = isinstance(over, gast.Call) and isinstance(over.func, gast.Attribute)
        if view and over.func.attr in ("values", "items"):
            return self.hold(syntax.call("list", over), over.func.attr)
        if isinstance(over, (gast.List, gast.Tuple)):
            fixed = all(map(self.is_from_around, over.elts))
            return over if fixed else self.hold(over, "items")
        return self.hold(syntax.call("list", over), "items")

    def refuse_keys(self, over: gast.Name) -> None:
        """Items by position are not what a loop over a dict gives: raise, if it is."""
        message = f"`{over.id}` {KEYS_REFUSED}"
        error = syntax.call("TypeError", syntax.const(message))
        test = syntax.call("isinstance", syntax.name(over.id), syntax.name("dict"))
        self.before.append(gast.If(test, [gast.Raise(error, None)], []))

    def called_methods(self, call: gast.Call) -> list[str]:
        """The methods of containers that a call was found to call: `list.append`."""
        callees = self.facts.callees.get(id(call), [])
        return [callee for callee in callees if isinstance(callee, str)]

    def refuse_growing(self, over: gast.Name) -> None:
        """A list must keep its length while a loop runs over it."""
        for node in syntax.walk(self.body_of_loop):
            if (
                isinstance(node, gast.Call)
                and isinstance(node.func, gast.Attribute)
                and syntax.is_name(node.func.value, over.id)
                and _RESIZING.intersection(self.called_methods(node))
            ):
                raise error_at(
                    UnsupportedError,
                    self.unit.source,
                    node,
                    f"`{over.id}` changes its length while a loop runs over it",
                    f"a loop over `list({over.id})`, or `while`",
                )

    def hold(self, value: gast.expr, base: str) -> gast.Name:
        """Evaluate once, before the loop."""
        id = self.unit.names.fresh(base)
        self.unit.temps.add(id)
        if syntax.names_read(value) & self.unit.varying:
            self.unit.varying.add(id)
        self.before.append(syntax.assign(id, value))
        return syntax.name(id)

    def is_dict_view(self, stmt: gast.For, variants: list[Variant]) -> bool:
        over = stmt.iter
        if isinstance(over, gast.Name):
            self.refuse_growing(over)
            types = [v.before[over.id] for v in variants if over.id in v.before]
            known = [t for t in types if not isinstance(t, Unknown)]
            return bool(known) and all(isinstance(t, Dict) for t in known)
        return (
            isinstance(over, gast.Call)
            and isinstance(over.func, gast.Attribute)
            and over.func.attr in ("items", "values", "keys")
        )

    def dict_loop(self, stmt: gast.For, variants: list[Variant]) -> list[gast.stmt]:
        """`for k, v in d.items()` is `for k in list(d): v = d[k]`."""
        over = stmt.iter
        if isinstance(over, gast.Name):
            stmt.iter = syntax.call("list", over)
            return []
        base, kind = over.func.value, over.func.attr
        if kind == "keys":
            stmt.iter = syntax.call("list", base)
            return []
        key = self.fresh("key", varying=False)
        binds: list[gast.stmt] = []
        item = gast.Subscript(base, syntax.name(key), syntax.LOAD)
        if kind == "values":
            self.bind_target(stmt.target, item, binds)
        elif isinstance(stmt.target, gast.Tuple):
            first, second = stmt.target.elts
            if isinstance(first, gast.Name):
                key = first.id
                item = gast.Subscript(base, syntax.name(key), syntax.LOAD)
            else:
                self.bind_target(first, syntax.name(key), binds)
            self.bind_target(second, item, binds)
        else:
            pair = gast.Tuple([syntax.name(key), item], syntax.LOAD)
            value = self.fresh("value")
            binds.append(syntax.assign(value, item))
            pair = gast.Tuple([syntax.name(key), syntax.name(value)], syntax.LOAD)
            binds.append(syntax.assign(stmt.target, pair))
        stmt.target = syntax.name(key, store=True)
        stmt.iter = syntax.call("list", base)
        stmt.body = [*binds, *stmt.body]
        for bind in binds:
            gast.copy_location(bind, stmt)
        return []
