"""Types of arguments and globals, and how arguments meet parameters."""

from __future__ import annotations

import inspect
from dataclasses import is_dataclass
from typing import Any, NamedTuple

import gast

from srcjax.analysis.custom import is_made
from srcjax.analysis.registered import node_of
from srcjax.analysis.types import (
    BOOL,
    INT,
    UNKNOWN,
    Closure,
    Const,
    Dict,
    List,
    Object,
    Other,
    Transformed,
    Tuple,
    Type,
    dtype_of,
    is_active,
    join_all,
    parts,
    replace,
    type_of,
)
from srcjax.frontend.unit import Unit

Env = dict[str, Type]


class BoundTo:
    """A method together with the type of the object it belongs to."""

    def __init__(
        self, function: Any, owner: Type, itself: bool = False, behind: str = ""
    ) -> None:
        self.function = function
        self.owner = owner
        #: Whether what is called is the object, and not a method of it.
        self.itself = itself
        #: Its name where an operator or a built-in function calls it, as `abs(v)` does.
        self.behind = behind

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, BoundTo)
            and self.function is other.function
            and self.itself is other.itself
            and self.behind == other.behind
        )

    def __hash__(self) -> int:
        return id(self.function)


def made_as_method(value: Any) -> Any:
    """What a transform made and a class has as a method, of a bound one: `model.step`.

    None for anything else.
    """
    bound = getattr(value, "function", None) if isinstance(value, BoundTo) else None
    made = value.__func__ if inspect.ismethod(value) else bound
    return made if made is not None and is_made(made) else None


def hiding(t: Type) -> str:
    """What in it may hold differentiated values that are followed only here."""
    if isinstance(t, Object) and not is_dataclass(t.cls) and node_of(t.cls) is None:
        return "an object"
    if isinstance(t, (Closure, Transformed)) and is_active(t):
        return "a function"
    method = getattr(t, "value", None)
    if isinstance(method, BoundTo) and hiding(method.owner):
        return "a method of an object"
    return next(filter(None, map(hiding, parts(t))), "")


#: Of how many items a list from around is known by each of them.
FEW = 16
#: Lists from around that had another number of items, or of other types, before: they
#: are known by what all items have in common. (By identity: a list that takes the place
#: of one that is gone is known less, not wrongly.)
RESIZED: set[int] = set()


def global_type(value: Any, name: str) -> Type:
    """The type of a live value that the program refers to."""
    found = type_of(value, ("global", name))
    if isinstance(found, Other):
        return Const(value=value)
    if isinstance(found, List):
        held = zip(list(value), found.items or (), strict=False)  # it may grow now
        items = tuple(unfolded(_object_type(v, t)) for v, t in held)
        if 0 < len(items) <= FEW and id(value) not in RESIZED:
            return List(False, found.buffers, items)
        return List(False, found.buffers, None, join_all(items))
    if isinstance(found, Dict) and found.items is not None:
        now = dict(value)  # a cache may lose what it had
        pairs = ((k, _object_type(now[k], t)) for k, t in found.items if k in now)
        return replace(found, items=tuple(pairs))
    return found


def loosened(t: Type) -> Type:
    """The type of what the program itself changes, of which it is not known to what."""
    if isinstance(t, Dict) and t.items is not None:
        values = join_all(loosened(item) for _, item in t.items)
        return replace(t, items=None, elem=values)
    if isinstance(t, List):
        items = t.items if t.items is not None else (t.elem,)
        known = [loosened(item) for item in items if item is not None]
        return replace(t, items=None, elem=join_all(known))
    found = unfolded(t)
    return UNKNOWN if isinstance(found, Const) and dtype_of(found) is None else found


def _object_type(value: Any, t: Type) -> Type:
    """The type of what a container from around holds: an object is the one it is."""
    return Const(value=value) if isinstance(t, Other) else t


def sized(value: int | tuple[int, ...]) -> Type:
    """The type of whole numbers from around: known sizes, which go by their names."""
    if isinstance(value, tuple):
        return Tuple(items=tuple(map(sized, value)))
    return replace(INT, size=value)


def unfolded(t: Type) -> Type:
    """The type of what may be another value of its kind next time."""
    if not isinstance(t, Const):
        return t
    if isinstance(t.value, bool):
        return BOOL
    if isinstance(t.value, (str, bytes)):
        return Other(cls=type(t.value))
    return UNKNOWN if t.value is None else t


def bind_types(unit: Unit, args: list[Type], kwargs: dict[str, Type]) -> Env:
    """Types of a unit's parameters for a call. Raises TypeError as Python would."""
    arguments = unit.node.args
    signature = signature_of(arguments, unit.source)
    bound = signature.bind(*args, **kwargs)
    env: Env = {}
    for name, parameter in signature.parameters.items():
        if name in bound.arguments:
            value = bound.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                env[name] = Tuple(items=tuple(value))
            elif parameter.kind is parameter.VAR_KEYWORD:
                env[name] = Dict(False, frozenset([name]), tuple(value.items()))
            else:
                env[name] = value
        elif parameter.kind is parameter.VAR_POSITIONAL:
            env[name] = Tuple()
        elif parameter.kind is parameter.VAR_KEYWORD:
            env[name] = Dict(False, frozenset([name]), ())
        else:
            default = unit.source.defaults[name]
            env[name] = default_type(default, name)
    return env


def default_type(value: Any, name: str) -> Type:
    """The type of a default: numbers count as known constants."""
    if type(value) in (int, float):
        return Const(value=value)
    return global_type(value, name)


def signature_of(arguments: gast.arguments, source: Any) -> inspect.Signature:
    """The call signature of a definition (defaults by presence)."""
    kinds = inspect.Parameter
    found = []

    def add(name: str, kind: Any) -> None:
        default = source.defaults.get(name, kinds.empty) if source else kinds.empty
        if kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD):
            default = kinds.empty
        found.append(kinds(name, kind, default=default))

    for a in arguments.posonlyargs:
        add(a.id, kinds.POSITIONAL_ONLY)
    for a in arguments.args:
        add(a.id, kinds.POSITIONAL_OR_KEYWORD)
    if arguments.vararg is not None:
        add(arguments.vararg.id, kinds.VAR_POSITIONAL)
    for a in arguments.kwonlyargs:
        add(a.id, kinds.KEYWORD_ONLY)
    if arguments.kwarg is not None:
        add(arguments.kwarg.id, kinds.VAR_KEYWORD)
    return inspect.Signature(found)


class Spread(NamedTuple):
    """How what a call gives by a star, as `f(a, *xs)` does, meets the parameters."""

    #: What is given before the star.
    before: list[gast.expr]
    #: What has the star; None where there is no star.
    whole: gast.expr | None
    #: The parameters with a name that take the first items of it.
    named: list[str]
    #: Which parameters take one or the other is not clear from the text.
    unclear: bool


def spread_of(arguments: gast.arguments, call: gast.Call) -> Spread:
    """How the arguments by position of a call meet the parameters of a function.

    It is clear where the star comes last, and `*rest` takes what is left.
    """
    named = [p.id for p in (*arguments.posonlyargs, *arguments.args)]
    stars = [k for k, a in enumerate(call.args) if isinstance(a, gast.Starred)]
    if not stars:
        return Spread(call.args, None, [], False)
    first = stars[0]
    by_name = {k.arg for k in call.keywords} & {*named, None}
    open_ended = arguments.defaults or by_name or arguments.vararg is None
    unclear = bool(open_ended) or first + 1 < len(call.args)
    return Spread(call.args[:first], call.args[first].value, named[first:], unclear)


def signature_inside(arguments: gast.arguments) -> inspect.Signature:
    """The signature of an inner definition: defaults are expressions around it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    defaults = dict(
        zip([a.id for a in positional[first:]], arguments.defaults, strict=True)
    )
    for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[a.id] = default
    # Built anew at once: in between, a parameter without a default could follow one.
    return inspect.Signature(
        [
            p.replace(default=defaults.get(n, p.empty))
            for n, p in signature_of(arguments, None).parameters.items()
        ]
    )
