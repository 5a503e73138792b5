"""What a pass is: a named step that changes what the step before it left.

`pipeline` holds the lists; the passes themselves are all over this package.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gast

from srcjax.transforms.callees import Callees
from srcjax.transforms.written import Written

#: Told of each pass that was run, and of the functions it may have changed.
Watch = Callable[[str, Sequence[Written]], None]


@dataclass(frozen=True)
class Pass:
    """One step of simplifying: it changes a written function in place."""

    name: str
    #: Called with the `Finisher` of the function. A pass that gives False has changed
    #: nothing, and is not run again before another one changed something.
    run: Callable[[Any], Any]
    #: Of a pass that makes copies: whether it may have to, by facts of a text with
    #: fewer copies, in which names share all the memory that they share now.
    may_copy: Callable[[Any], bool] | None = None
    #: The kinds of statements of which a function has to have one; else there is
    #: nothing to do.
    of: tuple[type, ...] = (gast.stmt,)


@dataclass(frozen=True)
class WholePass:
    """A step that looks at all functions of a module."""

    name: str
    #: Called with the functions, and with the `Callees` of the program.
    run: Callable[[list[gast.FunctionDef], Callees], Any]


@dataclass(frozen=True)
class Simplify:
    """What becomes of the functions that a transform wrote, in order."""

    #: For a backward function, before it is known what it reads of the forward
    #: function, which then returns just that.
    before_link: tuple[Pass, ...]
    passes: tuple[Pass, ...]
    #: Those that ask inference of functions as they were written: they are run on all
    #: of them before any other pass changes one.
    as_written: tuple[Pass, ...] = ()
    #: Those that make the copies without which what is written, or given to the caller,
    #: shares memory: text from before these passes cannot be run as it is. They go by
    #: what inference finds in all functions as they stand, and say if they copied.
    owning: tuple[Pass, ...] = ()
    #: What comes after them.
    last: tuple[Pass, ...] = ()
    whole: tuple[WholePass, ...] = ()


@dataclass(frozen=True)
class UnitPass:
    """One step of a round of `analyse`: it changes the units of a program in place.

    A round infers types, then runs the passes in order. After the first one that
    changed something the next round begins, with types of what it wrote.
    """

    name: str
    #: Called with the program; it returns whether anything changed.
    run: Callable[[Any], Any]
    #: It is run once, when all passes before it have nothing left to do.
    once: bool = False
    #: Passes of the kind `once` that are to be run again where this one changed units.
    undoes: tuple[str, ...] = ()
    #: Whether the passes that follow may go by types of before (only if `once`).
    keeps_types: bool = False
