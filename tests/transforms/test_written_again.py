"""What is read twice without a name, and sums written once: texts and numbers."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads


def items_twice(image, t):
    i = len(image) // 2
    low = (1 - t) * image[i, 0] + t * image[i, 1]
    return low**2 + (1 - t) * image[i - 1, 0]


def changed_between(x, t):
    y = x.copy()
    low = t * y[0] * y[0]
    y[0] = t
    return low * y[0]


def differences(a, b):
    return np.sum((a - b) ** 2)


def kept_for_later(xs, c):
    total = 0.0
    for x in xs:
        total += np.exp(np.sum((x - c) ** 2))
    return total


def of_two_lines(A, S):
    P = A @ S @ A.T
    return np.sum((P @ A) * (A @ P))


CASES = [
    (items_twice, (np.arange(8.0).reshape(4, 2), 0.3), (0, 1), "part"),
    (differences, (np.arange(3.0), np.ones(3)), (0, 1), "difference = "),
    (of_two_lines, (np.eye(3) + 0.1, np.ones((3, 3))), 0, "dA +="),
]


@pytest.mark.parametrize(("f", "args", "argnums", "gone"), CASES)
def test_what_is_cheap_to_read_again_has_no_name(f, args, argnums, gone):
    df = srcjax.grad(f, argnums=argnums)
    assert gone not in srcjax.source(df, *args)
    check_grads(f, args, order=1, modes=("rev",))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (changed_between, (np.array([2.0, 3.0]), 0.5)),
        (kept_for_later, (np.arange(6.0).reshape(3, 2) / 7, np.ones(2))),
    ],
)
def test_what_changes_or_is_kept_has_a_name(f, args):
    check_grads(f, args, order=1, modes=("rev",))
    text = srcjax.source(srcjax.grad(f, argnums=(0, 1)), *args)
    assert "append(x - c)" not in text
