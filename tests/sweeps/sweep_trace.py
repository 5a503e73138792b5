"""Adjoints of programs of the corpus are what differences of the values measure."""

import pytest

import srcjax
from tests.corpus import scalar_programs

#: One in so many: each runs some hundred times.
APART = 5
PROGRAMS = [p for p in scalar_programs() if p.smooth][::APART]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_adjoints_are_what_is_measured(program):
    df = srcjax.grad(program.function, program.argnums)
    trace = srcjax.trace(df, *program.args(), check=True)
    assert not trace.wrong or trace.opinions, str(trace)
    assert trace.right or trace.reason or trace.unknown
    assert trace.html()


def test_most_adjoints_can_be_measured():
    """A table that measures nothing says nothing wrong either."""
    right = unknown = 0
    for program in PROGRAMS[::4]:
        df = srcjax.grad(program.function, program.argnums)
        trace = srcjax.trace(df, *program.args(), check=True)
        right, unknown = right + len(trace.right), unknown + len(trace.unknown)
    assert right > 5 * unknown
