"""Every operation with an adjoint has a tangent, and each tangent is checked here.

The other files of this folder check tangents too, over more shapes and keywords:
`check_adjoint` does both. This one holds the table that leaves no operation out.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.ops import (
    arithmetic,
    constructors,
    linalg,
    products,
    record,
    reductions,
    registry,  # noqa: F401  (fills the table)
    selection,
    shaping,
    special,
)
from srcjax.ops.record import Op, linear_groups, lookup

from .helpers import adjoint_keys_read, check_adjoint, cotangent
from .tangents import check_tangent
from .test_linalg import positive, square
from .test_products import array

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 5

scipy_special = pytest.importorskip("scipy.special")
scipy_linalg = pytest.importorskip("scipy.linalg")

LOOSE = {"rtol": 1e-5, "atol": 1e-6}
MODULES = (
    arithmetic, constructors, linalg, products, reductions, selection, shaping, special,
)  # fmt: skip


def operations() -> list[Op]:
    tables = (record.TABLE, record.METHODS, record.ATTRIBUTES)
    found = {id(op): op for table in tables for op in table.values()}
    return sorted(found.values(), key=lambda op: op.name)


def test_every_adjoint_has_a_tangent():
    lacking = [
        op.name
        for op in operations()
        if op.adjoint and op.differentiable and not op.tangent and not op.linear
    ]
    assert lacking == []


def test_every_argument_with_an_adjoint_has_a_term_in_the_tangent():
    for op in operations():
        grouped = {name.lstrip("*") for group in op.linear for name in group}
        rule = directions_read(op)
        missing = set(op.differentiable) - grouped - rule
        assert not missing, f"{op.name}: {missing}"
        known = set(op.signature.parameters)
        assert grouped | rule <= known, op.name
        both = grouped & rule
        assert not both, f"{op.name}: {both} would count twice"


def directions_read(op: Op) -> set[str]:
    """The parameters whose tangents the rule reads."""
    if op.tangent is None:
        return set()
    return set().union(*(adjoint_keys_read(s) for s in op.tangent.body))


def test_short_forms_of_groups():
    assert linear_groups("a") == (("a",),)
    assert linear_groups(("a", "b")) == (("a",), ("b",))
    assert linear_groups([("x", "values"), "c"]) == (("x", "values"), ("c",))


@pytest.mark.parametrize(
    "rule, active, kept",
    [
        ("solve(a, d[b] - d[a] @ y)", {"b"}, "solve(a, d[b])"),
        ("solve(a, d[b] - d[a] @ y)", {"a"}, "solve(a, -d[a] @ y)"),
        ("solve(a, d[b] - d[a] @ y)", {"a", "b"}, "solve(a, d[b] - d[a] @ y)"),
        ("(zero(y), d[a] - d[b] * y[0])", {"a"}, "(zero(y), d[a])"),
        ("(zero(y), d[a] - d[b] * y[0])", {"b"}, "(zero(y), -d[b] * y[0])"),
        ("d[a] + d[b] + d[c]", {"b"}, "d[b]"),
        ("d[a] * (1 + y)", {"a"}, "d[a] * (1 + y)"),
        ("d[a] * (1 - y) - h(y, d[b])", {"b"}, "-h(y, d[b])"),
    ],
)
def test_terms_that_are_zero_are_left_out(rule, active, kept):
    found = record.active_terms(syntax.expression(rule), active)
    assert syntax.text(found) == kept


# -- a case for each ----------------------------------------------------------------

V, W = array(4), array(4)
A, B, C = array(2, 3), array(3, 2), array(2, 3)
T = array(2, 3, 4)
MASK = np.array([[True, False, True], [False, False, True]])


def case(function: Any, *args: Any, **kwargs: Any) -> Any:
    return pytest.param(function, args, kwargs, id=getattr(function, "__name__", "?"))


#: Operations that are not elementwise rows, each at least once: function, arguments,
#: then keywords of the function or of the check.
CASES = [
    # arithmetic
    case(np.divmod, np.array([5.3, -7.9]), np.array([[2.0], [1.1]])),
    case(np.modf, np.array([5.3, -7.9])),
    case(np.clip, A, -0.5, 0.6),
    case(np.ndarray.clip, A, -0.5, 0.6),
    case(float, np.float64(2.5)),
    case(np.real, A),
    case(np.where, MASK, A, 0.5),
    case(
        np.nan_to_num, np.array([np.nan, 1.0, np.inf]), nan=0.5, posinf=2.0,
        numeric=False,
    ),
    # reductions
    case(np.sum, A, axis=0, keepdims=True),
    case(np.mean, A, axis=(0, 1)),
    case(np.average, A, 1, np.array([0.2, 0.5, 0.4])),
    case(np.average, T, axis=(2, 0), weights=abs(array(4, 2))),
    case(np.var, A, axis=1, ddof=0.5),
    case(np.std, A, ddof=1.0, keepdims=True),
    case(np.nansum, A, axis=0),
    case(np.nanmean, A, axis=-1),
    case(np.prod, A, axis=0),
    case(np.cumsum, T, axis=1),
    case(np.cumprod, T, axis=1),
    case(np.max, T, axis=(0, 2)),
    case(np.nanmax, T, axis=(0, 2)),
    case(np.nanmin, T, axis=1),
    case(np.min, A, keepdims=True),
    case(np.ptp, A, axis=1),
    case(np.linalg.norm, A, axis=0),
    # constructors
    case(np.full, (2, 3), array(3)),
    case(np.full_like, A, 0.5),
    case(np.arange, 0.5, 3.1, 0.6, wrt=("start", "step")),
    case(np.linspace, array(3), array(2, 1), 4, axis=1),
    case(np.copy, A),
    case(np.ndarray.copy, A),
    case(np.array, [A, C]),
    case(np.asarray, [0.5, 1.5]),
    case(np.ascontiguousarray, A),
    case(np.require, A),
    case(np.ndarray.astype, A, np.float64),
    *([case(np.astype, A, np.float64)] if hasattr(np, "astype") else []),
    case(np.float64, 0.5),
    case(np.float32, A, numeric=False, loose=True),
    case(np.float16, A, numeric=False, loose=True),
    case(np.longdouble, A),
    # products
    case(np.dot, A, B),
    case(np.matmul, T, array(4, 2)),
    case(np.vdot, A, C),
    case(np.inner, A, C),
    case(np.outer, A, V),
    case(np.vecdot, T, array(3, 4)),
    case(np.tensordot, T, array(3, 2), axes=([1, 0], [0, 1])),
    case(np.einsum, "ij,jk,ki->i", A, B, array(2, 2), wrt=("operands",)),
    case(np.kron, A, B),
    case(np.trace, T, 1, 0, 2),
    case(np.cross, array(2, 3), array(3)),
    case(np.linalg.multi_dot, [V[:2], A, B, array(2)], wrt=("arrays",)),
    case(np.linalg.matrix_power, square(3), 3, **LOOSE),
    case(np.linalg.matrix_power, square(3, 2), -2, **LOOSE),
    case(np.linalg.matrix_power, square(3), 0, **LOOSE),
    case(np.convolve, V, array(2), "same"),
    case(np.correlate, V, array(2), "full"),
    # shaping
    case(np.reshape, A, (3, 2), order="F"),
    case(np.ndarray.reshape, A, 3, -1),
    case(np.ravel, A, "F"),
    case(np.ndarray.flatten, A),
    case(np.expand_dims, A, (0, 2)),
    case(np.squeeze, array(1, 3, 1), -1),
    case(np.atleast_1d, np.float64(0.5)),
    case(np.atleast_2d, V),
    case(np.atleast_3d, V),
    case(np.broadcast_to, V, (3, 4)),
    case(np.transpose, T, (1, 2, 0)),
    case(np.ndarray.transpose, T, 1, 2, 0),
    case(np.matrix_transpose, T),
    case(np.swapaxes, T, 0, 2),
    case(np.moveaxis, T, 0, -1),
    case(np.rollaxis, T, 2),
    case(np.flip, T, (0, 1)),
    case(np.fliplr, A),
    case(np.flipud, A),
    case(np.roll, A, (1, 2), (0, 1)),
    case(np.rot90, A, 3),
    case(np.concatenate, [A, array(1, 3)], wrt=("arrays",)),
    case(np.stack, (A, C), axis=1, wrt=("arrays",)),
    case(np.vstack, [array(3), A], wrt=("arrays",)),
    case(np.hstack, [V, W], wrt=("arrays",)),
    case(np.dstack, [A, C], wrt=("arrays",)),
    case(np.column_stack, [V, W], wrt=("arrays",)),
    case(np.block, [[A, array(2, 1)], [array(1, 3), array(1, 1)]], wrt=("arrays",)),
    case(np.append, A, V),
    case(np.split, T, [1, 2], 2),
    case(np.array_split, T, 3, 2),
    case(np.hsplit, A, [1]),
    case(np.vsplit, A, 2),
    case(np.dsplit, T, 2),
    *([case(np.unstack, A, axis=1)] if hasattr(np, "unstack") else []),
    case(np.tile, A, (2, 1, 2)),
    case(np.repeat, A, (1, 0, 2), 1),
    case(np.pad, A, ((0, 1), (2, 1)), constant_values=0.5),
    case(np.pad, A, 1, constant_values=np.array([[0.5, 1.0], [2.0, 3.0]])),
    case(np.pad, A, {-1: (1, 2)}, constant_values=0.5),
    case(np.pad, A, 2, "wrap"),
    case(np.broadcast_arrays, A, array(3), wrt=("arrays",)),
    case(np.meshgrid, V, array(2), indexing="ij", wrt=("arrays",)),
    # selection
    case(np.sort, A, 0),
    case(np.sort, A, None),
    case(np.partition, T, 2, 1),
    case(np.partition, A, 2, None),
    case(np.take, A, [[2, 0], [0, 0]], 1, mode="clip"),
    case(np.take_along_axis, A, np.array([[2, 0], [0, 0]]), 1),
    case(np.compress, [True, False, True], A, 1),
    case(np.extract, MASK, A),
    case(np.select, [MASK, ~MASK], [A, 0.5], 1.5),
    case(np.select, [MASK, A > 0], [A, C]),
    case(np.delete, A, 1, 1),
    case(np.insert, A, [1, 1], array(2), 1),
    case(np.diagonal, T, 1, 0, 2),
    case(np.diag, V, 1),
    case(np.diagflat, A, -1),
    case(np.tril, A),
    case(np.triu, array(3), 1),
    case(np.diff, A, 2, 0),
    case(np.diff, A, prepend=0.5, append=array(2, 2)),
    case(np.diff, T, n=2, axis=1, append=0.5),
    case(np.ediff1d, A, to_end=array(2), to_begin=array(1, 3)),
    case(np.ediff1d, V, to_begin=0.5),
    case(np.gradient, T, 0.5, axis=1),
    case(np.gradient, A, edge_order=1),
    case(np.gradient, array(3, 3), 0.5, 2.0, edge_order=2),
    case(np.gradient, array(3, 3), 0.5),
    case(np.trapezoid, T, array(3), axis=1, wrt=("y", "x")),
    case(np.trapezoid, T, dx=0.5, axis=0),
    case(np.trapezoid, T, dx=array(3), axis=2),
    case(np.interp, array(5), np.array([-1.0, 0.1, 0.8]), array(3), float32=False),
    case(
        np.interp, array(5), np.array([-0.4, 0.1, 0.3]), array(3), left=0.5, right=2.5,
        float32=False,
    ),
    case(np.polyval, V, A),
    case(np.polyval, [0.5, 1.5, 2.5], A),
    case(np.vander, V, 3),
    case(np.vander, V, 0),
    # linalg
    case(np.linalg.inv, square(3, 2), **LOOSE),
    case(np.linalg.det, square(3, 2), rtol=1e-5, atol=1e-4),
    case(np.linalg.slogdet, square(3, 2), parts=(1,), **LOOSE),
    case(np.linalg.solve, square(3, 2), array(3), **LOOSE),
    case(np.linalg.cholesky, positive(3, 2), upper=True, **LOOSE),
    case(np.linalg.pinv, array(4, 2), rtol=1e-4, atol=1e-4, float32=False),
    case(np.linalg.eigh, positive(3, 2), **LOOSE),
    case(np.linalg.eigvalsh, positive(3), UPLO="U", **LOOSE),
    case(np.linalg.svd, array(2, 4, 3), full_matrices=False, **LOOSE),
    case(np.linalg.svd, array(2, 4), full_matrices=False, **LOOSE),
    case(np.linalg.svd, array(3, 3), **LOOSE),
    case(np.linalg.svd, array(2, 4), compute_uv=False, **LOOSE),
    case(np.linalg.svdvals, array(2, 4, 3), **LOOSE),
    case(np.linalg.qr, array(4, 3), **LOOSE),
    case(np.linalg.qr, array(2, 2, 3), **LOOSE),
    case(np.linalg.lstsq, array(5, 3), array(5), parts=(0, 1), **LOOSE),
    case(np.linalg.lstsq, array(5, 3), array(5, 2), parts=(0, 1), **LOOSE),
    case(np.linalg.lstsq, array(2, 4), array(2), parts=(0, 1), **LOOSE),
    # scipy.linalg
    case(scipy_linalg.inv, square(3), **LOOSE),
    case(scipy_linalg.det, square(3), rtol=1e-5, atol=1e-4),
    case(scipy_linalg.solve, square(3), array(3, 2), transposed=True, **LOOSE),
    case(
        scipy_linalg.solve, positive(3), array(3), assume_a="pos",
        **LOOSE,
    ),
    case(scipy_linalg.cholesky, positive(3), lower=True, **LOOSE),
    case(
        scipy_linalg.solve_triangular, square(3), array(3, 2), trans="T", lower=True,
        unit_diagonal=True, **LOOSE,
    ),
    case(scipy_linalg.expm, array(2, 2, 2), **LOOSE),
    # scipy.special
    case(scipy_special.logsumexp, A, axis=1, keepdims=True),
    case(scipy_special.logsumexp, A, 0, abs(array(3))),
    case(scipy_special.softmax, A, 1),
    case(scipy_special.log_softmax, T, (0, 2)),
]  # fmt: skip
#: Checked by tests of their own: attributes, and factors as pairs of matrix and flag.
ELSEWHERE = {
    np.ndarray.T,
    np.ndarray.item,
    complex,
    scipy_linalg.cho_factor,
    scipy_linalg.cho_solve,
}


@pytest.mark.parametrize("function, args, kwargs", CASES)
def test_tangent(function, args, kwargs):
    kwargs = dict(kwargs)
    parts, loose = kwargs.pop("parts", None), kwargs.pop("loose", False)
    if loose:  # to fewer digits: no differences, and no pairing to 1e-9
        op = lookup(function)
        assert op.linear == (("x",),)
        return
    if parts is not None:
        how = {k: v for k, v in kwargs.items() if k not in LOOSE}
        seed = [
            cotangent(part) if k in parts else None
            for k, part in enumerate(function(*args, **how))
        ]
        kwargs |= {"seed": tuple(seed), "float32": False}
    check_tangent(function, *args, **kwargs)


def test_no_operation_is_left_out():
    names = {module.__name__ for module in MODULES}
    cased = {id(lookup(p.values[0])) for p in CASES}
    elsewhere = {id(lookup(function)) for function in ELSEWHERE}
    left_out = [
        op.name
        for op in operations()
        if op.adjoint
        and op.differentiable
        and op.adjoint.globals["__name__"] in names
        and not (op.elementwise and op.tangent)  # rows: `test_rules.test_elementwise`
        and id(op) not in cased | elsewhere
    ]
    assert left_out == []


def test_transposed_attribute():
    assert lookup(np.ndarray.T).linear == (("x",),)


def test_numbers_made_of_arrays():
    x, x_dot = np.array([3.0]), np.array([2.0])
    value, tangent = srcjax.jvp(lambda x: x.item() ** 2, (x,), (x_dot,))
    assert (value, tangent) == (9.0, 12.0)
    _, tangent = srcjax.jvp(lambda a, b: 2j * complex(a, b), (1.0, 2.0), (0.5, 0.25))
    assert tangent == 2j * (0.5 + 0.25j)


@pytest.mark.parametrize("lower", [False, True])
def test_cholesky_factors(lower):
    """By the pair: through the factor, the tangent of a solution is that of solve."""
    from .tangents import run_tangent

    a, b = positive(3), array(3, 2)
    da, db = positive(3), array(3, 2)
    factor = scipy_linalg.cho_factor(a, lower=lower)
    op = lookup(scipy_linalg.cho_factor)
    inner = {"a": a, "lower": lower}
    df = run_tangent(scipy_linalg.cho_factor, op, inner, factor, {"a": da})
    y = scipy_linalg.cho_solve(factor, b)
    found = run_tangent(
        scipy_linalg.cho_solve,
        lookup(scipy_linalg.cho_solve),
        {"c_and_lower": factor, "b": b},
        y,
        {"c_and_lower": df, "b": db},
    )
    np.testing.assert_allclose(found, np.linalg.solve(a, db - da @ y))


# -- arguments that are seldom differentiated -----------------------------------------


def test_adjoints_of_borders_and_spacings():
    """They were silently zero once: every argument that moves the result has a rule."""
    x = array(3, 3)
    check_adjoint(np.pad, x, ((0, 1), (2, 0)), constant_values=0.5)
    check_adjoint(np.pad, x, 1, constant_values=np.array([0.5, 1.5]))
    check_adjoint(np.diff, x, prepend=0.5, append=array(3, 2))
    check_adjoint(np.diff, x, n=2, axis=0, prepend=array(1, 3))
    check_adjoint(np.ediff1d, x, to_end=array(2), to_begin=0.5)
    check_adjoint(np.gradient, x, 0.5)
    check_adjoint(np.gradient, x, 0.5, 2.0)
    check_adjoint(np.trapezoid, x, dx=0.5)
    check_adjoint(np.trapezoid, x, dx=array(2, 1), axis=0)
    check_adjoint(
        np.interp, array(5), np.array([-0.4, 0.1, 0.3]), array(3), 0.5, 2.5,
        float32=False,
    )  # fmt: skip
    check_adjoint(np.var, x, axis=0, ddof=0.5)
    check_adjoint(np.std, x, axis=0, ddof=0.5)


# -- conventions ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, args, kwargs",
    [
        case(np.max, np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]), axis=1),
        case(np.min, np.array([[1.0, 1.0, 2.0], [1.0, 3.0, 3.0]]), axis=0),
        case(np.nanmax, np.array([[1.0, np.nan, 2.0], [2.0, 2.0, 0.0]]), axis=1),
        case(np.ptp, np.array([1.0, 3.0, 3.0, 1.0])),
        case(np.sort, np.array([2.0, 1.0, 2.0, 1.0])),
        case(np.partition, np.array([2.0, 1.0, 2.0, 1.0, 0.0]), 2),
        case(np.maximum, np.array([1.0, 0.0]), np.array([1.0, 2.0])),
        case(np.clip, np.array([-0.5, 0.5]), -0.5, 0.5),
        case(np.linalg.norm, np.zeros(3)),
        case(np.linalg.norm, np.zeros(3), ord=3),
        case(np.linalg.norm, np.array([[1.0, -2.0], [2.0, 1.0]]), ord=np.inf),
        case(np.prod, np.array([0.0, 2.0, 0.0])),
        case(np.cumprod, np.array([2.0, 0.0, 3.0, 0.0])),
        case(abs, np.zeros(2)),
        case(operator.pow, np.zeros(2), 2.0),
        case(math.hypot, 0.0, 0.0),
    ],
)
def test_both_modes_agree_at_kinks_and_ties(function, args, kwargs):
    check_tangent(function, *args, numeric=False, **kwargs)


def test_what_has_no_tangent_says_so():
    a = array(3, 2)
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        linalg.svd_tangent(a, np.linalg.svd(a), a)
    with pytest.raises(NotImplementedError, match="mode='reduced'"):
        linalg.qr_tangent(a, np.linalg.qr(a, "complete"), "complete")
    with pytest.raises(NotImplementedError, match="mean"):
        shaping.pad_tangent(a, 1, "mean")
