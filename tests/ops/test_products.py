"""Rules of products: against differences, under types that tell more or less."""

from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.frontend.helper_names import HELPERS
from srcjax.ops import registry  # noqa: F401  (fills the table of operations)
from srcjax.ops.expand import EXPANSIONS
from srcjax.ops.record import lookup
from srcjax.runtime import products
from srcjax.testing import check_grads

from .helpers import TYPER, check_adjoint, constant_type, exactly, sizes_by_name

rng = np.random.default_rng(3)


def array(*shape: int) -> Any:
    """A random array; a NumPy scalar for no axes."""
    return rng.normal(size=shape) if shape else np.float64(rng.normal())


def text(
    function: Any, *args: Any, names: str, weaken: Any = sizes_by_name, **kwargs: Any
) -> dict[str, str]:
    """The rule's text by argument, as the reverse pass would write it."""
    op = lookup(function)
    assert op is not None and op.adjoint is not None
    bound = op.bind(list(args), kwargs)
    values = {p.name: p.default for p in op.signature.parameters.values()}
    values |= bound | {op.adjoint.parameters[0]: function(*args, **kwargs)}
    shown = dict(zip(bound, names.split(), strict=False))
    shown = {key: name for key, name in shown.items() if name != "_"}
    shown[op.adjoint.parameters[0]] = "y"
    types = {key: weaken(constant_type(v)) for key, v in values.items()}
    types["dy"] = types[op.adjoint.parameters[0]]
    holes = {key: syntax.expression(name) for key, name in shown.items()}

    def expand(node: Any) -> Any:
        if isinstance(node, gast.Subscript) and syntax.is_name(node.value, "d"):
            return syntax.name("dy")
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name):
            return node
        arguments = [
            values[a.id]
            if syntax.is_name(a) and a.id in values and a.id not in shown
            else None
            for a in node.args
        ]
        trees = [
            syntax.expression(repr(v)) if v is not None else syntax.substitute(a, holes)
            for a, v in zip(node.args, arguments, strict=True)
        ]
        known = [
            types[a.id] if syntax.is_name(a) else constant_type(None) for a in node.args
        ]
        if node.func.id not in HELPERS:
            return node
        return TYPER.stands_for(node.func.id, trees, known) or node

    found = {}
    for statement in op.adjoint.body:
        key = statement.targets[0].slice.id
        if key not in bound:
            continue
        tree = syntax.map_expressions(syntax.clone(statement.value), expand)
        found[key] = syntax.text(tree)
    return found


SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 4)),
    ((1, 1), (1, 4)),
]


@pytest.mark.parametrize(("m", "n"), [*SHAPES, ((), ()), ((), (2, 3)), ((3,), ())])
def test_dot(m, n):
    check_adjoint(np.dot, array(*m), array(*n))


def test_dot_of_cubes():
    check_adjoint(np.dot, array(2, 5, 3), array(4, 3, 2))


MATMULS = [
    *SHAPES,
    ((5, 2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((6, 1, 2, 3), (5, 3, 4)),
    ((2, 2, 3), (1, 3, 1)),
]


@pytest.mark.parametrize(("m", "n"), MATMULS)
def test_matmul(m, n):
    check_adjoint(np.matmul, array(*m), array(*n))
    check_adjoint(operator.matmul, array(*m), array(*n), float32=False)


@pytest.mark.parametrize(("m", "n"), [((3,), (3,)), ((2, 3), (3, 2)), ((2, 3), (2, 3))])
def test_vdot(m, n):
    check_adjoint(np.vdot, array(*m), array(*n))


INNERS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (4, 3)), ((2, 3), (4, 3))]


@pytest.mark.parametrize(
    ("m", "n"), [*INNERS, ((5, 2, 3), (4, 3)), ((2, 5, 3), (3,)), ((), (3,))]
)
def test_inner(m, n):
    check_adjoint(np.inner, array(*m), array(*n))


@pytest.mark.parametrize(
    ("m", "n"), [((2,), (3,)), ((2, 3), (4,)), ((), (3,)), ((0,), (3,))]
)
def test_outer(m, n):
    check_adjoint(np.outer, array(*m), array(*n))


@pytest.mark.parametrize(
    ("m", "n", "axis"),
    [
        ((3,), (3,), -1),
        ((2, 3), (3,), -1),
        ((2, 3), (4, 1, 3), -1),
        ((3, 2), (3, 1), 0),
    ],
)
def test_vecdot(m, n, axis):
    check_adjoint(np.vecdot, array(*m), array(*n), axis=axis)


@pytest.mark.parametrize(
    ("m", "n", "axes"),
    [
        ((2, 3), (3, 4), 1),
        ((2, 3), (2, 3), 2),
        ((2, 3), (4, 5), 0),
        ((2,), (3,), 0),
        ((5, 2, 3), (2, 3, 4), 2),
        ((2, 3), (3, 2), ((0, 1), (1, 0))),
        ((2, 3, 4), (4, 2, 5), ((0, 2), (1, 0))),
        ((2, 3, 4), (4, 2, 5), ((2, 0), (0, 1))),
        ((2, 3, 4), (3,), (1, 0)),
        ((2, 3), (2, 4), (0, 0)),
        ((2, 3), (4, 3), (-1, -1)),
        ((3, 2), (4, 3), (0, 1)),
        ((2, 3), (3,), (1, 0)),
        ((3, 2), (3,), (0, 0)),
        ((3,), (4, 3), (0, 1)),
    ],
)
def test_tensordot(m, n, axes):
    check_adjoint(np.tensordot, array(*m), array(*n), axes=axes)


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("i,i", (3,), (3,)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->i", (2, 3)),
    ("ij->j", (2, 3)),
    ("ii->", (3, 3)),
    ("ii->i", (3, 3)),
    ("iij->j", (3, 3, 2)),
    ("iij,jk->k", (3, 3, 2), (2, 4)),
    ("i,j->ij", (2,), (3,)),
    ("bij,bjk->bik", (5, 2, 3), (5, 3, 4)),
    ("...ij,...jk->...ik", (5, 2, 3), (3, 4)),
    ("...i,...i", (5, 1, 3), (2, 3)),
    ("...i->...", (2, 3)),
    ("ij,j,ik->k", (2, 3), (3,), (2, 4)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    ("i,i->i", (1,), (3,)),
    ("ij,kl->k", (2, 3), (4, 5)),
    (",i->i", (), (3,)),
    ("ij,jk->ik", (0, 3), (3, 4)),
]


@pytest.mark.parametrize(("subscripts", "shapes"), [(e[0], e[1:]) for e in EINSUMS])
def test_einsum(subscripts, shapes):
    arrays = [array(*shape) for shape in shapes]
    check_adjoint(np.einsum, subscripts, *arrays, wrt=("operands",))


@pytest.mark.parametrize(
    ("m", "n"),
    [((2, 3), (4, 2)), ((2,), (3,)), ((2, 3), (2,)), ((2,), (2, 3, 2)), ((), (2,))],
)
def test_kron(m, n):
    check_adjoint(np.kron, array(*m), array(*n))


@pytest.mark.parametrize("offset", [0, 1, -2])
@pytest.mark.parametrize(
    ("shape", "axes"), [((3, 3), (0, 1)), ((2, 4), (0, 1)), ((2, 3, 4), (2, 0))]
)
def test_trace(shape, axes, offset):
    check_adjoint(np.trace, array(*shape), offset, *axes)


@pytest.mark.parametrize(
    ("m", "n", "kw"),
    [
        ((3,), (3,), {}),
        ((4, 3), (3,), {}),
        ((4, 3), (5, 1, 3), {}),
        ((3, 4), (3, 4), {"axis": 0}),
        ((3, 4), (4, 3), {"axisa": 0, "axisc": 0}),
    ],
)
def test_cross(m, n, kw):
    check_adjoint(np.cross, array(*m), array(*n), **kw)


def test_cross_of_planar_vectors_is_refused():
    with pytest.raises(NotImplementedError, match="vectors of 3"):
        products.uncross_left(1.0, array(2), array(2), -1, -1, -1, None)


@pytest.mark.parametrize(
    "shapes",
    [
        ((2, 3), (3, 4)),
        ((2, 3), (3, 4), (4, 5)),
        ((3,), (3, 4), (4, 2), (2,)),
        ((3,), (3, 4)),
    ],
)
def test_multi_dot(shapes):
    arrays = [array(*shape) for shape in shapes]
    check_adjoint(np.linalg.multi_dot, arrays, wrt=("arrays",))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, -1, -2])
@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2)])
def test_matrix_power(n, shape):
    a = array(*shape) + 3 * np.eye(shape[-1])
    check_adjoint(np.linalg.matrix_power, a, n, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("function", [np.convolve, np.correlate])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize(("m", "n"), [(5, 3), (3, 5), (4, 2), (2, 4), (3, 3), (1, 2)])
def test_convolutions(function, mode, m, n):
    check_adjoint(function, array(m), array(n), mode=mode)


def test_textbook_text():
    inputs, W, w = array(5, 3), array(3, 4), array(3)
    assert text(np.dot, inputs, W, names="inputs W") == {
        "a": "dy @ W.T",
        "b": "inputs.T @ dy",
    }
    assert text(np.matmul, inputs, w, names="X w") == {
        "a": "np.outer(dy, w)",
        "b": "X.T @ dy",
    }
    assert text(np.dot, w, W, names="x W") == {"a": "W @ dy", "b": "np.outer(x, dy)"}
    assert text(np.dot, w, w, names="u v") == {"a": "dy * v", "b": "dy * u"}
    assert text(np.vdot, w, w, names="u v") == {"a": "dy * v", "b": "dy * u"}
    assert text(np.matmul, array(7, 5, 3), W, names="X W") == {
        "a": "dy @ W.T",
        "b": "np.tensordot(X, dy, axes=((0, 1), (0, 1)))",
    }
    assert text(np.matmul, array(7, 5, 3), array(7, 3, 2), names="Q K") == {
        "a": "dy @ K.swapaxes(-1, -2)",
        "b": "Q.swapaxes(-1, -2) @ dy",
    }
    assert text(np.outer, w, array(4), names="u v") == {"a": "dy @ v", "b": "u @ dy"}
    assert text(np.inner, inputs, inputs, names="A B") == {
        "a": "dy @ B",
        "b": "dy.T @ A",
    }
    assert text(np.tensordot, inputs, W, 1, names="X W _") == {
        "a": "dy @ W.T",
        "b": "X.T @ dy",
    }
    assert text(np.trace, array(3, 3), names="A") == {"a": "dy * np.eye(len(A))"}
    assert text(np.cross, w, w, names="u v", weaken=exactly) == {
        "a": "np.cross(v, dy)",
        "b": "np.cross(dy, u)",
    }


def test_einsum_text():
    known = [constant_type(array(2, 3)), constant_type(array(3, 4))]
    trees = [syntax.expression(t) for t in ("dy", "'ij,jk->ik'", "(A, B)")]
    types = [
        known[0],
        constant_type("ij,jk->ik"),
        constant_type((array(2, 3), array(3, 4))),
    ]
    found = EXPANSIONS["einsum_adjoints"](trees, types)
    assert syntax.text(found) == (
        "[np.einsum('ik,jk->ij', dy, B), np.einsum('ik,ij->jk', dy, A)]"
    )


def test_as_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    a, b = array(2, 3) + 1j * array(2, 3), array(3, 2) + 1j * array(3, 2)
    seed = array(2, 2) + 1j * array(2, 2)
    for ours, theirs in [
        ((products.undot_left, products.undot_right), jax.numpy.dot),
        ((products.unmatmul_left, products.unmatmul_right), jax.numpy.matmul),
    ]:
        _, pullback = jax.vjp(theirs, a, b)
        da, db = pullback(jax.numpy.asarray(seed))
        np.testing.assert_allclose(ours[0](seed, a, b), da)
        np.testing.assert_allclose(ours[1](seed, a, b), db)


@pytest.mark.parametrize(
    "subscripts", ["ij,j->i", "ij,j->ij", "ij->i", "...j->...", "ij,j"]
)
def test_what_einsum_sums_or_multiplies_is_an_array_of_its_own(subscripts):
    def f(x):
        A = np.stack([x, x**2])
        operands = (A, x) if "," in subscripts else (A,)
        y = np.einsum(subscripts, *operands)
        z = y
        z[0] *= 2
        y += 1
        return np.sum(y**2) + np.sum(A)

    check_grads(f, (np.array([0.3, 0.7, 1.1]),), order=2)


def test_what_einsum_may_view_is_not_written_to():
    def f(x):
        A = np.stack([x, x**2])
        y = np.einsum("ij->ji", A)
        z = y
        z[0] *= 2
        return np.sum(A**2)

    with pytest.raises(srcjax.errors.UnsupportedError, match="share memory"):
        srcjax.grad(f)(np.array([0.3, 0.7, 1.1]))
    y, y_dot = srcjax.jvp(f, (np.array([0.3, 0.7]),), (np.array([1.0, 0.0]),))
    np.testing.assert_allclose(y, f(np.array([0.3, 0.7])))
    assert y_dot == pytest.approx(8 * 0.3 + 16 * 0.3**3)


@pytest.mark.parametrize(
    "made", [lambda A: np.diag(A[0]), lambda A: np.linalg.matrix_power(A, 2)]
)
def test_what_a_diagonal_or_power_makes_is_an_array_of_its_own(made):
    def f(x):
        A = np.stack([x, x**2])
        y = made(A)
        z = y
        z[0] *= 2
        y += 1
        return np.sum(y**2) + np.sum(A)

    check_grads(f, (np.array([0.3, 0.7]),), order=2)


def turned_and_moved(pose, point):
    turn, move = pose[:3], pose[3:6]
    moved = np.cross(turn / 2.0, point) * pose[6] + move
    return moved @ moved


def test_cross_products_tell_how_long_vectors_are():
    args = (array(7), array(3))
    text = srcjax.source(srcjax.grad(turned_and_moved, (0, 1)), *args)
    assert "n >= 6" in text and "unbroadcast" not in text and "uncross" not in text
    check_grads(turned_and_moved, args)
    d = srcjax.grad(lambda a, b: np.sum(np.cross(a, b) ** 2), (0, 1))
    for shapes in (((3,), (3,)), ((4, 3), (3,)), ((3,), (5, 3)), ((1, 3), (2, 3))):
        pair = tuple(array(*shape) for shape in shapes)
        check_grads(lambda a, b: np.sum(np.cross(a, b) ** 2), pair)
        assert tuple(np.shape(g) for g in d(*pair)) == shapes
