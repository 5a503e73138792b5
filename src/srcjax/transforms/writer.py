"""What every transform keeps while it writes the new form of one unit.

`Writer` is the base of reverse, forward and batch; `DerivativeWriter` of the first two.
The passes that simplify ask the same object about the names of what it wrote.
"""

from __future__ import annotations

import difflib
import inspect
from collections import defaultdict
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.binding import hiding
from srcjax.analysis.custom import CustomTangent
from srcjax.analysis.known_values import class_of, has_attribute
from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Closure,
    Const,
    Object,
    Scalar,
    Type,
    is_active,
    is_number,
    join_all,
    with_active,
    without_buffers,
)
from srcjax.errors import NoRuleError, SrcjaxError, UnsupportedError, error_at
from srcjax.frontend.unit import Unit
from srcjax.ops.record import ATTRIBUTES, Op
from srcjax.transforms.places import Places, rebuild, record_class
from srcjax.transforms.reasons import Reason, because
from srcjax.transforms.specialise import Env, Typer
from srcjax.transforms.steps import written_out

#: Suffix of the name under which an overwritten value is read by derivative code. It
#: is no part of an identifier: no name of the user's, nor of ours, ends so.
OLD = "@before"


class Writer:
    """The names and types of one unit, and the statement at hand."""

    def __init__(self, program: Program, unit: Unit) -> None:
        self.program = program
        self.facts = program.facts
        self.unit = unit
        self.typer = Typer(program, unit)
        #: Types of the unit's names, over the whole unit.
        self.types = program.types_of(unit)
        #: Buffers that the unit writes in place.
        self.written = program.writes_of(unit)
        #: Where adjoints (or tangents) live.
        self.places = Places(unit.names)
        #: Imports and values the generated code needs, by name.
        self.needs: dict[str, Any] = {}
        self.stmt: gast.stmt = unit.node

    def type_of_name(self, name: str) -> Type:
        """The type of a name of the unit, unknown if there is none."""
        return self.types.get(name, UNKNOWN)

    def derivative_name(self, base: str) -> str:
        """`dx` or `x_dot`, as a reader expects it."""
        return base

    def refuse(self, reason: str, instead: str, cls: type = UnsupportedError) -> Any:
        """The error that the statement at hand is not supported."""
        inside = getattr(self.stmt, "user_line", None)
        return error_at(cls, self.unit.source, self.stmt, reason, instead, inside)

    def operands_of(
        self, call: gast.Call, method: bool
    ) -> tuple[list[gast.expr], dict[str, gast.expr]]:
        """The arguments of an operation; that of a `method` is the first of them."""
        args = list(call.args)
        if method:
            args = [call.func.value, *args]
        if any(isinstance(a, gast.Starred) for a in args):
            raise self.refuse("`*args` in this call", "write the arguments out")
        return args, {k.arg: k.value for k in call.keywords}

    def rebuild(self, t: Type, parts: list[gast.expr]) -> gast.expr:
        """The display of a container from the displays of its parts."""
        cls = getattr(t, "cls", None)
        if cls is not None and cls not in (tuple, list, dict, defaultdict):
            cls = record_class(cls) if isinstance(t, Object) else cls
            self.needs[cls.__name__] = cls
        return rebuild(t, parts)

    def positional(self, call: gast.Call, function: Any) -> gast.Call:
        """The call of a function with its own rule, every argument by position."""
        if any(isinstance(a, gast.Starred) for a in call.args) or any(
            k.arg is None for k in call.keywords
        ):
            raise self.refuse(
                "`*args` or `**kwargs` in the call of a function with its own rule",
                "the arguments one by one",
            )
        keywords = {k.arg: k.value for k in call.keywords}
        try:
            bound = inspect.signature(function).bind(*call.args, **keywords)
        except TypeError as error:
            reason = f"the call does not fit: {error}"
            raise self.refuse(reason, "its own parameters") from error
        if bound.kwargs:
            named = ", ".join(f"`{n}`" for n in bound.kwargs)
            raise self.refuse(
                f"{named} cannot be put at a position in this call of a function with "
                "its own rule",
                "the arguments in front of it as well; a parameter that is "
                "keyword-only has to become one that has a position",
            )
        return gast.Call(call.func, list(bound.args), [])


class DerivativeWriter(Writer):
    """Writes adjoints or tangents; `code` is that of the statement at hand."""

    #: How messages call a rule, and the decorator that gives one.
    rule_name = "derivative rule"
    decorator = "adjoint"

    def __init__(self, program: Program, unit: Unit) -> None:
        super().__init__(program, unit)
        self.code: list[gast.stmt] = []
        #: Why the statements that are emitted are written.
        self.reasons: tuple[Reason, ...] = ()
        #: Types around the statement at hand, per variant.
        self.envs: list[Env] = []
        self.plain_types: dict[int, tuple[Type, Type]] = {}
        #: Functions that are written out in steps, by the last one.
        self.steps = written_out(program.facts, unit.node.body, self.types)

    def plain_type(self, t: Type) -> Type:
        """The type without what it says of derivatives and memory."""
        known = self.plain_types.get(id(t))
        if known is None:
            known = t, without_buffers(with_active(t, False))
            self.plain_types[id(t)] = known  # with the type, whose id is taken then
        return known[1]

    def with_names(self, value: gast.expr) -> gast.expr:
        """A part of a rule, with names that the function has for what it reads."""
        return value

    def emit(self, *stmts: gast.stmt) -> None:
        """Add statements to the code."""
        for stmt in stmts:
            because(stmt, *self.reasons)
        self.code.extend(stmts)

    def held(self, base: str, value: gast.expr, like: str | None = None) -> gast.Name:
        """Keep a value under a fresh name that may be nested away again.

        It has the type of the name `like`, if there is one.
        """
        name = self.unit.names.fresh(base)
        self.unit.temps.add(name)
        value = self.typer.agree(value, self.envs)
        self.emit(syntax.assign(name, value))
        for env in self.envs:
            if like is None:
                env[name] = self.typer.type_of(value, env)
            else:
                env[name] = env.get(like, UNKNOWN)
        return syntax.name(name)

    def type_of(self, value: gast.expr) -> Type:
        """The type of derivative code at this point, joined over the variants."""
        found = [self.typer.type_of(value, env) for env in self.envs or [{}]]
        return join_all(found) or UNKNOWN

    def active(self, node: Any) -> bool:
        """Whether the atom is a name that a derivative flows through."""
        return isinstance(node, gast.Name) and is_active(self.type_of_name(node.id))

    def any_active(self, value: Any) -> bool:
        """Whether a derivative flows through the operand, or a part of a display."""
        if isinstance(value, (tuple, list)):
            return any(map(self.any_active, value))
        if isinstance(value, (gast.Tuple, gast.List)):
            return any(map(self.any_active, value.elts))
        if isinstance(value, gast.Dict):
            return any(map(self.any_active, value.values))
        if isinstance(value, gast.Starred):
            return self.any_active(value.value)
        return self.active(value)

    def is_value(self, base: Any) -> bool:
        """Whether the base of an attribute is a value with methods of an array.

        It may be a module, also one in a variable, or an object with functions as its
        fields; an array may also be one from around the function.
        """
        chain = syntax.dotted(base)
        if not chain:
            return True
        root, *rest = chain.split(".")
        root = root.removesuffix(OLD)
        if root in self.types:
            t = self.types[root]
            return not rest and (is_number(t) or not isinstance(t, (Const, Object)))
        try:
            value = self.program.look(self.unit, root)
        except KeyError:
            return False
        for attribute in rest:
            value = getattr(value, attribute, None)
        return isinstance(value, np.ndarray)

    # -- operations and calls ----------------------------------------------------------

    def check_effect(self, call: gast.Call, callee: Any) -> None:
        """A call for its effect must leave differentiated values alone.

        What is not looked into was refused before (`unfollowed_calls`).
        """
        if isinstance(callee, (Op, type)) or callee is print:
            return
        if any(self.active(n) for n in syntax.walk(call)):
            raise self.refuse(
                f"`{syntax.text(call.func)}` may change a differentiated value",
                "return the new value instead",
            )

    def attribute_op(self, value: gast.Attribute) -> Op:
        """The operation that an attribute of a differentiated value is."""
        op = ATTRIBUTES.get(value.attr)
        if op is None:
            raise self.missing(value, NoRuleError) or self.refuse(
                f"attribute `{value.attr}` of a differentiated value is not known",
                "an operation that srcjax has a rule for, or a rule of your own",
                NoRuleError,
            )
        return op

    def not_followed(self, call: gast.Call) -> Exception:
        """The error that no derivative goes through a call."""
        for callee in self.facts.callees.get(id(call), []):
            if id(callee) in self.program.refusals:
                return self.program.refusals[id(callee)]  # at its own line
        shown = syntax.text(call.func)
        error: Exception = self.no_rule(shown)
        if any(isinstance(a, gast.Starred) for a in call.args):
            error = self.refuse(
                f"how many arguments the call of `{shown}` has is not known here",
                "write them out instead of `*args`, or give srcjax example arguments",
            )
        return error

    def no_rule(self, name: str) -> Any:
        """The error that an operation or function has no rule in this direction."""
        return self.refuse(
            f"`{name}` has no {self.rule_name}",
            f"give it one with `@srcjax.{self.decorator}({name})`, or wrap what needs "
            "no derivative in `srcjax.stop_gradient`",
            NoRuleError,
        )

    def is_real_number(self, node: Any) -> bool:
        """Whether an operand certainly is a float: no array, no integer."""
        if isinstance(node, gast.Constant):
            return isinstance(node.value, float)
        t = self.type_of_name(getattr(node, "id", ""))
        return isinstance(t, Scalar) and t.dtype is not None and t.dtype.kind == "f"

    def check_tangent_rule(self, callee: CustomTangent) -> None:
        """A function made by `custom_jvp` needs its rule in both directions."""
        if callee.rule is None:
            raise self.refuse(
                f"`{callee.__name__}` was made by custom_jvp but has no rule",
                f"`{callee.__name__}.defjvp(rule)`",
            )

    def check_closed(self, function: gast.expr) -> None:
        """A function that is not known must not hold differentiated values."""
        active = any(self.active(syntax.name(n)) for n in syntax.names_read(function))
        base = function.value if isinstance(function, gast.Attribute) else None
        t = self.types.get(base.id) if isinstance(base, gast.Name) else None
        if isinstance(t, Object) and isinstance(function, gast.Attribute):
            held = dict(t.items).get(function.attr)
            active = is_active(held) if held is not None else active
        if active:
            raise self.uses_active(function)

    def check_given(self, call: gast.Call) -> None:
        """Nothing that is made here and hides derivatives is given to such a function.

        Only arguments have, and what is in their lists, tuples and dicts.
        """
        for argument in call.args:
            found = hiding(self.type_of_name(getattr(argument, "id", "")))
            if found:
                raise self.refuse(
                    f"`{syntax.text(argument)}`, {found} made here, is given to "
                    f"`{syntax.text(call.func)}`, whose derivative is only found when "
                    "the program runs",
                    "what is needed of it, as arguments",
                )

    def check_unseen(self, name: str, value: gast.expr) -> None:
        """A call that is given nothing differentiated must not give what is.

        One of several functions does so by variables from around it.
        """
        if not isinstance(value, gast.Call):
            return
        callees = self.facts.callees.get(id(value), ())
        several = len(callees) > 1 and any(isinstance(c, Closure) for c in callees)
        given = (v.after.get(name) for v in self.facts.of(self.stmt))
        if several and any(t is not None and is_active(t) for t in given):
            raise self.uses_active(value.func)

    def uses_active(self, function: gast.expr) -> Exception:
        """The error that a function which is not known holds differentiated values."""
        error: Exception = self.missing(function) or self.refuse(
            f"which function `{syntax.text(function)}` is, is only known when "
            "the program runs, and it uses differentiated values from around it",
            "pass these values to it as arguments, or call each function in a "
            "branch of its own",
        )
        return error

    def missing(
        self, read: gast.expr, kind: type[SrcjaxError] = UnsupportedError
    ) -> Exception | None:
        """The error that a value has no such attribute; None if that is not known."""
        base = read.value if isinstance(read, gast.Attribute) else None
        t = self.types.get(base.id) if isinstance(base, gast.Name) else None
        if t is None or has_attribute(t, read.attr) is not False:
            return None
        cls: Any = t.cls if isinstance(t, Object) else class_of(t)
        owner = _KINDS.get(cls) or f"an object of the class `{cls.__name__}`"
        public = [name for name in dir(cls) if name[0] != "_"]
        close = difflib.get_close_matches(read.attr, public, 1, 0.7)
        error: Exception = self.refuse(
            f"{owner} has no attribute `{read.attr}`",
            f"`{close[0]}`" if close else _ANOTHER,
            kind,
        )
        return error


_ANOTHER = "one that it has: the function itself fails as well"
#: What users call values of these classes.
_KINDS: dict[Any, str] = {np.ndarray: "an array", float: "a number", list: "a list"}

__all__ = ["OLD", "DerivativeWriter", "Writer"]
