"""Recursions that remember what they gave: in a dict of their own, or by `cache`."""

import functools
import warnings
from functools import cache, lru_cache

import numpy as np
import pytest

import srcjax

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_derivatives": 30, "test_second_derivatives": 22}

X = np.array([0.5, 0.3, 0.9, 0.2])


def vectors(x):
    memo = {}

    def f(n):
        if n in memo:
            return memo[n]
        r = x * n if n < 2 else np.sin(f(n - 1)) + f(n - 2) * x[0]
        memo[n] = r
        return r

    return np.sum(f(5) * memo[3]) + np.sum(memo[2])


def changed_result(x):
    memo = {}

    def f(n):
        if n in memo:
            return memo[n]
        r = x * n if n < 2 else np.sin(f(n - 1)) + f(n - 2) * x[0]
        memo[n] = r
        return r

    y = f(4)
    y *= 2
    return np.sum(f(4)) + np.sum(memo[3])


def two(x):
    a, b = {}, {}

    def f(n):
        if n not in a:
            a[n] = x[0] if n == 0 else g(n - 1) * x[1] + a.get(n - 1, 1.0)
        return a[n]

    def g(n):
        if n not in b:
            b[n] = x[1] if n == 0 else f(n - 1) + x[0] * g(n - 1)
        return b[n]

    return f(4) * g(3) + a[2] + b[1]


def popped(x):
    memo = {}

    def f(n):
        if n in memo:
            return memo.pop(n)
        r = x[0] if n < 2 else f(n - 1) * f(n - 2) + x[1]
        memo[n] = r
        return r

    return f(5)


def setd(x):
    memo = {}

    def f(n):
        if n in memo:
            return memo[n]
        return memo.setdefault(
            n, x[0] * n if n < 2 else f(n - 1) * 0.5 + f(n - 2) * x[1]
        )

    return f(6)


def getd(x):
    memo = {}

    def f(n):
        v = memo.get(n)
        if v is not None:
            return v
        memo[n] = v = x[0] * n + 1 if n < 2 else f(n - 1) * 0.5 + f(n - 2) * x[1]
        return v

    return f(6)


def outer_fills(x):
    memo = {0: x[0] * x[1], 1: x[1]}

    def f(n):
        if n in memo:
            return memo[n]
        memo[n] = f(n - 1) * 0.5 + f(n - 2) * x[1]
        return memo[n]

    for n in range(4):
        memo[n + 1] = f(n + 1) * 2
    s = sum(memo.values())
    return f(7) + s


def cached(x):
    @cache
    def v(i, j=0):
        if i == 5:
            return x[0] ** j
        i = i + 1
        return 0.4 * v(i, j) + 0.6 * v(i, j + 1) * x[1]

    return v(0)


def cached_kw(x):
    @cache
    def v(i, *, j):
        if i == 5:
            return x[0] ** j
        return 0.4 * v(i + 1, j=j) + 0.6 * v(i + 1, j=j + 1) * x[1]

    return v(0, j=0)


def cached_vec(x):
    @functools.lru_cache
    def basis(i, k):
        if k == 0:
            return np.where((x >= i * 0.2) & (x < (i + 1) * 0.2), 1.0, 0.0)
        return (x - i * 0.2) / (0.2 * k) * basis(i, k - 1) + ((i + k + 1) * 0.2 - x) / (
            0.2 * k
        ) * basis(i + 1, k - 1)

    return np.sum(basis(0, 3) * np.arange(4.0)) + np.sum(basis(1, 2) ** 2)


def edit(x):
    y = np.array([0.3, 0.8, 0.1])

    @functools.cache
    def d(i, j):
        if i == 0:
            return j * 0.7
        if j == 0:
            return i * 0.7
        return min(
            d(i - 1, j) + 0.7,
            d(i, j - 1) + 0.7,
            d(i - 1, j - 1) + (x[i - 1] - y[j - 1]) ** 2,
        )

    return d(3, 3)


def knap(x):
    w = [2, 3, 4, 5]
    memo = {}

    def best(i, c):
        if i == len(w) or c <= 0:
            return 0.0
        if (i, c) not in memo:
            skip = best(i + 1, c)
            take = x[i] + best(i + 1, c - w[i]) if w[i] <= c else -1e9
            memo[i, c] = max(skip, take)
        return memo[i, c]

    return best(0, 8)


def chebyshev(x):
    @lru_cache(None)
    def T(n):
        return 1.0 if n == 0 else x[0] if n == 1 else 2 * x[0] * T(n - 1) - T(n - 2)

    return sum(c * T(k) for k, c in enumerate(x))


def in_list(x):
    def f(n, memo):
        if memo[n] is not None:
            return memo[n]
        memo[n] = x[0] * n if n < 2 else f(n - 1, memo) * x[1] + np.sin(f(n - 2, memo))
        return memo[n]

    return f(6, [None] * 7)


def in_array(x):
    memo = np.full(7, -1.0)

    def f(n):
        if memo[n] >= 0:
            return memo[n]
        if n < 2:
            memo[n] = x[0] * n
        else:
            memo[n] = f(n - 1) * x[1] + 0.3 * f(n - 2)
        return memo[n]

    return f(6) + np.sum(memo**2)


def paths(x):
    memo = np.full((4, 4), np.nan)

    def f(i, j):
        if i < 0 or j < 0:
            return 0.0
        if i == j == 0:
            return x[2]
        if np.isnan(memo[i, j]):
            memo[i, j] = x[0] * f(i - 1, j) + x[1] * f(i, j - 1) * f(i, j - 1)
        return memo[i, j]

    return f(3, 3)


def made_first(x):
    def f(n, memo=None):
        if memo is None:
            memo = {}
        if n in memo:
            return memo[n]
        if n < 2:
            return x[0] * n
        memo[n] = f(n - 1, memo) * x[1] + np.sin(f(n - 2, memo=memo))
        return memo[n]

    return f(6) + f(3)


def ways(n, x, *, memo=None):
    memo = {} if memo is None else memo
    if n < 2:
        return x[n]
    if n not in memo:
        memo[n] = ways(n - 1, x, memo=memo) * x[2] - ways(n - 2, x, memo=memo)
    return memo[n]


def made_first_by_name(x):
    return ways(6, x) * ways(3, x, memo={2: x[3]})


def shared_default(x):
    def f(n, memo={}):  # noqa: B006
        if n < 2:
            return x[0] * n
        if n not in memo:
            memo[n] = f(n - 1) * x[1] + np.sin(f(n - 2))
        return memo[n]

    return f(6) + f(3)


def unread_result(x):
    memo = {}

    def f(n):
        if n not in memo:
            memo[n] = x[n] if n < 2 else f(n - 1) * x[2] + np.sin(f(n - 2))
        return memo[n]

    y = f(5)  # noqa: F841
    f(6)
    return memo[3] * memo[6]


def result_that_is_no_number(x):
    memo = {}

    def f(n):
        if n in memo:
            return True
        if n < 2:
            memo[n] = x[n]
            return False
        known, other = f(n - 1), f(n - 2)
        memo[n] = memo[n - 1] * x[2] + memo[n - 2] * (known + other + 1)
        return known

    late = f(6)
    return memo[3] + memo[6] * late


def table_filled(x):
    table = np.zeros(7)

    def fill(n):
        if n < 2:
            table[n] = x[0] * n
            return
        fill(n - 1)
        table[n] = table[n - 1] * x[1] + table[n - 2] * table[n - 1]

    fill(6)
    return table[6] + np.sum(table**2)


def leaves_of_a_tree(x):
    out = []

    def walk(n, w):
        if n == 0:
            out.append(w)
            return
        walk(n - 1, w * x[1])
        walk(n - 1, w + x[2])

    walk(3, x[0])
    return sum(w**2 for w in out)


PROGRAMS = [
    vectors, two, popped, setd, getd, outer_fills, cached, cached_kw, cached_vec, edit,
    knap, chebyshev, in_list, in_array, paths, made_first, made_first_by_name,
    shared_default, unread_result, result_that_is_no_number, table_filled,
    leaves_of_a_tree,
]  # fmt: skip


def slopes(f, x, step=1e-6):
    places = np.eye(len(x)) * step
    return np.array([(f(x + d) - f(x - d)) / (2 * step) for d in places])


MODES = {
    "grad": lambda f: (srcjax.grad(f)(X), slopes(f, X)),
    "vjp twice": lambda f: twice(srcjax.vjp(f, X)[1], slopes(f, X)),
    "jvp": lambda f: (srcjax.jvp(f, (X,), (X,))[1], slopes(f, X) @ X),
    "jit(grad)": lambda f: (srcjax.jit(srcjax.grad(f))(X), slopes(f, X)),
    "vmap": lambda f: (srcjax.vmap(f)(np.stack([X, X + 0.1])), [f(X), f(X + 0.1)]),
    "vmap(grad)": lambda f: (
        srcjax.vmap(srcjax.grad(f))(np.stack([X, X + 0.1])),
        [slopes(f, X), slopes(f, X + 0.1)],
    ),
}


def twice(pullback, expected):
    pullback(1.0)
    return pullback(2.0)[0], 2 * expected


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f, mode):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        found, expected = MODES[mode](f)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-8)


def test_what_a_recursion_gave_is_what_it_remembers():
    """`y` is the array in the dict: where it is changed, so is that."""
    tangent = srcjax.jvp(changed_result, (X,), (X,))[1]
    np.testing.assert_allclose(tangent, slopes(changed_result, X) @ X, rtol=1e-5)
    batch = srcjax.vmap(changed_result)(np.stack([X, X]))
    np.testing.assert_allclose(batch, changed_result(X))
    with pytest.raises(srcjax.errors.UnsupportedError, match="changed in place"):
        srcjax.grad(changed_result)(X)


def test_the_recursion_is_not_made_again():
    """One call for each item, in the derivative too: 2**60 would not end."""

    def price(s):
        @cache
        def value(i, j):
            if i == 60:
                return s * j
            return 0.5 * (value(i + 1, j) + value(i + 1, j + 1))

        return value(0, 0)

    np.testing.assert_allclose(srcjax.grad(price)(1.3), 30.0)
    text = srcjax.source(srcjax.grad(price), 1.3)
    assert "def value_backward(saved, dresult, dvalue_memo):" in text
    # What is remembered is found by name: nothing of it is copied, or put back.
    assert "contents" not in text and "value_memo_before" not in text


#: Where none of the programs has a kink.
Y = X + 0.013


def bends(f, step=1e-4):
    places = np.eye(len(Y)) * step
    rows = [(slopes(f, Y + d) - slopes(f, Y - d)) / (2 * step) for d in places]
    return np.array(rows)


SECOND = {
    "jvp(grad)": lambda f: srcjax.jvp(srcjax.grad(f), (Y,), (X,))[1],
    "grad(jvp)": lambda f: srcjax.grad(lambda x: srcjax.jvp(f, (x,), (X,))[1])(Y),
    "grad(grad)": lambda f: srcjax.grad(lambda x: srcjax.grad(f)(x) @ X)(Y),
}


@pytest.mark.parametrize("order", SECOND)
@pytest.mark.parametrize("f", PROGRAMS)
def test_second_derivatives(f, order):
    np.testing.assert_allclose(SECOND[order](f), bends(f) @ X, rtol=1e-4, atol=1e-5)


def test_an_array_that_is_read_from_the_table_again_is_put_back():
    """The backward code of `row` reads the table itself."""

    def f(x):
        memo = {}

        def g(n):
            if n in memo:
                return memo[n]
            total = x[0] if n < 1 else g(n - 1)
            for k in range(n):
                total = total * memo[k] + x[1]
            memo[n] = total
            return total

        return g(3)

    np.testing.assert_allclose(srcjax.grad(f)(X), slopes(f, X), rtol=1e-5)
