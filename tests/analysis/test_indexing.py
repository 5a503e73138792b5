"""Shapes of what indexing gives, compared with NumPy's."""

import itertools

import numpy as np
import pytest

from srcjax.analysis.indexing import index_array
from srcjax.analysis.types import Array, Scalar, Tuple, type_of

BASE = np.zeros((4, 5, 3, 6))
ENTRIES = [0, slice(None), None, np.array([0, 1]), np.array([[1], [2]]), ...]


def described(entry):
    if isinstance(entry, slice):
        parts = (entry.start, entry.stop, entry.step)
        return Tuple(items=tuple(map(type_of, parts)), cls=slice)
    return type_of(entry)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_shapes_are_those_of_numpy(count):
    for entries in itertools.product(ENTRIES, repeat=count):
        if sum(e is ... for e in entries) > 1:
            continue
        index = Tuple(items=tuple(map(described, entries)))
        found, wanted = index_array(type_of(BASE), index), BASE[entries]
        assert isinstance(found, Array | Scalar), entries
        assert getattr(found, "shape", ()) == wanted.shape, entries


def test_items_of_what_a_mask_leaves():
    index = Tuple(items=(type_of(np.array([True, False, True, False])), type_of(2)))
    assert index_array(type_of(BASE), index).shape == (None, 3, 6)
