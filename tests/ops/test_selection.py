"""Rules of selecting operations: against differences, under types that tell less."""

from __future__ import annotations

import numpy as np
import pytest

from srcjax.ops.record import lookup
from srcjax.runtime import selection

from .helpers import check_adjoint, check_infer
from .test_products import array, text


@pytest.mark.parametrize("axis", [-1, 0, None])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 2), (0,)])
def test_sort_and_partition(shape, axis):
    x = array(*shape)
    check_adjoint(np.sort, x, axis)
    if x.size:
        check_adjoint(np.partition, x, 1, axis)


def test_ties_are_stable():
    x = np.array([2.0, 1.0, 2.0, 1.0])
    d = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_array_equal(selection.unsort(d, x), [3, 1, 4, 2])


def test_indices_carry_no_derivative():
    x = array(3, 4)
    for function, arguments in [
        (np.argsort, (x,)),
        (np.argsort, (x, None)),
        (np.argpartition, (x, 1)),
        (np.searchsorted, (np.sort(x[0]), x)),
        (np.searchsorted, (np.sort(x[0]), 0.5)),
        (np.nonzero, (x,)),
        (np.flatnonzero, (x,)),
        (np.argwhere, (x,)),
    ]:
        assert lookup(function).inert
        check_infer(function, *arguments)


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize(
    "indices", [1, (2, 0), np.array([0, 2, 2]), np.array([[0, -1], [1, 1]])]
)
def test_take(indices, axis, mode):
    for shape in [(3,), (3, 4), (4, 2, 3)]:
        check_adjoint(np.take, array(*shape), indices, axis, mode=mode)


@pytest.mark.parametrize(
    ("shape", "indices", "axis"),
    [
        ((4,), np.array([3, 0, 0]), 0),
        ((2, 3), np.array([[2, 0], [1, 1]]), 1),
        ((2, 3), np.array([[0, 1, 1]]), 0),
        ((2, 3), np.array([[2], [0]]), -1),
        ((1, 3), np.array([[2], [0]]), -1),
        ((2, 3), np.array([5, 0]), None),
    ],
)
def test_take_along_axis(shape, indices, axis):
    check_adjoint(np.take_along_axis, array(*shape), indices, axis)


def test_compress_extract_select():
    x = array(3, 4)
    check_adjoint(np.compress, np.array([True, False, True]), x, 0, wrt=("x",))
    check_adjoint(np.compress, np.array([False, True, True]), x, wrt=("x",))
    check_adjoint(np.extract, x > 0, x, wrt=("x",))
    conditions = [x > 0.5, x > 0]
    choices = [array(3, 4), array(4)]
    check_adjoint(np.select, conditions, choices, wrt=("choicelist",))
    check_adjoint(np.select, conditions, choices, array(3, 1), wrt=("default",))
    check_adjoint(np.select, conditions, choices, 0.5, wrt=("default",))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("obj", [1, slice(0, 2), np.array([0, 1])])
def test_insert_and_delete(obj, axis):
    x = array(3, 4)
    check_adjoint(np.delete, x, obj, axis, wrt=("x",))
    if not isinstance(obj, slice):
        check_adjoint(np.insert, x, obj, array(), axis)
        check_adjoint(np.insert, x, obj, array(1), axis)


@pytest.mark.parametrize("k", [0, 1, -2])
@pytest.mark.parametrize("shape", [(3,), (3, 3), (2, 4), (4, 2)])
def test_diagonals(shape, k):
    x = array(*shape)
    check_adjoint(np.diag, x, k)
    check_adjoint(np.diagflat, x, k)
    check_adjoint(np.tril, x, k)
    check_adjoint(np.triu, x, k)
    if len(shape) == 2:
        check_adjoint(np.diagonal, x, k)
        check_adjoint(np.diagonal, array(2, *shape), k, 1, 2)
        check_adjoint(np.diagonal, array(*shape, 2), k, 1, 0)
        check_adjoint(np.tril, array(2, *shape), k)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize(("shape", "axis"), [((5,), -1), ((4, 3), 0), ((2, 3), -1)])
def test_diff(shape, axis, n):
    check_adjoint(np.diff, array(*shape), n, axis)


def test_diff_with_ends():
    x = array(2, 3)
    check_adjoint(np.diff, x, prepend=1.0, wrt=("x",))
    check_adjoint(np.diff, x, append=array(2, 2), wrt=("x",))
    check_adjoint(np.diff, x, n=2, axis=0, prepend=0.0, append=array(1, 3), wrt=("x",))
    check_adjoint(np.ediff1d, array(4))
    check_adjoint(np.ediff1d, x, to_end=array(2), to_begin=array(1), wrt=("x",))


@pytest.mark.parametrize("edge_order", [1, 2])
def test_gradient(edge_order):
    how = {"edge_order": edge_order, "wrt": ("f",)}
    check_adjoint(np.gradient, array(5), **how)
    check_adjoint(np.gradient, array(3), 0.5, **how)
    check_adjoint(np.gradient, array(3, 4), **how)
    check_adjoint(np.gradient, array(3, 4), 0.5, 2.0, **how)
    check_adjoint(np.gradient, array(3, 4), 2, axis=1, **how)
    check_adjoint(np.gradient, array(3, 4, 3), 1.0, axis=(0, 2), **how)
    places = np.array([0.1, 0.4, 1.3, 1.5])
    check_adjoint(np.gradient, array(4), places, **how)
    check_adjoint(np.gradient, array(3, 4), 2.0, places, **how)


def test_trapezoid():
    check_adjoint(np.trapezoid, array(5), wrt=("y",))
    check_adjoint(np.trapezoid, array(2, 4), dx=0.5, wrt=("y",))
    check_adjoint(np.trapezoid, array(3, 2), axis=0, wrt=("y",))
    check_adjoint(np.trapezoid, array(4), np.sort(array(4)), wrt=("y", "x"))
    check_adjoint(np.trapezoid, array(2, 4), np.sort(array(4)), wrt=("y", "x"))
    check_adjoint(np.trapezoid, array(4, 2), array(4, 2), axis=0, wrt=("y", "x"))
    check_adjoint(np.trapezoid, array(4, 2), array(4), axis=0, wrt=("y", "x"))


def test_interp():
    xp = np.array([0.0, 1.0, 2.5, 4.0])
    x = np.array([[-1.0, 0.3, 1.7], [3.2, 5.0, 2.4]])
    check_adjoint(np.interp, x, xp, array(4), float32=False, wrt=("x", "fp"))
    check_adjoint(np.interp, 0.4, xp, array(4), float32=False, wrt=("x", "fp"))
    ends = {"left": -1.0, "right": 2.0}
    check_adjoint(np.interp, x, xp, array(4), float32=False, wrt=("x", "fp"), **ends)


def test_polynomials():
    check_adjoint(np.polyval, array(4), array(2, 3))
    check_adjoint(np.polyval, array(4), array())
    check_adjoint(np.polyval, array(1), array(3))
    for increasing in (False, True):
        check_adjoint(np.vander, array(4), increasing=increasing)
        check_adjoint(np.vander, array(3), 5, increasing)
        check_adjoint(np.vander, array(3), 1, increasing)


def test_textbook_text():
    assert text(np.diff, array(5), names="x") == {"x": "-np.diff(np.pad(dy, 1))"}
    assert text(np.diag, array(3), names="x") == {"x": "np.diag(dy)"}
    assert text(np.diag, array(3, 3), names="x") == {"x": "np.diag(dy)"}
    assert text(np.triu, array(3, 3), 1, names="x _")["x"].startswith(
        ("np.triu(dy", "unbroadcast(np.triu(dy")
    )
