"""The values at points of choice, as `docs/conventions.md` states them.

A row is a function, a point, its gradient there, and how JAX's compares. Both modes
give it, alone and under `vmap`; where a forward direction meets zero times infinity,
the row has the forward values too.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import srcjax
from srcjax.backends.load import load

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = {"test_point": 24}

PAGE = Path(__file__).parent.parent / "docs" / "conventions.md"
nan, inf = np.nan, np.inf
SAME, OTHER = "as in JAX", "not as in JAX"
HALF = [[0.5, 0.5], [-0.5, 0.5]]
TIED = [[1.0, 2.0], [-2.0, 1.0]]
NULL = [[0.0, 0.0], [0.0, 0.0]]
UNIT = [[1.0, 0.0], [0.0, 1.0]]
NONE = [[nan, nan], [nan, nan]]

#: The line of the page it belongs to: function, point, gradient, JAX, forward.
POINTS = {
    "`maximum`, `minimum`, `clip`": [
        ("np.maximum(x[0], x[1])", [1.0, 1.0], [0.5, 0.5], SAME),
        ("np.minimum(x[0], x[1])", [1.0, 1.0], [0.5, 0.5], SAME),
        ("np.sum(np.maximum(x, 0.0))", [0.0, 1.0], [0.5, 1.0], SAME),
        ("np.sum(np.clip(x, 0.0, 1.0))", [0.0, 0.5, 1.0], [0.5, 1.0, 0.5], SAME),
        ("np.clip(x[0], x[1], x[2])", [1.0, 1.0, 2.0], [0.5, 0.5, 0.0], SAME),
        ("np.clip(x[0], x[1], x[2])", [2.0, 1.0, 2.0], [0.5, 0.0, 0.5], SAME),
        ("np.fmax(x[0], x[1])", [1.0, 1.0], [0.5, 0.5], OTHER),
    ],
    "`max`, `min`, `ptp`, `nanmax`": [
        ("np.max(x)", [2.0, 1.0, 2.0], [0.5, 0.0, 0.5], SAME),
        ("np.min(x)", [1.0, 2.0, 1.0], [0.5, 0.0, 0.5], SAME),
        ("np.ptp(x)", [2.0, 2.0, 1.0], [0.5, 0.5, -1.0], SAME),
        ("np.nanmax(x)", [2.0, nan, 2.0], [0.5, 0.0, 0.5], SAME),
    ],
    "`sort`, `partition`": [
        ("np.sort(x) @ np.arange(3.0)", [2.0, 1.0, 2.0], [1.0, 0.0, 2.0], SAME),
        ("np.partition(x, 1) @ np.arange(3.0)", [2.0, 1.0, 2.0], [1, 0, 2], OTHER),
    ],
    "`abs` at 0": [
        ("np.sum(np.abs(x))", [0.0, 1.0, -2.0], [0.0, 1.0, -1.0], OTHER),
        ("np.hypot(x[0], x[1])", [0.0, 0.0], [0.0, 0.0], OTHER),
        ("np.copysign(x[0], x[1])", [0.0, -1.0], [0.0, 0.0], OTHER),
    ],
    "`sign`, `heaviside`, `floor`": [
        ("np.sum(np.sign(x))", [0.0, 1.0], [0.0, 0.0], SAME),
        ("np.sum(np.heaviside(x, 0.5))", [0.0, 1.0], [0.0, 0.0], SAME),
        ("np.sum(np.floor(x))", [1.0, 1.5], [0.0, 0.0], SAME),
        ("np.sum(np.round(x))", [0.5, 1.5], [0.0, 0.0], SAME),
    ],
    "`x % y`, `fmod` at a jump": [
        ("x[0] % x[1]", [4.0, 2.0], [1.0, -2.0], SAME),
        ("np.fmod(x[0], x[1])", [4.0, 2.0], [1.0, -2.0], SAME),
    ],
    "`sqrt`, `cbrt`, `log`, `1 / x` at 0": [
        ("np.sum(np.sqrt(x))", [0.0, 4.0], [inf, 0.25], SAME, [inf, nan]),
        ("np.sum(np.cbrt(x))", [0.0, 8.0], [inf, 1 / 12], SAME, [inf, nan]),
        ("np.sum(x ** 0.5)", [0.0, 4.0], [inf, 0.25], SAME, [inf, nan]),
        ("np.sum(np.log(x))", [0.0, 1.0], [inf, 1.0], SAME, [inf, nan]),
        ("np.sum(np.log1p(x))", [-1.0, 0.0], [inf, 1.0], SAME, [inf, nan]),
        ("np.sum(1 / x)", [0.0, 1.0], [-inf, -1.0], SAME, [-inf, nan]),
        ("np.sum(np.arcsin(x))", [1.0, 0.0], [inf, 1.0], SAME, [inf, nan]),
        ("np.sum(np.arccos(x))", [1.0, 0.0], [-inf, -1.0], SAME, [-inf, nan]),
        ("np.sum(np.arccosh(x))", [1.0, 2.0], [inf, 3**-0.5], SAME, [inf, nan]),
    ],
    "`where` and its side that is not taken": [
        (
            "np.sum(np.where(x > 0, np.sqrt(x), 0.0))",
            [0.0, 4.0], [nan, 0.25], SAME, [0.0, 0.25],
        ),
        (
            "np.sum(np.where(x > 0, np.log(x), 0.0))",
            [0.0, 4.0], [nan, 0.25], SAME, [0.0, 0.25],
        ),
        (
            "np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1)), 0.0))",
            [0.0, 4.0], [0.0, 0.25], SAME,
        ),
    ],
    "`sqrt(sum(x**2))` of zeros": [
        ("np.sqrt(np.sum(x ** 2))", [0.0, 0.0], [nan, nan], SAME),
    ],
    "`x ** 0.0` at 0": [
        ("np.sum(x ** 0.0)", [0.0, 1.0], [0.0, 0.0], OTHER),
        ("np.sum(x ** 2.0)", [0.0, 1.0], [0.0, 2.0], SAME),
        ("np.sum(x ** 1.0)", [0.0, 1.0], [1.0, 1.0], SAME),
        ("x[0] ** x[1]", [0.0, 2.0], [0.0, 0.0], SAME),
        ("x[0] ** x[1]", [-2.0, 2.0], [-4.0, nan], SAME, [nan, nan]),
        ("np.float_power(x[0], x[1])", [0.0, 2.0], [0.0, 0.0], SAME),
    ],
    "`sinc` at 0": [
        ("np.sum(np.sinc(x))", [0.0, 1.0], [0.0, -1.0], SAME),
        ("np.arctan2(x[0], x[1])", [0.0, 0.0], [nan, nan], SAME),
        ("np.logaddexp(x[0], x[1])", [-inf, -inf], [nan, nan], SAME),
    ],
    "`prod`, `cumprod` with zeros": [
        ("np.prod(x)", [0.0, 2.0, 0.0], [0.0, 0.0, 0.0], SAME),
        ("np.prod(x)", [0.0, 2.0, 3.0], [6.0, 0.0, 0.0], SAME),
        ("np.sum(np.cumprod(x))", [2.0, 0.0, 3.0], [1.0, 8.0, 0.0], SAME),
    ],
    "`std` of equal values": [
        ("np.std(x)", [1.0, 1.0], [nan, nan], SAME),
        ("np.var(x)", [1.0, 1.0], [0.0, 0.0], SAME),
    ],
    "`interp` at one of the places": [
        (
            "np.sum(np.interp(x, np.arange(3.0), np.array([0.0, 1.0, 4.0])))",
            [1.0, 0.0, 2.0, 3.0], [3.0, 1.0, 3.0, 0.0], SAME,
        ),
    ],
    "`nan_to_num`": [
        ("np.sum(np.nan_to_num(x))", [1.0, nan, inf], [1.0, 0.0, 0.0], SAME),
    ],
    "`median`, `quantile`, `percentile`": [
        ("np.median(x)", [2.0, 1.0, 2.0, 3.0], [0.5, 0.0, 0.5, 0.0], SAME),
        ("np.median(x)", [2.0, 2.0, 2.0], [0.0, 1.0, 0.0], SAME),
        ("np.quantile(x, 0.5)", [2.0, 1.0, 2.0], [1.0, 0.0, 0.0], SAME),
        ("np.percentile(x, 25)", [1.0, 1.0, 2.0], [0.5, 0.5, 0.0], SAME),
    ],
    "`quantile(x, q)` with respect to `q`": [
        ("np.quantile(np.array([1.0, 2.0, 4.0]), x[0])", [0.5], [0.0], SAME),
        ("np.quantile(np.array([1.0, 2.0, 4.0]), x[0])", [0.3], [2.0], SAME),
    ],
    "`quantile` with `method` of a step function": [
        (
            "np.quantile(np.array([1.0, 2.0, 4.0]), x[0], method='lower')",
            [0.3], [0.0], SAME,
        ),
    ],
    "NaN in `median`, `quantile`": [
        ("np.median(x)", [1.0, 2.0, nan], [0.0, 0.0, 0.0], SAME),
    ],
    "`maximum.accumulate`": [
        (
            "np.maximum.accumulate(x) @ np.array([1.0, 2.0, 4.0])",
            [1.0, 1.0, 1.0], [1.0, 2.0, 4.0], OTHER,
        ),
    ],
    "`max`, `min` with `initial=`": [
        ("np.max(x, initial=2.0)", [2.0, 1.0], [0.5, 0.0], SAME),
        ("np.min(x, initial=1.0)", [2.0, 1.0], [0.0, 0.5], SAME),
    ],
    "`nansum`, `nanmean`, `nanprod`": [
        ("np.nansum(x)", [1.0, nan], [1.0, 0.0], SAME),
        ("np.nanmean(x)", [1.0, nan], [1.0, 0.0], SAME),
        ("np.sum(np.nancumsum(x))", [1.0, nan, 3.0], [3.0, 0.0, 1.0], SAME),
        ("np.nanvar(x)", [1.0, nan, 3.0], [-1.0, 0.0, 1.0], SAME),
        ("np.nanmedian(x)", [1.0, nan, 3.0], [0.5, 0.0, 0.5], SAME),
        ("np.nanquantile(x, 0.25)", [1.0, nan, 3.0], [0.75, 0.0, 0.25], SAME),
    ],
    "`nanstd` (as `std`) of equal values": [
        ("np.nanstd(x)", [1.0, 1.0, nan], [nan, nan, 0.0], SAME, [nan, nan, nan]),
    ],
    "`nanprod`, `nancumprod` with zeros": [
        ("np.nanprod(x)", [0.0, nan, 3.0], [3.0, 0.0, 0.0], SAME),
        ("np.sum(np.nancumprod(x))", [0.0, nan, 3.0], [5.0, 0.0, 0.0], SAME),
    ],
    "`corrcoef` of a row of equal values": [
        ("np.corrcoef(x)[0, 1]", [[1.0, 1.0], [1.0, 2.0]], NONE, SAME),
    ],
    "`corrcoef`: NumPy clips": [
        ("np.corrcoef(x, x)[0, 1]", [1.0, 2.0, 4.0], [0.0, 0.0, 0.0], SAME),
    ],
    "`unique`, `union1d`": [
        ("np.unique(x) @ np.array([1.0, 2.0])", [2.0, 1.0, 2.0], [2.0, 1.0, 0.0], ""),
        ("np.sum(np.union1d(x, np.array([2.0, 7.0])))", [2.0, 1.0, 2.0], [1, 1, 0], ""),
    ],
    "`intersect1d(a, b)`": [
        ("np.sum(np.intersect1d(x[:2], x[1:]))", [2.0, 1.0, 2.0], [1.0, 1.0, 0.0], ""),
    ],
    "`vector_norm`, `matrix_norm`, `norm` of zeros": [
        ("np.linalg.norm(x)", [0.0, 0.0], [0.0, 0.0], OTHER),
        ("np.linalg.norm(x, 1)", [0.0, 2.0], [0.0, 1.0], OTHER),
        ("np.linalg.norm(x, 3)", [0.0, 0.0], [0.0, 0.0], OTHER),
        ("np.linalg.norm(x, axis=1)[0]", [[0.0, 0.0], [3.0, 4.0]], NULL, OTHER),
        ("np.linalg.vector_norm(x)", [0.0, 0.0], [0.0, 0.0], OTHER),
        ("np.linalg.norm(x, 'fro')", NULL, NULL, OTHER),
        ("np.linalg.norm(x, 'nuc')", NULL, NULL, OTHER),
        ("np.linalg.norm(x, 2)", NULL, NULL, OTHER),
        ("np.linalg.matrix_norm(x)", NULL, NULL, OTHER),
    ],
    "`vector_norm` with `ord=inf`": [
        ("np.linalg.norm(x, np.inf)", [2.0, -2.0, 1.0], [0.5, -0.5, 0.0], SAME),
        ("np.linalg.norm(x, -np.inf)", [2.0, -2.0, 3.0], [0.5, -0.5, 0.0], SAME),
        ("np.linalg.vector_norm(x, ord=np.inf)", [2.0, -2.0], [0.5, -0.5], SAME),
        ("np.linalg.norm(x, 1)", TIED, HALF, SAME),
        ("np.linalg.norm(x, -1)", TIED, HALF, SAME),
        ("np.linalg.norm(x, np.inf)", TIED, HALF, SAME),
        ("np.linalg.matrix_norm(x, ord=1)", TIED, HALF, SAME),
    ],
    "`eigh`, `svd`: where eigenvalues": [
        ("np.linalg.eigh(x)[0] @ np.array([1.0, 2.0])", UNIT, [[1, 0], [0, 2.0]], SAME),
        ("np.sum(np.linalg.svd(x)[1])", UNIT, UNIT, SAME),
        ("np.sum(np.linalg.eigh(x)[1])", UNIT, [[nan, 0], [nan, nan]], OTHER, NONE),
        ("np.sum(np.linalg.svd(x)[0])", UNIT, NONE, SAME),
    ],
    "`angle` of a real argument": [
        ("np.sum(np.angle(x))", [0.0, 1.0, -1.0], [0.0, 0.0, 0.0], OTHER),
    ],
    "`unwrap`": [
        ("np.sum(np.unwrap(x))", [0.0, np.pi, 1.0], [3.0, -1.0, 1.0], SAME),
    ],
    "`kaiser(M, beta)` at `beta=0`": [
        ("np.sum(np.kaiser(4, x[0]))", [0.0], [0.0], SAME),
    ],
    "`piecewise`, `choose`, `select`": [
        (
            "np.sum(np.piecewise(x, [x < 1, x >= 1], [lambda v: v, lambda v: v ** 2]))",
            [1.0, 2.0], [2.0, 4.0], SAME,
        ),
        (
            "np.sum(np.select([x > 1, x > 0], [x ** 2, x], 0.0))",
            [1.0, 2.0, 0.0], [1.0, 4.0, 0.0], SAME,
        ),
    ],
}  # fmt: skip
ROWS = [row for rows in POINTS.values() for row in rows]


def function(text: str, namespace):
    return load(
        f"def f(x):\n    return {text}\n", "f", {"np": namespace, "sp": special}
    ).f


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]} at {row[1]}")
def test_point(row):
    text, point, gradient, jax_is, *forward = row
    f, x = function(text, np), np.array(point)
    batch = np.stack([x, x + 0.1, x])
    forward = forward[0] if forward else gradient
    wanted = {srcjax.grad: gradient, srcjax.jacfwd: forward, srcjax.jacrev: gradient}
    for transform, expected in wanted.items():
        name = transform.__name__
        found = transform(f)(x)
        np.testing.assert_allclose(found, expected, atol=1e-15, err_msg=name)
        if transform is not srcjax.jacrev:
            first, _, last = srcjax.vmap(transform(f))(batch)
            np.testing.assert_allclose(first, expected, atol=1e-15, err_msg=name)
            np.testing.assert_allclose(last, expected, atol=1e-15, err_msg=name)
    if not jax_is:
        return
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    theirs = np.asarray(jax.grad(eval(f"lambda x: {text}", {"np": jax.numpy}))(x))
    same = np.allclose(theirs, gradient, atol=1e-15, equal_nan=True)
    assert same == (jax_is == SAME), f"JAX: {theirs}"


@pytest.mark.parametrize("line", POINTS)
def test_the_page_says_so(line):
    assert f"\n- {line}" in PAGE.read_text()


@pytest.mark.parametrize(
    ("text", "point", "hessian"),
    [
        ("np.sum(x ** 2.0)", [0.0, 1.0], [[2.0, 0.0], [0.0, 2.0]]),
        ("np.prod(x)", [0.0, 0.0, 2.0], [[0, 2.0, 0], [2.0, 0, 0], [0, 0, 0.0]]),
        ("np.sum(np.maximum(x, 0.0) ** 2)", [0.0, 1.0], [[0.5, 0.0], [0.0, 2.0]]),
        ("np.sum(np.sinc(x))", [0.0], [[-(np.pi**2) / 3]]),
        ("np.sum(sp.spence(x))", [1.0], [[0.5]]),
        ("np.sum(np.abs(x) ** 2)", [0.0, 1.0], [[0.0, 0.0], [0.0, 2.0]]),
        (
            "np.sum(np.where(x > 0, x ** 3, x ** 2))",
            [0.0, 1.0],
            [[2.0, 0.0], [0.0, 6.0]],
        ),
    ],
)
def test_second_derivatives(text, point, hessian):
    f, x = function(text, np), np.array(point)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for transform in (
            srcjax.hessian,
            lambda f: srcjax.jacfwd(srcjax.jacfwd(f)),
            lambda f: srcjax.jacrev(srcjax.jacrev(f)),
        ):
            np.testing.assert_allclose(transform(f)(x), hessian, rtol=1e-12)


def test_the_determinant_of_a_singular_matrix_is_refused():
    def f(x):
        return np.linalg.det(x)

    with pytest.raises(np.linalg.LinAlgError):
        srcjax.grad(f)(np.ones((2, 2)))
    with pytest.raises(np.linalg.LinAlgError):
        srcjax.jvp(f, (np.ones((2, 2)),), (np.eye(2),))
