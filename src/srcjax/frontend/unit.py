"""A function in normal form, and the names of its parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax


@dataclass
class Unit:
    """One function in core form."""

    source: Any
    name: str
    node: gast.FunctionDef
    names: syntax.Names
    varying: set[str]
    #: Names that srcjax made up: they may be nested away or renamed.
    temps: set[str] = field(default_factory=set)
    #: Names that an earlier transform made, in a function that it generated: they may
    #: be nested away, but otherwise they are like the user's.
    made: set[str] = field(default_factory=set)
    #: The adjoints among them (`read.ADJOINTS_MADE`).
    adjoints: set[str] = field(default_factory=set)
    #: What is kept for backward sweeps in it, and the tapes (`read.KEPT_MADE`).
    saved: set[str] = field(default_factory=set)
    tapes: set[str] = field(default_factory=set)
    #: What holds whole numbers and text alone in them (`marks.COUNTS_MADE`).
    counts: dict[str, str] = field(default_factory=dict)
    #: Tapes, such as were one with others in the text (`frontend.joined_tapes`).
    parted: set[str] = field(default_factory=set)
    #: Made-up names that inference found to carry a derivative. They are kept: with two
    #: of them a function would be normalised for one, then the other, without end.
    asked: set[str] = field(default_factory=set)
    #: Names of functions that were inlined: renamed apart from the user's own.
    inlined: set[str] = field(default_factory=set)
    #: Targets of comprehensions, which have names of their own.
    own_targets: set[str] = field(default_factory=set)
    #: The name that a renamed web had at first.
    base_names: dict[str, str] = field(default_factory=dict)
    #: Free names whose values were looked into, though the text may not have them.
    looked_up: set[str] = field(default_factory=set)
    #: Values of free names that came with inlined functions.
    extra: dict[str, Any] = field(default_factory=dict)
    #: Those among them that are a name around the inlined function, or are bound.
    from_around: set[str] = field(default_factory=set)
    #: Those among them that the text goes by as whole numbers (`guards.Whole`).
    whole: set[str] = field(default_factory=set)
    #: Whether it returns what gives its items once.
    gives_iterator: bool = False
    #: The function as it was before types decided anything in it.
    first: gast.FunctionDef | None = None

    @property
    def parameters(self) -> list[str]:
        """The names of all parameters, in order."""
        return parameter_names(self.node.args)


def passed_on(arguments: gast.arguments) -> list[str]:
    """What a call passes that hands all of these parameters on: `x`, `*rest`, `k=k`."""
    found = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is not None:
        found.append(f"*{arguments.vararg.id}")
    found += [f"{a.id}={a.id}" for a in arguments.kwonlyargs]
    if arguments.kwarg is not None:
        found.append(f"**{arguments.kwarg.id}")
    return found


def own_attribute(name: str) -> str:
    """How `Unit.varying` says that `x.name` is an attribute of the user's objects."""
    return f".{name}"


def acting(node: Any) -> str:
    """How `Unit.varying` says that an expression changes what carries a derivative.

    By its place in the text, as it is normalised anew; an empty text if it has none.
    """
    end = getattr(node, "end_col_offset", None)
    if end is None:
        return ""
    return f"@{node.lineno}:{node.col_offset}-{node.end_lineno}:{end}"


def is_place(name: str) -> bool:
    """Whether it is what `acting` gave."""
    return name.startswith("@")


def parameter_names(arguments: gast.arguments) -> list[str]:
    """Parameter names in order, `*args` and `**kwargs` included."""
    found = [a.id for a in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is not None:
        found.append(arguments.vararg.id)
    found += [a.id for a in arguments.kwonlyargs]
    if arguments.kwarg is not None:
        found.append(arguments.kwarg.id)
    return found
