"""What has a batch axis when a `vmap` is differentiated or mapped: what a call gives.

Defaults and variables from around have none, also where their length happens to be the
number of examples.
"""

import functools
import warnings

import numpy as np
import pytest

import srcjax
from tests.programs.modes import verdict

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

W = np.array([1.0, 2.0, 3.0])
X = np.array([[0.5, 1.0, 2.0], [3.0, 4.0, 5.0], [1.0, 1.0, 7.0]])
ONES = np.ones(3)


def weighted(x, w=W):
    return np.sum(x * w)


def weighted_by_name(x, *, w=W):
    return np.sum(x * w)


def power(x, n, *, scale=2.0):
    return power_loop(x, n, scale)


def power_loop(x, n, total):
    return total if n == 0 else power_loop(x, n - 1, total * x)


def one_side_for_all(x, A, s):
    """In `vmap` of the tangent, that of `A` is the same for all until it is bound."""
    if s > 1.5:
        x = A.T[0]
    else:
        A = np.zeros((3, 3))
    return np.sum(x) + A.mean()


def one(u):
    return 1.0


class Queue:
    def __init__(self):
        self.n = 0

    def append(self, v):
        self.n += v


def same_for_all_that_return(x, A, s):
    """What is added to `s` at last is not known, so the result is no array yet."""
    queue = Queue()
    queue.append(1)
    for _ in range(2):
        if s > -9.0:
            return one(np.tanh(s))
    return s + np.sum(x) * queue.n


@pytest.mark.parametrize("mode", ["vmap", "vmap(jvp)", "vmap(grad)", "vmap(vmap)"])
@pytest.mark.parametrize("f", [one_side_for_all, same_for_all_that_return])
@pytest.mark.parametrize("seed", [1, 3000530])
def test_what_only_some_examples_change(f, mode, seed):
    found, seen = verdict(f, seed, 3, mode)
    assert found in ("right", "skip"), seen


mapped = pytest.mark.parametrize("in_axes", [0, (0,)], ids=repr)
functions = pytest.mark.parametrize("f", [weighted, weighted_by_name])


@mapped
@functions
def test_defaults(f, in_axes):
    batched = srcjax.vmap(f, in_axes=in_axes)
    value, pullback = srcjax.vjp(batched, X)
    np.testing.assert_allclose(value, X @ W)
    np.testing.assert_allclose(pullback(ONES)[0], np.tile(W, (3, 1)))
    np.testing.assert_allclose(srcjax.jvp(batched, (X,), (X,))[1], X @ W)
    np.testing.assert_allclose(srcjax.vmap(batched)(X[None]), (X @ W)[None])
    np.testing.assert_allclose(srcjax.jacrev(batched)(X)[1, 1], W)
    np.testing.assert_allclose(srcjax.jacfwd(batched)(X)[1, 1], W)


@mapped
@functions
def test_defaults_inside(f, in_axes):
    def total(xs):
        return np.sum(srcjax.vmap(f, in_axes=in_axes)(xs) * xs[:, 0])

    expected = W * X[:, :1]
    expected[:, 0] += X @ W
    np.testing.assert_allclose(srcjax.grad(total)(X), expected)


@functions
def test_keywords_are_mapped(f):
    def total(w):
        return srcjax.vmap(f)(X, w=w)[1]

    expected = np.zeros((3, 3))
    expected[1] = X[1]
    np.testing.assert_allclose(srcjax.grad(total)(np.tile(W, (3, 1))), expected)
    _, tangent = srcjax.jvp(total, (X,), (X,))
    np.testing.assert_allclose(tangent, np.sum(X[1] ** 2))


@mapped
def test_variables_from_around(in_axes):
    def first(w, xs):
        def inner(x, shift=w):
            return x * w + shift

        return np.sum(srcjax.vmap(inner, in_axes=in_axes)(xs)[0])

    np.testing.assert_allclose(srcjax.grad(first)(W, X), X[0] + 1)
    np.testing.assert_allclose(srcjax.jvp(first, (W, X), (W, X))[1], W @ (2 * X[0] + 1))


def test_axes_of_another_dimension():
    def first(xs):
        return srcjax.vmap(weighted, in_axes=-1)(xs)[0]

    expected = np.zeros((3, 3))
    expected[:, 0] = W
    np.testing.assert_allclose(srcjax.grad(first)(X), expected)


def test_keyword_only_defaults():
    xs = np.array([1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        slopes = srcjax.vmap(srcjax.grad(power), in_axes=(0, None))(xs, 3)
        np.testing.assert_allclose(slopes, 6 * xs**2)

        def total(xs):
            return np.sum(srcjax.vmap(power, in_axes=(0, None))(xs, 3))

        np.testing.assert_allclose(srcjax.grad(total)(xs), 6 * xs**2)


def after_a_number(x):
    values = [1.0, *x]
    return values[1] * values[2] + values[0]


def beside_a_tuple(x):
    parts = (x[0] * 2, x[1] ** 2)
    return sum((x[1], *parts, 3.0))


def beside_a_comprehension(x):
    values = [*x, *[v * 2 for v in x]]
    return values[0] * values[3]


def total_of(values):
    total = 0.0
    for value in list(values):
        total = total + value * value
    return total


def of_an_array_and_of_a_list(x):
    return total_of(x) + total_of([x[0], x[1] * 2])


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(
    "f",
    [after_a_number, beside_a_tuple, beside_a_comprehension, of_an_array_and_of_a_list],
)
def test_items_of_examples(f, count):
    """`[*x]` has the items of an example, also where there are as many examples."""
    batch = np.array([[0.5, 1.5], [3.0, 4.5], [-1.0, 2.0]])[:count]
    gradient = srcjax.grad(f)
    alone = [gradient(x) for x in batch]
    assert all(isinstance(d, np.ndarray) for d in alone)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(x) for x in batch])
        np.testing.assert_allclose(srcjax.vmap(gradient)(batch), alone)


def parameter_becomes_a_constant(x):
    total = 0.0
    for _ in range(2):
        total = total + x[0]
        x = np.ones(2)
    if x[1] > 0.5:
        total = total * x[1]
    return total


def function_inside_a_branch(x):
    total = x[0]
    if total > 1.0:

        def doubled():
            return [2 * e for e in x]

        total = doubled()[1]
    return total


def constants_unpacked_into_items(x):
    weights = np.zeros(2)
    weights[0], weights[1] = (1, 3)
    return weights[0] * x[0] + weights[1] * x[1]


@pytest.mark.parametrize(
    "f",
    [
        parameter_becomes_a_constant,
        function_inside_a_branch,
        constants_unpacked_into_items,
    ],
)
def test_names_of_which_some_hold_batches(f):
    batch = np.array([[0.5, 1.5], [3.0, 4.5], [-1.0, 2.0]])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(x) for x in batch])


@pytest.mark.parametrize("dtype", [int, float, bool])
def test_the_truth_of_a_number_is_no_index(dtype):
    def branch(x, n):
        if n:
            return x[0] * 2.0
        return 5.0

    def chosen(x, n):
        return x[1] ** (x[0] - 1 if n else 1)

    x, n = np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]), np.array([0, 1, 2], dtype)
    for f in (branch, chosen):
        wanted = [f(*example) for example in zip(x, n, strict=True)]
        np.testing.assert_allclose(srcjax.vmap(f)(x, n), wanted)


def test_the_truth_of_a_container_is_that_of_all_examples():
    def f(x):
        xs = [x, 2 * x]
        return xs[0] if xs else 5.0

    np.testing.assert_array_equal(srcjax.vmap(f)(np.array([0.0, 1.0])), [0, 1])


def any_item(x):
    items = [1.0, x[0], 2.0]
    return sum_of([items[k % 3] * W for k in range(6)])


def any_of_a_tuple(x):
    total = np.zeros(3)
    for item in (1.0, x[0], 2.0):
        total = total + item * W
    return total


def any_of_a_dict(x):
    items = {"a": 1.0, "b": x[0]}
    total = np.zeros(3)
    for key in ("a", "b", "a"):
        total = total + items[key] * W
    return total


def any_pair(x):
    total = np.zeros(3)
    for a, b in [(1.0, x[0]), (x[1], 2.0)]:
        total = total + a * W * b
    return total


def sum_of(items):
    total = 0.0
    for item in items:
        total = total + item
    return total


@pytest.mark.parametrize("f", [any_item, any_of_a_tuple, any_of_a_dict, any_pair])
def test_code_that_reads_any_item_reads_batches(f):
    np.testing.assert_allclose(srcjax.vmap(f)(X), [f(x) for x in X])


def test_partials():
    p = functools.partial(power, n=2, scale=3.0)
    expected = p(X)
    np.testing.assert_allclose(srcjax.vmap(srcjax.vmap(p))(X), expected)
    tangent = srcjax.jvp(srcjax.vmap(p), (X[0],), (ONES,))[1]
    np.testing.assert_allclose(tangent, 6 * X[0])


def product_of(u, k):
    if k == 0:
        return 1.0
    return u * product_of(u, k - 1)


def a_call_without_mapped_arguments(x, t, s):
    if s:
        for _ in range(2):
            s = product_of(t, 2)
            if s > x[1]:
                s = product_of(x[0], 2)
    return s


def test_a_call_that_is_mapped_elsewhere():
    x, s = np.array([[2.0, 1.0], [3.0, 9.0], [4.0, 1.0]]), np.array([0.5, 0.5, 0.0])
    batched = srcjax.vmap(a_call_without_mapped_arguments, in_axes=(0, None, 0))
    f = a_call_without_mapped_arguments
    np.testing.assert_array_equal(
        batched(x, 1.5, s), [f(x[k], 1.5, s[k]) for k in range(3)]
    )
