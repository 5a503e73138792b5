"""Objects that are taken out of lists have the names that they were made under."""

import numpy as np

import srcjax


class Body:
    def __init__(self, x, v):
        self.x, self.v = x, v


def by_name(p):
    first, second = Body(p[0], p[1]), Body(p[2], p[3])
    bodies = [first, second]
    for body in bodies:
        body.v = body.v * body.x
    first.x = first.x * bodies[1].v
    return first.x * bodies[0].v


def of_a_loop(p):
    made = []
    for i in range(3):
        made.append(Body(p[i], p[i + 1]))
        made[0].v = made[0].v * 1.5 + made[-1].x
    return sum(b.x * b.v for b in made)


def test_an_object_is_no_item_where_it_has_a_name():
    gradient = srcjax.grad(by_name)
    a, b, c, d = p = np.array([0.3, -0.4, 0.8, 0.5])
    expected = [2 * a * b * c * d, a**2 * c * d, a**2 * b * d, a**2 * b * c]
    np.testing.assert_allclose(gradient(p), expected)
    lines = srcjax.source(gradient).splitlines()
    assert not any("bodies" in line for line in lines if "#" not in line)


def test_the_latest_object_of_a_loop_is_not_the_first():
    p = np.array([0.3, -0.4, 0.8, 0.5])
    step = 1e-6 * np.ones(4)
    slope = (of_a_loop(p + step) - of_a_loop(p - step)) / 2e-6
    np.testing.assert_allclose(srcjax.jvp(of_a_loop, (p,), (np.ones(4),))[1], slope)
