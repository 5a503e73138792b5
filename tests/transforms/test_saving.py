"""What the forward sweep saves, and what the backward sweep has otherwise."""

import ast
import itertools
import re

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads
from tests.corpus.harness import assert_close, differences

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {"test_numbers": 2, "test_numbers_of_late_values": 2}


def saved_in(text):
    """What is put on tapes, alone or as a part of a tuple, as text."""
    calls = [
        (call.func.attr, ast.unparse(call.func.value), call.args)
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    ]
    tapes = {owner for method, owner, _ in calls if method == "pop"}
    tapes |= {
        ast.unparse(loop.iter.args[0])
        for loop in ast.walk(ast.parse(text))
        if isinstance(loop, ast.For) and ast.unparse(loop.iter).startswith("reversed(")
    }
    pushed = [v for method, owner, v in calls if method == "append" and owner in tapes]
    return {ast.unparse(part) for (v,) in pushed for part in getattr(v, "elts", [v])}


def forward(a, n):
    x = np.zeros(n + 1)
    x[0] = a
    for t in range(n):
        x[t + 1] = np.sin(x[t]) + x[t] * a
    return np.sum(x**2)


def two_back(a, n):
    x = np.zeros(n + 2)
    x[0] = a
    x[1] = a * a
    for t in range(2, n + 2):
        x[t] = np.sin(x[t - 1]) * x[t - 2]
    return np.sum(x**2)


def backward(a, n):
    x = np.zeros(n + 1)
    x[n] = a
    for t in range(n - 1, -1, -1):
        x[t] = np.sin(x[t + 1]) + x[t + 1] * a
    return np.sum(x**2)


def written_then_read(a, n):
    x = np.zeros(n + 1)
    total = 0.0
    for t in range(n):
        x[t] = a * t
        y = x[t]
        total = total + y * y * y
    return total


def rows(a, n):
    x = np.zeros((n + 1, 3))
    x[0] = a
    for t in range(n):
        x[t + 1] = np.sin(x[t]) * x[t] + a
    return np.sum(x**2)


def entries_of_rows(a, n):
    x = np.zeros((n + 1, 3))
    x[0] = a
    for t in range(n):
        for j in range(1, 3):
            x[t + 1, j] = np.sin(x[t, j - 1]) * x[t, j]
    return np.sum(x**2)


def shifted_by_a_name(a, n):
    x = np.zeros(n + 1)
    x[0] = a
    for t in range(n):
        after = t + 1
        x[after] = np.sin(x[t]) * x[t]
    return np.sum(x**2)


def factorised(a, n):
    x = np.zeros((n, n))
    for j in range(n):
        s = a * (j + 9.0)
        for k in range(j):
            s = s - x[j, k] ** 2
        x[j, j] = s
        for i in range(j + 1, n):
            t = a * i
            for k in range(j):
                t = t - x[i, k] * x[j, k]
            x[i, j] = t / x[j, j]
    return np.sum(x)


def solved_backwards(a, n):
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        s = a
        for k in range(i + 1, n):
            s = s - x[k] * x[k] * (0.1 * i)
        x[i] = s
    return np.sum(x)


def parts_of_rows(a, n):
    x = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            x[i, j] = a * i - np.sum(x[i, :j] * x[j, :j])
    return np.sum(x)


def entries_behind(a, n):
    x = np.zeros(n)
    for t in reversed(range(n)):
        s = a
        for j in reversed(range(t + 1, n)):
            s = s - 0.3 * x[j] ** 2
        x[t] = s
    return np.sum(x**3)


INTACT = [
    entries_behind,
    forward,
    two_back,
    backward,
    written_then_read,
    rows,
    entries_of_rows,
    shifted_by_a_name,
    factorised,
    solved_backwards,
    parts_of_rows,
]


def read_again_by_the_end(a, n):  # x[-1] at first, which the last iteration writes
    x = np.ones(n + 1) * a
    for t in range(n + 1):
        x[t] = np.sin(x[t - 1]) * x[t]
    return np.sum(x**2)


def same_item(a, n):
    x = np.ones(n + 1) * a
    for t in range(n):
        x[t] = np.sin(x[t]) * x[t]
    return np.sum(x)


def twice(a, n):
    x = np.ones(n + 1) * a
    for _ in range(2):
        for t in range(n):
            x[t + 1] = np.sin(x[t]) * x[t]
    return np.sum(x)


def overwritten_after(a, n):
    x = np.ones(n + 1) * a
    for t in range(n):
        x[t + 1] = np.sin(x[t]) * x[t]
    x[0] = 2.0
    return np.sum(x)


def overwritten_by_another_loop(a, n):
    x = np.ones(n + 1) * a
    for t in range(n):
        x[t + 1] = np.sin(x[t]) * x[t]
    for t in range(n):
        x[t] = np.cos(x[t]) * a
    return np.sum(x)


def overwritten_behind(a, n):
    x = np.ones(n + 2) * a
    for t in range(1, n):
        y = np.sin(x[t]) * x[t]
        x[t - 1] = y
        x[t + 1] = y * a
    return np.sum(x**2)


def overwritten_later(a, n):
    x = np.ones(n + 2) * a
    for t in range(n, 0, -1):
        x[t + 1] = np.sin(x[t]) * x[t]
        x[t - 1] = x[t] * a
    return np.sum(x**2)


def again_in_a_loop_inside(a, n):
    x, total = np.zeros(n), 0.0
    for t in range(n):
        for k in range(3):
            x[t] = x[t] + a * k
            y = x[t]
            total = total + y * y * y
    return total


def up_to_the_bound(a, n):
    x, total = np.ones(n + 2), 0.0
    for t in range(n):
        for k in range(t + 2):
            y = x[k]
            total = total + y * y * y
        x[t + 1] = a * t
    return total


def bound_of_another_loop(a, n):
    x, total = np.ones(n), 0.0
    for _ in range(2):
        for t in range(n):
            for k in range(t):
                y = x[k]
                total = total + y * y * y
            x[t] = a * t
    return total


def from_the_end_at_first(a, n):
    x, total = np.ones(n + 1), 0.0
    for t in range(n):
        y = x[: t - 1]
        total = total + np.sum(y * y * y)
        x[t] = a * t
    return total


def through_a_view(a, n):
    x = np.ones(n + 1) * a
    y = x[1:]
    for t in range(n):
        x[t + 1] = np.sin(x[t]) * x[t]
        y[t] = y[t] * 2
    return np.sum(x)


def index_of_the_iteration_before(a, n):
    x = np.ones(n + 2) * a
    k = 0
    for t in range(n):
        x[k] = np.sin(x[t]) * x[t]
        k = t
    return np.sum(x)


def unknown_step(a, n):
    x = np.ones(n + 2) * a
    step = -1 if n > 2 else 1
    for t in range(1, n, step):
        x[t + 1] = np.sin(x[t]) * x[t]
    return np.sum(x)


def new_in_each_iteration(a, n):
    total = 0.0
    for k in range(2):
        x = np.zeros(n + 1)
        x[0] = a + k
        for t in range(n):
            x[t + 1] = np.sin(x[t]) * x[t]
        total = total + np.sum(x**2)
    return total


def entries_before_the_other_way(a, n):
    x = np.ones(n + 1) * a
    for t in reversed(range(n)):
        s = a
        for j in range(t):
            s = s - 0.3 * x[j] ** 2
        x[t] = s
    return np.sum(x**3)


CHANGED = [
    entries_before_the_other_way,
    read_again_by_the_end,
    same_item,
    twice,
    overwritten_after,
    overwritten_by_another_loop,
    overwritten_behind,
    overwritten_later,
    again_in_a_loop_inside,
    up_to_the_bound,
    bound_of_another_loop,
    from_the_end_at_first,
    through_a_view,
    index_of_the_iteration_before,
    unknown_step,
    new_in_each_iteration,
]


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("function", [*INTACT, *CHANGED], ids=lambda f: f.__name__)
def test_numbers(function, n):
    args = (0.7, n)
    expected = differences(lambda *a: float(function(*a)), args, (0,))
    assert_close((srcjax.grad(function)(*args),), expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", INTACT, ids=lambda f: f.__name__)
def test_intact_items_are_not_saved(function):
    text = str(srcjax.source(srcjax.grad(function), 0.7, 5))
    assert not any(name.startswith("x") for name in saved_in(text)), text


@pytest.mark.parametrize("function", CHANGED[:-2], ids=lambda f: f.__name__)
def test_changed_items_are_saved(function):
    text = str(srcjax.source(srcjax.grad(function), 0.7, 5))
    assert any(name.startswith(("x", "y")) for name in saved_in(text)), text


# --- cheap values, computed again where their operands are there ------------------


def predator(x, y, n):
    for _ in range(n):
        births = x * (1.1 - 0.4 * y)
        deaths = y * (0.1 * x - 0.4)
        x = x + 0.1 * births
        y = y + 0.1 * deaths
    return x + y


def operand_changes_first(x, y, n):
    for _ in range(n):
        scale = 2.0 * y
        y = y * 0.9
        x = x * scale * y
    return x + y


def in_a_branch(x, y, n):
    for k in range(n):
        scale = 2.0 * y
        if k % 2:
            x = x * scale
            y = y * scale
        else:
            y = y + 0.1 * scale * x
    return x * y


def in_an_inner_loop(x, y, n):
    for _ in range(n):
        scale = 0.5 * y
        for _ in range(2):
            x = x * scale + y
        y = y * 0.9 + x * 0.1
    return x * y


def changed_in_an_inner_loop(x, y, n):
    for _ in range(n):
        scale = 0.5 * y
        for _ in range(2):
            y = y * 0.9
            x = x * scale + y
    return x * y


def one_from_another(x, y, n):
    for _ in range(n):
        a = 0.5 * y
        b = a + x
        c = b * a
        x = x * b + c * c
        y = y * a * 0.1
    return x * y


def until_large(x, y, n):
    while x < n:
        scale = 0.5 * y
        x = x * (1.0 + scale * scale) + 0.2
        y = y * scale + 1.0
    return x * y


LATE = [
    predator,
    operand_changes_first,
    in_a_branch,
    in_an_inner_loop,
    changed_in_an_inner_loop,
    one_from_another,
    until_large,
]


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("function", LATE, ids=lambda f: f.__name__)
def test_numbers_of_late_values(function, n):
    args = (0.7, 0.9, n)
    expected = differences(lambda *a: float(function(*a)), args, (0, 1))
    derivative = srcjax.grad(function, argnums=(0, 1))
    assert_close(derivative(*args), expected, rtol=1e-6, atol=1e-7)


def test_cheap_products_are_not_saved():
    text = str(srcjax.source(srcjax.grad(predator, argnums=(0, 1)), 0.7, 0.9, 3))
    assert saved_in(text) == {"x", "y"}, text


def pairs_of_points(a, b, n):
    x, m = np.array([a, b, a * b]), np.array([1.0, 2.0, 3.0])
    y = np.zeros(3)
    for _ in range(n):
        for i in range(3):
            for j in range(3):
                if i != j:
                    y[i] += 0.5 * m[j] * np.sin(x[i] * x[j])
        x = x + 0.1 * y
    return np.sum(x)


def gates(a, b, n):
    x = np.array([a, b])
    for _ in range(n):
        gate = 1 / (1 + np.exp(-b * x))
        x = gate * x + (1 - gate) * np.tanh(a * x)
    return np.sum(x)


def condition_that_changes(a, b, n):
    x, k = a, 0
    for i in range(n):
        for j in range(2):
            if (i + j) % 2 == k % 3:
                k = k + 1
                x = x * np.sin(b + x)
            else:
                x = x * x
    return x * b


def counter_that_is_changed(a, b, n):
    x = a
    for i in range(n):
        for j in range(2):
            i = i + j
            if i != j:
                x = x * np.sin(b + x)
            else:
                x = x * x * b
                x = x + i
    return x


def weight_that_is_written(a, b, n):
    m = np.array([1.0, 2.0])
    x = a
    for _ in range(n):
        for j in range(2):
            if m[j] < 4.0:
                x = x * 0.5 * m[j] * np.sin(b * x)
            m[1 - j] += 1.5
    return x


def shifted_array_that_is_written(a, b, n):
    x = np.array([a, b])
    total = 0.0
    for _ in range(n):
        shifted = 1 + x
        total = total + np.sum(shifted * shifted * np.sin(shifted))
        x[0] = x[1] * b
        x *= 0.7
    return total


def shifted_array_that_is_updated(a, b, n):
    x = np.array([a, b])
    total = 0.0
    for _ in range(n):
        shifted = 0.5 * x
        shifted += b * x
        total = total + np.sum(shifted * x * np.sin(shifted))
    return total


def views_around_a_swap(a, b, n):
    v = np.array([a, b, a * b])
    w = np.array([b, a, a + b])
    total = 0.0
    for k in range(n):
        part = v[1:]
        total = total + np.sum(part * part * b)
        w[0] = part[0] * v[2] * 0.5
        if k % 2 == 0:
            v, w = w, v
        v[1] = w[0] * total * 0.1
    return total


def views_around_a_loop_that_swaps(a, b, n):
    v = np.array([a, b, a * b])
    w = np.array([b, a, a + b])
    total = 0.0
    for _ in range(2):
        part = v[1:]
        total = total + np.sum(part * part * part)
        v[2] = part[0] * total
        for k in range(n):
            w[k % 3] = v[0] * v[1] * b
            v, w = w, v
    return total


def rows_of_a_list(a, b, n):
    rows = [np.array([a, b]), np.array([b, a * b])]
    table = [[a, b], [b, 1.0]]
    total = 0.0
    for k in range(n):
        row = rows[k % 2]
        other = rows[0]
        cells = table[k % 2]
        total = total + row[0] * other[1] * cells[1]
        row[0] = total * b
        cells[1] = row[1] * cells[0]
        row[1] *= cells[1]
    return total


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "function",
    [
        views_around_a_swap,
        views_around_a_loop_that_swaps,
        rows_of_a_list,
        shifted_array_that_is_updated,
        pairs_of_points,
        gates,
        condition_that_changes,
        counter_that_is_changed,
        weight_that_is_written,
        shifted_array_that_is_written,
    ],
    ids=lambda f: f.__name__,
)
def test_numbers_of_what_is_computed_again(function, n):
    args = (0.7, 0.9, n)
    expected = differences(lambda *a: float(function(*a)), args, (0, 1))
    derivative = srcjax.grad(function, argnums=(0, 1))
    assert_close(derivative(*args), expected, rtol=1e-6, atol=1e-7)


def test_conditions_on_counters_and_shifted_arrays_are_not_saved():
    text = str(srcjax.source(srcjax.grad(pairs_of_points), 0.7, 0.9, 3))
    assert "condition" not in text
    assert "m[j]" in text.partition("reversed")[2]
    text = str(srcjax.source(srcjax.grad(gates), 0.7, 0.9, 3))
    assert "total" not in saved_in(text)


def test_views_and_items_that_stay_are_not_saved():
    text = str(srcjax.source(srcjax.grad(rows_of_a_list), 0.7, 0.9, 3))
    saved = saved_in(text)
    assert saved and not saved & {"row", "other", "cells"}


def test_updates_of_numbers_read_as_written():
    def counted(x):
        total = 0.0
        for v in x:
            total += v * v
            if total > 1:
                total *= 0.5
        return total

    text = str(srcjax.source(srcjax.grad(counted), np.array([0.3, 0.9, 1.1])))
    assert "total += v * v" in text
    assert "total *= 0.5" in text


def downwards(x, n):
    total = 0.0
    for t in reversed(range(n)):
        total = np.sin(total) * x[t] + x[t] ** 2
    return total


def downwards_to_an_end(x, n):
    total = 0.0
    for t in reversed(range(n)):
        if total > 2.0:
            break
        total = total * x[t] + 1.0
    return total


def of_a_list(xs):
    count = len(xs)
    total = 0.0
    for i, x in enumerate(xs):
        total += x**2 if i < len(xs) - 1 else x * count
    return total


def test_loops_over_reversed_ranges_and_lists():
    x = np.array([0.5, 1.5, -0.4, 0.9])
    for f in (downwards, downwards_to_an_end):
        gradient = srcjax.grad(f)
        assert_close(gradient(x, 4), differences(f, (x, 4), (0,))[0])
    assert "items" not in str(srcjax.source(srcjax.grad(downwards), x, 4))
    xs = [0.5, 1.5, -0.4]
    assert_close(srcjax.grad(of_a_list)(xs), differences(of_a_list, (xs,), (0,))[0])
    assert "[None] * len(xs)" in str(srcjax.source(srcjax.grad(of_a_list), xs))


def of_a_module(x, s):
    total = 0.0
    for item in x:
        total += np.log(np.exp(2 * np.pi * item * s) + np.e)
    return total


def test_numbers_of_modules_are_read_again():
    x = np.array([0.5, -0.4])
    text = str(srcjax.source(srcjax.grad(of_a_module), x, 0.1))
    assert not saved_in(text) & {"2 * np.pi", "np.e"}, text
    assert_close(
        srcjax.grad(of_a_module)(x, 0.1), differences(of_a_module, (x, 0.1), (0,))[0]
    )


def moving_sums(x, k, step):
    out = np.zeros(len(x) - len(k) + 1)
    for i in range(len(out)):
        out[i] = step**2 * (x[i : i + len(k)] @ k)
    return np.sum(out**2)


def test_numbers_made_of_lengths_and_squares_are_made_again():
    args = np.array([0.5, -0.4, 0.3, 1.2]), np.array([2.0, 0.7]), 0.1
    text = str(srcjax.source(srcjax.grad(moving_sums, argnums=(0, 1)), *args))
    saved = saved_in(text)
    assert not any(name.startswith(("total", "power")) for name in saved), text
    assert_close(
        srcjax.grad(moving_sums, argnums=(0, 1))(*args),
        differences(moving_sums, args, (0, 1)),
    )


def lengths_of_copies(x):
    items = list(x)
    items.append(items[0] * items[1])
    copies = list(items)
    return copies[-1] ** 2 / len(list(copies))


def test_lists_are_not_copied_twice():
    x = np.array([0.5, 1.4, 0.3])
    text = str(srcjax.source(srcjax.grad(lengths_of_copies), x))
    assert "list(list(" not in text and ").copy()" not in text, text
    assert_close(
        srcjax.grad(lengths_of_copies)(x), differences(lengths_of_copies, (x,), (0,))[0]
    )


def newton(a, x0):
    x = x0
    for _ in range(20):
        step = (x**3 - a * x - 1) / (3 * x**2 - a)
        x = x - step
        if abs(step) < 1e-12:
            break
    return x


def newton_in_a_branch(a, x0):
    x = x0
    for k in range(6):
        if k % 2:
            slope = 3 * x**2 - a
            x = x - (x**3 - a * x - 1) / slope
        else:
            x = x + (1.5 - x) * x * a / (1 + x**2)
            a = a * x / 2
    return x * a


def test_what_numbers_are_made_of_is_saved_with_the_quotient_that_has_a_name():
    text = str(srcjax.source(srcjax.grad(newton), 2.0, 2.0))
    assert saved_in(text) == {"x", "step"}, text
    assert "-dstep * step / difference" in text, text
    for f in (newton, newton_in_a_branch):
        gradients = srcjax.grad(f, (0, 1))(2.0, 1.75)
        assert_close(gradients, differences(f, (2.0, 1.75), (0, 1)))


def test_tapes_are_called_like_what_is_on_them():
    def decay(x, w):
        for row in w:
            h = np.exp(row @ x)
            for _ in range(2):
                x = h * x
        return np.sum(x)

    args = np.array([0.5, -0.4]), np.array([[0.5, 1.0], [0.2, 0.3]])
    text = str(srcjax.source(srcjax.grad(decay), *args))
    taken = re.findall(r"(\w+) = (\w+)_tape\.pop\(\)", text)
    assert len(taken) == 2 and all(name == tape for name, tape in taken), text


def test_adjoints_of_lists_are_no_tapes():
    def pairs_of(v):
        pairs = []
        for k in range(3):
            w = v * k
            pairs.append(w)
        return np.sum(sum(pairs) ** 2)

    text = str(srcjax.source(srcjax.grad(pairs_of), np.ones(3)))
    assert "dpairs.pop()" in text and "dw_tape" not in text, text


# --- what all iterations have in common ---------------------------------------------


def discounted(x, r):
    for _ in range(3):
        q = np.exp(-r * 0.5)
        x = q * x[1:] * x[:-1]
    return np.sum(x)


def other_in_each(x, r):
    for _ in range(3):
        q = np.exp(-r * 0.5)
        x = q * x[1:] * x[:-1]
        r = r * 1.5
    return np.sum(x) * r


def other_in_the_loop_around(x, r):
    for k in range(2):
        for _ in range(2):
            q = np.exp(-r * k)
            x = q * x[1:] * x[:-1]
    return np.sum(x)


def written_in_the_loop(x, r):
    s = np.array([r, 2 * r])
    for k in range(3):
        q = np.exp(-s)
        x = x[1:] * x[:-1] * q[0] * q[1]
        s[k % 2] = s[k % 2] * 1.5
    return np.sum(x)


def on_one_side(x, r):
    for k in range(3):
        if k % 2:
            q = np.exp(-r * 0.5)
            x = q * x[1:] * x[:-1]
    return np.sum(x)


def of_what_is_the_same(x, r):
    for _ in range(3):
        s = np.sin(r)
        q = np.exp(-s)
        x = q * x[1:] * x[:-1]
    return np.sum(x)


IN_COMMON = [discounted, on_one_side, of_what_is_the_same]
NOT_IN_COMMON = [other_in_each, other_in_the_loop_around, written_in_the_loop]


@pytest.mark.parametrize("f", IN_COMMON + NOT_IN_COMMON, ids=lambda f: f.__name__)
def test_what_all_iterations_have_in_common_is_not_saved(f):
    args = np.array([0.5, -0.4, 0.3, 1.2, 0.8, -1.1]), 0.7
    for argnums in ((0, 1), (0,)):
        gradient = srcjax.grad(f, argnums=argnums)
        assert_close(gradient(*args), differences(f, args, argnums), rtol=1e-5)
    saved = saved_in(str(srcjax.source(srcjax.grad(f, argnums=(0, 1)), *args)))
    assert ("q" in saved) == (f in NOT_IN_COMMON), saved


def test_a_constant_of_a_module_is_no_value():
    def scores(x, w):
        for _ in range(2):
            x = np.max(x[:, np.newaxis] + w, axis=0)
        return np.sum(x)

    args = np.array([0.5, -0.4]), np.array([[0.5, 1.0], [0.2, 0.3]])
    text = str(srcjax.source(srcjax.grad(scores), *args))
    assert "newaxis =" not in text and "[:, np.newaxis]" in text
    assert_close((srcjax.grad(scores)(*args),), differences(scores, args, (0,)))


def put_into_a_list_of_none(x, A):
    total = 0.0
    row = x.copy()
    for _ in range(2):
        box = [None] * 2
        box[0] = A
        total = total + np.sum(row * row)
        row = box[0].copy()
    return total


def test_a_list_that_is_written_to_is_not_made_again():
    x, A = np.array([1.0, 2.0]), np.array([[3.0, 4.0], [5.0, 6.0]])
    dx, dA = srcjax.grad(put_into_a_list_of_none, argnums=(0, 1))(x, A)
    np.testing.assert_array_equal(dx, 2 * x)
    np.testing.assert_array_equal(dA, 2 * A)


def wave(u0, r, steps):
    before = u0
    u = u0
    for _ in range(steps):
        after = np.zeros_like(u)
        after[1:-1] = 2 * u[1:-1] - before[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        before, u = u, after
    return np.sum(u**2)


def test_zeros_are_like_a_parameter_of_the_shape():
    u = np.sin(np.arange(6.0))
    d = srcjax.grad(wave)
    assert_close(d(u, 0.3, 4), *differences(wave, (u, 0.3, 4), (0,)))
    text = srcjax.source(d, u, 0.3, 4)
    assert "tape" not in text
    assert ".copy()[" not in text


def growing(x, n):
    total = 0.0
    for _ in range(n):
        part = np.zeros(2)
        part[0] = x[0] * total
        x = np.concatenate([x, part])
        total = total + np.sum(x**2)
    return total


def test_zeros_are_like_no_parameter_of_another_shape():
    x = np.array([0.3, 0.7])
    assert_close(srcjax.grad(growing)(x, 3), *differences(growing, (x, 3), (0,)))


# --- zeros like what has the shape of a parameter ---------------------------------


def one_shorter_than_the_parameter(y, x=None):
    h = np.full(y.shape[-1] - 1, 1.0) if x is None else np.diff(x)
    a, b = h[..., -2], h[..., -1]
    return np.sum(y[1:]) + a * b


def of_two_sizes(y, x):
    """The sizes of `y` and of `h` are not known: they are not equal for that."""
    whole = one_shorter_than_the_parameter(y, x)
    return whole + one_shorter_than_the_parameter(y[:-1])


def test_adjoints_of_unknown_sizes_have_the_size_of_their_primal():
    args = (np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.0, 1.0, 3.0, 3.5]))
    expected = differences(of_two_sizes, args, (0, 1))
    derivative = srcjax.grad(of_two_sizes, argnums=(0, 1))
    assert_close(derivative(*args), expected, rtol=1e-6, atol=1e-7)


def test_a_list_that_was_cut_and_then_grew_is_not_cut_again():
    """Cut again, it was as long as at first: IndexError, as of itertools.accumulate."""

    def appended(x):
        s = 0.0
        for k in range(len(x)):
            items = list(x[k])
            t = items[:2]
            t.append(t[0] * t[1])
            t[0] = t[0] * 2
            s += sum(t) * t[1]
        return s

    def popped(x):
        s = 0.0
        for k in range(len(x)):
            items = [v * 2 for v in x[k]]
            t = items[1:]
            t[0] = t[1] * t[0]
            t.pop()
            for v in t:
                s += v * t[0]
        return s

    def accumulated(x):
        s = 0.0
        for k in range(len(x)):
            s += sum(itertools.accumulate(x[k])) * x[k][0]
        return s

    for f in (appended, popped, accumulated):
        check_grads(f, (np.array([[0.8, 0.4, 1.2], [0.3, 0.9, 0.7]]),), order=1)
