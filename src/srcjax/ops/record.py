"""One operation, all its rules side by side, in one record.

Rules are real Python, pasted into the output with names substituted:

    @adjoint(np.tanh)
    def _(y, x):
        d[x] = d[y] * (1 - y * y)

In a rule, `d[v]` is the adjoint of `v`; assigning to `d[x]` contributes to it. In a
tangent rule, `d[v]` is the tangent. The rule's first parameter is the operation's
result, the others are its arguments under the names of its signature. A rule may call
helpers of `srcjax.runtime`; where the types are known, `srcjax.ops.expand` replaces
the call by the plain expression that it stands for.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import Type


@dataclass
class Template:
    """The body of a rule, as a tree, with its parameter names and defaults."""

    body: list[gast.stmt]
    parameters: tuple[str, ...]
    globals: dict[str, Any]

    def reads(self, parameter: str) -> bool:
        """Whether the rule needs the value of the parameter."""
        return any(
            isinstance(node, gast.Name)
            and node.id == parameter
            and not getattr(node, "adjoint_key", False)
            for node in syntax.walk(self.body)
        )


@dataclass
class Op:
    """An operation and everything srcjax knows about it."""

    name: str
    signature: inspect.Signature
    infer: Callable[..., Type] | None = None
    adjoint: Template | None = None
    tangent: Template | None = None
    batch: Any = None
    kernel: str | None = None
    #: "fresh": the result shares no memory; "view": it always shares its first
    #: argument's; "maybe": it may; "same": it is the argument itself.
    alias: str = "fresh"
    #: No derivative flows through the result (comparison, index, shape, constructor).
    inert: bool = False
    #: Shape of the result is the broadcast of the arguments' shapes.
    elementwise: bool = False
    #: The adjoint rule takes a number where all of the seed's items are that number.
    spreads: bool = False
    #: Cheap enough to compute again rather than save.
    cheap: bool = False
    #: Arguments that a derivative can flow through.
    differentiable: tuple[str, ...] = ()
    #: Arguments that the call writes to (`np.copyto`, `out=`).
    writes: tuple[str, ...] = ()
    functions: list[Any] = field(default_factory=list)

    def bind(self, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Arguments by parameter name; absent ones are left out, but `*args` is `()`.

        Raises TypeError for an argument that the signature does not have.
        """
        bound = dict(self.signature.bind(*args, **kwargs).arguments)
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                bound.setdefault(name, ())
        return bound


#: Operations by the resolved function object.
TABLE: dict[int, Op] = {}
#: Operations behind the methods and attributes of arrays, by name.
METHODS: dict[str, Op] = {}
ATTRIBUTES: dict[str, Op] = {}
#: Keeps the functions alive, so that an id is never used again.
_ALIVE: list[Any] = []


def lookup(function: Any) -> Op | None:
    """The operation behind a function object, None if srcjax has no record of it."""
    return TABLE.get(id(function))


def operation(
    *functions: Any,
    name: str | None = None,
    signature: str | None = None,
    methods: Iterable[str] = (),
    attributes: Iterable[str] = (),
    **slots: Any,
) -> Op:
    """Declare (or extend) the operation that the function objects stand for.

    `signature` is text such as `"x, axis=None, *, keepdims=False"`; without it the
    first function's own signature is taken. `methods` are names of ndarray methods
    that mean the same with the array as the first argument.
    """
    found = next((TABLE[id(f)] for f in functions if id(f) in TABLE), None)
    if found is None:
        first = functions[0]
        shown = name or f"{getattr(first, '__module__', '')}.{first.__name__}".lstrip(
            "."
        )
        shown = shown.replace("_operator.", "operator.")
        parsed = parse_signature(signature) if signature else inspect.signature(first)
        found = Op(shown, parsed)
    for slot, value in slots.items():
        if not hasattr(found, slot):
            raise TypeError(f"an operation has no slot {slot!r}")
        setattr(found, slot, value)
    for function in functions:
        _ALIVE.append(function)
        TABLE[id(function)] = found
        if function not in found.functions:
            found.functions.append(function)
    for method in methods:
        METHODS[method] = found
    for attribute in attributes:
        ATTRIBUTES[attribute] = found
    return found


@functools.cache
def parse_signature(text: str) -> inspect.Signature:
    """The signature that `def f(<text>)` has."""
    scope: dict[str, Any] = {}
    exec(f"def f({text}): ...", {}, scope)
    return inspect.signature(scope["f"])


def adjoint(*functions: Any, **options: Any) -> Callable[[Callable], Op]:
    """Decorator: the function is the adjoint rule of the operation.

    Its parameters after the first give the operation's signature, unless the
    operation was declared before. Options are those of `operation`.
    """
    return _rule_decorator("adjoint", functions, options)


def tangent(*functions: Any, **options: Any) -> Callable[[Callable], Op]:
    """Decorator: the function is the tangent (forward mode) rule of the operation."""
    return _rule_decorator("tangent", functions, options)


def _rule_decorator(slot: str, functions: Any, options: dict) -> Callable:
    def decorate(rule: Callable) -> Op:
        parameters = list(inspect.signature(rule).parameters.values())[1:]
        template = read_template(rule)
        if lookup(functions[0]) is None and "signature" not in options:
            shown = str(inspect.Signature(parameters))
            options["signature"] = shown[1:-1]
        op = operation(*functions, **options)
        setattr(op, slot, template)
        if slot == "adjoint":
            op.differentiable = contributions(template)
        return op

    return decorate


def read_template(rule: Callable) -> Template:
    """Parse the source of a rule."""
    source = textwrap.dedent(inspect.getsource(rule))
    definition = gast.parse(source).body[0]
    parameters = tuple(inspect.signature(rule).parameters)
    return make_template(definition.body, parameters, rule.__globals__)


def make_template(
    body: list[gast.stmt], parameters: tuple[str, ...], globals: dict[str, Any]
) -> Template:
    """A template from parsed statements; `d[...]` keys are marked as no value reads."""
    body = [s for s in body if not _is_docstring(s)]
    for node in syntax.walk(body):
        if isinstance(node, gast.Subscript) and syntax.is_name(node.value, "d"):
            node.slice.adjoint_key = True
    return Template(body, parameters, globals)


def contributions(template: Template) -> tuple[str, ...]:
    """The parameters whose adjoint the rule contributes to."""
    found = []
    for node in syntax.walk(template.body):
        if (
            isinstance(node, gast.Subscript)
            and isinstance(node.ctx, gast.Store)
            and syntax.is_name(node.value, "d")
            and node.slice.id not in found
        ):
            found.append(node.slice.id)
    return tuple(found)


def elementwise(
    functions: Any, *partials: str | None, kernel: str | None = None, **options: Any
) -> Op:
    """Declare an elementwise operation in one row.

    `partials` are the directional derivatives, one per argument, written with `d` for
    the direction: `"d * (1 - y**2)"` for tanh. Arguments are `x`, or `a, b` (`a, b, c`
    for three), the result is `y`; None says that no derivative flows through that
    argument (or that it is zero). Being linear in `d` and elementwise, one expression
    serves as the adjoint (with `d` the adjoint of `y`, summed to the argument's shape)
    and as the tangent (with `d` the tangent of the argument).
    """
    if not isinstance(functions, tuple):
        functions = (functions,)
    names = ("x",) if len(partials) == 1 else ("a", "b", "c", "e")[: len(partials)]
    frame = inspect.currentframe()
    assert frame is not None and frame.f_back is not None
    scope = frame.f_back.f_globals
    options.setdefault("signature", ", ".join(names))
    op = operation(*functions, elementwise=True, kernel=kernel, **options)
    op.differentiable = tuple(
        n for n, p in zip(names, partials, strict=True) if p is not None
    )
    op.inert = not op.differentiable
    back, forward = [], []
    for argument, partial in zip(names, partials, strict=True):
        if partial is None:
            continue
        seed = syntax.expression("d[y]")
        value = syntax.expression(partial, d=seed)
        if len(names) > 1:
            value = syntax.expression(f"unbroadcast(v, {argument})", v=value)
        back += syntax.statements(f"d[{argument}] = v", v=value)
        seed = syntax.expression(f"d[{argument}]")
        value = syntax.expression(partial, d=seed)
        forward += syntax.statements("d[y] = v", v=value)
    parameters = ("y", *names)
    op.adjoint = make_template(back, parameters, scope)
    op.tangent = make_template(forward, parameters, scope)
    return op


def inert(*functions: Any, **options: Any) -> None:
    """Declare functions whose results carry no derivative."""
    for function in functions:
        chosen = dict(options)
        if "signature" not in chosen:
            try:
                inspect.signature(function)
            except (TypeError, ValueError):
                chosen["signature"] = "*args, **kwargs"
        operation(function, inert=True, **chosen)


def _is_docstring(stmt: gast.stmt) -> bool:
    return isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant)
