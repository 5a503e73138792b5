"""What a function may not return where its result is differentiated, or mapped."""

from __future__ import annotations

from srcjax.analysis.program import Program
from srcjax.analysis.types import (
    UNKNOWN,
    Closure,
    Type,
    is_active,
    is_mapping,
    is_text,
    parts,
)
from srcjax.errors import ArgumentError, UnsupportedError, error_at
from srcjax.frontend.unit import Unit


def refuse_functions(program: Program, unit: Unit) -> None:
    """Raise where the result has a function that reads differentiated values."""

    def visit(t: Type) -> None:
        if isinstance(t, Closure) and t.active:
            raise error_at(
                UnsupportedError,
                unit.source,
                unit.source.node,
                "the function returns a function that reads differentiated values",
                "the values themselves, or what the function gives",
            )
        for part in parts(t):
            visit(part)

    visit(program.facts.results.get(id(unit.source.func), UNKNOWN))


def refuse_iterators(program: Program, unit: Unit) -> None:
    """Raise where the result has a view of a dict, an iterator or a slice.

    Their types are those of what they give, which is no part of a pytree. To be asked
    of what the user wrote: in core form there are lists in their place.
    """

    def visit(t: Type) -> None:
        held = parts(t)
        what = kind_of(t)
        carries = is_active(t) or is_mapping()
        if what and carries and not (held and all(map(is_text, held))):
            raise error_at(
                ArgumentError,
                unit.source,
                unit.source.node,
                f"the function returns {what}, which is no number, array, list, tuple "
                "or dict",
                "`list(...)` of it, or the items themselves",
            )
        for part in held:
            visit(part)

    visit(program.facts.results.get(id(unit.source.func), UNKNOWN))


def kind_of(t: Type) -> str | None:
    """What a value is whose type is that of a tuple of what it gives."""
    view = getattr(t, "view", None)
    if view is not None:
        iterator = view.memory is None
        return f"an iterator, `{view.kind}(...)`" if iterator else f"a dict_{view.kind}"
    return "a slice" if getattr(t, "cls", None) is slice else None


__all__ = ["kind_of", "refuse_functions", "refuse_iterators"]
