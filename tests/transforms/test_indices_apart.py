"""`vmap` where NumPy has the axes of index arrays in front of all others."""

import numpy as np
import pytest

import srcjax

pytestmark = pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")

ONE, TWO = np.array([0, 1, 1]), np.array([1, 0, 2])


def arrays_around_a_slice(x):
    return x[ONE, :, TWO]


def lists_around_a_slice(x):
    return x[[0, 1, 1], :, [1, 0, 2]]


def tuples_around_a_slice(x):
    return x[(0, 1), :, (1, 2)]


def arrays_around_a_slice_of_a_name(x):
    columns = slice(0, 2)
    return x[ONE, columns, TWO]


COLUMNS, ROWS = slice(0, 2), (0, 1, 1)


def arrays_around_a_global_slice(x):
    return x[ROWS, COLUMNS, TWO]


def a_number_after_a_global_slice(x):
    return x[ROWS, COLUMNS, 1]


def a_number_and_an_array(x):
    return x[0, :, TWO]


def around_dots(x):
    return x[ONE, ..., TWO]


def around_a_new_axis(x):
    return x[ONE, None, TWO]


def a_tuple_of_a_name(x):
    key = (ONE, slice(None), TWO)
    return x[key]


def a_tuple_with_a_number(x):
    key = (0, slice(None), TWO)
    return x[key]


def side_by_side(x):
    return x[:, ONE, TWO]


def stored_apart(x):
    y = x * 1.0
    y[np.array([0, 1, 0]), :, TWO] = x[0] ** 2
    return y


def stored_at_a_tuple(x):
    y = x * 1.0
    key = (0, slice(None), TWO)
    y[key] = x[1] ** 2
    return y


@pytest.mark.parametrize(
    "f",
    [
        arrays_around_a_slice,
        lists_around_a_slice,
        tuples_around_a_slice,
        arrays_around_a_slice_of_a_name,
        arrays_around_a_global_slice,
        a_number_after_a_global_slice,
        a_number_and_an_array,
        around_dots,
        around_a_new_axis,
        a_tuple_of_a_name,
        a_tuple_with_a_number,
        side_by_side,
        stored_apart,
        stored_at_a_tuple,
    ],
)
def test_index_arrays_that_are_apart(f):
    batch = np.cos(np.arange(54.0)).reshape(3, 2, 3, 3)
    expected = np.stack([f(x) for x in batch])
    np.testing.assert_array_equal(srcjax.vmap(f)(batch), expected)
    weights = np.sin(np.arange(expected[0].size)).reshape(expected[0].shape)
    gradient = srcjax.grad(lambda x: np.sum(f(x) ** 2 * weights))
    expected = np.stack([gradient(x) for x in batch])
    np.testing.assert_allclose(srcjax.vmap(gradient)(batch), expected)
