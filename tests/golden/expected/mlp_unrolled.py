import numpy as np

__all__ = ["grad_mlp_unrolled"]


def grad_mlp_unrolled(w1, b1, w2, b2, inputs, targets):
    hidden = np.tanh(inputs @ w1 + b1)
    outputs = hidden @ w2 + b2
    difference = outputs - targets
    # return np.mean((outputs - targets) ** 2)
    doutputs = 2 / difference.size * difference
    # outputs = hidden @ w2 + b2
    db2 = doutputs.sum(axis=0)
    dhidden = doutputs @ w2.T
    dw2 = hidden.T @ doutputs
    # hidden = np.tanh(inputs @ w1 + b1)
    dtotal = dhidden * (1 - hidden**2)
    db1 = dtotal.sum(axis=0)
    dw1 = inputs.T @ dtotal
    return dw1, db1, dw2, db2
