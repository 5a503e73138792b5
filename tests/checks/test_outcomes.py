"""How two runs differ, and that a run leaves the world as it was."""

import collections
import types

import numpy as np
import pytest

from srcjax.checks.outcomes import difference, run, unlike
from srcjax.checks.world import World


class Point:
    count = 0

    def __init__(self, x):
        self.x = x


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (1.0, 1.0 + 1e-12),
        (1.0, np.float64(1.0)),
        (np.nan, np.nan),
        (np.inf, np.inf),
        (np.array([1e8, 1e-9]), np.array([1e8, 0.0])),
        ((1.0, [2.0]), (1.0, [2.0])),
        (Point(1.0), Point(1.0)),
        ({"a": None, "b": "x"}, {"a": None, "b": "x"}),
        (np.array(["a"]), np.array(["a"])),
    ],
)
def test_alike(left, right):
    assert difference(left, right, "it") is None


@pytest.mark.parametrize(
    ("left", "right", "says"),
    [
        (1.0, 1.001, "it: 1.0, then 1.001"),
        (1.0, 1, "number of float64, then a number of int64"),
        (np.float32(1.0), 1.0, "float32, then"),
        (np.ones(1), 1.0, "array"),
        (np.array(1.0), np.float64(1.0), "array"),
        (np.ones(2), np.ones((2, 1)), "shape"),
        (np.ones(2), np.ones(2, np.float32), "float32"),
        ((1.0,), [1.0], "tuple, then list"),
        ([1.0], [1.0, 2.0], "1 items, then 2"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, "keys"),
        ({"a": [1.0]}, {"a": [2.0]}, "it['a'][0]"),
        (Point(1.0), Point(2.0), "it['x']"),
        (np.nan, 1.0, "nan"),
        (0.0, np.inf, "inf"),
        (True, False, "True"),
        ("a", "b", "'a', then 'b'"),
        (None, 0.0, "NoneType"),
        (1.0, 0.0, "then 0.0"),
        (1e-7, 0.0, "then 0.0"),
    ],
)
def test_unlike(left, right, says):
    assert says in difference(left, right, "it")


def test_cyclic_values_end():
    one, two = [1.0], [1.0]
    one.append(one)
    two.append(two)
    assert difference(one, two, "it") is None


def test_a_run_is_told_and_undone():
    array, numbers, names, queue = np.zeros(3), [1], {"a": 1}, collections.deque([1])
    point, words = Point(1.0), {1}
    rng = np.random.default_rng(0)

    def change():
        array[1:] = 5.0
        numbers.extend([2, 3])
        del names["a"]
        names["b"] = 2
        queue.popleft()
        point.x = 2.0
        point.y = 3.0
        words.add(2)
        print("done")
        return rng.normal()

    world = World([change])
    first = run(change, world)
    assert first.result == rng.normal() and first.printed == "done\n"
    rng = np.random.default_rng(0)
    np.testing.assert_array_equal(array, 0.0)
    assert numbers == [1] and names == {"a": 1} and list(queue) == [1] and words == {1}
    assert vars(point) == {"x": 1.0}
    changed = [each for each in first.changed if each is not None]
    assert len(changed) >= 5


def test_views_are_put_back():
    array = np.arange(6.0)
    row = array[2:4]

    def change():
        row[:] = 0.0

    world = World([row])
    run(change, world)
    np.testing.assert_array_equal(array, np.arange(6.0))


def test_world_reaches_through_functions_methods_and_objects():
    store = [0]
    box = types.SimpleNamespace(inner={"store": store})

    def deep():
        box.inner["store"].append(1)

    def outer():
        deep()

    run(outer, World([outer]))
    assert store == [0]


def test_errors_are_compared_by_their_class():
    def fails():
        raise ValueError("one")

    def fails_too():
        raise ValueError("two")

    def other():
        raise KeyError("x")

    world = World([])
    assert unlike(run(fails, world), run(fails_too, world)) is None
    assert "KeyError" in unlike(run(fails, world), run(other, world))
    assert "nothing is raised" in unlike(run(fails, world), run(lambda: 1, world))
