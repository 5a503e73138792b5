"""What one example takes from an iterator or from random numbers, others go without."""

import warnings

import numpy as np
import pytest

import srcjax

S = np.array([1.0, -1.0, 0.3])


def next_in_a_branch(s):
    it = iter([0.4, 0.7, 0.9])
    y = 0.0
    if s > 0:
        y = next(it)
    return next(it) + s + y


def next_of_a_generator_expression(s):
    it = (v for v in [1.0, 2.0])
    y = s if s > 0 else next(it)
    return next(it) + y


def next_after_or(s):
    it = iter([0.4, 0.7, 0.9])
    if s > 0 or next(it) > 0.3:
        s = 2 * s
    return next(it) + s


def pulled(it):
    return next(it)


def next_in_a_helper(s):
    it = iter([0.4, 0.7, 0.9])
    if s > 0:
        s = s + pulled(it)
    return next(it) + s


def looked_for(s):
    it = iter([0.4, 0.7, 0.9])
    if s > 0 and 0.4 in it:
        s = 2 * s
    return next(it) + s


def summed(s):
    it = iter([0.4, 0.7, 0.9])
    y = sum(it) if s > 0 else 1.0
    return next(it, -1.0) + y * s


def next_in_a_while(s):
    it = iter([0.4, 0.7, 0.9, 0.5, 0.6])
    while s < 1.2:
        s = s + next(it)
    return next(it) + s


def drawn(s):
    rng = np.random.default_rng(0)
    y = s if s > 0 else rng.normal()
    return rng.normal() + y


@pytest.mark.parametrize(
    "f",
    [
        next_in_a_branch,
        next_of_a_generator_expression,
        next_after_or,
        next_in_a_helper,
        looked_for,
        summed,
        next_in_a_while,
        drawn,
    ],
)
def test_examples_that_go_another_way_do_not_feel_it(f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        found = srcjax.vmap(f)(S)
    np.testing.assert_allclose(found, [f(s) for s in S])


#: What the functions below leave behind.
SEEN = []
TABLE = {"rate": 0.5}


def noted():
    SEEN.append(1.0)
    return 1.0


def noted_by_another():
    return noted() if len(SEEN) >= 0 else 0.0


class Note:
    def __call__(self):
        return noted()


note = Note()


def calls_in_a_branch(s):
    y = 2 * s
    if s > 0:
        y = y + noted()
    return y


def calls_through_another(s):
    return s + noted_by_another() if s > 0 else s


def calls_an_object(s):
    while s < 1.2:
        s = s + note()
    return s


def says_so(s):
    if s > 0:
        print("taken")
    return 2 * s


def weights(n):
    found = []
    total = 0.0
    for k in range(n):
        total += TABLE["rate"]
        found.append(total + k)
    table = np.zeros(n)
    table[: len(found)] = found
    return table.sum()


def only_computes(s):
    y = 2 * s
    if s > 0:
        y = y + weights(3)
    return y


@pytest.mark.parametrize(
    "f", [calls_in_a_branch, calls_through_another, calls_an_object]
)
@pytest.mark.parametrize("of", [lambda f: f, srcjax.grad])
def test_what_is_called_in_a_branch_is_done_for_those_that_take_it(f, of):
    SEEN.clear()
    want = [of(f)(s) for s in S]
    count = len(SEEN)
    SEEN.clear()
    with pytest.warns(srcjax.PerformanceWarning, match="for some of the examples"):
        found = srcjax.vmap(of(f))(S)
    np.testing.assert_allclose(found, want)
    assert len(SEEN) == count


def test_each_example_prints(capsys):
    with pytest.warns(srcjax.PerformanceWarning, match="print"):
        srcjax.vmap(says_so)(S)
    assert capsys.readouterr().out == "taken\n" * 2


def test_a_function_that_only_computes_is_called_once_for_all():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = srcjax.vmap(only_computes)(S)
    np.testing.assert_allclose(found, [only_computes(s) for s in S])
