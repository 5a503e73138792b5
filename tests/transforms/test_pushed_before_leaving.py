"""What is put on a tape whether a loop is left or not is put there before it may be."""

import math

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads, check_passes


def returned_early(x, rate):
    for _ in range(5):
        x = x * math.exp(-rate * x)
        if x < 0.1:
            return x
    return 2 * x


def secant(c, x0, x1):
    f0 = x0**3 - x0 - c
    for _ in range(8):
        f1 = x1**3 - x1 - c
        if abs(f1) < 1e-12:
            break
        slope = (f1 - f0) / (x1 - x0)
        x0, f0 = x1, f1
        x1 = x1 - f1 / slope
    return x1


def skipped(x, k):
    total = 0.0
    for i in range(6):
        e = math.exp(-k * x * i)
        x = x * e + 0.1
        if i % 2:
            total += e
            continue
        total += x * e
    return total


def bound_again(x, k):
    """What is put on the tape behind the branch is another value."""
    for i in range(4):
        e = math.sin(k * x)
        x = x + e
        if x > 3.0:
            break
        e = e * x
        x = x - math.cos(e) * i
    return x


def caught(x, k):
    """What raises in between takes nothing of the tape with it."""
    total = 0.0
    for i in range(4):
        try:
            e = math.exp(k * x)
            x = x * e
            if x > 40.0:
                break
            total += e / (i - 2)
        except ZeroDivisionError:
            x = x * 0.5
    return total + x


CASES = [
    (returned_early, (1.0, 0.5)),
    (returned_early, (0.09, 0.9)),
    (secant, (1.0, 1.0, 2.0)),
    (skipped, (0.7, 0.3)),
    (bound_again, (0.7, 0.9)),
    (bound_again, (2.2, 0.9)),
    (caught, (0.7, 0.3)),
    (caught, (2.0, 0.9)),
]


@pytest.mark.parametrize(("f", "args"), CASES)
def test_numbers(f, args):
    argnums = tuple(range(2))
    gradient = srcjax.grad(f, argnums=argnums)
    check_passes(gradient, *args)
    # A gradient with such a `try` in it is refused a second time, loudly.
    check_grads(f, args, order=1 if f is caught else 2, modes=("rev",))
    world: dict = {}
    exec(srcjax.source(gradient, general=True), world)
    found = world[f"grad_{f.__name__}"](*args)
    np.testing.assert_allclose(found, gradient(*args), rtol=1e-10)


def test_texts():
    for f, args in [(returned_early, (1.0, 0.5)), (secant, (1.0, 1.0, 2.0))]:
        text = srcjax.source(srcjax.grad(f), *args)
        assert "trips" not in text and "in reversed(" in text
