"""Names that are bound together, and values under one name."""

import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.transforms.simplify.together import bind_together


def run(before, lines=()):
    node = gast.parse(textwrap.dedent(before)).body[0]
    for number, text in dict(lines).items():
        node.body[number].user_line = ("f.py", 1, text)
    bind_together(node, lambda name: name.startswith("t"), lambda name: set())
    return syntax.text(node).strip()


SWAPPED = "def f(u, v, h):\n    u, v = (v, u - h * v)\n    return (u, v)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "def f(u, v, h):\n    t = u - h * v\n    u = v\n    v = t\n"
            "    return (u, v)",
            SWAPPED,
        ),
        (  # what stands between goes in front
            "def f(u, v, h, tape):\n    t = u - h * v\n    u = v\n"
            "    tape.append(v)\n    v = t\n    return u",
            "def f(u, v, h, tape):\n    tape.append(v)\n"
            "    u, v = (v, u - h * v)\n    return u",
        ),
        (  # the old value is kept, as in a backward sweep
            "def f(u, v, h, k):\n    t = u\n    u = v\n    k = k - v * h\n"
            "    v = t - h * v\n    return (u, v, k)",
            "def f(u, v, h, k):\n    k = k - v * h\n"
            "    u, v = (v, u - h * v)\n    return (u, v, k)",
        ),
        (  # what stands between reads the new value
            "def f(u, v, h, k):\n    t = u - h * v\n    u = v\n    k = k - u\n"
            "    v = t\n    return (u, v, k)",
            None,
        ),
        (  # it is read again
            "def f(u, v, h):\n    t = u - h * v\n    u = v\n    v = t\n"
            "    return (u, v, t)",
            None,
        ),
        (  # the user's name
            "def f(u, v, h):\n    w = u - h * v\n    u = v\n    v = w\n"
            "    return (u, v)",
            None,
        ),
        (  # the new value of `u` is read: it is the old one of `v`
            "def f(u, v, h):\n    t = u\n    u = v\n    v = t - h * u\n"
            "    return (u, v)",
            None,
        ),
        (  # too long for one line
            "def f(u, v, a_long_name_of_one):\n"
            "    t = u - a_long_name_of_one * (v + a_long_name_of_one * "
            "(u - a_long_name_of_one))\n"
            "    u = v\n    v = t\n    return (u, v)",
            None,
        ),
        (
            "def f(A, d, u):\n    t = np.linalg.solve(A, d)\n    d = t\n"
            "    u = u - np.outer(t, u)\n    return (u, d)",
            "def f(A, d, u):\n    d = np.linalg.solve(A, d)\n"
            "    u = u - np.outer(d, u)\n    return (u, d)",
        ),
        (  # the other name is bound again while this one is in use
            "def f(A, d, u):\n    t = np.linalg.solve(A, d)\n    d = t\n"
            "    d = d + u\n    return (t, d)",
            None,
        ),
        (  # it may be read once more when the loop goes on
            "def f(A, d, n):\n    t = d\n    for i in range(n):\n"
            "        d = d + t\n        t = A @ d\n        d = t\n    return d",
            None,
        ),
    ],
)
def test_before_and_after(before, after):
    assert run(before) == (before if after is None else after)


PAIR = "def f(x, y):\n    n = len(x)\n    m = len(y)\n    return n + m"
WRITTEN = "def f(x, y):\n    n, m = (len(x), len(y))\n    return n + m"


def test_what_the_user_wrote_as_one_is_one():
    line = "n, m = len(x), len(y)"
    assert run(PAIR, {0: line, 1: line}) == WRITTEN
    assert run(PAIR) == PAIR
    assert run(PAIR, {0: "n = len(x); m = len(y)", 1: "n = len(x); m = len(y)"}) == PAIR
    assert run(PAIR, {0: "m, n = len(y), len(x)"}) == PAIR


def test_not_where_one_has_come_to_read_another():
    text = "def f(x):\n    n = len(x)\n    m = n - 1\n    return n + m"
    line = "n, m = len(x), len(x) - 1"
    assert run(text, {0: line, 1: line}) == text


def midpoint(y0, k, n):
    h = 1.0 / n
    previous, current = y0, y0 - h * k * y0**2
    for _ in range(n - 1):
        previous, current = current, previous - 2 * h * k * current**2
    return current + previous


def test_swaps_of_a_loop_are_swaps_on_the_way_back():
    text = str(srcjax.source(srcjax.grad(midpoint), 1.2, 0.7, 5))
    assert "previous, current = current, previous - " in text
    assert "dprevious, dcurrent = dcurrent, dprevious - " in text
    for transform in (srcjax.grad, srcjax.hessian):
        inner = midpoint if transform is srcjax.grad else srcjax.grad(midpoint)
        ahead, behind = (inner(1.2 + h, 0.7, 5) for h in (1e-6, -1e-6))
        assert np.isclose(transform(midpoint)(1.2, 0.7, 5), (ahead - behind) / 2e-6)


def spectrum(A):
    w, V = np.linalg.eigh(A)
    return np.sum(np.exp(w)) + V[0, 0] ** 2


def factors(A):
    Q, R = np.linalg.qr(A)
    return np.sum(Q @ R @ Q)


def log_volume(A):
    sign, logdet = np.linalg.slogdet(A)
    return logdet


A = np.array([[2.0, 1.0], [1.0, 3.0]])
D = np.array([[0.3, -0.2], [-0.2, 0.5]])


@pytest.mark.parametrize("function", [spectrum, factors, log_volume])
def test_results_of_factorisations_have_the_names_of_the_user(function):
    ahead, behind = (function(A + h * D) for h in (1e-6, -1e-6))
    slope = (ahead - behind) / 2e-6
    for transform in (srcjax.grad, srcjax.jvp):
        text = str(srcjax.source(transform(function), A))
        assert "_A" not in text.replace("_A_dot", "")
    assert np.isclose(np.sum(srcjax.grad(function)(A) * D), slope, rtol=1e-6)
    assert np.isclose(srcjax.jvp(function, (A,), (D,))[1], slope, rtol=1e-6)
    ahead, behind = (srcjax.grad(function)(A + h * D) for h in (1e-6, -1e-6))
    second = np.tensordot(srcjax.hessian(function)(A), D)
    assert np.allclose(second, (ahead - behind) / 2e-6, rtol=1e-5)


UNPACKED = "def f(x, y):\n    {0}\n    a, b = t\n    return {1}"


@pytest.mark.parametrize(
    ("made", "read", "after"),
    [
        ("t = g(x)", "a + b", "def f(x, y):\n    a, b = g(x)\n    return a + b"),
        (
            "t = g(x)",
            "a + b * t[1]",
            "def f(x, y):\n    a, b = g(x)\n    return a + b * b",
        ),
        (
            "t = g(x)",
            "h(a, b, t)",
            "def f(x, y):\n    a, b = g(x)\n    return h(a, b, (a, b))",
        ),
        ("t = g(x)", "k(a, b, t)", None),  # it may ask for more than parts
        ("t = g(x)", "t[-1]", None),
        (
            "t = (x * y, np.exp(y))",
            "b",
            "def f(x, y):\n    b = np.exp(y)\n    return b",
        ),
        ("t = (g(x), np.exp(y))", "b", None),  # what `g` does is done
        ("w = g(x)", "a + b", None),
    ],
)
def test_tuples_that_are_taken_apart(made, read, after):
    before = UNPACKED.format(made, read)
    node = gast.parse(before).body[0]
    bind_together(node, lambda n: n == "t", lambda n: set(), lambda n: n == "h")
    assert syntax.text(node).strip() == (before if after is None else after)


def test_lines_of_docstrings_fit():
    def a_function_with_a_long_name(first_one, second_one, third_one, fourth_one):
        return first_one * second_one * third_one * fourth_one

    for transform in (srcjax.jvp, lambda f: srcjax.grad(f, argnums=(0, 1, 2, 3))):
        text = str(
            srcjax.source(transform(a_function_with_a_long_name), 1.0, 2.0, 3.0, 4.0)
        )
        assert max(map(len, text.splitlines())) <= 88
        compile(text, "text", "exec")
