"""More functions with rules of their own under `vmap`, and under other transforms."""

import numpy as np
import pytest

import srcjax
from tests.transforms.test_batched_rules import (
    FUNCTIONS,
    W,
    X,
    check,
    no_loops,  # noqa: F401
    of_linear,
    of_product,
)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_the_rule_of_a_batch(f):
    check(f)


def test_batches_of_batches_and_compiled_ones():
    of_all = srcjax.vmap(srcjax.vmap(of_linear, in_axes=(0, None)), in_axes=(None, 0))
    found = of_all(X, np.stack([W, 2 * W]))
    assert np.allclose(found, [[of_linear(x, w) for x in X] for w in (W, 2 * W)])
    mapped = srcjax.jit(srcjax.vmap(of_product, in_axes=(0, None)))
    assert np.allclose(mapped(X, W), [of_product(x, W) for x in X])


def batches(library, numpy):
    """What a function with a batched form of its own gives, and what it is told."""
    told = []

    @library.custom_batching.custom_vmap
    def scaled(x, w):
        return x * w, w

    @scaled.def_vmap
    def scaled_batch(axis_size, in_batched, x, w):
        told.append((axis_size, in_batched))
        w_batched = in_batched[1]
        return (3 * x * w, w), (any(in_batched), w_batched)

    vmap, x, w = library.vmap, numpy.arange(3.0), numpy.ones((2, 3))
    found = [
        vmap(scaled, in_axes=(0, None))(x, 2.0),
        vmap(scaled, in_axes=(None, 0))(2.0, x),
        vmap(scaled, in_axes=(0, 1))(w[0], w[:1]),
        vmap(vmap(scaled, in_axes=(None, 0)), in_axes=(0, None))(w[:, 0], x),
        vmap(lambda v: scaled(w=v, x=1.0)[0])(x),
        library.jvp(vmap(scaled), (x, x), (x, x)),
    ]
    return found, told


def test_batched_forms_beside_those_of_jax():
    import jax.custom_batching

    found, told = batches(srcjax, np)
    want, also = batches(jax, jax.numpy)
    ours, theirs = (jax.tree.leaves(each) for each in (found, want))
    assert len(ours) == len(theirs)
    assert all(map(np.allclose, ours, theirs))
    assert told[0] == also[0] == (3, [True, False])
