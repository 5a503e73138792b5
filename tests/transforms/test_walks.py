"""Names that walk over views of one array, also from themselves (`v = v[1:]`)."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import differences

X = np.array([0.4, 0.2, 0.9])
A = np.arange(9.0).reshape(3, 3) / 7 + 0.1


def shorter_each_time(x, A, s):
    m = A.copy()
    v = m.reshape(-1)
    total = 0.0
    for i in range(3):
        v[0] *= s
        total = total + (v**2).sum() * x[i]
        v = v[1:]
    return total + m.sum()


def itself_in_a_branch(x, A, s):
    m = A.copy()
    v = m[0]
    for i in range(3):
        v *= s
        if i > 0:  # noqa: SIM108
            v = m[i]
        else:
            v = v
    return (m**2 * x).sum()


def reversed_each_time(x, A, s):
    m = A.copy()
    v = m[0]
    for i in range(3):
        v *= x[i] * s
        v = v[::-1]
        if i == 1:
            v = m[2]
    return (m**2 * x).sum() + v[0] ** 2


def transposed_each_time(x, A, s):
    m = A.copy()
    v = m
    for _ in range(2):
        v = v.T
        v[0] *= s * x
    return (v**2 * x).sum() + (m * A).sum()


def argument_that_stays_itself(x, A, s):
    if s > 0:  # noqa: SIM108
        x = x
    else:
        x = x * 2
    m = A.copy()
    v = m[-1]
    if s < 2:
        m[1, 1] = np.dot(v * X, v if s > 1 else x)
    else:
        v = np.array([x[0], 1.0, s])
    return (v * X).sum() + m.mean()


def copied_in_between(x, A, s):
    m = A.copy()
    v = m[0]
    for i in range(3):
        v *= s
        v = m[i].copy()
        v += x
        m[i] *= v
    return (m**2).sum()


def from_one_array_to_another(x, A, s):
    m = A.copy()
    out = np.zeros(3)
    v = out
    for i in range(3):
        v += m[i] * s
        v = m[i]
    return (out**2).sum() + (m**2 * x).sum()


PROGRAMS = [
    copied_in_between,
    from_one_array_to_another,
    shorter_each_time,
    itself_in_a_branch,
    reversed_each_time,
    transposed_each_time,
    argument_that_stays_itself,
]


@pytest.mark.parametrize("s", [-0.7, 0.5, 1.5, 2.5])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(program, s):
    got = srcjax.grad(program, (0, 1))(X, A, s)
    for found, expected in zip(
        got, differences(program, (X, A, s), (0, 1)), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-6)
