"""Objects whose properties, truth and methods change the objects themselves."""

import numpy as np
import pytest

import srcjax
from tests.state.judge import verdict


class Counter:
    def __init__(self):
        self.n = 0

    def mean(self):
        self.n += 1
        return 0.5 * self.n

    @property
    def size(self):
        self.n += 1
        return self.n

    def __bool__(self):
        self.n += 1
        return self.n > 1


class Sums:
    def __init__(self, x):
        self.x = x
        self.k = 0
        self.total = 0.0

    @property
    def grow(self):
        self.k += 1
        self.total = self.total + self.x[self.k - 1] ** self.k
        return self.total


def items_of_a_list(x):
    counters = [Counter(), Counter()]
    s = 1.0
    for i in range(3):
        s = s * x[i] ** counters[i % 2].size
    return s * counters[0].n * counters[1].n


def asked_for_truth(x):
    c = Counter()
    s = x[0]
    if c:
        s = s * x[1]
    if c:
        s = s * x[2] ** 2
    return s * c.n * c.mean()


def branches(x):
    sums = Sums(x)
    s = 1.0
    for _ in range(3):
        if sums.k < 2:
            s = s * sums.grow
    return s * sums.total * sums.k


def grown(sums, k):
    if k == 0:
        return sums.grow
    return grown(sums, k - 1) * sums.grow


def recursion(x):
    sums = Sums(x)
    s = grown(sums, 2)
    return s * sums.total * sums.k


@pytest.mark.parametrize(
    ("program", "mode"),
    [
        (items_of_a_list, "grad"),
        (items_of_a_list, "vmap(grad)"),
        (asked_for_truth, "jvp"),
        (asked_for_truth, "vmap"),
        (branches, "grad"),
        (branches, "jvp"),
        (branches, "vmap"),
        (recursion, "jvp"),
    ],
)
def test_as_differences(program, mode):
    assert verdict(program, mode) == "right"


def test_a_property_counts_in_both_passes():
    def f(s):
        c = Counter()
        s = s * c.size
        s *= c.mean()
        return s

    assert srcjax.grad(f)(1.0) == 1.0
    np.testing.assert_array_equal(srcjax.vmap(srcjax.grad(f))(np.ones(2)), [1, 1])
