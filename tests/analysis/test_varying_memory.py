"""What a statement wrote varies at once as it does buffer by buffer."""

import warnings

import numpy as np
import pytest

import srcjax
from srcjax.analysis.effects import Missed
from srcjax.analysis.mapped import MappedInterpreter
from srcjax.analysis.types import Array, Dict, Earlier, List, with_active


def arrays(x):
    found = np.zeros(3)
    rows = [found, np.ones(3)]
    for i in range(3):
        if x > 0.5 * i:
            found[i] += x
            rows[1][i] = x * x
    return found.sum() + rows[1].sum()


def containers(x):
    kept = {"a": [1.0], "b": 2.0}
    items = kept["a"]
    for k in range(2):
        if x > 0.4:
            items.append(x * k)
            kept["b"] = kept["b"] + x
    return sum(items) + kept["b"]


def views(x):
    kept = {"a": 1.0, "b": 2.0}
    values = kept.values()
    if x > 0.4:
        kept["b"] = x
    return sum(values) + kept["b"]


def in_a_while(x):
    states = [np.zeros(2)]
    while np.sum(states[-1]) < x:
        new = states[-1].copy()
        new[0] += 0.3
        new[1] *= x
        states.append(new)
    return states[-1][0] * x


def varied(t):
    return with_active(t, True)


@pytest.mark.parametrize(
    ("f", "of"),
    [
        *((f, "vmap") for f in (arrays, containers, views, in_a_while)),
        *((f, "vmap of grad") for f in (arrays, containers, in_a_while)),
    ],
)
def test_all_memory_varies_as_each_buffer_does(f, of, monkeypatch):
    vary = MappedInterpreter.vary
    compared = []

    def both(self, written, env):
        one_by_one, batches, filled = dict(env), set(self.batches), self.filled
        changed = vary(self, written, env)
        found = dict(env), set(self.batches), self.filled
        self.batches, self.filled = batches, filled
        for place in [b for b in written if not isinstance(b, Earlier)]:
            for buffer in map(frozenset, ([place], [Earlier(place)])):
                for kind in (Array, List, Dict):
                    self.update(kind(buffers=buffer), one_by_one, varied)
        compared.append(found == (one_by_one, self.batches, self.filled))
        return changed

    monkeypatch.setattr(MappedInterpreter, "vary", both)
    function = f if of == "vmap" else srcjax.grad(f)
    x = np.array([0.3, 0.9, 1.4])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = srcjax.vmap(function)(x)
    np.testing.assert_allclose(found, [function(each) for each in x])
    assert compared
    assert all(compared)


def three_names(x):
    y = 0.0
    for _ in range(3):
        if x > 0.5:
            a, b, c = 1, 2, 3
            y = y + x * (a + b + c)
    return y


def test_names_that_vary_by_a_branch_are_found_in_one_execution(monkeypatch):
    missed = []

    class Watched(Missed):
        def __init__(self, unit, names):
            missed.append(names)
            super().__init__(unit, names)

    monkeypatch.setattr("srcjax.analysis.mapped.Missed", Watched)
    x = np.array([0.2, 0.8])
    expected = [three_names(each) for each in x]
    np.testing.assert_allclose(srcjax.vmap(three_names)(x), expected)
    assert missed == []
