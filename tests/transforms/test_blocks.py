"""`jit` without Numba: chains of NumPy calls, block by block."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import srcjax
from srcjax import compiling
from srcjax.transforms.blocks import entry, loops

RNG = np.random.default_rng(11)


@pytest.fixture(autouse=True)
def without_numba(monkeypatch):
    """No compiler, and blocks of four numbers from eight numbers on."""
    monkeypatch.setattr(compiling, "has_numba", lambda: False)
    monkeypatch.setattr(entry, "LARGE", 64)
    monkeypatch.setattr(loops, "LARGEST_BLOCK", 32)


def compare(got, wanted, rtol=1e-13):
    if isinstance(wanted, (tuple, list)):
        assert type(got) is type(wanted)
        for a, b in zip(got, wanted, strict=True):
            compare(a, b, rtol)
        return
    assert type(got) is type(wanted)
    assert np.shape(got) == np.shape(wanted)
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol)


def module_of(compiled, *args):
    return compiled.__srcjax_transform__.module_for(args, {})


def text_of(compiled, *args):
    return str(srcjax.source(compiled, *args))


def chain(x, y):
    e = np.exp(-(x * y))
    return 1 / (1 + e)


def total(x, y):
    return np.sum((x - y) ** 2) / len(x)


def several(x, y):
    s = np.sin(x) * y
    c = np.cos(x) * y
    return s + c, s - c, np.mean(s * c)


def extremes(x, y):
    z = (x - y) ** 3
    return np.max(z * 2), np.min(z + y), np.prod(1 + z / 1e3)


def truths(x, y):
    inside = (x > 0.1) & ~(y >= 0.5) | np.isnan(x)
    return np.where(inside, x * 2, y), np.any(x + y > 1e9), np.all(x - y < 1e9)


def powers(x, y):
    a = np.abs(x) + 1
    return a**0.5 + a**-1 + a**3 - a**2 * (a + y) ** 0, (a * y) ** 1


def integers(x, y):
    n = (x * 4).astype(np.int64)
    m = n * 3 + 7
    return m // 5 % 3, m**2 - n, np.sum(m * n), (m > 2) / 2


def in_two_passes(x, y):
    e = np.exp(x - np.max(x + y))
    return e / np.sum(e * 1.0)


def parts(x, y):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - y[:-1]) ** 2)


def choices(x, y):
    a, b, c = x * 2, y * 3, x > y
    w = np.where(c, a, b) + 1
    c = np.where(x * y, x + 1, y + 2)
    d = np.where((x > 0) & (y > 0), w * 2, 0.5)
    e = np.where(x > 0, x < 1, (y > 0) | (x < -1))
    return w * c + d, np.where(e, 1, 2) * 3, np.where(x < 0, d + 1, np.where(c, w, d))


def like(x, y):
    ones = np.ones_like(x) * y
    return np.clip(ones + x, -0.5, 0.5) * np.zeros_like(y)


FLAT = [chain, total, several, extremes, truths, powers, integers, in_two_passes]
FLAT += [parts, like, choices]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("f", FLAT, ids=lambda f: f.__name__)
def test_flat(f, dtype):
    compiled = srcjax.jit(f)
    rtol = 1e-13 if dtype is np.float64 else 1e-5
    for size in (3, 8, 9, 15, 16, 33, 100):
        x, y = RNG.normal(size=(2, size)).astype(dtype)
        compare(compiled(x, y), f(x, y), rtol)
        wide = RNG.normal(size=(size, 4)).astype(dtype)
        args = wide[::-1, 1], np.broadcast_to(y[:1], size)
        compare(compiled(*args), f(*args), rtol)
        compare(compiled(x, x), f(x, x), rtol)
    assert module_of(compiled, x, y).blocks


@pytest.mark.parametrize("f", [chain, total, in_two_passes, parts])
def test_results_of_elements_are_the_very_same(f):
    x, y = RNG.normal(size=(2, 103))
    for g in (f, srcjax.grad(f)) if f in (total, parts) else (f,):
        got, wanted = srcjax.jit(g)(x, y), g(x, y)
        if np.ndim(wanted) and f is not in_two_passes:
            np.testing.assert_array_equal(got, wanted)


def softmax(x, b):
    e = np.exp(x + b - np.max(x, axis=1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(x, b):
    mean = x.mean(axis=1)
    centred = x - mean[:, None]
    return np.sum(np.tanh(centred / np.sqrt(np.mean(centred**2, 1)[:, None]) + b) ** 2)


def columns(x, b):
    d = (x - np.mean(x * b, axis=0)) ** 2
    return np.sum(d + 1, axis=0), np.max(d * 2, axis=0, keepdims=True), np.mean(d * b)


def rows_alone(x, b):
    return np.sum(x * b, axis=1), np.sum(x * x, axis=1, keepdims=True) * 2 + 1


def scaled(x, b):
    return x * np.exp(b) + np.sum(b * 2), (x + x[:1]) * 2


@pytest.mark.parametrize("f", [softmax, layer_norm, columns, rows_alone, scaled])
def test_rows(f):
    compiled = srcjax.jit(f)
    for shape in ((2, 2), (3, 5), (9, 4), (5, 5), (40, 3), (3, 40), (50, 2)):
        x, b = RNG.normal(size=shape), RNG.normal(size=shape[1])
        compare(compiled(x, b), f(x, b))
        for other in (RNG.normal(size=shape[::-1]).T, x[::-1], np.asfortranarray(x)):
            got, wanted = compiled(other, b), f(other, b)
            compare(got, wanted)
            if isinstance(wanted, np.ndarray):
                assert got.strides == wanted.strides
    if f is layer_norm:
        gradient = srcjax.grad(f)
        compare(srcjax.jit(gradient)(x, b), gradient(x, b), 1e-11)


def test_more_axes():
    def f(x, w):
        y = x * w + 1
        return np.tanh(y * y) - y, np.sum(y * 3)

    compiled = srcjax.jit(f)
    for shape in ((2, 3, 4), (9, 2, 2), (5, 1, 3)):
        x = RNG.normal(size=shape)
        for w in (x[0], x[:, :1], x[:, :1, :1], 2.0):
            compare(compiled(x, w), f(x, w))


def test_squares_are_not_taken_for_rows():
    def f(x):
        s = np.sum(x * 2, axis=1)
        return x - s, x - s[:, None], np.sum(x * x, axis=0) - s

    for size in (3, 4, 9):
        x = RNG.normal(size=(size, size))
        compare(srcjax.jit(f)(x), f(x))


def test_nothing_and_one_number():
    for f in (chain, total, several, truths):
        compiled = srcjax.jit(f)
        for shape in ((0,), (1,), ()):
            x = np.ones(shape)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if f is not total or shape:
                    compare(compiled(x, x), f(x, x))
        compare(compiled(0.5, 2.0), f(0.5, 2.0)) if f is chain else None
    with pytest.raises(ValueError, match="zero-size"):
        srcjax.jit(extremes)(np.ones(0), np.ones(0))


def test_no_columns_beside_many_rows():
    def f(x, y):
        return np.sum(np.exp(x * 2) + 1, axis=1), np.sum(y * y + 1)

    compare(
        srcjax.jit(f)(np.ones((9, 0)), np.ones(99)), f(np.ones((9, 0)), np.ones(99))
    )


def test_results_share_memory_with_nothing():
    def f(x):
        y = x * 2
        z = y
        w = z + 1
        return y, z, w * w, x

    x = RNG.normal(size=50)
    y, z, w, same = srcjax.jit(f)(x)
    assert y is z and same is x
    assert not any(np.shares_memory(a, b) for a, b in [(x, y), (x, w), (y, w)])


def test_what_is_written_in_place():
    def f(x, u):
        y = np.exp(x * 2)
        u += y
        u[1:] *= y[:-1] + 1
        y *= u
        return np.sum(y * y), y

    compiled = srcjax.jit(f)
    for size in (3, 40):
        x, u = RNG.normal(size=(2, size))
        mine = u.copy()
        compare(compiled(x, mine), f(x, u))
        np.testing.assert_array_equal(mine, u)
        np.testing.assert_array_equal(compiled(x, x.copy())[1], f(x, x.copy())[1])
    aliased = x.copy()
    compare(compiled(aliased, aliased), f(x, x))


def test_updates_between_reads():
    def f(x):
        a = x.copy()
        b = a * 2 + 1
        a += 1
        c = a * 2 + b
        a[0] = 7.0
        return b, c, a * c - a

    x = RNG.normal(size=40)
    compare(srcjax.jit(f)(x), f(x))


def test_control_flow_around():
    def f(x, n):
        for k in range(n):
            x = np.tanh(x * 1.5) + k
            if np.sum(x * x) > 1e3:
                break
            while np.max(x + 1) > 5:
                x = x / 2 - 0.1
        return x if n % 2 else (x * 2 + 1) * x

    compiled = srcjax.jit(f)
    for n in (1, 2, 5, 8):
        for size in (3, 40):
            x = RNG.normal(size=size)
            compare(compiled(x, n), f(x, n))


def test_a_length_is_asked_of_what_is_given_and_elements_are_not():
    def f(x):
        power = x**2
        total = 0.0
        for k, v in enumerate(power):
            total += [v * k][0]
        return np.sum(np.exp(power * 2) + 1) + total

    x = RNG.normal(size=20)
    compare(srcjax.jit(f)(x), f(x))
    compare(srcjax.jit(srcjax.grad(f))(x), srcjax.grad(f)(x), 1e-11)


def test_products_of_matrices_stay():
    def f(w, b, x, y):
        h = np.tanh(x @ w + b)
        return np.mean((h.sum(axis=1) - y) ** 2)

    x, w = RNG.normal(size=(20, 3)), RNG.normal(size=(3, 4))
    args = w, w[0], x, x[:, 0]
    compare(srcjax.jit(f)(*args), f(*args))
    gradient = srcjax.value_and_grad(f, (0, 1))
    compare(srcjax.jit(gradient)(*args), gradient(*args), 1e-11)
    assert module_of(srcjax.jit(gradient), *args).blocks


@pytest.mark.parametrize("dtype", [np.complex128, np.float16, np.int32, np.uint8])
def test_other_numbers(dtype):
    def f(x, y):
        z = x * y + x
        return z * 2 - y, (z - 1) * (y + z)

    x, y = RNG.integers(1, 9, size=(2, 40)).astype(dtype)
    compiled = srcjax.jit(f)
    got, wanted = compiled(x, y), f(x, y)
    compare(got, wanted)
    compare(compiled(x, 2), f(x, 2))
    compare(compiled(x, np.float32(2)), f(x, np.float32(2)))


def test_warnings_and_errors_of_numpy():
    def f(x):
        return np.sqrt(x * 2) + 1

    compiled, x = srcjax.jit(f), np.full(40, -1.0)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt"):
        compiled(x)
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="sqrt"):
        compiled(x)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        compare(compiled(x), np.full(40, np.nan))


def named_like_its_parameter(named_like_its_parameter, *, by=1.0):
    return np.exp(-named_like_its_parameter) * by + 1


def test_functions_of_any_kind():
    x = RNG.normal(size=40)
    compare(srcjax.jit(lambda x: np.exp(-x) + 1)(x), np.exp(-x) + 1)
    compiled = srcjax.jit(named_like_its_parameter)
    compare(compiled(x, by=2.0), named_like_its_parameter(x, by=2.0))

    def of_many(x, *more, **named):
        return np.exp(-x) * more[0] + named["y"]

    compare(srcjax.jit(of_many)(x, x, y=x), of_many(x, x, y=x))


def test_shapes_that_do_not_fit():
    def f(x, y):
        return np.exp(x * 2 + y) + 1

    compiled = srcjax.jit(f)
    compiled(np.ones(40), np.ones(40))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(np.ones(40), np.ones(41))
    compare(compiled(np.ones(40), np.ones(1)), f(np.ones(40), np.ones(1)))
    compare(compiled(np.ones(40), np.ones((2, 1))), f(np.ones(40), np.ones((2, 1))))


TABLE = RNG.normal(size=40)


def test_arrays_from_around():
    global TABLE

    def f(x):
        return np.sum((x - TABLE) ** 2 * TABLE)

    compiled, x = srcjax.jit(f), RNG.normal(size=40)
    compare(compiled(x), f(x))
    TABLE = TABLE * 2
    compare(compiled(x), f(x))
    TABLE[0] = 5
    compare(compiled(x), f(x))


def test_sums_are_as_exact_as_those_of_numpy():
    def f(x):
        return np.sum(x * 1.0 + 0.0)

    x = RNG.uniform(size=100_003).astype(np.float32)
    exact = np.sum(x.astype(np.float64))
    assert abs(srcjax.jit(f)(x) / exact - 1) < 3e-7


def test_small_arrays_run_as_they_are(monkeypatch):
    monkeypatch.setattr(entry, "LARGE", 1 << 22)

    def f(x):
        return np.exp(x * 2) + 1

    compare(srcjax.jit(f)(np.ones(50)), np.exp(np.ones(50) * 2) + 1)


def test_text():
    compiled, x = srcjax.jit(chain), np.ones(4)
    assert text_of(compiled, x, x).endswith(
        '''
@in_threads
def chain_blocks(first, last, step, x, y, ratio):
    work = np.empty(step)
    for start in range(first, last, step):
        part = slice(start, start + step)
        buffer = work[: len(x[part])]
        xy = np.multiply(x[part], y[part], out=buffer)
        neg_xy = np.negative(xy, out=buffer)
        e = np.exp(neg_xy, out=buffer)
        total = np.add(1, e, out=buffer)
        np.divide(1, total, out=ratio[part])


def jit_chain(x, y):
    """What chain gives, compiled, for x: (n,), y: (n,)."""
    if x.ndim != 1 or y.shape != x.shape:
        raise ValueError("jit_chain is for x: (n,), y: (n,)")
    if x.size < 8:
        return chain(x, y)
    ratio = np.empty(len(x))
    chain_blocks(0, len(x), 4, x, y, ratio)
    return ratio
'''
    )
    shown = srcjax.explain(compiled, x, x)
    assert shown == (
        "NumPy in blocks of 4, from 8 numbers on: xy, neg_xy, e, total, ratio"
    )


def test_exported_modules_need_no_srcjax(tmp_path):
    x, y = RNG.normal(size=(2, 40))
    path = tmp_path / "exported.py"
    srcjax.export(srcjax.jit(several), path, x, y)
    text = path.read_text()
    assert "import srcjax" not in text and "from srcjax" not in text
    names: dict = {}
    exec(text, names)
    assert "several_blocks" in names
    compare(names["jit_several"](x, y), several(x, y))


def test_what_stays_says_why():
    def f(x):
        return sorted(x)

    shown = srcjax.explain(srcjax.jit(f), np.ones(9))
    assert "Numba is not installed" in shown
