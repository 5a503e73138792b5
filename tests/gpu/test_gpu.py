"""The same on a real device: `pytest -m gpu`."""

import copy

import numpy as np
import pytest

import srcjax
from tests.gpu.cases import CASES
from tests.gpu.test_cuda import SIZES, called, compare, given, on_host

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.fixture
def cupy():
    found = pytest.importorskip("cupy")
    if srcjax.devices()[0].platform == "cpu":
        pytest.skip("there is no GPU")
    return found


@pytest.mark.parametrize("name", CASES)
def test_values(cupy, name):
    function, _, dtypes = CASES[name]
    compiled = srcjax.jit(function)
    for n in (*SIZES, 100_003):
        if n > 1025 and name in ("triangle", "gauss_seidel"):
            continue
        for dtype in dtypes:
            args = given(name, n, dtype)
            wanted, left, error = called(function, args)
            values = srcjax.device_put(tuple(copy.deepcopy(args)))
            if error is not None:
                with pytest.raises(type(error)):
                    compiled(*values)
                continue
            compare(on_host(compiled(*values)), wanted, dtype)
            for value, one in zip(values, left, strict=True):
                if isinstance(one, np.ndarray):
                    np.testing.assert_allclose(value.get(), one, rtol=1e-5)


@pytest.mark.parametrize("name", ["chain", "softmax", "largest", "columns"])
def test_strides(cupy, name):
    function = CASES[name][0]
    args = given(name, 1025)
    compiled = srcjax.jit(function)
    wide = cupy.asarray(np.repeat(args[0], 2, axis=-1))
    others = [cupy.asarray(a) for a in args[1:]]
    turned = cupy.asarray(np.ascontiguousarray(args[0][..., ::-1]))[..., ::-1]
    row = cupy.broadcast_to(cupy.asarray(args[0][0]), args[0].shape)
    for x in (wide[..., ::2], turned, cupy.asfortranarray(cupy.asarray(args[0])), row):
        compare(on_host(compiled(x, *others)), function(x.get(), *args[1:]))


def test_indices_of_64_bits(cupy, monkeypatch):
    from srcjax.backends.cuda import run

    monkeypatch.setattr(run, "LARGE", 10)
    args = given("chain", 1025)
    function = CASES["chain"][0]
    got = srcjax.jit(function)(*srcjax.device_put(tuple(args)))
    compare(on_host(got), function(*args))
