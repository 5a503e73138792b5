"""`lax.linalg` and other small names, compared with JAX."""

import jax
import numpy as np
import pytest

from srcjax import lax, testing
from tests.corpus.harness import assert_close

A = np.array([[4.0, 1.0, 0.3], [0.7, 3.0, 0.2], [0.1, 0.4, 2.0]])
B = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])


@pytest.mark.parametrize("name", ["cholesky", "eigh", "qr", "svd"])
def test_factors(name):
    with jax.enable_x64(True):
        wanted = jax.tree.leaves(getattr(jax.lax.linalg, name)(A))
    found = getattr(lax.linalg, name)(A)
    found = found if isinstance(found, tuple) else (found,)
    for ours, theirs in zip(found, wanted, strict=True):
        assert_close(np.abs(ours), np.abs(np.asarray(theirs)), rtol=1e-9)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
def test_triangles(left, lower, transposed):
    options = {"left_side": left, "lower": lower, "transpose_a": transposed}
    b = B.T if left else B
    with jax.enable_x64(True):
        wanted = jax.lax.linalg.triangular_solve(A, b, **options)
    assert_close(lax.linalg.triangular_solve(A, b, **options), np.asarray(wanted))
    testing.check_grads(
        lambda a, b: lax.linalg.triangular_solve(a, b, **options), (A, b), order=1
    )


def test_bits_and_shapes():
    x = np.array([-8, 5, 1 << 30], np.int32)
    y = np.array([1, 2, 3], np.int32)
    np.testing.assert_array_equal(
        lax.shift_right_logical(x, y), jax.lax.shift_right_logical(x, y)
    )
    assert lax.broadcast_shapes((3, 1), (1, 4)) == jax.lax.broadcast_shapes(
        (3, 1), (1, 4)
    )
    np.testing.assert_array_equal(lax.tile(B, (2, 1)), jax.lax.tile(B, (2, 1)))
