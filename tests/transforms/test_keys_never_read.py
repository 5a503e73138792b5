"""Dicts of which only some keys are read, each way from where they were made."""

from collections import namedtuple

import numpy as np
import pytest

import srcjax

Saved = namedtuple("Saved", "table keys")


class Holder:
    def __init__(self, table):
        self.table = table


def total(table, keys):
    result = 0.0
    for key in keys:
        result = result + table[key] ** 2
    return result


def of_saved(saved):
    table, keys = saved
    return total(table, keys)


def in_a_call(x):
    return total({"a": x[0] * x[1], "b": x[1]}, ["a"])


def in_a_tuple(x):
    table, keys = ({"a": x[0] * x[1], "b": x[1]}, ["a"])
    result = 0.0
    for key in keys:
        result = result + table[key] ** 2
    return result


def in_a_tuple_of_a_call(x):
    return of_saved(({"a": x[0] * x[1], "b": x[1]}, ["a"]))


def in_a_namedtuple(x):
    saved = Saved({"a": x[0] * x[1], "b": x[1]}, ["a"])
    table = saved.table
    result = 0.0
    for key in saved.keys:
        result = result + table[key] ** 2
    return result


def in_an_object(x):
    held = Holder({"a": x[0] * x[1], "b": x[1]})
    table = held.table
    result = 0.0
    for key in ["a"]:
        result = result + table[key] ** 2
    return result


def in_a_dict(x):
    tables = {"p": {"a": x[0] * x[1], "b": x[1]}, "q": {"a": x[0], "b": x[1]}}
    result = 0.0
    for name in ["p"]:
        table = tables[name]
        for key in ["a"]:
            result = result + table[key] ** 2
    return result


def in_a_list(x):
    tables = [{"a": x[0] * x[1] * i, "b": x[1]} for i in range(3)]
    result = 0.0
    for table in tables:
        for key in ["a"]:
            result = result + table[key] ** 2
    return result


def copied_on_one_path(x):
    table = {"a": x[0] * x[1], "b": x[1]}
    other = table
    if x[0] > 0:
        other = dict(table)
    result = 0.0
    for key in ["a"]:
        result = result + other[key] ** 2
    return result


def one_of_two(x):
    first = {"a": x[0] * x[1], "b": x[1]}
    second = {"a": x[0] + x[1], "b": x[1]}
    table = first if x[0] > 0 else second
    result = 0.0
    for key in ["a"]:
        result = result + table[key] ** 2
    return result


def of_arrays(x):
    table, keys = ({"a": x * x[1], "b": x}, ["a"])
    result = 0.0
    for key in keys:
        result = result + np.sum(table[key] ** 2)
    return result


PROGRAMS = [
    in_a_call,
    in_a_tuple,
    in_a_tuple_of_a_call,
    in_a_namedtuple,
    in_an_object,
    in_a_dict,
    in_a_list,
    copied_on_one_path,
    one_of_two,
    of_arrays,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_gradients(f):
    x, step = np.array([1.1, 0.7]), 1e-6 * np.eye(2)
    gradient = srcjax.grad(f)
    differences = [(f(x + e) - f(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(gradient(x), differences, rtol=1e-6)

    def along(x):
        return gradient(x) @ np.array([0.3, -0.8])

    differences = [(along(x + e) - along(x - e)) / 2e-6 for e in step]
    np.testing.assert_allclose(srcjax.grad(along)(x), differences, rtol=1e-6)
