"""What two tapes of a loop hold is saved once; what only looks like it is not."""

import ast

import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.testing import check_grads
from srcjax.transforms.simplify.saved_once import save_once

FORWARD = """
def f(x, n):
    a_tape = []
    b_tape = []
    for i in range(n):
        FILL
    for i in reversed(range(n)):
        a = a_tape.pop()
        TAKE
        d[i] *= 2 * a
    return d
"""
FILL = """a = x[i]
        b_tape.append(x[i])
        a_tape.append(a)
        x[i] = a**2"""
TAKE = "x[i] = b_tape.pop()"


def run(fill, take, number=True):
    text = FORWARD.replace("FILL", fill).replace("TAKE", take)
    node = syntax.gast_of(text).body[0]
    own = {"a_tape", "b_tape"}
    changed = save_once(node, own, lambda item: number, lambda name: set())
    same = ast.unparse(ast.parse(syntax.text(node))) == ast.unparse(ast.parse(text))
    assert changed != same
    return syntax.text(node) if changed else None


def test_an_item_and_its_name():
    text = run(FILL, TAKE)
    assert "b_tape" not in text
    assert "x[i] = a\n" in text


def test_a_name_for_what_is_taken():
    text = run(FILL, "b = b_tape.pop()\n        x[i] = b")
    assert "b_tape" not in text
    assert "x[i] = a\n" in text


@pytest.mark.parametrize(
    ("fill", "take"),
    [
        pytest.param(FILL.replace("a = x[i]", "a = y[i]"), TAKE, id="another item"),
        pytest.param(
            FILL.replace("a = x[i]", "a = x[i]\n        x[0] = 1.0"), TAKE, id="written"
        ),
        pytest.param(
            FILL.replace("a_tape", "a = 2 * a\n        a_tape"), TAKE, id="bound again"
        ),
        pytest.param(
            FILL.replace("a_tape", "if a > 0:\n            continue\n        a_tape"),
            TAKE,
            id="not always both",
        ),
        pytest.param(FILL, "a = 2 * a\n        " + TAKE, id="taken and changed"),
        pytest.param(
            "if i > 0:\n            b_tape.append(x[i])\n        a = x[i]\n"
            "        a_tape.append(a)",
            TAKE,
            id="at times",
        ),
    ],
)
def test_left_alone(fill, take):
    assert run(fill, take) is None


def test_arrays_are_copied():
    assert run(FILL, TAKE, number=False) is None


def relaxed(A, b, x0):
    x = x0.copy()
    for _ in range(3):
        for i in range(len(b)):
            s = A[i] @ x - A[i, i] * x[i]
            x[i] = (b[i] - s) / A[i, i]
    return np.sum(x**2)


def test_relaxation():
    rng = np.random.default_rng(4)
    args = rng.normal(size=(3, 3)) + 4 * np.eye(3), rng.normal(size=3), np.ones(3)
    text = str(srcjax.source(srcjax.grad(relaxed, argnums=(0, 1)), *args))
    assert text.count(".append(") == 1
    check_grads(relaxed, args, order=2)
    np.testing.assert_allclose(args[2], 1.0)


def test_tapes_of_second_derivatives_are_one():
    def growth(x, r):
        for _ in range(4):
            x = x + r * np.sin(x)
        return x

    text = str(srcjax.source(srcjax.hessian(growth), 0.4, 0.3))
    assert text.count(".append(") == 1
    assert "reversed(tape)" in text
    check_grads(growth, (0.4, 0.3), order=2)
