"""Where expansions are noted down, by the name of the helper that they stand for."""

from __future__ import annotations

from collections.abc import Callable

import gast

from srcjax.analysis.types import Type

Expansion = Callable[[list[gast.expr], list[Type]], gast.expr | None]


EXPANSIONS: dict[str, Expansion] = {}


def expands(helper: Callable) -> Callable[[Expansion], Expansion]:
    """Decorator: the function gives the plain expression of calls to the helper."""

    def decorate(expansion: Expansion) -> Expansion:
        EXPANSIONS[helper.__name__] = expansion
        return expansion

    return decorate
