"""Members of an enum as keys of dicts, and loops over them."""

import enum

import numpy as np

import srcjax


class Kind(enum.Enum):
    SQUARE = "square"
    CUBE = "cube"

    def of(self, v):
        return v**2 if self is Kind.SQUARE else v**3


class Place(enum.IntEnum):
    FIRST = 0
    SECOND = 1


def test_gradient_of_a_dict_by_members():
    def product(d):
        return d[Kind.SQUARE] * d[Kind.CUBE] + d[Place.FIRST]

    values = {Kind.SQUARE: 2.0, Kind.CUBE: 5.0, Place.FIRST: 1.0}
    found = srcjax.grad(product)(values)
    assert found == {Kind.SQUARE: 5.0, Kind.CUBE: 2.0, Place.FIRST: 1.0}
    text = srcjax.source(srcjax.grad(product), values)
    assert "Kind.SQUARE: " in text and "Place.FIRST: " in text


def test_members_beside_an_array():
    def summed(p):
        by_kind = {kind: v for kind, v in zip(Kind, p, strict=False)}  # noqa: C416
        return sum(kind.of(by_kind[kind]) for kind in Kind)

    p = np.array([0.3, 0.5, 0.7])
    np.testing.assert_allclose(srcjax.grad(summed)(p), [0.6, 0.75, 0.0])
    np.testing.assert_allclose(srcjax.jvp(summed, (p,), (p,))[1], 0.555)
