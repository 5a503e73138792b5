"""The functions that `vmap` gives."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Dict,
    List,
    Object,
    Tuple,
    Type,
    is_active,
    is_number,
    map_parts,
    parts,
    replace,
)
from srcjax.errors import ArgumentError, error_at
from srcjax.frontend.unit import Unit
from srcjax.transforms.batch.dtypes import where_several_dtypes_show
from srcjax.transforms.batch.gathered import check_rows
from srcjax.transforms.batch.lane_loops import LaneLoops
from srcjax.transforms.batch.lanes import batch_type
from srcjax.transforms.batch.results import expected, leaves, with_axes
from srcjax.transforms.callees import Callees
from srcjax.transforms.inferred import given_as
from srcjax.transforms.reasons import Reason, because
from srcjax.transforms.signatures import copies_of_written, user_parameters
from srcjax.transforms.unfollowed_calls import check_calls
from srcjax.transforms.written import Written

#: What explained text says of the number of examples.
SIZE = Reason(slot="batch", said="how many examples there are")


class Batch:
    """The batched form of one unit."""

    def __init__(self, program: Program, unit: Unit, callees: Callees) -> None:
        self.program = program
        self.unit = unit
        self.rules = LaneLoops(program, unit, callees)

    def callee(self, name: str, wrt: list[str]) -> Written:
        """`g_batch(x, w, batch_size)`: mapped arguments carry the batch first."""
        rules = self.rules
        arguments = user_parameters(self.unit, rules.needs)
        plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        names = [gast.Name(a.id, gast.Param(), None, None) for a in plain]
        size = gast.Name(rules.size, gast.Param(), None, None)
        new = gast.arguments([*names, size], [], None, [], [], None, [])
        body = self.body(wrt)
        node = gast.FunctionDef(name, new, body, [], None, None, [])
        return self.written(node, wrt)

    def write(
        self,
        name: str,
        wrt: list[str],
        in_axes: dict[str, Any],
        out_axes: Any,
        axis_size: int | None,
        form: str | None = None,
    ) -> Written:
        """`vmap_f(x, w)`; `in_axes` by parameter name, an int or None each.

        `axis_size` is the number of examples where no argument is mapped. A function
        that calls itself has a batched form of that name, which is called.
        """
        rules = self.rules
        arguments = user_parameters(self.unit, rules.needs)
        head: list[gast.stmt] = []
        sized = False
        for parameter in wrt:
            t = rules.examples.get(parameter, UNKNOWN)
            axis = in_axes.get(parameter, 0)
            value: gast.expr = syntax.name(parameter)
            if any(each not in (0, None) for each in leaves(axis)):
                moved = syntax.call("move_axes", value, _literal(axis), syntax.const(0))
                if isinstance(axis, int) and isinstance(t, Array):
                    flat = t.shape is not None and len(t.shape) == 1
                    text = "x.T" if flat else "np.moveaxis(x, a, 0)"
                    if rules.written:  # views are views in this layout only
                        text = f"np.ascontiguousarray({text})"
                    moved = syntax.expression(text, x=value, a=_literal(axis))
                elif isinstance(axis, int) and is_number(t):
                    moved = value
                if moved is not value:
                    head.append(syntax.assign(parameter, moved))
            if not sized:
                source = self.sized(value, t)
                head.append(syntax.assign(rules.size, source))
                because(head[-1], SIZE)
                sized = True
        if not sized:
            head.append(syntax.assign(rules.size, syntax.const(axis_size)))
        head += copies_of_written(rules)
        body = [*head, *(self.body(wrt) if form is None else self.call_of(form, wrt))]
        last = body[-1]
        assert isinstance(last, gast.Return)
        last.value = with_axes(last.value, self.result, out_axes)
        node = gast.FunctionDef(name, arguments, body, [], None, None, [])
        return self.written(node, wrt)

    def written(self, node: gast.FunctionDef, wrt: list[str]) -> Written:
        """The function, with a name for each value."""
        rules = self.rules
        rules.split_webs(node)
        return Written(
            node, self.unit, rules, None, wrt, forward=True, gathers=rules.gathers
        )

    def sized(self, value: gast.expr, t: Type) -> gast.expr:
        """The number of examples, from a mapped argument."""
        if isinstance(t, (Tuple, List)) and parts(t):
            for k, part in enumerate(parts(t)):
                if is_active(part):
                    item = gast.Subscript(value, syntax.const(k), syntax.LOAD)
                    return self.sized(item, part)
        if isinstance(t, Dict) and t.items:
            for key, part in t.items:
                if is_active(part):
                    item = gast.Subscript(value, syntax.const(key), syntax.LOAD)
                    return self.sized(item, part)
        if isinstance(t, Object):
            for key, part in t.items:
                if is_active(part):
                    return self.sized(gast.Attribute(value, key, syntax.LOAD), part)
        return syntax.call("len", value)

    def call_of(self, form: str, wrt: list[str]) -> list[gast.stmt]:
        """`return f_batch(x, batch_size)`."""
        args: list[gast.expr] = [syntax.name(n) for n in self.unit.parameters]
        call = gast.Call(syntax.name(form), [*args, self.rules.count()], [])
        done: list[gast.stmt] = syntax.clone([*self.late(wrt), gast.Return(call)])
        return done

    def late(self, wrt: list[str]) -> list[gast.stmt]:
        """Batches of the parameters that are mapped in some calls only."""
        rules = self.rules
        out: list[gast.stmt] = []
        for parameter in self.unit.parameters:
            t = rules.examples.get(parameter, UNKNOWN)
            if parameter in wrt or not is_active(t):
                continue
            value = rules.spread(
                syntax.name(parameter), _unmapped(t), t, rules.dtypes.get(parameter)
            )
            out.append(syntax.assign(parameter, value))
        return out

    def body(self, wrt: list[str]) -> list[gast.stmt]:
        """The statements; parameters that are mapped later are spread first."""
        rules = self.rules
        check_calls(rules)
        check_rows(self.unit, rules.facts, rules.examples, self.refuse_row)
        self.check_dtypes()
        out = self.late(wrt)
        out += rules.declarations()
        out += rules.block(self.unit.node.body[:-1])
        last = self.unit.node.body[-1]
        assert isinstance(last, gast.Return)
        rules.stmt = last
        result: Any = last.value if last.value is not None else syntax.const(None)
        want = self.result
        have = rules.example(result)
        value = rules.spread(rules.shapes(result), have, want, None)
        end = gast.Return(value)
        end.user_line = getattr(last, "user_line", None)
        done: list[gast.stmt] = syntax.clone([*out, end])
        return done

    def check_dtypes(self) -> None:
        """Refuse arrays that are whole numbers for some examples, where that shows."""
        rules = self.rules
        shown = where_several_dtypes_show(
            rules.values_given,
            self.program,
            self.unit,
            rules.dtypes,
            lambda name: is_active(rules.examples.get(name, UNKNOWN)),
        )
        if shown is not None:
            name, rules.stmt = shown
            raise rules.refuse(
                f"of which dtype the array `{name}` is, differs between examples, or "
                "on the way",
                "an array of floats from the start",
            )

    def refuse_row(self, stmt: gast.stmt) -> Exception:
        self.rules.stmt = stmt
        found: Exception = self.rules.refuse(
            "a row that differs between examples and an array it is a view of, one of "
            "which is written to while the other is in use",
            "`x[i] = v`, or a copy of the row",
        )
        return found

    @property
    def result(self) -> Type:
        """The type of what the unit returns, for one example."""
        key = id(self.unit.source.func)
        return self.program.facts.results.get(key, UNKNOWN)

    def give_axes(self, out_axes: Any) -> None:
        """Each part of the result that has an axis carries the batch.

        Raises:
            ArgumentError: out_axes does not fit the result, or is None for a part that
                differs between examples.
        """
        source = self.unit.source
        last = self.unit.node.body[-1]
        where = last if hasattr(last, "lineno") else source.node

        def refuse(reason: str, instead: str) -> Exception:
            return error_at(ArgumentError, source, where, reason, instead)

        found = expected(self.result, out_axes, "the result", refuse)
        self.program.facts.results[id(source.func)] = found


def batched(types: dict[str, Type], in_axes: dict[str, Any]) -> dict[str, Type]:
    """The types of the arguments at the top, from those for one example."""
    found = {}
    for name, t in types.items():
        first = type(in_axes.get(name, 0)) is int and in_axes.get(name, 0) == 0
        batch = batch_type(t) if first or not is_active(t) else _of_any_shape(t)
        found[name] = given_as(batch, ("param", name))
    return found


def _of_any_shape(t: Type) -> Type:
    """A batch of which it is not said where its axis is."""
    t = map_parts(t, _of_any_shape)
    batch = batch_type(t)
    return replace(batch, shape=None) if isinstance(batch, Array) else batch


def _unmapped(t: Type) -> Type:
    from srcjax.analysis.types import with_active

    return with_active(t, False)


def _literal(value: Any) -> gast.expr:
    return syntax.expression(repr(value))


__all__ = ["Batch"]
