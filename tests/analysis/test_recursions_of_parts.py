"""Functions that call themselves with parts of what they get: inference ends."""

import time

import numpy as np
import pytest

import srcjax

X = np.array([0.7, -1.2, 2.0, 0.3])


def transformed(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = transformed(x[::2]), transformed(x[1::2])
    turned = np.cos(2 * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + turned, even - turned])


def fft(x):
    n = x.shape[0]
    if n <= 1:
        return x
    even, odd = fft(x[0::2]), fft(x[1::2])
    turn = np.exp(-2j * np.pi * np.arange(n) / n)
    return np.concatenate([even + turn[: n // 2] * odd, even + turn[n // 2 :] * odd])


def thirds(x):
    if len(x) <= 1:
        return x
    m = max(len(x) // 3, 1)
    return np.concatenate([thirds(x[:m]), thirds(x[m : 2 * m]), x[2 * m :] * 2])


def hadamard(x):
    n = len(x)
    if n == 1:
        return x
    first, second = hadamard(x[: n // 2]), hadamard(x[n // 2 :])
    out = np.empty(n)
    out[: n // 2] = first + second
    out[n // 2 :] = first - second
    return out


def of_transformed(x):
    return np.sum(transformed(x) ** 2 * np.arange(4.0))


def of_fft(x):
    return np.sum(np.abs(fft(x * (1 + 0j))) ** 2 * np.arange(4.0))


def of_thirds(x):
    return np.sum(thirds(x) * np.arange(4.0) * x)


def of_hadamard(x):
    return np.sum(hadamard(x) ** 2 * np.arange(4.0))


@pytest.mark.parametrize("f", [of_transformed, of_fft, of_thirds, of_hadamard])
def test_inference_ends(f):
    start = time.monotonic()
    wanted = [(f(X + h) - f(X - h)) / 2e-6 for h in np.eye(4) * 1e-6]
    np.testing.assert_allclose(srcjax.grad(f)(X), wanted, rtol=1e-6, atol=1e-7)
    rows = np.stack([X, -X])
    np.testing.assert_allclose(srcjax.vmap(f)(rows), [f(row) for row in rows])
    assert time.monotonic() - start < 60  # it was exponential


def chosen(x, s):
    def first(z):
        if z < 0.7:
            return 0.3
        return sum([0.5 for _ in x])

    if s <= -0.3:
        x = x * 2
    else:

        def second(z):
            return first(s)

        if s > 1.5:
            third = lambda z: max(np.tanh(s), second(-0.3))  # noqa: E731, F841
            s += np.sin(second(s))
        else:
            x = x.copy()
    return s + np.sum(x)


def test_functions_made_where_only_some_examples_go():
    xs, s = np.stack([X, -X, X + 1]), np.array([-1.0, 0.5, 2.0])
    wanted = [chosen(x, v) for x, v in zip(xs, s, strict=True)]
    np.testing.assert_allclose(srcjax.vmap(chosen)(xs, s), wanted)
