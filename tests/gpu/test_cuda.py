"""Kernels for a GPU: compiled by NVRTC, and run on the CPU, by a shim."""

import copy

import numpy as np
import pytest
from scipy.special import logsumexp

import srcjax
from tests.gpu import fake_cupy, nvrtc, shim
from tests.gpu.cases import CASES, Inputs, chain, softmax

needs_compiler = pytest.mark.skipif(not shim.has_compiler(), reason="there is no g++")
needs_nvrtc = pytest.mark.skipif(nvrtc.library() is None, reason="there is no NVRTC")
#: A compiler runs for each kernel.
SAMPLE = {"test_values": 4, "test_nvrtc_compiles_it": 4}
SIZES = (33, 0, 1, 31, 1025)
pytestmark = [
    needs_compiler,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),  # of nothing, and of `// 0`
]


@pytest.fixture
def cupy():
    with fake_cupy.installed() as found:
        yield found


def given(name, n, dtype=np.float64):
    return CASES[name][1](Inputs(n, dtype))


def on_device(cupy, args):
    return [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]


def on_host(x):
    if isinstance(x, tuple):
        return tuple(map(on_host, x))
    return x.get() if hasattr(x, "get") else np.asarray(x)


def compare(got, wanted, dtype=np.float64):
    if isinstance(wanted, tuple):
        assert isinstance(got, tuple) and len(got) == len(wanted)
        for a, b in zip(got, wanted, strict=True):
            compare(a, b, dtype)
        return
    wanted = np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    tolerance = 3e-5 if dtype == np.float32 else 1e-11
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


def called(function, args):
    """What the plain function gives, and what it leaves of its arguments."""
    args = copy.deepcopy(args)
    try:
        return function(*args), args, None
    except Exception as error:
        return None, args, error


@pytest.mark.parametrize("name", CASES)
def test_values(cupy, name):
    function, _, dtypes = CASES[name]
    compiled = srcjax.jit(function)
    for n in SIZES:
        for dtype in dtypes:
            if n not in (33, 1025) and dtype == np.float32:
                continue
            if n == 1025 and name in ("triangle", "gauss_seidel"):
                continue
            args = given(name, n, dtype)
            wanted, left, error = called(function, args)
            values = on_device(cupy, args)
            if error is not None:
                with pytest.raises(type(error)):
                    compiled(*values)
                continue
            compare(on_host(compiled(*values)), wanted, dtype)
            for value, one in zip(values, left, strict=True):
                if isinstance(one, np.ndarray):
                    np.testing.assert_allclose(value.get(), one, rtol=1e-5)
    module = compiled.__srcjax_transform__.on_gpu.module_for(
        on_device(cupy, given(name, 33)), {}
    )
    assert not module.stays, module.stays


@needs_nvrtc
@pytest.mark.parametrize("name", CASES)
def test_nvrtc_compiles_it(cupy, name):
    function, _, dtypes = CASES[name]
    for dtype in dtypes:
        for n in (33,):
            args = on_device(cupy, given(name, n, dtype))
            fake_cupy.launched.clear()
            srcjax.jit(function)(*args)
            assert fake_cupy.launched
            text = nvrtc.joined(fake_cupy.launched)
            for arch in ("sm_80", "sm_90"):
                for options in ((), ("-DLARGE_ARRAYS",)):
                    assert nvrtc.compile_text(text, arch, options) == "", text


def layouts(cupy, x):
    """The same numbers in other strides."""
    wide = np.repeat(x, 2, axis=-1)
    yield cupy.ndarray(wide[..., ::2])
    yield cupy.ndarray(np.ascontiguousarray(x[..., ::-1])[..., ::-1])
    yield cupy.ndarray(np.asfortranarray(x))
    if x.ndim == 2:
        yield cupy.ndarray(np.ascontiguousarray(x[::-1])[::-1])


@pytest.mark.parametrize("name", ["chain", "softmax", "largest", "columns"])
def test_strides(cupy, name):
    function = CASES[name][0]
    args = given(name, 33)
    compiled = srcjax.jit(function)
    for x in layouts(cupy, args[0]):
        values = [x, *on_device(cupy, args[1:])]
        compare(on_host(compiled(*values)), function(*args))
    row = np.broadcast_to(args[0][0], args[0].shape)
    values = [cupy.ndarray(row), *on_device(cupy, args[1:])]
    compare(on_host(compiled(*values)), function(row, *args[1:]))


def test_indices_of_64_bits(cupy, monkeypatch):
    from srcjax.backends.cuda import run

    monkeypatch.setattr(run, "LARGE", 10)
    args = given("softmax", 33)
    compare(on_host(srcjax.jit(softmax)(*on_device(cupy, args))), softmax(*args))
    assert fake_cupy.launched
    assert all("-DLARGE_ARRAYS" in options for _, _, options in fake_cupy.launched)


def out_of_bounds(x, k):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = x[i + k] * 2
    return y


def test_indices_are_tested(cupy):
    x = np.arange(5.0)
    compiled = srcjax.jit(out_of_bounds)
    compare(on_host(compiled(cupy.asarray(x), -5)), out_of_bounds(x, -5))
    with pytest.raises(IndexError):
        compiled(cupy.asarray(x), 1)


def shifted(x, y):
    for i in range(len(x)):
        y[i] = x[i] + 1


def test_memory_that_is_shared(cupy):
    """What is written may be read by a later iteration: one thread goes through it."""
    base = np.arange(40.0)
    wanted = base.copy()
    shifted(wanted[:-1], wanted[1:])
    memory = cupy.asarray(base)
    srcjax.jit(shifted)(memory[:-1], memory[1:])
    compare(memory.get(), wanted)


def divided(x, n):
    return x * (1 / n)


def test_pythons_numbers(cupy):
    x = np.arange(3.0)
    compiled = srcjax.jit(divided)
    compare(on_host(compiled(cupy.asarray(x), 2)), divided(x, 2))
    with pytest.raises(ZeroDivisionError):
        compiled(cupy.asarray(x), 0)


def test_numpy_stays_on_the_cpu(cupy):
    compiled = srcjax.jit(softmax)
    (x,) = given("softmax", 5)
    assert type(compiled(x)) is np.ndarray
    assert type(compiled(cupy.asarray(x))) is cupy.ndarray
    assert type(compiled(x)) is np.ndarray
    for _ in range(3):  # the second call finds its version by fast tests
        compare(on_host(compiled(cupy.asarray(x))), softmax(x))


def test_devices_do_not_mix(cupy):
    x, w = given("chain", 5)
    with pytest.raises(srcjax.errors.ArgumentError, match="`w` is on the CPU"):
        srcjax.jit(chain)(cupy.asarray(x), w)


def test_device_put_and_get(cupy):
    tree = {"w": np.arange(3.0), "n": 2, "name": "x", "more": [None, (np.ones(2),)]}
    there = srcjax.device_put(tree)
    assert type(there["w"]) is type(there["more"][1][0]) is cupy.ndarray
    assert there["n"] == 2 and there["name"] == "x" and there["more"][0] is None
    back = srcjax.device_get(there)
    assert type(back["w"]) is np.ndarray
    np.testing.assert_array_equal(back["w"], tree["w"])
    assert type(srcjax.device_put(there, "cpu")["w"]) is srcjax.Array
    assert srcjax.devices() == ["gpu:0"] and srcjax.devices("cpu") == ["cpu"]
    with pytest.raises(srcjax.errors.ArgumentError, match="no device 'gpu:7'"):
        srcjax.device_put(tree, "gpu:7")


def test_device_gpu(cupy):
    (x,) = given("softmax", 5)
    compiled = srcjax.jit(softmax, device="gpu")
    compare(compiled(x).get(), softmax(x))
    assert "__global__" in srcjax.source(compiled, x)
    assert "CUDA" in srcjax.explain(compiled, x)
    function, _, _ = CASES["in place"]
    args = given("in place", 5)
    wanted, left, _ = called(function, args)
    compare(srcjax.jit(function, device="gpu")(*args).get(), wanted)
    compare(args[0], left[0])


def test_device_cpu(cupy):
    pytest.importorskip("numba")
    (x,) = given("softmax", 5)
    compiled = srcjax.jit(softmax, device="cpu")
    assert type(compiled(cupy.asarray(x))) is np.ndarray


def test_without_cupy(monkeypatch):
    import sys

    from srcjax.backends.cuda.run import the_cupy

    the_cupy.cache_clear()
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert srcjax.devices() == ["cpu"]
    with pytest.raises(srcjax.errors.ArgumentError, match=r"pip install srcjax\[cuda"):
        srcjax.device_put(np.ones(3), "gpu")
    with pytest.raises(srcjax.errors.ArgumentError, match=r"pip install srcjax\[cuda"):
        srcjax.jit(softmax, device="gpu")(np.ones((2, 3)))


def elements_of_rows(x):
    y = np.zeros(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y[i][j] = x[i][j] * (i + 1)
    return y


def test_what_has_no_kernel_stays(cupy):
    x = np.ones((3, 4))
    compiled = srcjax.jit(elements_of_rows)
    values = cupy.asarray(x)
    module = compiled.__srcjax_transform__.module_for((values,), {})
    if not module.stays:  # it may be understood one day
        compare(on_host(compiled(values)), elements_of_rows(x))


def test_source_shows_both(cupy):
    text = srcjax.source(srcjax.jit(chain), *on_device(cupy, given("chain", 5)))
    assert "import cupy" in text and "@elementwise_kernel" in text
    assert (
        "for i, j: double x(i, j), double w(j)\n    -> double where_value(i, j)" in text
    )
    assert "chain_where_value[len(x), x.shape[1]](" in text
    assert "tanh(x * w) + 1.0" in text
    text = srcjax.source(srcjax.jit(softmax), *on_device(cupy, given("softmax", 5)))
    assert "@cuda" in text and "[len(x), x.shape[1]](" in text


def between_kernels(x):
    """Python between kernels makes arrays, by functions that do not ask `x`."""
    grid = np.ascontiguousarray((x * 2).reshape(2, -1)[:, ::-1])
    places = np.arange(len(x)) * 1.0
    return logsumexp(np.array([x[0], x[1]]) * 3) + np.sum(grid * 2) + np.sum(places * x)


def test_what_is_between_kernels(cupy):
    x = np.linspace(0.1, 1, 6)
    got = srcjax.jit(between_kernels)(cupy.asarray(x))
    compare(on_host(got), between_kernels(x))


def shaped_by_a_product(x):
    y = x.T @ x / len(x)
    return y.sum() / (x.shape[1] * x.ndim)


def test_sizes_of_what_has_no_name(cupy):
    x = np.arange(12.0).reshape(3, 4)
    gradient = srcjax.grad(shaped_by_a_product)
    got = srcjax.jit(gradient)(cupy.asarray(x))
    compare(on_host(got), gradient(x))


def network(x, W, b, targets):
    """Kernels, and SciPy between them; names that are bound twice."""
    outputs = np.tanh(x @ W) + b
    outputs = outputs - logsumexp(outputs, axis=1, keepdims=True)
    return -np.mean(np.sum(outputs * targets, axis=1))


def test_kernels_are_given_what_has_new_names(cupy):
    x, W = np.linspace(-1, 1, 12).reshape(4, 3), np.linspace(-1, 2, 6).reshape(3, 2)
    args = x, W, np.array([0.5, -0.5]), np.eye(4)[:, :2]
    for function in (network, srcjax.grad(network, argnums=1)):
        compiled, values = srcjax.jit(function), on_device(cupy, args)
        compare(on_host(compiled(*values)), function(*args))
        assert not compiled.__srcjax_transform__.module_for(values, {}).stays


def product(x):
    return np.prod(np.tanh(x)) + np.sum(np.prod(x, axis=1))


def test_products_of_others_stay_on_the_device(cupy):
    x = np.linspace(0.5, 1.5, 6).reshape(2, 3)
    gradient = srcjax.grad(product)
    compare(on_host(srcjax.jit(gradient)(cupy.asarray(x))), gradient(x))
    compare(on_host(gradient(cupy.asarray(x))), gradient(x))


def test_rows_that_are_folded_into_one_have_kernels_of_their_own(cupy):
    """No loop of the host goes through rows, whatever else their sums are read for."""
    function, make, _ = CASES["grad layer_norm"]
    for dtype in (np.float32, np.float64):
        args = on_device(cupy, make(Inputs(5, dtype)))
        text = srcjax.source(srcjax.jit(function), *args)
        assert " in range(" not in text and "_parts" in text
