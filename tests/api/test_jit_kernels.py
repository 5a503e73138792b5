"""`jit` of plain NumPy programs: they and their gradients are one kernel."""

from __future__ import annotations

import copy
import itertools
from types import BuiltinFunctionType

import numpy as np
import pytest

import srcjax

pytest.importorskip("numba")

#: The second stage runs all of them.
SAMPLE = {"test_values": 3, "test_gradients": 8}

RNG = np.random.default_rng(5)
SPD = RNG.normal(size=(5, 5)) @ RNG.normal(size=(5, 5)).T * 0.1 + 5 * np.eye(5)
A, X = RNG.normal(size=(6, 5)), RNG.normal(size=9)
IDX = RNG.integers(-9, 9, size=14)


def log_determinant(a):
    n = len(a)
    lower = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - lower[i, :j] @ lower[j, :j]
            lower[i, j] = np.sqrt(s) if i == j else s / lower[j, j]
    return np.sum(np.log(np.diag(lower)))


def gram_schmidt(a):
    a = a.copy()
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for k in range(a.shape[1]):
        r[k, k] = np.linalg.norm(a[:, k])
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return np.sum(q) + np.sum(r**2)


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


def rank_two(a, b, c, alpha):
    c = c.copy()
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * a[i, k]
    return np.sum(c)


def correlation(data):
    mean, spread = np.mean(data, axis=0), np.std(data, axis=0)
    spread[spread <= 0.1] = 1.0
    data = (data - mean) / (np.sqrt(len(data)) * spread)
    n = data.shape[1]
    found = np.eye(n, dtype=data.dtype)
    for i in range(n - 1):
        found[i + 1 : n, i] = data[:, i] @ data[:, i + 1 : n]
        found[i, i + 1 : n] = found[i + 1 : n, i]
    return found


def borders(p):
    p = p.copy()
    for _ in range(3):
        p[1:-1, 1:-1] = (p[1:-1, 2:] + p[2:, 1:-1]) / 2
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[1:] += p[:-1]
    return np.sum(p**2)


def diffusion(u):
    for _ in range(3):
        around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 12, axis=1)
        u = u + 0.1 * (around - 3 * u)
    return np.sum(u**3)


def filtered(image, kernel):
    padded = np.pad(image, ((1, 1), (0, 2)))
    out = np.zeros_like(image)
    for i in range(3):
        for j in range(3):
            part = padded[i : i + image.shape[0], j : j + image.shape[1]]
            out += kernel[i, j] * part
    return np.sum(out**2)


def convolved(x, weights):
    k = weights.shape[0]
    n, h, w = x.shape[0], x.shape[1] - k + 1, x.shape[2] - k + 1
    out = np.empty((n, h, w, weights.shape[3]))
    for i in range(h):
        for j in range(w):
            part = x[:, i : i + k, j : j + k, :, np.newaxis]
            out[:, i, j, :] = np.sum(part * weights[np.newaxis], axis=(1, 2, 3))
    return np.sum(np.maximum(out, 0))


def gathered(x, idx, w):
    return np.sum(np.tanh(x[idx] * w))


def scattered(x, idx):
    out = np.zeros(9)
    np.add.at(out, idx, x[idx] * 2.0)
    out[idx] += 1.0
    out[idx[:3]] = x[:3]
    return np.sum(out**2)


def picked(a, columns):
    return np.sum(a[np.arange(len(a)), columns] ** 2) + np.sum(a[columns] ** 2)


def masked(x):
    y = x * 2
    y[y < 0] *= -0.5
    y[y > 2] = y[y > 2] ** -1.5
    total = np.sum(y[x > 0.5])
    return total * 2 if np.any(y > 1) else total


def scans(x, a):
    total = np.sum(np.exp(-(np.cumsum(x) ** 2))) + np.sum(np.cumsum(a, axis=0) ** 2)
    return total + np.sum(np.diff(x) * x[1:]) + np.trace(a[:5])


def shapes(x):
    table = np.tril(np.reshape(x, (3, 3))) + np.triu(np.ones((3, 3)), 1)
    return np.sum(table * np.eye(3)) + np.sum(table.ravel() * np.arange(9))


def joined(x, y):
    found = np.concatenate([x[:4] * 2, np.sin(y), x])
    pair = np.stack([x, x**2], axis=1)
    both = np.hstack((pair, pair * 2))
    point = np.array([[x[0], y[1]], [1.0, x[2]]])
    return np.sum(found**2) + np.sum(both[:, 2]) + np.sum(point @ point)


def spinning(state):
    def pulls(s):
        x, y, z = s
        return np.array([y - x, x * z, x * y - z])

    for _ in range(4):
        middle = pulls(state + 0.01 * pulls(state))
        state = state + 0.02 * middle + 0.01 * np.cross(state, middle)
    return np.sum(state**2)


def eliminated(a, b):
    a, b = a.copy(), b.copy()
    n = len(b)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        a[[k, p]] = a[[p, k]]
        b[k], b[p] = b[p], b[k]
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
            b[i] -= f * b[k]
    for i in range(n - 1, -1, -1):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]
    return np.sum(b)


def filter_of_kalman(zs, f, h, q, r):
    x, p, found = np.zeros(2), np.eye(2), 0.0
    for z in zs:
        x, p = f @ x, f @ p @ f.T + q
        y = z - h @ x
        s = h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(s)
        x = x + gain @ y
        p = (np.eye(2) - gain @ h) @ p
        found -= 0.5 * (y @ np.linalg.solve(s, y) + np.log(np.linalg.det(s)))
    return found


def knapsack(values, weights, most):
    best = np.zeros(most + 1)
    for i in range(len(weights)):
        for c in range(most, weights[i] - 1, -1):
            best[c] = max(best[c], best[c - weights[i]] + values[i])
    return best[most]


def viterbi(start, a, obs):
    n, k = len(obs), len(start)
    before = np.zeros((n, k), dtype=np.int64)
    score = start.copy()
    for t in range(1, n):
        step = score[:, None] + a
        before[t] = np.argmax(step, axis=0)
        score = np.max(step, axis=0) + obs[t]
    path = np.zeros(n, dtype=np.int64)
    path[-1] = np.argmax(score)
    for t in range(n - 2, -1, -1):
        path[t] = before[t + 1, path[t + 1]]
    return path


def gated(weights, xs):
    h = np.zeros(3)
    kept = []
    for x in xs:
        v = np.concatenate([h, x])
        z = 1 / (1 + np.exp(-weights["gate"] @ v))
        h = (1 - z) * h + z * np.tanh(weights["new"] @ v)
        kept.append(h)
    return np.sum(np.stack(kept) ** 2)


def polynomial(x):
    coefficients = [1.0, -0.5, 0.25, 2.0]
    y = np.zeros_like(x)
    for c in coefficients:
        y = y * x + c
    return np.sum(y)


def options(s, sigma, n):
    u = np.exp(sigma / np.sqrt(n))
    prices = s * u ** np.arange(n, -1, -1) * (1 / u) ** np.arange(0, n + 1)
    v = np.maximum(100.0 - prices, 0.0)
    for _ in range(n):
        v = 0.5 * (0.49 * v[:-1] + 0.51 * v[1:])
    return v[0] + np.sum(np.linspace(0, sigma, 5))


def checksum(data):
    crc = 0xFFFF
    for b in data:
        current = 0xFF & b
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if (crc ^ current) & 1 else crc >> 1
            current >>= 1
    return ~crc & 0xFFFF


CASES = [
    (log_determinant, (SPD,)),
    (gram_schmidt, (A,)),
    (durbin, (RNG.uniform(0, 0.2, size=6),)),
    (rank_two, (A, A + 1, RNG.normal(size=(6, 6)), 1.5)),
    (correlation, (A,)),
    (borders, (A,)),
    (diffusion, (A,)),
    (filtered, (A, RNG.normal(size=(3, 3)))),
    (convolved, (RNG.normal(size=(2, 4, 5, 2)), RNG.normal(size=(3, 3, 2, 2)))),
    (gathered, (X, IDX, RNG.normal(size=14))),
    (scattered, (X, IDX)),
    (picked, (A, RNG.integers(0, 5, size=6))),
    (masked, (X,)),
    (scans, (X, A)),
    (shapes, (X,)),
    (joined, (X, X[:4])),
    (spinning, (X[:3],)),
    (eliminated, (SPD, A[0])),
    (filter_of_kalman, (A[:, :2], *(np.eye(2) * s for s in (0.9, 1.0, 0.1, 0.2)))),
    (knapsack, (X[:4], np.array([3, 4, 5, 2]), 10)),
    (viterbi, (X[:3], A[:3, :3], A[:, :3])),
    (gated, ({"gate": A[:3], "new": A[3:]}, A[:4, :2])),
    (polynomial, (X,)),
    (options, (97.0, 0.2, 12)),
    (checksum, (RNG.integers(0, 256, size=20),)),
]
#: What is not one kernel yet: gradients that keep what only NumPy makes.
DIVIDED = {"scattered", "joined", "shapes", "options", "eliminated"}


def compare(got, wanted):
    if isinstance(wanted, dict):
        assert list(got) == list(wanted)
        for key, value in wanted.items():
            compare(got[key], value)
        return
    assert type(got) is type(wanted)
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-11)


def is_one_kernel(compiled, args):
    module = compiled.__srcjax_transform__.module_for(args, {})
    text = srcjax.explain(compiled, *copy.deepcopy(args))
    return module.whole is not None and "Numba says" not in text


@pytest.mark.parametrize(("f", "args"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_values(f, args):
    compiled = srcjax.jit(f)
    given = copy.deepcopy(args)
    compare(compiled(*given), f(*args))
    assert str(given) == str(args)
    assert is_one_kernel(compiled, args)


DIFFERENTIABLE = [
    (f, args)
    for f, args in CASES
    if f.__name__ not in ("correlation", "viterbi", "checksum")
]


@pytest.mark.parametrize(
    ("f", "args"), DIFFERENTIABLE, ids=[f.__name__ for f, _ in DIFFERENTIABLE]
)
def test_gradients(f, args):
    compiled = srcjax.jit(srcjax.grad(f))
    compare(compiled(*args), srcjax.grad(f)(*args))
    assert is_one_kernel(compiled, args) or f.__name__ in DIVIDED


def test_what_numpy_raises():
    def swapped(x, idx):
        return x[idx] * 2.0

    def inverse(a):
        return np.linalg.inv(a) * 2.0

    def stacked(x, y):
        return np.concatenate([x, y])[2:] * 2.0 + np.argmax(x)

    with pytest.raises(IndexError):
        srcjax.jit(swapped)(X, np.array([0, 9]))
    with pytest.raises(np.linalg.LinAlgError):
        srcjax.jit(inverse)(np.zeros((2, 2)))
    assert np.isnan(srcjax.jit(inverse)(np.full((2, 2), np.nan))).all()
    with pytest.raises(ValueError, match="empty"):
        srcjax.jit(stacked)(X[:0], X)


def test_views_stay_views():
    def shown(a):
        a = a * 1.0
        kept = np.zeros((3, 3))
        seen, flat = np.diag(kept), kept.reshape(9)
        for i in range(3):
            kept[i, i] = a[i]
        flat[1] = 5.0
        return np.sum(seen) * kept[0, 1]

    def moved(x):
        y = x * 1.0
        z = np.diag(np.reshape(y, (3, 3)))
        total = np.sum(z)
        y[0] = 100.0
        return total + np.sum(z)

    compare(srcjax.jit(shown)(X), shown(X))
    compare(srcjax.jit(moved)(X), moved(X))


def test_updates_of_places_that_come_twice():
    def once(x, idx):
        x[idx] += 1.0
        x[idx] = x[idx] * 2.0

    x, y = X.copy(), X.copy()
    once(x, IDX)
    srcjax.jit(once)(y, IDX)
    compare(y, x)


def test_sizes_that_meet_only_when_it_runs():
    def added(x, n, m):
        return x[:n] + x[:m] * 2.0

    compiled = srcjax.jit(added)
    for n, m in ((4, 4), (1, 5), (5, 1)):
        compare(compiled(X, n, m), added(X, n, m))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(X, 3, 5)


def test_loops_over_views_of_arrays_of_the_same_size():
    def reversed_horner(x, coefficients):
        total = 0.0
        for c in coefficients[::-1]:
            total = total * x + c
        return total

    def centred_rows(a):
        centred = a * 1.0
        for row in centred:
            row -= row.mean()
        return centred, a

    compare(srcjax.jit(reversed_horner)(0.5, X), reversed_horner(0.5, X))
    compare(srcjax.jit(centred_rows)(A), centred_rows(A))


def test_updates_of_sizes_that_are_not_known():
    """NumPy broadcasts what is added, and never what it is added to."""

    def part(c, v, i, j):
        c = c.copy()
        c[i:j] += v[i:] * 2
        return c

    def whole(x, y):
        x = x * 1.0
        x += y
        return x * 2

    compiled = srcjax.jit(part)  # a view of it in the kernel is called so too
    c, v = np.arange(6.0), np.arange(3.0) + 0.5
    assert srcjax.explain(compiled, c, v, 0, 3) == "part_kernel(c, v, i, j): compiled"
    for i, j in ((0, 3), (2, 4), (2, 6), (2, 2), (0, 1), (1, 4), (3, 3)):
        args = c, v, i, j
        same_or_same_error(compiled, part, args)
    compiled = srcjax.jit(whole)
    given = [np.ones(1), np.arange(3.0), np.ones((2, 1)), np.ones((2, 3)), np.zeros(0)]
    for x, y in itertools.product(given, repeat=2):
        same_or_same_error(compiled, whole, (x, y))


def same_or_same_error(compiled, f, args):
    try:
        wanted = f(*args)
    except ValueError:
        with pytest.raises(ValueError):
            compiled(*args)
        return
    np.testing.assert_array_equal(compiled(*args), wanted)


def test_lookups_of_sizes_that_are_not_known():
    def shrinking(x, y, c):
        picked = x < c
        if picked.any():
            part, other = x[picked], y[picked]
            lanes = np.arange(len(part))
            for _ in range(4):
                moved = part[lanes] + 0.5 * other[lanes] * other[lanes]
                part[lanes] = moved
                lanes = lanes[~(moved > 1)]
                if not lanes.size:
                    break
            x[picked] = part
        return x

    x, y = np.linspace(-3, 3, 9), np.linspace(1.5, -1, 9)
    compiled = srcjax.jit(shrinking)
    for c in (0.5, -1.0, -9.0, 9.0):
        np.testing.assert_allclose(
            compiled(x.copy(), y, c), shrinking(x.copy(), y, c), rtol=1e-12
        )


def test_what_a_name_was_before_is_read_in_the_same_loop():
    def turns(x, z):
        total, d = 0.0, x
        steps = range(len(x) - 2)
        for k in steps:
            t = d * 3.0 + z
            total = total + np.sum(t * t)
            d = z * k  # of no `d`: the next iteration reads it
        for _ in reversed(steps):
            t = x + z
            x = t * 0.5
            z = x - t
        return total, x, z

    rng = np.random.default_rng(0)
    args = rng.normal(size=5), rng.normal(size=5)
    compiled = srcjax.jit(turns)
    for got, wanted in zip(compiled(*args), turns(*args), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-13)
    text = srcjax.source(compiled, *args)
    assert "steps" not in text
    assert text.count("for i in") == 2


def test_sizes_of_what_is_read_where_its_name_gets_another():
    def turns(x, y):
        total = 0.0
        for k in range(3):
            u = x * y  # of the size of `x`, whatever that of `y` is at first
            x = u + k
            total = total + np.sum(x * u)
            y = x - y
        return total, x, y

    rng = np.random.default_rng(1)
    for given in ((4, 1), (4, 6), (5, 1)):
        args = [rng.normal(size=n) for n in given]
        compiled = srcjax.jit(turns)
        if given == (4, 6):
            with pytest.raises(ValueError, match="broadcast"):
                compiled(*args)
            continue
        for got, wanted in zip(compiled(*args), turns(*args), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-13)


def softmax(x):
    e = np.exp(x - srcjax.stop_gradient(np.max(x, axis=-1, keepdims=True)))
    return e / np.sum(e, axis=-1, keepdims=True)


def stopped_where_it_is_bound_again(x):
    m = srcjax.stop_gradient(np.max(x))
    total = 0.0
    for k in range(3):
        total = total + np.sum(x - m) * k
        top = np.sum(x) * 0.5
        m = srcjax.stop_gradient(srcjax.stop_gradient(top))
        top = top + m
        total = total + top * m
    return total


def test_where_derivatives_end_no_kernel_does():
    x, weights = A * 3, np.cos(A)
    slope = srcjax.grad(lambda x: np.sum(softmax(x) * weights))
    compiled = srcjax.jit(slope)
    np.testing.assert_allclose(compiled(x), slope(x), rtol=1e-12, atol=1e-13)
    text = srcjax.source(compiled, x)
    assert text.count("\ndef ") == 2 and "stop_gradient" not in text
    assert text.count("    for i in") == 1  # a row at a time
    for f in (stopped_where_it_is_bound_again, softmax):
        np.testing.assert_allclose(srcjax.jit(f)(X), f(X), rtol=1e-12)
    slope = srcjax.grad(stopped_where_it_is_bound_again)
    np.testing.assert_allclose(srcjax.jit(slope)(X), slope(X), rtol=1e-12)


def of_one_number(x):
    total = x * 0.0
    for k in range(40):
        total = total + np.sin(x * 1.1 + k) * x
    return total


def of_one_number_by_another_name(y):
    whole = y * 0.0
    for k in range(40):
        whole = whole + np.sin(y * 1.1 + k) * y
    return whole


def test_numbers_of_all_types_after_those_that_are_not_looked_at():
    given = [0.3, 0.3 + 1j, 3, np.float64(0.3), np.float32(0.3), True, np.array(0.3)]
    functions = [of_one_number, of_one_number_by_another_name]
    calls = [srcjax.jit(f) for f in functions]  # of one kernel
    for numbers in (given, given[::-1]):
        for _ in range(3):
            for value, call in itertools.product(numbers, calls):
                found, wanted = call(value), of_one_number(value)
                assert type(found) is type(wanted)
                assert np.allclose(found, wanted, rtol=1e-6)
    assert type(kernel_of(calls[0], 0.3)) is BuiltinFunctionType  # Numba's own
    with pytest.raises(TypeError):
        calls[0]("0.3")


def kernel_of(jitted, *args):
    """What is called of the kernel that all of a function is."""
    version = jitted.__srcjax_transform__.prepare(args, {})[0]
    (found,) = (v for k, v in vars(version.loaded).items() if k.endswith("_kernel"))
    return found
