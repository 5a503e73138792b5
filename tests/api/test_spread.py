"""`pmap` on devices of the CPU, beside `vmap` and plain NumPy."""

import os
import threading
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import srcjax
from srcjax import grad, jit, lax, pmap, value_and_grad, vmap
from srcjax.errors import ArgumentError, DeviceError

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

X = np.random.default_rng(0).normal(size=(4, 4, 3))
TILED = np.random.default_rng(1).normal(size=(4, 8, 4))


@pytest.fixture(autouse=True)
def four_devices(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=4")


def same(ours, theirs):
    """Whether the leaves of two results are equal in shape and value."""
    one, two = srcjax.tree.leaves(ours), srcjax.tree.leaves(theirs)
    assert [np.shape(a) for a in one] == [np.shape(b) for b in two]
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


RING = [(0, 1), (1, 2), (2, 3), (3, 0)]

COLLECTIVES = {
    "psum": lambda x: lax.psum(x, "i"),
    "psum of a number": lambda x: x * lax.psum(2, "i"),
    "psum of truth": lambda x: lax.psum(x > 0, "i"),
    "pmean": lambda x: lax.pmean(x, "i"),
    "pmean of whole numbers": lambda x: lax.pmean((9 * x).astype(int), "i"),
    "pmax": lambda x: lax.pmax(x, "i"),
    "pmin": lambda x: lax.pmin(x, "i"),
    "all_gather": lambda x: lax.all_gather(x, "i"),
    "all_gather at": lambda x: lax.all_gather(x, "i", axis=1),
    "all_gather tiled": lambda x: lax.all_gather(x, "i", axis=1, tiled=True),
    "psum_scatter": lambda x: lax.psum_scatter(x, "i"),
    "psum_scatter tiled": lambda x: lax.psum_scatter(
        x, "i", scatter_dimension=0, tiled=True
    ),
    "ppermute": lambda x: lax.ppermute(x, "i", RING),
    "ppermute of some": lambda x: lax.ppermute(x, "i", [(0, 3), (3, 1)]),
    "pshuffle": lambda x: lax.pshuffle(x, "i", [2, 3, 1, 0]),
    "all_to_all": lambda x: lax.all_to_all(x, "i", 0, 0),
    "all_to_all at": lambda x: lax.all_to_all(x, "i", 0, 1),
    "pswapaxes": lambda x: lax.pswapaxes(x, "i", 0),
    "axis_index": lambda x: x * lax.axis_index("i"),
    "axis_size": lambda x: x / lax.axis_size("i"),
    "containers": lambda x: lax.psum({"a": x, "b": (x * x, None)}, "i"),
}


@pytest.mark.parametrize("name", COLLECTIVES)
def test_a_collective_is_that_of_vmap(name):
    f = COLLECTIVES[name]
    same(pmap(f, axis_name="i")(X), vmap(f, axis_name="i")(X))


def test_what_is_donated_stays_as_it_is():
    given = X.copy()
    f = pmap(lambda x, y: x * lax.psum(y, "i"), axis_name="i", donate_argnums=(0, 1))
    same(f(given, given), X * X.sum(0))
    np.testing.assert_array_equal(given, X)


#: Of which JAX has no gradient, or a wrong one; for the others `tests/devices` has it.
HERE_ALONE = ("pmax", "pmin", "all_to_all at")


@pytest.mark.parametrize("name", HERE_ALONE)
def test_gradients_inside_are_those_of_vmap(name):
    f = COLLECTIVES[name]

    def g(x):
        return np.sum(np.sin(f(x * x)) * x[0, 0])

    same(pmap(grad(g), axis_name="i")(X), vmap(grad(g), axis_name="i")(X))


def test_gradients_where_devices_take_branches():
    def f(x):
        s = lax.psum(x * x, "i")
        total = 0.0
        for _ in range(3):
            if x > 1.0:  # on some of the devices nothing is added to the adjoint of s
                total = total + s * x
        return total

    x = np.arange(4.0)
    same(pmap(grad(f), axis_name="i")(x), vmap(grad(f), axis_name="i")(x))
    single = pmap(grad(f), axis_name="i")(x.astype(np.float32))
    assert single.dtype == np.float32
    same(single, vmap(grad(f), axis_name="i")(x))


@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 0)])
def test_all_to_all_in_parts(axes):
    def f(x):
        return lax.all_to_all(x, "i", *axes, tiled=True)

    def g(x):
        return np.sum(np.sin(f(x)) * x[0, 0])

    parts = np.split(TILED, 4, axis=axes[0] + 1)
    expected = [np.concatenate(list(p), axis=axes[1]) for p in parts]
    same(pmap(f, axis_name="i")(TILED), np.stack(expected))
    same(vmap(f, axis_name="i")(TILED), np.stack(expected))
    same(pmap(grad(g), axis_name="i")(TILED), vmap(grad(g), axis_name="i")(TILED))


def predict(params, x):
    for W, b in params[:-1]:
        x = np.tanh(x @ W + b)
    W, b = params[-1]
    return x @ W + b


def loss(params, x, y):
    return np.mean((predict(params, x) - y) ** 2)


@partial(pmap, axis_name="devices", in_axes=(None, 0, 0), out_axes=(None, 0))
def step(params, x, y):
    """One step of gradient descent."""
    value, grads = value_and_grad(loss)(params, x, y)
    grads = lax.pmean(grads, "devices")
    return srcjax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def problem():
    rng = np.random.default_rng(0)
    sizes = [(4, 5), (5, 3)]
    params = [(rng.normal(size=s), np.zeros(s[1])) for s in sizes]
    return params, rng.normal(size=(4, 8, 4)), rng.normal(size=(4, 8, 3))


def test_a_data_parallel_step_is_that_of_one_device():
    params, x, y = problem()
    new, values = step(params, x, y)
    grads = grad(loss)(params, x.reshape(32, 4), y.reshape(32, 3))
    same(new, srcjax.tree.map(lambda p, g: p - 0.1 * g, params, grads))
    same(values, np.stack([loss(params, *both) for both in zip(x, y, strict=True)]))


def slope(w, x, y):
    """The mean over all devices of a gradient on each."""
    return lax.pmean(grad(lambda w: np.mean((np.tanh(x @ w) - y) ** 2))(w), "devices")


SLOPE_TEXT = """\
    tanh_xw = np.tanh(x @ w)
    return lax.pmean(x.T @ (2 / y.size * (tanh_xw - y) * (1 - tanh_xw**2)), "devices")
"""


def test_source_is_the_program_of_one_device():
    _, x, y = problem()
    spread = pmap(slope, axis_name="devices", in_axes=(None, 0, 0))
    text = str(srcjax.source(spread, np.ones((4, 3)), x, y))
    assert "from srcjax import lax" in text
    assert "What slope does on each device of the axis 'devices'." in text
    assert SLOPE_TEXT in text
    assert text.count("lax.pmean(") == 1
    assert "plain" in srcjax.stages(spread, np.ones((4, 3)), x, y)


def test_compiled_and_transformed_programs():
    def f(x):
        return np.sum(np.sin(x) * lax.pmean(x, "i"))

    same(pmap(grad(f), axis_name="i")(X), vmap(grad(f), axis_name="i")(X))
    inner = vmap(lambda x: x - lax.psum(x, ("i", "j")), axis_name="j")
    same(pmap(inner, axis_name="i")(X), X - X.sum(axis=(0, 1)))


@dataclass
class Pair:
    first: np.ndarray
    second: np.ndarray


def test_containers_and_axes():
    def f(p, w, more, *, scale):
        return Pair(p.first * w + more["a"], p.second[0]), {"w": w, "s": scale}

    p = Pair(X, X.transpose(0, 2, 1))
    more = {"a": X.transpose(1, 0, 2), "b": "text"}
    axes = (0, None, {"a": 1, "b": None})
    f = pmap(f, in_axes=axes, out_axes=(1, {"w": None, "s": 0}))
    found, rest = f(p, 2.0, more, scale=np.arange(4.0))
    same(found.first, np.moveaxis(3.0 * X, 0, 1))
    same(found.second, p.second[:, 0].T)
    same(rest, {"w": 2.0, "s": np.arange(4.0)})


def test_static_arguments():
    def f(x, how, n):
        return how(x) * n

    spread = pmap(f, in_axes=(0, None, None), static_broadcasted_argnums=(1, 2))
    same(spread(X, np.sin, 3), np.sin(X) * 3)
    same(spread(X, np.cos, 3), np.cos(X) * 3)
    with pytest.raises(ArgumentError, match="static argument `n` has no hash"):
        spread(X, np.cos, X)


def test_static_arguments_of_what_is_compiled():
    f = jit(lambda x, n: x[:n] * lax.axis_index("i"), static_argnums=1)
    found = pmap(f, axis_name="i", in_axes=(0, None))(X, 2)
    same(found, X[:, :2] * np.arange(4)[:, None, None])


def test_what_a_device_writes_to_is_its_own():
    def f(w, x):
        w[...] = w + lax.psum(x, "i")
        return w * 1.0

    w = np.ones(3)
    found = pmap(f, axis_name="i", in_axes=(None, 0))(w, X[:, 0])
    same(found, np.stack([1 + X[:, 0].sum(axis=0)] * 4))
    same(w, np.ones(3))


def test_devices_are_threads():
    def f(x):
        return x + THREADS.add(threading.get_ident())

    THREADS.names.clear()
    same(pmap(f)(np.arange(3.0)), np.arange(3.0))
    assert len(THREADS.names) == 3


def test_devices_share_the_cores():
    threadpoolctl = pytest.importorskip("threadpoolctl")
    blas = threadpoolctl.ThreadpoolController().select(user_api="blas")

    def threads():
        return max([0, *(each["num_threads"] for each in blas.info())])

    def f(x):
        COUNTS.append(threads())
        return x

    COUNTS.clear()
    before = threads()
    pmap(f)(np.arange(4.0))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    assert max(COUNTS) <= max(cores // 4, 1)
    assert threads() == before


COUNTS = []


class Names:
    def __init__(self):
        self.names = set()

    def add(self, name):
        self.names.add(name)
        return 0.0


THREADS = Names()


# -- derivatives of it -----------------------------------------------------------------

ROWS, W = X[:, 0], np.random.default_rng(2).normal(size=(3, 3))


def layer(x, w):
    h = np.tanh(x @ w)
    return h * lax.psum(np.sum(h), "i") + lax.pmax(h, "i"), lax.pmean(h * x, "i")


def of(way):
    """A function of numbers that calls `pmap`, or `vmap`."""
    spread = way(layer, axis_name="i", in_axes=(0, None), out_axes=(0, None))

    def total(x, w):
        a, b = spread(x * 2.0, w)
        return np.sum(np.sin(a)) + np.sum(b**2)

    return spread, total


def of_rows(way):
    spread = way(lambda x: layer(x, W)[0], axis_name="i")
    return lambda x: np.sum(np.sin(spread(x * 2.0)))


def around(way):
    """The same with a function defined inside."""

    def total(w, x):
        def h(row, k):
            return np.sum(np.sin(row @ w)) * k + lax.axis_size("i")

        return np.sum(way(h, axis_name="i")(x, np.arange(4)) ** 2)

    return total


DERIVATIVES = {
    "grad": lambda way: grad(of(way)[1], argnums=(0, 1))(ROWS, W),
    "jvp": lambda way: srcjax.jvp(of(way)[1], (ROWS, W), (W[[0, 1, 2, 0]], W)),
    "vjp": lambda way: srcjax.vjp(of(way)[0], ROWS, W)[1]((ROWS, ROWS[0])),
    "jacrev": lambda way: srcjax.jacrev(lambda x: of(way)[0](x, W)[0])(ROWS),
    "vmap": lambda way: vmap(grad(of_rows(way)))(np.stack([ROWS, W[[2] * 4]])),
    "of a closure": lambda way: grad(around(way))(W, ROWS),
    "along a closure": lambda way: srcjax.jvp(around(way), (W, ROWS), (W, ROWS)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_are_those_of_vmap(name):
    same(DERIVATIVES[name](pmap), DERIVATIVES[name](vmap))


def test_the_text_of_a_pullback():
    text = str(srcjax.source(grad(of(pmap)[1]), ROWS, W))
    assert "saved = pmap_layer_fwd(two_x, w)" in text
    assert "pmap_layer_bwd(saved, (" in text


# -- what goes wrong -------------------------------------------------------------------


def fails(x):
    if lax.axis_index("i") == 2:
        raise ValueError("no number")
    return lax.psum(lax.psum(x, "i"), "i")


def ends(x):
    return x if lax.axis_index("i") == 2 else lax.psum(x, "i")


def differs(x):
    return lax.pmax(x, "i") if lax.axis_index("i") == 2 else lax.psum(x, "i")


def of_another_shape(x):
    return lax.psum(x[: 1 + lax.axis_index("i")], "i")


def test_an_error_on_one_device_stops_the_others():
    with pytest.raises(ValueError, match="no number") as caught:
        pmap(fails, axis_name="i")(X)
    assert "on device 2 of the axis 'i' of a pmap" in caught.value.__notes__
    same(pmap(COLLECTIVES["psum"], axis_name="i")(X), np.stack([X.sum(axis=0)] * 4))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (ends, "device 2 came to the end of its program while device"),
        (differs, r"device 0 is in psum over 'i'.*, and device 2 in pmax over 'i'"),
        (of_another_shape, r"psum over 'i', float64\[1x3\], and device 1 in psum"),
    ],
)
def test_devices_that_do_not_meet_are_told(f, message):
    with pytest.raises(DeviceError, match=message):
        pmap(f, axis_name="i")(X)


SCALED = pmap(lambda x, k=2.0: x * k)


def test_defaults_are_those_of_each_device():
    same(SCALED(X), 2.0 * X)

    def total(x):
        def scaled(x, k=2.0):
            return x * k

        return np.sum(pmap(scaled)(x))

    same(grad(total)(X), np.full(X.shape, 2.0))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pmap(np.sin)(np.ones(5)), "axis has the size 5, and there are 4 dev"),
        (
            lambda: pmap(lambda x, y: x)(X, X[:3]),
            "`y` of shape .* has 3 examples along axis 0, and `x` of shape",
        ),
        (lambda: pmap(lambda x: x)(2.0), r"`x` is a number \(2.0, shape \(\)\)"),
        (lambda: pmap(lambda x: x, in_axes=(0, 0))(X), "in_axes has 2 entries"),
        (lambda: pmap(lambda x: x, in_axes="a"), "in_axes must be an int or None"),
        (lambda: pmap(lambda x: "text")(X), "the result holds a str"),
        (lambda: pmap(lambda x: x, out_axes=5)(X), "out_axes is 5 for results"),
        (lambda: pmap(lambda x: lax.psum(x, "j"), "i")(X), "no axis of the name 'j'"),
        (lambda: pmap(lambda x: lax.psum(x, "i"))(X), "no axis of the name 'i'"),
        (lambda: lax.psum(X, "i"), "no axis of the name 'i' here; names in scope: no"),
        (
            lambda: pmap(lambda x: lax.ppermute(x, "i", [(0, 1), (2, 1)]), "i")(X),
            "are no pairs of devices",
        ),
        (
            lambda: pmap(lambda x: lax.psum_scatter(x, "i"), "i")(X[:3]),
            r"axis 0 of a value of shape \(4, 3\) is cut into parts for 3 devices",
        ),
        (
            lambda: pmap(lambda x: pmap(lambda y: y)(x))(X),
            "is called in the program of another pmap",
        ),
        (
            lambda: grad(lambda x: SCALED(x).sum())(X),
            "is differentiated, and `k` has a default",
        ),
        (lambda: pmap(lambda x: x, devices=["cpu:7"])(X), "no device 'cpu:7'"),
        (lambda: pmap(lambda x: x, backend="tpu"), "there is no backend 'tpu'"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


# -- devices ---------------------------------------------------------------------------


def test_devices(monkeypatch):
    assert srcjax.devices() == ["cpu:0", "cpu:1", "cpu:2", "cpu:3"]
    assert srcjax.device_count() == srcjax.local_device_count() == 4
    assert [d.id for d in srcjax.local_devices()] == [0, 1, 2, 3]
    assert {d.platform for d in srcjax.devices()} == {"cpu"}
    assert (srcjax.process_index(), srcjax.process_count()) == (0, 1)
    monkeypatch.setattr("srcjax.parallel.counting.Setting.cpu_devices", None)
    srcjax.config.update("jax_num_cpu_devices", 2)
    assert srcjax.device_count() == 2
    with pytest.raises(ArgumentError, match="must be a number from 1 on, not 0"):
        srcjax.config.update("jax_num_cpu_devices", 0)
    with pytest.raises(ArgumentError, match="there is no setting 'jax_nothing'"):
        srcjax.config.update("jax_nothing", True)
    srcjax.distributed.initialize()
    same(pmap(lambda x: x, devices=srcjax.devices()[:1])(X[:1]), X[:1])
