"""Parts of lists and tuples, by slices that are given to the function."""

import numpy as np
import pytest

import srcjax
from tests.corpus.harness import assert_close, differences

PART = slice(1, 3)


def of_a_list(x, where):
    xs = [x, x * 2, x * 3]
    r = xs[where]
    return r[0] * r[1] ** 2


def by_default(x, where=PART):
    xs = [x, x * 2, x * 3]
    r = xs[where]
    return r[0] * r[1] ** 2


def from_around(x):
    xs = [x, x * 2, x * 3]
    return xs[PART][0] * xs[PART][1] ** 2


def of_what_a_loop_fills(x, where):
    xs = []
    for i in range(3):
        xs.append(np.sin(x) * (i + 1))  # noqa: PERF401
    return xs[where][0] ** 2 * xs[where][1]


def of_a_tuple(x, where):
    xs = (x, x * 2, x * 3)
    return xs[where][0] * xs[where][-1] ** 2


def held_in_a_dict(x, options):
    xs = [x, x * 2, x * 3]
    return xs[options["where"]][0] ** 3


def written(x, where):
    xs = [x, x * 2, x * 3]
    xs[where] = [x**2, x**3]
    return xs[0] * xs[1] + xs[2]


def made_longer(x, where):
    xs = [x, x * 2, x * 3]
    for k in range(2):
        xs[where] = [x**2, x**3 + k, xs[0]]
    return xs[0] * xs[1] + xs[2] ** 2 * xs[-1]


def deleted(x, where):
    xs = [x, x * 2, x * 3, x**2]
    del xs[where]
    return xs[0] * xs[1]


def joined(x, where):
    xs = (x, x * 2, x * 3)
    both = xs[where] + xs[:1]
    return len(both) * both[0] * both[-1] ** 2


def joined_in_front(x, where):
    xs = [x, x * 2, x * 3]
    both = [x**2] + xs[where]  # noqa: RUF005
    return len(both) * both[0] * both[1] ** 2


def repeated(x, where):
    xs = (x, x * 2, x * 3)
    twice = xs[where] * 2
    return len(twice) * twice[-1] ** 2


def each(x, parts):
    xs = [x, x * 2, x * 3]
    total = 0.0
    for where in parts:
        total = total + xs[where][0] ** 2 * len(xs[where])
    return total


def each_of_a_dict(x, parts):
    xs = tuple([x * (i + 1) for i in range(3)])
    total = 0.0
    for name, where in parts.items():
        both = xs[where] + xs[:1]
        total = total + both[0] * both[-1] * len(name)
    return total


def one_of_two(x, n):
    xs = [x, x * 2, x * 3]
    where = slice(n) if n > 1 else slice(0, 3, 2)
    return xs[where][-1] ** 2 * len(xs[where])


CASES = [
    (of_a_list, (PART,)),
    (by_default, ()),
    (from_around, ()),
    (of_what_a_loop_fills, (PART,)),
    (of_what_a_loop_fills, (slice(None, None, -2),)),
    (of_a_tuple, (PART,)),
    (held_in_a_dict, ({"where": PART},)),
    (written, (PART,)),
    (made_longer, (PART,)),
    (made_longer, (slice(0, 1, 1),)),
    (made_longer, (slice(None, None, -1),)),
    (deleted, (PART,)),
    (joined, (PART,)),
    (joined_in_front, (PART,)),
    (repeated, (PART,)),
    (each, ([slice(0, 2), PART],)),
    (each, ((slice(0, 2), slice(1, None, 2), PART),)),
    (each_of_a_dict, ({"a": slice(0, 2), "bc": PART},)),
    (one_of_two, (2,)),
    (one_of_two, (1,)),
]


@pytest.mark.parametrize(("f", "args"), CASES)
def test_derivatives(f, args):
    expected = differences(f, (0.7, *args), (0,))[0]
    assert_close(srcjax.grad(f)(0.7, *args), expected, rtol=1e-6)
    tangent = srcjax.jvp(lambda x: f(x, *args), (0.7,), (1.0,))[1]
    assert_close(tangent, expected, rtol=1e-6)
    axes = (0, *[None] * len(args))
    rows = srcjax.vmap(srcjax.grad(f), axes)(np.array([0.7, 0.3]), *args)
    assert_close(rows[0], expected, rtol=1e-6)
    assert_close(srcjax.jit(srcjax.grad(f))(0.7, *args), expected, rtol=1e-6)


@pytest.mark.parametrize("f", [of_a_list, deleted])
def test_the_slice_of_each_call(f):
    """Another slice is another part; `del` of items in steps is refused."""
    gradient = srcjax.grad(f)
    for where in (slice(0, 2), slice(1, 3), slice(None, 2)):
        expected = differences(f, (0.7, where), (0,))[0]
        assert_close(gradient(0.7, where), expected, rtol=1e-6)
    steps = slice(None, None, -2)
    if f is deleted:
        with pytest.raises(srcjax.errors.UnsupportedError, match="in steps"):
            gradient(0.7, steps)
    else:
        expected = differences(f, (0.7, steps), (0,))[0]
        assert_close(gradient(0.7, steps), expected, rtol=1e-6)
