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


def _propagated(P, steps):
    F = np.array([[1.0, 0.1], [-0.1, 1.0]])
    for step in steps:
        P = F @ P * step
    return P


def _of_parameters(parameters, steps):
    return np.sum(_propagated(parameters["P"], steps) ** 2)


def test_a_function_that_is_called_makes_no_gradient_wider():
    """Where it binds its parameter again, to what is in double precision."""
    P, steps = np.eye(2, dtype=np.float32), np.ones(3, np.float32)
    total = lambda P, steps: np.sum(_propagated(P, steps) ** 2)  # noqa: E731
    assert dtypes(srcjax.grad(total, argnums=(0, 1))(P, steps)) == ["float32"] * 2
    assert dtypes(srcjax.vjp(total, P, steps)[1](1.0)) == ["float32"] * 2
    gradient = srcjax.grad(_of_parameters, argnums=(0, 1))
    assert dtypes(gradient({"P": P}, steps)) == ["float32"] * 2
    hessian = srcjax.grad(lambda P: np.sum(srcjax.grad(total)(P, steps) ** 2))
    assert dtypes(hessian(P)) == ["float32"]
