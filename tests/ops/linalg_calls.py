"""Calls of scipy.linalg and of Python functions of scipy.special, over all keywords.

The product of what each keyword may be; matrices are made of `x`, so that what a
function takes for granted (symmetric, triangular, positive) stays so when `x` moves.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from .keyword_calls import Call, runs

SQUARE = "(x + 2 * np.eye(3))"
SYMMETRIC = "(x + x.T + np.diag([1.0, 3.0, 6.0]))"
POSITIVE = "(x @ x.T + np.diag([2.0, 3.0, 5.0]))"
COMPLEX = "(x + 1j * x @ x + 2 * np.eye(3))"
TALL = "x[:, :2]"
FLAG = ["False", "True"]

#: The function, the expressions of its arguments, and what its keywords may be. Where
#: SciPy leaves a sign open, or what is in the other triangle, the table has the rest.
CALLS: list[tuple[str, list[list[str]], dict[str, list[str]]]] = [
    ("linalg.cholesky", [[POSITIVE, SYMMETRIC]], {"lower": FLAG}),
    ("linalg.cho_factor", [[POSITIVE]], {"lower": ["True"]}),
    (
        "linalg.cho_solve",
        [
            [f"({part}, {low})" for part in (SQUARE, POSITIVE) for low in FLAG],
            ["x[0]", "x"],
        ],
        {},
    ),
    ("linalg.det", [[SQUARE]], {"check_finite": FLAG}),
    ("linalg.inv", [[SQUARE]], {"assume_a": ["None", "'gen'"]}),
    ("linalg.inv", [[POSITIVE]], {"assume_a": ["'sym'", "'pos'"], "lower": FLAG}),
    (
        "linalg.eigh",
        [[SYMMETRIC]],
        {
            "lower": FLAG,
            "eigvals_only": ["True"],
            "subset_by_index": ["None", "[1, 2]"],
            "driver": ["None", "'evd'"],
        },
    ),
    (
        "linalg.eigh",
        [[SYMMETRIC], [POSITIVE]],
        {"lower": FLAG, "eigvals_only": FLAG, "type": ["1", "2", "3"]},
    ),
    ("linalg.eigh", [[SYMMETRIC]], {"lower": FLAG, "driver": ["None", "'evd'"]}),
    (
        "linalg.eigvalsh",
        [[SYMMETRIC]],
        {"lower": FLAG, "subset_by_index": ["None", "[0, 1]"]},
    ),
    (
        "linalg.eigh_tridiagonal",
        [["x[0]"], ["x[1, :2]"]],
        {
            "eigvals_only": FLAG,
            "select": ["'a'"],
        },
    ),
    (
        "linalg.eigh_tridiagonal",
        [["x[0]"], ["x[1, :2]"]],
        {"eigvals_only": FLAG, "select": ["'i'"], "select_range": ["(1, 2)", "(0, 0)"]},
    ),
    ("linalg.expm", [[SQUARE, "x", "np.stack([x, x @ x])"]], {}),
    ("linalg.expm_frechet", [["x"], [SQUARE]], {"compute_expm": FLAG}),
    ("linalg.lu", [[SQUARE, TALL]], {"permute_l": FLAG, "p_indices": FLAG}),
    ("linalg.lu_factor", [[SQUARE]], {}),
    (
        "linalg.lu_solve",
        [[f"scipy.linalg.lu_factor({SQUARE})"], ["x[0]", "x"]],
        {"trans": ["0", "1", "2"]},
    ),
    ("linalg.polar", [[SQUARE, TALL]], {"side": ["'right'", "'left'"]}),
    (
        "linalg.qr",
        [[SQUARE, TALL, "x[:2]"]],
        {
            "mode": ["'full'", "'economic'", "'r'"],
            "pivoting": FLAG,
        },
    ),
    (
        "linalg.qr_multiply",
        [[SQUARE], ["x @ x", "x[0]"]],
        {"mode": ["'right'", "'left'"], "pivoting": FLAG, "conjugate": FLAG},
    ),
    (
        "linalg.solve",
        [[SQUARE], ["x[0]", "x"]],
        {"transposed": FLAG, "assume_a": ["None", "'gen'"]},
    ),
    (
        "linalg.solve",
        [[POSITIVE], ["x[0]"]],
        {"transposed": FLAG, "assume_a": ["'sym'", "'pos'", "'her'"], "lower": FLAG},
    ),
    (
        "linalg.solve",
        [[f"np.triu({SQUARE})"], ["x[0]"]],
        {"transposed": FLAG, "assume_a": ["'upper triangular'"]},
    ),
    (
        "linalg.solve_triangular",
        [[SQUARE], ["x[0]", "x"]],
        {"trans": ["0", "1", "2", "'T'"], "lower": FLAG, "unit_diagonal": FLAG},
    ),
    ("linalg.sqrtm", [[POSITIVE]], {}),
    (
        "linalg.svd",
        [[TALL, SQUARE]],
        {"full_matrices": FLAG, "compute_uv": FLAG},
    ),
    ("linalg.svdvals", [[TALL, SQUARE]], {}),
    ("linalg.toeplitz", [["x[0]"], ["x[1]"]], {}),
    ("linalg.hankel", [["x[0]"], ["x[1]"]], {}),
    (
        "linalg.norm",
        [["x"]],
        {"ord": ["None", "1", "2", "np.inf", "'fro'", "'nuc'"], "keepdims": FLAG},
    ),
    ("linalg.norm", [["x"]], {"ord": ["None", "3", "1"], "axis": ["0", "-1"]}),
    ("linalg.pinv", [[TALL, SQUARE]], {"rtol": ["None", "1e-9"], "atol": ["None"]}),
    ("linalg.lstsq", [[TALL], ["x[0]", "x"]], {"cond": ["None", "1e-9"]}),
    ("linalg.solve_banded", [["(1, 1)"], ["x + 2"], ["x[0]", "x"]], {}),
    (
        "linalg.solveh_banded",
        [["np.stack([x[0], x[1] + 3])"], ["x[0]", "x"]],
        {"lower": ["False"]},
    ),
    ("linalg.solve_toeplitz", [["x[0] + np.array([3.0, 0, 0])"], ["x[1]"]], {}),
    ("linalg.solve_sylvester", [[SQUARE], [POSITIVE], ["x"]], {}),
    ("linalg.block_diag", [["x"], ["x[:1]", "y"]], {}),
    ("linalg.schur", [[POSITIVE]], {"output": ["'real'", "'complex'"]}),
    ("linalg.hessenberg", [[SQUARE]], {"calc_q": FLAG}),
    ("linalg.circulant", [["x[0]"]], {}),
    ("linalg.companion", [["x[0]"]], {}),
    ("linalg.det", [[f"np.abs({COMPLEX})"]], {}),
    (
        "special.logsumexp",
        [["x"]],
        {
            "axis": ["None", "0", "(0, 1)", "-1"],
            "b": ["None", "x * y", "2.0", "-K"],
            "keepdims": FLAG,
            "return_sign": FLAG,
        },
    ),
    ("special.softmax", [["x"]], {"axis": ["None", "0", "(0, 1)"]}),
    ("special.log_softmax", [["x"]], {"axis": ["None", "0", "(0, 1)"]}),
    ("special.multigammaln", [["x + 2"]], {"d": ["1", "3"]}),
    ("special.comb", [["5.3", "x + 3"], ["y", "2"]], {"repetition": FLAG}),
    ("special.factorial", [["x", "y + 2"]], {"extend": ["'zero'"]}),
    ("special.polygamma", [["1", "2"], ["x + 1"]], {}),
    ("special.zeta", [["2.5"], ["x + 1", "None"]], {}),
    ("special.logsumexp", [["x"]], {"b": ["M"], "axis": ["None", "1"]}),
]

#: Around a call: without signs, without what is in the other triangle.
WITHOUT = {
    "linalg.eigh": "[part**2 for part in {}]",
    "linalg.eigh_tridiagonal": "[part**2 for part in {}]",
    "linalg.cho_factor": "np.tril({}[0])",
}


def linalg_calls(row: int) -> Iterator[Call]:
    """Every combination of one row that SciPy takes."""
    name, positional, keywords = CALLS[row]
    for args in itertools.product(*positional):
        for values in itertools.product(*keywords.values()):
            named = [f"{k}={v}" for k, v in zip(keywords, values, strict=True)]
            spelled = f"scipy.{name}({', '.join([*args, *named])})"
            around = WITHOUT.get(name, "{}")
            if "eigvals_only=True" in spelled:
                around = "{}"
            call = Call(f"return {around.format(spelled)}", (3, 3))
            if runs(call):
                yield call
