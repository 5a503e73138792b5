"""What is in an object that a function reads may change between two calls."""

import collections
import dataclasses
import types

import numpy as np
import pytest

import srcjax

X = np.array([0.5, -1.5])
DIRECTION = np.array([1.0, 2.0])


class Settings:
    """With flags, and methods by which an object says whether it is true."""

    def __init__(self):
        self.flag = False
        self.kind = "one"
        self.count = 1
        self.inner = types.SimpleNamespace(flag=False)
        self.options = {"flag": False}
        self.apply = np.sin

    def __bool__(self):
        return self.flag

    def __eq__(self, other):
        return self.count == other

    __hash__ = object.__hash__

    @property
    def asked(self):
        return self.flag

    def change(self):
        self.flag = self.inner.flag = self.options["flag"] = True
        self.kind = "two"
        self.count = 2
        self.apply = np.cos


@dataclasses.dataclass
class Fields:
    flag: bool = False
    kind: str = "one"
    options: dict = dataclasses.field(default_factory=lambda: {"flag": False})

    def change(self):
        self.flag = self.options["flag"] = True
        self.kind = "two"


SETTINGS, FIELDS = Settings(), Fields()
HELD = {"flag": False, "inner": {"flag": False}}
FLAGS, IN_TUPLE, SEEN, QUEUE = [False], ({"flag": False},), set(), collections.deque()


def change():
    SETTINGS.change()
    FIELDS.change()
    HELD["flag"] = HELD["inner"]["flag"] = FLAGS[0] = IN_TUPLE[0]["flag"] = True
    SEEN.add("flag")
    QUEUE.append(1)
    reads_itself.flag = True


@pytest.fixture(autouse=True)
def as_it_was():
    SETTINGS.__init__()
    FIELDS.__init__()
    HELD["flag"] = HELD["inner"]["flag"] = FLAGS[0] = IN_TUPLE[0]["flag"] = False
    SEEN.clear()
    QUEUE.clear()
    reads_itself.flag = False


def chosen(test, x):
    return np.sum(x * x) if test else np.sum(np.sin(x))


def reads_itself(x):
    return chosen(reads_itself.flag, x)


FUNCTIONS = {
    "attribute": lambda x: chosen(SETTINGS.flag, x),
    "text": lambda x: chosen(SETTINGS.kind == "one", x),
    "of an attribute": lambda x: chosen(SETTINGS.inner.flag, x),
    "dict in an object": lambda x: chosen(SETTINGS.options["flag"], x),
    "truth": lambda x: chosen(SETTINGS, x),
    "not": lambda x: chosen(not SETTINGS, x),
    "equality": lambda x: chosen(SETTINGS == 2, x),
    "property": lambda x: chosen(SETTINGS.asked, x),
    "function": lambda x: np.sum(SETTINGS.apply(x)),
    "field": lambda x: chosen(FIELDS.flag, x),
    "text of a field": lambda x: chosen(FIELDS.kind == "one", x),
    "dict in a field": lambda x: chosen(FIELDS.options["flag"], x),
    "dict": lambda x: chosen(HELD["flag"], x),
    "dict in a dict": lambda x: chosen(HELD["inner"]["flag"], x),
    "list": lambda x: chosen(FLAGS[0], x),
    "dict in a tuple": lambda x: chosen(IN_TUPLE[0]["flag"], x),
    "set": lambda x: chosen(SEEN, x),
    "item of a set": lambda x: chosen("flag" in SEEN, x),
    "queue": lambda x: chosen(QUEUE, x),
    "of the function": reads_itself,
}


def differences(function):
    steps = 1e-6 * np.eye(2)
    return np.array([(function(X + s) - function(X - s)) / 2e-6 for s in steps])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_read_again(name):
    function = FUNCTIONS[name]
    gradient = srcjax.grad(function)
    np.testing.assert_allclose(gradient(X), differences(function), atol=1e-8)
    before = differences(function)
    change()
    assert not np.allclose(before, differences(function))
    for _ in range(2):
        np.testing.assert_allclose(gradient(X), differences(function), atol=1e-8)
    moved = srcjax.jvp(function, (X,), (DIRECTION,))[1]
    np.testing.assert_allclose(moved, differences(function) @ DIRECTION, atol=1e-8)


class Model:
    def __init__(self):
        self.training = True
        self.rate = 1.0

    def loss(self, x):
        return self.rate * chosen(self.training, x)


def test_a_number_that_changes_needs_no_new_text():
    model = Model()
    gradient = srcjax.grad(model.loss)
    np.testing.assert_allclose(gradient(X), 2 * X)
    transform = gradient.__srcjax_transform__
    versions = list(transform.versions.values())
    model.rate = 0.5
    np.testing.assert_allclose(gradient(X), X)
    assert list(transform.versions.values()) == versions
    model.training = False
    np.testing.assert_allclose(gradient(X), 0.5 * np.cos(X))


GIVEN: dict[str, object] = {"power": 2.0}
REST = (3.0,)


def weighted(x, *factors, power, scale=1.0):
    return scale * np.sum(x**power) * sum(factors)


def test_what_stars_give_changes(monkeypatch):
    def f(x):
        return weighted(np.abs(x), *REST, **GIVEN)

    gradient, mapped = srcjax.grad(f), srcjax.vmap(f)
    batch = np.stack([X, 2 * X])

    def check():
        np.testing.assert_allclose(gradient(X), differences(f), atol=1e-8)
        np.testing.assert_allclose(mapped(batch), [f(row) for row in batch])

    check()
    for key, value in [("scale", 0.5), ("power", 3.0), ("scale", np.array(0.1))]:
        GIVEN[key] = value
        check()
    monkeypatch.setitem(globals(), "REST", (3.0, 0.5))
    check()
    del GIVEN["scale"]
    check()
