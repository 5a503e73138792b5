"""Which calls share a version: those that `type_of` tells apart never do."""

import enum
import itertools
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from srcjax.analysis.types import Const
from srcjax.errors import ArgumentError
from srcjax.versions import dispatch, tree
from srcjax.versions.signature import signature_key


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Model:
    w: Any
    n: int = 2


@dataclass
class Described:
    """Has a shape and a dtype of its own, and is no array."""

    w: Any
    shape: tuple = (2,)
    dtype: Any = "f"


class Plain:
    def scale(self, x):
        return x


class Callable_(Plain):
    def __call__(self, x):
        return x


class Colour(enum.Enum):
    RED = 1


class Marked(str):
    pass


class Weighted(np.ndarray):
    pass


CALLED, ONE, OTHER = Callable_(), Plain(), Plain()

VALUES = [
    1.0,
    2.0,
    3,
    1j,
    True,
    False,
    None,
    "a",
    "b",
    b"a",
    np.str_("a"),
    np.str_("b"),
    Marked("a"),
    np.float64(1),
    np.float32(1),
    np.bool_(True),
    np.ones(3),
    np.zeros(3),
    np.ones((3, 1)),
    np.ones(()),
    np.ones(3, np.float32),
    np.ones(3, ">f8"),
    np.ones(3, int),
    np.ones(0),
    np.ones(3).view(Weighted),
    (),
    [],
    {},
    (1.0,),
    [1.0],
    [1],
    [1.0, 2.0],
    (np.ones(3), [np.ones(2), None]),
    (np.ones(3), [np.ones(3), None]),
    (np.ones(3), (np.ones(3), None)),
    Point(1.0, 2.0),
    Point(1.0, 2),
    {"a": 1.0},
    {"b": 1.0},
    {"a": 1.0, "b": np.ones(2)},
    {"b": np.ones(2), "a": 1.0},
    {("a", 0): 1.0},
    Model(np.ones(3)),
    Model(1.0),
    Model(1.0, 3),
    Described(np.ones(3)),
    Described(np.ones(2)),
    Described(np.ones(2), (3,)),
    Described(np.ones(2), (2,), np.dtype(float)),
    range(3),
    range(4),
    slice(0, 3),
    slice(0, 4),
    Ellipsis,
    np.sin,
    np.cos,
    len,
    int,
    np.dtype(float),
    np,
    itertools,
    lambda: 1,
    lambda: 2,
    CALLED,
    ONE.scale,
    OTHER.scale,
    Colour.RED,
    Plain(),
]


def type_of(value):
    return tree.argument_type(value, "x", False)


def shown(value):
    """A test id: the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


def numbered(values):
    return [f"{k}-{shown(value)}" for k, value in enumerate(values)]


@pytest.mark.parametrize("a", VALUES, ids=numbered(VALUES))
def test_key_tells_apart_what_types_tell_apart(a):
    hash(signature_key(a))
    for b in VALUES:
        same_key = signature_key(a) == signature_key(b)
        if type_of(a) != type_of(b):
            assert not same_key, b
        if a is b:
            assert same_key


@pytest.mark.parametrize("a", VALUES, ids=numbered(VALUES))
def test_match_says_yes_only_where_types_are_the_same(a):
    match = dispatch.matcher(["x"], [type_of(a)], [])
    for b in VALUES if match is not None else ():
        if match(b):
            assert type_of(a) == type_of(b)


@pytest.mark.parametrize(
    "a",
    [v for v in VALUES if type(v) in (float, int, bool, str, np.ndarray, list, tuple)]
    + [
        Point(1.0, 2.0),
        {"a": 1.0, "b": [2.0]},
        Model(np.ones(3)),
        range(3),
        len,
        np.sin,
    ],
    ids=shown,
)
def test_match_of_what_is_common(a):
    match = dispatch.matcher(["x"], [type_of(a)], [])
    if a is len:  # a function that is no Python function is left to the key
        assert match is None
    else:
        assert match(a)


def test_values_made_anew_have_one_key():
    for make in (
        lambda: range(3),
        lambda: slice(0, 3),
        lambda: bytes([97, 98]),
        lambda: ONE.scale,
        Plain,
    ):
        assert signature_key(make()) == signature_key(make())


def test_key_of_a_function_is_kept_alive():
    """An id stands for the function only while it is there."""

    def function():
        return 1

    (kind, number) = signature_key(function)
    t = type_of(function)
    assert number == id(function) and isinstance(t, Const) and t.value is function


# --- ints where reals are meant ---


@dataclass(frozen=True)
class Frozen:
    x: float
    n: int
    inner: Any = None


def test_ints_of_a_dataclass():
    value = Frozen(3, 2, [Frozen(1, 4), 5])
    got = tree.with_reals(value)
    assert got == value and value.x == 3 and type(value.x) is int
    assert type(got.x) is float and type(got.n) is int
    assert type(got.inner[0].x) is float and type(got.inner[0].n) is int
    assert type(got.inner[1]) is float
    assert tree.has_ints(value) and not tree.has_ints(got)
    assert not tree.has_ints(Frozen(1.0, 2))


def test_types_say_what_with_reals_does():
    for value in (3, [1, 2.0], {"a": 1}, Frozen(3, 2, [Frozen(1, 4), 5])):
        assert tree.as_real(type_of(value)) == type_of(tree.with_reals(value))


def test_matrix_is_refused():
    """`*` of an `np.matrix` is the matrix product; nothing here knows it."""
    matrix = np.asarray(np.eye(2)).view(np.matrix)
    for value, active in ((matrix, True), (matrix, False), ([matrix], True)):
        with pytest.raises(ArgumentError, match=r"`x(\[0\])?` is an np.matrix"):
            tree.argument_type(value, "x", active)
