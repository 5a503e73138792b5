"""Loops that are left early: what follows from it stands where they are left."""

import math
import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.testing import check_grads
from srcjax.transforms.simplify.else_of_loops import else_of_loops

CASES = [
    (
        """
        def f(x, a):
            returned = False
            for i in range(5):
                x = x * a
                if x > 10:
                    returned = True
                    break
            if returned:
                dx = 2 * x
            else:
                dx = 1.0
            return dx
        """,
        """
        def f(x, a):
            for i in range(5):
                x = x * a
                if x > 10:
                    dx = 2 * x
                    break
            else:
                dx = 1.0
            return dx
        """,
    ),
    (  # nothing is done where it is left
        """
        def f(x, a):
            returned = False
            while x < 10:
                x = x * a
                if a > x:
                    returned = True
                    break
            if not returned:
                x = a
            return x
        """,
        """
        def f(x, a):
            while x < 10:
                x = x * a
                if a > x:
                    break
            else:
                x = a
            return x
        """,
    ),
]
#: The flag of the user's own, one that is read again, two ways out of the loop, a flag
#: that stays set from an earlier loop, a `break` that a `finally` comes after, and one
#: that leaves another loop.
KEPT = [
    """
    def f(x, a):
        mine = False
        for i in range(5):
            if x > a:
                mine = True
                break
        if mine:
            x = a
        return x
    """,
    """
    def f(x, a):
        returned = False
        for i in range(5):
            if x > a:
                returned = True
                break
        if returned:
            x = a
        return x, returned
    """,
    """
    def f(x, a):
        returned = False
        for i in range(5):
            if x > a:
                returned = True
                break
            if x > i:
                break
        if not returned:
            x = a
        return x
    """,
    """
    def f(x, a):
        for k in range(2):
            for i in range(5):
                if x > a:
                    returned = True
                    break
            if returned:
                x = a
        return x
    """,
    """
    def f(x, a):
        returned = False
        for i in range(5):
            try:
                if x > a:
                    returned = True
                    break
            finally:
                x = x * 2
        if returned:
            x = a
        return x
    """,
    """
    def f(x, a):
        returned = False
        for i in range(5):
            for j in range(5):
                if x > a:
                    returned = True
                    break
        if returned:
            x = a
        return x
    """,
]


def run(before):
    node = gast.parse(textwrap.dedent(before)).body[0]
    else_of_loops(node, lambda name: name == "returned")
    return syntax.text(node).strip()


def plain(text):
    return syntax.text(gast.parse(textwrap.dedent(text))).strip()


@pytest.mark.parametrize(("before", "after"), CASES)
def test_texts(before, after):
    assert run(before) == plain(after)


@pytest.mark.parametrize("text", KEPT)
def test_kept(text):
    assert run(text) == plain(text)


def decay(x, rate):
    for _ in range(5):
        x = x * math.exp(-rate * x)
        if x < 0.1:
            return x
    return 2 * x


def of_the_trip(x, a):
    for k in range(4):
        x = x * a
        if x > 10:
            return np.log(x) * k
    return x


def in_a_while(x, a):
    y = x
    while 0.5 < y < 5.0:
        y = y * a
        if y < 1.0:
            return y**2 * a
    z = y * x
    return np.sin(z) * a


def in_both_loops(x, a):
    for i in range(3):
        for _ in range(3):
            x = x * a
            if x > 5:
                return x * i
    return x + a


def with_else(x, a):
    """A loop with `else` of the user's own, and two statements before the `break`."""
    for step in (0.5, 1.0, 2.0, 4.0):
        y = x * step
        if y * a > 3.0:
            z = y * a
            found = z * step
            break
    else:
        found = a**2 * x
    return found * a


def with_else_after_a_branch(x, a):
    y = a * x
    for k in range(3):
        if x > k:
            y = y + x * k
        if y > 4.0:
            if a > 1.0:
                y = y * a
            y = y * x
            break
        y = y * a
    else:
        y = y - x
    return y * y


def left_unbound(x, a):
    """What is bound where the loop is left has no value behind it otherwise."""
    for k in range(4):
        if x > k:
            scale = a * k
            y = scale * x
            break
    else:
        y = x
    return y * a


FUNCTIONS = [
    decay,
    of_the_trip,
    in_a_while,
    in_both_loops,
    with_else,
    with_else_after_a_branch,
    left_unbound,
]
ARGS = [(1.05, 0.5), (0.07, 0.3), (2.2, 1.2)]


@pytest.mark.parametrize("args", ARGS)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f, args):
    check_grads(f, args, order=1)
    both = srcjax.grad(f, argnums=(0, 1))
    gradient = both(*args)
    value, again = srcjax.value_and_grad(f, argnums=(0, 1))(*args)
    assert value == pytest.approx(f(*args))
    assert again == pytest.approx(gradient)
    assert srcjax.jit(both)(*args) == pytest.approx(gradient)
    pairs = [np.array([a, a]) for a in args]
    found = srcjax.vmap(both)(*pairs)
    assert [d[1] for d in found] == pytest.approx(list(gradient))
    step = 1e-6
    for k in (0, 1):
        moved = [list(args), list(args)]
        moved[0][k] += step
        moved[1][k] -= step
        ahead, behind = (both(*m)[k] for m in moved)
        expected = pytest.approx((ahead - behind) / (2 * step), rel=1e-5, abs=1e-5)
        assert srcjax.grad(srcjax.grad(f, argnums=k), argnums=k)(*args) == expected
        assert srcjax.hessian(f, argnums=k)(*args) == expected


def test_no_flag():
    text = str(srcjax.source(srcjax.grad(decay), 1.0, 0.5))
    assert "returned" not in text
    expected = """\
        if x < 0.1:
            # return x
            dx = 1.0
            break
    else:
        # return 2 * x
        dx = 2.0
"""
    assert expected in text


def test_second_derivatives_are_as_before():
    """Read again, the branch stands behind the loop: no adjoint goes through it."""
    of_a = srcjax.grad(srcjax.grad(of_the_trip, argnums=1), argnums=1)
    text = str(srcjax.source(of_a, 1.5, 1.3))
    assert "if x > 10:" in text
    assert text.count("if x > 10:") == 1
