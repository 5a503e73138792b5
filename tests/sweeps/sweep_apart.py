"""No pass leaves a node at two places: what changes one in place changes that alone."""

import dataclasses
import warnings

import numpy as np
import pytest

import srcjax
from srcjax import pipeline
from srcjax.errors import SrcjaxError
from tests.corpus import PROGRAMS
from tests.corpus.directions import direction


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    """Written functions are looked at after each pass, as units are (`VALIDATE`)."""

    def looking(each):
        def run(finisher):
            changed = each.run(finisher)
            pipeline.check_apart(finisher.node, each.name)
            return changed

        return dataclasses.replace(each, run=run)

    monkeypatch.setattr(pipeline, "VALIDATE", True)
    for name in ("REVERSE", "FORWARD", "BATCH"):
        passes = getattr(pipeline, name)
        fields = ("before_link", "passes", "owning", "last")
        new = {f: tuple(map(looking, getattr(passes, f))) for f in fields}
        monkeypatch.setattr(pipeline, name, dataclasses.replace(passes, **new))


def batched(program):
    args = [np.stack([a, a]) for a in program.args()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it runs in a loop, or divides by zero
        srcjax.vmap(program.function)(*args)


MODES = {
    "vjp": lambda p: srcjax.vjp(p.function, *p.args()),
    "jvp": lambda p: srcjax.jvp(p.function, p.args(), direction(p, p.args())),
    "vmap": batched,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_no_node_stands_twice(program, mode):
    try:
        MODES[mode](program)
    except AssertionError:
        raise
    except (SrcjaxError, ValueError, TypeError):
        pytest.skip("refused, or no batch of its arguments")
