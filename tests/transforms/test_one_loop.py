"""Loops that go forward and back in one, and those that may not."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes

X = np.linspace(-1.0, 1.2, 8).reshape(4, 2)
C = np.array([0.3, -0.2])


def separate(c, xs):
    total = 0.0
    for x in xs:
        total += np.exp(-np.sum((x - c) ** 2))
    return total


def result_is_scaled(a, n):
    """A sum that starts from the result of the forward loop."""
    h = a / n
    total = 0.0
    for i in range(n):
        total += np.exp(-((a + i * h) ** 2))
    return total * h


def pairs(xs, s):
    energy = 0.0
    for i in range(len(xs)):
        for j in range(i):
            d = xs[i] - xs[j]
            energy += np.exp(-s * np.sum(d * d))
    return energy


def result_is_read(c, xs):
    """What the way back is multiplied by is known after the loop only."""
    total = 0.0
    for x in xs:
        total += np.exp(-np.sum((x - c) ** 2))
    return total**2


def carried(c, xs):
    h = 0.1
    for x in xs:
        h = np.tanh(np.sum(x * c) + h)
    return h


def filled(c, xs):
    y = np.zeros(len(xs))
    for i in range(len(xs)):
        y[i] = np.exp(xs[i] @ c)
    return np.sum(y**2)


def kept_after(c, xs):
    """The last iteration's value is read after the loops."""
    e = 1.0
    total = 0.0
    for x in xs:
        e = np.exp(-np.sum((x - c) ** 2))
        total += e
    return total + e


def places_overlap(c, xs):
    total = 0.0
    for i in range(len(xs)):
        e = np.exp(xs[i] @ c)
        total += e * c[i % 2]
    return total


def steady_inside(log_s, xs):
    """What each iteration computes anew is the same in all of them."""
    total = 0.0
    for x in xs:
        s = np.exp(log_s)
        z = x / s
        total += np.log(np.sum(np.exp(-z * z))) - np.sum(log_s)
    return total


def changes_inside(log_s, xs):
    total = 0.0
    for x in xs:
        s = np.exp(log_s)
        total += np.log(np.sum(np.exp(-x * x / s)))
        log_s = log_s * 0.9
    return total


def computed_again(c, xs):
    """`u` is computed again on the way back, which is the same in one loop."""
    total = 0.0
    for i in range(len(xs)):
        u = xs[i] @ c - c[0]
        total += np.exp(u) * u
    return total


def bound_anew(c, xs):
    """What `u` stands for at the end is not what was saved."""
    total = 0.0
    for i in range(len(xs)):
        u = xs[i] @ c
        total += np.exp(u)
        u = xs[i] @ c * u
        total += np.exp(u)
    return total


ONE = [
    (computed_again, (C, X)),
    (steady_inside, (C, X)),
    (separate, (C, X)),
    (result_is_scaled, (0.7, 5)),
    (pairs, (X, 0.4)),
    (places_overlap, (C, X)),
]
TWO = [
    (bound_anew, (C, X)),
    (changes_inside, (C, X)),
    (result_is_read, (C, X)),
    (carried, (C, X)),
    (filled, (C, X)),
    (kept_after, (C, X)),
]


@pytest.mark.parametrize(("f", "args"), ONE)
def test_independent_iterations_are_one_loop(f, args):
    text = srcjax.source(srcjax.grad(f), *args)
    assert ".append(" not in text and "reversed(" not in text
    check(f, args)


@pytest.mark.parametrize(("f", "args"), TWO)
def test_others_are_two(f, args):
    assert "reversed(" in srcjax.source(srcjax.grad(f), *args)
    check(f, args)


def mean_of_distances(c, xs):
    total = 0.0
    for x in xs:
        total += np.exp(-np.sum((x - c) ** 2))
    return total / len(xs)


def in_pairs(c, xs, ys):
    total = 0.0
    for x, y in zip(xs, ys, strict=False):
        r = np.sum(c * x) - y
        total += r**2 if r > 0 else np.exp(r)
    return total


def of_items(c, xs):
    total = 0.0
    for i, x in enumerate(xs):
        total += np.exp(c[i % 2] * x[0]) * c[0]
    return total / len(xs)


def counts_afterwards(c, xs):
    """What is left in the loop's own list is known behind it."""
    total, seen = 0.0, []
    for x in xs:
        total += np.exp(-np.sum((x - c) ** 2))
        seen.append(x)
    return total * len(seen)


GENERAL = [
    (separate, (C, X), True),
    (mean_of_distances, (C, X), True),
    (in_pairs, (C, X, np.arange(4.0) - 1), True),
    (of_items, (C, X), True),
    (counts_afterwards, (C, X), False),
    (carried, (C, X), False),
    (kept_after, (C, X), False),
    (result_is_read, (C, X), False),
]


@pytest.mark.parametrize(("f", "args", "one"), GENERAL)
def test_loops_over_what_may_be_gone_through_once(f, args, one):
    """Text without types keeps what a loop visits, unless the way back is in it."""
    text = srcjax.source(srcjax.grad(f), general=True)
    assert (".append(" not in text) is one
    world = {}
    exec(text, world)
    expected = srcjax.grad(f)(*args)
    given = world[f"grad_{f.__name__}"]
    np.testing.assert_allclose(given(*args), expected, rtol=1e-12)
    lists = [args[0], *map(list, args[1:])]
    np.testing.assert_allclose(given(*lists), expected, rtol=1e-12)


def test_an_iterator_is_used_up_once():
    text = srcjax.source(srcjax.grad(separate), general=True)
    world = {}
    exec(text, world)
    found = world["grad_separate"](C, (x for x in X))
    np.testing.assert_allclose(found, srcjax.grad(separate)(C, X), rtol=1e-12)


def decaying(k, xs):
    """What the loop visits is put on the tape of what it saves."""
    h = 1.0
    for x in xs:
        h = h * np.exp(-k * x)
    return h


def left_early(k, xs):
    h = 1.0
    for x in xs:
        if x > 0.5:
            break
        h = h * np.exp(-k * x)
    return h


def left_later(k, xs):
    """Two tapes: of all trips, and of those that go on."""
    h = 1.0
    for x in xs:
        h = h + np.sin(k * x)
        if x > 0.5:
            h = h * k
            break
        h = h * np.exp(-k * x)
    return h


def bound_again(k, xs):
    h = 1.0
    for x in xs:
        x = x + h
        h = np.exp(-k * x)
    return h


def zipped(k, xs, ys):
    h = 1.0
    for x, y in zip(xs, ys, strict=False):
        h = h * np.exp(-k * x) + y
    return h


VISITED = [
    (decaying, 1),
    (left_early, 1),
    (left_later, 1),
    (bound_again, 1),
    (zipped, 2),
]


@pytest.mark.parametrize(("f", "count"), VISITED)
def test_visited_items_are_on_the_tape(f, count):
    """So that an iterator is used up once, by derivatives of the text as well."""
    data = [np.linspace(0.2, 0.7, 5), np.linspace(1.0, -1.0, 5)][:count]
    text = srcjax.source(srcjax.grad(f), general=True)
    world = {}
    exec(text, world)
    gradient = world[f"grad_{f.__name__}"]
    expected = srcjax.grad(f)(0.4, *data)
    np.testing.assert_allclose(gradient(0.4, *map(iter, data)), expected, rtol=1e-12)
    steep = (gradient(0.4 + 1e-6, *data) - gradient(0.4 - 1e-6, *data)) / 2e-6
    second = srcjax.grad(srcjax.grad(f))
    np.testing.assert_allclose(second(0.4, *map(list, data)), steep, rtol=1e-6)
    world = {}
    exec(srcjax.source(second, general=True), world)
    again = world[f"grad_grad_{f.__name__}"]
    np.testing.assert_allclose(again(0.4, *data), steep, rtol=1e-6)
    np.testing.assert_allclose(again(0.4, *map(iter, data)), steep, rtol=1e-6)
    world = {}
    exec(srcjax.source(srcjax.jvp(srcjax.grad(f)), general=True), world)
    forward = world[f"jvp_grad_{f.__name__}"]
    steady = [np.zeros_like(x) for x in data]
    found = forward(0.4, *data, 1.0, *steady)[1]
    np.testing.assert_allclose(found, steep, rtol=1e-6)


def check(f, args):
    check_passes(srcjax.grad(f), *args)
    held = lambda a: f(a, *args[1:])  # noqa: E731
    check_grads(held, args[:1], order=2, modes=("rev",))


def indexed_on_the_way_back(xs, ys, a):
    """The adjoints of two sequences, in a loop that goes forward."""
    total = 0.0
    for x, y in zip(xs, ys, strict=False):
        z = np.exp(-a * x)
        total += z * y * x
    return total


def test_items_beside_their_index():
    args = (np.array([0.3, 1.2, -0.4]), np.array([0.5, -0.7]), 0.8)
    both = srcjax.grad(indexed_on_the_way_back, argnums=(0, 1, 2))
    text = str(srcjax.source(both, *args))
    assert "for i, (x, y) in enumerate(zip(xs, ys)):" in text, text
    check_grads(indexed_on_the_way_back, args)
    expected = both(*args)
    world: dict = {}
    exec(srcjax.source(both, general=True), world)
    untyped = world["grad_indexed_on_the_way_back"](*args)
    for found in (srcjax.jit(both)(*args), untyped):
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b)
    lists = ([0.3, 1.2, -0.4], [0.5, -0.7], 0.8)
    found = both(*lists)
    np.testing.assert_allclose(np.concatenate(found[:2]), np.concatenate(expected[:2]))
