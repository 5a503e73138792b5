"""The examples: they learn, at their small size, and their gradients are right."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from srcjax import random, tree
from srcjax.testing import check_grads

EXAMPLES = Path(__file__).parents[2] / "examples"
#: These are few, and nothing else starts them: they are run whatever is left out.
ALWAYS = True
RNG = np.random.default_rng(0)


def example(name):
    """The module of an example, which is no part of a package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wide(params):
    """The parameters in float64, for differences, and moved off zero."""
    return tree.map(lambda x: x + 0.1 * RNG.normal(size=np.shape(x)), params)


def of_mlp(m):
    (images, labels), _ = m.load_data()
    params = wide(m.init_params(random.key(0), (64, 5, 10)))
    return m.loss, (params,), (images[:6].astype(float), labels[:6])


def of_char_gru(m):
    params = wide(m.init_params(random.key(0), 7, 4))
    return m.loss, (params,), (RNG.integers(0, 7, (3, 5)),)


def of_conv_net(m):
    (images, labels), _ = m.load_data()
    params, state = wide(m.init_params(random.key(0))), wide(m.init_state())
    given = state, images[:4].astype(float), labels[:4], random.key(1)
    return lambda *args: m.loss(*args)[0], (params,), given


def of_transformer(m):
    params = wide(m.init_params(random.key(0), 6, 8))
    return m.loss, (params,), (m.draw(random.key(1), 3, 3),)


def of_gaussian_process(m):
    return m.loss, (np.array([-0.2, 0.1, -1.0]),), m.draw(random.key(0), 8)


def of_kalman_filter(m):
    params = {"frequency": 0.4, "damping": -2.0, "pushes": -1.0, "noise": -1.0}
    return m.loss, (params,), (RNG.normal(size=9),)


def of_heat(m):
    return m.loss, (RNG.random((6, 7)), RNG.random((6, 7))), (4,)


def of_variational(m):
    params = wide({"mean": np.zeros(3), "root": np.zeros((3, 3))})
    return m.loss, (params,), (random.key(0), *m.measure(random.key(1), 5))


GRADIENTS = [
    of_mlp,
    of_char_gru,
    of_conv_net,
    of_transformer,
    of_gaussian_process,
    of_kalman_filter,
    of_heat,
    of_variational,
]


def test_each_example_is_run():
    here = {case.__name__[3:] for case in GRADIENTS}
    of_devices = {"data_parallel"}  # see `sweep_devices`
    assert {path.stem for path in EXAMPLES.glob("*.py")} == here | of_devices


@pytest.mark.parametrize("case", GRADIENTS, ids=lambda c: c.__name__[3:])
def test_first_gradient(case):
    loss, args, given = case(example(case.__name__[3:]))
    # A shorter step between the kinks of many maxima.
    near = {"eps": 1e-6, "rtol": 1e-4, "atol": 1e-6} if case is of_conv_net else {}
    check_grads(lambda *args: loss(*args, *given), args, **near)


#: By which part of it the loss has to fall, at least.
FALLS = {
    "mlp": 0.4,
    "char_gru": 0.1,
    "transformer": 0.3,
    "gaussian_process": 0.3,
    "kalman_filter": 0.1,
    "heat": 0.9,
    "variational": 0.3,
}


@pytest.mark.parametrize("name", FALLS)
def test_it_learns(name, capsys):
    losses = [np.ravel(each)[0] for each in example(name).main(["--small"])]
    assert losses[-1] < (1 - FALLS[name]) * losses[0]
    assert capsys.readouterr().out


def test_the_conv_net_is_better_than_chance():
    [(value, accuracy)] = example("conv_net").main(["--small"])
    assert value < 3 and accuracy > 0.3


@pytest.mark.parametrize("name", [c.__name__[3:] for c in GRADIENTS])
def test_plots(name, tmp_path):
    pytest.importorskip("matplotlib").use("Agg")
    path = tmp_path / "picture.png"
    example(name).main(["--small", "--plot", str(path)])
    assert path.read_bytes().startswith(b"\x89PNG")
