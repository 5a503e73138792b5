"""The tangent code of one statement of the core form.

A statement becomes itself and the statement of its tangent, in the order in which both
read what they need:

    y = np.tanh(x)                 x[0] = v                    xs.append(y)
    y_dot = x_dot * (1 - y**2)     x_dot[0] = v_dot            xs_dot.append(y_dot)

Containers have containers of tangents, views have the same views of tangents, and what
is written in place has a tangent that is written in place: so aliases stay aliases.
"""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.known_values import OPERATORS, UNARY
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Closure,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    Unknown,
    ageless,
    all_buffers,
    is_entry,
    is_number,
    join_all,
)
from srcjax.ops.record import Op, lookup
from srcjax.transforms.forward.calls import CallTangents
from srcjax.transforms.fresh import own
from srcjax.transforms.reasons import MOVES, Reason, because, why
from srcjax.transforms.rule_text import is_result_of_numpy
from srcjax.transforms.writer import OLD

#: What explained text says of what moves values and computes nothing.
CONSTANT = "a constant has no tangent: zero"

#: Values that carry no derivative, whatever is inside.
_INERT = (
    gast.Constant,
    gast.Compare,
    gast.JoinedStr,
    gast.Lambda,
    gast.Set,
    gast.BoolOp,
)


class Rules(CallTangents):
    """Writes tangent code; `code` holds the tangents of the statement at hand."""

    #: Inside a `try`, where no tangent may change before its value is known.
    attempting = False

    def differentiate(self, stmt: gast.stmt) -> list[gast.stmt]:
        """The statement with its tangents, in the order to execute."""
        self.stmt, self.code, self.reasons = stmt, [], ()
        self.envs = self.environments(stmt)
        handler = getattr(self, f"on_{type(stmt).__name__}", None)
        if handler is None:
            return [stmt]
        out: list[gast.stmt] = handler(stmt)
        for made in out:
            if made is not stmt:
                made.backward = True
                if not why(made):
                    because(made, *self.reasons)
                made.user_line = getattr(stmt, "user_line", None)
        return out

    # -- assignments ------------------------------------------------------------------

    def on_Assign(self, stmt: gast.Assign) -> list[gast.stmt]:
        target = stmt.targets[0]
        if isinstance(target, gast.Name):
            return self.define(stmt, target.id)
        if isinstance(target, (gast.Tuple, gast.List)):
            return self.unpack(stmt, target)
        if isinstance(target, (gast.Subscript, gast.Attribute)):
            return self.store(stmt, target)
        return [stmt]

    def define(self, stmt: gast.Assign, name: str) -> list[gast.stmt]:
        """`name = operation`."""
        replaced = self.call_with_tangent(name, stmt.value)
        if replaced is not None:
            return [*self.code, replaced]
        if not self.active(syntax.name(name)):
            return self.mirror_effect(stmt)
        value = stmt.value
        if isinstance(value, gast.Name) and isinstance(
            self.type_of_name(value.id), Closure
        ):
            return [stmt]  # another name for a function, which has no tangent
        if not self.hides_active(value):
            self.check_unseen(name, value)
        else:
            self.check_core(value)
        again = name in syntax.names_read(value)
        operand = (
            syntax.substitute(value, {name: syntax.name(name + OLD)})
            if again
            else value
        )
        tangent = self.tangent_of(name, operand, value)
        if tangent is None:
            if self.hides_active(value) and not self.has_rules(value):
                raise self.refuse(
                    f"`{syntax.text(value)}` cannot be differentiated",
                    "`srcjax.stop_gradient` if it is a constant here",
                )
            self.check_taken_out(name, value)
            here = self.facts.type_after(stmt, name) or UNKNOWN
            t = here if is_entry(here) else self.type_of_name(name)
            tangent = self.zero(t, syntax.name(name))
            self.reasons = (Reason(slot="tangent", said=CONSTANT),)
        tangent = self.typer.agree(tangent, self.envs)
        self.check_shared(name, value)
        made = syntax.assign(self.dot_name(name), tangent)
        made.augments = getattr(stmt, "augments", False)  # `x_dot += v_dot`, like `x`
        bound = self.facts.type_after(stmt, name)  # the name may hold others elsewhere
        t = self.type_of_name(name) if bound is None else ageless(bound)
        if self.must_be_fresh(t, tangent, value):
            made.fresh = True
            made.value = own(tangent, self.type_of(syntax.name(name)))
        elif isinstance(tangent, gast.Tuple) and self.has_rules(value):
            made.value = self.results_of_their_own(name, tangent, value)
        self.emit(made)
        return self.ordered(stmt, name)

    def check_taken_out(self, name: str, value: gast.expr) -> None:
        """Refuse writes to what was taken out of a container that has no tangent.

        `out = d.pop("a"); out[:] = x`: it has a tangent of its own, which no other name
        of the memory sees.
        """
        memory = self.type_of_name(name).buffers & self.written
        operands = syntax.names_read(value)
        held = [
            all_buffers(v.before[n])
            for v in self.facts.of(self.stmt)
            for n in operands & v.before.keys()
            if not isinstance(v.before[n], Array)
        ]
        if not memory.intersection(frozenset().union(*held)):
            return
        for other in sorted(self.types.keys() - operands - {name}):
            shares = all_buffers(self.type_of_name(other)) & memory
            if shares and syntax.count_reads(self.unit.node, other) > 1:
                raise self.refuse(
                    f"`{name}` is taken out of a container, and shares memory with "
                    f"`{other}`",
                    "a copy in the container: `.copy()`",
                )

    def has_rules(self, value: gast.expr) -> bool:
        """Whether the rules of an operation have said what becomes of each operand."""
        callees = self.facts.callees.get(id(value), [])
        return bool(callees) and all(isinstance(c, Op) for c in callees)

    def ordered(self, stmt: gast.Assign, name: str) -> list[gast.stmt]:
        """The definition and its tangents: each reads what is not overwritten yet."""
        code = self.code
        old = name + OLD
        reads_old = old in syntax.names_read(code)
        reads_new = name in syntax.names_read(code)
        before = {old: syntax.name(name)}
        if not reads_old:
            if self.changes_base(stmt.value):
                return [*code, stmt]
            return [stmt, *code]
        if not reads_new and not self.attempting:
            return [*(syntax.substitute(c, before) for c in code), stmt]
        new = self.unit.names.fresh(name)
        self.unit.temps.add(new)
        self.types[new] = self.type_of_name(name)
        first: Any = syntax.assign(new, stmt.value)
        first.is_value = True
        after = {name: syntax.name(new)}
        moved = [syntax.substitute(syntax.substitute(c, after), before) for c in code]
        return [first, *moved, syntax.assign(name, syntax.name(new))]

    def changes_base(self, value: gast.expr) -> bool:
        """`xs.pop(len(xs) - 1)`: the arguments look at what the call changes."""
        if not self.container_method(value):
            return False
        assert isinstance(value, gast.Call)
        base = getattr(value.func.value, "id", "")
        return base in syntax.names_read([*value.args, *value.keywords])

    def results_of_their_own(
        self, name: str, tangents: gast.Tuple, value: gast.expr
    ) -> gast.expr:
        """The tangents of an operation with several results, new where they have to be.

        So is `x_dot` in `(x_dot, zeros_like(x))` of `part, whole = np.modf(x)`.
        """
        t = self.type_of_name(name)
        if not isinstance(t, Tuple) or len(t.items) != len(tangents.elts):
            return tangents
        pairs = zip(tangents.elts, t.items, strict=True)
        owned = [
            own(e, item) if self.must_be_fresh(item, e, value) else e
            for e, item in pairs
        ]
        return gast.Tuple(owned, syntax.LOAD)

    def must_be_fresh(self, t: Type, tangent: gast.expr, value: gast.expr) -> bool:
        """Whether the tangent has to be a new array, as the value is.

        `y = x + 1` is a new array; its tangent `x_dot` is not. If `x` or `y` are
        written in place, or leave the function, the tangent has to be new as well.
        """
        if not isinstance(t, (Array, Unknown)) or self.may_alias(value):
            return False
        buffers = t.buffers | frozenset().union(
            *(all_buffers(self.type_of_name(n)) for n in self.sources(tangent))
        )
        return bool(buffers & (self.written | self.shared_out))

    def check_shared(self, name: str, value: gast.expr) -> None:
        """Refuse writes to a view of which the tangent is no view of the tangent.

        It is one where the tangent is a call like the user's own.
        """
        memory = self.type_of_name(name).buffers & self.written
        callees = self.facts.callees.get(id(value), []) if memory else []
        for callee in callees:
            if not isinstance(callee, Op) or callee.alias == "fresh" or callee.linear:
                continue
            operands = syntax.names_read(value)
            if any(all_buffers(self.type_of_name(n)) & memory for n in operands):
                raise self.refuse(
                    f"`{syntax.text(value)}` may share memory with an array that is "
                    "written in place",
                    "copy it first: `.copy()`",
                )

    def sources(self, tangent: gast.expr) -> list[str]:
        """The primal names whose tangents an expression reads."""
        places = self.places.place_of
        return [places[n][0] for n in syntax.names_read(tangent) if n in places]

    def may_alias(self, value: gast.expr) -> bool:
        """Whether the value itself shares memory with its operand."""
        if isinstance(value, (gast.Name, gast.Subscript)):
            return True
        if isinstance(value, gast.Attribute):
            return True
        callees = self.facts.callees.get(id(value), [])
        return any(
            isinstance(c, str) or (isinstance(c, Op) and c.alias != "fresh")
            for c in callees
        )

    def unpack(self, stmt: gast.Assign, target: Any) -> list[gast.stmt]:
        """`a, b = value`."""
        value = stmt.value
        active = [self.active(e) for e in target.elts]
        if not any(active):
            return self.mirror_effect(stmt)
        if not self.any_active(value) and not isinstance(value, gast.Call):
            for element, is_it in zip(target.elts, active, strict=True):
                if is_it:
                    zero = self.zero(self.type_of_name(element.id), element)
                    self.emit(syntax.assign(self.dot_name(element.id), zero))
            return [stmt, *self.code]
        holes = {n: syntax.name(n + OLD) for n in syntax.names_written(target)}
        tangent = self.tangent_of("", syntax.substitute(value, holes), value)
        names = [
            syntax.name(self.dot_name(e.id) if is_it else "_", store=True)
            for e, is_it in zip(target.elts, active, strict=True)
        ]
        if tangent is None:
            raise self.refuse(
                f"`{syntax.text(stmt)}` cannot be differentiated", "one name at a time"
            )
        tangent = self.typer.agree(tangent, self.envs)
        self.emit(gast.Assign([gast.Tuple(names, syntax.STORE)], tangent, None))
        back = {n + OLD: syntax.name(n) for n in holes}
        code = [syntax.substitute(c, back) for c in self.code]
        if set(back) & syntax.names_read(self.code):
            return [*code, stmt]
        return [stmt, *code]

    def store(self, stmt: gast.Assign, target: Any) -> list[gast.stmt]:
        """`base[index] = value`, `base.attribute = value`."""
        self.check_stored(stmt.value)
        if not self.active(target.value):
            if isinstance(target, gast.Attribute) and self.any_active(stmt.value):
                raise self.refuse(
                    f"`{syntax.text(target)} = ...` changes an object of unknown type",
                    "an object that is made in the function",
                )
            return [stmt]
        self.reasons = (MOVES,)
        place = syntax.clone(target)
        place.value = self.dot(target.value)
        value = self.dot(stmt.value)
        base = self.type_of(target.value)
        if not self.any_active(stmt.value) and isinstance(base, Array):
            value = syntax.const(0.0)
        value = self.typer.agree(value, self.envs)
        made = syntax.assign(place, value)
        made.fresh = not isinstance(base, Array)
        return [stmt, made]

    def on_AnnAssign(self, stmt: gast.AnnAssign) -> list[gast.stmt]:
        if stmt.value is None or not isinstance(stmt.target, gast.Name):
            return [stmt]
        return self.define(syntax.assign(stmt.target.id, stmt.value), stmt.target.id)

    def on_AugAssign(self, stmt: gast.AugAssign) -> list[gast.stmt]:
        """`x += v`, `x[i] *= v`, in place."""
        target = stmt.target
        base = target if isinstance(target, gast.Name) else target.value
        if not self.active(base):
            return [stmt]
        self.check_stored(stmt.value)
        place = syntax.clone(target)
        if isinstance(place, gast.Name):
            place.id = self.dot_name(place.id)
        else:
            place.value = self.dot(base)
        value, op = stmt.value, stmt.op
        active = self.any_active(value)
        rule = Reason(lookup(OPERATORS[type(op)]), "tangent", "a")
        self.reasons = (rule,) if isinstance(base, gast.Name) else ()
        if isinstance(op, (gast.Add, gast.Sub)):
            if not active and not isinstance(self.type_of(base), (List, Tuple)):
                return [stmt]
            added = self.typer.agree(self.dot(value), self.envs)
            return [stmt, gast.AugAssign(place, op, added)]
        if isinstance(op, gast.BitOr) and isinstance(self.type_of(base), Dict):
            return [stmt, gast.AugAssign(place, op, self.dot(value))]
        if not active and isinstance(op, (gast.Mult, gast.Div)):
            return [stmt, gast.AugAssign(place, op, syntax.clone(value))]
        if not active and isinstance(op, gast.Mod):
            return [stmt]
        return self.general_update(stmt, place, base)

    def general_update(
        self, stmt: gast.AugAssign, place: Any, base: gast.Name
    ) -> list[gast.stmt]:
        """`x[i] *= v` with a tangent of `v`: first the tangent, then the value."""
        read = syntax.as_load(syntax.clone(stmt.target))
        op = lookup(OPERATORS[type(stmt.op)])
        holder = self.unit.names.fresh("part")
        self.unit.temps.add(holder)
        self.types[holder] = join_all([self.type_of(read)]) or UNKNOWN
        for env in self.envs:
            env[holder] = self.typer.type_of(read, env)
        dot = self.dot_name(holder)
        self.unit.temps.add(dot)
        part = syntax.name(holder)
        operation = gast.BinOp(part, stmt.op, stmt.value)
        assert op is not None
        result = self.unit.names.fresh("result")
        self.unit.temps.add(result)
        tangents = self.apply_to_parts(result, op, operation, holder, stmt)
        holes = {
            holder: read,
            dot: syntax.as_load(syntax.clone(place)),
            result: syntax.clone(operation),
        }
        filled = syntax.substitute(syntax.substitute(tangents, holes), holes)
        self.code = [syntax.substitute(c, holes) for c in self.code]
        whole: Any = place
        if isinstance(place, gast.Name) and not is_number(self.type_of(base)):
            whole = gast.Subscript(syntax.as_load(place), syntax.const(...), None)
            if isinstance(self.type_of(base), Unknown):
                whole = place
        self.emit(syntax.assign(syntax.as_store(whole), filled))
        return [*self.code, stmt]

    def apply_to_parts(
        self, result: str, op: Op, operation: gast.BinOp, part: str, stmt: Any
    ) -> gast.expr:
        """The tangent of `result = part op value`, `part` being active."""
        from srcjax.analysis.types import with_active

        self.types[part] = with_active(self.types[part], True)
        for env in self.envs:
            env[result] = self.typer.type_of(operation, env)
        args = [operation.left, operation.right]
        found = self.apply(result, op, operation, args, {}, "np")
        if found is None:
            raise self.refuse(
                f"`{syntax.text(stmt)}` cannot be differentiated", "a plain assignment"
            )
        return self.typer.agree(found, self.envs)

    # -- statements for their effect ---------------------------------------------------

    def on_Expr(self, stmt: gast.Expr) -> list[gast.stmt]:
        """A call for its effect."""
        value = stmt.value
        if not isinstance(value, gast.Call):
            return [stmt]
        replaced = self.call_with_tangent(None, value)
        if replaced is not None:
            return [*self.code, replaced]
        return self.mirror_effect(stmt)

    def mirror_effect(self, stmt: Any) -> list[gast.stmt]:
        """The same effect on the tangents."""
        value = stmt.value
        if not isinstance(value, gast.Call):
            return [stmt]
        if isinstance(stmt, gast.Expr):
            mirrored = self.effect_of(value)
        else:
            mirrored = self.effect_of(value) if self.container_method(value) else None
        if mirrored is None:
            return [stmt]
        self.reasons = (MOVES,)
        mirrored = self.typer.agree(mirrored, self.envs)
        effect = gast.Expr(mirrored)
        if self.changes_base(value):
            return [*self.code, effect, stmt]
        return [stmt, *self.code, effect]

    def on_Delete(self, stmt: gast.Delete) -> list[gast.stmt]:
        mirrored = []
        for target in stmt.targets:
            if isinstance(target, gast.Subscript) and self.active(target.value):
                place = syntax.clone(target)
                place.value = self.dot(target.value)
                mirrored.append(place)
        if not mirrored:
            return [stmt]
        return [gast.Delete(mirrored), stmt]

    # -- values ------------------------------------------------------------------------

    def tangent_of(
        self, name: str, value: Any, original: gast.expr
    ) -> gast.expr | None:
        """The tangent of `name = value`; None for zero.

        `original` is the value as inference saw it: `value` may read an overwritten
        name under its old one.
        """
        if isinstance(value, _INERT):
            return None
        self.reasons = (MOVES,)
        if isinstance(value, (gast.Name, gast.Starred)):
            return self.dot(value) if self.any_active(value) else None
        handler = getattr(self, f"of_{type(value).__name__}", None)
        if handler is None:
            if not self.hides_active(value):
                return None
            raise self.refuse(
                f"`{syntax.text(value)}` cannot be differentiated",
                "`srcjax.stop_gradient` if it is a constant here",
            )
        found: gast.expr | None = handler(name, value, original)
        return found

    def of_BinOp(self, name: str, value: gast.BinOp, _: Any) -> gast.expr | None:
        operands = (value.left, value.right)
        types = [self.type_of(a) for a in operands]
        containers = [isinstance(t, (List, Tuple, Dict)) for t in types]
        if any(containers):
            if not any(map(self.any_active, operands)):
                return None
            if isinstance(value.op, gast.Mult):
                sides = [
                    self.dot(a) if c else syntax.clone(a)
                    for a, c in zip(operands, containers, strict=True)
                ]
                return gast.BinOp(sides[0], value.op, sides[1])
            return gast.BinOp(self.dot(value.left), value.op, self.dot(value.right))
        steps = self.steps.get(id(self.stmt))
        if steps is not None:
            return self.apply(name, steps.op, value, list(steps.args), {}, "np")
        op = lookup(OPERATORS[type(value.op)])
        if op is None:
            return None
        return self.apply(name, op, value, [value.left, value.right], {}, "np")

    def of_UnaryOp(self, name: str, value: gast.UnaryOp, _: Any) -> gast.expr | None:
        op = lookup(UNARY[type(value.op)])
        if op is None:
            return None
        return self.apply(name, op, value, [value.operand], {}, "np")

    def of_Tuple(self, name: str, value: Any, _: Any) -> gast.expr | None:
        return self.dot(value)

    of_List = of_Tuple

    def of_Dict(self, name: str, value: gast.Dict, _: Any) -> gast.expr | None:
        keys = [None if k is None else syntax.clone(k) for k in value.keys]
        return gast.Dict(keys, [self.dot(v) for v in value.values])

    def of_Subscript(
        self, name: str, value: gast.Subscript, _: Any
    ) -> gast.expr | None:
        if not self.active(value.value):
            return None
        tangent = self.as_owner(value, value.value, self.dot(value.value))
        return gast.Subscript(tangent, syntax.clone(value.slice), syntax.LOAD)

    def of_Attribute(
        self, name: str, value: gast.Attribute, _: Any
    ) -> gast.expr | None:
        base = value.value
        if not self.active(base):
            return None
        t = self.type_of(base)
        if isinstance(t, Tuple) and is_result_of_numpy(t.cls):
            place = t.cls._fields.index(value.attr)  # type: ignore[union-attr]
            return gast.Subscript(self.dot(base), syntax.const(place), syntax.LOAD)
        if isinstance(t, Object) or (isinstance(t, Tuple) and t.cls is not None):
            return gast.Attribute(self.dot(base), value.attr, syntax.LOAD)
        op = self.attribute_op(value)
        return self.apply(name, op, value, [base], {}, "np")
