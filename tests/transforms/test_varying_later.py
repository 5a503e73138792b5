"""What a call is given and gives back, and that varies only later."""

import numpy as np

import srcjax

X, V = np.array([0.5, -0.3, 0.9]), np.array([1.0, 2.0, 0.3])


def first_above(items):
    for v in items:
        if v[0] > 0:
            return v
    return items[-1]


def part_of_a_copy(x, s):
    y = x.copy()
    v = first_above([y[:2], y[1:]])
    v += x[:2] * s
    return np.sum(y * y * x)


def test_the_tangent_of_the_tangent():
    """There the tangent of `y` is a copy of a constant until `v` is added to."""

    def pushed(x, s):
        return srcjax.jvp(part_of_a_copy, (x, s), (V, 1.0))[1]

    second = srcjax.jvp(pushed, (X, 0.7), (V, 1.0))[1]
    step = 1e-6
    ends = [pushed(X + h * V, 0.7 + h) for h in (step, -step)]
    np.testing.assert_allclose(second, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
