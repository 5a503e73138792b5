"""What there is one of alone stays as it is: no helper writes zeros into it."""

import enum
import logging
from types import SimpleNamespace

import numpy as np
import pytest

import srcjax
from srcjax.runtime.basics import zero_tangent, zeros_like
from srcjax.runtime.batches import put_back
from srcjax.runtime.containers import add


class Units(enum.Enum):
    METRES = 1.0
    FEET = 0.3048


class Registry:
    """A copy of it is itself."""

    def __init__(self, scale):
        self.scale = scale

    def __copy__(self):
        return self

    __deepcopy__ = __copy__


class Layer:
    def __init__(self, w, activation):
        self.w = w
        self.activation = activation


ALONE = [np.sin, Units.FEET, logging.getLogger("srcjax.alone"), Registry(2.0), Layer]


@pytest.mark.parametrize("value", ALONE, ids=lambda v: type(v).__name__)
def test_its_zero_is_none(value):
    before = dict(vars(value))
    root = dict(vars(logging.getLogger()))
    for zero in (zeros_like, zero_tangent):
        assert zero({"w": 1.5, "of": [value]}) == {"w": 0.0, "of": [None]}
        found = zero(SimpleNamespace(w=1.5, of=value))
        assert found == SimpleNamespace(w=0.0, of=None)
    assert dict(vars(value)) == before
    assert dict(vars(logging.getLogger())) == root


def test_it_is_no_batch():
    registry = Registry(np.arange(3.0))
    with pytest.raises(TypeError, match="a copy of it is itself"):
        where = np.array([True, False, True])
        put_back(Registry(np.ones(3)), where, Registry(np.ones(2)), 3)
    with pytest.raises(TypeError, match="a copy of it is itself"):
        add(registry, registry)
    np.testing.assert_array_equal(registry.scale, np.arange(3.0))


LAYER = Layer(0.5, np.tanh)


def of_a_model(w, x, key):
    inner = {"f": np.sin, "w": w, "units": Units.FEET, "layer": LAYER}
    model = {"f": np.cos, "w": w * x, "units": Units.METRES, "layer": LAYER}
    held = [inner, model][key]
    y = held["f"](x * held["w"])
    return y * (2.0 if held["units"] is Units.FEET else 1.0) + held["layer"].w * x


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("key", [0, 1])
def test_in_a_model(key):
    functions = {f: f.__qualname__ for f in (np.sin, np.cos, np.tanh)}
    w, x, h = 1.5, 0.7, 1e-6
    slopes = [
        (of_a_model(w + a, x + b, key) - of_a_model(w - a, x - b, key)) / (2 * h)
        for a, b in ((h, 0), (0, h))
    ]
    gradient = srcjax.grad(of_a_model, (0, 1))(w, x, key)
    np.testing.assert_allclose(gradient, slopes, rtol=1e-8)
    assert all(f.__qualname__ == name for f, name in functions.items())
    assert (LAYER.w, LAYER.activation) == (0.5, np.tanh)
    assert (Units.FEET.value, Units.METRES.value) == (0.3048, 1.0)
