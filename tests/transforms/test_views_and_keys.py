"""Views of dicts that have a name, `dict.fromkeys`, and text of what is mapped."""

import numpy as np
import pytest

import srcjax
from tests.programs.modes import MODES, verdict

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2


def filled(x):
    table = {}
    for i in range(len(x)):
        table[str(i)] = x[i] ** 2
    return table


def values_with_a_name(x, A, s):
    table = {}
    for i in range(len(x)):
        table[str(i)] = x[i] ** 2 * s
    values = table.values()
    total = 0.0
    for value in values:
        total = total + value**2
    return total + max(values) + sum(values)


def items_of_known_keys(x, A, s):
    table = {"a": x[0] * s, "b": A[0]}
    items = table.items()
    total = 0.0
    for key, value in items:
        total = total + len(key) * np.sum(value**2)
    for pair in items:
        total = total + np.sum(pair[1])
    return total


def items_of_a_helper(x, A, s):
    items = filled(x * s).items()
    return sum(value * (1.0 + float(key)) for key, value in items)


def made_from_keys(x, A, s):
    table = dict.fromkeys(["a", "b", "a"], 0.0)
    for key in table:
        table[key] += s * np.sum(x)
    rows = dict.fromkeys(range(2), s)
    rows[1] = table["a"] * rows[0]
    return rows[1] * table["b"] * len(table)


PROGRAMS = [
    values_with_a_name,
    items_of_known_keys,
    items_of_a_helper,
    made_from_keys,
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_every_mode(program, mode):
    found, seen = verdict(program, 2, 3, mode)
    assert found in ("right", "skip"), seen


def length_of_its_text(x):
    return float(len(f"{x[0]}")) + x[0]


def length_of_its_repr(x):
    return float(len(repr(x[1]))) + x[0]


def length_of_its_format(x):
    return float(len("%s" % x[1])) + x[0]  # noqa: UP031


def how_many_there_are(x):
    return float(len({1.0, *set([x[0], x[1]])})) + len(frozenset([x[0], x[1]])) * x[0]


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize(
    "f",
    [
        length_of_its_text,
        length_of_its_repr,
        length_of_its_format,
        how_many_there_are,
    ],
)
def test_text_and_sets_of_each_example(f):
    batch = np.array([[1.25, 2.0], [1.5, 1.5], [0.1, 12.0]])
    np.testing.assert_array_equal(srcjax.vmap(f)(batch), [f(x) for x in batch])
