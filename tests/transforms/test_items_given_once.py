"""Whoever asks an iterator for its items takes them: no such statement is left out."""

import itertools
import math
import warnings

import numpy as np
import pytest

import srcjax

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 3

S = np.array([1.01, -0.7, 2.2])


def summed(s):
    it = iter([1.0, 2.0])
    z = s + sum(it)
    return s * next(it, 7.0) + z


def listed(s):
    it = iter([1.0, 2.0])
    z = list(it)
    return s * next(it, 7.0) + len(z)


def looked_for(s):
    it = iter([1.0, 2.0, 3.0])
    z = 2.0 in it
    return s * next(it, 7.0) + z


def unpacked(s):
    it = iter([1.0, 2.0])
    a, b = it
    return s * next(it, 7.0) + a


def unpacked_in_a_branch(s):
    it = iter([1.0, 2.0])
    if s > 0:
        a, b = it
        s = s + a * b
    return s * next(it, 7.0)


def looped_over(s):
    it = iter([1.0, 2.0])
    z = s
    for v in it:
        z = z + v
    return s * next(it, 7.0)


def in_a_comprehension(s):
    it = iter([1.0, 2.0])
    z = [v for v in it]
    return s * next(it, 7.0) + len(z)


def starred(s):
    it = iter([1.0, 2.0])
    z = [*it, 1]
    return s * next(it, 7.0) + max(z)


def sliced(s):
    it = iter([1.0, 2.0, 3.0])
    part = itertools.islice(it, 2)
    z = math.fsum(part)
    return s * next(it, 7.0) + z


def held_by_a_dict(s):
    d = {"it": iter([1.0, 2.0])}
    z = sum(d["it"])
    return s * next(d["it"], 7.0) + z


def left_by_two_loops(s):
    it = (float(k + 1) for k in range(9))
    for v in it:
        s = s + 0.1 * v * s
        if s > 3 or s < -3:
            break
    for v in it:
        s = s + 0.1 * v * s * s
        if s > 5 or s < -5:
            break
    return s * next(it, 3.0)


def of_a_generator(s):
    seen = []

    def numbers():
        for k in range(9):
            seen.append(k)
            yield float(k + 1)

    it = numbers()
    for v in it:
        s = s + v * s
        if s > 20 or s < -20:
            break
    return s * next(it) * len(seen)


@pytest.mark.parametrize(
    "f",
    [
        summed,
        listed,
        looked_for,
        unpacked,
        unpacked_in_a_branch,
        looped_over,
        in_a_comprehension,
        starred,
        sliced,
        held_by_a_dict,
        left_by_two_loops,
        of_a_generator,
    ],
)
def test_items_are_taken(f):
    slopes = [(f(s + 1e-6) - f(s - 1e-6)) / 2e-6 for s in S]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        np.testing.assert_allclose(srcjax.vmap(f)(S), [f(s) for s in S])
    df = srcjax.grad(f)
    np.testing.assert_allclose([df(s) for s in S], slopes, rtol=1e-6)
    pushed = [srcjax.jvp(f, (s,), (1.0,))[1] for s in S]
    np.testing.assert_allclose(pushed, slopes, rtol=1e-6)


CALLS = []


def held_under_a_name(s):
    calls = CALLS
    if s > 0:
        calls.append(2)
    return s * len(calls)


def drawn_from_numpy(s):
    if s > 0:
        s = s * np.random.rand()
    return s * np.random.rand()


@pytest.mark.parametrize("f", [held_under_a_name, drawn_from_numpy])
def test_what_stands_around_is_changed_for_some_examples_only(f):
    def each(batched):
        CALLS.clear()
        np.random.seed(0)
        return batched(S)

    want = each(lambda batch: [f(s) for s in batch])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        np.testing.assert_allclose(each(srcjax.vmap(f)), want)


def changed_in_between(s):
    it = (v * s for v in [1.0, 2.0])
    s = 3 * s
    return sum(it) + s


def constant_changed_in_between(s):
    c = 2.0
    it = (v * c for v in [1.0, 2.0])
    c = 3.0
    return s * sum(it)


def acting_in_between(s):
    seen = []
    it = (seen.append(v) or v * s for v in [1.0, 2.0])
    before = len(seen)
    return sum(it) * before


@pytest.mark.parametrize(
    "f", [changed_in_between, constant_changed_in_between, acting_in_between]
)
def test_items_that_change_before_they_are_asked_for(f):
    with pytest.raises(srcjax.errors.UnsupportedError, match="before the iterator"):
        srcjax.grad(f)(1.5)
    np.testing.assert_allclose(srcjax.jit(f)(1.5), f(1.5))


class Squares:
    def of(self, values):
        return (v * v for v in values)


def squares_of_a_method(s):
    squares = Squares().of([s, 3.0])
    return sum(squares) * s


def squares_of_a_method_twice(s):
    squares = Squares().of([s, 3.0])
    return sum(squares) * s + sum(squares)


def test_what_a_method_returns_is_gone_through_once():
    np.testing.assert_allclose(srcjax.grad(squares_of_a_method)(1.5), 15.75)


def test_what_a_method_returns_is_not_gone_through_twice():
    with pytest.raises(srcjax.errors.UnsupportedError, match="that this gives"):
        srcjax.grad(squares_of_a_method_twice)(1.5)
