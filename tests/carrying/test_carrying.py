"""Nothing that depends on a differentiated value is let go without a word.

Each program is judged here in one of the modes, in turn, and of the detours one in two;
`tests/sweeps` has all programs in all modes.
"""

from __future__ import annotations

from typing import Any

import gast
import pytest

from . import calls, detours, lists, nodes, objects
from .judge import MODES, answer, may_be_refused, programs

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {"test_right_or_refused": 2}

THEMES = (lists, nodes, calls, objects, detours)
PROGRAMS = [
    (f"{module.__name__.rpartition('.')[2]}.{name}", function)
    for module in THEMES
    for name, function in programs(module).items()
]
QUICK = [
    pair
    for k, pair in enumerate(PROGRAMS)
    if k % 2 or not pair[0].startswith("detours.")
]
CASES = [
    pytest.param(function, MODES[k % len(MODES)], id=f"{name}-{MODES[k % len(MODES)]}")
    for k, (name, function) in enumerate(QUICK)
]


@pytest.mark.parametrize(("function", "mode"), CASES)
def test_right_or_refused(function: Any, mode: str) -> None:
    found = answer(function, mode)
    assert found == "right" or may_be_refused(function, mode), found


#: Nodes that no program can have: markers of context, and what is only for parsers.
_NO_PROGRAM = {"expr", "stmt", "operator", "boolop", "unaryop", "cmpop", "pattern"}
_NO_PROGRAM |= {"TypeAlias", "TemplateStr", "Interpolation", "Print", "Exec", "Repr"}


def test_every_kind_of_node_has_a_program() -> None:
    """Each expression, statement and operator of the syntax is in a program."""
    with open(nodes.__file__, encoding="utf-8") as file:
        tree = gast.parse(file.read())
    seen = {type(node).__name__ for node in gast.walk(tree)}
    bases = (
        *(gast.expr, gast.stmt, gast.operator, gast.boolop, gast.unaryop, gast.cmpop),
        gast.pattern,
    )
    kinds = {
        name
        for name, kind in vars(gast).items()
        if isinstance(kind, type) and issubclass(kind, bases)
    }
    assert kinds - seen - _NO_PROGRAM == set()
