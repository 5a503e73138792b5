"""What calls of helpers stand for, by following the helper's own text."""

import numpy as np
import pytest

from srcjax import syntax
from srcjax.analysis.program import Program
from srcjax.analysis.types import FLOAT, UNKNOWN, Array, Const, Sym
from srcjax.frontend.helper_names import HELPERS
from srcjax.ops.expand import EXPANSIONS
from srcjax.runtime import unreduce
from srcjax.transforms.specialise import Typer

F64 = np.dtype(float)
VECTOR = Array(dtype=F64, shape=(Sym("n"),))
MATRIX = Array(dtype=F64, shape=(Sym("n"), Sym("m")))
SQUARE = Array(dtype=F64, shape=(Sym("n"), Sym("n")))
CUBE = Array(dtype=F64, shape=(2, 3, 4))
COMPLEX = Array(dtype=np.dtype(complex), shape=(Sym("n"),))
ANY = Array()
NONE = Const(value=None)
ZERO = Const(value=0)
FALSE = Const(value=False)


def text(call: str, *types) -> str | None:
    node = syntax.expression(call)
    assert node.func.id not in EXPANSIONS
    found = Typer(Program(), None).stands_for(node.func.id, node.args, list(types))
    return None if found is None else syntax.text(found)


@pytest.mark.parametrize(
    ("call", "types", "after"),
    [
        ("clip_adjoint(d, x, 0.0, None)", (VECTOR, VECTOR, ZERO, NONE),
         "d * (x > 0.0) + d * (x == 0.0) / 2"),
        ("clip_adjoint(d, x, None, None)", (UNKNOWN, UNKNOWN, NONE, NONE), "d"),
        ("exponent_below(b)", (VECTOR,), "np.where(b == 0, 1, b - 1)"),
        ("exponent_below(b)", (FLOAT,), "b - (1 if b else 0)"),
        ("unabs(d, y, x)", (VECTOR, VECTOR, VECTOR), "d * np.sign(x)"),
        ("unabs(d, y, x)", (VECTOR, VECTOR, COMPLEX),
         "d * np.conj(x) / np.where(y == 0, 1, y)"),
        ("cumsum_adjoint(d, 1, x)", (MATRIX, Const(value=1), MATRIX),
         "np.flip(np.cumsum(np.flip(d, 1), 1), 1)"),
        ("cumsum_adjoint(d, None, x)", (VECTOR, NONE, MATRIX),
         "np.cumsum(d[::-1])[::-1].reshape(x.shape)"),
        ("average_adjoint(d, None, None, x)", (MATRIX, NONE, NONE, MATRIX),
         "d / x.size"),
        ("average_adjoint(d, w, None, x)", (MATRIX, MATRIX, NONE, MATRIX),
         "d * w / w.sum()"),
        ("logsumexp_adjoint(d, y, a, 0, None, False)",
         (Array(dtype=F64, shape=(Sym("m"),)),) * 2 + (MATRIX, ZERO, NONE, FALSE),
         "d * np.exp(a - y)"),
        ("untranspose(d, (2, 0, 1))", (CUBE, Const(value=(2, 0, 1))),
         "d.transpose(1, 2, 0)"),
        ("unrollaxis(d, 2, 0)", (CUBE, Const(value=2), ZERO), "d.transpose(1, 2, 0)"),
        ("unvecdot_left(d, a, b, -1)", (FLOAT, VECTOR, VECTOR, Const(value=-1)),
         "d * b"),
        ("unscipy_solve(d, y, a, b, 0, None, False, False)",
         (VECTOR, VECTOR, SQUARE, VECTOR, ZERO, NONE, FALSE, FALSE),
         "-np.outer(np.linalg.solve(a.T, d), y)"),
    ],
)  # fmt: skip
def test_known_types_leave_one_expression(call, types, after):
    assert text(call, *types) == after


@pytest.mark.parametrize(
    ("call", "types"),
    [
        ("exponent_below(b)", (UNKNOWN,)),  # the branch is open
        ("cumsum_adjoint(d, None, x)", (ANY, NONE, ANY)),
        ("unabs(d, y, x)", (ANY, ANY, ANY)),
        ("clip_adjoint(f(a), x, 0.0, None)", (VECTOR, VECTOR, ZERO, NONE)),  # twice
        ("unpinv(d, y, a)", (MATRIX, MATRIX, MATRIX)),  # a page of it
        ("unvander(d, x)", (MATRIX, VECTOR)),
        ("add_at(d, i, v)", (VECTOR, ZERO, FLOAT)),  # it writes
        ("cumprod_adjoint(d, 0, x)", (VECTOR, ZERO, VECTOR)),  # a loop
    ],
)
def test_an_open_call_stays(call, types):
    assert text(call, *types) is None


def test_a_name_of_the_helper_does_not_catch_one_of_the_caller():
    """`weights` is a name inside of `average_adjoint`; here it is the caller's `x`."""
    found = text("average_adjoint(x, d, None, weights)", MATRIX, MATRIX, NONE, MATRIX)
    assert found == "x * d / d.sum()"


def test_a_smaller_text_is_used_where_it_broadcasts():
    """`y` stands for an array of the shape of `a`: not to be summed by itself."""
    row = Array(dtype=F64, shape=(Sym("m"),))
    types = (MATRIX, row, MATRIX, ZERO, NONE, FALSE)
    found = text("logsumexp_tangent(d, y, a, 0, None, False)", *types)
    assert found == "np.sum(d * np.exp(a - y), axis=0)"


def total_of_spread(d, x):
    return np.sum(unreduce(d, None, False, x))


def test_a_smaller_text_is_not_summed(monkeypatch):
    total_of_spread.__module__ = "srcjax.runtime.tests"
    monkeypatch.setitem(HELPERS, "total_of_spread", total_of_spread)
    assert text("total_of_spread(d, x)", FLOAT, MATRIX) is None
    assert text("total_of_spread(d, x)", MATRIX, MATRIX) == "np.sum(d)"
