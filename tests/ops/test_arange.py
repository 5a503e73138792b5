"""How many numbers `np.arange` gives, as its type tells."""

import itertools

import numpy as np
import pytest

from srcjax.analysis.types import Const
from srcjax.ops.constructors import infer_arange

VALUES = (-2, 0, 3, 0.3, -1.7, 4.0, 1e-1)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_known_numbers(count):
    for values in itertools.product(VALUES, repeat=count):
        if count == 3 and values[2] == 0:
            continue
        found = infer_arange(*(Const(value=v) for v in values))
        actual = np.arange(*values)
        assert found.shape == actual.shape, values
        assert found.dtype == actual.dtype, values


def test_no_number_of_steps():
    for values in ((0, 1, 0), (0.0, np.inf), (np.nan, 1.0)):
        found = infer_arange(*(Const(value=v) for v in values))
        assert found.shape == (None,)
