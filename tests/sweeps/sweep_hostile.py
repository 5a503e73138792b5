"""Hostile programs: each mode is right, or refuses; none gives a wrong number."""

import copy
import warnings

import numpy as np
import optree
import pytest

import srcjax
from srcjax.errors import SrcjaxError

from .hostile import known, memory, nested, out_of_sight  # noqa: F401  (registers)
from .hostile.registry import PROGRAMS

every_program = pytest.mark.parametrize(
    ("function", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS]
)


def is_real(leaf):
    return np.asarray(leaf).dtype.kind == "f"


def flat(tree):
    leaves = optree.tree_leaves(tree)
    return np.concatenate([np.ravel(v).astype(float) for v in leaves if is_real(v)])


def moved(tree, step):
    """The tree with `step` added to its real numbers."""
    leaves, spec = optree.tree_flatten(tree)
    at, out = 0, []
    for leaf in leaves:
        if is_real(leaf):
            part = step[at : at + np.size(leaf)].reshape(np.shape(leaf))
            at += np.size(leaf)
            array = isinstance(leaf, np.ndarray)
            leaf = np.asarray(leaf + part) if array else type(leaf)(leaf + part)
        out.append(leaf)
    return optree.tree_unflatten(spec, out)


def value(function, args, step):
    first, *rest = copy.deepcopy(args)
    return float(np.sum(function(moved(first, step), *rest)))


def differences(function, args):
    count = len(flat(args[0]))
    steps = 1e-6 * np.eye(count)
    return np.array(
        [(value(function, args, s) - value(function, args, -s)) / 2e-6 for s in steps]
    )


def judged(run):
    """What a mode gives; the test is skipped where it refuses."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except SrcjaxError as error:
        pytest.skip(f"refused: {str(error).splitlines()[0]}")


def agree(found, wanted):
    both = np.asarray(found, float), np.asarray(wanted, float)
    np.testing.assert_allclose(*both, rtol=1e-4, atol=1e-5)


@every_program
def test_reverse(function, args):
    found, gradient = judged(
        lambda: srcjax.value_and_grad(function)(*copy.deepcopy(args))
    )
    agree(found, function(*copy.deepcopy(args)))
    agree(flat(gradient), differences(function, args))


@every_program
def test_forward(function, args):
    if len(args) > 1 or not all(map(is_real, optree.tree_leaves(args[0]))):
        pytest.skip("not all arguments are real")
    direction = np.random.default_rng(0).normal(size=len(flat(args[0])))
    zero = moved(args[0], -flat(args[0]))
    found, change = judged(
        lambda: srcjax.jvp(function, copy.deepcopy(args), (moved(zero, direction),)),
    )
    agree(found, function(*copy.deepcopy(args)))
    agree(np.sum(change), differences(function, args) @ direction)


@every_program
def test_batch(function, args):
    first, *rest = args
    if not isinstance(first, np.ndarray) or not first.ndim:
        pytest.skip("no batch of arrays")
    batch = np.stack([first, first * 1.01, first * 0.98])
    axes = (0, *[None] * len(rest))
    found = judged(
        lambda: srcjax.vmap(function, axes)(batch.copy(), *copy.deepcopy(rest)),
    )
    agree(found, [function(x.copy(), *copy.deepcopy(rest)) for x in batch])


@every_program
def test_second_order(function, args):
    if len(args) > 1 or not isinstance(args[0], np.ndarray) or not args[0].ndim:
        pytest.skip("one array with axes only")
    x = args[0]
    gradient = judged(lambda: srcjax.grad(function)(x.copy()))
    agree(gradient, differences(function, args))
    direction = np.random.default_rng(0).normal(size=x.shape)
    found = judged(lambda: srcjax.hvp(function, (x.copy(),), (direction,)))
    near = [srcjax.grad(function)(x + s * direction) for s in (1e-5, -1e-5)]
    np.testing.assert_allclose(found, (near[0] - near[1]) / 2e-5, rtol=1e-3, atol=1e-3)
