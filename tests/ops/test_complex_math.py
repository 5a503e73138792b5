"""Functions of `cmath`: of real and complex numbers, in all modes."""

import cmath

import numpy as np

import srcjax


def roots(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    return (-b + d) / (2 * a), (-b - d) / (2 * a)


def of_roots(a, b, c):
    p, q = roots(a, b, c)
    return p.real + 2 * p.imag + abs(q)


def of_all(x, y, r):
    z = complex(x, y)
    size, angle = cmath.polar(z)
    w = cmath.exp(z) * cmath.log(z) + cmath.log(z, 3.0) / cmath.log10(z)
    w += cmath.sin(z) * cmath.cos(z) + cmath.tan(z) + cmath.asin(z) * cmath.acos(z)
    w += cmath.atan(z) + cmath.sinh(z) * cmath.cosh(z) + cmath.tanh(z)
    w += cmath.asinh(z) * cmath.acosh(z) + cmath.atanh(z) + cmath.rect(r, x)
    return w.real + 2 * w.imag + size * angle + cmath.phase(z * r) + cmath.sqrt(-r).imag


def check(f, *args):
    point, step = np.array(args), 1e-6 * np.eye(len(args))
    wanted = [(f(*(point + s)) - f(*(point - s))) / 2e-6 for s in step]
    everywhere = tuple(range(len(args)))
    np.testing.assert_allclose(srcjax.grad(f, everywhere)(*args), wanted, rtol=1e-6)
    value, change = srcjax.jvp(f, args, (1.0, 2.0, 3.0))
    np.testing.assert_allclose(value, f(*args))
    np.testing.assert_allclose(change, np.dot(wanted, [1.0, 2.0, 3.0]), rtol=1e-6)
    rows = np.stack([point, 1.1 * point])
    batch = srcjax.vmap(f)(*rows.T)
    np.testing.assert_allclose(batch, [f(*row) for row in rows.tolist()])


def test_roots_that_may_be_complex():
    check(of_roots, 1.0, 2.0, 5.0)
    check(of_roots, 1.0, 5.0, 2.0)


def test_all_functions():
    check(of_all, 0.7, 0.4, 1.3)


def test_the_side_of_a_cut_is_kept():
    """Below the negative axis an imaginary part of -0.0 says which root it is."""

    def f(x):
        return cmath.sqrt(complex(x, 0.0).conjugate()).imag

    assert f(-4.0) == -2.0
    assert srcjax.value_and_grad(f)(-4.0) == (-2.0, 0.25)
