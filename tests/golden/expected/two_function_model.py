import numpy as np

__all__ = ["grad_two_function_model"]


def predict_forward(params, inputs):
    inputs_tape = []
    for W, b in params:
        outputs = np.dot(inputs, W) + b
        inputs_tape.append(inputs)
        inputs = np.tanh(outputs)
    largest = np.max(outputs, axis=1, keepdims=True)
    shifted = outputs - largest
    exp_shifted = np.exp(shifted)
    sum_exp_shifted = np.sum(exp_shifted, axis=1, keepdims=True)
    log_normaliser = np.log(sum_exp_shifted)
    return shifted - log_normaliser, (params, inputs_tape, exp_shifted, sum_exp_shifted)


def predict_backward(saved, dresult):
    params, inputs_tape, exp_shifted, sum_exp_shifted = saved
    # return shifted - log_normaliser
    dlog_normaliser = -dresult.sum(axis=1, keepdims=True)
    # shifted = outputs - largest
    doutputs = dresult + dlog_normaliser / sum_exp_shifted * exp_shifted
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


def grad_two_function_model(params, inputs, targets):
    """Gradient of two_function_model with respect to params.

    For params: [((n, m), (m,)), ((k, p), (p,)), ((q, r), (r,))], inputs: (s, t),
    targets: (s, r).
    """
    if (
        len(params) != 3
        or any(
            len(item) != 2 or item[0].ndim != 2 or item[1].shape != item[0].shape[1:]
            for item in params
        )
        or inputs.ndim != 2
        or targets.shape != (len(inputs), params[2][0].shape[1])
    ):
        raise ValueError(grad_two_function_model.__doc__)
    log_probabilities, saved = predict_forward(params, inputs)
    # return -np.mean(np.sum(targets * log_probabilities, axis=1))
    dlog_probabilities = -1 / targets.shape[0] * targets
    # log_probabilities = predict(params, inputs)
    return predict_backward(saved, dlog_probabilities)
