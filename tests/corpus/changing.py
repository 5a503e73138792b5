"""What changes its shape, its length or its meaning while the program runs."""

import numpy as np
from numpy import zeros_like

from .registry import normal, positive, program

# -- a number that becomes an array ----------------------------------------------------


@program(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
def number_becomes_array(a, w):
    total = 0.0
    for i in range(3):
        total = total + a * i
    return np.sum(total * w)


@program(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
def integer_becomes_array(a, w):
    total = 0
    for item in a:
        total = total + item * w
    return np.sum(total * w)


@program(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
def number_becomes_array_in_a_branch(a, w):
    total = 0.0
    for i in range(4):
        if i > 1:
            total = total + a * i
    return np.sum(total * w)


@program(np.array([2.0, 3.0]), np.array([1.0, 2.0]))
def one_item_becomes_several(a, w):
    total = np.zeros(1)
    for i in range(3):
        total = total * a[0] + a * i
    return np.sum(total * w)


@program(np.array([2.0, 3.0]), np.array([0.3, 0.2]))
def item_becomes_array(a, w):
    total = a[1] * 2
    for i in range(3):
        total = np.sin(total) * w + a * i
    return np.sum(total * w)


@program(np.array([2.0, 3.0]), np.array([0.3, 0.2]), jax=False)
def number_becomes_array_while(a, w):
    total, steps = 1.0, 0
    while steps < 3:
        total = total * w + a
        steps += 1
    return np.sum(total * a)


# -- lists that are read, and then changed ---------------------------------------------


@program(np.array([2.1, 3.3]), np.array([1.2, 2.7]))
def read_and_appended(a, b):
    rows = [a]
    for _ in range(2):
        rows.append(b * rows[-1])
    return sum(rows[1]) + sum(rows[2])


@program(np.array([2.1, 3.3]), np.array([1.2, 2.7]))
def read_and_added_to(a, b):
    rows = [a]
    for _ in range(3):
        rows += [b * rows[-1]]
    return np.sum(rows[-1])


@program(np.array([2.1, 3.3]), np.array([1.2, 2.7]))
def read_and_inserted(a, b):
    rows = [a, a * b]
    for _ in range(2):
        rows.insert(0, rows[0] * rows[-1])
    return np.sum(rows[0])


@program(np.array([2.1, 3.3]), np.array([1.2, 2.7]))
def read_and_reversed(a, b):
    rows = [a, a * b, b]
    total = 0.0
    for k in range(3):
        total = total + np.sum(rows[0] * rows[1]) * (k + 1)
        rows.reverse()
        rows[0] = rows[0] * b
    return total


@program(np.array([2.1, 3.3]), np.array([1.2, 2.7]))
def read_and_sorted(a, b):
    rows = [a[0], a[1] * b[0], b[1] * b[0], -a[0] * b[1]]
    total = 0.0
    for k in range(3):
        total = total + rows[0] * rows[-1] * (k + 1)
        rows.sort()
        rows[0] = rows[0] * rows[1]
    return total


@program(np.array([2.1, 3.3]), np.array([1.2, 2.7]))
def popped_and_appended(a, b):
    rows = [a, b]
    for _ in range(3):
        first = rows.pop(0)
        rows.append(first * rows[-1])
    return np.sum(rows[-1])


@program(np.array([2.1, 3.3]), np.array([1.2, 2.7]))
def dict_item_read_and_stored(a, b):
    state = {"x": a}
    total = 0.0
    for _ in range(3):
        total = total + np.sum(state["x"] * b)
        state["x"] = state["x"] * b
    last = state.pop("x")
    return total * np.sum(last)


# -- parameters of several ranks -------------------------------------------------------


def ragged():
    return [(normal(4, 2), normal(2)), (normal(3), normal(3))]


@program(ragged())
def ragged_parameters(parameters):
    total = 0.0
    for w, b in parameters:
        total += np.sum(w * b)
    return total


@program(ragged(), 1.5)
def ragged_parameters_summed_twice(parameters, scale):
    total = 0.0
    for w, b in parameters:
        total += np.sum(b - w, axis=0).sum() * scale
    return total


def column_sums(w, b):
    return np.sum(w * b, axis=0)


@program([(b, w) for w, b in ragged()], 1.5)
def ragged_parameters_of_a_callee(parameters, scale):
    total = 0.0
    for b, w in parameters:
        total = total + np.sum(column_sums(w, b)) * scale
    return total


# -- names that generated code needs for itself ----------------------------------------


@program(positive(3))
def local_named_like_a_helper(x):
    zeros_like = np.zeros_like(x)
    unbroadcast = x[0] * x
    return np.sum(unbroadcast + zeros_like)


@program(positive(3), jax=False)
def imported_named_like_a_helper(x):
    y = zeros_like(x)
    y[0] = x[0] * x[1]
    return np.sum(y * x)


def unbroadcast(x):
    return x * 3


@program(positive(3))
def function_named_like_a_helper(x):
    return np.sum(unbroadcast(x) * x[1])


@program(positive(3), positive(3))
def arguments_named_like_helpers(add, unreduce):
    items = [add[0], unreduce[1]]
    for i in range(2):
        items[i] = items[i] * items[i - 1] * add[2]
    return np.sum((items[0] + items[1]) * add * unreduce)


@program(np.array([1.1, 2.0, 0.5]))
def read_then_appended_to(x):
    values = [e * e for e in x]
    first = values[0] * 2
    values.append(first + 3.0)
    return first * x[1] * len(values)


@program(np.array([1.1, 2.0, 0.5]))
def popped_and_dropped(x):
    values = [e * e for e in x]
    total = 0.0
    for k in range(2):
        total = total + values[0] * values[-1] * x[k]
        values.pop(k - 1)
    return total * values[0]


@program(np.array([1.1, 2.0, 0.5]))
def dict_items_popped_in_a_loop(x):
    table = {}
    for k in range(3):
        table[k] = x[k] * x[k]
    total = 0.0
    for k in (0, 2):
        for key in table:
            total = total + table[key] * x[k]
        table.pop(k)
        total = total + table.pop(k, 0.5) * table.get(k, x[0] if k else 2.0)
    return total


def sum_of_squares(table, keys):
    total = 0.0
    for key in keys:
        total = total + table[key] ** 2
    return total


@program(np.array([1.1, 2.0, 0.5]))
def dict_changed_after_a_call_has_read_it(x):
    table = {"a": x[0]}
    total = 0.0
    for k in range(3):
        total = total + sum_of_squares(table, list(table))
        table["abc"[k]] = x[k] * total
        if k == 1:
            total = total * table.pop("a")
    return total * sum_of_squares(table, ["b", "c"])


@program(np.array([1.1, 2.0, 0.5]))
def slices_change_the_length(x):
    values = [e * e for e in x]
    values[1:2] = [x[0] * x[1], x[1] * x[2]]
    total = values[0] * values[1] * values[2] + values[3] * len(values)
    for k in range(2):
        product = values[0] * values[-1]
        values[k:] = [product, total]
        total = total + values[0] * values[1] * values[-1]
    return total


@program(np.array([1.1, 2.0, 0.5]))
def read_then_deleted(x):
    values = [e * e for e in x]
    first = values[0]
    del values[1:]
    return first * x[1] * len(values)


@program(np.array([1.1, 2.0, 0.5]))
def rows_grow_while_they_are_read(x):
    rows = [[e, e * e] for e in x]
    total = 0.0
    for k in range(3):
        for row in rows:
            total = total + row[0] * row[-1]
            row.append(total * x[k] * 0.1)
    return total * x[1]


@program([1.1, 2.0, 0.5], 0.9, argnums=(0, 1), tags="mutates")
def argument_appended_to(xs, y):
    xs.append(y)
    return y * y
