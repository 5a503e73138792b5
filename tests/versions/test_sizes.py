"""One version serves all sizes of which the same holds."""

import numpy as np
import pytest

import srcjax
from srcjax.versions import callables
from tests.corpus.harness import assert_close, differences


@pytest.fixture
def made(monkeypatch):
    """The versions that were made."""
    found = []
    init = callables.Version.__init__

    def counted(self, *args):
        init(self, *args)
        found.append(self)

    monkeypatch.setattr(callables.Version, "__init__", counted)
    return found


def entries(*shape):
    return np.sin(1.0 + np.arange(float(np.prod(shape, dtype=int)))).reshape(shape)


def squares(x):
    return np.sum(x**2)


def product(w, x):
    return np.sum(np.tanh(x @ w) ** 2)


def residual(w, x, y):
    return np.sum((x @ w - y) ** 2)


def joined(a, b):
    return np.sum(np.concatenate([a, b]) ** 2) + np.sum(a)


def stencil(u):
    v = np.zeros_like(u)
    v[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
    return np.sum(v**2)


def horner(c):
    total = 0.0
    for i in range(len(c)):
        total = total * 0.5 + c[i] ** 2
    return total


def for_sizes(shapes):
    return lambda n: tuple(entries(*shape(n)) for shape in shapes)


CALLS = {
    squares: for_sizes([lambda n: (n,)]),
    product: for_sizes([lambda n: (n, 3), lambda n: (5, n)]),
    residual: for_sizes([lambda n: (n,), lambda n: (2 * n, n), lambda n: (2 * n,)]),
    joined: for_sizes([lambda n: (n,), lambda n: (n + n % 3,)]),
    stencil: for_sizes([lambda n: (n,)]),
    horner: for_sizes([lambda n: (n,)]),
}


def gradient(f):
    df = srcjax.grad(f)

    def check(args):
        assert_close((df(*args),), differences(f, args, (0,)))

    return check


def directional(f):
    return lambda args: srcjax.jvp(f, args, args)


def second(f):
    return lambda args: srcjax.hvp(f, args, args)


def jacobian(f):
    df = srcjax.jacrev(lambda *args: f(*args) * args[0])
    return lambda args: df(*args)


def batched(f):
    examples = srcjax.vmap(f)

    def check(args):
        batch = [np.stack([a] * (len(args[0]) + 1)) for a in args]
        assert_close(examples(*batch), np.full(len(batch[0]), f(*args)))

    return check


@pytest.mark.parametrize("f", CALLS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("way", [gradient, directional, second, jacobian, batched])
def test_sizes_in_a_loop_make_few_versions(f, way, made):
    check, counts = way(f), []
    for n in range(2, 32):
        check(CALLS[f](n))
        counts.append(len(made))
    assert counts[-1] == counts[5], counts


def layers(params, x):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.sum(x**2)


def test_lists_of_other_lengths():
    df, counts = srcjax.grad(layers), []
    for n in range(3, 12):
        widths = [2 + k % 4 for k in range(n + 1)]
        pairs = zip(widths, widths[1:], strict=False)
        params = [(entries(a, b), entries(b)) for a, b in pairs]
        x = entries(4, 2)
        found = df(params, x)
        assert len(found) == n
        fresh = srcjax.grad(layers)(params, x)
        for got, expected in zip(found, fresh, strict=True):
            assert_close(got, expected)
        counts.append(len(set(df.__srcjax_transform__.versions.values())))
    assert counts[-1] <= 3, counts


def alternating(xs):
    a, b = 0.0, 1.0
    for k, x in enumerate(xs):
        a, b = b * np.sin(x), a + x**k
    return a * b / len(xs)


def neighbours(xs):
    return sum(x * y for x, y in zip(xs, xs[1:], strict=False))


@pytest.mark.parametrize(("f", "most"), [(alternating, 1), (neighbours, 7)])
def test_numbers_in_lists_of_other_lengths(f, most):
    df = srcjax.grad(f)
    for n in (3, 4, 6, 2, 1, 5, 9):
        xs = [0.3 + 0.1 * k for k in range(n)]
        expected = differences(lambda x: f(list(x)), (np.array(xs),), (0,))
        assert_close((np.array(df(xs)),), expected)
    assert len(set(df.__srcjax_transform__.versions.values())) <= most


def state_of_two(W, xs):
    h = np.zeros(2)
    for x in xs:
        h = np.tanh(W @ h + x) * h + x
    return np.sum(h**2)


def test_a_size_that_the_function_fixes():
    """The text is for that size, and needs no helper for others."""
    gradient = srcjax.grad(state_of_two)
    text = str(srcjax.source(gradient, np.ones((2, 2)), np.ones((3, 2))))
    assert "unbroadcast" not in text
    assert "W.shape != (2, 2)" in text
    W, xs = np.arange(4.0).reshape(2, 2), np.ones((4, 2))
    expected = state_of_two(W + 1e-6 * np.eye(2), xs) - state_of_two(W, xs)
    assert np.isclose(np.trace(gradient(W, xs)), expected / 1e-6, rtol=1e-3)


def added_to_three(x):
    return np.sum((np.array([1.0, 2.0, 3.0]) + x) ** 2)


def test_a_size_that_a_number_meets_by_chance():
    gradient = srcjax.grad(added_to_three)
    assert gradient(np.ones(3)).tolist() == [4.0, 6.0, 8.0]
    assert gradient(np.ones(1)).tolist() == [18.0]
    assert gradient(np.ones((2, 3))).tolist() == [[4.0, 6.0, 8.0]] * 2
