"""Names that hold values of several classes: a list or a tuple, a number of NumPy's."""

from collections import namedtuple

import numpy as np
import pytest

import srcjax

Pair = namedtuple("Pair", "u v")


def a_list_or_a_tuple(x):
    y = [x[0], x[1]]
    h = (x[0], x[1]) if x[0] < 0.1 else y
    if isinstance(h, list):
        return h[0] ** 2 * y[1]
    return h[0] * h[1]


def asked_for_its_type(x):
    h = [x[0], x[1]] if x[0] > 0.1 else (x[0], x[1])
    return h[0] ** 2 if type(h) is list else h[1] ** 3


def exchanged_in_a_list(x):
    p = [(x[0], x[1]), [x[1], x[2]]]
    if x[0] > 0.1:
        p[0], p[1] = p[1], p[0]
    first = p[0]
    return first[1] ** 2 if isinstance(first, list) else first[0] * x[2]


def a_named_tuple_or_a_tuple(x):
    h = Pair(x[0], x[1]) if x[0] > 0.1 else (x[0], x[1])
    if isinstance(h, Pair):
        return h[0] * h[1]
    return h[0] ** 2 * x[2]


def a_number_of_either_kind(x):
    h = 1.5 if x[0] > 0.1 else x[0]
    return h * x[0] if isinstance(h, np.floating) else h * x[1]


def twice_one_of_either_kind(x):
    h = (1.5 if x[0] > 0.1 else x[0]) * 2.0
    return h * x[0] if type(h) is float else h * x[1]


def an_index_of_either_kind(x):
    k = 1 if x[0] < 0.1 else np.argmax(x)
    return x[k] ** 2 if isinstance(k, int) else x[k] ** 3


FUNCTIONS = [
    a_list_or_a_tuple,
    asked_for_its_type,
    exchanged_in_a_list,
    a_named_tuple_or_a_tuple,
    a_number_of_either_kind,
    twice_one_of_either_kind,
    an_index_of_either_kind,
]
POINTS = np.array([[0.5, 0.9, 0.2], [0.05, 0.4, 0.7]])


def slope(f, x):
    return [(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(3)]


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_of_each_class(f):
    fast = srcjax.jit(f)
    for x in POINTS:
        if f is a_named_tuple_or_a_tuple:  # which kind of adjoint is not known
            with pytest.raises(srcjax.errors.UnsupportedError, match="Pair"):
                srcjax.grad(f)(x)
        else:
            np.testing.assert_allclose(srcjax.grad(f)(x), slope(f, x), rtol=1e-6)
        np.testing.assert_allclose(srcjax.jacfwd(f)(x), slope(f, x), rtol=1e-6)
        np.testing.assert_allclose(fast(x), f(x))


def none_or_text(x):
    mode = None
    if x[0] > 0.1:
        mode = "product"
    return x[0] * x[1] if mode else x[2] ** 2


def none_or_an_axis(x):
    axis = None if x[0] > 0.1 else 0
    return np.sum(np.outer(x, x).sum(axis=axis) ** 2)


def a_tuple_or_another(x):
    best = None
    if x[0] > 0.1:
        best = (x[0] ** 2, x[1] * x[2])
    a, b = best or (x[1], x[2] ** 2)
    return a * b


def a_number_or_an_array(x):
    s = 0.0
    if x[0] > 0.1:
        s = x * x[1]
    return np.sum(s * x)


def a_whole_number_or_a_float(x):
    h = 2 if x[0] > 0.1 else 3.0
    return h * x[0] if isinstance(h, int) else h * x[1]


BATCHED = [
    a_whole_number_or_a_float,
    none_or_text,
    none_or_an_axis,
    a_tuple_or_another,
    a_number_or_an_array,
]


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", [*FUNCTIONS, *BATCHED], ids=lambda f: f.__name__)
def test_of_some_examples(f):
    np.testing.assert_allclose(srcjax.vmap(f)(POINTS), [f(x) for x in POINTS])
    if f is a_named_tuple_or_a_tuple:
        return
    slopes = [slope(f, x) for x in POINTS]
    found = srcjax.vmap(srcjax.grad(f))(POINTS)
    np.testing.assert_allclose(found, slopes, rtol=1e-6, atol=1e-9)


def sum_of_lists_or_arrays(x):
    h = [x[0], x[1]] if x[0] > 0.1 else x[:2]
    both = h + h
    return sum(both) * len(both)


def tuple_or_number_times_three(x):
    h = (x[0], x[1]) if x[0] > 0.1 else x[0]
    h = h * 3
    return h[0] * h[5] if isinstance(h, tuple) else h**2


@pytest.mark.parametrize("f", [sum_of_lists_or_arrays, tuple_or_number_times_three])
def test_sums_of_what_may_be_lists_are_refused_in_reverse_mode(f):
    for x in POINTS:
        np.testing.assert_allclose(srcjax.jacfwd(f)(x), slope(f, x), rtol=1e-6)
        with pytest.raises(srcjax.errors.UnsupportedError, match="may be a list"):
            srcjax.grad(f)(x)
