"""Numbers that are read from a batch which is written to: copied where needed only."""

import numpy as np
import pytest

import srcjax


def recurrence(u):
    v = np.zeros(4)
    v[0] = u[0]
    for i in range(1, 4):
        v[i] = np.sin(v[i - 1]) * u[i] + v[i - 1] * u[0]
    return v


def swapped(u):
    v = u.copy()
    first = v[0]
    v[0] = v[2]
    v[2] = first
    return v


def used_before_and_after(u):
    v = u.copy()
    first = v[0]
    double = 2 * first
    v[0] = 7.0
    return double + first + v[0]


def kept_in_a_list(u):
    v = u.copy()
    kept = [0.0, 0.0]
    kept[1] = v[1]
    v[1] = 5.0
    return kept[0] + kept[1] + v[1]


def kept_from_the_last_round(u):
    v = u.copy()
    last = 0.0
    total = 0.0
    for i in range(3):
        total = total + last * u[i]
        last = v[i]
        v[i] = 3.0 * last
    return total + v[0]


def stored_as_they_are(u):
    v = u.copy()
    v[1] = v[0]
    v[0] += v[0]
    return v


def changed_by_name(u):
    v = u.copy()
    first = v[0]
    first += 1.0
    return first + v[0]


def list_that_grows(u):
    v = u.copy()
    first = v[0]
    both = [first] + [v[1]]
    v[0] = 9.0
    return both[0] * both[1] + v[0]


PROGRAMS = [
    recurrence,
    swapped,
    used_before_and_after,
    kept_in_a_list,
    kept_from_the_last_round,
    stored_as_they_are,
    changed_by_name,
    list_that_grows,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_examples_are_as_alone(f):
    u = np.random.default_rng(0).normal(size=(4, 4))
    want = np.array([f(row) for row in u])
    np.testing.assert_allclose(srcjax.vmap(f)(u), want)

    def total(row):
        return np.sum(f(row))

    want = np.array([srcjax.grad(total)(row) for row in u])
    np.testing.assert_allclose(srcjax.vmap(srcjax.grad(total))(u), want)


def test_nothing_is_copied_that_is_used_at_once():
    assert ".copy()" not in srcjax.source(srcjax.vmap(recurrence), np.ones((2, 4)))


def test_zeros_of_a_batch_have_their_shape():
    text = srcjax.source(srcjax.hessian(lambda u: recurrence(u)[3]), np.ones(4))
    assert "v_dot = np.zeros((batch_size, 4))" in text
    assert "broadcast_to" not in text
