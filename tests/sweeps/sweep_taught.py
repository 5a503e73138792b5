"""Programs of courses, benchmarks and blogs in all modes, whole as they stand."""

import copy
import warnings

import numpy as np
import optree
import pytest

import srcjax
from srcjax.errors import SrcjaxError

from .taught import TAUGHT
from .taught_more import MORE
from .taught_objects import OBJECTS

PROGRAMS = TAUGHT | MORE | OBJECTS
rng = np.random.default_rng(1)
TANGENTS = {
    name: optree.tree_map(lambda leaf: rng.normal(size=np.shape(leaf)), args)
    for name, (_, args) in PROGRAMS.items()
}
#: What is refused, by mode.
REFUSED = {
    "micro": {"tangent", "second"},
    "nbody": {"gradient", "jit_of_gradient", "batch_of_gradients", "second"},
    "fft": {"second"},
    "pagerank": {"second"},
}


def flat(tree):
    return [np.asarray(leaf, float) for leaf in optree.tree_leaves(tree)]


def moved(args, step, tangents):
    return optree.tree_map(
        lambda a, d: a + step * (d if np.ndim(d) else float(d)), args, tangents
    )


def inner(a, b):
    return sum(np.sum(p * q) for p, q in zip(flat(a), flat(b), strict=True))


def slope(f, args, tangents, step=1e-6):
    high = f(*copy.deepcopy(moved(args, step, tangents)))
    low = f(*copy.deepcopy(moved(args, -step, tangents)))
    return (high - low) / (2 * step)


def two(args, tangents):
    """Two examples, and the batch of them."""
    other = moved(args, 1e-2, tangents)
    return [args, other], optree.tree_map(lambda a, b: np.stack([a, b]), args, other)


def gradient(f, args, tangents):
    nums = tuple(range(len(args)))
    got = srcjax.grad(f, nums)(*copy.deepcopy(args))
    return inner(got, tangents), slope(f, args, tangents)


def tangent(f, args, tangents):
    got = srcjax.jvp(f, copy.deepcopy(args), tangents)[1]
    return got, slope(f, args, tangents)


def jit(f, args, tangents):
    return srcjax.jit(f)(*copy.deepcopy(args)), f(*copy.deepcopy(args))


def jit_of_gradient(f, args, tangents):
    nums = tuple(range(len(args)))
    got = srcjax.jit(srcjax.grad(f, nums))(*copy.deepcopy(args))
    return inner(got, tangents), slope(f, args, tangents)


def batch(f, args, tangents):
    examples, stacked = two(args, tangents)
    return srcjax.vmap(f)(*stacked), [f(*copy.deepcopy(e)) for e in examples]


def batch_of_gradients(f, args, tangents):
    examples, stacked = two(args, tangents)
    gradient = srcjax.grad(f, tuple(range(len(args))))
    each = [gradient(*copy.deepcopy(e)) for e in examples]
    wanted = [np.stack(pair) for pair in zip(*map(flat, each), strict=True)]
    return flat(srcjax.vmap(gradient)(*stacked)), wanted


def second(f, args, tangents):
    gradient = srcjax.grad(f, tuple(range(len(args))))
    got = srcjax.jvp(gradient, copy.deepcopy(args), tangents)[1]
    high = flat(gradient(*copy.deepcopy(moved(args, 1e-5, tangents))))
    low = flat(gradient(*copy.deepcopy(moved(args, -1e-5, tangents))))
    return flat(got), [(a - b) / 2e-5 for a, b in zip(high, low, strict=True)]


MODES = [gradient, tangent, jit, jit_of_gradient, batch, batch_of_gradients, second]


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.__name__)
@pytest.mark.parametrize("name", PROGRAMS)
def test_taught(name, mode):
    f, args = PROGRAMS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if mode.__name__ in REFUSED.get(name, ()):
            with pytest.raises(SrcjaxError):
                mode(f, args, TANGENTS[name])
            return
        got, wanted = mode(f, args, TANGENTS[name])
    optree.tree_map(
        lambda a, b: np.testing.assert_allclose(
            a, b, rtol=2e-5, atol=2e-5 * (1 + np.max(np.abs(b), initial=0))
        ),
        got if isinstance(got, list) else np.asarray(got),
        wanted if isinstance(got, list) else np.asarray(wanted),
    )
