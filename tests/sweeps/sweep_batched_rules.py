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
