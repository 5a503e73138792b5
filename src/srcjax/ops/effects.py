"""What a call does besides giving a value, by the object that is called.

    np.sum(x)             nothing                        Effect()
    np.copyto(a, b)       writes to its first argument   Effect(writes={0})
    items.append(v)       writes to its owner            Effect(writes={OWNER})
    rng.normal()          draws: two calls differ        Effect(contained=False)
    f(x)                  anything                       UNKNOWN

A function that is known to nobody may do anything: it may write to whatever it is
given, and it is neither left out nor called twice.
"""

from __future__ import annotations

import builtins
import operator
import types as pytypes
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from srcjax import runtime
from srcjax.analysis.arrays import ARRAYS
from srcjax.analysis.structural import calls, is_structural
from srcjax.ops import callbacks, collectives, structs
from srcjax.ops.helpers import helper_of
from srcjax.ops.library_writes import FIRST_WRITTEN, place_of_out
from srcjax.ops.record import Op, composite_of, key_of, lookup

#: The place of the object that a method belongs to.
OWNER = -1


@dataclass(frozen=True)
class Effect:
    """What evaluating an expression does besides giving a value."""

    #: The arguments that it may write to: positions, keywords, or `OWNER`.
    writes: frozenset[int | str] = frozenset()
    #: It may write to anything that it is given, and to what that holds.
    to_all: bool = False
    #: Whether nothing else happens: it may be left out where nothing reads what it
    #: writes, and a second call gives the same.
    contained: bool = True
    #: Names around the call that it may change, though it is not given them.
    names: frozenset[str] = frozenset()

    @property
    def pure(self) -> bool:
        """Whether it only computes its value."""
        return self.contained and not (self.writes or self.to_all or self.names)

    def __or__(self, other: Effect) -> Effect:
        return Effect(
            self.writes | other.writes,
            self.to_all or other.to_all,
            self.contained and other.contained,
            self.names | other.names,
        )


PURE = Effect()
#: What may do anything to what it is given, and anything else.
UNKNOWN = Effect(to_all=True, contained=False)
#: It draws, prints or reads what changes, and leaves alone what it is given.
ELSEWHERE = Effect(contained=False)


def _writes(*places: int | str) -> Effect:
    return Effect(writes=frozenset(places))


#: Functions that change an argument.
_WRITING: dict[Any, Effect] = {
    **{function: _writes(0, name) for function, name in FIRST_WRITTEN.items()},
    np.random.shuffle: Effect(frozenset([0]), contained=False),
    next: _writes(0),
    setattr: _writes(0),
    delattr: _writes(0),
    runtime.add_at: _writes(0),
    runtime.restore_contents: Effect(to_all=True),
    # Its text writes to a table of its own, which holds what it is given.
    runtime.contents: Effect(),
    **{
        getattr(operator, name): _writes(0)
        for name in dir(operator)
        if name.startswith("i") and hasattr(operator, f"__{name[1:]}__")
    },
    operator.setitem: _writes(0),
    operator.delitem: _writes(0),
    callbacks.callback: ELSEWHERE,
    structs.ShapeDtypeStruct: PURE,
}
#: Methods of Python's containers, and of arrays, that change their object.
_CHANGING_METHODS: dict[type, tuple[str, ...]] = {
    list: (
        "append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort",
    ),
    dict: ("clear", "pop", "popitem", "setdefault", "update"),
    set: (
        "add", "clear", "difference_update", "discard", "intersection_update", "pop",
        "remove", "symmetric_difference_update", "update",
    ),
    np.ndarray: (
        "byteswap", "fill", "itemset", "partition", "put", "resize", "setfield",
        "setflags", "sort",
    ),
}  # fmt: skip
#: Classes whose methods only compute, but for those that change their object.
_PLAIN = (list, dict, set, frozenset, tuple, str, bytes, int, float, complex, bool)
#: Builtins that look at what they are given, and make something of it.
_LOOKING = frozenset(
    """
    abs all any bool callable chr complex dict divmod enumerate float format frozenset
    getattr hasattr hash id int isinstance issubclass len list max min ord pow range
    repr reversed round set slice sorted str sum tuple type zip
    """.split()  # noqa: SIM905
)
#: Functions of NumPy's that have no record, and read or change its own state.
_ELSEWHERE_IN_NUMPY = frozenset(
    """
    errstate genfromtxt load loadtxt memmap printoptions save savetxt savez
    savez_compressed set_printoptions setbufsize seterr seterrcall show_config tofile
    fromfile
    """.split()  # noqa: SIM905
)


@cache
def _by_key() -> dict[Any, Effect]:
    """The effects of functions with an effect of their own, and of harmless ones."""
    found = {key_of(function): effect for function, effect in _WRITING.items()}
    for cls, names in _CHANGING_METHODS.items():
        for name in names:
            if hasattr(cls, name):
                found[id(getattr(cls, name))] = _writes(OWNER)
    for name in _LOOKING:
        found[id(getattr(builtins, name))] = PURE
    for name in collectives.__all__:
        # Devices meet in them: all of them have to, in the same order.
        found.setdefault(id(getattr(collectives, name)), ELSEWHERE)
    for looking in (collectives.axis_index, collectives.axis_size):
        found[id(looking)] = PURE
    return found


def effect_of_function(function: Any, called: int = 0) -> Effect:
    """What a call of the function object with so many positional arguments does.

    That it writes to `out` has to be seen from the keywords of the call.
    """
    if isinstance(function, Op):
        found = Effect(writes=_places(function))
        for each in function.functions:
            found |= effect_of_function(each, called)
        return found
    known = _by_key().get(key_of(function))
    if known is not None:
        return known
    helper = helper_of(function)
    if helper is not None:
        places = [helper.parameters.index(name) for name in helper.writes]
        return Effect(
            frozenset([*helper.writes, *places]), contained=helper.pure or bool(places)
        )
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return _writes(0) if getattr(function, "__name__", "") == "at" else PURE
    effect = _of_method(function, owner)
    if effect is not None:
        return effect
    if isinstance(function, type) and _is_named_tuple(function):
        return PURE
    if is_structural(function):
        op = lookup(function)
        return UNKNOWN if calls(function) and not (op and op.inert) else PURE
    home = str(getattr(function, "__module__", "") or "").split(".")
    if isinstance(function, np.ufunc) or home[0] == "numpy":
        return _of_numpy(function, home, called)
    if home[0] in ("math", "cmath", "operator", "_operator"):
        return PURE
    if lookup(function) is not None or composite_of(function) is not None:
        return PURE
    return UNKNOWN


def _is_named_tuple(cls: type) -> bool:
    """Whether its objects are made of what they hold, and nothing else happens."""
    made = getattr(cls.__new__, "__module__", "") or ""
    plain = cls.__init__ is object.__init__  # type: ignore[misc]
    return plain and hasattr(cls, "_fields") and made.startswith("namedtuple_")


def _places(op: Op) -> frozenset[int | str]:
    """The arguments that an operation writes to, by place and by name."""
    order = list(op.signature.parameters)
    return frozenset([*op.writes, *(order.index(n) for n in op.writes if n in order)])


def _of_method(function: Any, owner: Any) -> Effect | None:
    """A method of a builtin class, as `list.append` or bound to an object."""
    cls = getattr(function, "__objclass__", None)
    name = getattr(function, "__name__", "")
    if cls is None and isinstance(function, pytypes.BuiltinMethodType):
        cls = type(owner)
    if cls in ARRAYS:
        cls = np.ndarray
    if cls in _PLAIN or cls is np.ndarray or (cls and issubclass(cls, np.generic)):
        return _writes(OWNER) if name in _CHANGING_METHODS.get(cls, ()) else PURE
    return None


def _of_numpy(function: Any, home: list[str], called: int) -> Effect:
    if "random" in home:
        return ELSEWHERE
    if getattr(function, "__name__", "") in _ELSEWHERE_IN_NUMPY:
        return ELSEWHERE
    if isinstance(function, type) and not issubclass(
        function, (np.generic, np.dtype, np.finfo, np.iinfo)
    ):
        return UNKNOWN
    if not isinstance(function, Hashable):  # an object that is called: `np.poly1d`
        return UNKNOWN
    out = place_of_out(function)
    places = range(called)[out]
    return _writes(*places) if places else PURE


__all__ = ["ELSEWHERE", "OWNER", "PURE", "UNKNOWN", "Effect", "effect_of_function"]
