"""What `pmap` writes for a device, for every corpus program: what the program does."""

import copy
import warnings

import pytest

import srcjax
from tests.corpus import PROGRAMS
from tests.sweeps.sweep_jit import check

#: A number that is Python's on some paths and NumPy's on others.
OF_BOTH = {"branches.piecewise"}


@pytest.mark.parametrize("mode", ["value", "grad"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_corpus(program, mode):
    f = program.function
    if mode == "grad":
        f = srcjax.value_and_grad(f)
    args = program.args()
    mine = copy.deepcopy(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = f(*args)
        except Exception as error:
            pytest.skip(f"without pmap: {type(error).__name__}")
        spread = srcjax.pmap(f, axis_name="i", in_axes=None, out_axes=None, axis_size=1)
        got = spread(*mine)
    check(got, wanted, program.name in OF_BOTH)
    check(mine, args, True)
