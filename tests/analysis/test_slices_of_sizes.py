"""Slices whose bounds are sizes of other arrays: `z[n : 2 * n]` with `n = len(h)`."""

import numpy as np
import pytest

import srcjax
from srcjax.analysis.sizes import Sizes, Sym, made_of
from srcjax.testing import check_grads


def gates(W, U, b, xs, h, c):
    n = len(h)
    for x in xs:
        z = W @ x + U @ h + b
        i = 1 / (1 + np.exp(-z[:n]))
        f = 1 / (1 + np.exp(-z[n : 2 * n]))
        o = np.tanh(z[2 * n : 3 * n])
        c = f * c + i * np.tanh(z[3 * n :])
        h = o * np.tanh(c)
    return np.sum(h**2)


def halves(x):
    n = len(x) // 2
    return np.sum(x[:n] * x[n:])


def first_of_other(x, y):
    m = len(y)
    return np.sum(x[:m] * y) + np.sum(x[m:] ** 2)


def both_ends(x, y):
    return np.sum(x[: len(y)] * y[: len(x)])


def past_the_end(x, w):
    n = len(w)
    total = 0.0
    for i in range(len(x)):
        total += np.sum(x[i:n] ** 2) * w[0]
    return total


def arrays(*shapes):
    rng = np.random.default_rng(0)
    return tuple(rng.normal(size=shape) / 2 for shape in shapes)


GATES = [(12, 2), (12, 3), (12,), (4, 2), (3,), (3,)]
CASES = [
    (gates, GATES, [(8, 1), (8, 2), (8,), (2, 1), (2,), (2,)]),
    (halves, [(6,)], [(2,)]),
    (first_of_other, [(5,), (3,)], [(3,), (3,)]),
    (first_of_other, [(5,), (1,)], [(4,), (2,)]),
    (first_of_other, [(2,), (2,)], [(6,), (1,)]),
    (both_ends, [(5,), (3,)], [(3,), (3,)]),
    (past_the_end, [(4,), (3,)], [(3,), (5,)]),
    (past_the_end, [(4,), (1,)], [(1,), (1,)]),
]


@pytest.mark.parametrize(("function", "first", "second"), CASES)
def test_other_sizes(function, first, second):
    gradient = srcjax.grad(function)
    for shapes in (first, second):
        args = arrays(*shapes)
        check_grads(function, args, order=1)
        want = srcjax.vjp(function, *args)[1](1.0)[0]
        np.testing.assert_allclose(gradient(*args), want)


def test_gates_are_what_the_sizes_make_them():
    text = srcjax.source(srcjax.grad(gates), *arrays(*GATES))
    assert "W: (4 * n, m), U: (4 * n, n), b: (4 * n,)" in " ".join(text.split())
    assert "unbroadcast" not in text


def test_what_does_not_fit_is_refused_as_the_function_does():
    gradient = srcjax.grad(first_of_other)
    assert gradient(*arrays((5,), (3,))).shape == (5,)
    with pytest.raises(srcjax.errors.ArgumentError, match="do not fit together"):
        gradient(*arrays((2,), (3,)))


def of_itself(h, steps):
    c = 0.0
    for _ in range(steps):
        c = c * 0.5 + h[: len(h)]
    return np.sum(c**2)


def test_a_name_that_is_made_of_itself():
    check_grads(lambda h: of_itself(h, 3), arrays((3,)), order=1)


def test_products_of_what_is_supposed_to_be_the_same_later():
    """What is supposed of `m * k` and `n * k` went in circles once `m` was `n`."""
    m, n, k = map(Sym, "mnk")
    sizes = Sizes({"m": 3, "n": 3, "k": 2})
    first, second = made_of("*", m, k), made_of("*", n, k)
    assert sizes.suppose_same(first, second) is not None
    assert sizes.suppose_same(m, n) == m
    assert sizes.resolved(second) == sizes.resolved(first) == first
    assert sizes.resolved_made() == []


def test_the_same_multiples_are_of_the_same():
    m, n = map(Sym, "mn")
    sizes = Sizes({"m": 3, "n": 3})
    assert sizes.suppose_same(made_of("*", 2, m), made_of("*", 2, n)) is not None
    assert sizes.resolved(n) == m
    assert sizes.made == {}


def joined(x, y, z):
    a, b = np.vstack([x, y]), np.hstack([x, y, z])
    return np.sum(a @ a.T) + b @ b


def test_tangents_and_primals_of_one_size():
    def pushed(primals, tangents):
        return srcjax.jvp(joined, primals, tangents)[1]

    x, y, z = np.arange(9.0).reshape(3, 3), np.ones((3, 3)), np.array([0.5, 1.0, 2.0])
    batched = srcjax.vmap(pushed)((x, y, z), (y, x, z))
    rows = [pushed((x[i], y[i], z[i]), (y[i], x[i], z[i])) for i in range(3)]
    np.testing.assert_allclose(batched, rows)
