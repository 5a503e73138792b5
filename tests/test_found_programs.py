"""What random programs found, as short as it got: right in every mode and nesting.

Each takes a vector `x`, a matrix `A` and a number `s`, as random programs do, and goes
to the same judges.
"""

import numpy as np
import pytest

from tests.programs.judging import judge, judge_float32, judge_modes, judge_vmap


def zeros_like(v):
    return v + 1.0


def helper_of_the_name_of_ours(x, A, s):
    scaled = A.copy()
    for row in scaled:
        row *= zeros_like(1.0)
    return np.sum(A.sum() * x)


def mean_of_a_changed_row(x, A, s):
    m = A.copy()
    m[0] *= x[::-1]
    return s + m.mean()


def changed_without_axes(x, A, s):
    cell = np.empty(())
    cell[()] = s
    cell *= s
    return cell.item()


FOUND = [
    helper_of_the_name_of_ours,
    mean_of_a_changed_row,
    changed_without_axes,
]


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("program", FOUND, ids=lambda f: f.__name__)
def test_found(program, n):
    verdicts = {"grad": judge(program, 0, n)}
    assert verdicts["grad"][0] == "right", verdicts
    verdicts |= judge_modes(program, 0, True, n)
    verdicts["vmap"] = judge_vmap(program, 0, n)
    verdicts["float32"] = judge_float32(program, 0, n)
    assert {v for v, _ in verdicts.values()} == {"right"}, verdicts
