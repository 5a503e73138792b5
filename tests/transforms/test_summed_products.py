"""Adjoints of matrix products that were broadcast, where no shape is known."""

import itertools
from importlib import import_module

import numpy as np
import pytest

import srcjax


def by_operator(w, b, X, y):
    return np.sum(np.exp(-y * (X @ w + b)))


def by_dot(w, b, X, y):
    return np.sum(np.exp(-y * (np.dot(X, w) + b)))


def by_method(w, b, X, y):
    return np.sum(np.exp(-y * (X.dot(w) - b)))


FUNCTIONS = [by_operator, by_dot, by_method]
ONES = [
    ((3,), (), ()),
    ((3,), (5, 1), (5,)),
    ((3,), (5, 1), (1,)),
    ((3,), (2, 1, 1), ()),
]
TWOS = [((3, 2), (2,), ()), ((3, 2), (5, 1), (1,)), ((3, 2), (2, 5, 1), (2,))]
SHAPES = [
    (w, b, X, y)
    for (w, b, y), X in itertools.product(
        ONES + TWOS, [(3,), (5, 3), (1, 3), (4, 5, 3)]
    )
]


@pytest.fixture(scope="module")
def general(tmp_path_factory):
    """The gradients that know no types, as functions of a module that can be read."""
    folder = tmp_path_factory.mktemp("general")
    texts = [
        str(srcjax.source(srcjax.grad(f, argnums=(0, 1, 2)), general=True))
        for f in FUNCTIONS
    ]
    assert not any("unbroadcast(dtotal, s)" in text for text in texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        found = {}
        for f, text in zip(FUNCTIONS, texts, strict=True):
            name = f"general_{f.__name__}"
            (folder / f"{name}.py").write_text(text)
            found[f] = getattr(import_module(name), f"grad_{f.__name__}")
        yield found


@pytest.mark.parametrize("f", FUNCTIONS)
def test_sums_are_those_of_known_shapes(f, general):
    rng = np.random.default_rng(3)
    for shapes in SHAPES:
        args = [rng.normal(size=shape) for shape in shapes]
        try:
            f(*args)
        except ValueError:
            continue
        found, expected = (
            g(*args) for g in (general[f], srcjax.grad(f, argnums=(0, 1, 2)))
        )
        for a, b in zip(found, expected, strict=True):
            assert np.shape(a) == np.shape(b), shapes
            np.testing.assert_allclose(a, b, rtol=1e-9)
        step = [1e-6 * rng.normal(size=shape) for shape in shapes]
        ahead, behind = (
            f(*(a + sign * s for a, s in zip(args, step, strict=True)))
            for sign in (1, -1)
        )
        first = sum(np.sum(d * s) for d, s in zip(found, step[:3], strict=True))
        still = f(*args[:3], args[3] + step[3]) - f(*args[:3], args[3] - step[3])
        np.testing.assert_allclose(2 * first, ahead - behind - still, rtol=1e-3)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives_of_the_text(f, general):
    """The helper sums also where its call is read with types known."""
    rng = np.random.default_rng(4)
    for shapes in [((3,), (5, 1), (5, 3), (5,)), ((3, 2), (5, 1), (5, 3), (1,))]:
        args = [rng.normal(size=shape) for shape in shapes]
        moving = [rng.normal(size=shapes[0]), *(np.zeros(s) for s in shapes[1:])]
        typed = srcjax.grad(f, argnums=(0, 1, 2))
        found = srcjax.jvp(general[f], tuple(args), tuple(moving))[1]
        expected = srcjax.jvp(typed, tuple(args), tuple(moving))[1]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)
