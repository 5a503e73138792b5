"""Rules of shaping operations: against differences, under types that tell less."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.analysis.types import Array
from srcjax.runtime import shaping

from .helpers import TYPER, check_adjoint, constant_type, exactly, sizes_by_name
from .test_products import array, text

# -- reshape ------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize(
    ("shape", "new"),
    [
        ((2, 3), (3, 2)),
        ((2, 3), (6,)),
        ((2, 3), -1),
        ((6,), (2, -1)),
        ((2, 3, 2), (2, -1)),
        ((1,), ()),
        ((0, 3), (3, 0)),
        ((2, 3), (2, 3)),
    ],
)
def test_reshape(shape, new, order):
    check_adjoint(np.reshape, array(*shape), new, order=order)


@pytest.mark.parametrize("new", [(3, 2), ((3, 2),), (-1,), (1, -1, 3), ([6, 1],)])
def test_reshape_method(new):
    check_adjoint(np.ndarray.reshape, array(2, 3), *new)
    check_adjoint(np.ndarray.reshape, array(2, 3), *new, order="F")


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("shape", [(2, 3), (4,), (2, 3, 4), (), (0, 2)])
def test_ravel_and_flatten(shape, order):
    x = np.asarray(array(*shape))
    check_adjoint(np.ravel, x, order)
    check_adjoint(np.ndarray.flatten, x, order)
    for turned in (x.T, np.moveaxis(x, 0, -1) if x.ndim else x):  # as it lies in memory
        back = shaping.unreshape(np.ravel(turned, order), turned, order)
        np.testing.assert_array_equal(back, turned)


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2)])
def test_expand_dims(axis):
    check_adjoint(np.expand_dims, array(2, 3), axis)
    if axis != 1 and axis != (0, 2):
        check_adjoint(np.expand_dims, array(), axis)


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((1, 3, 1), None), ((1, 3, 1), 0), ((1, 3, 1), (0, -1)), ((1,), 0)],
)
def test_squeeze(shape, axis):
    check_adjoint(np.squeeze, array(*shape), axis)


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2), (0,)])
@pytest.mark.parametrize("function", [np.atleast_1d, np.atleast_2d, np.atleast_3d])
def test_at_least(function, shape):
    check_adjoint(function, array(*shape))


@pytest.mark.parametrize(
    ("shape", "new"), [((3,), (2, 3)), ((2, 1), (4, 2, 3)), ((), (2,)), ((3,), 3)]
)
def test_broadcast_to(shape, new):
    check_adjoint(np.broadcast_to, array(*shape), new)


# -- order of axes ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((2, 3), None),
        ((2, 3), (1, 0)),
        ((2, 3, 4), None),
        ((2, 3, 4), (1, 2, 0)),
        ((2, 3, 4), (-1, 0, 1)),
        ((2, 3, 4), (0, 1, 2)),
        ((3,), (0,)),
        ((), None),
    ],
)
def test_transpose(shape, axes):
    x = np.asarray(array(*shape))
    check_adjoint(np.transpose, x, axes, float32=False)
    if x.ndim:
        check_adjoint(np.ndarray.transpose, x, axes, float32=False)
    if axes is not None:
        check_adjoint(np.ndarray.transpose, x, *axes, float32=False)
    check_adjoint(np.ndarray.transpose, x, float32=False)


def test_transpose_keeps_float32():
    check_adjoint(np.transpose, array(2, 3, 4), (2, 0, 1))


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4)])
def test_matrix_transpose(shape):
    check_adjoint(np.matrix_transpose, array(*shape))


def test_swapaxes_moveaxis_rollaxis():
    x = array(2, 3, 4)
    check_adjoint(np.swapaxes, x, 0, -1)
    check_adjoint(np.moveaxis, x, 0, -1)
    check_adjoint(np.moveaxis, x, (0, 1), (2, 0))
    check_adjoint(np.rollaxis, x, 2)
    check_adjoint(np.rollaxis, x, 0, 3)


# -- order of elements --------------------------------------------------------------


def test_flips():
    x = array(2, 3)
    for axis in (None, 0, -1, (0, 1)):
        check_adjoint(np.flip, x, axis)
    check_adjoint(np.fliplr, x)
    check_adjoint(np.flipud, x)
    check_adjoint(np.flipud, array(4))


@pytest.mark.parametrize(
    ("shift", "axis"), [(1, None), (-2, 0), (1, 1), ((1, 2), (0, 1)), (2, (0, 1))]
)
def test_roll(shift, axis):
    check_adjoint(np.roll, array(3, 4), shift, axis)


@pytest.mark.parametrize("k", [0, 1, 2, 3, -1])
def test_rot90(k):
    check_adjoint(np.rot90, array(2, 3), k)
    check_adjoint(np.rot90, array(2, 3, 4), k, (1, 2))


# -- joins --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shapes", "axis"),
    [
        (((2,), (3,)), 0),
        (((2,), (3,), (1,)), -1),
        (((2, 3), (4, 3)), 0),
        (((2, 3), (2, 1), (2, 2)), 1),
        (((2, 3), (4,)), None),
        (((2, 3),), 0),
        (((0, 3), (2, 3)), 0),
        (((2,), (3,)), None),
        (((2,), (3,), (1,), (1,), (2,)), 0),
    ],
)
def test_concatenate(shapes, axis):
    arrays = [array(*shape) for shape in shapes]
    check_adjoint(np.concatenate, arrays, axis, wrt=("arrays",))
    check_adjoint(np.concatenate, tuple(arrays), axis, wrt=("arrays",))


@pytest.mark.parametrize(
    ("shape", "axis"), [((3,), 0), ((3,), -1), ((2, 3), 1), ((2, 3), 2), ((), 0)]
)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_stack(shape, axis, count):
    arrays = [array(*shape) for _ in range(count)]
    check_adjoint(np.stack, arrays, axis, wrt=("arrays",))


LISTS = [
    ((3,), (3,)),
    ((3,), (3,), (3,)),
    ((2, 3), (2, 3)),
    ((2, 3, 4), (2, 3, 4)),
    ((), ()),
]


@pytest.mark.parametrize("shapes", LISTS)
@pytest.mark.parametrize("function", [np.vstack, np.hstack, np.dstack])
def test_stack_family(function, shapes):
    check_adjoint(function, [array(*shape) for shape in shapes], wrt=("arrays",))


def test_stack_family_of_different_ranks():
    for function, arrays in [
        (np.vstack, [array(3), array(2, 3)]),
        (np.hstack, [array(2, 1), array(2, 3)]),
        (np.hstack, [array(2), array(3)]),
        (np.hstack, [array(), array(3)]),
        (np.dstack, [array(2, 3), array(2, 3, 2)]),
        (np.column_stack, [array(3), array(3)]),
        (np.column_stack, [array(3), array(3, 2)]),
        (np.column_stack, [array(3, 1), array(3, 2)]),
    ]:
        check_adjoint(function, arrays, wrt=("arrays",))


def test_block():
    parts = [[array(2, 3), array(2, 1)], [array(1, 3), array(1, 1)]]
    y = np.block(parts)
    d = np.arange(y.size, dtype=float).reshape(y.shape)
    found = shaping.unblock(d, parts)
    np.testing.assert_array_equal(found[0][0], d[:2, :3])
    np.testing.assert_array_equal(found[0][1], d[:2, 3:])
    np.testing.assert_array_equal(found[1][0], d[2:, :3])
    np.testing.assert_array_equal(found[1][1], d[2:, 3:])
    check_adjoint(np.block, [array(2), array(3)], wrt=("arrays",))


@pytest.mark.parametrize(
    ("m", "n", "axis"),
    [
        ((2,), (3,), None),
        ((2, 3), (4,), None),
        ((2, 3), (1, 3), 0),
        ((2, 3), (2, 1), -1),
    ],
)
def test_append(m, n, axis):
    check_adjoint(np.append, array(*m), array(*n), axis)


def test_append_number():
    check_adjoint(np.append, array(3), array())
    check_adjoint(np.append, array(0), array(2))


# -- splits -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "shape", "arguments"),
    [
        (np.split, (6,), (3,)),
        (np.split, (6, 2), ([1, 4],)),
        (np.split, (2, 6), ((1, 4), 1)),
        (np.array_split, (5,), (2,)),
        (np.array_split, (2, 5), (3, -1)),
        (np.hsplit, (6,), (3,)),
        (np.hsplit, (2, 6), ([1, 2],)),
        (np.vsplit, (4, 2), (2,)),
        (np.dsplit, (2, 3, 4), (2,)),
        (np.split, (3,), ([5],)),
    ],
)
def test_splits(function, shape, arguments):
    check_adjoint(function, array(*shape), *arguments)


@pytest.mark.skipif(not hasattr(np, "unstack"), reason="NumPy 2.1")
def test_unstack():
    check_adjoint(np.unstack, array(2, 3))
    check_adjoint(np.unstack, array(2, 3), axis=-1)


# -- repetition and borders ---------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "reps"),
    [((3,), 2), ((3,), (2, 2)), ((2, 3), 2), ((2, 3), (2, 1, 2)), ((), 3), ((0,), 2)],
)
def test_tile(shape, reps):
    check_adjoint(np.tile, array(*shape), reps)


@pytest.mark.parametrize(
    ("shape", "repeats", "axis"),
    [
        ((3,), 2, None),
        ((2, 3), 2, None),
        ((2, 3), 2, 0),
        ((2, 3), 2, -1),
        ((3,), (1, 0, 2), None),
        ((2, 3), (1, 0, 2), 1),
        ((2, 3), (2, 1), 0),
        ((3,), 0, None),
        ((), 3, None),
        ((2, 3, 2), (2, 0, 1), 1),
    ],
)
def test_repeat(shape, repeats, axis):
    check_adjoint(np.repeat, array(*shape), repeats, axis)


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize(
    ("shape", "widths"),
    [((3,), 2), ((3,), (0, 2)), ((2, 3), 1), ((2, 3), ((0, 1), (2, 0))), ((3,), 0)],
)
def test_pad(shape, widths, mode):
    check_adjoint(np.pad, array(*shape), widths, mode)


def test_pad_by_axis_and_refused_modes():
    check_adjoint(np.pad, array(2, 3), 1, constant_values=4.0, wrt=("x",))
    d, x = array(2, 5), array(2, 3)
    np.testing.assert_array_equal(shaping.unpad(d, x, {-1: (1, 1)}), d[:, 1:-1])
    with pytest.raises(NotImplementedError, match="mean"):
        shaping.unpad(d, x, 1, "mean")


# -- several results ----------------------------------------------------------------


def test_broadcast_arrays():
    arrays = array(3), array(2, 1), array()
    check_adjoint(np.broadcast_arrays, *arrays, wrt=("arrays",))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sizes", [(3,), (2, 3), (2, 3, 4)])
def test_meshgrid(sizes, indexing, sparse):
    arrays = [array(size) for size in sizes]
    how = {"indexing": indexing, "sparse": sparse}
    check_adjoint(np.meshgrid, *arrays, wrt=("arrays",), **how)


# -- text ---------------------------------------------------------------------------


def expanded(helper: str, trees: str, *values: object, weaken=sizes_by_name) -> str:
    arguments = list(syntax.expression(f"({trees},)").elts)
    types = [weaken(constant_type(v)) for v in values]
    return syntax.text(TYPER.stands_for(helper, arguments, types))


def test_textbook_text():
    x = array(2, 3)
    assert text(np.reshape, x, (3, 2), names="x _") == {"x": "dy.reshape(x.shape)"}
    assert text(np.ravel, x, names="x") == {"x": "dy.reshape(x.shape)"}
    assert text(np.transpose, x, names="x") == {"x": "dy.T"}
    assert text(np.transpose, array(2, 3, 4), (1, 2, 0), names="x _") == {
        "x": "dy.transpose(2, 0, 1)"
    }
    assert text(np.ndarray.reshape, array(6), 2, 3, names="x _") == {"x": "dy.ravel()"}
    assert text(np.roll, x, 1, names="x _") == {"x": "np.roll(dy, -1)"}
    assert text(np.pad, x, ((0, 1), (2, 0)), names="x _") == {"x": "dy[:-1, 2:]"}
    assert text(np.tile, array(3), 2, names="x _", weaken=exactly) == {
        "x": "dy.reshape(2, len(x)).sum(axis=0)"
    }
    assert text(np.append, array(3), array(4), names="x v") == {
        "x": "dy[:len(x)]",
        "values": "dy[len(x):]",
    }


def test_what_may_be_a_number_is_reshaped_by_a_function():
    column = array(2, 1)

    def rank_unknown(t):
        return Array(dtype=t.dtype) if t.shape == (2,) else t

    found = expanded("unreshape", "d, x", array(2), column, weaken=rank_unknown)
    assert found == "np.reshape(d, x.shape)"
    assert expanded("unreshape", "d, x", array(2), column) == "d.reshape(x.shape)"


def test_text_of_joins():
    d, a, b = array(5), array(2), array(3)
    two = expanded("unconcatenate", "d, [a, b], 0", d, [a, b], 0)
    assert two == "[d[:len(a)], d[len(a):]]"
    three = expanded("unconcatenate", "d, [a, b, c], 0", d, [a, b, a], 0)
    assert three == "[d[:len(a)], d[len(a):len(a) + len(b)], d[len(a) + len(b):]]"
    columns = expanded(
        "unconcatenate", "d, (a, b), 1", d, (array(2, 3), array(2, 4)), 1
    )
    assert columns == "[d[:, :a.shape[1]], d[:, a.shape[1]:]]"
    numbers = expanded("unconcatenate", "d, xs, 0", d, [a, b, a], 0, weaken=exactly)
    assert numbers == "[d[:2], d[2:5], d[5:]]"
    many = expanded("unconcatenate", "d, xs, 0", d, [a] * 5, 0, weaken=exactly)
    assert many == "np.split(d, [2, 4, 6, 8])"
    assert expanded("unstack", "d, xs, 0", d, [a] * 5, 0) == "list(d)"
    assert expanded("unstack", "d, xs, 0", d, [a, a], 0) == "[d[0], d[1]]"
    assert expanded("unstack", "d, [a, b], 0", d, [a, a], 0) == "[d[0], d[1]]"
    assert (
        expanded("unstack", "d, [a, b], -1", d, [a, a], -1) == "[d[..., 0], d[..., 1]]"
    )


@pytest.mark.parametrize(
    "given", [(1.0, 2.0), [1.0, 2.0], [(1.0, 2.0), (3.0, 4.0)]], ids=str
)
def test_adjoints_of_arrays_of_tuples_are_tuples(given):
    """Also in a text that is for arguments of any types."""

    def f(values):
        return np.sum(np.asarray(values) ** 2)

    namespace: dict = {}
    exec(str(srcjax.source(srcjax.grad(f), general=True)), namespace)
    found = namespace["grad_f"](given)
    assert type(found) is type(given)
    assert {type(part) for part in found} <= {tuple, np.float64}
    np.testing.assert_allclose(found, 2 * np.asarray(given))
