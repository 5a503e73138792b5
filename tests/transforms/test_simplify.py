"""Each simplification as a text before and after."""

import textwrap

import gast
import numpy as np
import pytest

import srcjax
from srcjax import syntax
from srcjax.testing import check_grads
from srcjax.transforms.simplify.coalesce import coalesce, name_derivatives, renumber
from srcjax.transforms.simplify.dead import remove_dead
from srcjax.transforms.simplify.delay import delay
from srcjax.transforms.simplify.nest import nest
from srcjax.transforms.simplify.owned import Held, own_results, own_written
from srcjax.transforms.simplify.quotients import use_quotients
from srcjax.transforms.simplify.sugar import sugar
from srcjax.transforms.simplify.updates import (
    fold_starts,
    join_updates,
    merge_branches,
)

TEMPS = {"t", "t2", "i", "item"}


def run(transform, before):
    node = gast.parse(textwrap.dedent(before)).body[0]
    for stmt in syntax.walk(node.body):
        if isinstance(stmt, gast.stmt):
            stmt.backward = True
    transform(node)
    return syntax.text(node)


def dead(node):
    remove_dead(node)


def nested(node):
    nest(node, TEMPS.__contains__)


def joined(node):
    node.body = merge_branches(join_updates(node.body))


def folded(node):
    node.body = fold_starts(node.body)


def delayed(node):
    delay(node.body, TEMPS.__contains__, lambda name: set())
    nested(node)


def coalesced(node):
    coalesce(node, {"z2": "z"})


def sugared(node):
    sugar(node, TEMPS)


def held():
    """Each name has memory of its own, but `v`, which is a view of `d`."""
    names = {"w": {"w"}, "d": {"d"}, "v": {"d"}, "u": {"d"}}
    names = {name: frozenset(buffers) for name, buffers in names.items()}
    return Held(lambda stmt, value: names[value.id], names, frozenset("w"))


def owned(node):
    own_results(node, held, lambda value: False, -1)


def started(node):
    own_written(node, held, lambda value: False)


CASES = [
    (dead, "def f(x):\n    y = x * 2\n    return x", "def f(x):\n    return x"),
    (
        dead,
        "def f(x):\n    print(x)\n    y = g(x)\n    return x",
        "def f(x):\n    print(x)\n    y = g(x)\n    return x",
    ),
    (
        dead,  # an array that nothing reads is not written either
        "def f(x):\n    y = np.zeros(3)\n    for i in range(3):\n        y[i] = x\n"
        "    return x",
        "def f(x):\n    return x",
    ),
    (
        dead,  # a loop-carried value is read by the next iteration
        "def f(x):\n    for i in range(3):\n        x = x * 2\n    return x",
        "def f(x):\n    for i in range(3):\n        x = x * 2\n    return x",
    ),
    (
        nested,
        "def f(x):\n    t = x * 2\n    return t + 1",
        "def f(x):\n    return x * 2 + 1",
    ),
    (
        nested,  # a constant decides what is asked of it, alone or of several things
        "def f(x):\n    t = 0.5\n    y = t is not None and x > t\n"
        "    if t is None or x < t:\n        y = t is None and y\n    return y",
        "def f(x):\n    y = x > 0.5\n    if x < 0.5:\n        y = False\n    return y",
    ),
    (
        nested,  # which a constant does not when it is not there
        "def f(x):\n    t = 0.5\n    return x is not None and t or x",
        "def f(x):\n    return x is not None and 0.5 or x",
    ),
    (
        nested,  # used twice: it stays
        "def f(x):\n    t = np.exp(x)\n    return t * t",
        "def f(x):\n    t = np.exp(x)\n    return t * t",
    ),
    (
        nested,  # not past a change of what it reads
        "def f(x):\n    t = x[0]\n    x[0] = 5\n    return t",
        "def f(x):\n    t = x[0]\n    x[0] = 5\n    return t",
    ),
    (
        nested,  # not into a loop
        "def f(x):\n    t = np.exp(x)\n    for k in range(3):\n        x = x * t\n    return x",
        "def f(x):\n    t = np.exp(x)\n    for k in range(3):\n        x = x * t\n    return x",
    ),
    (
        nested,  # an array that is written to is not its start
        "def f(x):\n    t = x\n    t[0] = 1.0\n    return t",
        "def f(x):\n    t = x\n    t[0] = 1.0\n    return t",
    ),
    (
        joined,
        "def f(a, b):\n    dx = a\n    dx += b\n    dx -= a\n    return dx",
        "def f(a, b):\n    dx = a + b - a\n    return dx",
    ),
    (
        joined,  # no matter who holds what it starts from
        "def f(a, b):\n    dx = a\n    dx = dx + b\n    dx = dx - 2 * b\n    return dx",
        "def f(a, b):\n    dx = a + b - 2 * b\n    return dx",
    ),
    (
        joined,
        "def f(a, b):\n    dx = a\n    dx = dx + dx * b\n    return dx",
        "def f(a, b):\n    dx = a\n    dx = dx + dx * b\n    return dx",
    ),
    (
        joined,
        "def f(d, e):\n    d[0] = 0.0\n    d[0] += e\n    return d",
        "def f(d, e):\n    d[0] = e\n    return d",
    ),
    (
        joined,  # wherever j is
        "def f(d, e, i, j):\n    d[i] = 0.0\n    d[j] += 2 * e\n    d[i] += e\n"
        "    return d",
        "def f(d, e, i, j):\n    d[i] = e\n    d[j] += 2 * e\n    return d",
    ),
    (
        joined,  # what is added is read from the array
        "def f(d, e, i, j):\n    d[i] = 0.0\n    d[j] += d[i - 1]\n    d[i] += e\n"
        "    return d",
        "def f(d, e, i, j):\n    d[i] = 0.0\n    d[j] += d[i - 1]\n    d[i] += e\n"
        "    return d",
    ),
    (
        joined,  # j may be i, and is overwritten
        "def f(d, e, i, j):\n    d[i] = 0.0\n    d[j] = 2 * e\n    d[i] += e\n"
        "    return d",
        "def f(d, e, i, j):\n    d[i] = 0.0\n    d[j] = 2 * e\n    d[i] += e\n"
        "    return d",
    ),
    (
        joined,  # another sum stands between the two
        "def f(a, b, dx, dy):\n    dx = a * b\n    dy += a\n    dx += b\n"
        "    return dx, dy",
        "def f(a, b, dx, dy):\n    dx = a * b + b\n    dy += a\n    return (dx, dy)",
    ),
    (
        joined,  # it is read between the two
        "def f(a, b, dx, dy):\n    dx = a * b\n    dy += dx\n    dx += b\n"
        "    return dx, dy",
        "def f(a, b, dx, dy):\n    dx = a * b\n    dy += dx\n    dx += b\n"
        "    return (dx, dy)",
    ),
    (
        joined,  # branches in branches
        "def f(x):\n    for i in x:\n        if i > 0:\n            y = 1\n"
        "        if i > 0:\n            z = y\n    return z",
        "def f(x):\n    for i in x:\n        if i > 0:\n            y = 1\n"
        "            z = y\n    return z",
    ),
    (
        joined,
        "def f(x, v):\n    d = np.zeros_like(x)\n    d[1] += v\n    return d",
        "def f(x, v):\n    d = np.zeros_like(x)\n    d[1] = v\n    return d",
    ),
    (
        joined,
        "def f(x):\n    if x > 0:\n        y = 1\n    if x > 0:\n        z = y\n"
        "    else:\n        z = 0\n    return z",
        "def f(x):\n    if x > 0:\n        y = 1\n        z = y\n    else:\n        z = 0\n"
        "    return z",
    ),
    (
        joined,  # not when the first changes what the second asks
        "def f(x):\n    if x > 0:\n        x = -1\n    if x > 0:\n        x = 5\n    return x",
        "def f(x):\n    if x > 0:\n        x = -1\n    if x > 0:\n        x = 5\n    return x",
    ),
    (
        coalesced,
        "def f(x):\n    z = x * 2\n    z2 = np.tanh(z)\n    return z2",
        "def f(x):\n    z = x * 2\n    z = np.tanh(z)\n    return z",
    ),
    (
        coalesced,  # `z` is a global
        "def f(x):\n    y = x * z\n    z2 = np.tanh(y)\n    return z2",
        "def f(x):\n    y = x * z\n    z2 = np.tanh(y)\n    return z2",
    ),
    (
        coalesced,  # both are needed at once
        "def f(x):\n    z = x * 2\n    z2 = np.tanh(z)\n    return z2 + z",
        "def f(x):\n    z = x * 2\n    z2 = np.tanh(z)\n    return z2 + z",
    ),
    (
        sugared,
        "def f(xs):\n    for i in range(len(xs)):\n        a, b = xs[i]\n        g(a, b)",
        "def f(xs):\n    for a, b in xs:\n        g(a, b)",
    ),
    (
        sugared,
        "def f(xs, ys):\n    for i in range(min(len(xs), len(ys))):\n"
        "        a = xs[i]\n        b = ys[i]\n        g(a, b)",
        "def f(xs, ys):\n    for a, b in zip(xs, ys):\n        g(a, b)",
    ),
    (
        sugared,  # the index is used, too
        "def f(xs):\n    for i in range(len(xs)):\n        a = xs[i]\n        g(a, i)",
        "def f(xs):\n    for i, a in enumerate(xs):\n        g(a, i)",
    ),
    (
        sugared,  # an item that is read later on
        "def f(xs, ys):\n    for i in range(min(len(xs), len(ys))):\n"
        "        a = xs[i]\n        c = a * a\n        b = ys[i]\n        g(c, b, i)",
        "def f(xs, ys):\n    for i, (a, b) in enumerate(zip(xs, ys)):\n"
        "        c = a * a\n        g(c, b, i)",
    ),
    (
        sugared,  # the name is something else before it
        "def f(xs):\n    for i in range(len(xs)):\n        g(a)\n        a = xs[i]",
        "def f(xs):\n    for i in range(len(xs)):\n        g(a)\n        a = xs[i]",
    ),
    (
        sugared,  # the list changes in the loop
        "def f(xs):\n    for i in range(len(xs)):\n        a = xs[i]\n        xs[0] = a",
        "def f(xs):\n    for i in range(len(xs)):\n        a = xs[i]\n        xs[0] = a",
    ),
    (
        dead,  # a tape of which no value is read
        "def f(x):\n    t = []\n    for i in range(3):\n        t.append(x)\n"
        "    for i in range(3):\n        y = t.pop()\n        x = x * 2\n    return x",
        "def f(x):\n    for i in range(3):\n        x = x * 2\n    return x",
    ),
    (
        dead,  # a name gets the value that it has
        "def f(x, a, b):\n    t = x\n    a += x * b\n    x = t\n    return a, x, t",
        "def f(x, a, b):\n    t = x\n    a += x * b\n    return (a, x, t)",
    ),
    (
        dead,  # it had another one in between
        "def f(x, b):\n    t = x\n    if b:\n        x = 2\n    b = x\n    x = t\n"
        "    return x, b",
        "def f(x, b):\n    t = x\n    if b:\n        x = 2\n    b = x\n    x = t\n"
        "    return (x, b)",
    ),
    (
        dead,  # one of its values is read: it must stay in step
        "def f(x):\n    t = []\n    t.append(x)\n    t.append(x * 2)\n"
        "    y = t.pop()\n    z = t.pop()\n    return z",
        "def f(x):\n    t = []\n    t.append(x)\n    t.append(x * 2)\n"
        "    y = t.pop()\n    z = t.pop()\n    return z",
    ),
    (
        folded,
        "def f(w, s, X, r):\n    dw = 2 * s * w\n    dr = r / 2\n    dw += X @ dr\n"
        "    return dw",
        "def f(w, s, X, r):\n    dr = r / 2\n    dw = 2 * s * w + X @ dr\n    return dw",
    ),
    (
        folded,  # what it is made of changes in between
        "def f(w, s, r):\n    dw = 2 * s * w\n    s = r / 2\n    dw += s\n    return dw",
        "def f(w, s, r):\n    dw = 2 * s * w\n    s = r / 2\n    dw += s\n    return dw",
    ),
    (
        delayed,
        "def f(dy, x, y, dx):\n    t = dy\n    dy = dy * x\n    dx += t * y\n"
        "    return dx, dy",
        "def f(dy, x, y, dx):\n    dx += dy * y\n    dy = dy * x\n    return (dx, dy)",
    ),
    (
        delayed,  # before what it is made of is overwritten
        "def f(dy, x, r, dr):\n    t = dy * x\n    dy = dy * r\n    dr += t\n"
        "    return dr, dy",
        "def f(dy, x, r, dr):\n    dr += dy * x\n    dy = dy * r\n    return (dr, dy)",
    ),
    (
        delayed,  # the sum is read in between
        "def f(dy, x, r, dr):\n    t = dy * x\n    dy = dr * r\n    dr += t\n"
        "    return dr, dy",
        "def f(dy, x, r, dr):\n    t = dy * x\n    dy = dr * r\n    dr += t\n"
        "    return (dr, dy)",
    ),
    (
        delayed,  # the new value is read before the old one
        "def f(dy, x):\n    t = dy\n    dy = dy * x\n    x = dy\n    x += t\n"
        "    return x, dy",
        "def f(dy, x):\n    t = dy\n    dy = dy * x\n    x = dy\n    x += t\n"
        "    return (x, dy)",
    ),
    (owned, "def f(w):\n    return w", "def f(w):\n    return w.copy()"),
    (
        owned,
        "def f(w):\n    d = w * 2\n    v = d[1:]\n    return (v, d)",
        "def f(w):\n    d = w * 2\n    v = d[1:]\n    return (v, d.copy())",
    ),
    (
        started,
        "def f(w):\n    u = w\n    u += 1\n    return u",
        "def f(w):\n    u = w.copy()\n    u += 1\n    return u",
    ),
    (
        started,
        "def f(w):\n    d = w * 2\n    u = d\n    u += 1\n    return (u, d)",
        "def f(w):\n    d = w * 2\n    u = d.copy()\n    u += 1\n    return (u, d)",
    ),
    (
        started,
        "def f(w):\n    d = w * 2\n    u = d\n    u += 1\n    return u",
        "def f(w):\n    d = w * 2\n    u = d\n    u += 1\n    return u",
    ),
    (
        owned,
        "def f(w):\n    d = w * 2\n    return (d, d)",
        "def f(w):\n    d = w * 2\n    return (d, d.copy())",
    ),
]


@pytest.mark.parametrize(
    ("transform", "before", "after"),
    CASES,
    ids=[f"{case[0].__name__}-{number}" for number, case in enumerate(CASES)],
)
def test_before_and_after(transform, before, after):
    assert run(transform, before) == after


def numbered(*names):
    own = syntax.Names()
    for name in names:
        while own.fresh(name.rstrip("0123456789")) != name:
            pass
    return own


@pytest.mark.parametrize(
    "before, after",
    [
        # The value has its name no longer: the derivative needs no number.
        ("dtotal3 = y\nreturn dtotal3", "dtotal = y\nreturn dtotal"),
        # `dtotal` would be taken for the derivative of `total`.
        (
            "total = y\ndtotal3 = total\nreturn dtotal3",
            "total = y\ndtotal2 = total\nreturn dtotal2",
        ),
        # Each is called after its value, and the others count in the order of the text.
        (
            "total2 = y\ndtotal3 = y\ndtotal2 = total2\nreturn dtotal2 + dtotal3",
            "total2 = y\ndtotal = y\ndtotal2 = total2\nreturn dtotal2 + dtotal",
        ),
    ],
)
def test_names_of_derivatives(before, after):
    own = numbered("total3")
    values = {"dtotal2": "total2", "dtotal3": "total3"}

    def named(node):
        name_derivatives(node, own, values, lambda value: f"d{value}")

    def function(body):
        return "def f(y):\n" + textwrap.indent(body, "    ")

    assert run(named, function(before)) == run(lambda node: None, function(after))


def test_values_of_one_name_have_derivatives_that_count():
    node = "def f(x):\n    dx = x\n    dx4 = x\n    return dx + dx4\n"
    values = {"dx4": "x"}

    def named(node):
        name_derivatives(node, syntax.Names(), values, lambda value: f"d{value}")

    assert "dx2 = x" in run(named, node)


def test_names_of_inlined_functions_need_no_number():
    before = "def f(y):\n    z2 = y * y\n    return z2\n"
    own = syntax.Names({"z"})  # of the function that the user wrote
    assert own.fresh("z") == "z2"
    assert "z2" in run(lambda node: renumber(node, own), before)
    assert "z = y" in run(lambda node: renumber(node, own, {"z2"}), before)


QUOTIENT = "def f(a, b, d):\n    q = a / b\n{}    return -d * {} / {}, q\n"


@pytest.mark.parametrize(
    "between, is_read",
    [
        ("", True),
        ("    c = a[0]\n", True),
        ("    b = 2 * b\n", False),
        ("    q = 2 * q\n", False),
        ("    a[0] = 1.0\n", False),  # what `q` was made of
        ("    v += 1.0\n", False),  # a view of `b`
        ("    while b > 1:\n        b = b / 2\n", False),
    ],
)
def test_quotients_are_read(between, is_read):
    def shares(name):
        return {"b", "v"} if name in ("b", "v") else {name}

    before = QUOTIENT.format(between, "a", "b**2")
    after = QUOTIENT.format(between, "q", "b") if is_read else before
    read = run(lambda node: use_quotients(node.body, shares), before)
    assert read == run(lambda node: None, after)


@pytest.mark.parametrize(
    "quotient, before, after",
    [
        ("(a - 1) / (b + c)", "d * (a - 1) / (b + c)", "d * q"),
        (
            "(a - 1) / (b + c)",
            "2 * (a - 1) * d / (b + c)**2 * a",
            "2 * q * d / (b + c) * a",
        ),
        ("-a / b", "d * a / b**2", "-d * q / b"),
        ("-a / b", "-a * d / b**2", "q * d / b"),
        ("a * c / b", "c * d * a / b", "q * d"),
        ("a / b[0]", "a / b[0]**2", "q / b[0]"),
        ("a / b", "a / b", "a / b"),  # it is new memory
        ("a / b", "d * a / b**3", "d * a / b**3"),
        ("a / b", "d * (a / b**2)", "d * (q / b)"),
        ("2 / b", "2 * d / b**2", "2 * d / b**2"),
        ("a / g(b)", "d * a / g(b)", "d * a / g(b)"),  # g may not give it twice
    ],
)
def test_factors_of_quotients_are_read(quotient, before, after):
    text = f"def f(a, b, c, d):\n    q = {quotient}\n    return {{}}, q\n"
    read = run(
        lambda n: use_quotients(n.body, lambda name: {name}), text.format(before)
    )
    assert read == run(lambda node: None, text.format(after))


def test_quotients_of_an_iteration_are_read_in_it_alone():
    text = """
    def f(a, b, d):
        for k in range(3):
            q = a / b
            d = d * a / b**2
            a = a + d
        return d * a / b**2 + q
    """
    read = run(lambda node: use_quotients(node.body, lambda name: {name}), text)
    assert "d = d * q / b" in read and "return d * a / b ** 2" in read


def test_targets_of_comprehensions_need_no_number():
    def total(xs, ws):
        return sum(w * np.exp(x) for w, x in zip(ws, xs, strict=True))

    text = str(srcjax.source(srcjax.jvp(total), [1.0, 2.0], [0.5, 0.2]))
    assert "exp_x = np.exp(x)" in text and "x2" not in text, text


def _up_to(function, t, end):
    if end == np.inf:  # noqa: SIM108  (branches are what it is about)
        found = function((1 - t) / t) / t**2
    else:
        found = function(end * t) * end
    return found


def _sum_up_to(function, end):
    total = 0.0
    for i in range(3):
        total = total + _up_to(function, 0.3 + 0.1 * i, end)
    return total


def test_a_copy_that_is_saved_and_copied_in_a_loop():
    """All reads of a name count that stands for another one, also in one statement."""

    def loss(rate, end):
        return _sum_up_to(lambda x: np.exp(-rate * x), end)

    value, pullback = srcjax.vjp(loss, 1.2, 1.7)
    np.testing.assert_allclose(value, loss(1.2, 1.7))
    expected = srcjax.grad(loss, argnums=(0, 1))(1.2, 1.7)
    np.testing.assert_allclose(pullback(1.0), expected)


def penalised(w, X, y, strength):
    residual = X @ w - y
    return 0.5 * np.sum(residual**2) + strength * np.sum(w**2)


def test_each_term_of_a_sum_stands_under_the_line_that_it_is_of():
    args = np.ones(2), np.ones((3, 2)), np.ones(3), 0.1
    text = srcjax.source(srcjax.grad(penalised), *args)
    end = [line.strip() for line in text.splitlines()[-4:]]
    assert end == [
        "# return 0.5 * np.sum(residual**2) + strength * np.sum(w**2)",
        "dw = 2 * strength * w",
        "# residual = X @ w - y",
        "return dw + X.T @ residual",
    ]


def penalised_rows(w, rows, strength):
    shifted = rows - w
    return strength * (w @ w) + np.sum(shifted * np.tanh(shifted))


def test_a_term_is_taken_in_where_its_line_is_quoted_before():
    text = srcjax.source(srcjax.grad(penalised_rows), np.ones(2), np.ones((3, 2)), 0.1)
    assert "dshifted = " in text and "return 2 * strength * w - dshifted." in text


def ratio_of_both(x, y):
    u = x * y
    v = x**2 + y**2
    return u / v


def test_starts_of_sums_of_the_same_lines_stand_apart_together():
    text = srcjax.source(srcjax.grad(ratio_of_both, argnums=(0, 1)), 1.0, 2.0)
    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("# v = x**2 + y**2")
    assert {"dx = 2 * dv * x", "dy = 2 * dv * y"} == set(lines[at + 1 : at + 3])
    assert lines[at + 3 :] == ["# u = x * y", "return dx + du * y, dy + du * x"]


def test_a_minus_in_front_of_a_product_is_taken_up_by_the_sum():
    def written(w, X, y, lam):
        return lam * w @ w / 2 + np.log1p(np.exp(-y * (X @ w))).sum() / len(y)

    args = np.ones(2), np.ones((3, 2)), np.ones(3), 0.1
    assert "+ -" not in srcjax.source(srcjax.grad(written), *args)
    assert "+ -" not in srcjax.source(srcjax.grad(written), general=True)


def test_a_factor_that_makes_a_number_floating_is_one_number():
    text = srcjax.source(srcjax.grad(penalised), general=True)
    assert "dw = 2.0 * strength * w" in text


def halved(x):
    count = 0
    while abs(x) > 0.1:
        count += 1
        x = x / 2
    return x, count


def test_places_are_updated():
    halves = srcjax.vmap(halved)
    text = srcjax.source(halves, np.ones(3))
    assert "count[lanes] += 1" in text and "x[lanes] /= 2" in text
    x, count = halves(np.array([1.0, 0.05, -3.0]))
    assert [*zip(x, count, strict=True)] == [halved(v) for v in (1.0, 0.05, -3.0)]
    whole = srcjax.vmap(lambda x: (x, halved(x)[1]))(np.array([1, 0, 3]))
    assert whole[1].tolist() == [4, 0, 5]


def mean_of_squares(w, X, y):
    return np.mean((X @ w - y) ** 2)


def picked(logits, labels):
    return -np.mean(np.log(logits)[np.arange(len(labels)), labels])


def third(x, y):
    return x * y / 3


def test_sizes_are_those_of_arguments():
    draw = np.random.default_rng(5).random
    X, w, y = draw((4, 3)), draw(3), draw(4)
    assert "2 / len(y) * " in srcjax.source(srcjax.grad(mean_of_squares), w, X, y)
    check_grads(mean_of_squares, (w, X, y))
    labels = np.array([0, 2, 1, 1])
    assert "/ len(labels)" in srcjax.source(srcjax.grad(picked), X, labels)


def test_a_reciprocal_that_multiplies_divides():
    text = srcjax.source(srcjax.grad(third, argnums=(0, 1)), 2.0, 5.0)
    assert "dx = y / 3" in text and "dy = x / 3" in text, text


def stencil(u, c):
    u = u.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def test_what_is_put_back_is_not_taken_out():
    u = np.linspace(0.0, 1.0, 6) ** 2
    text = srcjax.source(srcjax.grad(stencil), u, 0.2)
    assert ".copy()\n        du" not in text and "du[1:-1] = " not in text
    check_grads(stencil, (u, 0.2), order=2)


def turned(x):
    total = 0.0
    for v in x:
        if v < 0:
            continue
        total += np.sqrt(v)
    return total


def test_updates_stand_in_the_branch_that_gives_them():
    x = np.array([1.0, -2.0, 3.0])
    text = srcjax.source(srcjax.grad(turned), x)
    assert "else" not in text and "            dx[i] += dv" in text
    check_grads(turned, (np.array([1.0, 2.0, 3.0]),), order=2)


def chosen(x, c):
    y = np.sin(x) if c > 0 else 2 * x if c < -1 else np.exp(x)
    return y * y


def test_a_choice_is_quoted_once():
    text = srcjax.source(srcjax.grad(chosen), 1.0, 2.0)
    assert text.count("# y = np.sin(x) if c > 0") == 1
    for c in (1.0, -0.5, -2.0):
        check_grads(chosen, (0.7, c))


def mean_of_largest(w, inputs):
    return np.mean(np.max(inputs @ w, axis=1))


def test_how_many_there_are_is_asked_of_an_argument():
    w, inputs = np.ones((3, 2)), np.linspace(0.0, 1.0, 12).reshape(4, 3)
    text = srcjax.source(srcjax.grad(mean_of_largest), w, inputs)
    assert "len(inputs)" in text and ".size" not in text, text


def mean_of_clipped(x, w):
    z = np.clip(w * x, -1, 1)
    return np.mean(np.where(z > 0, z**2, np.abs(z)))


def mean_of_a_product(x, w):
    """No operand has the shape of what is averaged."""
    return np.mean(np.where(x[:, None] > w, x[:, None] * w, 0.5 * x[:, None]))


def mean_of_what_grows(x, w):
    """The name has another shape by then."""
    y = x * 1.0
    y = np.concatenate([y, x])
    total = np.mean(np.where(y > 0, y * 2.0, y))
    y = y[:2]
    return total * np.sum(y) + np.sum(w)


@pytest.mark.parametrize("f", [mean_of_clipped, mean_of_a_product, mean_of_what_grows])
def test_the_shape_of_what_is_chosen_is_asked_of_an_operand(f):
    x, w = np.array([0.3, -0.7, 1.4]), np.array([0.8, 1.1, 0.2])
    check_grads(f, (x, w))
    text = str(srcjax.source(srcjax.grad(mean_of_clipped, (0, 1)), x, w))
    assert "1 / len(x)" in text and "size" not in text, text


def smoothed(x, n):
    for _ in range(n):
        x = np.tanh(x)
    return np.sum(x**2)


@pytest.mark.parametrize(
    "second", [srcjax.hessian, lambda f: srcjax.vmap(srcjax.grad(f), (0, None))]
)
def test_texts_of_texts_quote_the_users_lines(second):
    """What stands above the lines of a gradient stands above those made of them."""
    x = np.ones((2, 3)) if second is not srcjax.hessian else np.ones(3)
    lines = str(srcjax.source(second(smoothed), x, 2)).splitlines()
    comments = [line for line in lines if line.lstrip().startswith("# ")]
    quotes = [line for line in comments if "# Each column: " not in line]
    assert quotes[:2] == ["    # return np.sum(x**2)", "        # x = np.tanh(x)"]
    below = lines[lines.index(quotes[1]) + 1]
    assert "1 - x**2" in below, lines


def test_signs_come_out_of_outer_products():
    def gated(W, x):
        return np.sum(1 / (1 + np.exp(-(W @ x))))

    W, x = np.ones((2, 3)), np.ones(3)
    text = srcjax.source(srcjax.grad(gated), W, x)
    assert "np.outer(" in text
    assert "-np.outer(" not in text
    check_grads(gated, (W, x))


def added_up(x, n):
    total = 0.0
    for i in range(n):
        total += x**3 - np.sin(i * x)
    return total


def test_tangents_of_updates_are_updates():
    text = srcjax.source(srcjax.jvp(added_up), 0.7, 3)
    assert "total_dot += " in text
    value, change = srcjax.jvp(added_up, (0.7, 3), (1.0, None))
    assert value == added_up(0.7, 3)
    ahead, behind = (added_up(0.7 + h, 3) for h in (1e-6, -1e-6))
    assert np.isclose(change, (ahead - behind) / 2e-6)


def test_texts_of_texts_have_signs_where_they_read_best():
    def f(A, x, y):
        z = y - A @ x
        return np.sum((x + A @ z) ** 2)

    args = np.array([[0.3, 0.2], [0.1, 0.5]]), np.array([1.0, 2.0]), np.ones(2)
    hessian = srcjax.hessian(f, argnums=1)
    assert "+ -" not in str(srcjax.source(hessian, *args))
    assert np.allclose(hessian(*args), 2 * np.eye(2) + curvature(*args[:1]))


def curvature(A):
    """What the Hessian of `f` has beside that of `np.sum(x**2)`."""
    J = np.eye(2) - A @ A
    return 2 * J.T @ J - 2 * np.eye(2)


def test_signs_come_out_of_what_is_solved():
    def f(A, x):
        return -np.sum(np.linalg.solve(A, x) ** 2) / 2

    args = np.array([[2.0, 1.0], [0.5, 3.0]]), np.array([1.0, -2.0])
    gradient = srcjax.grad(f, argnums=(0, 1))
    text = str(srcjax.source(gradient, *args))
    assert "solve(A.T, -" not in text
    check_grads(f, args)


def test_results_that_others_are_made_of_have_their_own_names():
    def f(a, b):
        return np.sum((a - b) ** 2)

    text = str(srcjax.source(srcjax.grad(f, argnums=(0, 1)), np.ones(2), np.zeros(2)))
    assert "da = 2 * (a - b)" in text
    assert "return da, -da" in text


def test_items_are_not_read_before_they_are_put_back():
    text = """\
def f(xs, back):
    for i in range(len(xs)):
        back[i] = h(i)
        a = xs[i]
        g(a, i)
"""
    node = gast.parse(text).body[0]
    sugar(node, TEMPS, shares={"xs": {"back"}, "back": {"xs"}}.get)
    assert syntax.text(node).strip() == text.strip()
    sugar(node, TEMPS)
    assert "enumerate(xs)" in syntax.text(node)


def bell(x, width):
    return np.exp(-(x**2) / (2 * width**2))


def test_powers_of_numbers_are_written_out_and_cancel():
    text = srcjax.source(srcjax.grad(bell, argnums=1), 0.3, 0.7)
    assert "x**2 / width**3" in text and "squared" not in text, text
    wanted = bell(0.3, 0.7) * 0.3**2 / 0.7**3
    np.testing.assert_allclose(srcjax.grad(bell, argnums=1)(0.3, 0.7), wanted)


def fourth(x, s):
    return x / s**2 + x**2 / (s**2) ** 2


def test_a_power_of_a_power_is_one():
    text = srcjax.source(srcjax.grad(fourth, argnums=1), 0.3, 0.7)
    assert ") ** 2" not in text.partition("raise")[2], text
    slope = srcjax.grad(fourth, argnums=1)(0.3, 0.7)
    np.testing.assert_allclose(slope, -2 * 0.3 / 0.7**3 - 4 * 0.3**2 / 0.7**5)


def middle_of_four(image, s, t):
    i, j = int(s), int(t)
    return image[i, j] * (s - i) + image[i, j + 1] * (t - j) * image[i, j]


def test_items_of_what_has_no_type_are_read_where_they_are():
    text = srcjax.source(srcjax.grad(middle_of_four), general=True)
    assert "image_ij" not in text and "image_part" not in text, text


def product_of_rows(x, W):
    total = 0.0
    for row, bias in zip(W, x, strict=False):
        total += np.tanh(row @ x) * bias
    return total


def test_loops_of_hessians_ask_for_each_length_once():
    x, W = np.array([0.2, -0.4]), np.array([[0.1, 0.3], [0.5, -0.2], [1.0, 0.7]])
    text = srcjax.source(srcjax.hessian(product_of_rows), x, W)
    assert "x_dot.shape[1]" not in text, text
    check_grads(product_of_rows, (x, W), order=2)


def slope_of_both(x, a):
    return x / (a * x**2 - x)


def test_what_a_line_adds_to_a_derivative_is_one_sum_without_types():
    text = srcjax.source(srcjax.grad(slope_of_both, argnums=(0, 1)), general=True)
    assert text.count("dx = ") <= 2, text
