"""Masks as NumPy takes them: arrays and lists of truth values or of numbers."""

import numpy as np
import pytest

import srcjax

SAMPLE = 3

X = np.array([0.3, -1.2, 0.9, 2.1])
LIST = [1, 0, 2, 1]
MASKS = {
    "list": LIST,
    "tuple": tuple(LIST),
    "ints": np.array(LIST),
    "floats": np.array(LIST, float),
    "bools": np.array(LIST, bool),
}


def placed(x, m):
    y = x**2
    np.place(y, m, x[:2])
    return y


def put(x, m):
    y = x**2
    np.putmask(y, m, x[0])
    return y


def put_over_and_over(x, m):
    y = x**2
    np.putmask(y, m, x[:3] * 3)
    return y


def copied(x, m):
    y = x**2
    np.copyto(y, x * 3, where=m)
    return y


def copied_from_a_number(x, m):
    y = x**2
    np.copyto(y, x[1], where=m)
    return y


def extracted(x, m):
    return np.extract(m, x**2)


def compressed(x, m):
    return np.compress(m, np.outer(x, x), axis=1)


def chosen(x, m):
    return np.where(m, x**2, x)


def summed(x, m):
    return np.sum(x**2, where=m)


def largest(x, m):
    return np.max(x**2, where=m, initial=0.1)


def added(x, m):
    return np.add(x**2, x, where=m, out=np.zeros(4))


def multiplied(x, m):
    return np.multiply(x**2, x, where=m, out=x * 5)


def divided_by_rows(x, m):
    return np.divide(np.outer(x, x), x + 4.0, where=m, out=np.zeros((4, 4)))


FUNCTIONS = [
    *(placed, put, put_over_and_over, copied, copied_from_a_number, extracted),
    *(compressed, chosen, summed, largest, added, multiplied, divided_by_rows),
]


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("kind", MASKS)
def test_masks_of_all_kinds(f, kind):
    m = MASKS[kind]
    try:
        want = f(X.copy(), m)
    except (TypeError, IndexError):
        pytest.skip("NumPy does not take it")

    def g(x):
        return f(x, m)

    seed = np.cos(np.arange(np.size(want))).reshape(np.shape(want))
    steps = 1e-6 * np.eye(4)
    slopes = [np.sum(seed * (g(X + h) - g(X - h))) / 2e-6 for h in steps]
    value, pullback = srcjax.vjp(g, X)
    np.testing.assert_allclose(value, want)
    np.testing.assert_allclose(pullback(seed)[0], slopes, atol=1e-7)
    value, tangent = srcjax.jvp(g, (X,), (np.ones(4),))
    np.testing.assert_allclose(value, want)
    np.testing.assert_allclose(np.sum(seed * tangent), np.sum(slopes), atol=1e-7)
    np.testing.assert_allclose(srcjax.vmap(g)(np.stack([2 * X, X]))[1], want)
    np.testing.assert_allclose(srcjax.jit(g)(X), want)


def quotient(x):
    return np.sum(np.divide(3.0, x, where=x != 0, out=np.zeros_like(x)))


def test_text_of_a_quotient_where_there_is_one():
    df = srcjax.grad(quotient)
    x = np.array([2.0, 0.0])
    np.testing.assert_array_equal(df(x), [-0.75, 0.0])
    text = srcjax.source(df, x)
    for word in ("unbroadcast", "broadcast_to", "asarray"):
        assert word not in text


def test_a_known_dtype_is_not_asked_for():
    def f(x):
        return np.sum(np.asarray(x, dtype=float) ** 2)

    assert "refuse_whole_numbers" not in srcjax.source(srcjax.grad(f), X)
