"""What `:=` binds without a derivative: the backward sweep needs it as it was."""

import numpy as np
import pytest

import srcjax

X = np.array([0.3, 0.8, 1.7])


def condition_of_a_loop(x):
    i, total = 0, 0.0
    while (i := i + 1) < 3 and (t := x[i]) < 5:
        total = total + t * t
    return total


def short_circuit(x):
    i, total = 0, 0.0
    for _ in range(2):
        if (i := i + 1) < 3 or (i := 2):
            total = total + x[i] ** 2 * i
    return total


def index_of_a_list(x):
    i, total = 0, 0.0
    for _ in range(2):
        n = [0, 1, 2][(i := i + 1)]
        total = total + x[i] ** 2 * n
    return total


def index_of_an_array(x):
    i, total = 0, 0.0
    for _ in range(2):
        total = total + x[(i := i + 1)] ** 2 * i
    return total


def side_of_a_condition(x):
    i, total = 0, 0.0
    for _ in range(2):
        weight = 1 if i < 5 and (i := i + 1) < 3 else 2
        total = total + x[i] ** 2 * i * weight
    return total


def loop_that_carries_nothing(x):
    n, total = 9, 0.0
    for k in range(2):
        halvings = 0
        while (n := n // 2) > 1:
            halvings += 1
        total = total + x[n] ** 2 * halvings + x[k] * n
        n = 7
    return total


def update(x):
    n, total = 0, 0.0
    for k in range(3):
        n += (m := k)
        total = total + x[m] ** 2 * n
    return total


def comprehension(x):
    total = 0.0
    for k in range(3):
        ordered = sorted([(m := j) for j in range(k + 1)])
        total = total + x[m] ** 2 * len(ordered)
    return total


def argument(x):
    total = 0.0
    for k in range(3):
        print(end=str(m := k)[:0])
        total = total + x[m] ** 3
    return total


def popped(x):
    waiting, total = [0, 1, 2], 0.0
    while waiting and (p := waiting.pop()) >= 0:
        total = total + x[p] ** 3 * (p + 1)
    return total


def value_of_a_dict(x):
    total = 1.0
    for r in range(3):
        table = {"a": (p := r)}
        total = total + x[p] ** 3 * table["a"]
        assert (p := 2 - r) >= 0
        total = total * x[p]
    return total


PROGRAMS = [
    condition_of_a_loop,
    short_circuit,
    index_of_a_list,
    index_of_an_array,
    side_of_a_condition,
    loop_that_carries_nothing,
    update,
    comprehension,
    argument,
    popped,
    value_of_a_dict,
]


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_modes(program):
    steps = np.eye(3) * 1e-6
    wanted = [(program(X + h) - program(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(srcjax.grad(program)(X), wanted, atol=1e-7)
    tangent = srcjax.jvp(program, (X,), (X,))[1]
    np.testing.assert_allclose(tangent, np.dot(wanted, X), atol=1e-7)
    of_batch = srcjax.vmap(srcjax.grad(program))(np.array([X, X]))
    np.testing.assert_allclose(of_batch, [wanted, wanted], atol=1e-7)
