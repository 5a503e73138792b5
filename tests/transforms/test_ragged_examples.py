"""What takes as many items of an example as its values say, under `vmap`."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

pytestmark = pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")

#: Two positive numbers in each row; two and one; in three, two and none.
EVEN = np.array([[1.0, 0.0, 2.0], [4.0, 3.0, -1.0]])
UNEVEN = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, -1.0]])
SOME = np.array([[1.0, 5.0, 2.0], [4.0, -3.0, 1.0], [-4.0, 0.0, -1.0]])


def places(x):
    return np.where(x > 0)


def places_of_numbers(x):
    return np.nonzero(x * (x > 0))[0]


def flat_places(x):
    return np.flatnonzero(x > 0)


def places_with_axes(x):
    return np.argwhere(x > 0)


def taken(x):
    return x[x > 0] * 2


def taken_at_places(x):
    return x[np.where(x > 0)[0]]


def extracted(x):
    return np.extract(x > 0, x)


def compressed(x):
    return np.compress(x > 0, x)


@pytest.mark.parametrize(
    "f",
    [
        places,
        places_of_numbers,
        flat_places,
        places_with_axes,
        taken,
        taken_at_places,
        extracted,
        compressed,
    ],
)
def test_as_many_of_each_example_or_refused(f):
    expected = np.stack([np.asarray(f(row)) for row in EVEN])
    got = srcjax.vmap(f)(EVEN)
    if isinstance(got, tuple):
        got = np.stack(got, axis=1)
    np.testing.assert_array_equal(got, expected)
    with pytest.raises(SrcjaxError, match=r"the shapes \(2,.*need the same shape"):
        srcjax.vmap(f)(UNEVEN)


def sum_at_places(x):
    return np.sum(x[np.where(x > 0)[0]] ** 2)


def sum_of_places(x):
    return np.sum(x[np.nonzero(x > 0)])


def sum_of_flat_places(x):
    k = np.flatnonzero(x > 0)
    return np.sum(x[k]) * len(k)


def first_place(x):
    k = np.argwhere(x > 0)
    return x[k[0, 0]] if len(k) else 0.0


def sum_of_compressed(x):
    return np.sum(np.compress(x > 0, x) ** 2)


def put_at_places(x):
    y = x * 1.0
    y[np.where(x > 0)] = 7.0
    return y


def number_of_different(x):
    return np.unique(np.round(x)).size * x[0]


REDUCED = [
    sum_at_places,
    sum_of_places,
    sum_of_flat_places,
    first_place,
    sum_of_compressed,
    put_at_places,
    number_of_different,
]


@pytest.mark.parametrize("batch", [EVEN, UNEVEN, SOME], ids=["even", "uneven", "some"])
@pytest.mark.parametrize("f", REDUCED)
def test_what_is_made_of_them_is_as_in_a_loop(f, batch):
    expected = np.stack([f(row) for row in batch])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), expected)
    np.testing.assert_allclose(srcjax.jit(srcjax.vmap(f))(batch), expected)


@pytest.mark.parametrize("f", [f for f in REDUCED if f is not put_at_places])
def test_their_gradients_are_as_in_a_loop(f):
    gradient = srcjax.grad(f)
    expected = np.stack([gradient(row) for row in SOME])
    np.testing.assert_allclose(srcjax.vmap(gradient)(SOME), expected)
    total = srcjax.grad(lambda x: np.sum(srcjax.vmap(f)(x)))
    np.testing.assert_allclose(total(SOME), expected)


def lists_of_two_lengths(x):
    coefficients = [1.0, 2.0] if x > 0 else [1.0, 2.0, 3.0]
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


SHORT, LONG = [1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]


def chosen_coefficients(x):
    if x < 0.5:
        coefficients, start = SHORT, 0.1
    else:
        coefficients, start = LONG, 0.3
    total = 0.0
    for c in coefficients:
        total = total * (x - start) + c
    return total


def longer_list_in_a_branch(x):
    values = [x * x]
    if x > 0.5:
        values = [x, 3.0, x]
    return values[-1] * len(values)


def other_keys_in_a_branch(x):
    found = {"a": x} if x < 0.5 else {"b": x, "a": 2 * x}
    return sum(found.values())


@pytest.mark.parametrize(
    "f",
    [
        *(lists_of_two_lengths, chosen_coefficients),
        *(longer_list_in_a_branch, other_keys_in_a_branch),
    ],
)
def test_branches_that_give_other_items(f):
    x = np.array([0.2, 0.7, 0.9])
    with pytest.warns(srcjax.errors.PerformanceWarning, match="which items"):
        found = srcjax.vmap(f)(x)
    np.testing.assert_allclose(found, [f(each) for each in x])
