"""Functions that `jit` is measured on, compiled and by JAX."""

import numpy as np
import optree
import pytest

pytest.importorskip("numba")
pytest.importorskip("jax")

from benchmarks.compiled import JIT, calls_of  # noqa: E402
from benchmarks.compiled_cases import families  # noqa: E402
from benchmarks.peers import OURS  # noqa: E402

WORKS = [work for works in families(True).values() for work in works]


@pytest.mark.parametrize("work", WORKS, ids=lambda w: w.name)
def test_compiled(work):
    found = {peer: optree.tree_leaves(call()) for peer, call in calls_of(work).items()}
    single = "float32" in work.name
    for peer, leaves in found.items():
        rtol = 1e-9 if peer == JIT and not single else 2e-3 if single else 1e-6
        for leaf, wanted in zip(leaves, found[OURS], strict=True):
            scale = float(np.max(np.abs(wanted), initial=0.0))
            np.testing.assert_allclose(leaf, wanted, rtol=rtol, atol=rtol * scale)
