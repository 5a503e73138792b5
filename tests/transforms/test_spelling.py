"""Generated code in the words a person would use: each rewrite before and after."""

import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.backends.load import load
from srcjax.testing import check_grads
from srcjax.transforms.simplify.plain import (
    item_of_sum,
    join_choices,
    join_halves,
    sign_outside,
)
from srcjax.transforms.simplify.spell_out import Leave, spell_out
from srcjax.transforms.simplify.updates import fold_starts, return_directly
from tests.corpus.harness import assert_close, differences

TEMPS = {"t", "t2"}
RULES = {
    gast.Compare: Leave(2),
    gast.Subscript: Leave(4, together=True),
    gast.Attribute: Leave(4, in_loops=True),
    gast.BinOp: None,
}


def run(transform, before):
    node = gast.parse(textwrap.dedent(before)).body[0]
    for stmt in syntax.walk(node.body):
        if isinstance(stmt, gast.stmt):
            stmt.backward = True
    transform(node)
    return syntax.text(node)


def spelled(node):
    spell_out(node, TEMPS.__contains__, lambda value: RULES.get(type(value)))


def folded(node):
    node.body = fold_starts(node.body)


CASES = [
    (
        spelled,
        "def f(x):\n    t = x > 0\n    y = np.where(t, x, 1)\n"
        "    return np.where(t, y, 2)",
        "def f(x):\n    y = np.where(x > 0, x, 1)\n    return np.where(x > 0, y, 2)",
    ),
    (
        spelled,  # once too often
        "def f(x):\n    t = x > 0\n    return g(t, t, t)",
        "def f(x):\n    t = x > 0\n    return g(t, t, t)",
    ),
    (
        spelled,  # an item is read before the statement writes
        "def f(x):\n    t = x[0]\n    x[0] = t * t\n    return x",
        "def f(x):\n    x[0] = x[0] * x[0]\n    return x",
    ),
    (
        spelled,  # ... but not after another statement did
        "def f(x):\n    t = x[0]\n    x[0] = 1.0\n    return t * t",
        "def f(x):\n    t = x[0]\n    x[0] = 1.0\n    return t * t",
    ),
    (
        spelled,  # what it reads has another value by then
        "def f(x, y):\n    t = x > y\n    y = 2.0\n    return g(t, t)",
        "def f(x, y):\n    t = x > y\n    y = 2.0\n    return g(t, t)",
    ),
    (
        spelled,  # a loop would compute it again and again
        "def f(x, n):\n    t = x > 0\n"
        "    for i in range(n):\n        g(t, t)\n    return x",
        "def f(x, n):\n    t = x > 0\n"
        "    for i in range(n):\n        g(t, t)\n    return x",
    ),
    (
        spelled,  # a view costs nothing
        "def f(x, n):\n    t = x.T\n"
        "    for i in range(n):\n        g(t, t)\n    return x",
        "def f(x, n):\n    for i in range(n):\n        g(x.T, x.T)\n    return x",
    ),
    (
        spelled,  # the user's own name stays
        "def f(x):\n    y = x > 0\n    return g(y, y)",
        "def f(x):\n    y = x > 0\n    return g(y, y)",
    ),
    (
        spelled,  # each definition has reads of its own
        "def f(x, c):\n    if c:\n        t = x[0]\n        y = t * t\n    else:\n"
        "        t = x[1]\n        y = t + t\n    return y",
        "def f(x, c):\n    if c:\n        y = x[0] * x[0]\n    else:\n"
        "        y = x[1] + x[1]\n    return y",
    ),
    (
        spelled,  # the value of the iteration before
        "def f(x, n):\n    t = x[0]\n    for i in range(n):\n        x[i] = t * t\n"
        "        t = x[i]\n    return x",
        "def f(x, n):\n    t = x[0]\n    for i in range(n):\n        x[i] = t * t\n"
        "        t = x[i]\n    return x",
    ),
    (
        folded,
        "def f(e, z):\n    d = 1.0\n    dz = 2 * z\n    d += e\n    return d, dz",
        "def f(e, z):\n    dz = 2 * z\n    d = 1.0 + e\n    return (d, dz)",
    ),
    (
        folded,
        "def f(e, z):\n    d = z\n    d -= e\n    return d",
        "def f(e, z):\n    d = z - e\n    return d",
    ),
    (
        folded,  # read in between
        "def f(e, z):\n    d = 1.0\n    z = d\n    d += e\n    return d, z",
        "def f(e, z):\n    d = 1.0\n    z = d\n    d += e\n    return (d, z)",
    ),
    (
        folded,  # the start has another value by then
        "def f(e, z):\n    d = z\n    z += e\n    d += e\n    return d, z",
        "def f(e, z):\n    d = z\n    z += e\n    d += e\n    return (d, z)",
    ),
    (
        folded,  # in a loop it is added to more than once
        "def f(e, n):\n    d = 1.0\n"
        "    for i in range(n):\n        d += e\n    return d",
        "def f(e, n):\n    d = 1.0\n"
        "    for i in range(n):\n        d += e\n    return d",
    ),
    (
        return_directly,
        "def f(x):\n    dx = 2 * x\n    return dx",
        "def f(x):\n    return 2 * x",
    ),
    (
        return_directly,
        "def f(x, dx):\n    dx -= 2 * x\n    return dx",
        "def f(x, dx):\n    return dx - 2 * x",
    ),
    (
        return_directly,  # two results are named
        "def f(x):\n    dx = 2 * x\n    return dx, x",
        "def f(x):\n    dx = 2 * x\n    return (dx, x)",
    ),
    (
        return_directly,  # the last terms of their sums, and parts of names
        "def f(x, dx, dy, dz):\n    dx += x\n    dy -= x * x\n    dw = dz[0]\n"
        "    return dx, dy, dw",
        "def f(x, dx, dy, dz):\n    return (dx + x, dy - x * x, dz[0])",
    ),
    (
        return_directly,  # not what another one reads, nor a long term
        "def f(x, dx, dy):\n    dy -= x\n    dx += x * (x + dy)\n    return dx, dy",
        "def f(x, dx, dy):\n    dy -= x\n    dx += x * (x + dy)\n    return (dx, dy)",
    ),
    (
        return_directly,
        "def f(x, dx, dy):\n    dy -= x\n    dx += dy\n    return dx, dy",
        "def f(x, dx, dy):\n    dy -= x\n    return (dx + dy, dy)",
    ),
    (
        return_directly,  # one result, of which something is made
        "def f(x):\n    dx = 2 * x\n    return np.real(dx)",
        "def f(x):\n    return np.real(2 * x)",
    ),
    (
        return_directly,  # read twice
        "def f(x):\n    dx = 2 * x\n    return np.add(dx, dx)",
        "def f(x):\n    dx = 2 * x\n    return np.add(dx, dx)",
    ),
]


@pytest.mark.parametrize(("transform", "before", "after"), CASES)
def test_rewrites(transform, before, after):
    assert run(transform, before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("np.where(c, a, 0) + np.where(c, 0, b)", "np.where(c, a, b)"),
        ("np.where(c, 0, b) * 0.1 + np.where(c, a, 0)", "np.where(c, a, b * 0.1)"),
        ("np.where(c, a, 0) + 2 * np.where(c, 0, b)", "np.where(c, a, 2 * b)"),
        ("np.where(c, a, 0) + np.where(k, 0, b)", None),
        ("np.where(c, a, 0) + np.where(c, b, 0)", None),
        ("np.where(c, a, 0) + np.where(c, 0, b) * x", None),
        ("np.where(c, a, 1) + np.where(c, 0, b)", None),
    ],
)
def test_choices(before, after):
    found = join_choices(syntax.expression(before), lambda new, old: False)
    assert syntax.text(found) == (after or before)


def test_choices_of_one_shape():
    before = "np.where(c, 0, 1.0) * k * s + np.where(c, 1.0, 0) * r"
    found = join_choices(syntax.expression(before), lambda new, old: True)
    assert syntax.text(found) == "np.where(c, 1.0 * r, 1.0 * k * s)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("d * (x > 0) + d * (x == 0) / 2", "d * ((x > 0) + (x == 0) / 2)"),
        ("d * (x > 0) + e * (x == 0) / 2", None),
        ("f.pop() * (x > 0) + f.pop() * (x == 0) / 2", None),
    ],
)
def test_halves(before, after):
    after = after or before
    double = join_halves(syntax.expression(before), lambda value: True)
    assert syntax.text(double) == after
    single = join_halves(syntax.expression(before), lambda value: False)
    assert syntax.text(single) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.sum(axis=1, keepdims=True)[:, 0]", "x.sum(axis=1)"),
        ("(-x.sum(axis=0, keepdims=True))[0]", "-x.sum(axis=0)"),
        ("x.sum(axis=1, keepdims=True)[0]", None),
        ("x.sum(axis=-1, keepdims=True)[..., 0]", None),
        ("x.sum(axis=1, keepdims=True)[:, 1]", None),
    ],
)
def test_items_of_sums(before, after):
    assert syntax.text(item_of_sum(syntax.expression(before))) == (after or before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(-x).T", "-x.T"),
        ("(-x).sum(axis=0)", "-x.sum(axis=0)"),
        ("x.T", "x.T"),
        ("(-x).prod()", "(-x).prod()"),
    ],
)
def test_signs(before, after):
    assert syntax.text(sign_outside(syntax.expression(before))) == after


# --- values that are computed once --------------------------------------------------


def items_twice(x):
    return x[x.shape[0] - 1] * np.sin(x[x.shape[0] - 1]) + np.sum(x**2)


def written_between(x):
    y = x.copy()
    i = 1
    first = y[i] * 2
    y[i] = first * y[i] + np.sin(y[i])
    return y[i] * first + y[i] ** 2


def rebound_between(x):
    total = 0.0
    for i in range(3):
        total = total + x[i] * x[i]
        i = (i + 1) % 3
        total = total * x[i] + x[i]
    return total


def in_branches(x):
    i = 0
    if np.sum(x) > 0:
        y = x[i] * x[i]
    else:
        y = x[i]
        y = y + np.sin(x[i])
    i = 1
    return y * x[i] * x[i]


def through_a_function(x):
    def change(a):
        a[1] = a[1] * a[1]
        return a

    y = x * 1.0
    i = 1
    before = y[i] * y[i]
    y = change(y)
    return before + y[i] * y[i]


@pytest.mark.parametrize(
    "function",
    [items_twice, written_between, rebound_between, in_branches, through_a_function],
)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_numbers(function, sign):
    x = sign * np.array([0.4, 1.2, 0.7])
    expected = differences(lambda a: float(function(a)), (x,), (0,))
    assert_close((srcjax.grad(function)(x),), expected, rtol=1e-6, atol=1e-7)


def test_an_item_is_read_once():
    def f(x, t):
        return np.sin(x[t]) + x[t] * x[t]

    text = str(srcjax.source(srcjax.grad(f), np.ones(3), 1))
    assert text.count("dx[t]") == 1


# --- constants that are spread and summed again -------------------------------------


def shifted(x, shift):
    return np.sum(x**2 - shift)


def shifted_rows(x, shift):
    return np.sum((x.T + shift) * 2.0 - shift)


def mean_of_quotient(x, shift):
    return np.mean(1.0 / shift - x)


def shifted_by_a_row(x, shift):
    row = shift * np.ones(2)
    return np.sum(x - row)


@pytest.mark.parametrize(
    "function", [shifted, shifted_rows, mean_of_quotient, shifted_by_a_row]
)
def test_counts(function):
    args = (np.arange(6.0).reshape(3, 2), 0.7)
    expected = differences(lambda *a: float(function(*a)), args, (0, 1))
    derivative = srcjax.grad(function, argnums=(0, 1))
    assert_close(derivative(*args), expected, rtol=1e-6, atol=1e-7)


def test_a_constant_is_not_spread_to_be_summed():
    text = str(srcjax.source(srcjax.grad(shifted, argnums=1), np.ones(5), 0.7))
    assert "full" not in text
    assert srcjax.grad(shifted, argnums=1)(np.ones(5), 0.7) == -5.0


# --- the text without types ----------------------------------------------------------


def difference(x, a):
    return np.sum(x - a)


def mean_of_difference(x, a):
    return np.mean(2.0 * x - a)


def sum_of_means(x, a):
    return np.sum(np.mean(x * x - a, axis=0))


def product(x, a):
    return np.sum(x @ (x.T * a))


def mean_of_product(x, a):
    y = x.T @ x - a
    return np.mean(np.sum(y * y, axis=1)) - np.mean(y)


def rank_changes(x, a):
    A = np.eye(2) * a
    k = 0
    while k < 3:
        A = x[::-1][1][:, None] * A @ x[0]
        k += 1
    return np.sum(A)


@pytest.mark.parametrize(
    "function",
    [
        difference,
        mean_of_difference,
        sum_of_means,
        product,
        mean_of_product,
        rank_changes,
        shifted,
        mean_of_quotient,
    ],
)
def test_numbers_without_types(function):
    args = (np.array([[0.3, 1.1], [0.8, -0.4], [1.5, 0.2]]), 0.7)
    expected = differences(lambda *a: float(function(*a)), args, (0, 1))
    derivative = srcjax.grad(function, argnums=(0, 1))
    assert_close(derivative(*args), expected, rtol=1e-6, atol=1e-7)
    world: dict = {}
    exec(str(srcjax.source(derivative)), world)
    untyped = world[f"grad_{function.__name__}"](*args)
    assert_close(untyped, expected, rtol=1e-6, atol=1e-7)


def midpoint(a, n):
    def slope(y):
        return np.array([y[1], -a * y[0]])

    y = np.ones(2)
    for _ in range(n):
        half = slope(y)
        y = y + 0.1 * slope(y + 0.05 * half)
    return np.sum(y**2)


def test_an_argument_of_an_inlined_function_has_one_name():
    text = str(srcjax.source(srcjax.grad(midpoint), 0.5, 3))
    assert " = y + 0.05 * half" in text and " = total" not in text
    check_grads(lambda a: midpoint(a, 3), (0.5,), order=1)


def test_an_argument_is_not_renamed_over_a_name_that_is_still_read():
    def last_of_two(a):
        def keep(last):
            return last * last

        kept = a
        for k in range(3):
            kept = keep(kept + k * a) * 0.1 + kept
        return kept

    check_grads(last_of_two, (0.5,), order=2)


@pytest.mark.parametrize("shape", [(3,), (2, 3)], ids=str)
@pytest.mark.parametrize(
    "index",
    [
        ":, None",
        "None, :",
        "..., None",
        "..., None, :",
        "None, ..., :",
        ":, None, ...",
        ":, None, None, ...",
        "..., None, :, None",
    ],
)
def test_new_axes_are_taken_off_again(index, shape):
    x = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    text = f"def f(x, w):\n    return np.sum(w * x[{index}] ** 2)\n"
    f = load(text, "new_axes", {"np": np}).f
    weights = np.arange(float(x.size)) ** 2
    shaped = weights.reshape(eval(f"x[{index}]", {"x": x}).shape)
    want = 2 * x * weights.reshape(shape)
    assert_close(srcjax.grad(f)(x, shaped), want)


def test_what_another_result_holds_is_added_in_place():
    text = "def f(dA, drow, e):\n    drow += e\n    return drow, dA"
    node = gast.parse(text).body[0]
    node.body[0].backward = True
    before = syntax.text(node)
    return_directly(node, shares={"drow": {"dA"}, "dA": {"drow"}}.get)
    assert syntax.text(node) == before
    return_directly(node)
    assert syntax.text(node) != before
