"""Generated code of forward mode that people read: the text, and its numbers.

`SRCJAX_UPDATE_GOLDEN=1 pytest tests/golden` writes the expected files anew.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import srcjax

from .forward_functions import MOVED

EXPECTED = Path(__file__).parent / "expected_forward"
UPDATE = os.environ.get("SRCJAX_UPDATE_GOLDEN") == "1"
STEP = 1e-6

every_function = pytest.mark.parametrize("case", MOVED.values(), ids=list(MOVED))


@every_function
def test_text(case):
    path = EXPECTED / f"{case.name}.py"
    text = case.text()
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_file_has_a_function():
    assert {path.stem for path in EXPECTED.glob("*.py")} == set(MOVED)


@every_function
def test_numbers(case):
    """Against the change of the value (or gradient) over a small step."""
    tangents = tuple(direction(arg) for arg in case.args)
    chosen = case.function
    if case.kind in ("hvp", "hessian"):
        chosen = srcjax.grad(case.function)
    if case.kind in ("jacfwd", "jacrev", "hessian"):
        tangents = (tangents[0], *[None] * (len(case.args) - 1))
        matrix = getattr(srcjax, case.kind)(case.function)(*case.args)
        got = matrix @ tangents[0]
    elif case.kind == "linearize":
        got = srcjax.linearize(chosen, *case.args)[1](*tangents)
    else:
        got = srcjax.jvp(chosen, case.args, tangents)[1]
    ahead, behind = (
        chosen(*[moved(a, t, h) for a, t in zip(case.args, tangents, strict=True)])
        for h in (STEP, -STEP)
    )
    np.testing.assert_allclose(got, (ahead - behind) / (2 * STEP), rtol=1e-6, atol=1e-8)


def direction(value):
    """A fixed tangent; None for what has none."""
    if isinstance(value, dict):
        return {key: direction(part) for key, part in value.items()}
    if isinstance(value, (float, np.ndarray)):
        return np.cos(np.arange(1.0, np.size(value) + 1)).reshape(np.shape(value))[()]
    return None


def moved(value, tangent, step):
    """The value a step along its tangent."""
    if isinstance(value, dict):
        return {key: moved(part, tangent[key], step) for key, part in value.items()}
    return value if tangent is None else value + step * tangent
