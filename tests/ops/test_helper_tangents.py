"""Helpers whose tangent is the helper of the tangent: they are linear, and typed."""

import numpy as np
import pytest

import srcjax
from srcjax import runtime
from srcjax.analysis.types import UNKNOWN, Array, type_of
from srcjax.ops import registry  # noqa: F401  (fills the tables)
from srcjax.ops.helper_tangents import record
from srcjax.ops.helpers import helper_of
from srcjax.ops.record import TANGENTS

rng = np.random.default_rng(0)
M, V = rng.normal(size=(3, 4)), rng.normal(size=5)
LEVELS, PLACES = np.array([2.0, 3.0, 1.0, 1.0, 3.0]), np.array([0, 1, 2, 0, 1])

#: The arguments that each helper is linear in, and the others.
CALLS = {
    "add": ([M, M + 1], []),
    "extreme_at_tangent": ([V], [np.array([2.0, 3.0, 1.0]), LEVELS, PLACES]),
    "in_dtype_of": ([V], [V.copy()]),
    "stack_columns": ([M], [V[:3]]),
    "stack_rows": ([M], [V[:3]]),
    "unappend_left": ([np.arange(17.0)], [M, None]),
    "unbroadcast": ([M], [M[:1]]),
    "uncompress": ([M[:2]], [[True, False, True], M, 0]),
    "undelete": ([M[:2]], [M, 1, 0]),
    "undiag": ([V[:3]], [M, 1]),
    "undiagonal": ([V[:3]], [M]),
    "unextreme_at": ([V[:3]], [np.array([2.0, 3.0, 1.0]), LEVELS, PLACES]),
    "unpad": ([rng.normal(size=8)], [V, (1, 2), "reflect"]),
    "unreduce": ([M.sum(axis=1)], [1, False, M]),
    "unrepeat": ([rng.normal(size=10)], [V, 2, None]),
    "unroll": ([M], [2, 1]),
    "unslide": ([rng.normal(size=(3, 3))], [V, 3]),
    "untake": ([M[[0, 0, 2]]], [M, np.array([0, 0, 2]), 0]),
    "untake_along_axis": ([M], [M, np.argsort(M, axis=1), 1]),
    "untile": ([rng.normal(size=10)], [V, 2]),
}


def test_all_are_here():
    names = {
        key.__name__ if callable(key) else key for key in map(function_of, TANGENTS)
    }
    assert names == set(CALLS)


def function_of(key):
    return TANGENTS[key].args[0]


@pytest.mark.parametrize("name", CALLS)
def test_is_linear(name):
    helper = getattr(runtime, name)
    ds, others = CALLS[name]
    more = [rng.normal(size=d.shape) for d in ds]
    sums = [2 * a - 3 * b for a, b in zip(ds, more, strict=True)]
    wanted = 2 * helper(*ds, *others) - 3 * helper(*more, *others)
    np.testing.assert_allclose(helper(*sums, *others), wanted, atol=1e-12)


@pytest.mark.parametrize("name", CALLS)
def test_reads_no_values_of_the_others(name):
    """A tangent of theirs is left out."""
    helper = getattr(runtime, name)
    ds, others = CALLS[name]
    moved = [
        o * 1.5 if isinstance(o, np.ndarray) and o.dtype.kind == "f" else o
        for o in others
    ]
    np.testing.assert_array_equal(helper(*ds, *others), helper(*ds, *moved))


@pytest.mark.parametrize("name", CALLS)
def test_type_is_that_of_the_result(name):
    helper = getattr(runtime, name)
    ds, others = CALLS[name]
    op = record(helper, tuple(helper_of(helper).parameters[: len(ds)]))
    given = map(type_of, ds + others)
    types = dict(zip(op.signature.parameters, given, strict=False))
    found = op.infer(**types)
    if found != UNKNOWN:
        value = helper(*ds, *others)
        assert isinstance(found, Array)
        assert found.shape == value.shape
        assert found.dtype in (None, value.dtype)


def swapped_and_picked(x):
    y = np.take(x, [2, 0, 2], axis=0) * np.tile(x, 2)[1:4]
    return np.sum(np.roll(y, 1) ** 3) + np.sum(np.take_along_axis(x, ORDER, 0) ** 2)


ORDER = np.array([1, 0, 2])


def test_second_derivatives_call_them_as_they_are():
    x = np.array([0.5, -1.0, 2.0])
    hessian = srcjax.hessian(swapped_and_picked)
    step = 1e-5
    gradient = srcjax.grad(swapped_and_picked)
    moved = [
        (gradient(x + step * e) - gradient(x - step * e)) / (2 * step)
        for e in np.eye(3)
    ]
    np.testing.assert_allclose(hessian(x), np.stack(moved), rtol=1e-7, atol=1e-7)
    text = srcjax.source(hessian, x)
    assert "untake_jvp" not in text and "for x_dot" not in text
    batch = np.stack([x, 2 * x])
    mapped = srcjax.vmap(hessian)
    np.testing.assert_allclose(mapped(batch), [hessian(x), hessian(2 * x)])
    assert "A loop over the examples" not in srcjax.source(mapped, batch)


def test_reverse_of_reverse_reads_their_source():
    x = np.array([0.5, -1.0, 2.0])
    twice = srcjax.grad(lambda x: srcjax.grad(swapped_and_picked)(x) @ ORDER)
    np.testing.assert_allclose(twice(x), srcjax.hessian(swapped_and_picked)(x) @ ORDER)
