"""Adjoints and tangents of the parts of complex numbers.

Cotangents of complex values follow JAX: the derivative of the loss along a change `dx`
is the real part of `sum(d * dx)`. The cotangent of a real result is real: an imaginary
part, left over from real factors of complex products, is dropped.
"""

import numpy as np

from srcjax.runtime.basics import centred


def unabs(d, y, x):
    """The adjoint of `x` in `y = abs(x)`; 0 at 0."""
    if np.iscomplexobj(x):
        return np.real(d) * np.conj(x) / np.where(y == 0, 1, y)
    return d * np.sign(x)


def abs_tangent(d, y, x):
    """The tangent of `y = abs(x)`; 0 at 0."""
    if np.iscomplexobj(x):
        return np.real(d * np.conj(x)) / np.where(y == 0, 1, y)
    return d * np.sign(x)


def seed_of_real(y):
    """The adjoint that the gradient of `y` starts from: 1, if `y` is real."""
    if np.iscomplexobj(y):
        raise TypeError(
            "the function returns a complex number; grad needs a real one: pass "
            "holomorphic=True if the function is holomorphic, else use srcjax.vjp"
        )
    return 1.0


def centred_slope(d, a, axis):
    """`d` times the slope of half the squared distance of `a` from its mean."""
    if np.iscomplexobj(a):
        return np.real(d) * np.conj(centred(a, axis))
    return d * centred(a, axis)


def slogdet_slope(d, d_sign, sign, a):
    """The adjoint of `log(det(a))`, from those of both parts of `slogdet(a)`."""
    if not np.iscomplexobj(a):
        return d
    along = 0 if d is None else np.real(d)  # the real part of log(det(a))
    return along + (0 if d_sign is None else 1j * np.imag(d_sign * sign))


def slogdet_tangent(t, sign):
    """The tangents of the parts of `slogdet(a)`, from that of `log(det(a))`."""
    if np.iscomplexobj(sign):
        return sign * 1j * np.imag(t), np.real(t)
    return np.zeros_like(sign)[()], t


def hermitian_uncholesky(d, y, upper):
    """The adjoint of a complex `a` in `y = np.linalg.cholesky(a, upper=upper)`."""
    if upper:
        d, y = np.conj(np.swapaxes(d, -1, -2)), np.conj(np.swapaxes(y, -1, -2))
    turned = np.conj(np.swapaxes(y, -1, -2))
    middle = turned @ np.conj(d)
    below = np.tril(middle, -1)
    diagonal = np.where(np.eye(y.shape[-1], dtype=bool), np.real(middle), 0)
    middle = below + np.conj(np.swapaxes(below, -1, -2)) + diagonal
    right = np.linalg.solve(turned, middle)  # a Hermitian matrix, times the inverse
    left = np.linalg.solve(turned, np.conj(np.swapaxes(right, -1, -2)))
    return np.conj(left) / 2


def from_parts(d, x, imaginary=False):
    """The adjoint of `real` or `imag` in `complex(real, imag)`."""
    d = d * 1j if imaginary else d
    return d if np.iscomplexobj(x) else np.real(d)


def complex_of(real, imag):
    """`complex(a, b)` of each pair: infinite parts stay as they are."""
    both = np.stack([real, imag], axis=-1).astype(float)
    return both.view(complex)[..., 0]


def unreal(d, x):
    """The adjoint of `x` in `np.real(x)`."""
    return np.real(d) + 0j if np.iscomplexobj(x) else d


def unimag(d, x):
    """The adjoint of `x` in `np.imag(x)`."""
    return -1j * np.real(d) if np.iscomplexobj(x) else np.zeros_like(x)


def unconjugate(d, x):
    """The adjoint (or tangent) of `np.conjugate(x)`."""
    return np.conj(d) if np.iscomplexobj(x) else d


def unangle(d, z, deg=False):
    """The adjoint of `z` in `np.angle(z, deg)`; that of a real argument is 0."""
    if not np.iscomplexobj(z):
        return np.zeros_like(z)
    return np.real(d) * (180 / np.pi if deg else 1) * -1j / z


def angle_tangent(d, z, deg=False):
    """The tangent of `np.angle(z, deg)`."""
    if not np.iscomplexobj(z):
        return np.zeros_like(z)
    return np.imag(d / z) * (180 / np.pi if deg else 1)
