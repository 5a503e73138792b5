"""Shapes of what indexing gives, compared with NumPy's."""

import itertools

import numpy as np
import pytest

import srcjax
from srcjax.analysis.indexing import index_array
from srcjax.analysis.types import Array, Scalar, Tuple, type_of
from srcjax.testing import check_grads

BASE = np.zeros((4, 5, 3, 6))
LISTS = [[1, 0], [[0], [1]]]
ENTRIES = [0, slice(None), None, np.array([0, 1]), np.array([[1], [2]]), ..., *LISTS]


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


# -- lists and tuples as index arrays --------------------------------------------------


def of_a_list_that_grows(x):
    places = []
    for k in range(len(x)):
        if k % 2 == 0:
            places.append(k)
    return x[places] * 2


def of_a_list_of_arrays(x):
    places = [np.array([0, 1, 1]), np.array([2, 0, 0])]
    return x[places] * 2


def of_a_list_of_lists(x):
    return x[[[0, 1], [2, 3]]] * 2


def of_flags(x):
    return x[[True, False, True, True]] * 2


def of_comparisons(x):
    kept = [v > 0.5 for v in x]
    return x[kept] * 2


def of_a_tuple_of_what_is_not_known(x):
    places = np.mgrid[tuple([slice(0, 2, 1.0), slice(0, 2, 0.5)])].astype(int)
    return x.reshape(2, 2)[tuple(places)] * 2


def of_a_tuple_that_grows(x):
    key = ()
    while len(key) < 2:
        key = (*key, slice(0, 1))
    return x.reshape(2, 2)[key] * 2


def stored_at_a_list_that_grows(x):
    places = []
    for k in range(len(x)):
        if k % 2 == 0:
            places.append(k)
    y = x * 1.0
    y[places] = x[places] ** 2
    return y


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize(
    "f",
    [
        of_a_list_that_grows,
        of_a_list_of_arrays,
        of_a_list_of_lists,
        of_flags,
        of_comparisons,
        of_a_tuple_of_what_is_not_known,
        of_a_tuple_that_grows,
        stored_at_a_list_that_grows,
    ],
)
def test_a_list_is_as_large_as_its_array(f):
    x = np.array([0.3, 0.7, 0.9, 0.6])
    y = f(x)
    weights = np.arange(1.0, y.size + 1).reshape(y.shape)
    total = lambda x: np.sum(f(x) * weights)  # noqa: E731
    check_grads(total, (x,), order=2, modes=("rev", "fwd"))
    batch = np.stack([x, x + 0.01])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [y, f(x + 0.01)])
    gradients = [srcjax.grad(total)(row) for row in batch]
    np.testing.assert_allclose(srcjax.vmap(srcjax.grad(total))(batch), gradients)
    np.testing.assert_allclose(srcjax.jit(f)(x), y)
    np.testing.assert_allclose(srcjax.jit(srcjax.grad(total))(x), gradients[0])
