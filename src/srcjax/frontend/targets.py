"""Assignments: plain, unpacking, and in place, as single ones to names and places."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.frontend.sequences import SequenceCalls
from srcjax.frontend.unit import acting


class Targets(SequenceCalls):
    """Lowers what binds and stores."""

    def on_Assign(self, stmt: gast.Assign) -> None:
        if len(stmt.targets) == 1:
            self.bind(stmt.targets[0], stmt.value)
            return
        value = self.atom(stmt.value)
        for target in stmt.targets:
            self.bind(target, value)

    def on_AnnAssign(self, stmt: gast.AnnAssign) -> None:
        if stmt.value is not None:
            self.bind(stmt.target, stmt.value)

    def on_AugAssign(self, stmt: gast.AugAssign) -> None:
        target = stmt.target
        if isinstance(target, gast.Name):
            name = syntax.name(target.id)
            old = self.held(name, [stmt.value])
            value = self.atom(stmt.value)
            if old is not name:
                new = gast.AugAssign(syntax.as_store(old), stmt.op, value)
                self.emit(gast.copy_location(new, stmt))
                self.emit(syntax.assign(target, old))
                return
            self.emit(gast.copy_location(gast.AugAssign(target, stmt.op, value), stmt))
        elif isinstance(target, gast.Subscript):
            base = self.atom(syntax.as_load(target.value))
            index = self.index(syntax.as_load(target.slice))
            if acting(stmt) in self.varying.places:
                old = self.temp(gast.Subscript(base, index, syntax.LOAD))
                value = self.atom(stmt.value)
                new = gast.AugAssign(syntax.as_store(old), stmt.op, value)
                self.emit(gast.copy_location(new, stmt))
                # Nodes of their own: what is read may get another name than the target.
                place = gast.Subscript(syntax.clone(base), syntax.clone(index), None)
                self.emit(syntax.assign(place, old))
                return
            done = len(self.out)
            value = self.atom(stmt.value)
            place = gast.Subscript(base, index, syntax.STORE)
            new = gast.copy_location(gast.AugAssign(place, stmt.op, value), stmt)
            new.meanwhile = self.out[done:]  # the item was read before
            self.emit(new)
        else:
            base = self.atom(syntax.as_load(target.value))
            old = self.temp(gast.Attribute(base, target.attr, syntax.LOAD))
            value = self.atom(stmt.value)
            new = gast.AugAssign(syntax.as_store(old), stmt.op, value)
            self.emit(gast.copy_location(new, stmt))
            place = gast.Attribute(syntax.clone(base), target.attr, None)
            self.emit(syntax.assign(place, old))

    def bind(self, target: gast.expr, value: gast.expr) -> None:
        """`target = value` for any target."""
        value = self.from_keys(value) or value
        if self.is_choice(value) and _binds_only(target):
            self.bind_choice(target, value)
        elif isinstance(target, gast.Name) and (out := self.missing_out(value)):
            self.bind_out(target, value, out)
        elif isinstance(target, gast.Name):
            if self.varying.carries(value) and self.gives_once(value):
                value = self.kept_iterator(target.id, value)
            else:
                self.note_use(target.id, value)
            found = self.operation(value)
            if not (self.there and syntax.is_name(found, target.id)):
                self.emit(syntax.assign(target, found))
        elif isinstance(target, (gast.Tuple, gast.List)):
            self.unpack(target, value)
        elif isinstance(target, gast.Subscript):
            self.check_kept([value])
            value = self.atom(value)
            base = self.atom(syntax.as_load(target.value))
            index = self.index(syntax.as_load(target.slice))
            self.emit(syntax.assign(gast.Subscript(base, index, None), value))
        elif isinstance(target, gast.Attribute):
            self.check_kept([value])
            value = self.atom(value)
            base = self.atom(syntax.as_load(target.value))
            self.emit(syntax.assign(gast.Attribute(base, target.attr, None), value))
        else:
            raise self.refuse(target, "an unusual target of an assignment", "a name")

    def is_choice(self, value: Any) -> bool:
        """Whether it is `a if test else b`, which becomes a branch."""
        lowered = isinstance(value, gast.IfExp) and self.varying.carries(value)
        return lowered and not self.varying.inert_result(value)

    def bind_choice(self, target: gast.expr, value: gast.IfExp) -> None:
        """A branch that binds; `s = s if kept else v` is `if not kept: s = v`."""

        def stays(part: gast.expr) -> bool:
            return isinstance(target, gast.Name) and syntax.is_name(part, target.id)

        if stays(value.body) and not stays(value.orelse):
            test = gast.UnaryOp(gast.Not(), value.test)
            value = gast.IfExp(test, value.orelse, value.body)
        self.choose(
            value,
            lambda part: None if stays(part) else self.bind(syntax.clone(target), part),
        )

    def bind_out(self, target: gast.Name, call: Any, out: str) -> None:
        """`y = np.add(a, b, out=c)`, by branches: `y` may be `c`, which may be None."""
        plain = syntax.clone(call)
        plain.keywords = [k for k in plain.keywords if k.arg != "out"]
        test = syntax.expression("c is None", c=syntax.name(out))
        self.there.add(out)
        self.bind_choice(target, gast.IfExp(test, plain, call))
        self.there.remove(out)

    def unpack(self, target: Any, value: gast.expr) -> None:
        """`a, (b, *c) = value`."""
        elements = target.elts
        if isinstance(value, gast.Tuple) and all(
            isinstance(e, gast.Name) for e in (*elements, *value.elts)
        ):
            new, old = [e.id for e in elements], [e.id for e in value.elts]
            if len(set(new)) == len(new) > 1 and sorted(new) == sorted(old):
                both = gast.Assign([target], value, None)  # a swap (analysis.swaps)
                self.emit(gast.copy_location(both, self.at))
                return
        starred = [isinstance(e, gast.Starred) for e in elements]
        if isinstance(value, (gast.Tuple, gast.List)) and not any(starred):
            plain = not any(isinstance(e, gast.Starred) for e in value.elts)
            if plain and len(value.elts) == len(elements):
                self.bind_together(elements, value.elts)
                return
        rows = self.rows_of(value) if self.varying.carries(value) else None
        if rows is not None and not any(starred):
            held = self.held_items(rows)
            for position, element in enumerate(elements):
                self.bind(element, self.column(held, syntax.const(position)))
            return
        if any(starred) and (self.is_lazy(value) or self.is_view(value)):
            value = gast.copy_location(syntax.call("list", value), value)  # has items
        source = self.atom(value)
        if syntax.names_read(source) & syntax.names_written(elements):
            source = self.temp(source)  # `head, rest = rest`: two values of one name
        if any(starred):
            self.unpack_starred(elements, starred.index(True), source)
            return
        targets: list[gast.expr] = []
        nested: list[tuple[gast.expr, gast.Name]] = []
        for element in elements:
            if isinstance(element, gast.Name):
                targets.append(element)
                continue
            id = self.names.fresh("item")
            self.temps.add(id)
            self.varying.names.add(id)
            targets.append(syntax.name(id, store=True))
            nested.append((element, syntax.name(id)))
        new = gast.Assign([gast.Tuple(targets, syntax.STORE)], source, None)
        self.emit(gast.copy_location(new, self.at))
        for element, item in nested:
            self.bind(element, item)

    def bind_together(self, targets: list, values: list[gast.expr]) -> None:
        """`a, b = b, a`: all values are read before a target is written."""
        written: set[str] = set()
        for target in targets:
            written |= syntax.names_written(target)
            if not isinstance(target, gast.Name):
                written |= syntax.names_read(target)
        held: list[gast.expr] = []
        for position, value in enumerate(values):
            if self.varying.carries(value) and self.gives_once(value):
                value = self.kept_iterator(getattr(targets[position], "id", ""), value)
            later = targets[:position]
            hazard = {n for t in later for n in syntax.all_names(t)}
            simple = isinstance(targets[position], gast.Name)
            if not (hazard & syntax.names_read(value)) and simple and position == 0:
                # What the others do comes after it, and may change what it reads.
                clash = not all(map(_is_arithmetic, values[1:])) or any(
                    targets[0].id in syntax.names_read(v) for v in values[1:]
                )
                if not clash:
                    held.append(value)
                    continue
            core = self.operation(value)
            if isinstance(core, gast.Constant):
                held.append(core)
            else:
                name = self.temp(core)
                if self.varying.names.issuperset(_name_of(targets[position])):
                    self.varying.names.add(name.id)  # an object that is changed later
                held.append(name)
        for target, value in zip(targets, held, strict=True):
            self.bind(target, value)

    def unpack_starred(self, elements: list, star: int, source: gast.expr) -> None:
        """`a, *b, c = source`."""
        after = len(elements) - star - 1
        for position, element in enumerate(elements):
            if position < star:
                index: gast.expr = syntax.const(position)
            elif position > star:
                index = syntax.expression(str(position - len(elements)))
            else:
                stop = f"-{after}" if after else ""
                sliced = syntax.expression(f"s[{star}:{stop}]", s=source)
                items = self.temp(sliced)
                self.bind(element.value, syntax.call("list", items))
                continue
            self.bind(element, gast.Subscript(source, index, syntax.LOAD))


def _name_of(target: gast.expr) -> list[str | None]:
    return [getattr(target, "id", None)]


def _is_arithmetic(value: gast.expr) -> bool:
    """Whether the value is computed of names and numbers by operators alone."""
    return all(
        isinstance(node, (gast.Name, gast.Constant, gast.BinOp, gast.UnaryOp))
        for node in syntax.walk(value)
        if isinstance(node, gast.expr)
    )


def _binds_only(target: gast.expr) -> bool:
    """Whether it binds names, and stores into no array or object."""
    if isinstance(target, gast.Starred):
        return _binds_only(target.value)
    if isinstance(target, (gast.Tuple, gast.List)):
        return all(map(_binds_only, target.elts))
    return isinstance(target, gast.Name)
