"""Abstract values: joins, shapes, and what is known of live values."""

import dataclasses

import numpy as np
import pytest

from srcjax.analysis.binding import global_type
from srcjax.analysis.types import (
    FLOAT,
    Array,
    Const,
    Dict,
    List,
    Scalar,
    Sym,
    Tuple,
    Unknown,
    broadcast_shapes,
    is_active,
    join,
    reduced_axes,
    same_shape,
    type_of,
    with_active,
)
from srcjax.ops.sums import infer_add

F8, F4 = np.dtype("float64"), np.dtype("float32")
N, M = Sym("n"), Sym("m")


@pytest.mark.parametrize(
    ("shapes", "result"),
    [
        ([(3, 4), (4,)], (3, 4)),
        ([(3, 1), (1, 4)], (3, 4)),
        ([(), (2,)], (2,)),
        ([(N, 4), (1, 4)], (N, 4)),
        ([(N,), (None,)], (N,)),  # a size that is not 1 wins
        ([(None,), (None,)], (None,)),
        ([None, (3,)], None),
        ([(0,), (1,)], (0,)),
    ],
)
def test_broadcast(shapes, result):
    assert broadcast_shapes(*shapes) == result


@pytest.mark.parametrize(
    ("operand", "result", "axes"),
    [
        ((4,), (3, 4), (1, ())),
        ((3, 1), (3, 4), (0, (1,))),
        ((), (3, 4), (2, ())),
        ((3, 4), (3, 4), (0, ())),
        ((N,), (N,), (0, ())),
        ((1,), (N,), (0, (0,))),
        ((None,), (4,), None),
        (None, (4,), None),
        ((1,), (0,), (0, (0,))),
    ],
)
def test_axes_that_were_broadcast(operand, result, axes):
    assert reduced_axes(operand, result) == axes


def test_a_shifted_symbol_may_be_one():
    assert broadcast_shapes((Sym("n", -1),), (5,)) == (5,)
    assert reduced_axes((Sym("n", -1),), (N,)) is None


def test_dtype_none_is_not_float64():
    """NumPy says that `None == np.dtype(float)`: types must not."""
    assert Array(dtype=None) != Array(dtype=F8)
    assert join(Scalar(dtype=F8), Scalar()).dtype is None


def test_join():
    a, b = Array(dtype=F8, shape=(3, 4)), Array(dtype=F8, shape=(5, 4))
    assert join(a, b) == Array(dtype=F8, shape=(None, 4))
    assert join(a, Array(dtype=F4, shape=(3, 4))).dtype is None
    assert join(Const(value=1.0), Const(value=2.0)) == Scalar(dtype=F8, python=True)
    assert join(Tuple(items=(a,)), Tuple(items=(b,))).items == (join(a, b),)
    assert join(List(items=(a,)), List(items=(a, a))).elem == a
    assert isinstance(join(a, Const(value="text")), Unknown)


def test_activity_of_parts():
    t = type_of({"w": np.ones(2), "n": 3, "name": "a"})
    active = with_active(t, True)
    assert is_active(active)
    assert not is_active(dict(active.items)["n"])
    assert not is_active(dict(active.items)["name"])
    assert isinstance(active, Dict)


def test_live_values():
    assert type_of(np.ones((2, 1), F4)) == Array(dtype=F4, shape=(2, 1))
    assert type_of(2.0) == Scalar(dtype=F8, python=True)
    assert type_of(np.float32(2)) == Scalar(dtype=F4)
    assert type_of(None) == Const(value=None)
    assert same_shape((N, 3), (N, 3)) and not same_shape((None,), (None,))


def test_the_sum_of_adjoints_is_a_new_value_of_their_type():
    """No number is known of it, and the length of lists if both have the same."""
    number = Scalar(active=True, dtype=F8)
    shared = List(buffers=frozenset("x"), items=(number, number))
    longer = List(elem=number)
    assert infer_add(shared, shared) == List(items=(number, number))
    assert infer_add(shared, longer) == longer
    assert infer_add(Const(value=1.0), Const(value=1.0)) == FLOAT
    assert infer_add(shared, number) == Unknown(True, frozenset("x"))
    arrays = (Array(dtype=F8, shape=(3,)), Array(dtype=F8, shape=(N,)))
    assert infer_add(*arrays) == Array(dtype=F8, shape=(None,))


def test_an_alias_of_an_array_type_is_no_array():
    """It has all attributes of the class that it is an alias of, as descriptors."""
    alias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
    assert type_of(alias) == Const(value=alias)


def test_a_dict_around_may_change_while_it_is_looked_at():
    """As a cache does: looking at an item may put others in, or throw some out."""

    @dataclasses.dataclass
    class Item:
        size: float

        def __getattribute__(self, name):
            if name == "size":
                cache.pop("old", None)
                cache["new"] = 1.0
            return super().__getattribute__(name)

    cache = {"item": Item(2.0), "old": object()}
    found = global_type(cache, "cache")
    assert [key for key, _ in found.items] == ["item"]
