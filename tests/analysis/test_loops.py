"""How often inference executes the bodies of loops."""

import numpy as np

import srcjax
from srcjax.analysis.infer import Interpreter


def product(A, B):
    C = np.zeros((12, 12))
    for i in range(12):
        for j in range(12):
            for k in range(12):
                C[i, j] += A[i, k] * B[k, j]
    return np.sum(C)


def layers(params, x):
    for W, b in params:
        for shift in (0.5, -0.5):
            x = np.tanh(x @ W + b + shift)
        x = x @ W.T[:, : W.shape[0] // 2]
    return np.sum(x)


def test_counting_loops_in_each_other_are_not_taken_item_by_item(monkeypatch):
    seen = []
    iterate = Interpreter.iterate

    def counted(self, stmt, item, env):
        if type(self) is Interpreter:  # not of what is written
            seen.append(stmt)
        return iterate(self, stmt, item, env)

    monkeypatch.setattr(Interpreter, "iterate", counted)
    A, B = np.ones((12, 12)), np.full((12, 12), 2.0)
    dA = srcjax.grad(product)(A, B)
    np.testing.assert_allclose(dA, np.full((12, 12), 24.0))
    assert len(seen) < 12**3


def test_layers_of_different_sizes_keep_their_types():
    params = [(np.eye(n), np.zeros(n)) for n in (8, 4, 2)]
    text = srcjax.source(srcjax.grad(layers), params, np.ones((3, 8)))
    assert "srcjax" not in text
