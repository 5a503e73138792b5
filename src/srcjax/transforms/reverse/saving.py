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

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.flow.control import own_breaks
from srcjax.analysis.flow.positions import Position
from srcjax.analysis.types import (
    NONE,
    UNKNOWN,
    Array,
    Buffers,
    Dict,
    List,
    Object,
    Unknown,
    ageless_buffers,
    all_buffers,
    are_alike,
    forget_facts,
    is_number,
    is_text,
    with_active,
)
from srcjax.frontend.attempts import caught_flag, lowered_try
from srcjax.transforms.call_effects import called
from srcjax.transforms.reads_writes import backward_range, is_range
from srcjax.transforms.reasons import RECOMPUTED, RESTORED, because
from srcjax.transforms.reverse.container_rules import rest_of, start_of
from srcjax.transforms.reverse.planning import Planner
from srcjax.transforms.reverse.sweep import (
    Attempt,
    Block,
    Branch,
    Group,
    Loop,
    surely_bound,
)
from srcjax.transforms.writer import OLD


class Saver(Planner):
    """Plans what is saved, and writes the two sweeps."""

    # -- writing ----------------------------------------------------------------------

    def write(self) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """The forward sweep and the backward sweep."""
        self.decide()
        self.late = self.late_by_node()
        forward, backward = self.write_block(self.nodes)
        for name, held in self.renewed:
            _name_apart(name, held, forward, backward)
        self.rules.shadows.update_whole(backward)
        early = sorted({*self.maybe_unbound(), *self.rules.asked_early})
        unbound = [syntax.assign(n, syntax.const(None)) for n in early]
        return [*unbound, *syntax.clone(forward)], syntax.clone(backward)

    def maybe_unbound(self) -> list[str]:
        """Names whose old value is saved where they may have none yet."""
        found: set[str] = set()
        top = id(self.nodes)
        kept = [
            (self.where[key], names) for key, names in self.plan.overwritten.items()
        ]
        for block, names in self.plan.local.items():
            if names:
                first = self.where[id(self.blocks[block][0].stmt)]
                kept.append((first, [n for n in names if self.comes_in(n, block)]))
        for at, names in kept:
            for name in names:
                bound = any(
                    w.blocks == (top,) and w.order < at.order
                    for w, _ in self.defs[name]
                )
                if not bound:
                    found.add(name)
        return sorted(found)

    def write_block(self, nodes: list) -> tuple[list[gast.stmt], list[gast.stmt]]:
        forward: list[gast.stmt] = []
        backward: list[gast.stmt] = []
        for node in nodes:
            first, second = self.write_node(node)
            forward += first
            again = syntax.clone(self.late.get(self.where[id(node.stmt)].order, []))
            for s in again:  # a part of what differentiates that line
                s.user_line = getattr(node.stmt, "user_line", None)
                because(s, RECOMPUTED)
            backward = [*_after_pops(second, again), *backward]
        key = id(nodes)
        names = self.plan.local.get(key, [])
        if names:
            pushes: list[gast.stmt] = []
            pops: list[gast.stmt] = []
            for name in names:
                tape = self.tape(name, self.block_loops(nodes, key))
                pushes.append(self.push_name(tape, name))
                pops.append(_pop(name, tape))
            forward = _at_ends(forward, pushes)
            missing = [
                n
                for n in names
                if not self.is_visited(n, key)
                and not self.comes_in(n, key)
                and not surely_bound(nodes, n)
            ]
            forward = [syntax.assign(n, syntax.const(None)) for n in missing] + forward
            backward = pops + backward
        again = self.plan.again.get(key, [])
        if again:
            ordered = [n.stmt for n in nodes if any(n.stmt is s for s in again)]
            copies = syntax.clone(ordered)
            for s in copies:
                s.user_line = None  # not a line that is differentiated
                because(s, RECOMPUTED)
            backward = copies + backward
            if names:
                count = len(names)
                head = backward[len(ordered) : len(ordered) + count]
                rest = backward[len(ordered) + count :]
                backward = _in_order(head, backward[: len(ordered)]) + rest
        return forward, backward

    def is_visited(self, name: str, block: int) -> bool:
        """Whether a loop gives the name its value where this block of it begins."""
        return any(
            isinstance(stmt, gast.For) and where.blocks[-1] == block
            for where, stmt in self.defs[name]
        )

    def comes_in(self, name: str, block: int) -> bool:
        """Whether the name may have a value from before the block where it begins."""
        outside = any(block not in where.blocks for where, _ in self.defs[name])
        return outside and not self.is_visited(name, block)

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
            self.unit.names.tapes.add(tape)
            t = self.rules.types.get(name, UNKNOWN)
            if self.is_written(t):  # what is written to the array of a view matters
                self.rules.types[tape] = List(elem=with_active(t, False))
            self.tape_inits.setdefault(loops[0], []).append(tape)
        return self.tapes[key]

    def is_written(self, t: Any) -> bool:
        """Whether anything writes to memory of the value."""
        written = self.rules.written | self.inactive_writes()
        return bool(all_buffers(t) & (written | self.rules.shadows.own_memory))

    def write_node(self, node: Any) -> tuple[list[gast.stmt], list[gast.stmt]]:
        if isinstance(node, Group):
            return self.write_group(node)
        if isinstance(node, Attempt):
            return self.write_attempt(node)
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
        for name in self.plan.overwritten.get(id(stmt), []):
            keep, old = self.save_name(name, where)
            forward.insert(0, keep)
            reads_new = name in syntax.read_counts(code)
            if reads_new and name + OLD in syntax.read_counts(code):
                previous = self.unit.names.fresh(f"previous_{name}")
                if name in self.rules.shadows.names.values():
                    self.rules.types[previous] = self.rules.type_of_name(name)
                code = syntax.substitute(code, {name + OLD: syntax.name(previous)})
                code = [syntax.assign(previous, old), *code]
                code.append(syntax.assign(name, syntax.name(previous)))
            elif reads_new:
                code.append(syntax.assign(name, old))
            else:
                back = syntax.assign(name, old)
                back.puts_back = True
                restored.append(back)
        code = [*restored, *code]
        olds = {n for n in syntax.read_counts(code) if n.endswith(OLD)}
        code = syntax.substitute(
            code, {n: syntax.name(n.removesuffix(OLD)) for n in sorted(olds)}
        )
        if id(stmt) in self.plan.contents:
            kept, put_back = self.save_given(stmt, where)
            after: list[gast.stmt] = []
            last: list[gast.stmt] = []
            value = getattr(stmt, "value", None)
            called = node.forward is not None and isinstance(value, gast.Call)
            if called and self.writes_itself(stmt):
                before, last = self.save_passed(stmt, where)
                kept = [*kept, *before]
            elif node.forward is None and self.may_be_new(stmt):
                before, forward, restore = self.save_old(stmt, where)
                kept, put_back = [*kept, *before], [*restore, *put_back]
            elif self.writes_itself(stmt):
                before, after, restore = self.save_content(stmt, where)
                kept, put_back = [*kept, *before], [*restore, *put_back]
            forward = [*kept, *forward, *after]
            # An adjoint starts as long as what the statement left, not what it found.
            starts = [s for s in code if getattr(s, "initial", False)]
            rest = [s for s in code if not getattr(s, "initial", False)]
            for s in [*put_back, *last]:
                because(s, RESTORED)
            code = [*starts, *put_back, *rest, *last]
        return forward, _commented(stmt, code)

    def save_name(self, name: str, where: Position) -> tuple[gast.stmt, gast.expr]:
        """The statement that keeps what a name holds, and the value again."""
        if where.loops:
            tape = self.tape(name, where.loops)
            popped = syntax.expression("t.pop()", t=syntax.name(tape))
            return self.push_name(tape, name), popped
        held = self.unit.names.fresh(f"{name}_before")
        t = self.rules.types.get(name, UNKNOWN)
        if self.is_written(t):
            self.rules.types[held] = with_active(t, False)
        return syntax.assign(held, syntax.name(name)), syntax.name(held)

    def may_be_new(self, stmt: Any) -> bool:
        """Whether `p /= v` may be `p = p / v`: nothing else holds the array.

        Then what it held needs no copy, and is not put back.
        """
        if not isinstance(stmt, gast.AugAssign) or self.hidden_writes(stmt):
            return False
        if not isinstance(stmt.target, gast.Name) or not self.is_alone(stmt.target.id):
            return False
        value = gast.BinOp(syntax.name(stmt.target.id), stmt.op, stmt.value)
        for env in self.rules.environments(stmt):
            old = env.get(stmt.target.id, UNKNOWN)
            new = self.rules.typer.type_of(value, env)
            if not isinstance(old, Array):
                return False
            if forget_facts(old) != forget_facts(new) and not are_alike(old, new):
                return False
        return True

    def save_old(
        self, stmt: gast.AugAssign, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Keep an array by its name; its update, as a new array; the old one again."""
        name = stmt.target.id
        old: gast.expr
        if where.loops:
            tape = self.tape((name, id(stmt)), where.loops, name)
            kept = self.push_name(tape, name)
            old = syntax.expression("t.pop()", t=syntax.name(tape))
        else:
            held = self.unit.names.fresh(f"{name}_before")
            self.rules.types[held] = with_active(self.rules.type_of_name(name), False)
            kept = syntax.assign(held, syntax.name(name))
            old = syntax.name(held)
            self.renewed.append((name, held))
        value = gast.BinOp(syntax.name(name), stmt.op, stmt.value)
        new = _like(syntax.assign(name, gast.copy_location(value, stmt)), stmt)
        return [kept], [new], [syntax.assign(name, old)]

    def save_content(
        self, stmt: Any, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Keep what an in-place write overwrites; and put it back."""
        target = getattr(stmt, "target", None)
        pairs = swap_pairs(stmt)
        if pairs:
            new = gast.Tuple([syntax.name(n) for n, _ in pairs], syntax.LOAD)
            old = gast.Tuple([syntax.name(n, True) for _, n in pairs], syntax.STORE)
            return [], [], [gast.Assign([old], new, None)]
        if isinstance(stmt, gast.Delete):
            gone = stmt.targets[0]
            if isinstance(self.rules.type_of(gone.value), Dict):
                return self.save_key(gone.value, gone.slice, where)
            if isinstance(gone.slice, gast.Slice):
                return self.save_deleted(gone, where)
            owner = min(syntax.names_read(gone.value))
            kept, put_back = self.save_whole(owner, stmt, where)
            return kept, [], put_back
        if isinstance(stmt, gast.Assign):
            target = stmt.targets[0]
        value: Any = getattr(stmt, "value", None)
        if isinstance(target, gast.Name) and isinstance(stmt, gast.AugAssign):
            target = syntax.as_load(target)
            target = gast.Subscript(target, syntax.const(...), syntax.STORE)
        at = isinstance(value, gast.Call) and getattr(value.func, "attr", "") == "at"
        if at and len(value.args) >= 2:
            target = gast.Subscript(value.args[0], value.args[1], syntax.STORE)
        if isinstance(target, gast.Attribute):
            return self.save_attribute(stmt, target, where)
        if not isinstance(target, gast.Subscript):
            return self.save_container(stmt, value, where)
        item = syntax.as_load(target)
        base = target.value
        whole = isinstance(target.slice, gast.Constant) and target.slice.value is ...
        scalar = all(
            is_number(self.rules.typer.type_of(item, env))
            for env in self.rules.environments(stmt)
        )
        t = self.rules.type_of_name(base.id) if isinstance(base, gast.Name) else UNKNOWN
        if isinstance(t, Dict) or self.has_text_for_key(stmt, target):
            return self.save_key(base, target.slice, where)
        if isinstance(t, List) and isinstance(target.slice, gast.Slice):
            return self.save_slice(base, target.slice, where)
        kept = item
        if isinstance(t, Array) and not scalar:
            kept = syntax.expression("v.copy()", v=base if whole else item)
        elif not isinstance(t, List) and not scalar:
            kept = syntax.call("copied", base if whole else item)
        label = base.id if isinstance(base, gast.Name) else "item"
        again: gast.expr
        if where.loops:
            tape = self.tape((label, id(stmt)), where.loops, label)
            before: list[gast.stmt] = [_push(tape, kept)]
            again = syntax.expression("t.pop()", t=syntax.name(tape))
        else:
            held = self.unit.names.fresh(f"{label}_before")
            before = [syntax.assign(held, kept)]
            again = syntax.name(held)
        named = isinstance(getattr(stmt, "target", None), gast.Name)
        if named and isinstance(t, Array) and t.shape is None:
            # `v += 1` of a number of NumPy's is another one, and not written in place.
            again = syntax.call("in_place_of", again, syntax.as_load(base))
            return before, [], [syntax.assign(base.id, again)]
        store = syntax.as_store(syntax.clone(item))
        return before, [], [syntax.assign(store, again)]

    def save_attribute(
        self, stmt: gast.stmt, target: gast.Attribute, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Keep what an attribute of an object held; and put it back."""
        types = [
            v.before.get(syntax.dotted(target.value) or "")
            for v in self.rules.facts.of(stmt)
        ]
        has = {
            isinstance(t, Object) and any(key == target.attr for key, _ in t.items)
            for t in types
        }
        if has == {False} and all(isinstance(t, Object) for t in types):
            return [], [], []  # it is new: there was nothing to read
        if has != {True}:
            self.rules.stmt = stmt
            raise self.rules.refuse(
                f"`{syntax.text(stmt)}` changes a value that the gradient needs",
                "build a new value instead of changing this one",
            )
        old, store = syntax.as_load(target), syntax.clone(target)
        if where.loops:
            tape = self.tape((target.attr, id(stmt)), where.loops, target.attr)
            popped = syntax.expression("t.pop()", t=syntax.name(tape))
            return [_push(tape, old)], [], [syntax.assign(store, popped)]
        held = self.unit.names.fresh(f"{target.attr}_before")
        return [syntax.assign(held, old)], [], [syntax.assign(store, syntax.name(held))]

    def has_text_for_key(self, stmt: Any, target: gast.Subscript) -> bool:
        """`table["a"] = v` of what is not known: only a mapping has such keys."""
        return all(
            isinstance(self.rules.typer.type_of(target.value, env), (Dict, Unknown))
            and is_text(self.rules.typer.type_of(target.slice, env))
            for env in self.rules.environments(stmt)
        )

    def save_key(
        self, base: gast.expr, key: gast.expr, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Keep the item of a dict under a key, if there is one; and put it back."""
        had = self.unit.names.fresh("had_key")
        label = getattr(base, "id", getattr(base, "attr", "item"))
        held: gast.expr = syntax.name(self.unit.names.fresh(f"{label}_before"))
        item = syntax.expression("d[k]", d=base, k=key)
        found = syntax.expression("k in d", d=base, k=key)
        before = [syntax.assign(had, found)]
        restore: list[gast.stmt] = []
        if where.loops:
            tape = self.tape((had, "key"), where.loops, had)
            before.append(_push(tape, syntax.name(had)))
            restore.append(_pop(had, tape))
            tape = self.tape((had, "item"), where.loops, label)
            keep = _push(tape, item)
            held = syntax.expression("t.pop()", t=syntax.name(tape))
        else:
            keep = syntax.assign(held, item)
        before.append(gast.If(syntax.name(had), [keep], []))
        back = syntax.assign(syntax.as_store(syntax.clone(item)), held)
        away = gast.Expr(syntax.expression("d.pop(k)", d=base, k=key))
        restore.append(gast.If(syntax.name(had), [back], [away]))
        return before, [], restore

    def save_slice(
        self, base: gast.expr, index: gast.Slice, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Undo `xs[a:b] = ys`, which may give the list another length."""
        if index.step is not None:
            kept: gast.expr = gast.Subscript(base, index, syntax.LOAD)
            names = ["items"]
            back: gast.expr = gast.Subscript(base, index, syntax.STORE)
        else:
            kept = gast.Tuple(
                [
                    start_of(base, index),
                    rest_of(base, index),
                    syntax.expression("v[i]", v=base, i=index),
                ],
                syntax.LOAD,
            )
            names = ["start", "rest", "items"]
            back = syntax.expression("v[start:len(v) - rest]", v=base)
        held = [self.unit.names.fresh(name) for name in names]
        holes = {n: syntax.name(h) for n, h in zip(names, held, strict=True)}
        if where.loops:
            tape = self.tape(("slice", id(index)), where.loops, "slice")
            before: list[gast.stmt] = [_push(tape, kept)]
            kept = syntax.expression("t.pop()", t=syntax.name(tape))
        else:
            name = self.unit.names.fresh("kept")
            before = [syntax.assign(name, kept)]
            kept = syntax.name(name)
        targets: gast.expr = syntax.name(held[0], store=True)
        if len(held) > 1:
            stores = [syntax.name(h, store=True) for h in held]
            targets = gast.Tuple(stores, syntax.STORE)
        restore = [
            gast.Assign([targets], kept, None),
            syntax.assign(
                syntax.as_store(syntax.substitute(back, holes)), syntax.name(held[-1])
            ),
        ]
        return before, [], restore

    def save_deleted(
        self, target: gast.Subscript, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Undo `del xs[a:b]`."""
        first = start_of(target.value, target.slice)
        kept = gast.Tuple([first, syntax.as_load(target)], syntax.LOAD)
        start, items = (self.unit.names.fresh(n) for n in ("start", "deleted"))
        if where.loops:
            tape = self.tape(("deleted", id(target)), where.loops, items)
            before = [_push(tape, kept)]
            held = syntax.expression("t.pop()", t=syntax.name(tape))
        else:
            name = self.unit.names.fresh("kept")
            before = [syntax.assign(name, kept)]
            held = syntax.name(name)
        both = [syntax.name(start, store=True), syntax.name(items, store=True)]
        back = syntax.expression("v[s:s]", v=target.value, s=syntax.name(start))
        restore = [
            gast.Assign([gast.Tuple(both, syntax.STORE)], held, None),
            syntax.assign(syntax.as_store(back), syntax.name(items)),
        ]
        return before, [], restore

    def save_container(
        self, stmt: Any, value: Any, where: Position
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
            held = value.func.value.id
            place = self.rules.place_of_inserted(held, base, value.args[0])
            undo = syntax.expression("v.pop(i)", v=base, i=place)
            return [], [], [gast.Expr(undo)]
        if method == "reverse":
            return [], [], [gast.Expr(syntax.expression("v.reverse()", v=base))]
        t = self.rules.type_of_name(base.id) if isinstance(base, gast.Name) else UNKNOWN
        if method == "pop" and isinstance(t, Dict):
            return self.save_key(base, value.args[0], where)
        index = value.args[0] if method == "pop" and value.args else None
        known = isinstance(index, gast.Constant) and isinstance(index.value, int)
        if known and isinstance(stmt, gast.Assign):
            name = stmt.targets[0].id
            self.reads.setdefault(name, [])
            after: list[gast.stmt] = []
            item: gast.expr = syntax.name(name)
            if where.loops:
                tape = self.tape((name, "popped"), where.loops, name)
                after = [_push(tape, item)]
                item = syntax.expression("t.pop()", t=syntax.name(tape))
            undo = syntax.expression("v.insert(i, x)", v=base, i=index, x=item)
            return [], after, [gast.Expr(undo)]
        if method == "pop" and isinstance(stmt, gast.Assign) and not value.args:
            name = stmt.targets[0].id
            undo = syntax.expression("v.append(x)", v=base, x=syntax.name(name))
            self.reads.setdefault(name, [])
            if not where.loops:
                return [], [], [gast.Expr(undo)]
            tape = self.tape((name, "popped"), where.loops, name)
            push = _push(tape, syntax.name(name))
            undo = syntax.expression("v.append(t.pop())", v=base, t=syntax.name(tape))
            return [], [push], [gast.Expr(undo)]
        if method == "pop":
            return self.save_popped(base, value.args, where)
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

    def save_given(
        self, stmt: gast.stmt, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """Keep what the statement may write to out of sight; and put it back."""
        hidden = self.hidden_writes(stmt)
        calls = [n for n in hidden if isinstance(n, gast.Call)]
        if any(getattr(c.func, "attr", "") == "resize" for c in calls):
            self.rules.stmt = stmt
            raise self.rules.refuse(
                "`resize` changes an array that the gradient needs",
                "`np.resize`, which gives a new array",
            )
        writes = self.rules.facts.writes
        written = ageless_buffers(NONE.union(*(writes[id(n)] for n in hidden)))
        return self.save_written(stmt, written, where)

    def save_passed(
        self, stmt: gast.stmt, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """Keep what a function with a backward function of its own writes to.

        That starts from what the function left: it is put back after it.
        """
        return self.save_written(stmt, self.written_buffers(stmt), where)

    def save_written(
        self, stmt: gast.stmt, written: Buffers, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """Keep all that names of the statement hold in this memory; and put it back."""
        before: list[gast.stmt] = []
        restore: list[gast.stmt] = []
        for name in sorted(syntax.names_read(stmt)):
            if all_buffers(self.rules.type_of_name(name)) & written:
                kept, put_back = self.save_whole(name, stmt, where)
                before += kept
                restore += put_back
        return before, restore

    def save_whole(
        self, name: str, stmt: gast.stmt, where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """Keep all that a name holds, in whatever structure; and put it back."""
        t = self.rules.type_of_name(name)
        if isinstance(t, Array):
            kept = syntax.expression("v.copy()", v=syntax.name(name))
        else:
            kept = syntax.call("contents", syntax.name(name))
        if where.loops:
            holder = self.tape((name, id(stmt)), where.loops, name)
            before = _push(holder, kept)
            old = syntax.expression("t.pop()", t=syntax.name(holder))
        else:
            holder = self.unit.names.fresh(f"{name}_before")
            before = syntax.assign(holder, kept)
            old = syntax.name(holder)
        if isinstance(t, Array):
            whole = syntax.expression("v[...]", v=syntax.name(name))
            return [before], [syntax.assign(syntax.as_store(whole), old)]
        # What is restored is the memory of the value.
        self.rules.types[holder] = Unknown(False, all_buffers(t))
        return [before], [gast.Expr(syntax.call("restore_contents", old))]

    def save_popped(
        self, base: gast.expr, args: list[gast.expr], where: Position
    ) -> tuple[list[gast.stmt], list[gast.stmt], list[gast.stmt]]:
        """Undo `xs.pop(i)` whose result has no name, or may be at any place."""
        at = args[0] if args else syntax.expression("-1")
        item = syntax.expression("v[i]", v=base, i=at)
        if where.loops:
            tape = self.tape(("popped", id(at)), where.loops, "popped")
            before = [_push(tape, item)]
            held = syntax.expression("t.pop()", t=syntax.name(tape))
        else:
            name = self.unit.names.fresh("popped")
            before = [syntax.assign(name, item)]
            held = syntax.name(name)
        undo = syntax.expression("v.append(x)", v=base, x=held)
        if args:
            place = self.rules.place_of_popped(base, at)
            undo = syntax.expression("v.insert(i, x)", v=base, i=place, x=held)
        return before, [], [gast.Expr(undo)]

    def as_bool(self, test: gast.expr) -> gast.expr:
        """The condition as a value that does not change any more."""
        if isinstance(test, gast.Name):
            if is_number(self.rules.type_of_name(test.id)):
                return test
        elif not isinstance(test, (gast.Attribute, gast.Subscript, gast.BoolOp)):
            return test
        return syntax.call("bool", test)

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
            forward.append(_like(syntax.assign(name, self.as_bool(test)), stmt))
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

    def write_attempt(self, node: Attempt) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """A `try`: its backward code runs where it was not left by an exception."""
        stmt = node.stmt
        body, then_backward = self.write_block(node.then)
        then_backward += node.then_tail
        else_backward = node.else_tail
        before: list[gast.stmt] = []
        handlers = syntax.clone(stmt.handlers)
        for tape in self.pushed(body):
            mark = self.unit.names.fresh(f"{tape}_length")
            before.append(syntax.assign(mark, syntax.call("len", syntax.name(tape))))
            rest = syntax.expression("t[n:]", t=syntax.name(tape), n=syntax.name(mark))
            rest.ctx = gast.Del()
            for handler in handlers:
                handler.body.append(gast.Delete([rest]))
        new = lowered_try(body, handlers, stmt)
        for at, each in enumerate(body):
            if each is node.orelse_from:
                new.body, new.orelse = body[:at], body[at + 1 :]
        kept, restored = self.save_bound(stmt)
        forward = [*kept, *before, _like(new, stmt)]
        flag = syntax.name(caught_flag(stmt) or "")
        finished: gast.expr = gast.UnaryOp(gast.Not(), flag)
        if id(stmt) in self.held:
            name = self.held[id(stmt)]
            forward.append(_like(syntax.assign(name, finished), stmt))
            finished = syntax.name(name)
        if _does_something(then_backward):
            backward = gast.If(finished, then_backward, else_backward)
        elif _does_something(else_backward):
            unfinished = gast.UnaryOp(gast.Not(), finished)
            backward = gast.If(unfinished, else_backward, [])
        else:
            return forward, [*node.before, *restored]
        return forward, [*node.before, _like(backward, stmt), *restored]

    def pushed(self, body: list[gast.stmt]) -> list[str]:
        """Tapes from outside that the body of a `try` may have pushed something on."""
        made = syntax.names_written(body)
        found = {
            call.func.value.id
            for call in syntax.walk(body)
            if isinstance(call, gast.Call)
            and isinstance(call.func, gast.Attribute)
            and call.func.attr == "append"
            and isinstance(call.func.value, gast.Name)
        }
        return sorted(found & set(self.tapes.values()) - made)

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
            held: gast.Name | None = None
            if id(stmt) in self.held:
                held = syntax.name(self.held[id(stmt)])
                if not is_range(iterable) and (
                    trips is not None or not self.is_collection(iterable)
                ):
                    # It may have no end, or be used in the body: keep what is visited.
                    value: gast.expr = gast.List([], syntax.LOAD)
                    item = syntax.as_load(syntax.clone(stmt.target))
                    body_forward = [_push(held.id, item), *body_forward]
                    body_forward[0].visits = True
                    trips = None
                else:
                    value = iterable if is_range(iterable) else _as_list(iterable)
                    iterable = held
                forward.append(_like(syntax.assign(held.id, value), stmt))
            new = gast.For(stmt.target, iterable, body_forward, [], None)
            target = syntax.clone(stmt.target)
            over = syntax.clone(iterable if held is None else held)
            if trips is not None:
                over = syntax.expression("v[:n]", v=over, n=syntax.name(trips))
                over.trips = trips  # it is not more than what there is
            turned = backward_range(over) if trips is None else None
            over = syntax.call("reversed", over) if turned is None else turned
        kept, restored = self.save_bound(stmt)
        forward = [*kept, *forward, _like(new, stmt)]
        if not _does_something(body_backward):
            return forward, [*node.before, *restored]
        backward = gast.For(target, over, body_backward, [], None)
        backward.full_at_head = node.full_at_head
        return forward, [*node.before, _like(backward, stmt), *restored]

    def write_with(self, node: Block) -> tuple[list[gast.stmt], list[gast.stmt]]:
        forward, backward = self.write_block(node.body)
        stmt = node.stmt
        parts: list[list[gast.stmt]] = []
        for end in node.ends:
            at = next(i for i, s in enumerate(forward) if s is end.stmt)
            parts.append(forward[:at])
            forward = forward[at + 1 :]
        # What is kept at the end is not there if one of several blocks has raised.
        parts, after = (parts, forward) if parts else ([forward], [])
        written = iter(parts)
        new = syntax.rebuilt(stmt, lambda block: next(written))
        if not _does_something(backward):
            backward = []
        elif isinstance(stmt, gast.With) and all(
            called(i.context_expr) == "np.errstate" for i in stmt.items
        ):
            again = gast.With(syntax.clone(stmt.items), backward, None)
            backward = [_like(again, stmt)]
        kept, restored = self.save_bound(stmt)
        return [*kept, new, *after], [*backward, *restored]

    def save_bound(self, stmt: Any) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """What keeps the values that names lose to a head, and what puts them back."""
        kept, restored = [], []
        for name in self.plan.overwritten.get(id(stmt), []):
            keep, old = self.save_name(name, self.where[id(stmt)])
            kept.append(keep)
            restored.append(syntax.assign(name, old))
        return kept, restored


def _name_apart(name: str, held: str, forward: list, backward: list) -> None:
    """Let an array that an update replaces have the name that it is kept by, always.

    Before:                     After:

        p = np.exp(x)               p_before = np.exp(x)
        p_before = p                p = p_before / s
        p = p / s

    Only where the update, and what takes it back, is no part of a loop or branch.
    """
    keep = syntax.assign(held, syntax.name(name))
    back = syntax.assign(name, syntax.name(held))
    kept = [k for k, s in enumerate(forward) if syntax.equal(s, keep)]
    restored = [k for k, s in enumerate(backward) if syntax.equal(s, back)]
    if len(kept) != 1 or len(restored) != 1:
        return
    (first,), (last,) = kept, restored
    syntax.rename(forward[:first], {name: held})
    update = forward[first + 1]
    update.value = syntax.substitute(update.value, {name: syntax.name(held)})
    syntax.rename(backward[last:], {name: held})
    del forward[first], backward[last]


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
        isinstance(n, gast.Break) for n in own_breaks([last])
    ):
        last.body = _at_ends(last.body, pushes)
        last.orelse = _at_ends(last.orelse, pushes)
        return stmts
    return [*stmts, *syntax.clone(pushes)]


def _after_pops(code: list[gast.stmt], again: list[gast.stmt]) -> list[gast.stmt]:
    """The code with the other statements after the pops of what they read in it."""
    read = syntax.names_read(again)
    count = 0
    for place, stmt in enumerate(code, 1):
        if not getattr(stmt, "puts_back", False):
            break
        count = place if syntax.names_written(stmt) & read else count
    return [*code[:count], *again, *code[count:]]


def _in_order(pops: list[gast.stmt], again: list[gast.stmt]) -> list[gast.stmt]:
    """Recomputed definitions after the pops that they read."""
    return [*pops, *again]


def _does_something(code: list[gast.stmt]) -> bool:
    return any(not syntax.is_comment(s) for s in code)


def _as_list(value: gast.expr) -> gast.expr:
    if called(value) == "list":
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
