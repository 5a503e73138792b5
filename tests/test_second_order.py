"""Second derivatives through what reverse mode writes itself."""

import copy
from typing import NamedTuple

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

SAMPLE = {"test_second_order": 2}

X = np.array([0.7, -1.3])


def squared_into(x, **kwargs):
    out = kwargs.pop("out", None)
    if out is None:
        out = np.empty_like(x)
    out[:] = x**2
    return out


def keywords_that_are_popped(x):
    held = np.zeros(2)
    squared_into(x, out=held)
    return (held * x).sum()


def power(a, k):
    return a**k


def repeated(a, n):
    for _ in range(n):
        a = a * a
    return a


FUNCTIONS = {"power": power, "repeated": repeated}


def integers_at_run_time(x):
    s = 0.0
    for name in ["power", "repeated"]:
        s = s + FUNCTIONS[name](x[0], 2) * x[1]
    return s


def arrays_without_axes(x):
    held = [np.zeros(()) for _ in range(2)]
    for i in range(2):
        held[i][...] = x[i] ** 2
    return held[0] * held[1]


def payment(rate, count, value, when="end"):
    when = {"end": 0}[when] if isinstance(when, str) else when
    rate, count, value, when = map(np.array, [rate, count, value, when])
    growth = (1 + rate) ** count
    mask = rate == 0
    safe = np.where(mask, 1, rate)
    factor = np.where(mask != 0, count, (1 + safe * when) * (growth - 1) / safe)
    return -value * growth / factor


def items_that_carry_nothing(x):
    return payment(x[0], -x[1], x[1])


def mixed(x, state, scale):
    gate = 1 / (1 + np.exp(-x * state))
    new = np.tanh(scale * (x + gate * state))
    old = np.tanh(scale * state + x)
    return (1 - gate) * old * state + gate * new


def states_of(rows, scale):
    state = np.zeros(2)
    states = []
    for row in rows:
        state = mixed(row, state, scale)
        states.append(state)
    return np.stack(states)


def a_state_that_starts_as_a_constant(x):
    states = states_of(np.array([[1.0, 2.0], [3.0, 0.5]]) * x, x[0])
    return np.sum(np.array([0.5, 2.0]) * states)


def gradient_of_temperature(s, t, p):
    s, t, p = list(map(np.asanyarray, (s, t, p)))
    warm = 1.00024 * t
    slope = 2.0 + (0.5 + 0.1 * warm) * warm + (1.5 - 0.2 * warm) * (s - 35)
    return slope * p + (0.3 - 0.1 * warm) * p * p


def a_tuple_that_is_looped_over(x):
    return np.sum(x * gradient_of_temperature(x, x**2, 1 / x))


def twice(a, w, n):
    held = (a, a * 2)
    scale = 0.0
    for k in range(n):
        scale = scale + w[0] * (k + 1)
    return held, w * scale


def twice_and(a, w, n):
    return twice(a, w, n), n


def a_tuple_that_carries_nothing_in_one_call(x):
    (_, held), w = twice(np.array([1.0, 2.0]), x, 2)
    (a, b), c = twice(w * held, x, 3)
    return np.sum(a * b * c) * w[0]


def a_whole_result_that_carries_nothing_in_one_call(x):
    first, _ = twice_and(np.array([1.0, 2.0]), x, 2)
    (a, b), c = twice(first[1], x, 3)
    return np.sum(a * b * c) * first[1][0]


def integers_in_one_call(x):
    (_, held), w = twice(np.array([1, 2]), x, 2)
    (a, b), c = twice(w * held, x, 3)
    return np.sum(a * b * c)


def pairs_in_a_list(x, w, n):
    out = []
    for _ in range(n):
        out.append(((x, x * 2), w * 3))
    return out


def tuples_of_a_list_that_carry_nothing(x):
    first = pairs_in_a_list(np.array([1.0, 2.0]), x, 3)
    second = pairs_in_a_list(first[1][1], x, 2)
    return np.sum(second[0][0][1] * second[1][1])


def chosen_when_it_runs(x):
    total = 0.0
    for name in CHOSEN:
        (a, b), c = CHOSEN[name](np.ones(2), x)
        total = total + np.sum(a * b[0] * c)
    return total


CHOSEN = {
    "scaled": lambda k, x: ((x * 2, (k * 3, k)), x * k),
    "moved": lambda k, x: ((x * x, (k, k)), x + k),
}


def a_number_or_an_array(x):
    return twice_of_a_copy(x, x, 2).sum() * twice_of_a_copy(x[0], x, 3)


def twice_of_a_copy(a, w, n):
    scale = 0.0
    for k in range(n):
        scale = scale + w[1] * (k + 1)
    return copy.deepcopy(a) * scale


def copies_of_containers(x):
    held = {"a": x * x, "b": [x, 2 * x]}
    for key in list(held):
        last = copy.deepcopy(held[key])
        last[0] = last[0] * 3
    return np.sum(last[0] * held["b"][0] * held["a"])


def a_list_from_a_tuple(x):
    total = 0.0
    for column in zip(*[(v, v * v) for v in x], strict=True):
        total = total + column[0] * column[1]
    return total * list(zip(*[(v, v * v) for v in x], strict=True))[1][0]


def an_array_or_a_list(x):
    for each in [x * x, [x, 2 * x]]:
        last = each
    return np.sum(last[0] * x)


@pytest.mark.parametrize(
    "function",
    [
        a_tuple_that_carries_nothing_in_one_call,
        a_whole_result_that_carries_nothing_in_one_call,
        integers_in_one_call,
        tuples_of_a_list_that_carry_nothing,
        chosen_when_it_runs,
        a_number_or_an_array,
        copies_of_containers,
        a_list_from_a_tuple,
        an_array_or_a_list,
        a_tuple_that_is_looped_over,
        items_that_carry_nothing,
        a_state_that_starts_as_a_constant,
        keywords_that_are_popped,
        integers_at_run_time,
        arrays_without_axes,
    ],
)
def test_second_order(function):
    v = np.array([0.3, 0.5])
    near = [srcjax.grad(function)(X + s * v) for s in (1e-5, -1e-5)]
    found = srcjax.hvp(function, (X,), (v,))
    np.testing.assert_allclose(found, (near[0] - near[1]) / 2e-5, rtol=1e-5)
    again = srcjax.grad(lambda x: np.sum(srcjax.grad(function)(x) * v))(X)
    np.testing.assert_allclose(again, found)


class Doubling(NamedTuple):
    a: np.ndarray

    def __deepcopy__(self, memo):
        return Doubling(2 * self.a)


def test_a_copy_of_its_own_is_refused():
    def copied(x):
        return np.sum(copy.deepcopy(Doubling(x)).a)

    with pytest.raises(srcjax.errors.NoRuleError, match="deepcopy"):
        srcjax.grad(copied)(X)


def test_a_shape_that_is_assigned_is_refused():
    def reshaped(x):
        y = x * 2.0
        y.shape = (2, 1)
        return y.sum()

    with pytest.raises(srcjax.errors.UnsupportedError, match="y.shape = ...` changes"):
        srcjax.jvp(reshaped, (X,), (X,))


def test_flags_of_a_batch():
    def locked(x):
        y = x * 2
        y.flags.writeable = False
        return (y**2).sum()

    with pytest.warns(srcjax.PerformanceWarning):
        found = srcjax.vmap(locked)(np.stack([X, 2 * X]))
    np.testing.assert_allclose(found, [locked(X), locked(2 * X)])


def eccentric_anomaly(mean, ecc, method="rtol"):
    if ecc < 1.0:
        anomaly = mean + ecc
        for _ in range(20):
            following = mean + ecc * np.sin(anomaly)
            if method == "rtol" and abs(following - anomaly) < 1e-8 * abs(anomaly):
                break
            anomaly = following
        return anomaly * 2
    else:
        return mean * ecc


def test_a_loop_in_a_branch_of_a_function_called():
    def anomaly(x):
        return eccentric_anomaly(x[0], x[1])

    x, h = np.array([0.7, 0.3]), 1e-6
    gradient = srcjax.grad(anomaly)
    for v in np.eye(2):
        expected = (gradient(x + h * v) - gradient(x - h * v)) / (2 * h)
        found = srcjax.jvp(gradient, (x,), (v,))[1]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
        along = srcjax.grad(lambda x, v=v: gradient(x) @ v)(x)
        np.testing.assert_allclose(along, expected, rtol=1e-6)


def through_lists(x, n):
    for i in range(n):
        x = np.sin(x) * x + i
        x = x + np.exp(-x) if n > 2 else x - 0.1 * x * x
        for _ in range(2):
            x = x * np.cos(x)
    return x


def that_calls(x, n):
    for i in range(n):
        x = through_lists(x, i + 1) * x
        x = x + 0.1 * x * x
        x = x - 0.1 * x * x * x
    return x


def test_tapes_in_tapes_in_tapes():
    """A loop that calls a function with a loop that calls one with a loop."""

    def f(x):
        for n in range(3):
            x = that_calls(x, n)
        return np.sum(x)

    check_grads(f, (np.array([0.3, 0.5]),), order=2, modes=("rev", "fwd"))
