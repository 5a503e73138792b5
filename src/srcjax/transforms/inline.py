"""Put the body of a called function in place of the call.

Inlined are functions that have no text of their own to call: closures and lambdas of
the program, functions that get such a function as an argument, functions that write to
their arguments, methods of objects the program made; and functions so small that they
read better in place.
"""

from __future__ import annotations

import builtins
import functools
import inspect
from itertools import chain
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.binding import BoundTo, signature_inside, signature_of
from srcjax.analysis.program import Program
from srcjax.analysis.types import Closure
from srcjax.errors import UnsupportedError, error_at
from srcjax.frontend.lift import own_nodes
from srcjax.frontend.normalise import normalise_nested
from srcjax.frontend.unit import Unit, parameter_names
from srcjax.ops.patched import NAMED_MODULES
from srcjax.transforms.call_effects import is_composite

SMALL = 2


def drop_annotations(body: list[gast.stmt]) -> None:
    """Inner functions without what they say of types, which names other names."""
    for node in syntax.walk(body):
        if isinstance(node, gast.FunctionDef):
            node.returns = None
            for part in syntax.walk(node.args):
                if isinstance(part, gast.Name) and isinstance(part.ctx, gast.Param):
                    part.annotation = None


class Inliner:
    """Inlines calls of one unit."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program = program
        self.unit = unit

    @functools.cached_property
    def own(self) -> set[str]:
        """The names that the unit binds; what is put in place has names of its own."""
        return syntax.names_written(self.unit.node) | set(self.unit.parameters)

    def expand(
        self,
        call: gast.Call,
        callee: Any,
        target: str | None,
        unfolds: bool = False,
    ) -> list[gast.stmt] | None:
        """The statements that stand for `target = call`, None if not inlined.

        Args:
            unfolds: whether it is of a function that calls itself, which then stands
                there as it was before types decided anything in it.
        """
        if isinstance(callee, Closure):
            definition = callee.definition
            return self.paste(call, definition, None, target, [])
        owner: list[gast.expr] = []
        function = callee
        if isinstance(callee, BoundTo):
            function = callee.function
            called = call.func
            if callee.itself:
                owner = [called]
            elif isinstance(called, gast.Name):
                owner = [self.kept_owner(call, called.id)]
            else:
                owner = [called.value]
        elif inspect.ismethod(callee):
            function = callee.__func__
            owner = [syntax.name(self.constant(callee.__self__, "self"))]
        unit = self.program.units.get(id(function))
        if unit is None:
            return None
        return self.paste(call, unit.source.node, unit, target, owner, unfolds)

    def kept_owner(self, call: gast.Call, name: str) -> gast.expr:
        """The object whose method `name` is: `m = obj.method`, then `m(x)`."""
        body = self.unit.node.body
        for stmt in syntax.walk(body):
            if (
                isinstance(stmt, gast.Assign)
                and syntax.is_name(stmt.targets[0], name)
                and isinstance(stmt.value, gast.Attribute)
                and isinstance(stmt.value.value, gast.Name)
            ):
                owner = stmt.value.value.id
                looped = any(
                    owner in syntax.names_written(loop)
                    for loop in syntax.walk(body)
                    if isinstance(loop, (gast.For, gast.While))
                )
                once = all(
                    syntax.count_bindings(self.unit.node, n) == 1 for n in (name, owner)
                )
                if once and not looped:
                    return stmt.value.value
        raise self.refuse(
            call, "a method that was kept in a variable, of an object that may change"
        )

    def paste(
        self,
        call: gast.Call,
        definition: Any,
        callee: Unit | None,
        target: str | None,
        owner: list[gast.expr],
        unfolds: bool = False,
    ) -> list[gast.stmt]:
        """Bind the arguments to fresh names and append the renamed body."""
        unit = self.unit
        arguments = definition.args if callee is None else callee.node.args
        bound = self.bind(call, arguments, callee, owner)
        if callee is not None:
            callee = self.in_core_form(callee, bound)
        #: What is written so, and no temporary, whatever has its name around it.
        own: set[str] = set()
        if callee is None:
            parameters = parameter_names(arguments)
            own = syntax.names_written(definition.body) | set(parameters)
            free = syntax.all_names(definition) & unit.varying
            body = normalise_nested(definition, unit, [*parameters, *free])
        else:
            parameters = callee.parameters
            whole = callee.first if unfolds else None
            body = syntax.clone((whole or callee.node).body)
        body = [s for s in body if not isinstance(s, gast.Nonlocal)]
        drop_annotations(body)
        outer = _nonlocals(definition)
        local = (syntax.names_written(body) | set(parameters)) - outer
        renamed = {}
        for name in sorted(local):
            if name in unit.temps and callee is None and name not in own:
                continue
            # Not in the way of `list(...)` and the like, which settling may add.
            hides = hasattr(builtins, name)
            renamed[name] = unit.names.fresh(f"{name}_value" if hides else name)
            if callee is None or name in callee.varying or name in parameters:
                unit.varying.add(renamed[name])
            if callee is not None and name in callee.temps:
                unit.temps.add(renamed[name])
            unit.inlined.add(renamed[name])
        if callee is not None:
            renamed.update(self.free_names(body, local, callee))
        syntax.rename(body, renamed)
        unit.names.taken |= syntax.all_names(body)  # those of functions inside too
        out: list[gast.stmt] = []
        for name in parameters:
            out.append(syntax.assign(renamed.get(name, name), bound[name]))
        last = body.pop()
        assert isinstance(last, gast.Return)
        out += body
        if target is not None:
            stmt = syntax.assign(target, last.value)
            stmt.user_line = getattr(last, "user_line", None)
            out.append(stmt)
        # Errors show the call. Where memory is made in a user's function stays apart.
        ours = callee is not None and is_composite(callee.source.func)
        for node in own_nodes(out) if ours else chain(*syntax.blocks(out)):
            gast.copy_location(node, call)
        for stmt in out:
            if getattr(stmt, "user_line", None) is None:
                stmt.user_line = getattr(call, "user_line", None)
        return out

    def in_core_form(self, callee: Unit, bound: dict[str, gast.expr]) -> Unit:
        """The called function, in core form for all that may vary, by names.

        A value that does not vary where the call stands, as far as types are known, may
        do so later: an array that gets a derivative, or a batch axis, through a method
        that is not written out yet. No call is left then to be looked into again.
        """
        varying = self.unit.varying
        wanted = {n for n, v in bound.items() if syntax.names_read(v) & varying}
        if wanted <= callee.varying:
            return callee
        return self.program.widen(callee, wanted)

    def free_names(
        self, body: list[gast.stmt], local: set[str], callee: Unit
    ) -> dict[str, str]:
        """Globals of the callee under names that mean the same in this unit."""
        renamed = {}
        for name in sorted(syntax.names_read(body) - local):
            try:
                value = self.program.look(callee, name)
            except KeyError:
                continue
            mine: Any = _Absent
            if name not in self.own:
                try:
                    mine = self.program.look(self.unit, name)
                except KeyError:
                    # A variable may have it in statements that are not in place yet.
                    known = NAMED_MODULES.get(name)  # no variable has its name
                    if name not in self.unit.names.taken or known is value:
                        self.unit.extra[name] = value
                        self.unit.from_around.add(name)
                        self.unit.names.taken.add(name)
                        if self.program.is_whole(callee, name):
                            self.unit.whole.add(name)
                        continue
            if mine is value:
                self.unit.names.taken.add(
                    name
                )  # no variable takes its name from now on
            else:
                whole = self.program.is_whole(callee, name)
                renamed[name] = self.constant(value, name, True, whole)
        return renamed

    def constant(
        self, value: Any, base: str, from_around: bool = False, whole: bool = False
    ) -> str:
        """A free name of this unit that stands for the live value."""
        for name, known in self.unit.extra.items():
            kind = name in self.unit.from_around, name in self.unit.whole
            if known is value and kind == (from_around, whole):
                return name
        name = self.unit.names.fresh(base)
        self.unit.extra[name] = value
        if from_around:
            self.unit.from_around.add(name)
        if whole:
            self.unit.whole.add(name)
        return name

    def bind(
        self,
        call: gast.Call,
        arguments: gast.arguments,
        callee: Unit | None,
        owner: list[gast.expr],
    ) -> dict[str, gast.expr]:
        """The argument expression of each parameter, as Python would bind them."""
        source = callee.source if callee is not None else None
        if callee is None:
            signature = signature_inside(arguments)
        else:
            signature = signature_of(arguments, source)
        if any(isinstance(a, gast.Starred) for a in call.args) or any(
            k.arg is None for k in call.keywords
        ):
            raise self.refuse(
                call, "a call with `*args` or `**kwargs` of unknown length"
            )
        keywords = {k.arg: k.value for k in call.keywords}
        try:
            found = signature.bind(*owner, *call.args, **keywords).arguments
        except TypeError as error:
            raise self.refuse(call, f"the call does not fit: {error}") from None
        result: dict[str, gast.expr] = {}
        for name, parameter in signature.parameters.items():
            value = found.get(name, parameter.default)
            if parameter.kind is parameter.VAR_POSITIONAL:
                value = gast.Tuple(list(found.get(name, ())), syntax.LOAD)
            elif parameter.kind is parameter.VAR_KEYWORD:
                pairs = found.get(name, {})
                keys = [syntax.const(k) for k in pairs]
                value = gast.Dict(keys, list(pairs.values()))
            elif not isinstance(value, gast.AST):
                if syntax.is_literal(value):
                    value = syntax.const(value)
                else:
                    value = syntax.name(self.constant(value, name))
            result[name] = value
        return result

    def refuse(self, call: gast.Call, reason: str) -> Exception:
        return error_at(
            UnsupportedError,
            self.unit.source,
            call,
            reason,
            "write the call out: the method on its object, the arguments one by one",
        )


class _Absent:
    """No value."""


def _nonlocals(definition: Any) -> set[str]:
    """Names from around that the function, or one in it, binds.

    What a function in it binds may be a variable of this one: of each call another.
    """
    own: set[str] = set()
    inner: set[str] = set()
    bound = set(parameter_names(definition.args))
    body = definition.body
    waiting: list[Any] = list(body) if isinstance(body, list) else [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, gast.FunctionDef):
            bound.add(node.name)
            inner |= _nonlocals(node)
        elif isinstance(node, gast.Nonlocal):
            own |= set(node.names)
        elif isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
            bound.add(node.id)
        elif not isinstance(node, gast.Lambda):
            waiting += gast.iter_child_nodes(node)
    return own | (inner - (bound - own))
