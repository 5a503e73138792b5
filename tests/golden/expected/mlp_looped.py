import numpy as np

__all__ = ["grad_mlp_looped"]


def grad_mlp_looped(params, inputs, targets):
    inputs_tape = []
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs_tape.append(inputs)
        inputs = np.tanh(outputs)
    difference = outputs - targets
    # return np.mean((outputs - targets) ** 2)
    doutputs = 2 / difference.size * difference
    dparams = [None] * len(params)
    for i in reversed(range(len(params))):
        W, b = params[i]
        inputs = inputs_tape.pop()
        # outputs = np.dot(inputs, W) + b
        db = doutputs.sum(axis=0)
        dW = inputs.T @ doutputs
        # for W, b in params:
        dparams[i] = (dW, db)
        if i > 0:
            # outputs = np.dot(inputs, W) + b
            dinputs = doutputs @ W.T
            # inputs = np.tanh(outputs)
            doutputs = dinputs * (1 - inputs**2)
    return dparams
