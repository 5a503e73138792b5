"""The backward code of one statement of the core form."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.expressions import is_whole
from srcjax.analysis.flow.bindings import swap_pairs
from srcjax.analysis.known_values import OPERATORS, UNARY
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Tuple,
    Unknown,
    is_active,
    is_number,
    join_all,
)
from srcjax.ops.record import Op, lookup
from srcjax.transforms.call_effects import called
from srcjax.transforms.reasons import RENAMED, Reason
from srcjax.transforms.reverse.inplace_rules import InplaceRules
from srcjax.transforms.rule_text import family_of
from srcjax.transforms.writer import OLD


class Rules(InplaceRules):
    """Writes backward code; `code` is the group of the statement at hand."""

    # -- statements -------------------------------------------------------------------

    def differentiate(self, stmt: gast.stmt) -> list[gast.stmt]:
        """The backward code of a statement without control flow."""
        self.stmt, self.code, self.reasons = stmt, [], ()
        self.forward.pop(id(stmt), None)
        self.envs = self.environments(stmt)
        handler = getattr(self, f"on_{type(stmt).__name__}", None)
        if handler is not None:
            handler(stmt)
        done, self.code = self.code, []
        return done

    def on_Assign(self, stmt: gast.Assign) -> None:
        target = stmt.targets[0]
        pairs = swap_pairs(stmt)
        if pairs:
            self.swap(pairs)
        elif isinstance(target, gast.Name):
            self.define(target.id, stmt.value)
        elif isinstance(target, (gast.Tuple, gast.List)):
            self.unpack(target, stmt.value)
        elif isinstance(target, (gast.Subscript, gast.Attribute)):
            self.check_stored(stmt.value)
            if isinstance(target, gast.Subscript):
                self.store(target, stmt.value)
            else:
                self.store_attribute(target, stmt.value)

    def swap(self, pairs: list[tuple[str, str]]) -> None:
        """`a, b = b, a`: the adjoints trade their names as well."""
        if not any(self.has_adjoint(name) for name, _ in pairs):
            return
        for name, _ in pairs:
            self.ensure_buffer(name)
        new = gast.Tuple([self.adjoint(n) for n, _ in pairs], syntax.LOAD)
        old = [syntax.as_store(self.adjoint(n)) for _, n in pairs]
        self.reasons = (Reason(said="the values changed names: so do the adjoints"),)
        self.emit(gast.Assign([gast.Tuple(old, syntax.STORE)], new, None))

    def define(self, name: str, value: gast.expr) -> None:
        """`name = operation`: pass the adjoint of `name` on to the operands."""
        if id(self.stmt) in self.shadows.made:
            self.define_shadow(name, value)
            return
        if name in self.views:
            return
        if isinstance(value, gast.Call):
            callees = self.facts.callees.get(id(value), [])
            if len(callees) == 1 and isinstance(callees[0], str):
                self.define_by_method(name, value, callees[0])
                return
        if not self.active(syntax.name(name)) or not self.has_adjoint(name):
            unit = self.pairs.filling(self, value)
            if unit is not None:
                self.pairs.pair_call(self, name, value, unit)
            elif isinstance(value, gast.Call) and self.is_found_when_run(value):
                self.pairs.asked_call(self, name, value)
            self.places.kill(name)
            return
        if not self.hides_active(value):
            self.check_unseen(name, value)
            self.places.kill(name)
            return
        self.check_core(value)
        self.explode(name)
        handler = getattr(self, f"of_{type(value).__name__}", None)
        if handler is None:
            raise self.refuse(
                f"`{syntax.text(value)}` cannot be differentiated",
                "`srcjax.stop_gradient` if it is a constant here",
            )
        if name in syntax.names_read(value):
            self.define_in_terms_of_itself(name, value, handler)
            return
        self.consumed.clear()
        handler(name, value)
        self.check_consumed(name, value)
        self.places.kill(name)

    def define_by_method(self, name: str, value: gast.Call, method: str) -> None:
        """`name = xs.pop()`, where `xs` may be what had the name before."""

        def handler(name: str, value: gast.Call) -> None:
            self.container_call(name, value, method)

        if name in syntax.names_read(value) and self.has_adjoint(name):
            self.explode(name)
            self.define_in_terms_of_itself(name, value, handler)
            return
        handler(name, value)
        self.places.kill(name)

    def define_shadow(self, name: str, value: gast.expr) -> None:
        """An array whose adjoint is made beside it, in the forward sweep."""
        stmt: Any = self.stmt
        known = self.shadows.names
        if id(stmt) in self.shadows.fresh:
            adjoint = known[name]
            if self.runs_again:
                # The next backward sweep finds what this one has left.
                d = syntax.expression("v.copy()", v=syntax.name(adjoint))
                known[name] = self.held(adjoint, d, like=name).id
                whole = gast.Subscript(
                    syntax.name(adjoint), syntax.const(...), syntax.STORE
                )
                self.emit(syntax.assign(whole, syntax.const(0.0)))
            if self.hides_active(value):
                self.check_core(value)
                handler = getattr(self, f"of_{type(value).__name__}", None)
                if handler is None:
                    raise self.not_followed(value)
                if name in syntax.names_read(value):
                    old = name + OLD
                    value = syntax.substitute(value, {name: syntax.name(old)})
                    self.types[old] = self.type_of_name(name)
                    known[old] = adjoint + OLD
                    self.views[old] = (old, syntax.name(adjoint + OLD))
                    self.envs = self.environments(stmt, {name: old})
                self.consumed.clear()
                handler(name, value)
            known[name] = adjoint
        done = self.forward.get(id(stmt), [stmt])
        self.forward[id(stmt)] = [*done, syntax.clone(self.shadows.made[id(stmt)])]
        more = self.extra_defs.setdefault(id(stmt), [])
        if known[name] not in more:
            more.append(known[name])

    def is_found_when_run(self, value: gast.Call) -> bool:
        """Whether a function that is not known yet gets differentiated values."""
        callees = self.facts.callees.get(id(value), [])
        unknown = len(callees) > 1 or callees == [None]
        return unknown and self.hides_active(value)

    def check_consumed(self, name: str, value: gast.expr) -> None:
        """No part of an adjoint may be lost on its way (never a silent zero)."""
        if isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
            return
        callees = self.facts.callees.get(id(value), [])
        if any(isinstance(c, (Op, type)) for c in callees):
            return
        for place in self.places.of(name):
            if not any(
                place[1][: len(path)] == path for n, path in self.consumed if n == name
            ):
                raise self.refuse(
                    f"the derivative of a part of `{self.base(name)}` is not passed on",
                    "simpler containers",
                )

    def define_in_terms_of_itself(self, name: str, value: Any, handler: Any) -> None:
        """`x = f(x)`: the old x and the new x have one adjoint variable, in turn."""
        old = name + OLD
        operand = syntax.substitute(value, {name: syntax.name(old)})
        self.types[old] = self.type_of_name(name)
        variants = self.facts.of(self.stmt)
        self.envs = self.environments(self.stmt, {name: old})
        whole = self.type_of_name(name)
        before = join_all(v.before[name] for v in variants if name in v.before) or whole
        if isinstance(whole, Unknown) and isinstance(before, (Tuple, List, Dict)):
            before = whole  # `t = t[key]` down a tree: both are held in one way
        self.types[old] = before
        if name in self.indexed:
            self.indexed.add(old)
        if name in self.dynamic:
            self.dynamic.add(old)
        for place, variable in list(self.places.variables.items()):
            if place[0] == name:
                self.places.name((old, place[1]), self.earlier(variable))
        start = len(self.code)
        if not any(p[0] == old for p in self.places.variables):
            variable = self.places.variable(name, (), self.base(name))
            self.places.name((old, ()), self.earlier(variable))
        handler(name, operand)
        self.places.kill(name)
        moved = self.places.of(old)
        code = self.code[start:]
        for place in moved:
            state = self.places.present.pop(place)
            variable = self.places.variable(name, place[1], self.base(name))
            self.emit(syntax.assign(variable, syntax.name(state.variable)))
            self.places.present[(name, place[1])] = replace(state, variable=variable)
        _merge_old(self.code, start, len(code))

    def earlier(self, variable: str) -> str:
        """The variable of the adjoint before an assignment, while both exist."""
        if variable not in self.earlier_names:
            self.earlier_names[variable] = self.unit.names.fresh(variable)
            self.unit.temps.add(self.earlier_names[variable])
        return self.earlier_names[variable]

    # -- operations -------------------------------------------------------------------

    def of_Name(self, name: str, value: gast.Name) -> None:
        if not self.active(value):
            return
        self.reasons = (RENAMED,)
        if self.kind(name) == "split" and self.kind(value.id) == "split":
            for place in self.places.of(name):
                state = self.places.present[place]
                self.consumed.add(place)
                self.contribute(value.id, syntax.name(state.variable), place[1])
            return
        split = self.kind(value.id) == "split"
        if split:
            reader = self.type_of_name(value.id)
            d = self.whole_adjoint(name, full=False, reader=reader)
        else:
            d = self.adjoint(name, full=False)
        self.contribute(value.id, d)
        self.places.drop_ownership(value.id)

    def of_Constant(self, name: str, value: gast.Constant) -> None:
        """A constant has no adjoint."""

    def of_BinOp(self, name: str, value: gast.BinOp) -> None:
        steps = self.steps.get(id(self.stmt))
        if steps is not None:
            self.apply(name, steps.op, list(steps.args), {}, "np")
            return
        function = OPERATORS[type(value.op)]
        types = [
            self.types.get(getattr(a, "id", ""), UNKNOWN)
            for a in (value.left, value.right)
        ]
        if isinstance(value.op, gast.Add) and any(
            isinstance(t, (List, Tuple)) for t in types
        ):
            self.concatenated(name, value.left, value.right)
            return
        if isinstance(value.op, gast.Mult) and any(
            isinstance(t, (List, Tuple)) for t in types
        ):
            self.repeated(
                name,
                *(
                    (value.left, value.right)
                    if isinstance(types[0], (List, Tuple))
                    else (value.right, value.left)
                ),
            )
            return
        self.check_no_sequences(value)
        op = lookup(function)
        assert op is not None
        self.apply(name, op, [value.left, value.right], {}, "np")

    def check_no_sequences(self, value: gast.BinOp) -> None:
        """Sums and products of lists are other things than those of arrays."""
        if not isinstance(value.op, (gast.Add, gast.Mult)):
            return
        operands = value.left, value.right
        for operand, other in (operands, operands[::-1]):
            name = getattr(operand, "id", "")
            found = join_all(self.typer.type_of(other, env) for env in self.envs)
            if isinstance(value.op, gast.Add):
                fits = not isinstance(found, Array) and not is_number(found or UNKNOWN)
            else:
                fits = type(found) is Unknown or is_whole(found)
            unsure = any(type(env.get(name)) is Unknown for env in self.envs)
            if fits and unsure and name in self.names_of_sequences:
                raise self.refuse(
                    f"`{syntax.text(value)}` where `{name}` may be a list or a tuple",
                    "`np.array(...)` of it, or another name for it",
                )

    @functools.cached_property
    def names_of_sequences(self) -> set[str]:
        """Names that a list or tuple of differentiated values is bound to somewhere."""
        stmts = syntax.all_statements(self.unit.node.body)
        return {
            name
            for variants in map(self.facts.of, stmts)
            for variant in variants
            for name, t in variant.after.items()
            if isinstance(t, (List, Tuple)) and is_active(t)
        }

    def of_UnaryOp(self, name: str, value: gast.UnaryOp) -> None:
        op = lookup(UNARY[type(value.op)])
        if op is not None:
            self.apply(name, op, [value.operand], {}, "np")

    def of_Call(self, name: str, value: gast.Call) -> None:
        callees = self.facts.callees.get(id(self.original_call(value)), [])
        callee = callees[0] if len(callees) == 1 else None
        if isinstance(callee, str):
            self.container_call(name, value, callee)
            return
        if isinstance(callee, Op):
            method = isinstance(value.func, gast.Attribute) and self.is_value(
                value.func.value
            )
            args, keywords = self.operands_of(value, method)
            self.apply(name, callee, args, keywords, family_of(value))
            return
        if isinstance(callee, type):
            self.constructor(name, value, callee)
            return
        function = called(value)
        if function in ("list", "tuple") and len(value.args) == 1:
            self.sequence_copy(name, value)
            return
        if function == "dict" and not value.args:
            keys: list = [syntax.const(k.arg) for k in value.keywords]
            self.of_Dict(name, gast.Dict(keys, [k.value for k in value.keywords]))
            return
        if self.pairs.call(self, name, value, callee, len(callees)):
            return
        if self.hides_active(value):
            raise self.not_followed(value)

    def original_call(self, value: gast.Call) -> gast.expr:
        """The call node that inference saw (a copy may be at hand)."""
        return getattr(self.stmt, "value", value)

    def on_Expr(self, stmt: gast.Expr) -> None:
        """A call for its effect."""
        value = stmt.value
        if not isinstance(value, gast.Call):
            return
        callees = self.facts.callees.get(id(value), [])
        callee = callees[0] if len(callees) == 1 else None
        if isinstance(callee, str):
            if self.active(value.func.value):
                self.container_call(None, value, callee)
            return
        if isinstance(value.func, gast.Attribute) and value.func.attr == "fill":
            whole = gast.Subscript(value.func.value, syntax.const(...), syntax.STORE)
            self.store(whole, value.args[0])
            return
        reads = [n for n in syntax.walk(value) if self.active(n)]
        if reads and getattr(callee, "__name__", "") == "at":
            self.update_at(value, callee)
            return
        if isinstance(callee, Op) and callee.writes and reads:
            self.writing_call(callee)
            return
        unit = self.pairs.filling(self, value)
        if unit is not None:
            unused = self.unit.names.fresh("_")
            self.unit.temps.add(unused)
            self.pairs.pair_call(self, unused, value, unit)
            return
        self.check_effect(value, callee)


def _merge_old(code: list[gast.stmt], start: int, count: int) -> None:
    """Join `dx__before = e; dx = dx__before` when nothing stands between."""
    tail = code[start:]
    if len(tail) < 2:
        return
    last = tail[-1]
    if not (isinstance(last, gast.Assign) and isinstance(last.value, gast.Name)):
        return
    old = last.value.id
    writers = [s for s in tail[:-1] if old in syntax.names_written(s)]
    readers = [s for s in tail[:-1] if old in syntax.names_read(s)]
    if len(writers) == 1 and not readers:
        position = tail.index(writers[0])
        new = last.targets[0].id
        between = tail[position + 1 : -1]
        if not any(new in syntax.names_read(s) for s in between):
            writers[0].targets[0].id = new
            code.pop()
        else:
            moved = tail.pop(position)
            moved.targets[0].id = new
            reads = syntax.names_read(moved)
            rewritten = set().union(*(syntax.names_written(s) for s in between))
            if not reads & rewritten:
                tail[-1] = moved
                code[start:] = tail
            else:
                moved.targets[0].id = old
