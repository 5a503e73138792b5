"""Names that are None or a tuple: where one branch alone binds one."""

import numpy as np
import pytest

import srcjax
from tests.transforms.differences import check_batches, check_derivatives


def largest(x):
    best = None
    for i in range(len(x)):
        if best is None or x[i] > best[0]:
            best = (x[i], i * x[i] ** 2)
    return best[0] * best[1]


def unpacked(x):
    found = None
    if x[0] > 0.1:
        found = (x * x, np.sin(x))
    if found is None:
        return np.sum(x)
    a, b = found
    return np.sum(a * b)


def written_through_it(x):
    a, b = x * 2.0, x * 3.0
    pair = None
    if x[0] > 0.1:
        pair = a, b
    if pair is not None:
        pair[0][1:] = x[:-1] ** 2
        pair[1][...] *= a
    return np.sum(a * b)


def rebound_in_a_loop(x):
    last = None
    total = 0.0
    for value in x:
        if last is not None:
            before, square = last
            total = total + before * value + square
        if value > 0.3:
            last = value, value**2
    return total


def inside_a_container(x):
    state = {"pair": None, "n": 0}
    if x[0] > 0.1:
        state["pair"] = (x, x**3)
    if state["pair"]:
        return np.sum(state["pair"][1]) + state["pair"][0][0]
    return x[0] * 2


def both_or_none(x):
    pair = (x[0], x[1]) if x[0] > 0.1 else None
    value = pair and pair[0] * pair[1]
    return x[2] if value is None else value**2


def a_number_too(x):
    pair = (x[0], x[1]) if x[0] > 0.1 else None
    value = pair
    if x[1] > 0.5:
        value = x[1]
    if value is None:
        return x[2] * x[0]
    return value * x[2] if x[1] > 0.5 else value[0] * x[1]


def of_two_lengths(x):
    found = None
    if x[0] > 0.1:
        found = (x[0], x[1])
    elif x[1] > 0.1:
        found = (x[0], x[1], x[2])
    return 0.0 if found is None else found[0] * found[-1]


def climbs(levels, x):
    level = 0
    while level < len(levels) and x >= levels[level]:
        x -= levels[level] * x
        level += 1
    return level, x


def called_in_one_branch(x):
    if x[0] < 0.1:
        return x[0] * x[1]
    level, rest = climbs([0.1, 0.2, 0.3], x[0])
    return rest**2 * x[level - 1]


def handed_on(x):
    def of(pair, w):
        if pair is None:
            return w**2
        return pair[0] * pair[1] * w

    pair = None
    if x[0] > 0.1:
        pair = (x[0], np.sin(x[1]))
    return of(pair, x[2]) + of(None, x[2])


def written_through_a_list(x):
    a, b = x * 2.0, x * 3.0
    held = 3
    if x[0] > 0.1:
        held = [a, b]
    if held != 3:
        held[0][1:] = x[:-1] ** 2
        held[1][...] *= a
    return np.sum(a * b)


def written_through_one_of_them(x):
    a, b = x * 2.0, x * 3.0
    pair = None
    if x[0] > 0.1:
        pair = a, b
    if pair is not None:
        a, _ = pair
        a[1:] = x[:-1] ** 2
    return np.sum(a * b)


FUNCTIONS = [
    largest,
    unpacked,
    rebound_in_a_loop,
    inside_a_container,
    called_in_one_branch,
    handed_on,
    both_or_none,
    a_number_too,
]
#: Reverse mode refuses them, or their second derivatives.
FORWARD = [
    written_through_it,
    written_through_a_list,
    of_two_lengths,
    written_through_one_of_them,
]
POINTS = np.array([[0.5, 0.9, 0.2], [0.05, 0.4, 0.7], [0.02, 0.03, 0.01]])


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("x", POINTS, ids=["taken", "other", "neither"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f, x):
    check_derivatives(f, x)


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_batches(f):
    check_batches(f, POINTS)


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("x", POINTS, ids=["taken", "other", "neither"])
@pytest.mark.parametrize("f", FORWARD, ids=lambda f: f.__name__)
def test_forward(f, x):
    expected = [(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(srcjax.jacfwd(f)(x), expected, rtol=1e-6, atol=1e-9)
    if f in (of_two_lengths, written_through_one_of_them):
        gradient = srcjax.grad(f)(x)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(srcjax.vmap(f)(POINTS), [f(p) for p in POINTS])


def test_each_part_of_the_adjoint_is_a_name():
    text = srcjax.source(srcjax.grad(largest), POINTS[0])
    assert "dbest_0" in text
    assert "runtime" not in text
    text = srcjax.source(srcjax.grad(unpacked), POINTS[0])
    assert "dfound = (b, a)" in text


def test_numbers_some_of_which_are_missing():
    def f(zs):
        total = 0.0
        for z in zs:
            if z is not None:
                total = total - 0.5 * (z - 1.0) ** 2
        return total

    _, pullback = srcjax.vjp(f, [1.5, None, 3.0])
    ((first, missing, last),) = pullback(1.0)
    assert isinstance(first, float)
    assert isinstance(last, float)
    assert (first, missing, last) == (-0.5, None, -2.0)
