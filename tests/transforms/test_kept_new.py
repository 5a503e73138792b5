"""`v * 1.0` is a new array, also where the text has nothing to compute any more."""

import numpy as np
import pytest

import srcjax
from tests.programs.modes import verdict


def a_row_that_is_scaled_afterwards(x, A, s):
    if s > 5:
        return s
    m = A.copy()
    p = m[0] * 1.0
    m *= s
    return np.sum(p * m)


def signs_powers_and_zeros(x, A, s):
    if s > 5:
        return s
    m = A.copy()
    p = -(-m[0])  # noqa: B002
    q = m[1] ** 1
    r = m + 0.0
    m *= s
    return np.sum(p * m) + np.sum(q * r)


def copies_of_numbers_that_are_rotated(x, A, s):
    if s > 5:
        return s
    v = x.copy()
    v[0], v[1], v[2] = v[1] + 0.0, v[2] / 1, v[0] * 1
    return np.sum(v * A[0])


def a_copy_that_is_an_operand(x, A, s):
    if s > 5:
        return s
    m = A.copy()
    p = m[0].copy() * 1.0
    m[0, 1] = s
    return np.sum(p * m)


def the_new_one_is_written(x, A, s):
    if s > 5:
        return s
    m = A.copy()
    p = m * 1.0
    p[0] *= s
    return np.sum(p * m)


def put_into_containers(x, A, s):
    if s > 5:
        return s
    m = A.copy()
    pair = (m[0] + 0.0, m / 1)
    known = {"a": m[1] * 1.0}
    rows = []
    for i in range(3):
        rows.append(m[i] * 1.0)
        m[i] *= s
    return np.sum(pair[0] * pair[1] * known["a"] * rows[0] * m)


def weighed(v, s):
    t = 0.0
    for e in v:
        t = t + 1 if e > 3 else t - e * s
    w = np.sin(v) * t
    for _ in range(2):
        w = w * w * 0.1
        if w[0] > 3:
            w = w - 1
    return t + w[0], v / 1


def a_function_returns_it(x, A, s):
    t = 0.0
    for _ in range(2):
        q, y = weighed(x, s)
        y[0] *= 2
        t += np.sum(x * y) * q
    return t


PROGRAMS = [
    a_row_that_is_scaled_afterwards,
    signs_powers_and_zeros,
    copies_of_numbers_that_are_rotated,
    a_copy_that_is_an_operand,
    the_new_one_is_written,
    put_into_containers,
    a_function_returns_it,
]


@pytest.mark.parametrize("mode", ["grad", "vmap", "grad(vmap)", "vmap(grad)"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_values(program, mode):
    found, why = verdict(program, 3, 3, mode)
    assert found == "right", why


def test_results_are_not_the_arguments():
    x, batch = np.ones(3), np.ones((2, 3))
    unit = lambda x: x * 1.0  # noqa: E731
    parts = lambda x: (x[1:] / 1, x + 0.0)  # noqa: E731
    y, pullback = srcjax.vjp(unit, x)
    assert not np.shares_memory(y, x)
    assert not np.shares_memory(pullback(x)[0], x)
    assert not np.shares_memory(srcjax.vmap(unit)(batch), batch)
    first, second = srcjax.vmap(parts)(batch)
    assert not np.shares_memory(first, batch)
    assert not np.shares_memory(second, batch)
    assert not np.shares_memory(first, second)


def test_no_copy_where_nothing_is_written():
    text = srcjax.source(srcjax.grad(lambda x: np.sum(x * 1.0)), np.ones(3))
    assert "copy" not in text


def overwritten_in_a_loop(x, A):
    i = 0
    while i < 3:
        i += 1
        scaled = x * 1.0
    out = A.copy()
    for k in range(3):
        out[k] *= np.sum(scaled)
    return out.mean()


def test_an_adjoint_that_is_zero_from_the_second_trip_on():
    A = np.arange(9.0).reshape(3, 3)
    for x in (np.array([1.0, 2.0, 3.0]), np.array([2.0])):
        dx = srcjax.grad(overwritten_in_a_loop)(x, A)
        np.testing.assert_allclose(dx, np.full_like(x, A.mean()))
