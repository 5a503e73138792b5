"""What the dot product of both modes found."""

import numpy as np
import pytest

import srcjax
from tests.corpus import PROGRAMS
from tests.corpus.directions import direction, inner

FOUND = (
    # A pullback that is kept holds the array that is put back, not a copy of it.
    "inplace.changed_after_an_unknown_callee",
    # A test of the arguments of an entry that calls itself with others.
    "functions.recursion_over_a_tree",
)


@pytest.mark.parametrize("name", FOUND)
def test_vjp_is_the_transpose_of_jvp(name):
    (program,) = (p for p in PROGRAMS if p.name == name)
    args = program.args()
    tangents = direction(program, args)
    _, moved = srcjax.jvp(program.function, args, tangents)
    _, pullback = srcjax.vjp(program.function, *program.args())
    for _ in range(2):
        got = inner(list(pullback(1.0)), tangents)
        np.testing.assert_allclose(got, moved, rtol=1e-9)
