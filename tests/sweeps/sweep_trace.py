"""Adjoints of programs of the corpus are what differences of the values measure."""

import numpy as np
import pytest

import srcjax
from srcjax.checks.leaves import is_real_leaf, leaves, put
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


def along(program):
    """Tangents for the differentiated arguments of a program."""
    rng = np.random.default_rng(1)

    def of(leaf):
        if not is_real_leaf(leaf):
            return 0.0
        drawn = rng.uniform(0.5, 1.5, np.shape(leaf))
        return np.asarray(drawn, getattr(leaf, "dtype", float))[()]

    return tuple(
        put(value, map(of, leaves(value))) if k in program.argnums else None
        for k, value in enumerate(program.args())
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_tangents_are_what_is_measured(program):
    df = srcjax.jvp(program.function)
    trace = srcjax.trace(df, program.args(), along(program), check=True)
    assert not trace.wrong or trace.opinions, str(trace)
    assert trace.right or trace.reason or trace.unknown
