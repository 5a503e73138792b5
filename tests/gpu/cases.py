"""Functions whose kernels are tested, and what they are called with for a size."""

import math

import numpy as np
from scipy.special import erf

from srcjax import grad, vmap


def chain(x, w):
    return np.where(x > 0.3, np.tanh(x * w) + 1.0, np.exp(x) * 2)


def softmax(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


def squared_softmax(x):
    return np.sum(softmax(x) ** 2)


def layer_norm(x, g, b):
    m = np.mean(x, axis=1, keepdims=True)
    v = np.mean((x - m) ** 2, axis=1, keepdims=True)
    return (x - m) / np.sqrt(v + 1e-5) * g + b


def layer_norm_loss(x, g, b):
    return np.sum(layer_norm(x, g, b) ** 3)


def logistic(w, X, y):
    return np.mean(np.log1p(np.exp(-y * (X @ w))))


def black_scholes(s, k, t, r, v):
    d1 = (np.log(s / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    n1 = 0.5 * (1 + erf(d1 / math.sqrt(2)))
    n2 = 0.5 * (1 + erf(d2 / math.sqrt(2)))
    return s * n1 - k * np.exp(-r * t) * n2


def kepler(M, e):
    E = M
    for _ in range(50):
        d = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E = E - d
        if abs(d) < 1e-6:
            break
    return E


def newton(a):
    x = a * 0.5 + 0.5
    while abs(x * x - a) > 1e-5 * a:
        x = 0.5 * (x + a / x)
    return x


def mandelbrot(a, b):
    x, y, n = 0.0, 0.0, 0
    while x * x + y * y < 4.0 and n < 40:
        x, y = x * x - y * y + a, 2 * x * y + b
        n += 1
    return n


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def polynomial(x, c):
    y = 0.0
    for k in range(len(c)):
        y = y * x + c[k]
    return y


def smoothed(u):
    u = u.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def gauss_seidel(u):
    u = u.copy()
    for _ in range(2):
        for i in range(1, len(u) - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return u


def doubled_in_place(x, y):
    x *= 2.0
    x[1:] += y[:-1]
    return np.sum(x)


def columns(x):
    centred = x - x.mean(axis=0)
    return centred / np.sqrt(np.mean(centred**2, axis=0) + 1e-3)


def columns_loss(x):
    return np.sum(columns(x) ** 3)


def normalised(x):
    return x / np.sqrt(np.sum(x * x) + 1e-3)


def sum_normalised(x):
    return np.sum(normalised(x) * np.cos(x))


def largest(x):
    return np.max(x, axis=-1) - np.min(x) + x.mean()


def whole_numbers(n, m):
    return (n // m) * 2 + n % m - np.abs(n - m) + np.sign(n) * (n > m)


def rounded(x, y):
    return np.floor(x / y) + x % y + x // y + np.sign(x) + np.maximum(x, y)


def recurrence(x):
    u = np.zeros_like(x)
    s = 0.0
    for i in range(len(x)):
        s = 0.5 * s + x[i]
        u[i] = np.sin(s)
    return u


def triangle(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        for j in range(i + 1):
            y[i] += x[j] * 0.1
    return y


class Inputs:
    """Arrays of a size, always the same ones."""

    def __init__(self, n, dtype=np.float64):
        self.n, self.dtype = n, dtype
        self.random = np.random.default_rng(n)

    def vector(self, low=0.1, high=1.0):
        return self.random.uniform(low, high, self.n).astype(self.dtype)

    def matrix(self, rows=None):
        rows = self.n if rows is None else rows
        return self.random.uniform(-1, 1, (rows, self.n)).astype(self.dtype)

    def whole(self, low, high):
        return self.random.integers(low, high, self.n)


def one(low=0.1, high=1.0):
    return lambda of: (of.vector(low, high),)


def two(of):
    return of.vector(), of.vector()


def orbits(of):
    return of.vector(), of.vector(0.1, 0.5)


def matrix(of):
    return (of.matrix(5),)


def tall(of):
    return (of.random.uniform(-1, 1, (of.n, 3)),)


def scaled(of):
    return of.matrix(5), of.vector(), of.vector()


#: The name of a case -> the function, what it is given, and the dtypes.
BOTH = (np.float64, np.float32)
CASES = {
    "chain": (chain, lambda of: (of.matrix(5), of.vector()), BOTH),
    "softmax": (softmax, matrix, BOTH),
    "grad softmax": (grad(squared_softmax), matrix, BOTH),
    "layer_norm": (layer_norm, scaled, BOTH),
    "grad layer_norm": (grad(layer_norm_loss, (0, 1, 2)), scaled, BOTH),
    "grad logistic": (
        grad(logistic),
        lambda of: (of.vector(), of.matrix(7), of.random.normal(size=7)),
        (np.float64,),
    ),
    "black_scholes": (
        black_scholes,
        lambda of: (of.vector(), of.vector(), of.vector(), 0.1, 0.2),
        BOTH,
    ),
    "kepler": (vmap(kepler), orbits, BOTH),
    "grad kepler": (vmap(grad(kepler)), orbits, (np.float64,)),
    "newton": (vmap(newton), one(), BOTH),
    "grad newton": (vmap(grad(newton)), one(), (np.float64,)),
    "mandelbrot": (
        vmap(mandelbrot),
        lambda of: (of.vector(-2, 1), of.vector(-1, 1)),
        (np.float64,),
    ),
    "collatz": (vmap(collatz), lambda of: (of.whole(1, 99),), (np.float64,)),
    "polynomial": (
        vmap(polynomial, in_axes=(0, None)),
        lambda of: (of.vector(), np.array([1.0, -2.0, 0.5])),
        (np.float64,),
    ),
    "grad smoothed": (grad(smoothed), one(), (np.float64,)),
    "smoothed": (smoothed, one(), BOTH),
    "gauss_seidel": (gauss_seidel, matrix, (np.float64,)),
    "columns": (columns, tall, (np.float64,)),
    "grad columns": (grad(columns_loss), tall, (np.float64,)),
    "normalised": (normalised, one(), BOTH),
    "grad sum_normalised": (grad(sum_normalised), matrix, BOTH),
    "largest": (largest, matrix, (np.float64,)),
    "whole_numbers": (
        whole_numbers,
        lambda of: (of.whole(-50, 50), of.whole(-5, 5)),
        (np.float64,),
    ),
    "rounded": (
        rounded,
        lambda of: (of.vector(-2, 2), of.vector(-1, 1)),
        BOTH,
    ),
    "recurrence": (recurrence, one(), (np.float64,)),
    "triangle": (triangle, one(), (np.float64,)),
    "in place": (doubled_in_place, two, (np.float64,)),
}
