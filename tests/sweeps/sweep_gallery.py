"""The gradients that the site's gallery shows are those of its functions."""

import sys
from pathlib import Path

import numpy as np
import pytest

import srcjax

DOCS = Path(__file__).parent.parent.parent / "docs"
sys.path.append(str(DOCS))
try:
    from gallery.topics import TOPICS
finally:
    sys.path.remove(str(DOCS))

ALWAYS = True
ENTRIES = [entry for entries in TOPICS.values() for entry in entries]


def moved(leaves, treedef, position, step):
    """The arguments, with one leaf moved by a step."""
    changed = [leaf + step if i == position else leaf for i, leaf in enumerate(leaves)]
    return srcjax.tree.unflatten(treedef, changed)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.function.__name__)
def test_gradients_are_differences(entry):
    several = isinstance(entry.argnums, tuple)
    argnums = entry.argnums if several else (entry.argnums,)
    found = entry.gradient(*entry.args)
    for n, gradient in zip(argnums, found if several else [found], strict=True):
        leaves, treedef = srcjax.tree.flatten(entry.args[n])
        for position, slope in enumerate(srcjax.tree.leaves(gradient)):
            slope = np.asarray(slope)
            assert slope.shape == np.shape(leaves[position])
            for place in np.ndindex(slope.shape):
                step = np.zeros(slope.shape)
                step[place] = 1e-6
                step = step[()]
                values = []
                for by in (step, -step):
                    args = list(entry.args)
                    args[n] = moved(leaves, treedef, position, by)
                    values.append(entry.function(*args))
                expected = (values[0] - values[1]) / 2e-6
                np.testing.assert_allclose(slope[place], expected, 2e-6, 2e-7)


def test_there_are_thirty():
    assert len(ENTRIES) >= 30
    assert len({entry.title for entry in ENTRIES}) == len(ENTRIES)
