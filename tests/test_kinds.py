"""A derivative has the type, shape, dtype and container of what it belongs to."""

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

import srcjax

Pair = namedtuple("Pair", ["first", "second"])
WEIGHTS = np.array([1.0, 2.0, 3.0])


@dataclass
class Held:
    first: object
    second: object


def kind(value):
    """Type, shape and dtype, all the way down; NumPy's float64 is a float."""
    if isinstance(value, dict):
        return {key: kind(part) for key, part in value.items()}
    if isinstance(value, Held):
        return (Held, kind(value.first), kind(value.second))
    if isinstance(value, (list, tuple)):
        return (type(value), *map(kind, value))
    if isinstance(value, np.ndarray):
        return (np.ndarray, value.shape, value.dtype)
    if isinstance(value, (int, float)):
        return float
    return type(value)


LEAVES = {
    "float": 1.3,
    "int": 2,
    "float64": np.float64(1.3),
    "no_axes": np.array(1.3),
    "one": np.array([1.3]),
    "vector": np.array([1.3, 0.4, 2.0]),
    "row": np.array([[1.3, 0.4, 2.0]]),
    "column": np.array([[1.3], [0.4], [2.0]]),
    "list": [1.3, 0.4, 2.0],
    "list_of_one": [1.3],
    "tuple": (1.3, 0.4, 2.0),
}
OPERATIONS = {
    "append": lambda x: np.sum(np.append([1.0, 2.0], x) ** 2),
    "append_to": lambda x: np.sum(np.append(x, WEIGHTS) ** 2),
    "array": lambda x: np.sum(np.array(x) * 2),
    "broadcast": lambda x: np.sum(np.broadcast_to(np.sum(x), (2, 3)) ** 2),
    "clip": lambda x: np.sum(np.clip(x, 0.5, 1.5) ** 2),
    "cumsum": lambda x: np.sum(np.cumsum(x) ** 2),
    "divide_into": lambda x: np.sum(
        np.divide(1.0, x, out=np.zeros_like(x, dtype=float), where=np.array(x) > 0.5)
    ),
    "expand_dims": lambda x: np.sum(np.expand_dims(x, 0) ** 2),
    "max": lambda x: np.max(x) ** 2,
    "new_axis": lambda x: np.sum(np.asarray(x)[..., None] * WEIGHTS),
    "outer": lambda x: np.sum(np.outer(x, WEIGHTS) ** 2),
    "roll": lambda x: np.sum(np.roll(x, 1) ** 2),
    "stack": lambda x: np.sum(np.stack([x, x]) ** 2),
    "take": lambda x: np.sum(np.take(x, [0, 0]) ** 2),
    "tile": lambda x: np.sum(np.tile(x, 2) ** 2),
    "where": lambda x: np.sum(np.where(np.asarray(x) > 1.0, x, 1.05)),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("leaf", LEAVES)
def test_gradient_has_the_kind_of_the_argument(operation, leaf):
    x = LEAVES[leaf]
    assert kind(srcjax.grad(OPERATIONS[operation])(x)) == kind(x)


CONTAINERS = {
    "dict": (lambda x: {"a": [x], "b": 2.0}, lambda p, f: f(p["a"][0]) * p["b"]),
    "namedtuple": (lambda x: Pair(x, 2.0), lambda p, f: f(p.first) * p.second),
    "dataclass": (lambda x: Held(x, 2.0), lambda p, f: f(p.first) * p.second),
    "list": (lambda x: [x, [2.0]], lambda p, f: f(p[0]) * p[1][0]),
}


@pytest.mark.parametrize("operation", ["append", "cumsum", "outer", "take"])
@pytest.mark.parametrize("leaf", ["float", "one", "list"])
@pytest.mark.parametrize("container", CONTAINERS)
def test_gradient_has_the_container_of_the_argument(operation, leaf, container):
    make, use = CONTAINERS[container]
    held = make(LEAVES[leaf])
    function = OPERATIONS[operation]
    assert kind(srcjax.grad(lambda p: use(p, function))(held)) == kind(held)


def test_float_beside_float32_has_a_float():
    found = srcjax.grad(lambda p: np.exp(p[0]) * p[1])((np.float32(1.3), 2.0))
    assert kind(found) == (tuple, np.float32, float)
