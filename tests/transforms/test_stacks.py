"""Objects made in a function that keep a list: stacks, queues, matrices of rows."""

import inspect

import numpy as np
import pytest

import srcjax
from srcjax import testing


class Stack:
    def __init__(self):
        self.items = []

    def push(self, v):
        self.items.append(v)

    def pop(self):
        return self.items.pop()

    def is_empty(self):
        return len(self.items) == 0

    @property
    def size(self):
        return len(self.items)

    def __len__(self):
        return len(self.items)


class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]

    def __matmul__(self, other):
        columns = other.transposed().rows
        return Matrix(
            [sum(a * b for a, b in zip(row, c, strict=True)) for c in columns]
            for row in self.rows
        )

    def transposed(self):
        return Matrix(zip(*self.rows, strict=True))


class Twice:
    def __init__(self, items):
        self.first, self.second = sum(items), sum(items)


def emptied(x):
    stack = Stack()
    stack.push(x)
    total = 0.0
    while not stack.is_empty():
        v = stack.pop()
        total += v * v
        if v < 6.0:
            stack.push(v * 2.0)
            stack.push(v + 1.5)
    return total


def counted(x):
    stack = Stack()
    stack.push(x)
    steps = 0
    while len(stack) > 0 and steps < 5:
        v = stack.pop()
        stack.push(v * x)
        steps += stack.size
    return stack.pop() * steps + len(stack)


def asked_when_empty(x):
    stack = Stack()
    stack.push(x)
    return stack.pop() * (stack.size + 3) + len(stack)


def postfix(x):
    stack = Stack()
    for token in ["x", "2", "*", "x", "+", "3", "-"]:
        if token == "x":
            stack.push(x)
        elif token in "+-*":
            b, a = stack.pop(), stack.pop()
            stack.push(a + b if token == "+" else a - b if token == "-" else a * b)
        else:
            stack.push(float(token))
    return stack.pop() * (len(stack) + 1)


def filled(x):
    stack = Stack()
    for k in range(3):
        stack.push(x * k)
    for k in range(len(stack)):
        stack.items[k] = stack.items[k] ** 2
    return sum(stack.items)


def squared(x):
    m = Matrix([[x, 2.0], [x * x, 1.0]])
    return (m @ m.transposed()).rows[0][1]


@pytest.mark.parametrize(
    "f", [emptied, counted, asked_when_empty, postfix, filled, squared]
)
def test_gradients(f):
    testing.check_grads(f, (1.3,), order=2)
    assert srcjax.jit(f)(1.3) == pytest.approx(f(1.3))
    if f is not emptied:  # its examples take different branches
        batch = np.array([0.7, 1.3, 2.0])
        np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(x) for x in batch])


def test_loops_keep_their_tests():
    text = srcjax.source(srcjax.grad(emptied), 1.3)
    assert "while not len(stack_items) == 0:" in text
    assert "while True" not in text


def test_iterators_that_a_constructor_uses_twice():
    def f(x):
        found = Twice(v * x for v in (1.0, 2.0))
        return found.first + found.second

    line = inspect.getsourcelines(f)[1] + 1
    with pytest.raises(srcjax.errors.UnsupportedError, match=f"line {line}"):
        srcjax.grad(f)(1.0)
