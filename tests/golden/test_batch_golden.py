"""Generated batched code of functions that people read: the text, and its numbers.

`SRCJAX_UPDATE_GOLDEN=1 pytest tests/golden` writes the expected files anew.
"""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

import srcjax

from .batch_functions import BATCHED

EXPECTED = Path(__file__).parent / "expected_batch"
UPDATE = os.environ.get("SRCJAX_UPDATE_GOLDEN") == "1"

every_function = pytest.mark.parametrize("case", BATCHED.values(), ids=list(BATCHED))


@every_function
def test_text(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error", srcjax.PerformanceWarning)
        text = srcjax.source(case.transformed(), *case.batch)
    path = EXPECTED / f"{case.name}.py"
    if UPDATE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


#: Those that give for an example what they give for it alone.
ALONE = [case for case in BATCHED.values() if case.axis_name is None]


@pytest.mark.parametrize("case", ALONE, ids=lambda case: case.name)
def test_numbers(case):
    got = case.transformed()(*case.batch)
    one = case.one()
    size = len(case.batch[case.axes.index(0)])
    expected = [
        one(
            *[
                b if a is None else b[k]
                for a, b in zip(case.axes, case.batch, strict=True)
            ]
        )
        for k in range(size)
    ]
    np.testing.assert_allclose(got, np.stack(expected), rtol=1e-12)
