"""Arguments that no rule names: declared to carry no derivative, or refused."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import NoRuleError
from srcjax.ops import carry_nothing, record

X = np.array([1.0, 2.0])


def scaled_square(x, p):
    return np.asarray(x) ** 2 * p


@srcjax.adjoint(scaled_square)
def _(y, x, p):
    d[x] = d[y] * 2 * x * p  # noqa: F821


@srcjax.tangent(scaled_square)
def _(y, x, p):
    d[y] = d[x] * 2 * x * p  # noqa: F821


def lost(x):
    return np.sum(scaled_square(x, x[0]))


def kept(x):
    return np.sum(scaled_square(x, 3.0))


def test_reverse_mode_refuses_a_lost_argument():
    with pytest.raises(NoRuleError, match="argument `p`"):
        srcjax.grad(lost)(X)


def test_forward_mode_refuses_a_lost_argument():
    with pytest.raises(NoRuleError, match="argument `p`"):
        srcjax.jvp(lost, (X,), (X,))


def test_a_constant_argument_is_fine():
    np.testing.assert_allclose(srcjax.grad(kept)(X), 6 * X)
    np.testing.assert_allclose(srcjax.jvp(kept, (X,), (X,))[1], 6 * X @ X)


def test_a_declared_argument_is_fine():
    op = record.operation(scaled_square)
    op.constant = ("p",)
    try:
        np.testing.assert_allclose(srcjax.grad(lost_again)(X), 2 * X * X[0])
    finally:
        op.constant = ()


def lost_again(x):
    return np.sum(scaled_square(x, x[0]))


@pytest.mark.usefixtures("all_records")
def test_every_argument_of_the_library_is_named_or_declared():
    missing = set()
    for op in record.TABLE.values():
        if op.inert or op.adjoint is None or not op.name.startswith(("numpy", "scipy")):
            continue
        named = set(op.differentiable)
        for argument in carry_nothing.lost_arguments(
            op, list(op.signature.parameters), named
        ):
            missing.add((op.name, argument))
    # With lists that are not written out, the first operand is taken for `subscripts`:
    # it must be refused.
    refused = {("numpy.einsum", "subscripts"), ("scipy.special._basic.zeta", "out")}
    assert missing <= refused


def listed(x, axes):
    return np.sum(np.einsum(x, axes, x, axes, []))


def test_lists_of_einsum_that_are_not_written_out_are_refused():
    with pytest.raises(NoRuleError, match="argument `subscripts`"):
        srcjax.grad(listed)(X, [0])
    with pytest.raises(NoRuleError, match="argument `subscripts`"):
        srcjax.jvp(listed, (X, [0]), (X, None))
