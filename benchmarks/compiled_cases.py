"""What `jit` is measured on: plain NumPy functions, in the families of the table."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import erf


@dataclass(frozen=True)
class Work:
    """A function with arguments, and what is computed of it."""

    name: str
    function: Callable[..., Any]
    args: tuple
    #: "value", "grad", "vmap" or "vmap grad", by the first argument; batches are mapped
    #: over the arguments that `axes` names.
    mode: str = "grad"
    axes: Any = 0
    #: The same function for JAX (given `jax`), where it has to be written otherwise.
    for_jax: Callable[[Any], Callable[..., Any]] | None = None
    #: Whether JAX runs it at all, in less than a minute.
    in_jax: bool = True


# --- tiny functions ---------------------------------------------------------------


def scalar_chain(x):
    y = math.sin(x) * x + math.exp(-x)
    return math.log(y * y + 1.0) / (2.0 + math.cos(y))


def branches(x, y):
    if x > y:
        z = x * math.sin(y)
    elif x > 0.0:
        z = math.exp(-x) * y
    else:
        z = x * y
    return z * z + x


def branches_for_jax(jax):
    jnp = jax.numpy

    def one(x, y):
        z = jnp.where(x > 0.0, jnp.exp(-x) * y, x * y)
        z = jnp.where(x > y, x * jnp.sin(y), z)
        return z * z + x

    return one


def lambert(x):
    w = math.log(1.0 + x)
    for _ in range(6):
        e = math.exp(w)
        w = w - (w * e - x) / (e * (w + 1.0))
    return w


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def perceptron(params, inputs, targets):
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs = np.tanh(outputs)
    return np.mean((outputs - targets) ** 2)


def recurrent(params, xs):
    h = np.zeros(params["Wh"].shape[0])
    for t in range(len(xs)):
        h = np.tanh(xs[t] @ params["Wx"] + h @ params["Wh"] + params["b"])
    return np.sum(h**2)


def pendulum(state, dt):
    angle, speed = state[0], state[1]
    for _ in range(20):
        speed = speed - dt * 9.81 * np.sin(angle)
        angle = angle + dt * speed
    return angle**2 + speed**2


# --- elementwise chains -----------------------------------------------------------


def logistic(w, x, y):
    z = y * (x * w)
    return np.mean(np.log(1.0 + np.exp(-z)))


def black_scholes(s, k, t, r, v):
    d1 = (np.log(s / k) + (r + 0.5 * v * v) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    n1 = 0.5 * (1.0 + erf(d1 / math.sqrt(2.0)))
    n2 = 0.5 * (1.0 + erf(d2 / math.sqrt(2.0)))
    return np.sum(s * n1 - k * np.exp(-r * t) * n2)


def selu(x):
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return np.sum(
        scale * np.where(x > 0, x, alpha * np.exp(np.minimum(x, 0.0)) - alpha)
    )


def ten_tanh(x):
    for _ in range(10):
        x = np.tanh(1.1 * x)
    return np.sum(x)


def polynomial(x):
    return np.sum(((2.0 * x + 1.0) * x - 3.0) * x**2 + 0.5 * x)


def softmax_loss(x, y):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    p = e / np.sum(e, axis=1, keepdims=True)
    return -np.mean(np.sum(y * np.log(p + 1e-9), axis=1))


def layer_norm(x, g, b):
    mean = np.mean(x, axis=1, keepdims=True)
    var = np.mean((x - mean) ** 2, axis=1, keepdims=True)
    return np.sum(((x - mean) / np.sqrt(var + 1e-5) * g + b) ** 2)


def log_sum_exp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


# --- networks ---------------------------------------------------------------------


def lstm(params, xs):
    Wx, Wh, b = params
    n = Wh.shape[0]
    h, c = np.zeros(n), np.zeros(n)
    for t in range(len(xs)):
        z = xs[t] @ Wx + h @ Wh + b
        i = 1.0 / (1.0 + np.exp(-z[:n]))
        f = 1.0 / (1.0 + np.exp(-z[n : 2 * n]))
        o = 1.0 / (1.0 + np.exp(-z[2 * n : 3 * n]))
        c = f * c + i * np.tanh(z[3 * n :])
        h = o * np.tanh(c)
    return np.sum(h**2)


# --- examples that go their own ways ----------------------------------------------


def kepler(mean, eccentricity):
    anomaly = mean
    for _ in range(50):
        step = (anomaly - eccentricity * math.sin(anomaly) - mean) / (
            1.0 - eccentricity * math.cos(anomaly)
        )
        anomaly = anomaly - step
        if abs(step) < 1e-12:
            break
    return anomaly


def kepler_for_jax(jax):
    jnp, lax = jax.numpy, jax.lax

    def one(mean, eccentricity):
        def goes_on(state):
            _, step, k = state
            return (k < 50) & (jnp.abs(step) >= 1e-12)

        def advance(state):
            anomaly, _, k = state
            step = (anomaly - eccentricity * jnp.sin(anomaly) - mean) / (
                1.0 - eccentricity * jnp.cos(anomaly)
            )
            return anomaly - step, step, k + 1

        return lax.while_loop(goes_on, advance, (mean, mean * 0 + 1.0, 0))[0]

    return one


def mandelbrot(x, y):
    a, b, n = 0.0, 0.0, 0
    while n < 50 and a * a + b * b < 4.0:
        a, b = a * a - b * b + x, 2.0 * a * b + y
        n += 1
    return n


def mandelbrot_for_jax(jax):
    def one(x, y):
        def goes_on(state):
            a, b, n = state
            return (n < 50) & (a * a + b * b < 4.0)

        def advance(state):
            a, b, n = state
            return a * a - b * b + x, 2.0 * a * b + y, n + 1

        return jax.lax.while_loop(goes_on, advance, (x * 0, y * 0, 0))[2]

    return one


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def collatz_for_jax(jax):
    jnp = jax.numpy

    def one(n):
        def advance(state):
            n, steps = state
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

        return jax.lax.while_loop(lambda s: s[0] != 1, advance, (n, 0))[1]

    return one


# --- loops in place ---------------------------------------------------------------


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def heat_for_jax(jax):
    def loss(u, steps):
        def step(_, u):
            return u.at[1:-1].add(0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]))

        return jax.numpy.sum(jax.lax.fori_loop(0, 100, step, u) ** 2)

    return loss


def gauss_seidel(u):
    u = u.copy()
    n = len(u)
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


def gauss_seidel_for_jax(jax):
    def loss(u):
        n = len(u)

        def one(k, u):
            i, j = k // (n - 2) + 1, k % (n - 2) + 1
            new = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
            return u.at[i, j].set(new)

        u = jax.lax.fori_loop(0, (n - 2) ** 2, one, u)
        return jax.numpy.sum(u * u)

    return loss


def recurrence(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + np.tanh(x[i])
    return np.sum(y**2)


def recurrence_for_jax(jax):
    jnp = jax.numpy

    def loss(x):
        y = jnp.zeros(len(x)).at[0].set(x[0])

        def step(i, y):
            return y.at[i].set(0.5 * y[i - 1] + jnp.tanh(x[i]))

        return jnp.sum(jax.lax.fori_loop(1, len(x), step, y) ** 2)

    return loss


def cholesky(a):
    n = len(a)
    L = np.zeros((n, n))
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= L[j, k] ** 2
        L[j, j] = np.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= L[i, k] * L[j, k]
            L[i, j] = t / L[j, j]
    return np.sum(np.log(np.diag(L)))


def cholesky_for_jax(jax):
    jnp = jax.numpy

    def loss(a):
        n = len(a)
        places = jnp.arange(n)

        def column(j, L):
            known = jnp.where(places < j, L[j], 0.0)
            root = jnp.sqrt(a[j, j] - jnp.sum(known**2))
            below = jnp.where(places > j, (a[:, j] - L @ known) / root, L[:, j])
            return L.at[:, j].set(below.at[j].set(root))

        L = jax.lax.fori_loop(0, n, column, jnp.zeros((n, n)))
        return jnp.sum(jnp.log(jnp.diag(L)))

    return loss


def gram_schmidt(a):
    a = a.copy()
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]))
    for k in range(a.shape[1]):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return np.sum(q) + np.sum(r)


def durbin(r):
    y = np.empty_like(r)
    alpha, beta = -r[0], 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y)


def thomas(a, b, c, d):
    n = len(d)
    cp, dp, x = np.zeros(n), np.zeros(n), np.zeros(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        pivot = b[i] - a[i] * cp[i - 1]
        cp[i] = c[i] / pivot
        dp[i] = (d[i] - a[i] * dp[i - 1]) / pivot
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return np.sum(x**2)


def thomas_for_jax(jax):
    jnp, lax = jax.numpy, jax.lax

    def loss(a, b, c, d):
        n = len(d)

        def down(i, state):
            cp, dp = state
            pivot = b[i] - a[i] * cp[i - 1]
            value = (d[i] - a[i] * dp[i - 1]) / pivot
            return cp.at[i].set(c[i] / pivot), dp.at[i].set(value)

        def up(k, x):
            i = n - 2 - k
            return x.at[i].set(dp[i] - cp[i] * x[i + 1])

        first = jnp.zeros(n).at[0].set
        cp, dp = lax.fori_loop(1, n, down, (first(c[0] / b[0]), first(d[0] / b[0])))
        x = lax.fori_loop(0, n - 1, up, jnp.zeros(n).at[-1].set(dp[-1]))
        return jnp.sum(x**2)

    return loss


def warping(x, y):
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            D[i, j] = cost + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]


def warping_for_jax(jax):
    jnp = jax.numpy

    def loss(x, y):
        n, m = len(x), len(y)

        def one(k, D):
            i, j = k // m + 1, k % m + 1
            around = jnp.minimum(jnp.minimum(D[i - 1, j], D[i, j - 1]), D[i - 1, j - 1])
            return D.at[i, j].set((x[i - 1] - y[j - 1]) ** 2 + around)

        D = jnp.full((n + 1, m + 1), jnp.inf).at[0, 0].set(0.0)
        return jax.lax.fori_loop(0, n * m, one, D)[n, m]

    return loss


# --- kernels of benchmarks --------------------------------------------------------


def jacobi_2d(A, steps):
    A = A.copy()
    B = A.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A[1:-1, 1:-1] = 0.2 * (
            B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]
        )
    return np.sum(A**2)


def jacobi_2d_for_jax(jax):
    def loss(A, steps):
        def half(to, of):
            return to.at[1:-1, 1:-1].set(
                0.2
                * (
                    of[1:-1, 1:-1]
                    + of[1:-1, :-2]
                    + of[1:-1, 2:]
                    + of[2:, 1:-1]
                    + of[:-2, 1:-1]
                )
            )

        B = A
        for _ in range(steps):
            B = half(B, A)
            A = half(A, B)
        return jax.numpy.sum(A**2)

    return loss


def gemver(A, u1, v1, u2, v2, y, z):
    A = A + np.outer(u1, v1) + np.outer(u2, v2)
    x = 1.2 * y @ A + z
    return np.sum((1.5 * A @ x) ** 2)


def nbody(pos, mass):
    dx = pos[:, 0:1].T - pos[:, 0:1]
    dy = pos[:, 1:2].T - pos[:, 1:2]
    dz = pos[:, 2:3].T - pos[:, 2:3]
    inv = (dx**2 + dy**2 + dz**2 + 0.01) ** (-0.5)
    return np.sum(mass[:, None] * mass[None, :] * inv)


def arc_distance(t1, p1, t2, p2):
    a = (
        np.sin((t2 - t1) / 2) ** 2
        + np.cos(t1) * np.cos(t2) * np.sin((p2 - p1) / 2) ** 2
    )
    return np.sum(2 * np.arctan2(np.sqrt(a), np.sqrt(1 - a)))


def convolution(image, filters):
    k = filters.shape[0]
    h, w = image.shape[0] - k + 1, image.shape[1] - k + 1
    out = np.zeros((h, w))
    for i in range(k):
        for j in range(k):
            out += filters[i, j] * image[i : i + h, j : j + w]
    return np.sum(np.maximum(out, 0.0))


def floyd_warshall(d):
    for k in range(len(d)):
        d = np.minimum(d, d[:, k][:, None] + d[k][None, :])
    return np.sum(d)


def gathered(x, idx, w):
    return np.sum(np.tanh(x[idx] * w))


def rolled(u, k):
    for _ in range(5):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0)
        around = around + np.roll(u, 1, 1) + np.roll(u, -1, 1)
        u = u + k * (around - 4 * u)
    return np.sum(u**2)


def diffusion(field, coefficients):
    h, w = field.shape[0] - 4, field.shape[1] - 4
    lap = 4.0 * field[1 : h + 3, 1 : w + 3] - (
        field[2 : h + 4, 1 : w + 3]
        + field[0 : h + 2, 1 : w + 3]
        + field[1 : h + 3, 2 : w + 4]
        + field[1 : h + 3, 0 : w + 2]
    )
    down = lap[1:, 1 : w + 1] - lap[:-1, 1 : w + 1]
    right = lap[1 : h + 1, 1:] - lap[1 : h + 1, :-1]
    slope = field[2 : h + 3, 2 : w + 2] - field[1 : h + 2, 2 : w + 2]
    down = np.where(down * slope > 0, 0.0, down)
    flow = down[1:, :] - down[:-1, :] + right[:, 1:] - right[:, :-1]
    return np.sum((field[2 : h + 2, 2 : w + 2] - coefficients * flow) ** 2)


def forward_algorithm(start, moves, emits, seen):
    alpha = start + emits[:, seen[0]]
    for t in range(1, len(seen)):
        z = alpha[:, None] + moves
        m = np.max(z, axis=0)
        alpha = m + np.log(np.sum(np.exp(z - m), axis=0)) + emits[:, seen[t]]
    m = np.max(alpha)
    return m + np.log(np.sum(np.exp(alpha - m)))


def layer(x, weights):
    k = weights.shape[0]
    n, h, w = x.shape[0], x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((n, h, w, weights.shape[3]))
    for i in range(h):
        for j in range(w):
            part = x[:, i : i + k, j : j + k, :, np.newaxis]
            out[:, i, j, :] = np.sum(part * weights[np.newaxis], axis=(1, 2, 3))
    return np.sum(np.maximum(out, 0))


def sparse_product(values, columns, starts, x):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            y[i] += values[k] * x[columns[k]]
    return np.sum(y**2)


def histogram(x, bins):
    counts = np.zeros(bins)
    for i in range(len(x)):
        at = x[i] * (bins - 1)
        left = int(at)
        counts[left] += 1.0 - (at - left)
        counts[left + 1] += at - left
    return np.sum(counts**2)


# --- classic benchmarks of derivatives --------------------------------------------


def mixture(means, logits, scales, x):
    d = x[:, None, :] - means[None, :, :]
    terms = logits[None, :] - 0.5 * np.sum((d * scales[None, :, :]) ** 2, axis=2)
    terms = terms + np.sum(np.log(scales), axis=1)[None, :]
    m = np.max(terms, axis=1)
    return np.sum(m + np.log(np.sum(np.exp(terms - m[:, None]), axis=1)))


def reprojection(camera, point, pixel):
    r, t = camera[:3], camera[3:6]
    angle = np.sqrt(r @ r + 1e-12)
    axis = r / angle
    c, s = np.cos(angle), np.sin(angle)
    turned = point * c + np.cross(axis, point) * s + axis * (axis @ point) * (1 - c)
    p = turned + t
    q = -p[:2] / p[2]
    n = q @ q
    distortion = 1.0 + n * (camera[7] + camera[8] * n)
    e = camera[6] * distortion * q - pixel
    return e @ e


def kmeans(centres, x):
    d = np.sum((x[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    return np.sum(np.min(d, axis=1))


def determinant(a):
    n = len(a)
    a = a.copy()
    found = 1.0
    for k in range(n):
        found *= a[k, k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            for j in range(k, n):
                a[i, j] -= f * a[k, j]
    return found


def least_squares(w, A, b):
    r = A @ w - b
    return 0.5 * r @ r


def lotka(params, steps):
    x, y = 1.0, 0.5
    dt = 0.01
    for _ in range(steps):
        k1x = params[0] * x - params[1] * x * y
        k1y = params[2] * x * y - params[3] * y
        mx, my = x + 0.5 * dt * k1x, y + 0.5 * dt * k1y
        x = x + dt * (params[0] * mx - params[1] * mx * my)
        y = y + dt * (params[2] * mx * my - params[3] * my)
    return x * x + y * y


def lotka_for_jax(jax):
    def loss(params, steps):
        def step(_, state):
            x, y = state
            k1x = params[0] * x - params[1] * x * y
            k1y = params[2] * x * y - params[3] * y
            mx, my = x + 0.005 * k1x, y + 0.005 * k1y
            return (
                x + 0.01 * (params[0] * mx - params[1] * mx * my),
                y + 0.01 * (params[2] * mx * my - params[3] * my),
            )

        x, y = jax.lax.fori_loop(0, 1000, step, (1.0, 0.5))
        return x * x + y * y

    return loss


# --- all of them ------------------------------------------------------------------


def chains(rng: np.random.Generator, sizes: list[int]) -> dict[str, list[Work]]:
    """The chains by size and precision."""
    found = {}
    for many in sizes:
        x, w, y = rng.normal(size=(3, many))
        v, z = rng.normal(size=(2, 100))
        rows = x.reshape(-1, 100)
        one_hot = np.eye(100)[rng.integers(0, 100, size=len(rows))]
        works = [
            Work("logistic", logistic, (w, x, y)),
            Work("Black-Scholes", black_scholes, (*rng.uniform(0.5, 1.5, (5, many)),)),
            Work("SELU", selu, (x,)),
            Work("ten tanh", ten_tanh, (x,)),
            Work("polynomial", polynomial, (x,)),
            Work("softmax", softmax_loss, (rows, one_hot)),
            Work("layer norm", layer_norm, (rows, v, z)),
            Work("logsumexp", log_sum_exp, (x,)),
        ]
        found[f"chains of {many:,} numbers"] = works
        found[f"chains of {many:,} numbers in single precision"] = [
            Work(f"{w.name}, float32", w.function, tuple(map(np.float32, w.args)))
            for w in works
        ]
    return found


def families(quick: bool = False) -> dict[str, list[Work]]:
    """The cases by family; `quick` has small sizes."""
    rng = np.random.default_rng(0)
    many = 1000 if quick else 100_000
    lanes = 100 if quick else 100_000
    n = 20 if quick else 100

    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    def layers(sizes: list[int]) -> list:
        pairs = zip(sizes[:-1], sizes[1:], strict=True)
        return [(normal(m, k) / math.sqrt(m), np.zeros(k)) for m, k in pairs]

    spd = normal(n // 2, n // 2)
    spd = spd @ spd.T + n * np.eye(n // 2)
    starts = np.arange(0, 5 * n + 1, 5)
    columns = rng.integers(0, n, size=5 * n)
    tiny = [
        Work("scalar chain", scalar_chain, (0.7,)),
        Work("branches", branches, (0.7, 0.9), for_jax=branches_for_jax),
        Work("Lambert's W", lambert, (0.7,)),
        Work("Rosenbrock of 5", rosenbrock, (normal(5),)),
        Work(
            "MLP 4-8-2, 8 rows",
            perceptron,
            (layers([4, 8, 2]), normal(8, 4), normal(8, 2)),
        ),
        Work(
            "RNN of 5 steps",
            recurrent,
            ({"Wx": normal(3, 4), "Wh": normal(4, 4), "b": normal(4)}, normal(5, 3)),
        ),
        Work("pendulum, 20 steps", pendulum, (np.array([1.0, 0.0]), 0.01)),
    ]
    width = 8 if quick else 128
    networks = [
        Work(
            "MLP, 32 rows",
            perceptron,
            (layers([64, width, width, 10]), normal(32, 64), normal(32, 10)),
        ),
        Work(
            "LSTM of 20 steps",
            lstm,
            (
                (normal(8, 4 * width), normal(width, 4 * width), normal(4 * width)),
                normal(20, 8),
            ),
        ),
        Work(
            "per-example gradients",
            perceptron,
            (layers([16, 32, 4]), normal(64, 16), normal(64, 4)),
            mode="vmap grad",
            axes=(None, 0, 0),
        ),
    ]
    kepler_args = rng.uniform(0, 6, lanes), rng.uniform(0, 0.9, lanes)
    examples = [
        Work("Kepler", kepler, kepler_args, "vmap", for_jax=kepler_for_jax),
        Work("Kepler's gradient", kepler, kepler_args, "vmap grad", in_jax=False),
        Work(
            "Mandelbrot",
            mandelbrot,
            (rng.uniform(-2, 1, lanes), rng.uniform(-1, 1, lanes)),
            "vmap",
            for_jax=mandelbrot_for_jax,
        ),
        Work(
            "Collatz",
            collatz,
            (rng.integers(1, 10000, lanes),),
            "vmap",
            for_jax=collatz_for_jax,
        ),
    ]
    in_place = [
        Work("heat, 100 steps", heat, (normal(n), 100), for_jax=heat_for_jax),
        Work(
            "Gauss-Seidel",
            gauss_seidel,
            (normal(n // 2, n // 2),),
            for_jax=gauss_seidel_for_jax,
        ),
        Work("recurrence", recurrence, (normal(n),), for_jax=recurrence_for_jax),
        Work("Cholesky by loops", cholesky, (spd,), for_jax=cholesky_for_jax),
        Work("Gram-Schmidt", gram_schmidt, (normal(n, n // 5),), in_jax=False),
        Work("Durbin", durbin, (rng.uniform(0, 1 / n, size=n),), in_jax=False),
        Work(
            "tridiagonal system",
            thomas,
            (normal(n), 5 + normal(n) ** 2, normal(n), normal(n)),
            for_jax=thomas_for_jax,
        ),
        Work(
            "time warping",
            warping,
            (normal(n // 2), normal(n // 2)),
            for_jax=warping_for_jax,
        ),
    ]
    kernels = [
        Work("jacobi 2d", jacobi_2d, (normal(n, n), 10), for_jax=jacobi_2d_for_jax),
        Work("gemver", gemver, (normal(n, n), *(normal(n) for _ in range(6)))),
        Work("n bodies", nbody, (normal(n, 3), rng.uniform(size=n))),
        Work("arc distance", arc_distance, tuple(rng.uniform(size=(4, many)))),
        Work("convolution", convolution, (normal(n, n), normal(3, 3))),
        Work(
            "convolution layer",
            layer,
            (normal(2, n // 5, n // 5, 3), normal(3, 3, 3, 4)),
            in_jax=False,
        ),
        Work("shortest paths", floyd_warshall, (rng.uniform(1, 9, (n // 4, n // 4)),)),
        Work(
            "gather",
            gathered,
            (normal(n), rng.integers(0, n, size=10 * n), normal(10 * n)),
        ),
        Work("heat on a torus", rolled, (normal(n, n), 0.1)),
        Work("diffusion with limits", diffusion, (normal(n, n), normal(n - 4, n - 4))),
        Work(
            "hidden Markov model",
            forward_algorithm,
            (normal(8), normal(8, 8), normal(8, 9), rng.integers(0, 9, size=n // 5)),
        ),
        Work(
            "sparse product",
            sparse_product,
            (normal(5 * n), columns, starts, normal(n)),
            in_jax=False,
        ),
        Work("histogram", histogram, (rng.uniform(size=n * 10), 20), in_jax=False),
    ]
    k, d = 5, 4
    classic = [
        Work(
            "Gaussian mixture",
            mixture,
            (normal(k, d), normal(k), rng.uniform(1, 2, (k, d)), normal(10 * n, d)),
        ),
        Work(
            "bundle adjustment",
            reprojection,
            (normal(10 * n, 9), normal(10 * n, 3) + 4, normal(10 * n, 2)),
            mode="vmap grad",
        ),
        Work("k-means", kmeans, (normal(k, d), normal(10 * n, d))),
        Work("determinant", determinant, (spd,), in_jax=False),
        Work(
            "least squares", least_squares, (normal(50), normal(500, 50), normal(500))
        ),
        Work(
            "Lotka-Volterra, 1000 steps",
            lotka,
            (np.array([1.0, 0.5, 0.3, 0.8]), 1000),
            for_jax=lotka_for_jax,
        ),
    ]
    return {
        "tiny functions": tiny,
        **chains(rng, [many] if quick else [1000, many, 10_000_000]),
        "networks": networks,
        "examples that go their own ways": examples,
        "loops in place": in_place,
        "kernels of benchmarks": kernels,
        "classic benchmarks of derivatives": classic,
    }
