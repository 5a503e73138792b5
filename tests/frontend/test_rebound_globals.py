"""Functions that set variables of their module: they are set there, by whoever runs."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

X = np.array([1.0, 2.0])
calls = 0
weights = None


def counted(x):
    global calls
    calls += 1
    return np.sum(x**2) * calls


def remembered(x):
    global weights
    if weights is None:
        weights = np.array([3.0, 4.0])
    return np.sum(x * weights)


@pytest.fixture(autouse=True)
def fresh():
    global calls, weights
    calls, weights = 0, None
    yield
    calls, weights = 0, None


@pytest.mark.parametrize(
    "transform",
    [
        srcjax.grad,
        lambda f: srcjax.jit(srcjax.grad(f)),
        lambda f: lambda x: srcjax.vjp(f, x)[1](1.0)[0],
    ],
    ids=["grad", "jit", "vjp"],
)
def test_derivatives(transform):
    derivative = transform(counted)
    for n in (1, 2, 3):
        np.testing.assert_allclose(derivative(X), 2.0 * n * X)
        assert calls == n
    np.testing.assert_allclose(transform(remembered)(X), [3.0, 4.0])
    np.testing.assert_array_equal(weights, [3.0, 4.0])


def test_values():
    compiled = srcjax.jit(counted)
    assert [float(compiled(X)), float(compiled(X)), calls] == [5.0, 10.0, 2]
    value, moved = srcjax.jvp(counted, (X,), (np.ones(2),))
    assert (float(value), float(moved), calls) == (15.0, 18.0, 3)


def test_the_text_names_the_module():
    text = srcjax.source(srcjax.grad(counted), X)
    assert "test_rebound_globals.calls = " in text and "global calls" not in text


def scaled(x):
    return x * calls


def set_here(x):
    global calls
    calls += 1
    return np.sum(scaled(x))


def bump():
    global calls
    calls += 1


def set_in_a_call(x):
    before = np.sum(scaled(x))
    bump()
    return before + np.sum(scaled(x))


@pytest.mark.parametrize(
    ("f", "factor"), [(set_here, 3), (set_in_a_call, 5)], ids=lambda f: f
)
def test_what_another_function_reads_is_what_it_is_then(f, factor):
    global calls
    before, calls = calls, 2
    try:
        np.testing.assert_allclose(srcjax.grad(f)(X), np.full_like(X, factor))
        assert calls == 3  # it was set once
        calls = 2
        tangent = srcjax.jvp(f, (X,), (np.ones_like(X),))[1]
        np.testing.assert_allclose(tangent, factor * X.size)
        assert calls == 3
    finally:
        calls = before


def counting():
    count, other = 0, 0

    def f(x):
        nonlocal count

        def inner():
            nonlocal count, other
            own = 1

            def innermost():
                nonlocal own
                own += 1

            innermost()
            count += own
            other += 1

        inner()
        return x * x * count

    return f, lambda: (count, other)


def rising(u):
    n = u

    def following(k=0.5):
        nonlocal n
        n = np.sin(n) + k
        return n

    return following


def counting_twice():
    count = 0

    def f(x):
        nonlocal count

        def inner(count):
            return count * 2.0

        count += 1
        return inner(x) * count

    return f


def test_variables_of_functions_around():
    f, counts = counting()
    assert srcjax.grad(f)(0.3) == pytest.approx(2 * 2 * 0.3)
    assert srcjax.jvp(f, (0.3,), (1.0,)) == pytest.approx((4 * 0.09, 4 * 0.6))
    assert srcjax.jit(f)(0.3) == pytest.approx(6 * 0.09)
    assert srcjax.vjp(f, 0.3)[1](1.0)[0] == pytest.approx(8 * 0.6)
    assert counts() == (8, 4)
    text = srcjax.source(srcjax.grad(f), 0.3)
    assert "count_cell.cell_contents" in text and "nonlocal" not in text


def found_when_run(x):
    items = [0.5]
    following = rising(1.0)
    items.append(x)
    return following(len(items)) * items[1]


def test_what_only_looks_at_values_takes_no_pullback():
    expected = np.sin(1.0) + 2
    assert srcjax.grad(found_when_run)(0.3) == pytest.approx(expected)
    assert "pullback" not in srcjax.source(srcjax.grad(found_when_run), 0.3)


def differentiated(x):
    global weights
    weights = x * 2.0
    return np.sum(weights)


def two_variables(x):
    def inner():
        global calls
        calls = 3

    calls = 5.0
    inner()
    return np.sum(x) * calls


def test_what_would_be_lost_is_refused():
    with pytest.raises(UnsupportedError, match="from around the function"):
        srcjax.grad(differentiated)(X)
    with pytest.raises(UnsupportedError, match="from around the function"):
        srcjax.grad(rising(1.0))(0.3)
    with pytest.raises(UnsupportedError, match="means another one too"):
        srcjax.grad(counting_twice())(0.3)
    with pytest.raises(UnsupportedError, match="means another one too"):
        srcjax.grad(two_variables)(X)
