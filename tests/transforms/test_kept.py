"""Reverse mode over what a backward sweep keeps while arrays are written in place."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

#: One test in so many runs, unless SRCJAX_TESTS=all; `sweep_sampled` has all.
SAMPLE = {"test_reverse_over_reverse": 6}
XS = [np.array([1.1, 0.7, 0.4]), np.array([0.2, -0.5, 0.3])]
WEIGHTS = np.array([0.3, -0.6, 0.9])


def weighted_squares(v):
    total = 0.0
    for i in range(len(v)):
        total = total + v[i] ** 2 * (i + 1)
    return total


def scaled(v, s):
    out = np.zeros(len(v))
    for i in range(len(v)):
        out[i] = v[i] * s * np.sin(v[i])
    return out


def fill(v, s):
    v[0] = v[1] * s
    for i in range(1, len(v)):
        v[i] = v[i] * v[i - 1]
    return v[0] * s


def written_after_a_call_has_read_it(x):
    v = x * 1.0
    y = 0.0
    for k in range(3):
        y = y + weighted_squares(v)
        v[k] = np.sin(y) * x[k]
    return y * weighted_squares(v)


def written_after_a_call_has_read_a_part(x):
    v = x * 1.0
    y = 0.0
    for k in range(3):
        w = v[:2]
        y = y + weighted_squares(w)
        v[k] = np.sin(y) * x[k]
        y = y * w[0]
    return y * weighted_squares(v)


def left_early(x):
    v = x * 1.0
    y = 0.0
    for k in range(3):
        y = y + weighted_squares(v)
        if y > 3.0:
            v[0] = 7.0 * y
            break
        v[k] = np.sin(y) * x[k]
    return y * weighted_squares(v)


def returned_early(x):
    v = x * 1.0
    y = 0.0
    for k in range(3):
        y = y + weighted_squares(v)
        if y > 3.0:
            return y * v[0]
        v[k] = np.sin(y) * x[k]
    return y * weighted_squares(v)


def never_run(x):
    v = x * 1.0
    y = x[0]
    for k in range(int(x.size > 100)):
        y = y + weighted_squares(v)
        v[k] = np.sin(y)
    return y * weighted_squares(v)


def filled_by_a_call(x):
    v = x * 1.0
    y = 1.0
    for _ in range(2):
        y = y + fill(v, y)
    return y


def read_by_two_names(x):
    y = 0.0
    for k in range(3):
        a = x * (k + 1)
        b = a
        y = y + np.sin(b[0]) * b[1]
        a[0] = y * x[k]
        y = y + np.cos(b[0]) * a[1]
        b[1] = y
        y = y + a[1] * b[0]
    return y


def buffers_by_turns(x):
    buffers = [x * 1.0, x * 2.0]
    y = 0.0
    for k in range(4):
        now, before = buffers[k % 2], buffers[(k + 1) % 2]
        y = y + now[0] * before[1]
        now[0] = np.sin(y) * before[0]
        y = y + now[0] ** 2
    return y + buffers[0][0] * buffers[1][0]


def three_levels(x):
    old, now = x * 1.0, np.sin(x)
    for _ in range(3):
        new = np.zeros_like(now)
        new[1:-1] = now[1:-1] ** 2 - old[1:-1] + 0.3 * now[2:]
        new[0] = now[0] * old[-1]
        new[-1] = new[0] * now[1]
        old, now = now, new
    return np.sum(now * old)


def gradients_in_a_loop(x):
    v = x * 1.0
    y = 0.0
    for k in range(3):
        g = srcjax.grad(weighted_squares)(v)
        v[k] = np.sin(g[0]) * v[1]
        y = y + np.sum(g * v)
    return y


def result_written_and_read(x):
    v = x * 1.0
    y = 0.0
    for k in range(3):
        w = scaled(v, x[0])
        y = y + weighted_squares(w) * w[0]
        w[k] = y * w[1]
        v = v + w
    return np.sum(v * v) + y


def one_of_two(x):
    a, c = x * 2, x * 3
    y = 0.0
    for k in range(4):
        b = a if k % 2 == 0 else c
        y = y + np.sin(b[0]) * b[1]
        b[0] = y * x[k % 3]
        y = y + a[0] * c[0]
    return y


def one_of_two_by_branches(x):
    a, c = x * 2, x * 3
    y = 0.0
    for k in range(4):
        if k % 2 == 0:  # noqa: SIM108
            b = a
        else:
            b = c
        y = y + np.sin(b[0]) * b[1]
        b[0] = y * x[k % 3]
        y = y + a[0] * c[0]
    return y


def differences(function, x, step=1e-5):
    ends = [(x + step * d, x - step * d) for d in np.eye(len(x))]
    return np.array([(function(a) - function(b)) / (2 * step) for a, b in ends])


@pytest.mark.parametrize("x", XS, ids=["first", "second"])
@pytest.mark.parametrize(
    "function",
    [
        written_after_a_call_has_read_it,
        written_after_a_call_has_read_a_part,
        left_early,
        returned_early,
        never_run,
        filled_by_a_call,
        read_by_two_names,
        buffers_by_turns,
        three_levels,
        gradients_in_a_loop,
    ],
)
def test_reverse_over_reverse(function, x):
    gradient = srcjax.grad(function)
    np.testing.assert_allclose(gradient(x), differences(function, x), rtol=1e-6)

    def projected(x):
        return np.sum(gradient(x) * WEIGHTS)

    found = srcjax.grad(projected)(x)
    np.testing.assert_allclose(found, differences(projected, x), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "function", [result_written_and_read, one_of_two, one_of_two_by_branches]
)
def test_right_or_refused(function):
    gradient = srcjax.grad(function)

    def projected(x):
        return np.sum(gradient(x) * WEIGHTS)

    x = XS[0]
    try:
        found = srcjax.grad(projected)(x)
    except SrcjaxError:
        return
    np.testing.assert_allclose(found, differences(projected, x), rtol=1e-5)


def test_what_a_pullback_reads_is_not_kept():
    """The user's program writes to it: nothing puts it back."""

    def written_between(x):
        v = x * 1.0
        _, pullback = srcjax.vjp(weighted_squares, v)
        v[0] = 7.0 * x[1]
        return np.sum(pullback(1.0)[0] * x)

    with pytest.raises(SrcjaxError, match="both .* hold"):
        srcjax.grad(written_between)(XS[0])
