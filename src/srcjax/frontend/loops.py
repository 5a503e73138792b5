"""Loops in core form: over an index, over parallel sequences, with tests lowered."""

from __future__ import annotations

import gast
import numpy as np

from srcjax import syntax
from srcjax.frontend.generators import Generators
from srcjax.frontend.sequences import SequenceCalls

#: How many rows a loop has that is written out.
_FEW = 16


class Loops(SequenceCalls, Generators):
    """Lowers `for` and `while`."""

    def on_While(self, stmt: gast.While) -> None:
        mapped = self.varying.all_kinds and self.varying.carries(stmt.test)
        if mapped:
            go_on = gast.If(stmt.test, list(stmt.body), [gast.Break()])
            gast.copy_location(go_on, stmt)
            new = gast.While(syntax.const(True), self.block([go_on]), [])
            self.emit(gast.copy_location(new, stmt))
            return
        if not self.acts(stmt.test):
            test = self.test(stmt.test)
            new = gast.While(test, self.block(stmt.body), [])
            self.emit(gast.copy_location(new, stmt))
            return
        stop = gast.If(
            gast.UnaryOp(gast.Not(), stmt.test), [gast.Break()], list(stmt.body)
        )
        gast.copy_location(stop, stmt)
        new = gast.While(syntax.const(True), self.block([stop]), [])
        new.taken_apart = True  # see `transforms.loop_tests`
        self.emit(gast.copy_location(new, stmt))

    def by_attribute(self, stmt: gast.For) -> bool:
        """Whether a loop over names of attributes reads or sets them."""
        if not isinstance(stmt.iter, (gast.Tuple, gast.List)) or stmt.orelse:
            return False
        name = getattr(stmt.target, "id", None)
        constant = all(
            isinstance(e, gast.Constant) and isinstance(e.value, str)
            for e in stmt.iter.elts
        )
        own = [s for s in syntax.walk(stmt.body) if isinstance(s, gast.Break)]
        if not constant or own or name in syntax.names_written(stmt.body):
            return False
        return any(
            isinstance(n, gast.Call)
            and self.varying.is_builtin(n.func, "getattr", "setattr")
            and len(n.args) > 1
            and syntax.is_name(n.args[1], name)
            for n in syntax.walk(stmt.body)
        )

    def writes_to_what_is_shown(self, stmt: gast.For) -> bool:
        """Whether a loop over names, `for a in [p, q]`, writes to what they hold.

        Written out, it is known which of them each write changes.
        """
        rows = self.shown_rows(stmt)
        targets = syntax.names_written(stmt.target)
        if rows is None or not self.varying.carries(stmt.iter):
            return False
        names = {e.id for row in rows for e in row}
        nodes = list(syntax.walk(stmt.body))
        leaves = (gast.Break, gast.Continue, gast.FunctionDef, gast.Lambda)
        if stmt.orelse or any(isinstance(n, leaves) for n in nodes):
            return False
        if names & (syntax.names_written(stmt.body) | targets):
            return False
        return any(
            syntax.root_of(n.target) in targets
            if isinstance(n, gast.AugAssign)
            else n.arg == "out" and syntax.root_of(n.value) in targets
            if isinstance(n, gast.keyword)
            else isinstance(n, gast.Subscript)
            and not isinstance(n.ctx, gast.Load)
            and syntax.root_of(n) in targets
            for n in nodes
        )

    def shown_rows(self, stmt: gast.For) -> list[list[gast.Name]] | None:
        """The names that a loop runs over, `zip([a, b], [p, q])` row by row, if few."""
        over = stmt.iter
        columns, targets = [over], [stmt.target]
        if isinstance(over, gast.Call) and self.varying.is_builtin(over.func, "zip"):
            columns, targets = over.args, getattr(stmt.target, "elts", [])
        shown = [getattr(c, "elts", None) for c in columns]
        plain = all(isinstance(c, (gast.Tuple, gast.List)) for c in columns)
        names = [e for elts in shown for e in elts or [None]]
        if not plain or not all(isinstance(e, gast.Name) for e in [*names, *targets]):
            return None
        sizes = {len(elts or ()) for elts in shown}
        if len(sizes) != 1 or len(targets) != len(columns) or max(sizes) > _FEW:
            return None
        return [list(row) for row in zip(*shown, strict=True)]

    def written_out(self, stmt: gast.For) -> None:
        """The body for each row; a target that it does not bind again is its item."""
        targets = getattr(stmt.target, "elts", [stmt.target])
        bound = syntax.names_written(stmt.body)
        for row in self.shown_rows(stmt) or ():
            for target, item in zip(targets, row, strict=True):
                self.emit(syntax.assign(target, item))
            named = zip(targets, row, strict=True)
            same = {t.id: item for t, item in named if t.id not in bound}
            for inner in syntax.substitute(stmt.body, same):
                self.statement(inner)

    def on_For(self, stmt: gast.For) -> None:
        if self.by_attribute(stmt):
            for item in stmt.iter.elts:
                self.emit(syntax.assign(stmt.target, item))
                for inner in syntax.substitute(stmt.body, {stmt.target.id: item}):
                    self.statement(inner)
            return
        if self.writes_to_what_is_shown(stmt):
            self.written_out(stmt)
            return
        if self.varying.carries(stmt.iter) and self.over_generator(stmt):
            return
        stmt = self.over_places(stmt)
        iterable = self.iterable(stmt.iter)
        target = stmt.target
        binding: list[gast.stmt] = []
        parts = self.parallel_parts(iterable)
        fits = isinstance(target, (gast.Tuple, gast.List)) and (
            len(target.elts) == parts
            and not any(isinstance(e, gast.Starred) for e in target.elts)
        )
        if parts and not fits:
            names = [self.new_temp("item") for _ in range(parts)]
            row = gast.Tuple([syntax.name(n) for n in names], syntax.LOAD)
            binding = [gast.copy_location(gast.Assign([target], row, None), stmt)]
            stores = [syntax.name(n, store=True) for n in names]
            target = gast.Tuple(stores, syntax.STORE)
        if not self.plain_target(target):
            id = self.names.fresh("item")
            self.temps.add(id)
            if self.varying.carries(iterable):
                self.varying.names.add(id)
            unpack = gast.Assign([target], syntax.name(id), None)
            binding = [gast.copy_location(unpack, stmt), *binding]
            target = syntax.name(id, store=True)
        body = self.block([*binding, *stmt.body])
        new = gast.For(target, iterable, body, [], None)
        self.emit(gast.copy_location(new, stmt))

    def over_places(self, stmt: gast.For) -> gast.For:
        """`for i, v in np.ndenumerate(a)` as a loop over `i`, with `v = a[i]`."""
        over, target = stmt.iter, stmt.target
        if not isinstance(over, gast.Call) or not isinstance(target, gast.Tuple):
            return stmt
        if self.varying.value(over.func) is not np.ndenumerate or len(over.args) != 1:
            return stmt
        array, place = self.atom(over.args[0]), self.new_temp("place")
        first = gast.Assign([target.elts[0]], syntax.name(place), None)
        item = gast.Subscript(array, syntax.name(place), syntax.LOAD)
        second = gast.Assign([target.elts[1]], item, None)
        body = [*(gast.copy_location(s, stmt) for s in (first, second)), *stmt.body]
        places = syntax.expression("np.ndindex(np.shape(a))", a=array)
        found = gast.For(syntax.name(place, store=True), places, body, [], None)
        return gast.copy_location(found, stmt)

    def parallel_parts(self, iterable: gast.expr) -> int:
        """How many sequences a varying `zip` or `enumerate` runs over, else 0."""
        if not isinstance(iterable, gast.Call) or not self.varying.carries(iterable):
            return 0
        if self.varying.is_builtin(iterable.func, "zip"):
            starred = any(isinstance(a, gast.Starred) for a in iterable.args)
            return 0 if starred else len(iterable.args)
        return 2 if self.varying.is_builtin(iterable.func, "enumerate") else 0

    def plain_target(self, target: gast.expr) -> bool:
        """A name, or a tuple of names and tuples."""
        if isinstance(target, (gast.Tuple, gast.List)):
            return all(map(self.plain_target, target.elts))
        return isinstance(target, gast.Name)

    def iterable(self, node: gast.expr) -> gast.expr:
        """What a loop runs over: zip, enumerate ... of atoms, or an atom."""
        if not self.varying.carries(node):
            return node
        if isinstance(node, gast.Call):
            counts = self.varying.is_builtin(node.func, "range")
            if counts and (self.varying.all_kinds or self.varying.acts(node)):
                args = self.atoms(node.args)
                return gast.copy_location(gast.Call(node.func, args, []), node)
            if self.varying.is_builtin(node.func, "iter") and len(node.args) == 1:
                return self.iterable(node.args[0])
            node = self.groups(node) or node
            if self.rows_of(node) is not None:
                return self.atom(_listed(node))
            if self.varying.is_builtin(node.func, "zip", "enumerate", "reversed"):
                args = [self.iterable(self.shown(a)) for a in node.args]
                args += [self.atom(k.value) for k in node.keywords if k.arg == "start"]
                if any(k.arg == "strict" for k in node.keywords):
                    self.same_lengths(node, args)
                return gast.copy_location(gast.Call(node.func, args, []), node)
            view = isinstance(node.func, gast.Attribute) and not (
                node.args or node.keywords
            )
            if view and node.func.attr in ("items", "values", "keys"):
                base = self.atom(node.func.value)
                function = gast.Attribute(base, node.func.attr, syntax.LOAD)
                return gast.copy_location(gast.Call(function, [], []), node)
        if isinstance(node, gast.GeneratorExp):
            node = gast.copy_location(gast.ListComp(node.elt, node.generators), node)
        return self.atom(node)

    def shown(self, node: gast.expr) -> gast.expr:
        """A name for a list that is written where a loop goes through it."""
        if not isinstance(node, (gast.List, gast.Tuple)) or self.varying.carries(node):
            return node
        return self.atom(node)

    def same_lengths(self, node: gast.Call, args: list[gast.expr]) -> None:
        """What `zip(..., strict=True)` checks."""
        strict = next(k.value for k in node.keywords if k.arg == "strict")
        named = [a for a in args if isinstance(a, gast.Name)]
        if not isinstance(strict, gast.Constant) or not strict.value:
            return
        for other in named[1:]:
            test = syntax.expression("len(a) != len(b)", a=named[0], b=other)
            text = "zip() arguments have different lengths"
            error = syntax.call("ValueError", syntax.const(text))
            self.emit(gast.If(test, [gast.Raise(error, None)], []))


def _listed(node: gast.expr) -> gast.expr:
    """`list(node)`: what an iterator gives, at once."""
    return gast.copy_location(syntax.call("list", node), node)
