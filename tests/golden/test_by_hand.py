"""What is written by hand is right: what generated texts are measured by."""

import numpy as np
import optree
import pytest

import srcjax

from . import tangents_by_hand
from .inspect_text import generated_statements, textbook_statements
from .ratios import SETS, tangents_of, texts_of

#: Where an example is at a kink, or a person counts on there being none.
CLOSE = {"rtol": 1e-9, "atol": 1e-11}


def assert_close(found, expected, **close):
    pairs = zip(optree.tree_leaves(found), optree.tree_leaves(expected), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a, b, **(close or CLOSE))


#: The sets whose functions are checked, each with its function's name.
CHECKED = [(of, name) for of in ("seminar", "workshop") for name in SETS[of][0].ARGS]


@pytest.mark.parametrize(("of", "name"), CHECKED)
def test_gradients(of, name):
    functions, by_hand = SETS[of]
    args, argnums = functions.ARGS[name]
    gradient = srcjax.grad(getattr(functions, name), argnums=argnums)(*args)
    assert_close(gradient, getattr(by_hand, name)(*args))


@pytest.mark.parametrize(("of", "name"), CHECKED)
def test_other_modes(of, name):
    """The text without types, batches, and second derivatives."""
    functions, _ = SETS[of]
    args, argnums = functions.ARGS[name]
    first = argnums if isinstance(argnums, int) else argnums[0]
    f = getattr(functions, name)
    gradient = srcjax.grad(f, argnums=first)
    world: dict = {}
    texts = dict(texts_of(functions, name))
    exec(texts["untyped"], world)
    expected = srcjax.grad(f, argnums=argnums)(*args)
    assert_close(world[f"grad_{name}"](*args), expected)

    def moved(h):
        at = list(args)
        at[first] = optree.tree_map(lambda a: a + h * direction(a), args[first])
        return gradient(*at)

    ahead, behind = moved(1e-6), moved(-1e-6)
    slopes = optree.tree_map(lambda a, b: (a - b) / 2e-6, ahead, behind)
    if isinstance(args[first], list):  # a matrix of matrices
        return
    second = srcjax.hessian(f, argnums=first)(*args)
    rank = np.ndim(args[first])
    found = np.tensordot(second, direction(args[first]), rank)
    assert_close(found, slopes, rtol=1e-5, atol=1e-6)


def direction(value):
    """Another number for each item."""
    return np.cos(np.arange(np.size(value))).reshape(np.shape(value))


@pytest.mark.parametrize("name", tangents_by_hand.OF)
def test_tangents(name):
    functions = tangents_by_hand.OF[name]
    args, _ = functions.ARGS[name]
    moving = [optree.tree_map(tangent, arg) for arg in args]
    found = srcjax.jvp(getattr(functions, name), args, tuple(moving))
    given = [t for t in moving if t is not None]
    assert_close(found, getattr(tangents_by_hand, name)(*args, *given))


def tangent(value):
    """A direction; None for what has none."""
    if np.asarray(value).dtype.kind != "f":
        return None
    moved = direction(value)
    return moved if isinstance(value, np.ndarray) else float(moved)


def test_tangents_are_as_long_as_by_hand():
    ratios = [
        generated_statements(text) / textbook_statements(tangents_by_hand, name)
        for name, text in tangents_of()
    ]
    assert np.mean(ratios) < 1.1
    assert max(ratios) < 1.5
