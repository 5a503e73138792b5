"""`make_jaxpr` of the corpus: equations compute what the program does, or none are."""

import numpy as np
import pytest

from srcjax import make_jaxpr, tree
from srcjax.errors import SrcjaxError
from tests.corpus import PROGRAMS
from tests.jaxprs.test_jaxprs import RUN, run


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_equations_compute_what_the_program_does(program):
    args = program.args()
    try:
        closed = make_jaxpr(program.function)(*args)
    except SrcjaxError as error:
        pytest.skip(f"refused: {str(error).splitlines()[0]}")
    leaves = tree.leaves(args)
    if len(leaves) != len(closed.jaxpr.invars):
        pytest.skip("an argument is no number")
    try:
        found = run(closed.jaxpr, list(map(np.asarray, leaves)), closed.consts)
    except KeyError as error:
        assert error.args[0] not in RUN
        pytest.skip(f"no function to run for {error}")
    expected = tree.leaves(program.run())
    for ours, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-5, atol=1e-6)
