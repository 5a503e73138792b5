"""Helpers that write to what only a branch of an example makes differ, under `vmap`.

Where the call stands the array is still the same for all examples. That each example
decides whether the call happens gives it a batch axis, which the helper has to see.
There are as many examples as the arrays are long: a missing axis gives no error then.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import srcjax


def push(v, s):
    v[1] = v[0] * s
    v[2] += s


def rows(vs, s):
    for v in vs:
        v[1] = v[0] * s + v[2]


def swap(v):
    v[0], v[1] = v[1], v[0]


def push_each(v, n):
    for i in range(n):
        push(v, v[i] + 1.0)


def fill(v):
    v[:] = [a * 2 + v[0] for a in v]


@dataclass
class Body:
    at: np.ndarray
    mass: float

    def step(self, s):
        self.at[1] = self.at[0] * s + self.mass * 2
        self.mass = self.mass * 2 + self.at[1] * 3


def start():
    return np.array([2.0, 3.0, 5.0])


def in_a_branch(x):
    v = start()
    if np.sum(x) > 0:
        push(v, np.sum(v))
    return np.sum(v)


def of_an_alias(x):
    v = start()
    w = v
    if x[0] > 0:
        push(w, v[2])
    return np.sum(v) * w[0]


def until_each_leaves(x):
    v = start()
    for i in range(3):
        push(v, 0.5)
        if x[i] < 0:
            break
    return np.sum(v)


def of_a_list(x):
    vs = [start(), np.ones(3) * 3]
    if x[0] > 0:
        rows(vs, 1.5)
    return np.sum(vs[0]) * vs[1][1]


def by_helpers_of_helpers(x):
    v = start()
    if x[0] > 0:
        push_each(v, 2)
        swap(v)
        fill(v)
    return v[0] * 2 + v[1] + v[2]


def before_a_place_of_each_example(x):
    v = start()
    push(v, 2.0)
    v[int(x[0] > 0)] = 3.0
    return np.sum(v)


def of_a_method(x):
    body = Body(start(), 1.5)
    if x[0] > 0:
        body.step(2.0)
    return np.sum(body.at) * body.mass


FUNCTIONS = [
    in_a_branch,
    of_an_alias,
    until_each_leaves,
    of_a_list,
    by_helpers_of_helpers,
    before_a_place_of_each_example,
    of_a_method,
]
MIXED = np.array([[0.5, -1.0, 2.0], [-0.3, 0.2, -0.1], [1.0, 0.4, 0.7]])


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", FUNCTIONS)
def test_a_helper_writes_to_each_example(f):
    for xs in (MIXED, np.abs(MIXED)):
        np.testing.assert_allclose(srcjax.vmap(f)(xs), [f(x) for x in xs])


def test_one_vmap_in_another():
    both = srcjax.vmap(srcjax.vmap(in_a_branch))
    xs = np.stack([MIXED, -MIXED])
    expected = [[in_a_branch(x) for x in each] for each in xs]
    np.testing.assert_allclose(both(xs), expected)


def test_the_helper_reads_the_item_of_each_example():
    text = srcjax.source(srcjax.vmap(in_a_branch), MIXED)
    assert "v_taken[:, 1] = v_taken[:, 0] * s" in text
