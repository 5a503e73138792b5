"""Objects around the function that change where they are only looked at.

Nothing but the function asks them, as often as it says: not the inference of types,
not the backward sweep, and not a branch that other examples take.
"""

import functools

import numpy as np
import pytest

import srcjax


class Counter:
    """Counts how often it is asked for anything."""

    def __init__(self):
        self.n = 0

    def asked(self, answer):
        self.n += 1
        return answer

    @property
    def turn(self):
        self.n += 1
        return self.n

    @functools.cached_property
    def once(self):
        return self.asked(3.0)

    def __getattr__(self, name):
        if name == "made":
            return self.asked(1.5)
        raise AttributeError(name)

    def __getitem__(self, i):
        self.n += i
        return 2.0 * self.n

    def __contains__(self, item):
        return self.asked(True)

    def __len__(self):
        return self.asked(3)

    def __neg__(self):
        return self.asked(1.0)

    def __bool__(self):
        return self.asked(True)

    def __iter__(self):
        return iter(self.asked([1.0, 2.0]))

    def __lt__(self, other):
        return self.asked(True)

    def __float__(self):
        return self.asked(2.0)


class Holder:
    def __init__(self, c):
        self.c = c


c = Counter()
h = Holder(c)


def property_(x):
    return x * c.turn + x * x * c.turn


def cached(x):
    return x * x * c.once * c.n * c.once * c.n


def by_getattr(x):
    return x * x * c.made * c.n * c.made * c.n


def item(x):
    return x * c[1] + x * x * c[1]


def in_loop(x):
    for _ in range(3):
        x = x * x * c.turn
    return x


def unused(x):
    c.turn  # noqa: B018
    c[1]
    len(c)
    return x * c.n


def negated(x):
    return x * c.turn * (-c) * c.n


def contained(x):
    y = x if 3 in c else 2.0 * x
    return y * c.n


def counted(x):
    return x * len(c) * c.n * len(c) * c.n


def compared(x):
    y = 2.0 * x if c < 2 else x
    return y * c.n


def converted(x):
    return x * c.n * float(c) * c.n * float(c)


def iterated(x):
    for v in c:
        x = x * v * c.n
    for v in c:
        x = x * v * c.n
    return x


def truth(x):
    if c:
        x = x * c.n
    if c:
        x = x * x * c.n
    return x


def never_there(x):
    if x > 100.0:
        c.turn  # noqa: B018
    _ = -c
    return x * x * c.n


def held(x):
    if h.c:
        x = x * x * h.c.n
    if 3 in h.c:
        x = x * x * h.c.n
    return x * len(h.c) * h.c.turn * (-h.c) * h.c.n


PROGRAMS = [
    *(property_, cached, by_getattr, item, in_loop, unused, negated, contained),
    *(counted, compared, converted, iterated, truth, never_there, held),
]


def from_new(f, *args):
    """What a call gives where the counter is new, and what it counts."""
    global c, h
    c = Counter()
    h = Holder(c)
    return f(*args), c.n


@pytest.mark.parametrize("f", PROGRAMS)
def test_as_often_as_the_function_asks(f):
    (want, count), eps = from_new(f, 0.7), 1e-6
    ends = [from_new(f, 0.7 + step)[0] for step in (eps, -eps)]
    slope = (ends[0] - ends[1]) / (2 * eps)
    for df in (srcjax.value_and_grad(f), srcjax.jit(srcjax.value_and_grad(f))):
        (value, grad), asked = from_new(df, 0.7)
        assert (value, asked) == (pytest.approx(want), count)
        np.testing.assert_allclose(grad, slope, rtol=1e-6)
    (value, tangent), asked = from_new(srcjax.jvp(f), (0.7,), (1.0,))
    assert (value, asked) == (pytest.approx(want), count)
    np.testing.assert_allclose(tangent, slope, rtol=1e-6)
    assert from_new(srcjax.jit(f), 0.7) == (pytest.approx(want), count)


def some_property(x):
    y = x * 2.0
    if x > 0:
        y = y * c.turn
    return y


def some_item(x):
    return x * c[1] if x > 0 else x


def some_contained(x):
    y = x * 2.0
    if x > 0 and 3 in c:
        y = y * 3.0
    return y + c.n


def some_iterated(x):
    y = x * 2.0
    if x > 0:
        for v in c:
            y = y * v
    return y + c.n


def some_negated(x):
    y = x * 2.0
    if x > 0:
        y = y * (-c)
    return y + c.n


def some_trips(x):
    while x > 0.2:
        x = x * 0.5 * min(c.turn, 1.5)
    return x + c.n


@pytest.mark.parametrize(
    "f",
    [some_property, some_item, some_contained, some_iterated, some_negated, some_trips],
)
def test_for_some_of_the_examples(f):
    xs = np.array([0.5, -0.3, 0.8, -1.0, 0.25])
    want, count = from_new(lambda: [f(x) for x in xs])
    with pytest.warns(srcjax.PerformanceWarning, match="in a loop over the batch"):
        got, asked = from_new(srcjax.vmap(f), xs)
    np.testing.assert_allclose(got, want)
    assert asked == count


class Box:
    def __init__(self, a):
        self.a = a

    @property
    def area(self):
        return self.a * self.side()

    def side(self):
        return 3.0


box = Box(2.0)


def test_what_only_computes_is_computed_once_for_all():
    def f(x):
        y = x * 2.0
        if x > 0:
            y = y * box.area
        return y

    xs = np.array([0.5, -0.3])
    np.testing.assert_allclose(srcjax.vmap(f)(xs), [6.0, -0.6])
