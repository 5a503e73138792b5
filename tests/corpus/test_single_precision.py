"""Derivatives of programs in single precision are in single precision.

What the programs make of their own stays in double precision, so that both meet.
"""

import numpy as np
import optree
import pytest

import srcjax

from . import PROGRAMS
from .harness import as_scalar

NAMES = {
    "arrays.methods_of_arrays",
    "changing.ragged_parameters_summed_twice",
    "containers.nested_argument",
    "models.mlp_predict",
    "models.rnn",
    "spelling.object_called_xp",
    "spelling.operator_that_counts",
}
some_programs = pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if p.name in NAMES], ids=lambda p: p.name
)


def narrow(leaf):
    return leaf.astype(np.float32) if isinstance(leaf, np.ndarray) else leaf


def dtypes(tree):
    """The dtypes of arrays; a number of Python's stands for itself."""
    leaves = optree.tree_leaves(tree)
    return [str(v.dtype) if isinstance(v, np.ndarray) else "" for v in leaves]


@some_programs
def test_gradients_have_the_dtypes_of_their_arguments(program):
    args = optree.tree_map(narrow, program.args())
    gradient = srcjax.grad(as_scalar(program), argnums=program.argnums)
    chosen = tuple(args[i] for i in program.argnums)
    found = gradient(*args)
    assert dtypes(found) == dtypes(chosen)
    wide = srcjax.grad(as_scalar(program), argnums=program.argnums)(*program.args())
    for a, b in zip(optree.tree_leaves(found), optree.tree_leaves(wide), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
