"""`x += v` in a function that is written without types."""

import numpy as np
import pytest

import srcjax

X = np.array([0.5, -1.5])


def held_if(x, wanted):
    """What is returned has a type that is not known: None, or what is given."""
    held = None
    if wanted > 0:
        held = x
    return held


def other_branch(x, p):
    if p > 1:
        y = held_if(x, p)
    else:
        y = -held_if(x, p)
        y += x * x
    return np.sum(y)


def both_branches(x, p):
    y = held_if(x, p)
    if p > 1:
        y = -y
    y += x * x
    return np.sum(y)


def in_a_loop(x, p):
    for k in range(p):
        if k == 0:
            y = held_if(x, p)
        else:
            y += x * x
    return np.sum(y)


def test_what_the_other_branch_binds_is_not_shared():
    np.testing.assert_allclose(srcjax.grad(other_branch)(X, 1), -1 + 2 * X)
    np.testing.assert_allclose(srcjax.grad(other_branch)(X, 2), [1, 1])


@pytest.mark.parametrize(("function", "p"), [(both_branches, 1), (in_a_loop, 3)])
def test_what_an_earlier_branch_binds_may_be_shared(function, p):
    with pytest.raises(TypeError, match="changes a ndarray in place"):
        srcjax.grad(function)(X, p)
