"""Text for arguments of all kinds asks for shapes where they need no name."""

import numpy as np
import pytest

import srcjax
import srcjax.runtime


def entropy(p, y):
    return -np.sum(y * np.log(p) + (1 - y) * np.log(1 - p))


def halves(z, y):
    return np.sum(y - 0.5 * z**2)


def twice(z, y):
    return np.sum(y - 2 * z)


@pytest.mark.parametrize("f", [entropy, halves, twice])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1), (2, 3)])
def test_broadcast(f, shape):
    rng = np.random.default_rng(6)
    z, y = rng.uniform(0.2, 0.8, shape), rng.uniform(0.2, 0.8, (2, 3))
    df = srcjax.grad(f)
    found = df(z if shape else float(z), y)
    assert np.shape(found) == shape
    own = df(np.broadcast_to(z, (2, 3)).copy(), y)
    np.testing.assert_allclose(found, srcjax.runtime.unbroadcast(own, z))


def test_names():
    text = str(srcjax.source(srcjax.grad(entropy), general=True))
    assert "log_p" not in text
    assert "unbroadcast(" in text
    text = str(srcjax.source(srcjax.grad(halves), general=True))
    assert "half_" not in text


def test_the_general_text():
    rng = np.random.default_rng(7)
    p, y = rng.uniform(0.2, 0.8, 3), rng.uniform(0.2, 0.8, (2, 3))
    space = {}
    exec(str(srcjax.source(srcjax.grad(entropy), general=True)), space)
    np.testing.assert_allclose(
        space["grad_entropy"](p, y), np.sum((1 - y) / (1 - p) - y / p, axis=0)
    )
    np.testing.assert_allclose(
        space["grad_entropy"](0.4, y), np.sum((1 - y) / 0.6 - y / 0.4)
    )
