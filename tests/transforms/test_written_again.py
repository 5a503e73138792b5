"""What is read twice without a name, and sums written once: texts and numbers."""

import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.testing import check_grads, check_passes
from srcjax.transforms.simplify.one_sum import one_sum
from srcjax.transforms.simplify.signs import signs_in_names


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


def gate(W, x):
    r = 1 / (1 + np.exp(-W @ x))
    return np.sum((r * x) ** 2)


def spring(x, k, steps):
    a = -k * x
    for _ in range(steps):
        x = x + 0.1 * a
        a = -k * x
    return x**2 + a


@pytest.mark.parametrize(
    ("f", "args", "there", "gone"),
    [
        (gate, (np.eye(3) + 0.2, np.arange(3.0)), "dW = np.outer(dWx, x)", "dneg"),
        (spring, (1.0, 0.4, 3), "dk -= da * x", "dneg"),
    ],
)
def test_signs_are_in_names_and_sums_are_one(f, args, there, gone):
    df = srcjax.grad(f, argnums=(0, 1))
    text = srcjax.source(df, *args)
    assert there in text and gone not in text
    check_passes(df, *args)
    check_grads(lambda a, b: f(a, b, *args[2:]), args[:2], order=2, modes=("rev",))


def changed(transform, before):
    node = gast.parse(textwrap.dedent(before)).body[0]
    for stmt in syntax.all_statements(node.body):
        stmt.backward = True
    transform(node)
    return syntax.text(node)


def flipped(node):
    signs_in_names(node, "t".__eq__)


def summed(node):
    one_sum(node, {"t", "dk"}.__contains__)


KEPT = [
    (flipped, "def f(a):\n    t = -a * 2\n    y = t * a\n    return y"),
    (flipped, "def f(a):\n    t = -a\n    y = -(t * t)\n    return y"),
    (flipped, "def f(a):\n    t = -a\n    y = -np.exp(t)\n    return y"),
    (
        summed,
        "def f(a, dk):\n    t = 0.0\n    dk = a\n    t += a\n"
        "    y = dk * 2\n    dk -= t\n    return (dk, y)",
    ),
    (
        summed,
        "def f(a, dk):\n    t = 0.0\n    t += a\n    dk = a\n    dk -= t\n"
        "    return dk",
    ),
]


@pytest.mark.parametrize(("transform", "before"), KEPT)
def test_what_stays(transform, before):
    assert changed(transform, before) == before
