import numpy as np

__all__ = ["grad_mlp_unrolled"]


def grad_mlp_unrolled(w1, b1, w2, b2, inputs, targets):
    """Gradient of mlp_unrolled with respect to w1, b1, w2 and b2.

    For w1: (n, m), b1: (m,), w2: (m, k), b2: (k,), inputs: (p, n), targets: (p, k).
    """
    if (
        w1.ndim != 2
        or b1.shape != w1.shape[1:]
        or w2.ndim != 2
        or len(w2) != w1.shape[1]
        or b2.shape != w2.shape[1:]
        or inputs.shape[1:] != w1.shape[:1]
        or targets.shape != (len(inputs), w2.shape[1])
    ):
        raise ValueError(grad_mlp_unrolled.__doc__)
    hidden = np.tanh(inputs @ w1 + b1)
    outputs = hidden @ w2 + b2
    # return np.mean((outputs - targets) ** 2)
    doutputs = 2 / targets.size * (outputs - targets)
    # outputs = hidden @ w2 + b2
    db2 = doutputs.sum(axis=0)
    dhidden = doutputs @ w2.T
    dw2 = hidden.T @ doutputs
    # hidden = np.tanh(inputs @ w1 + b1)
    dtotal = dhidden * (1 - hidden**2)
    db1 = dtotal.sum(axis=0)
    dw1 = inputs.T @ dtotal
    return dw1, db1, dw2, db2
