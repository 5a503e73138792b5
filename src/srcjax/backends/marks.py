"""What is known of generated functions, for transforms of them."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from srcjax.errors import ArgumentError


def transform_of(f: Any, instead: str) -> Any:
    """The transform that made what the user got. Raises ArgumentError if none did."""
    transform = getattr(f, "__srcjax_transform__", None)
    if transform is None:
        name = getattr(f, "__name__", f)
        raise ArgumentError(f"{name!r} was not made by srcjax", instead=f"`{instead}`")
    return transform


class Part(NamedTuple):
    """A tape that became one with others."""

    name: str
    #: What is on it is as good as a copy (`transforms.reverse.kept`).
    keeps: bool


#: The parts of the tapes of a function.
Joined = dict[str, tuple[Part, ...]]

#: Generated functions: the names in them that srcjax made, not the user.
NAMES_MADE: WeakKeyDictionary[FunctionType, frozenset[str]] = WeakKeyDictionary()
#: Generated functions that begin with a test of their arguments. A transform of one is
#: told the types of its arguments, and needs no test of them.
TESTED: WeakSet[FunctionType] = WeakSet()
#: The adjoints among them: nothing else holds what one of these is added to in place.
ADJOINTS_MADE: WeakKeyDictionary[FunctionType, frozenset[str]] = WeakKeyDictionary()
#: Those that backward functions are handed which hold whole numbers, truth values,
#: text or ranges alone: no derivative goes through them, however often what was saved
#: is nested. With what they are: "int", "range", a dtype of NumPy, or "" for any.
COUNTS_MADE: WeakKeyDictionary[FunctionType, dict[str, str]] = WeakKeyDictionary()
#: Generated functions: the guards of what they were written for. A transform of one
#: rests on the same.
RESTS_ON: WeakKeyDictionary[FunctionType, list[Any]] = WeakKeyDictionary()
#: What backward sweeps among them keep (`transforms.reverse.kept`): names of what
#: forward functions save for backward functions, and of the tapes of anything else.
KEPT_MADE: WeakKeyDictionary[FunctionType, tuple[frozenset[str], frozenset[str]]] = (
    WeakKeyDictionary()
)
#: Tapes of tuples among them, and of which tapes they are made.
JOINED_MADE: WeakKeyDictionary[FunctionType, Joined] = WeakKeyDictionary()
#: Modules of generated functions: the functions as trees, with the reasons of their
#: statements, and the names of the backward ones. What is made of them says these too.
TREES_OF: WeakKeyDictionary[ModuleType, tuple[list[Any], frozenset[str]]] = (
    WeakKeyDictionary()
)
#: All tables by function, but for the functions that are tested.
TABLES: dict[str, WeakKeyDictionary[FunctionType, Any]] = {
    "made": NAMES_MADE,
    "adjoints": ADJOINTS_MADE,
    "counts": COUNTS_MADE,
    "kept": KEPT_MADE,
    "joined": JOINED_MADE,
    "guards": RESTS_ON,
}


def copy_marks(function: FunctionType, copy: FunctionType) -> None:
    """Let a copy of a generated function be known for what that is."""
    for known in TABLES.values():
        if function in known:
            known[copy] = known[function]
    if function in TESTED:
        TESTED.add(copy)
