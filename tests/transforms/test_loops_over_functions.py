"""Loops over functions that are left early: their trips are written out."""

import numpy as np
import pytest

import srcjax
from srcjax import lax


def square(x):
    return x**2


def triple(x):
    return 3 * x


def up_to_one(x):
    for f in (square, np.sin, triple):
        y = f(x)
        if y > 1:
            break
    return y


def with_more_after(x):
    t = 0.0
    for k, f in enumerate([square, np.sin, triple]):
        t = t + k * f(x)
        if t > 1:
            t = t * x
            break
        else:
            t = t + x
        x = x * 1.5
    return t


def left_in_the_other_branch(x):
    t = 0.0
    for f, w in zip((square, np.sin, triple), (0.5, 2.0, 0.1), strict=True):
        t = t + w * f(x)
        if t < 1:
            t = t * x
        else:
            break
    else:
        t = t * 2
    return t


def where_both_branches_go_on(x):
    t = 0.0
    for f in (square, np.sin, triple):
        if f(x) < 0.3:
            t = t * x + f(x)
            if t > 0.3:
                break
            t = t + 1
        t = t * x
    return t


def passed_by(x):
    t = 0.0
    for f in (square, np.sin, triple):
        if f(x) < 0.3:
            continue
        t = t * x + f(x)
        if t > 3:
            break
    return t


def left_in_a_loop_inside(x):
    t = 0.0
    for f in (square, triple):
        for g in (np.sin, triple):
            t = t + g(x)
            if t > 2:
                break
        t = t * f(x)
        if t > 3:
            break
    return t


def the_one_it_ended_with(x):
    for f in (square, triple):
        if f(x) > 1:
            break
    return f(x) * x


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize(
    "f",
    [
        up_to_one,
        with_more_after,
        left_in_the_other_branch,
        where_both_branches_go_on,
        passed_by,
        left_in_a_loop_inside,
        the_one_it_ended_with,
    ],
    ids=lambda f: f.__name__,
)
def test_derivatives(f):
    points = np.array([0.2, 0.7, 1.3, 2.5])
    step = 1e-6
    slopes = [(f(x + step) - f(x - step)) / (2 * step) for x in points]
    np.testing.assert_allclose([srcjax.grad(f)(x) for x in points], slopes, rtol=1e-6)
    tangents = [srcjax.jvp(f, (x,), (1.0,))[1] for x in points]
    np.testing.assert_allclose(tangents, slopes, rtol=1e-6)
    np.testing.assert_allclose(srcjax.vmap(f)(points), [f(x) for x in points])
    batch = srcjax.vmap(srcjax.grad(f))(points)
    np.testing.assert_allclose(batch, slopes, rtol=1e-6)


@pytest.mark.parametrize("f", [up_to_one, with_more_after], ids=lambda f: f.__name__)
def test_no_loop_is_left(f):
    text = srcjax.source(srcjax.grad(f), 0.7)
    assert not any(line.strip().startswith("for ") for line in text.splitlines())
    assert "list(" not in text


def test_more_trips_than_text_can_be_indented():
    functions = [square, triple] * 60

    def f(x):
        for g in functions:
            y = g(x)
            if y < -1:
                break
        return y

    assert srcjax.grad(f)(0.5) == 3.0


def test_a_switch_is_a_chain_of_branches():
    def f(i, x):
        return lax.switch(i, [square, np.sin, triple], x)

    text = srcjax.source(srcjax.grad(f, argnums=1), 1, 0.5)
    assert [line.strip() for line in text.splitlines() if "#" not in line][-7:-1] == [
        "if i <= 0:",
        "dx = 2 * x",
        "elif i <= 1:",
        "dx = np.cos(x)",
        "else:",
        "dx = 3.0",
    ]


@pytest.mark.filterwarnings("error")
def test_a_batch_of_switches():
    def f(i, x):
        return lax.switch(i, [square, triple, lambda x: -x], x)

    i, x = np.array([2, 0, 1, 9, -4]), np.linspace(0.1, 0.9, 5)
    np.testing.assert_allclose(
        srcjax.vmap(f)(i, x), [f(k, v) for k, v in zip(i, x, strict=True)]
    )
    slopes = srcjax.vmap(srcjax.grad(f, argnums=1))(i, x)
    np.testing.assert_allclose(slopes, [-1, 2 * x[1], 3, -1, 2 * x[4]])


@pytest.mark.parametrize("strict", [True, False])
def test_parts_of_a_test_that_are_known(strict):
    """They are not in the text."""

    def f(x, count=3):
        if strict and x > 0 and count == 3:
            return x**2
        return x**3

    text = srcjax.source(srcjax.grad(f), 0.5)
    assert "strict" not in text
    assert srcjax.grad(f)(2.0) == (4.0 if strict else 12.0)
