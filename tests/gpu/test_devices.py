"""`pmap` on several GPUs, with a CuPy that has none, and an NCCL in NumPy's memory."""

import threading
import types

import numpy as np
import pytest

import srcjax
from srcjax import lax, pmap, vmap
from tests.gpu import fake_cupy

X = np.random.default_rng(0).normal(size=(2, 2, 3))


class Communicator:
    """The device's end of reductions, which wait for all devices."""

    made: list = []  # noqa: RUF012

    def __init__(self, index, all_of_them, barrier):
        self.index, self.all, self.barrier = index, all_of_them, barrier
        self.given = None

    @classmethod
    def initAll(cls, gpus):  # noqa: N802  (CuPy's name)
        found, barrier = [], threading.Barrier(len(gpus))
        found += [cls(k, found, barrier) for k in range(len(gpus))]
        cls.made.append(gpus)
        return found

    def allReduce(self, given, found, count, dtype, op, stream):  # noqa: N802
        self.given = memory(given, count, dtype)
        self.barrier.wait()
        total = op.reduce([each.given for each in self.all])
        self.barrier.wait()
        memory(found, count, dtype)[...] = total


def memory(pointer, count, dtype):
    import ctypes

    size = count * np.dtype(dtype).itemsize
    return np.frombuffer((ctypes.c_char * size).from_address(pointer), dtype)


@pytest.fixture
def cupy(monkeypatch):
    with fake_cupy.installed() as found:
        found.cuda.runtime.getDeviceCount = lambda: 2
        stream = types.SimpleNamespace(ptr=0, synchronize=lambda: None)
        found.cuda.get_current_stream = lambda: stream
        for name in ("stack", "concatenate", "moveaxis", "zeros_like", "empty_like"):
            setattr(found, name, fake_cupy._of_arrays(name))
        monkeypatch.setattr("srcjax.parallel.gpus._COMMUNICATORS", {})
        yield found


@pytest.fixture
def nccl(cupy):
    Communicator.made = []
    cupy.cuda.nccl = types.SimpleNamespace(
        available=True,
        NcclCommunicator=Communicator,
        NCCL_FLOAT64="float64",
        NCCL_INT64="int64",
        NCCL_SUM=np.add,
        NCCL_MAX=np.maximum,
        NCCL_MIN=np.minimum,
    )
    return Communicator


def all_of_them(x):
    return {
        "sums": (lax.psum(x, "i"), lax.psum(2.0, "i")),
        "others": (lax.pmean(x, "i"), lax.pmax(x, "i"), lax.pmin(x, "i")),
        "gathered": (
            lax.all_gather(x, "i"),
            lax.all_gather(x, "i", axis=1, tiled=True),
        ),
        "passed": (lax.psum_scatter(x, "i"), lax.ppermute(x, "i", [(0, 1)])),
        "exchanged": lax.all_to_all(x, "i", 0, 1),
    }


def compare():
    ours = pmap(all_of_them, axis_name="i")(X)
    expected = vmap(all_of_them, axis_name="i")(X)
    for a, b in zip(*map(srcjax.tree.leaves, (ours, expected)), strict=True):
        got = a.get() if hasattr(a, "get") else a
        np.testing.assert_allclose(got, b, rtol=1e-12)
    return ours


def test_arrays_go_from_gpu_to_gpu(cupy):
    assert srcjax.devices() == ["gpu:0", "gpu:1"] and srcjax.device_count() == 2
    assert type(compare()["sums"][0]) is cupy.ndarray


def test_nccl_reduces(nccl):
    compare()
    assert nccl.made == [[0, 1]]


def test_the_cpu_is_there_too(cupy):
    found = pmap(lambda x: lax.psum(x, "i"), "i", backend="cpu", devices=["cpu"])(X[:1])
    assert type(found) is np.ndarray
