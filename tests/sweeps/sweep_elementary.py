"""The elementary functions at millions of points, and without fused products.

python -m pytest -q -o 'python_files=sweep_*.py' tests/sweeps/sweep_elementary.py
"""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.backends import elementary_cases as cases

numba = pytest.importorskip("numba")
pytestmark = pytest.mark.skipif(not cases.EXTENDED, reason="long double is float64")

EACH = [(name, dtype) for name in cases.NAMES for dtype in cases.DTYPES]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name, dtype", EACH)
def test_many_points(name, dtype, seed, record_property):
    error, arguments, result = cases.largest(name, dtype, 150_000, seed)
    record_property("points", len(cases.points(name, dtype, 150_000, seed)[0]))
    assert error <= 2, f"{name}{arguments} = {result}: {error} ulps"


@pytest.mark.parametrize("name", [n for n in cases.NAMES if n not in cases.OF_TWO])
def test_float32_against_float64(name):
    """One float32 in 41 of all there are, with the results of float64."""
    worst = 0.0
    for start in range(0, 2**32, 2**29):
        x = np.arange(start, start + 2**29, 41, dtype=np.uint64).astype(np.uint32)
        x = x.view(np.float32)
        with np.errstate(all="ignore"):
            want = cases.found(name, x.astype(np.float64))
            got = cases.found(name, x)
            rounded = want.astype(np.float32)
            unit = np.spacing(np.abs(np.minimum(np.abs(rounded), np.finfo("f4").max)))
            error = np.abs(got - want) / unit
        same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
        worst = max(worst, np.where(same, 0, error).max())
    assert worst <= 2


def test_without_fused_products():
    """On a processor that rounds every product: other results, as near."""
    code = "from tests.backends.elementary_cases import main; main(20000)"
    environment = os.environ | {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split("|")[1:-1] for line in done.stdout.splitlines()]
    assert len(rows) == len(cases.NAMES)
    for name, *errors in rows:
        assert max(map(float, errors)) <= 2, name
