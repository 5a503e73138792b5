import numpy as np

__all__ = ["grad_mlp_looped"]


def grad_mlp_looped(params, inputs, targets):
    """Gradient of mlp_looped with respect to params.

    For params: [((n, m), (m,)), ((k, p), (p,)), ((q, r), (r,))], inputs: (s, t),
    targets: (s, r), r != 1.
    """
    if (
        len(params) != 3
        or len(params[0]) != 2
        or params[0][0].ndim != 2
        or params[0][1].shape != params[0][0].shape[1:]
        or len(params[1]) != 2
        or params[1][0].ndim != 2
        or params[1][1].shape != params[1][0].shape[1:]
        or len(params[2]) != 2
        or params[2][0].ndim != 2
        or params[2][0].shape[1] == 1
        or params[2][1].shape != params[2][0].shape[1:]
        or inputs.ndim != 2
        or targets.shape != (len(inputs), params[2][0].shape[1])
    ):
        raise ValueError(grad_mlp_looped.__doc__)
    inputs_tape = []
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs_tape.append(inputs)
        inputs = np.tanh(outputs)
    # return np.mean((outputs - targets) ** 2)
    doutputs = 2 / targets.size * (outputs - targets)
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
