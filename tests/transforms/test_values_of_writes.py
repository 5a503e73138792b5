"""Calls that write to an array and give None, where that None is used."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

X = np.array([0.3, 0.7, -0.2])


class Holder:
    pass


def given_a_name(x):
    y = np.zeros(3)
    done = np.copyto(y, x)
    return np.sum(y**2), done is None


def or_the_array(x):
    y = np.zeros(3)
    return (y.fill(x[0]) or y) ** 2 + x


def first_of_a_pair(x):
    y = np.ones(3)
    return (np.add.at(y, [0, 1, 1], x), y)[1] ** 2


def asked_in_a_test(x):
    y = np.outer(x, x)
    return y if np.fill_diagonal(y, x[1]) is None else 0 * y


def in_a_lambda(x):
    y = np.zeros(3)
    write = lambda: np.copyto(y, x)  # noqa: E731
    write()
    return y**2


def in_a_comprehension(x):
    y = np.zeros(3)
    done = [np.add.at(y, [k], x[k]) for k in range(3)]
    return y**2, len(done)


def sorted_in_place(x):
    y = x.copy()
    return (y.sort() or y) * np.arange(3.0)


@pytest.mark.parametrize(
    "f",
    [
        given_a_name,
        or_the_array,
        first_of_a_pair,
        asked_in_a_test,
        in_a_lambda,
        in_a_comprehension,
        sorted_in_place,
    ],
)
def test_what_is_written_has_its_derivative(f):
    def value(x):
        y = f(x)
        return y[0] if isinstance(y, tuple) else y

    check_grads(value, (X,))
    rows = srcjax.vmap(value)(np.stack([X, 2 * X]))
    np.testing.assert_allclose(rows, [value(X), value(2 * X)])


def test_lists_sorted_in_place():
    def smallest(x):
        xs = [x[0], x[1], x[2]]
        return (xs.sort() or xs)[0] * 2.0

    batch = np.stack([X, -X])
    with pytest.warns(srcjax.errors.PerformanceWarning):
        found = srcjax.vmap(smallest)(batch)
    np.testing.assert_allclose(found, [smallest(x) for x in batch])


@pytest.mark.parametrize("transform", [srcjax.grad, lambda f: srcjax.jvp(f)])
def test_attributes_set_by_the_dict_of_an_object_are_refused(transform):
    def by_vars(x):
        held = Holder()
        vars(held)["a"] = x[0]
        return held.a**2

    with pytest.raises(srcjax.errors.UnsupportedError, match="by another way"):
        srcjax.source(transform(by_vars), X)
