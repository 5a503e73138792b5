"""The demo, as it is run by `srcjax demo`."""

import re
import sys

import numpy as np

import srcjax
from srcjax import demo


def test_demo(capsys):
    assert demo.main() == 0
    out, err = capsys.readouterr()
    assert "def predict(params, inputs):" in out
    assert "# inputs = np.tanh(outputs)" in out
    assert "def value_and_grad_loss(" in out
    error = float(re.search(r"finite differences: (\S+)", out)[1])
    assert error < 1e-6
    accuracy = float(re.search(r"held-out digits: ([\d.]+)%", out)[1])
    assert accuracy >= 95
    assert re.search(r"to the first gradient: \d+ ms", out)
    assert re.search(r"\d+ us as it is, \d+ us compiled", out)
    assert f"{demo.EPOCHS}/{demo.EPOCHS}" in err  # the progress bar


def test_says_what_is_missing(capsys, monkeypatch):
    monkeypatch.setattr(demo, "missing", lambda: ["scikit-learn", "tqdm"])
    assert demo.main() == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "pip install 'srcjax[demo]'" in err and "scikit-learn and tqdm" in err


def test_missing(monkeypatch):
    assert demo.missing() == []
    monkeypatch.setitem(sys.modules, "tqdm", None)
    assert demo.missing() == ["tqdm"]


def test_training_is_compiled():
    params = demo.init_params((4, 3, 2), np.random.default_rng(0))
    args = params, np.ones((5, 4)), np.eye(2)[[0, 1, 0, 1, 1]]
    compiled, _ = demo.faster(srcjax.value_and_grad(demo.loss), args, count=1)
    assert srcjax.explain(compiled, *args).endswith(": compiled")
