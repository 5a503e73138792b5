"""Gradients of what has no known shape sum where they have to, and nowhere else."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import srcjax

SHAPES = [(), (1,), (3,), (2, 1), (2, 3), (4, 2, 3), (0, 3)]


def untyped(function, argnums):
    """The gradient that is written without example arguments."""
    transform = srcjax.grad(function, argnums=argnums).__srcjax_transform__
    module = transform.build(transform.hinted_types(), False)
    return getattr(module.load(), module.entry)


def products(a, b, c):
    t = a * b
    return np.sum(t + c * t)


def chain(a, b, c):
    t = a * b
    u = t - c
    v = np.tanh(u)
    return np.sum(v * c)


def read_twice(a, b, c):
    t = a * b
    return np.sum(t * c + t / (1.5 + c**2))


def signs(a, b, c):
    t = -(a + b)
    u = 2.0 * t
    return np.sum(u * c)


def long_chain(a, b, c):
    t = np.sin(a)
    t = t * 1.5
    t = np.cos(t) * b
    t = np.exp(-t)
    t = t * t
    t = np.tanh(t * b)
    return np.sum(t * c)


def branches(a, b, c):
    t = a * b
    if np.sum(c) > 0:
        u = t * c
    else:
        t = np.sin(t)
        u = t - c
    return np.sum(u**2)


def unused_on_one_path(a, b, c):
    t = a + b
    u = c * 2.0
    if np.sum(c) > 0:
        u = u * t
    return np.sum(u)


def accumulated(a, b, c):
    total = 0.0
    for k in range(3):
        term = a * b
        total = total + np.sin(term * (k + 1)) * c
    return np.sum(total)


def started_by_an_argument(a, b, c):
    for _ in range(2):
        a = a + b * c
    return np.sum(a * a)


def started_by_numbers(a, b, c):
    total = 0.0
    other = np.sum(a)
    for _ in range(2):
        total = total + b
        other = other - b * c
    return np.sum(total * a + other)


def started_by_a_sum(a, b, c):
    total = a - b
    for _ in range(2):
        total = total - b * c
    return np.sum(np.cos(total))


def carried(a, b, c):
    h = a
    for _ in range(3):
        t = h * b
        h = np.tanh(t)
    return np.sum(h * c)


def last_of_a_loop(a, b, c):
    t = a
    for _ in range(3):
        t = a * b
    return np.sum(t * c)


def last_of_the_trip_before(a, b, c):
    t = a * 0.5
    total = 0.0
    for _ in range(3):
        total = total + t * c
        t = np.sin(b)
    return np.sum(total)


def left_over_from_a_trip(a, b, c):
    t = a * 2.0
    total = 0.0
    for k in range(4):
        if k % 2 == 0:
            t = np.sin(a) * b
        total = total + t * c
    return np.sum(total)


def nested_loops(a, b, c):
    total = 0.0
    for i in range(2):
        inner = a * (i + 1)
        for j in range(2):
            inner = inner + b * (c - j)
        total = total + inner * b
    return np.sum(total)


def while_loop(a, b, c):
    total = a * 1.0
    k = 0
    while k < 3:
        step = b * c
        total = total + step
        k += 1
        if k == 2:
            break
    return np.sum(total * c)


def choices(a, b, c):
    t = np.where(a > 0, a, b)
    u = np.maximum(t, c)
    return np.sum(u * np.hypot(a, 1.0) + np.arctan2(t, 2.0 + c**2))


def powers(a, b, c):
    t = np.abs(a) ** b
    return np.sum(np.power(2.0 + c, 2.0) / t)


def reduced_and_spread(a, b, c):
    t = a - np.mean(a)
    u = t / (1.0 + np.sum(t * t))
    return np.sum(u * b) + np.sum(np.exp(c) - u)


def helper(x, y):
    t = x * y
    return np.sin(t) + x


def by_helper(a, b, c):
    return np.sum(helper(a, b) * c + helper(c, 2.0))


def in_an_array(a, b, c):
    t = a * b
    y = np.zeros((4, 2, 3))
    y[...] = t + c
    return np.sum(y * y)


FUNCTIONS = [
    products,
    chain,
    read_twice,
    signs,
    long_chain,
    branches,
    unused_on_one_path,
    accumulated,
    started_by_an_argument,
    started_by_numbers,
    started_by_a_sum,
    carried,
    last_of_a_loop,
    last_of_the_trip_before,
    left_over_from_a_trip,
    nested_loops,
    while_loop,
    choices,
    powers,
    reduced_and_spread,
    by_helper,
    in_an_array,
]


#: A sum over nothing has no mean, and an array of ours has a size.
NOT_EMPTY = (reduced_and_spread, in_an_array)
#: What an argument was is not kept where its name stands for more.
IN_DOUBLE = (started_by_an_argument,)


def fitting(count, empty, dtype):
    """Arguments of all kinds of shapes that go together."""
    triples = [
        shapes
        for shapes in itertools.product(SHAPES, repeat=3)
        if fit(shapes) and (empty or (0, 3) not in shapes)
    ]
    chosen = np.random.default_rng(count).permutation(len(triples))[:count]
    for number in chosen:
        rng = np.random.default_rng(number)
        yield [np.asarray(rng.normal(size=s)).astype(dtype) for s in triples[number]]


def fit(shapes):
    """Whether arrays of these shapes are broadcast together."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return (0, 3) in shapes or np.broadcast_shapes(*shapes, (4, 2, 3)) == (4, 2, 3)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_all_kinds_of_broadcasting(function):
    gradient = untyped(function, (0, 1, 2))
    for args in fitting(14, function not in NOT_EMPTY, float):
        compare(gradient, args, differences(function, args), 1e-5)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_single_precision(function):
    if function in IN_DOUBLE:
        return
    gradient = untyped(function, (0, 1, 2))
    for args in fitting(8, function not in NOT_EMPTY, np.float32):
        wide = gradient(*(a.astype(float) for a in args))
        compare(gradient, args, wide, 1e-3)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_with_types(function):
    gradient = untyped(function, (0, 1, 2))
    typed = srcjax.grad(function, argnums=(0, 1, 2))
    for args in fitting(2, function not in NOT_EMPTY, float):
        compare(typed, args, gradient(*args), 1e-10)


def compare(gradient, args, wanted, close):
    for got, want, a in zip(gradient(*args), wanted, args, strict=True):
        assert np.shape(got) == a.shape
        assert np.asarray(got).dtype == a.dtype
        np.testing.assert_allclose(got, want, rtol=close, atol=close)


def differences(function, args, step=1e-6):
    """Central differences of the plain function."""
    found = []
    for position, a in enumerate(args):
        slopes = np.zeros(a.shape)
        for index in np.ndindex(*a.shape):
            values = []
            for sign in (1, -1):
                moved = [x.astype(float) for x in args]
                moved[position] = np.array(moved[position])
                moved[position][index] += sign * step
                values.append(function(*moved))
            slopes[index] = (values[0] - values[1]) / (2 * step)
        found.append(slopes)
    return found


def filtered(a, b, c):
    mean, spread, total = 0.0, 1.0, 0.0
    for k in range(4):
        error = (k + 1) * a - mean
        noise = spread * b**2 + c**2
        gain = spread / noise
        total = total + np.log(noise) + error**2 / noise
        mean = mean + gain * error
        spread = spread * (1 - gain) + 0.1
    return total


def stopped(a, b, c):
    x = a * 1.0
    for k in range(10):
        step = (x * x - b) / (2 * x)
        x = x - step * (1.0 + 0.1 * c)
        if abs(step) < 0.3 or k == 5:
            break
    return x * b


def chosen(a, b, c):
    total = a * b
    for _ in range(4):
        t = total * c
        if t > 0.5:
            total = total + np.sin(t) * a
        else:
            u = t - b
            total = total * u * 0.5
            t = u * a
        total = total + t * t
    return total


def of_items(a, b, c):
    values = np.array([a, b, c])
    total = 0.0
    for value in values:
        t = value * value
        total = total * 0.5 + t * value / (1.0 + t)
    return total * a


def checked(a, b, c):
    total = a * b
    for k in range(3):
        if k > 5:
            message = f"{total} is too large"
            raise ValueError(message)
        t = np.sin(total * c)
        total = total + t * a
    return total * c


@pytest.mark.parametrize("function", [filtered, stopped, chosen, of_items, checked])
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, np.asarray])
def test_numbers(function, kind):
    gradient = untyped(function, (0, 1, 2))
    for values in [(0.9, 0.7, 1.3), (1.5, 2.0, -0.4)]:
        args = [kind(v) for v in values]
        wanted = differences(function, list(map(np.asarray, values)))
        for got, want in zip(gradient(*args), wanted, strict=True):
            assert np.shape(got) == ()
            close = 1e-3 if kind is np.float32 else 1e-6
            np.testing.assert_allclose(got, want, rtol=close, atol=close)
            if kind is not float:
                assert np.asarray(got).dtype == np.asarray(args[0]).dtype


def test_errors_that_are_raised_leave_numbers_numbers():
    assert "unbroadcast" not in srcjax.source(srcjax.grad(checked, argnums=(0, 1, 2)))


def test_numbers_are_computed_again():
    """The tape has what the loop carries, and what takes long to write once more."""
    text = srcjax.source(srcjax.grad(filtered, argnums=(0, 1, 2)))
    assert text.count(".append(") == 1
    assert "tape.append((spread, error, noise))" in text
    assert text.count("gain = spread / noise") == 3  # forward, again, in a comment


def test_sums_are_summed_once():
    def f(w, v, x):
        t = w + v
        u = t - x
        return np.sum(u * x)

    text = srcjax.source(srcjax.grad(f), general=True)
    assert text.count("unbroadcast(") == 1


def test_slopes_are_taken_on_the_smaller_shape():
    def f(w, x):
        t = np.sin(w)
        u = np.tanh(t)
        return np.sum(u * x)

    text = srcjax.source(srcjax.grad(f), general=True)
    assert text.count("unbroadcast(") == 1
    assert ", u)" in text


def test_numbers_are_not_summed():
    def f(x, y):
        t = x * y
        return np.sin(t) * x + y / t

    assert "unbroadcast" not in srcjax.source(srcjax.grad(f, argnums=(0, 1)))


def test_one_shape_is_not_summed():
    def f(x):
        t = np.exp(x) * x
        return np.sum(t * x + 2.0 * t)

    assert "unbroadcast" not in srcjax.source(srcjax.grad(f))


def test_loops_work_on_the_smaller_shape():
    """What goes on in each trip, and what many operations go on, is summed before."""
    calls = []

    class Counted(np.ndarray):
        def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
            plain = [np.asarray(i) for i in inputs]
            result = getattr(ufunc, method)(*plain, **kwargs)
            calls.append(np.size(result))
            return np.asarray(result).view(Counted)

    def f(h, c):
        for _ in range(50):
            t = h * 0.9
            h = np.tanh(t)
        return np.sum(h * c)

    gradient = untyped(f, 0)
    gradient(np.ones(3).view(Counted), np.ones((1000, 3)).view(Counted))
    assert sum(n >= 3000 for n in calls) < 8


def test_what_is_given_from_outside_may_be_smaller():
    def f(a, c):
        t = a + c
        return t * 2.0

    _, pullback = srcjax.vjp(f, 1.0, np.ones(3))
    assert pullback(np.ones(3))[0] == pytest.approx(6.0)


def test_a_result_that_is_no_number_is_told():
    def f(x, c):
        return x + c

    with pytest.raises(ValueError, match="shape"):
        untyped(f, 0)(np.ones(3), np.ones(3))
