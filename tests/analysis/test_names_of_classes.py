"""What `str(type(x))` says is known where the class of `x` is.

So are branches for the values of other libraries, which are not there.
"""

import numpy as np

import srcjax


def turned(angle):
    if "sympy" in str(type(angle)):
        import sympy

        cos, sin = sympy.cos(angle), sympy.sin(angle)
    else:
        cos, sin = np.cos(angle), np.sin(angle)
    m = np.diag([cos, cos])
    m[0, 1] += sin
    return m


def sum_of_turned(angle):
    return np.sum(turned(angle) * np.array([[1.0, 2.0], [3.0, 4.0]]))


def test_branches_for_classes_of_others_are_left_out():
    found = srcjax.grad(sum_of_turned)(0.3)
    np.testing.assert_allclose(found, 2 * np.cos(0.3) - 5 * np.sin(0.3))
    assert "sympy" not in srcjax.source(srcjax.grad(sum_of_turned), 0.3)


def test_numbers_of_numpy_have_the_name_of_their_class():
    def scaled(x):
        return x * 2 if "numpy" in repr(type(x)) else x * 3

    assert srcjax.grad(scaled)(1.0) == 3.0
    assert srcjax.grad(scaled)(np.float64(1.0)) == 2.0
