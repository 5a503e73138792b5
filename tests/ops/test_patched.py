"""Another function in the place of a library's own is refused, not differentiated."""

import functools
import math
import subprocess
import sys

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError
from srcjax.ops.patched import is_foreign, refuse_foreign

BEFORE = """
import numpy as np
sine = np.sin
np.sin = lambda x: 2 * sine(x)
import srcjax
try:
    srcjax.grad(lambda x: np.sin(x) * x)(0.7)
except srcjax.errors.UnsupportedError as error:
    print("refused", error)
"""


def test_before_the_rules_are_loaded():
    run = subprocess.run(
        [sys.executable, "-c", BEFORE], capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("refused")
    assert "stands in the place of a library's own function" in run.stdout


@pytest.mark.parametrize("owner", [np, math])
def test_after_the_rules_are_loaded(monkeypatch, owner):
    monkeypatch.setattr(owner, "cos", functools.wraps(np.sin)(lambda x: x))

    def f(x):
        return np.sin(x) + math.sin(x)

    with pytest.raises(UnsupportedError, match=r"\.cos` stands in the place"):
        srcjax.jvp(f, (0.7,), (1.0,))


def test_what_is_added_is_called_like_any_function(monkeypatch):
    monkeypatch.setattr(np, "twice", lambda x: 2 * x, raising=False)
    assert srcjax.grad(lambda x: np.twice(x) ** 2)(3.0) == 24.0


def test_which_functions_are_foreign():
    own = (np.sin, math.sin, abs, np.sum, np.random.seed, np.float64, np.linalg.norm)
    assert not any(map(is_foreign, own))
    with pytest.raises(UnsupportedError):
        refuse_foreign([functools.wraps(np.sum)(lambda x: x)])
