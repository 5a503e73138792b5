"""Objects that a function keeps to itself become variables; others stay."""

from dataclasses import dataclass

import numpy as np

import srcjax
from srcjax.testing import check_grads


class Ball:
    gravity = 9.81

    def __init__(self, height):
        self.height = height
        self.speed = 0.0

    def step(self, dt):
        self.speed -= self.gravity * dt
        self.height += self.speed * dt


def fall(height):
    ball = Ball(height)
    for _ in range(3):
        ball.step(0.1)
    return ball.height**2


def test_an_object_is_its_attributes():
    text = srcjax.source(srcjax.jvp(fall), 2.0)
    assert "ball_height" in text
    assert "__new__" not in text


@dataclass
class Pair:
    a: float
    b: float = 3.0


def last_of_two(x):
    held = []
    for i in range(2):
        pair = Pair(x * i)
        pair.b *= x
        held.append(pair)
    return held[0].b + held[1].a


def earlier_one(x):
    total = 0.0
    for i in range(3):
        pair = Pair(x * i)
        if i > 0:
            total = total + kept.a * pair.a  # noqa: F821
        kept = pair  # noqa: F841
    return total


def branch_of_two(x):
    pair = Pair(x)
    other = pair
    if x > 0:
        other = Pair(2.0 * x)
    other.a = other.a * x
    return pair.a + other.a


def test_objects_that_are_kept_or_told_apart_stay_objects():
    assert srcjax.grad(last_of_two)(2.0) == 4.0
    assert srcjax.grad(earlier_one)(2.0) == 8.0
    assert srcjax.jvp(branch_of_two, (2.0,), (1.0,))[1] == 9.0


def several(x):
    low = high = 1.0

    def bend(row):
        out = np.zeros_like(row)
        low = row[1]
        out[0], out[1] = low * high, row[0]
        return out

    for _ in range(2):
        low = x[0]
        x = bend(x) * low
    return np.sum(x)


def test_names_of_inner_functions_are_their_own():
    x = np.array([[0.5, 2.0], [1.0, 3.0]])
    values, slopes = srcjax.vmap(srcjax.value_and_grad(several))(x)
    np.testing.assert_allclose(values, [several(row) for row in x])
    np.testing.assert_allclose(slopes[1], srcjax.grad(several)(x[1]))
    check_grads(several, (x[0],), order=1)


def popped_in_a_branch(x):
    buffer = np.zeros(3)
    held = {"out": buffer, "scale": 2.0}
    scale = held.get("scale", 1.0) + held.get("more", 0.0)
    out = held.pop("out") if x[0] > 0 else held["out"]
    out[:] = scale * x**2
    return (buffer * x).sum()


def taken_from_the_end(x):
    first, second = np.zeros(3), np.zeros(3)
    stack = [first, second]
    top = stack.pop()
    below = stack[-1]
    top[:] = x**2
    below[:] = x**3
    return (first * x).sum() + (2 * second * x).sum()


def test_items_that_are_taken_out():
    for program in (popped_in_a_branch, taken_from_the_end):
        check_grads(program, (np.array([0.5, 1.2, -0.8]),), order=2)
        assert ".pop(" not in srcjax.source(srcjax.grad(program), np.ones(3))
