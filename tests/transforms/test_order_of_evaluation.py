"""Calls of the user's that do something are made in the order of the program."""

import gast
import numpy as np
import pytest

import srcjax
from srcjax.analysis.flow.evaluation import evaluated
from srcjax.syntax import dotted

X = np.array([[0.5, 1.0], [2.0, -1.0]])


class Counter:
    """Each of its methods counts, whatever it is called."""

    def __init__(self):
        self.calls = 0

    def get(self):
        self.calls += 1
        return float(self.calls)

    copy = sum = mean = item = get


def three_in_a_row(x):
    q = Counter()
    a = x * q.mean()
    b = x**2 * q.sum()
    c = a * q.copy() + b
    return np.sum(c) * q.item()


def in_front_of_a_choice(x):
    q = Counter()
    a = q.get()
    b = 3.0 * x[0] if x[0] > 0 else a * x[1]
    return b * q.get()


def in_front_of_a_second_test(x):
    q = Counter()
    a = q.get()
    if x[0] > 0 and a > 0.5:
        x = 2 * x
    return np.sum(x) * q.get()


@pytest.mark.parametrize(
    "f", [three_in_a_row, in_front_of_a_choice, in_front_of_a_second_test]
)
def test_as_in_the_program(f):
    def pushed(x, t):
        return srcjax.jvp(f, (x,), (t,))[1]

    ones = np.ones_like(X)
    each = [pushed(x, t) for x, t in zip(X, ones, strict=True)]
    slopes = [(f(x + 1e-6) - f(x - 1e-6)) / 2e-6 for x in X]
    np.testing.assert_allclose(each, slopes, rtol=1e-6)
    np.testing.assert_allclose(srcjax.vmap(pushed)(X, ones), each)
    for x, want in zip(X, each, strict=True):
        np.testing.assert_allclose(np.sum(srcjax.grad(f)(x)), want)
        np.testing.assert_allclose(srcjax.jit(f)(x), f(x))


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("y[i()] = f(g(), h()) + k()", "g h f k i"),
        ("y[i()] += f()", "i f"),
        ("x = {a(): b(), c(): d()}", "a b c d"),
        ("x = a() and b()", "a -"),
        ("x = a() if b() else c()", "b -"),
        ("x = a() < b() < c()", "a b -"),
        ("x = [a() for _ in b()]", "b -"),
        ("x = lambda: a()", "-"),
        ("f(a(), *b(), k=c())", "a b c f"),
    ],
)
def test_order(text, calls):
    (stmt,) = gast.parse(text).body
    found = [
        "-" if node is None else dotted(node.func)
        for node in evaluated(stmt)
        if node is None or isinstance(node, gast.Call)
    ]
    assert " ".join(found) == calls
