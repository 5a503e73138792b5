"""What one iteration saves is one tuple, and is read as separate values again."""

import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.frontend.joined_tapes import joined_tapes, part_tapes
from srcjax.testing import check_grads
from srcjax.transforms.simplify.tapes import join_tapes

TAPES = {"h_tape", "z_tape", "s_tape"}


def function(text):
    return gast.parse(textwrap.dedent(text)).body[0]


def joined(text):
    node = function(text)
    join_tapes(node, TAPES, syntax.Names(syntax.all_names(node)))
    return node


JOINED = (
    """
    def f(xs):
        h_tape = []
        z_tape = []
        h = 0.0
        for x in xs:
            z = x * h
            h_tape.append(h)
            h = z + x
            z_tape.append(z)
        for x in xs:
            z = z_tape.pop()
            dz = z * x
            h = h_tape.pop()
            dh = dz * h
        return dh
    """,
    """
    def f(xs):
        tape = []
        h = 0.0
        for x in xs:
            z = x * h
            tape.append((h, z))
            h = z + x
        for x in xs:
            h, z = tape.pop()
            dz = z * x
            dh = dz * h
        return dh
    """,
)


def test_tapes_of_one_iteration_are_one():
    assert syntax.text(joined(JOINED[0])) == syntax.text(function(JOINED[1]))


def test_read_as_separate_tapes():
    node = joined(JOINED[0])
    parts = joined_tapes(node)
    part_tapes(node, parts, syntax.Names())
    text = syntax.text(node)
    assert "h_tape.append(h)" in text and "z = z_tape.pop()" in text
    assert not any(isinstance(s, gast.Tuple) for s in syntax.walk(node))


@pytest.mark.parametrize(
    "between",
    [
        "if z > 3: break",
        "h = z = 1.0",  # neither can wait for the other, nor come before it
    ],
)
def test_not_over_what_leaves_or_binds(between):
    text = f"""
    def f(xs):
        h_tape = []
        z_tape = []
        for x in xs:
            h = x
            h_tape.append(h)
            {between}
            z_tape.append(z)
        for x in xs:
            z = z_tape.pop()
            h = h_tape.pop()
        return h
    """
    assert "(h, z)" not in syntax.text(joined(text))


@pytest.mark.parametrize(
    "sweep",
    [
        # What is put on a tape is read before it is taken to.
        "a2_tape.append(a); a = a_tape.pop(); c2_tape.append(c); c = c_tape.pop()",
        "a2_tape.append(a); c2_tape.append(c); a = a_tape.pop(); c = c_tape.pop()",
        "c = c_tape.pop(); a2_tape.append(a); a = a_tape.pop(); c2_tape.append(c)",
        "a2_tape.append(a); c = c_tape.pop(); c2_tape.append(c); a = a_tape.pop()",
    ],
)
def test_two_joined_tapes_keep_their_order(sweep):
    text = f"""
    def f(xs):
        a_tape = []
        c_tape = []
        a = c = 1.0
        for x in xs:
            a_tape.append(a)
            c_tape.append(c)
            a = a * x + 1.0
            c = c + a
        a2_tape = []
        c2_tape = []
        for x in xs:
            {sweep}
        out = []
        for x in xs:
            a = a2_tape.pop()
            c = c2_tape.pop()
            out.append(a + 10 * c)
        return out
    """
    tapes = {"a_tape", "c_tape", "a2_tape", "c2_tape"}
    node = function(text)
    join_tapes(node, tapes, syntax.Names(syntax.all_names(node)))
    found = []
    for code in (textwrap.dedent(text), syntax.text(node)):
        scope = {}
        exec(code, scope)
        found.append(scope["f"]([0.5, 2.0, 3.0, 0.7]))
    assert found[0] == found[1]
    assert syntax.text(node).count("_tape") < text.count("_tape")


def test_not_where_the_name_is_read_in_between():
    text = JOINED[0].replace("dz = z * x", "dz = z * h")
    assert "tape.append((h, z))" not in syntax.text(joined(text))


def test_lists_of_the_user_are_left():
    def f(x):
        first = []
        second = []
        for k in range(3):
            first.append(x[k] * 2)
            second.append(x[k] ** 2)
        total = 0.0
        for _ in range(3):
            a = first.pop()
            b = second.pop()
            total = total + a * b
        return total

    x = np.array([0.3, -0.4, 1.1])
    text = srcjax.source(srcjax.jvp(f), x)
    assert "first.append" in text and "second.append" in text
    check_grads(f, (x,), order=2)


def gated(w, xs):
    h = np.zeros(3)
    for x in xs:
        z = 1 / (1 + np.exp(-w * (x + h)))
        n = np.tanh(w * x + z * h)
        h = z * h + (1 - z) * n
    return np.sum(h**2)


def test_every_transform_of_a_tape_of_tuples():
    w = np.array([0.3, -0.6, 0.9])
    xs = np.linspace(-1, 1, 12).reshape(4, 3)
    gradient = srcjax.grad(gated)
    text = str(srcjax.source(gradient, w, xs))
    assert text.count("tape = []") == 1 and text.count(".pop()") == 1
    again = str(srcjax.source(srcjax.jvp(gradient), w, xs))
    assert again.count("tape = []") == 1 and again.count(".pop()") == 1
    check_grads(gated, (w, xs), order=2)
    weights = np.stack([w, 2 * w])
    each = srcjax.vmap(gradient, in_axes=(0, None))(weights, xs)
    np.testing.assert_allclose(each, [gradient(v, xs) for v in weights])


def rolled(w, xs):
    h = 0.0
    for i in range(len(xs)):
        h = np.tanh(w * xs[i] + h)
    return h**2


def relaxed(u0, nu, steps):
    u = u0.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = u[i] + nu * (u[i + 1] - 2 * u[i] + u[i - 1]) * u[i]
    return np.sum(u**2)


@pytest.mark.parametrize(
    ("f", "at", "args"),
    [
        (rolled, 0, (0.3, np.linspace(0, 1, 5))),
        (relaxed, 1, (np.linspace(0, 1, 5), 0.3, 3)),
    ],
    ids=["rolled", "relaxed"],
)
def test_derivatives_of_tapes_start_empty(f, at, args):
    """A sweep takes all that is on its tapes: at its end there is nothing on them."""
    second = srcjax.grad(srcjax.grad(f, argnums=at), argnums=at)
    text = str(srcjax.source(second, *args))
    assert "] * len(" not in text and "for a in" not in text
    assert text.count(".pop()") < 6
    expected = srcjax.hessian(f, argnums=at)(*args)
    np.testing.assert_allclose(second(*args), expected)
    third = srcjax.grad(second, argnums=at)(*args)
    forward = srcjax.jvp(
        second, args, [1.0 if k == at else None for k in range(len(args))]
    )
    np.testing.assert_allclose(third, forward[1])
