"""`super()` whose method depends on the class of the object, as mixins have it."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

X = np.array([0.5, 1.2, 0.8])


class Base:
    def __init__(self, *, rate):
        self.rate = rate

    def force(self, x):
        return self.rate * x

    @property
    def scale(self):
        return self.rate


class Shifted:
    """A mixin: what comes after it is known of the classes that have it only."""

    def __init__(self, *, shift, **others):
        super().__init__(**others)
        self.shift = shift

    def force(self, x):
        return super().force(x) + self.shift * x**2

    @property
    def scale(self):
        return super().scale + self.shift


class Doubled:
    def force(self, x):
        return 2 * super().force(x)

    def __mul__(self, other):
        return self.force(other)


class ShiftedBase(Shifted, Base):
    pass


class Both(Doubled, Shifted, Base):
    def force(self, x):
        return super().force(x) * x


class Other(Shifted, Doubled, Base):
    pass


def of_a_mixin(x):
    return ShiftedBase(rate=x[0], shift=x[1]).force(x[2])


def of_two(x):
    both = Both(rate=x[0], shift=x[1])
    return both.force(x[2]) * both.scale


def in_another_order(x):
    return Other(rate=x[0], shift=x[1]).force(x[2])


def of_several_classes(x):
    made = [
        ShiftedBase(rate=x[0], shift=x[1]),
        Both(rate=x[1], shift=x[2]),
        Other(rate=x[2], shift=x[0]),
    ]
    return sum(m.force(x[0]) for m in made)


def by_an_operator(x):
    return Both(rate=x[0], shift=x[1]) * x[2]


def where_its_class_is_not_known(x):
    made = Both(rate=2.0, shift=3.0)
    return Doubled.force(made, x[0]) * x[1]


@pytest.mark.parametrize(
    "f",
    [
        of_a_mixin,
        of_two,
        in_another_order,
        of_several_classes,
        by_an_operator,
    ],
)
def test_all_modes(f):
    srcjax.testing.check_grads(f, (X,), order=2)
    batch = np.stack([X, 2 * X])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(X), f(2 * X)])
    np.testing.assert_allclose(srcjax.jit(f)(X), f(X))


def test_where_the_class_of_the_object_is_not_known():
    with pytest.raises(UnsupportedError, match="method of a super"):
        srcjax.grad(where_its_class_is_not_known)(X)
    batch = np.stack([X, 2 * X])
    expected = [where_its_class_is_not_known(x) for x in batch]
    with pytest.warns(srcjax.errors.PerformanceWarning, match="in a loop"):
        found = srcjax.vmap(where_its_class_is_not_known)(batch)
    np.testing.assert_allclose(found, expected)


def test_a_base_class_that_is_changed_is_seen():
    derivative = srcjax.grad(of_a_mixin)
    before = derivative(X)
    force = Base.force
    try:
        Base.force = lambda self, x: 3 * self.rate * x
        changed = derivative(X)
    finally:
        Base.force = force
    np.testing.assert_allclose(changed[0], 3 * before[0])
    np.testing.assert_allclose(derivative(X), before)
