"""Loops over few items that the text shows: written out, each item as it is."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

A, B = np.array([0.3, 0.9, 0.5]), np.array([1.2, 0.7, 0.8, 0.4])


def in_a_generator(a, b):
    return sum(np.sum(v**2) for v in [a, b])


def numbered(a, b):
    s = 0.0
    for i, v in enumerate([a, b]):
        s += np.sum(v**2) * (i + 1)
    return s


def weighted(a, b):
    s = 0.0
    for v, w in zip([a, b], (2.0, 3.0), strict=True):
        s += w * np.sum(v**2)
    return s


def stored_before(a, b):
    vs = [a, b]
    vs[0] = b * 2
    s = 0.0
    for v in vs:
        s += np.sum(v**2)
    return s + a[0]


def bound_in_the_body(a, b):
    s = 0.0
    for v in (a, b):
        s += np.sum(v**2)
        v = v * 2  # noqa: PLW2901
        s += np.sum(v)
    return s + v[0]


def bound_anew_after(a, b):
    t = (a, b)
    a = a * 3
    s = 0.0
    for v in t:
        s += np.sum(v**2)
    return s + a[0]


def bound_anew_in_a_loop(a, b):
    s = 0.0
    for k in range(3):
        t = (a, b)
        a = a * 1.1
        for v in t:
            s += np.sum(v**2) * k
    return s + a[0]


def two_loops_in_a_comprehension(a, b):
    return sum([np.sum(v) * np.sum(w) for v in (a, b) for w in (a, b)])


def chosen(a, b):
    s = 1.0
    for v in (a, b):
        if v[0] > 0.5:
            s *= np.sum(v)
    return s + a[0]


def the_last(a, b):
    s = 0.0
    for v in (a, b):
        last = v
        s += np.sum(v**2)
    return s * last[0]


def functions_of_each(a, b):
    fs = [(lambda u, v=v: u * np.sum(v)) for v in (a, b)]
    return fs[0](2.0) * fs[1](3.0)


def put_twice(a, b):
    r = []
    for v in (a, b):
        r.append(v)
        r.append(v * 2)
    return np.sum(r[1] * r[0]) + np.sum(r[3])


def in_a_dict(a, b):
    d = {k: np.sum(v**2) for k, v in (("a", a), ("b", b))}
    return d["a"] * d["b"]


def at_least(a, b):
    u, w = np.atleast_1d(a, b)
    return np.sum(np.append(u, w) ** 2)


def of_a_list(a, b):
    u, w = tuple([np.atleast_2d(v) for v in (a, b)])
    return np.sum(u**2) * np.sum(w)


TWICE = [bound_anew_in_a_loop, put_twice, at_least]


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize(
    "f",
    [
        in_a_generator,
        numbered,
        weighted,
        stored_before,
        bound_in_the_body,
        bound_anew_after,
        bound_anew_in_a_loop,
        two_loops_in_a_comprehension,
        chosen,
        the_last,
        functions_of_each,
        put_twice,
        in_a_dict,
        at_least,
        of_a_list,
    ],
)
def test_of_both_items_and_of_each_alone(f):
    check_grads(f, (A, B), order=2 if f in TWICE else 1)
    check_grads(lambda a: f(a, B), (A,), order=1)
    check_grads(lambda b: f(A, b), (B,), order=1)
    mapped = srcjax.vmap(f, in_axes=(0, None))(np.stack([A, 2 * A]), B)
    np.testing.assert_allclose(mapped, [f(A, B), f(2 * A, B)])


def test_only_the_first_of_several_is_differentiated():
    """The items that carry no adjoint had None in the list that the loop went over."""
    got = srcjax.grad(at_least)(1.5, 2.0)
    assert got == pytest.approx(3.0)
    steps = [srcjax.grad(at_least)(x, 2.0) for x in (1.5 - 1e-6, 1.5 + 1e-6)]
    second = srcjax.grad(lambda x: srcjax.grad(at_least)(x, 2.0))(1.5)
    assert second == pytest.approx((steps[1] - steps[0]) / 2e-6, rel=1e-6)


def test_texts_are_those_of_the_items():
    text = str(srcjax.source(srcjax.grad(in_a_generator, argnums=(0, 1)), A, B))
    assert "da = 2 * a" in text and "db = 2 * b" in text and "tape" not in text
    text = str(srcjax.source(srcjax.grad(of_a_list), A, B))
    assert "u, w = np.atleast_2d(a), np.atleast_2d(b)" in text
