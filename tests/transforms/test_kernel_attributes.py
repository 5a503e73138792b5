"""Objects that are given, and made as results, around one kernel."""

import copy
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest

import srcjax

pytest.importorskip("numba")


@dataclass
class State:
    x: np.ndarray
    v: np.ndarray
    mass: float = 2.0

    def force(self):
        return -self.x / self.mass


class Wave(NamedTuple):
    amplitude: float
    phase: np.ndarray


class Counted:
    def __init__(self, x):
        self._x = x
        self.reads = 0

    @property
    def x(self):
        self.reads += 1
        return self._x


def step(s, dt):
    v = s.v + dt * s.force()
    return replace(s, x=s.x + dt * v, v=v)


def energy(s):
    total = 0.0
    for i in range(len(s.x)):
        total += s.mass * s.v[i] ** 2 / 2 + s.x[i] ** 2
    return total


def total(s):
    return np.sum(s.mass * s.v**2 / 2 + s.x**2)


def swing(w, t):
    return Wave(w.amplitude * 2.0, np.sin(w.phase + t) * w.amplitude)


def heavier(s):
    before = np.sum(np.tanh(s.x) * s.mass)
    s.mass = s.mass * 2.0
    return before + s.mass


def seen(c):
    return np.sum(np.sin(c.x) * c.x)


X = np.arange(1.0, 5.0)
STATE = State(X, X + 1.0)
CASES = [
    (step, (STATE, 0.1), True),
    (energy, (STATE,), True),
    (srcjax.grad(total), (STATE,), True),
    (srcjax.grad(energy), (STATE,), False),
    (swing, (Wave(1.5, X), 0.3), True),
    (heavier, (STATE,), False),
    (seen, (Counted(X),), False),
]


def leaves(value):
    if isinstance(value, tuple):
        return [type(value), *(leaf for v in value for leaf in leaves(v))]
    if hasattr(value, "__dict__"):
        return [
            type(value),
            *(leaf for v in vars(value).values() for leaf in leaves(v)),
        ]
    return [type(value), np.asarray(value)]


def compare(got, wanted):
    for a, b in zip(leaves(got), leaves(wanted), strict=True):
        if isinstance(b, type):
            assert a is b
        else:
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize(
    "f, args, whole", CASES, ids=lambda a: getattr(a, "__name__", "")
)
def test_values(f, args, whole):
    compiled = srcjax.jit(f)
    for _ in range(2):
        ours, theirs = copy.deepcopy(args), copy.deepcopy(args)
        compare(compiled(*ours), f(*theirs))
        compare(ours, theirs)
    if whole:
        told = srcjax.explain(compiled, *copy.deepcopy(args))
        assert told.endswith(": compiled") and "\n" not in told


def test_text():
    text = str(srcjax.source(srcjax.jit(step), STATE, 0.1))
    assert "mass = s.mass" in text
    assert "return State(x=total, v=v, mass=mass)" in text


def test_results_share_what_the_function_has_them_share():
    def same(s):
        return State(s.x, np.sin(s.v) * s.v, s.mass)

    s = copy.deepcopy(STATE)
    found = srcjax.jit(same)(s)
    assert found.x is s.x
    compare(found, same(s))
