"""Every operation has a batch rule, or stands here with the reason."""

import pytest

from srcjax.ops.record import MAPPED, TABLE, key_of

STRIDED = "strides count the bytes of one example, and a batch may lie otherwise"
ITERATIVE = "NumPy and SciPy take one matrix, and a stack has no formula of its own"
#: Operations that run in a loop over the examples, seen in the text, with a warning.
IN_A_LOOP = {
    "numpy.arange": "how many items there are differs between examples",
    "numpy.fft.fftfreq": "the spacing is a number, and no array in NumPy",
    "numpy.fft.rfftfreq": "the spacing is a number, and no array in NumPy",
    "numpy.lib.stride_tricks.as_strided": STRIDED,
    "numpy.linalg.lstsq": ITERATIVE,
    "numpy.poly": "NumPy takes one sequence of roots",
    "numpy.roots": "how many roots there are may differ between examples",
    "scipy.linalg._basic.solve_banded": ITERATIVE,
    "scipy.linalg._decomp.eigh_tridiagonal": ITERATIVE,
    "scipy.linalg._decomp_lu.lu_factor": ITERATIVE,
    "scipy.linalg._decomp_polar.polar": ITERATIVE,
    "scipy.linalg._matfuncs.logm": ITERATIVE,
    "scipy.linalg._matfuncs.sqrtm": ITERATIVE,
    "scipy.linalg._solvers.solve_sylvester": ITERATIVE,
    "scipy.sparse.linalg._isolve.iterative.bicgstab": ITERATIVE,
    "scipy.sparse.linalg._isolve.iterative.cg": ITERATIVE,
    "scipy.sparse.linalg._isolve.iterative.gmres": ITERATIVE,
    "srcjax.ops.written_out.softmax": "it is never called: it has a derivative alone",
    "srcjax.runtime.batches.stacked": "the examples may be of any structure",
    "srcjax.runtime.checks.items_like": "the items may be of any structure",
    "srcjax.runtime.windows.as_strided_alike": STRIDED,
    "srcjax.runtime.windows.unstride": STRIDED,
}


@pytest.mark.usefixtures("all_records")
def test_every_operation_has_a_batch_rule_or_a_reason():
    """Operations of other tests' own are in the table too, if those ran before."""
    without = {
        op.name
        for op in TABLE.values()
        if op.batch is None and not op.elementwise and not op.inert
        if not any(key_of(function) in MAPPED for function in op.functions)
        if op.name.startswith(("numpy.", "scipy.", "math.", "builtins.", "srcjax."))
    }
    assert without == set(IN_A_LOOP)
