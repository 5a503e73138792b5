"""`jit` of every corpus program, of its gradient and of its batched form."""

import copy
import warnings

import numpy as np
import pytest

import srcjax
from tests.corpus import PROGRAMS

pytest.importorskip("numba")

#: A number that is Python's on some paths and NumPy's on others: NumPy's always.
OF_BOTH = {"branches.piecewise"}


def check(got, wanted, loose, single=False):
    if isinstance(wanted, (tuple, list)):
        assert type(got) is type(wanted)
        for a, b in zip(got, wanted, strict=True):
            check(a, b, loose, single)
    elif isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for key in wanted:
            check(got[key], wanted[key], loose, single)
    elif isinstance(wanted, (np.ndarray, np.generic, float, int, complex)):
        if not loose:
            assert type(got) is type(wanted)
        a, b = np.asarray(got), np.asarray(wanted)
        assert a.dtype == b.dtype
        if b.dtype.kind in "fc":
            half = b.dtype.itemsize // (1 + (b.dtype.kind == "c")) == 4
            limit = 2e-5 if half or single else 1e-9
            scale = max([1.0, *np.abs(b[np.isfinite(b)]).ravel()])
            np.testing.assert_allclose(a, b, rtol=limit, atol=limit * scale)
        else:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mode", ["jit", "grad", "vmap", "vmap of grad"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_corpus(program, mode):
    f = program.function
    if "grad" in mode:
        f = srcjax.value_and_grad(f)
    args = program.args()
    if "vmap" in mode:
        f = srcjax.vmap(f)
        if not all(isinstance(a, (float, np.ndarray)) for a in args):
            pytest.skip("arguments that are no arrays")
        args = [np.stack([a, np.multiply(a, 1.1)]) for a in args]
    mine = copy.deepcopy(args)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            wanted = f(*args)
        except Exception as error:
            pytest.skip(f"without jit: {type(error).__name__}")
        got = srcjax.jit(f)(*mine)
    single = any(getattr(a, "dtype", None) == np.float32 for a in args)
    check(got, wanted, program.name in OF_BOTH, single)
    check(mine, args, True)
