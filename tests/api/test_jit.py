"""`jit`: what the function gives, compiled."""

from __future__ import annotations

import concurrent.futures
import functools
import importlib.util
import linecache
import math
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import srcjax
from srcjax import lax
from srcjax.backends.kernels import MADE, Kernel
from srcjax.errors import ArgumentError

SAMPLE = {"test_values_and_gradients": 4}

pytest.importorskip("numba")
RNG = np.random.default_rng(3)
X = RNG.normal(size=7)
A = RNG.normal(size=(4, 5))
TABLE = np.array([1.0, 2.0, 3.0])


@pytest.fixture
def at_once(monkeypatch):
    """For tests that look at what was compiled, whatever the variable says."""
    monkeypatch.setattr(srcjax.config, "jit_at_once", True)


def chain(x):
    return np.sum(np.tanh(np.exp(-(x**2)) * x + 1 / (1 + np.exp(-x))))


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def columns(x):
    return (x - x.mean(axis=0)) / np.sqrt(np.mean((x - x.mean(axis=0)) ** 2, axis=0))


def heat(u):
    u = u.copy()
    for _ in range(20):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def recurrence(x):
    u = np.zeros_like(x)
    u[0] = x[0]
    for i in range(1, len(x)):
        u[i] = 0.5 * u[i - 1] + np.sin(x[i])
        u[i - 1] *= x[i]
    return u.sum()


def kepler(M, e):
    E = M
    for _ in range(50):
        d = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E -= d
        if abs(d) < 1e-10:
            break
    return E


def descent(w, X, y):
    for _ in range(3):
        w = w - 0.1 * (X.T @ (X @ w - y))
    return np.sum((X @ w - y) ** 2)


def reversed_part(x):
    y = x * 2.0
    y[::-1][1:] += x[1:]
    return y.sum() * y[0]


def layers(params, x):
    for W, b in params:
        x = np.tanh(x @ W + b) * 0.5
    return np.sum(x**2)


CASES = [
    (chain, (X,)),
    (softmax, (A,)),
    (columns, (A,)),
    (heat, (X,)),
    (recurrence, (X,)),
    (kepler, (0.3, 0.1)),
    (descent, (A[0], A, A[:, 0])),
    (reversed_part, (X,)),
    (layers, ([(A.T, X[:4]), (A, X[:5])], A)),
]


def compare(got, wanted):
    if isinstance(wanted, (tuple, list)):
        assert type(got) is type(wanted)
        for a, b in zip(got, wanted, strict=True):
            compare(a, b)
        return
    assert type(got) is type(wanted)
    assert np.asarray(got).dtype == np.asarray(wanted).dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("f", "args"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_values_and_gradients(f, args):
    compiled = srcjax.jit(f)
    compare(compiled(*args), f(*args))
    module = compiled.__srcjax_transform__.module_for(args, {})
    assert module.stays == ""
    if np.ndim(f(*args)) == 0:
        compare(srcjax.jit(srcjax.grad(f))(*args), srcjax.grad(f)(*args))
        compare(srcjax.grad(srcjax.jit(f))(*args), srcjax.grad(f)(*args))


def test_other_sizes_and_none():
    compiled = srcjax.jit(srcjax.value_and_grad(chain))
    for size in (1, 2, 33, 0):
        x = RNG.normal(size=size)
        compare(compiled(x), srcjax.value_and_grad(chain)(x))
    assert len(compiled.__srcjax_transform__.general) <= 3  # one, none, and all others


def test_strides():
    wide = RNG.normal(size=(6, 8))
    compiled = srcjax.jit(softmax)
    for x in (wide[::2, ::-1], wide.T, np.broadcast_to(wide[0], (3, 8))):
        compare(compiled(x), softmax(x))


def test_single_precision_stays():
    x = X.astype(np.float32)

    def f(x):
        return 2 * np.sum(np.where(x > 0, 1.05, 0) * np.exp(x) / 3 + x**3)

    def g(x):
        y = np.tanh(x * 0.5) * 2 + x**2 / 3 - np.maximum(x, 0.1)
        return (y - y.mean()) * np.exp(-(y**2)).sum()

    got = srcjax.jit(f)(x)
    assert got.dtype == f(x).dtype
    np.testing.assert_allclose(got, f(x), rtol=1e-5)
    assert srcjax.jit(g)(x).dtype == np.float32
    np.testing.assert_allclose(srcjax.jit(g)(x), g(x), rtol=1e-5)
    gradient = srcjax.jit(srcjax.grad(f))(x)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, srcjax.grad(f)(x), rtol=1e-5)


def test_numbers_of_one_precision_after_another():
    def worth(rate, values):
        values = np.asarray(values)
        return np.sum(values / (1 + rate) ** np.arange(len(values)))

    compiled = srcjax.jit(worth)
    for rate in (0.3, np.float32(0.3), np.float64(0.1), np.float16(0.5), 2):
        args = rate, [0.5, 1.0, 2.0]
        assert type(compiled(*args)) is type(worth(*args))
        np.testing.assert_allclose(compiled(*args), worth(*args), rtol=1e-6)


def test_a_later_call_that_is_not_compiled(at_once):
    compiled = srcjax.jit(chain)
    compare(compiled(X), chain(X))
    module = compiled.__srcjax_transform__.module_for((X,), {})
    kernel = module.load().chain_kernel  # what was compiled stands in its place
    assert not isinstance(kernel, Kernel)
    assert kernel(X) == compiled(X)
    assert np.isclose(kernel(X.astype(object)), chain(X))
    assert len(kernel.signatures) == 1  # for numbers it stays compiled
    assert np.isclose(kernel(X), chain(X))


def scaled(x, factor):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] * factor + 1
    return y


def scaled_too(values, by):
    out = np.empty(len(values))
    for k in range(len(values)):
        out[k] = values[k] * by + 1
    return out


def scaled_by_float(x, factor):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] * factor + 1.0
    return y


def scaled_otherwise(factor, x):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] * factor + 1
    return y


def test_kernels_that_differ_by_names_are_compiled_once():
    made = [Kernel(f) for f in (scaled, scaled_too, scaled_by_float, scaled_otherwise)]
    made += [
        Kernel(scaled, ("x",)),
        Kernel(scaled_too, ("values",)),
        Kernel(scaled_too, ("out",)),
    ]
    found = [each.made for each in made]
    same = [next(k for k, b in enumerate(found) if b is a) for a in found]
    assert same == [0, 0, 2, 3, 4, 4, 6]
    np.testing.assert_array_equal(made[1](X, 2.0), scaled_too(X, 2.0))
    np.testing.assert_array_equal(made[0](X, 2.0), made[1](X, 2.0))


def test_numbers_of_python_raise_and_do_not_wrap():
    def ratio(a, b):
        return a / b

    def root(a):
        return math.sqrt(a) + math.log(a)

    def fibonacci(n):
        a, b = 0, 1
        for _ in range(n):
            a, b = b, a + b
        return a

    def power(a, b):
        return a**b

    with pytest.raises(ZeroDivisionError):
        srcjax.jit(ratio)(1.0, 0.0)
    assert srcjax.jit(ratio)(1.0, 4.0) == 0.25
    with pytest.raises(ValueError, match="math domain|nonnegative"):
        srcjax.jit(root)(-1.0)
    assert srcjax.jit(fibonacci)(20) == 6765
    assert srcjax.jit(fibonacci)(120) == fibonacci(120)
    with pytest.raises(OverflowError):
        srcjax.jit(power)(1e200, 2.0)
    assert srcjax.jit(power)(-8.0, 0.5) == (-8.0) ** 0.5
    with np.errstate(divide="ignore"):
        assert srcjax.jit(ratio)(np.float64(1.0), np.float64(0.0)) == np.inf


def test_what_was_written_before_the_kernel_is_left():
    def shared(x, of):
        limits, parts = of
        for i in range(len(x)):
            x[i] += i
            if limits[i] < 0:
                raise ValueError(f"item {i} is negative")
            parts[i] /= x[i]
        return x.sum()

    def given(kind):
        x, first = np.ones(4), np.ones(4)
        first[2:] = -1.0 if kind == "negative" else 1.0
        second = np.ones(2 if kind == "short" else 4)
        second.flags.writeable = kind != "read-only"
        return x, [first, second]

    compiled = srcjax.jit(shared)
    for kind in ("right", "negative", "short", "read-only"):
        arrays, wanted = given(kind), given(kind)
        try:
            total = shared(*wanted)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                compiled(*arrays)
        else:
            assert compiled(*arrays) == total
        compare(arrays, wanted)
    module = compiled.__srcjax_transform__.module_for(given("right"), {})
    assert not module.stays
    assert not module.python


def test_annotations_that_name_nothing():
    def scaled(x: NotThere, factor: NeitherIsThis = 2.0):  # noqa: F821
        return np.sort(x) * factor + np.exp(x)

    compare(srcjax.jit(scaled)(X), scaled(X))


def test_lists_beside_what_is_not_known_yet():
    def relaxed(x, k):
        def pulls(x):
            n = len(x)
            found = [0.0] * n
            for i in range(n):
                for j in range(i + 1, n):
                    pull = x[j] - x[i]
                    found[i] += k * pull
                    found[j] -= k * pull
            return found

        moves = pulls(x)
        for _ in range(2):
            x = [a + b for a, b in zip(x, moves)]  # noqa: B905
            moves = pulls(x)
        return sum(a**2 for a in moves)

    args = [0.0, 1.2, 2.5], 0.1
    compare(srcjax.jit(relaxed)(*args), relaxed(*args))


@pytest.mark.parametrize("name", ["sqrt", "log", "sin", "exp", "gamma", "tanh"])
@pytest.mark.parametrize("number", [float, np.float64])
def test_functions_of_math_raise_for_all_numbers(name, number):
    function = getattr(math, name)

    def f(x):
        total = 0.0
        for k in range(len(x)):
            total += function(x[k])
        return total

    compiled = srcjax.jit(f)
    for value in (0.5, -1.5, 0.0, 800.0, math.inf, -math.inf, math.nan):
        x = np.array([1.0, value]) if number is np.float64 else (1.0, value)
        try:
            wanted = f(x)
        except (ValueError, OverflowError) as error:
            with pytest.raises(type(error)):
                compiled(x)
        else:
            np.testing.assert_allclose(compiled(x), wanted, rtol=1e-13)


def test_an_index_out_of_bounds_raises():
    def f(x, n):
        total = 0.0
        for i in range(n):
            total += x[i] * x[-i]
        return total

    compare(srcjax.jit(f)(X, 7), f(X, 7))
    with pytest.raises(IndexError):
        srcjax.jit(f)(X, 8)


def test_the_largest_of_none_raises():
    def f(x):
        return np.max(x * 2.0) + 1.0

    compare(srcjax.jit(f)(X), f(X))
    with pytest.raises(ValueError, match="zero-size array"):
        srcjax.jit(f)(np.zeros(0))
    assert np.isnan(srcjax.jit(f)(np.array([1.0, np.nan, 0.0])))


def test_arguments_are_written_to():
    def relax(u, f):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] - f[i])

    mine, plain = X.copy(), X.copy()
    assert srcjax.jit(relax)(mine, X) is None
    relax(plain, X)
    np.testing.assert_allclose(mine, plain, rtol=1e-14)


def test_what_is_given_back_is_the_argument():
    def f(x, y):
        x += y * 2.0
        return x

    x = X.copy()
    assert srcjax.jit(f)(x, X) is x
    np.testing.assert_array_equal(x, X + X * 2.0)


def test_arrays_from_around_may_change():
    def f(x):
        return np.sum(x * TABLE + np.exp(x))

    compiled = srcjax.jit(f)
    x = X[:3]
    compare(compiled(x), f(x))
    TABLE[0] = 5.0
    compare(compiled(x), f(x))


def test_what_is_printed_is_printed(capsys):
    def f(x):
        y = np.sin(x) * x + 1.0
        print("half way")
        return np.sum(np.cos(y) * y)

    compiled = srcjax.jit(f)
    compare(compiled(X), f(X))
    assert capsys.readouterr().out == "half way\n" * 2
    report = srcjax.explain(compiled, X)
    assert "print" in report
    assert "f_kernel" in report


def test_a_recursion_in_which_texts_change_places():
    """It is looked into a few times, not once for each order of the texts."""

    def moved(n, source="A", target="B", by="C", moves=None):
        moves = [] if moves is None else moves
        if n:
            moved(n - 1, source, by, target, moves)
            moves.append(source + target)
            moved(n - 1, by, target, source, moves)
        return moves

    compiled = srcjax.jit(moved)
    assert compiled(3) == moved(3)
    assert compiled(4) == moved(4)


def test_a_lambda_beside_kernels():
    """Its parameter is no name from around."""

    def f(x, names):
        total = 0.0
        for i in range(len(x)):
            total += x[i] * x[i]
        names["sorted"] = sorted(names)
        return total

    compiled, names, again = srcjax.jit(f), {"b": 0, "a": 1}, {"b": 0, "a": 1}
    assert compiled(X, names) == pytest.approx(f(X, again))
    assert names == again
    assert "f_kernel(x): compiled" in srcjax.explain(compiled, X, {"b": 0, "a": 1})


def test_text_that_can_be_read():
    text = str(srcjax.source(srcjax.jit(srcjax.grad(chain)), X))
    assert "@kernel" in text
    assert "for i in range(len(x))" in text
    assert "np.exp(" in text


def test_static_arguments():
    def f(x, kind, n=2):
        return np.sum(x**n) if kind == "power" else np.sum(np.exp(x))

    compiled = srcjax.jit(f, static_argnums=1, static_argnames="n")
    compare(compiled(X, "power"), f(X, "power"))
    compare(compiled(X, "power", n=3), f(X, "power", n=3))
    compare(compiled(X, "exp"), f(X, "exp"))
    with pytest.raises(srcjax.errors.ArgumentError, match="has no hash"):
        compiled(X, ["power"])
    with pytest.raises(srcjax.errors.ArgumentError, match="static_argnums=5"):
        srcjax.jit(f, static_argnums=5)


def test_inside_of_a_differentiated_function():
    @srcjax.jit
    def inner(x):
        return np.sin(x) * x

    def f(x):
        return np.sum(inner(x) ** 2)

    def plain(x):
        return np.sum((np.sin(x) * x) ** 2)

    compare(srcjax.grad(f)(X), srcjax.grad(plain)(X))
    compare(srcjax.vmap(inner)(A), np.sin(A) * A)


def test_examples_that_go_their_own_ways():
    M, e = np.linspace(0.1, 3.0, 9), np.linspace(0.0, 0.8, 9)

    def collatz(n):
        steps = 0
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    def cube_root(low, high, y):
        while high - low > 1e-9:
            middle = (low + high) / 2
            if middle**3 < y:
                low = middle
            else:
                high = middle
        return low

    for f, args in [
        (srcjax.vmap(cube_root, in_axes=(None, None, 0)), (0.0, 3.0, M)),
        (srcjax.vmap(cube_root, in_axes=(0, None, None)), (-e, 3.0, 2.0)),
        (srcjax.vmap(kepler), (M, e)),
        (srcjax.vmap(srcjax.grad(kepler, (0, 1))), (M, e)),
        (srcjax.vmap(kepler, in_axes=(0, None)), (M, 0.2)),
        (srcjax.vmap(collatz), (np.arange(1, 30),)),
    ]:
        compiled = srcjax.jit(f)
        compare(compiled(*args), f(*args))
        text = str(srcjax.source(compiled, *args))
        assert "for lane in range(len(" in text
        none = [a[:0] if isinstance(a, np.ndarray) else a for a in args]
        compare(compiled(*none), f(*none))


def test_what_no_example_needs_raises_nothing_where_vmap_does_not():
    def unread(x):
        z = np.zeros(2)
        for i in range(len(x)):
            z[0] = x[i + 1]
        return x[0] if x[0] > 0.2 else -x[1]

    mapped = srcjax.vmap(unread)
    compare(srcjax.jit(mapped)(A), mapped(A))


def test_as_many_examples_of_all_arguments():
    M, e = np.linspace(0.1, 3.0, 9), np.linspace(0.0, 0.8, 9)
    compiled = srcjax.jit(srcjax.vmap(kepler))
    compare(compiled(M, e), srcjax.vmap(kepler)(M, e))
    for args in ((M, e[:4]), (M[:4], e), (M[:0], e), (M, e[:0])):
        with pytest.raises(srcjax.errors.ArgumentError, match="examples along axis 0"):
            compiled(*args)


def product(x, w):
    return x * w


def test_one_example_is_not_as_many_as_all():
    def inside(x, w):
        return np.sum(srcjax.vmap(product)(x, w) * x)

    x = np.arange(5.0)
    batched = srcjax.vmap(srcjax.grad(product, (0, 1)))
    for f in (srcjax.vmap(product), batched, inside, srcjax.grad(inside)):
        compiled = srcjax.jit(f)
        compare(compiled(x, x), f(x, x))
        for args in ((x[:1], x), (x, x[:1]), (x[:3], x)):
            with pytest.raises(srcjax.errors.ArgumentError, match="examples"):
                compiled(*args)
        compare(compiled(x[:1], x[:1]), f(x[:1], x[:1]))


def inlet(x, method="round", tolerance=None, angle=30.0):
    """What is known by value decides, and is not in the kernel."""
    if tolerance is None:
        tolerance = 1e-3
    if method in ("round", "square") and method not in ("none",):
        y = x * 2
    else:
        raise ValueError(method)
    if angle in (30, 45.0, 60):
        y = y + math.floor(y) + math.ceil(x) - math.trunc(x) + round(x)
    return y * 2**x + tolerance


def test_what_is_known_by_value():
    for f in (inlet, srcjax.grad(inlet)):
        compiled = srcjax.jit(f)
        calls = [(2.5,), (-3.4, "square", 0.1), (3.5, "round", 0.1, 50.0), (2.5,)]
        for args in calls:
            compare(compiled(*args), f(*args))
            assert "compiled" in srcjax.explain(compiled, *args)
            assert "Python" not in srcjax.explain(compiled, *args)
        refused = () if f is not inlet else ((1.0, "oval"),)
        for args in ((math.inf,), (math.nan,), *refused):
            with pytest.raises((ValueError, OverflowError)) as wanted:
                f(*args)
            with pytest.raises(wanted.type, match=re.escape(str(wanted.value))):
                compiled(*args)


def test_errors_after_a_write(at_once):
    def f(u, n, h, m=3):
        u[0] = 2.0
        step = 1.0 / n
        u *= step
        rest = n // m + n % m
        u += rest
        return np.sum(u) * h**2

    compiled = srcjax.jit(f)
    calls = [(4, 0.5), (0, 0.5), (4, 1e200), (4, 0.5, 0), (0.0, 0.5), (4.5, 0.5, 0.0)]
    for args in calls:
        ours, theirs = np.arange(5.0), np.arange(5.0)
        try:
            wanted = f(theirs, *args)
        except ArithmeticError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                compiled(ours, *args)
        else:
            compare(compiled(ours, *args), wanted)
        np.testing.assert_array_equal(ours, theirs)
        assert srcjax.explain(srcjax.jit(f), X, 4, 0.5).count("\n") == 0


def test_exponents_that_are_numbers():
    def f(x, a, b):
        return np.sum(x**a) * b**a

    for wrt in ((0, 1, 2), (1,)):
        g = srcjax.grad(f, wrt)
        compiled = srcjax.jit(g)
        for a in (2.0, 1.0, 0.0, -0.5):
            compare(compiled(X**2, a, 1.5), g(X**2, a, 1.5))
        assert "Python" not in srcjax.explain(compiled, X**2, 2.0, 1.5)


def test_annotations_of_what_is_not_compiled():
    text = """if True:
    from collections.abc import Callable
    def f(g: Callable[[float], float], x: float = 2.0) -> float:
        return g(x)
    del Callable
"""
    names = {}
    exec(compile(text, "<annotated>", "exec"), names)
    lines = text.splitlines(keepends=True)
    linecache.cache["<annotated>"] = (len(text), None, lines, "<annotated>")
    f = names["f"]
    assert srcjax.jit(f)(np.sin) == f(np.sin)


def test_tapes_that_do_not_go_together():
    def f(x, n):
        """Lists that grow one after the other, shrink in between, and are left."""
        first, second, third = [], [], []
        total = 0.0
        for i in range(n):
            first.append(x * i)
            if i % 3 == 2:
                total = total + first.pop() - first.pop()
                continue
            second.append(x + i)
            second.append(x - i)
            if i > 90:
                break
            third.append(total)
        while len(third) > 3:
            total = total * 0.9 + third.pop()
        for i in range(n // 2):
            total = total + second.pop() * 0.5 + i
        return total

    for g in (f, srcjax.grad(f)):
        compiled = srcjax.jit(g)
        for n in (0, 7, 80, 200):
            compare(compiled(1.5, n), g(1.5, n))


def kernel_of(f):
    """The one kernel of `jit(f)` for `X`, before its first call."""
    module = srcjax.jit(f).__srcjax_transform__.module_for((X,), {}).load()
    (found,) = (v for v in vars(module).values() if isinstance(v, Kernel))
    return found


def of_broken_entry(x):
    return np.sum(np.cos(x) * 3.0 + x)


def test_a_broken_entry_of_the_cache_is_made_anew(kernel_folder):
    f = of_broken_entry
    kernel = kernel_of(f)
    compare(np.float64(kernel(X)), f(X))
    (entry,) = kernel_folder.glob("of_broken_entry_kernel_*.py")
    text = entry.read_text()
    entry.write_text("nonsense(")
    MADE.clear()
    again = Kernel(kernel.function)
    compare(np.float64(again(X)), f(X))
    assert not again.failure
    assert entry.read_text() == text


def of_broken_code(x):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] * 7.0 + np.sin(x[i])
    return y


@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("half", [False, True], ids=["other bytes", "half"])
def test_broken_machine_code_is_made_anew(kernel_folder, kind, half):
    f = of_broken_code
    kernel = kernel_of(f)
    compare(kernel(X), f(X))
    (entry,) = kernel_folder.glob(f"**/of_broken_code_kernel_*{kind[1:]}")
    content = entry.read_bytes()
    middle = len(content) // 2
    broken = bytes(b ^ 255 for b in content[middle : middle + 64])
    entry.write_bytes(
        content[:middle] if half else content[:middle] + broken + content[middle + 64 :]
    )
    MADE.clear()
    again = Kernel(kernel.function, kernel.checked)
    compare(again(X), f(X))
    assert not again.failure
    MADE.clear()
    loaded = Kernel(kernel.function, kernel.checked)
    compare(loaded(X), f(X))
    assert sum(loaded.compiled.stats.cache_hits.values()) == 1


IN_A_NEW_PROCESS = """
import sys
import numpy as np
from srcjax.backends import kernels
import programs
X = np.linspace(0.1, 0.5, 5)
for name, args in [("filled", (X,)), ("checked", (X, 3)), ("checked", (X, 9)),
                   ("solved", (np.eye(2), np.ones(2)))]:
    function = getattr(programs, name)
    made = kernels.Kernel(function, ("x",) if name == "checked" else ())
    try:
        print(made(*args))
    except Exception as error:
        print(type(error).__name__, error)
    print(name, sum(made.compiled.stats.cache_hits.values()), made.failure)
    if name == "filled":
        print("numba.np.linalg" in sys.modules)
other = kernels.Kernel(programs.filled)  # for other types: compiled, with the tables
print(other(X.astype(np.float32)), other(X))
"""

OF_A_NEW_PROCESS = """
import numpy as np

def filled(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = np.exp(x[i]) + np.arctan2(x[i], 0.5)
    return y

def checked(x, i):
    if i == 9:
        return x[i] + 1 // (i - 9)
    return x[i] * 2

def solved(a, b):
    return np.dot(np.linalg.solve(a, b), b)
"""


def in_two_processes(tmp_path, code, settings=None):
    """What the code writes to its two streams, in one new process and then another."""
    (tmp_path / "programs.py").write_text(OF_A_NEW_PROCESS)
    (tmp_path / "kept").mkdir(mode=0o700)
    given = {
        **os.environ,
        **(settings or {}),
        "SRCJAX_CACHE_DIR": str(tmp_path / "kept"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path]),
    }
    command = [sys.executable, "-c", code]
    options = {"env": given, "capture_output": True, "text": True, "check": True}
    runs = [subprocess.run(command, **options) for _ in range(2)]
    return [(run.stdout, run.stderr) for run in runs]


def test_another_process_loads_kernels_without_the_compilers_tables(tmp_path):
    runs = [out.splitlines() for out, _ in in_two_processes(tmp_path, IN_A_NEW_PROCESS)]
    hits = [
        line for line in runs[1] if line.startswith(("filled", "checked", "solved"))
    ]
    assert hits == ["filled 1 ", "checked 1 ", "checked 1 ", "solved 1 "]
    assert [runs[0][2], runs[1][2]] == ["True", "False"]
    assert "is out of bounds for axis 0 with size" in "".join(runs[1])

    def shown(run):
        words = ("filled", "checked", "solved", "True", "False")
        return [line for line in run if not line.startswith(words)]

    assert shown(runs[0]) == shown(runs[1])


def of_open_folder(x):
    return np.sum(np.sin(x) * 5.0 + x)


def test_a_folder_that_others_write_to_is_not_used(tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    monkeypatch.setenv("SRCJAX_CACHE_DIR", str(tmp_path))
    compare(srcjax.jit(of_open_folder)(X), of_open_folder(X))
    assert not list(tmp_path.iterdir())


def test_threads():
    compiled = srcjax.jit(srcjax.grad(chain))
    wanted = srcjax.grad(chain)(X)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for found in pool.map(compiled, [X] * 8):  # raises what a thread raised
            np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_what_jit_has_not():
    with pytest.raises(srcjax.errors.ArgumentError, match="device"):
        srcjax.jit(chain, device="tpu")
    with pytest.raises(srcjax.errors.ArgumentError, match="jit made"):
        srcjax.explain(chain, X)


def test_cuda_can_be_read_without_a_gpu():
    if importlib.util.find_spec("cupy") is not None:
        pytest.skip("there is CuPy")
    text = srcjax.source(srcjax.jit(srcjax.grad(chain), device="gpu"), X)
    assert "@elementwise_kernel" in text and "cupy.empty(" in text
    sums = srcjax.jit(lambda x: np.cumsum(x) * x, device="gpu")
    assert "__global__ void" in srcjax.source(sums, X)
    with pytest.raises(srcjax.errors.ArgumentError, match="CuPy"):
        srcjax.jit(chain, device="gpu")(X)


def test_static_values_that_are_equal_but_not_the_same():
    def signed(x, s):
        return np.copysign(x, s)

    def halved(x, t):
        return x + (t[0] // 2 if isinstance(t[0], int) else t[0] / 2)

    compiled = srcjax.jit(signed, static_argnums=1)
    assert [compiled(2.0, s) for s in (0.0, -0.0, 0.0)] == [2.0, -2.0, 2.0]
    compiled = srcjax.jit(halved, static_argnums=1)
    assert [compiled(1.0, t) for t in ((3,), (3.0,), (3,))] == [2.0, 2.5, 2.0]


FIRST_CALL = """
import sys
import numpy, numba
import srcjax
from programs import filled
x = numpy.linspace(0.1, 0.5, 5)
print(srcjax.jit(filled)(x), file=sys.stderr)
more = ["srcjax.syntax", "gast", "srcjax.backends.kernel_words", "srcjax.pipeline"]
more += ["numpy.ma", "numba.cpython.setobj"]
print([name for name in more if name in sys.modules])
"""


def test_another_process_imports_nothing_that_writes_kernels(tmp_path):
    kept = {"SRCJAX_KEEP_TEXTS": "1"}
    (_, first), (printed, second) = in_two_processes(tmp_path, FIRST_CALL, kept)
    assert first == second
    assert printed == "[]\n"


@pytest.mark.parametrize("damage", ["half", "other"])
def test_a_broken_text_of_a_kernel_is_written_anew(kernel_folder, damage):
    def of_broken_text(x):
        return np.sum(np.sin(x) * 3.0 + x)

    kernel = kernel_of(of_broken_text)
    np.testing.assert_allclose(kernel(X), of_broken_text(X), rtol=1e-14)
    (path,) = kernel_folder.glob("of_broken_text_kernel_*.py")
    content = path.read_text()
    broken = content[: len(content) // 2]
    path.write_text(broken if damage == "half" else content.replace("3.0", "4.0"))
    MADE.clear()
    again = Kernel(kernel.function)
    np.testing.assert_allclose(again(X), of_broken_text(X), rtol=1e-14)
    assert path.read_text() == content


def moved(state, x):
    count, mean = state
    return (count + 1, mean + (x - mean) / (count + 1))


def test_a_counter_that_begins_at_zero_makes_one_version(at_once):
    compiled, state = srcjax.jit(moved), (0, np.zeros(7))
    for _ in range(3):
        wanted, state = moved(state, X), compiled(state, X)
        assert state[0] == wanted[0]
        np.testing.assert_allclose(state[1], wanted[1], rtol=1e-15)
    transform = compiled.__srcjax_transform__
    assert len({id(version) for version in transform.versions.values()}) == 1
    from_one = srcjax.jit(moved)
    for count in (1, 0, -1 - 2**40):  # no size is given where one was supposed
        assert from_one((count, X), X)[0] == count + 1


@pytest.mark.parametrize(("most", "times"), [(0, 1), (48, 2)])
def test_a_function_that_stays_python_is_written_once(
    at_once, monkeypatch, most, times
):
    def looked_up(x):
        total = np.exp(x) * 2 + x
        print(total.shape)
        return np.tanh(total) * np.median(x)

    compiled = srcjax.jit(looked_up)
    transform, built = compiled.__srcjax_transform__, []
    build = transform.built
    monkeypatch.setattr(srcjax.api.compiled, "MOST_PYTHON", most)
    monkeypatch.setattr(
        transform, "built", lambda *given: built.append(given) or build(*given)
    )
    np.testing.assert_allclose(compiled(X), looked_up(X))
    assert len(built) == times


def test_options_that_are_of_no_effect():
    """What programs give JAX's about memory and compilation is taken."""

    @functools.partial(srcjax.jit, donate_argnums=(0,), keep_unused=True)
    def doubled(x):
        return 2 * x

    def f(x):
        scaled = srcjax.jit(lambda y: y * x, inline=True)
        return lax.fori_loop(0, 2, lambda i, y: doubled(scaled(y)), x, unroll=True)

    assert srcjax.jit(f, backend="cpu")(3.0) == 108.0
    assert srcjax.grad(f)(3.0) == 108.0
    with pytest.raises(ArgumentError, match="donate_argnums"):
        srcjax.jit(f, donate=0)
