"""Where `device_put` puts arrays that are not said to go somewhere."""

import threading

import numpy as np
import pytest

import srcjax
from srcjax.api import devices
from srcjax.errors import ArgumentError


def test_device_put_goes_to_the_default(monkeypatch):
    class There(np.ndarray):
        """An array of a GPU that is not there."""

    class Cupy:
        @staticmethod
        def asarray(x):
            return np.asarray(x).view(There)

    monkeypatch.setattr(devices, "gpu_count", lambda: 1)
    monkeypatch.setattr(devices.cuda_run, "the_cupy", lambda: Cupy)
    x = np.ones(3)
    assert type(srcjax.device_put(x)) is There
    with srcjax.default_device("cpu"):
        assert type(srcjax.device_put(x)) is srcjax.Array
        assert type(srcjax.device_put(x, "gpu")) is There
        with srcjax.default_device("gpu"):
            assert type(srcjax.device_put(x)) is There
        with srcjax.default_device(None):
            assert type(srcjax.device_put(x)) is There
        found = []
        thread = threading.Thread(target=lambda: found.append(srcjax.device_put(x)))
        thread.start()
        thread.join()
        assert type(found[0]) is There  # it holds in one thread
        assert type(srcjax.device_put(x)) is srcjax.Array
    assert type(srcjax.device_put(x)) is There


def test_devices_of_jax_programs():
    with srcjax.default_device(srcjax.devices("cpu")[0]):
        assert type(srcjax.device_put(np.ones(2))) is srcjax.Array
    no_tpu = pytest.raises(ArgumentError, match="no device 'tpu'")
    with no_tpu, srcjax.default_device("tpu"):
        pass
