"""`xs = xs.copy()` of lists and dicts, where what is new has the name of the old."""

import numpy as np
import pytest

import srcjax

X = np.array([0.5, 0.75])


def list_in_a_branch(x):
    values = list(x * x)
    if x[0] > 0:
        values = values.copy()
        values[1] = values[0] * x[1]
    return values[0] * 2 + 3 * values[1]


def list_in_a_loop(x):
    values = [x[0], x[1] * x[0]]
    for _ in range(3):
        values = values.copy()
        values.append(values[0] * values[-1])
    return values[-1] + values[2]


def dict_in_a_loop(x):
    values = {"a": x[0] * x[1]}
    for key in ["b", "c"]:
        values = values.copy()
        values[key] = values["a"] * x[1]
        values["a"] = values[key] * x[0]
    return values["a"] + values["b"] * 2 + values["c"]


def turned_round_in_a_branch(x):
    values = [x[0] * x[1], x[1] ** 3]
    if x[0] > 0:
        values = list(values)
        values.reverse()
    return values[0] * 2 + 3 * values[1]


def copied_before_it_is_known(x):
    def longer(values):
        values = values + [values[0] * x[1]]
        return values

    values = [x[0] * x[1], x[1] ** 3]
    if x[0] > 0:
        values = longer(values)
    values = values.copy()
    values = values + [x[0] * values[0]]
    return values[0] * 2 + 3 * values[1] * values[-1]


def dict_copied_before_it_is_known(x):
    def changed(values):
        values = dict(values)
        values["a"] = values["a"] * values["b"]
        return values

    values = {"a": x[0] * x[1], "b": x[1] ** 3}
    if x[0] > 0:
        values = changed(values)
    values = values.copy()
    values |= {"a": values["b"] * x[0]}
    return values["a"] * 2 + 3 * values["b"]


def item_of_what_had_the_name(x):
    found = [x[0] * x[1], x[1] ** 3]
    found = found.pop() if x[0] > 0 else x[0]
    return found * 2


def default_that_has_the_name(x):
    values, found = {"a": x[0] ** 2}, x[1] ** 2
    for key in ["a", "b"]:
        found = values.get(key, found) * 2
    return found


@pytest.mark.parametrize(
    "function",
    [
        list_in_a_branch,
        list_in_a_loop,
        dict_in_a_loop,
        turned_round_in_a_branch,
        copied_before_it_is_known,
        dict_copied_before_it_is_known,
        item_of_what_had_the_name,
        default_that_has_the_name,
    ],
)
def test_gradient(function):
    h = 1e-6
    by_differences = [
        (function(X + h * e) - function(X - h * e)) / (2 * h) for e in np.eye(2)
    ]
    value, found = srcjax.value_and_grad(function)(X)
    np.testing.assert_allclose(value, function(X))
    np.testing.assert_allclose(found, by_differences, rtol=1e-7)
