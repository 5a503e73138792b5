import numpy as np

__all__ = ["grad_rnn"]


def grad_rnn(w_in, w_hidden, b, sequence):
    """Gradient of rnn with respect to w_in, w_hidden and b.

    For w_in: (n, 4), w_hidden: (4, 4), b: (4,), sequence: (m, n).
    """
    if (
        w_in.shape[1:] != (4,)
        or w_in.dtype.kind != "f"
        or w_hidden.shape != (4, 4)
        or w_hidden.dtype.kind != "f"
        or b.shape != (4,)
        or b.dtype.kind != "f"
        or sequence.shape[1:] != w_in.shape[:1]
    ):
        raise ValueError(grad_rnn.__doc__)
    h = np.zeros(4)
    h_tape = []
    for x in sequence:
        h_tape.append(h)
        h = np.tanh(x @ w_in + h @ w_hidden + b)
    # return h @ h
    dh = 2 * h
    db = np.zeros_like(b)
    dw_hidden = np.zeros_like(w_hidden)
    dw_in = np.zeros_like(w_in)
    for x in reversed(sequence):
        # h = np.tanh(x @ w_in + h @ w_hidden + b)
        dtotal = dh * (1 - h**2)
        h = h_tape.pop()
        db += dtotal
        dh = w_hidden @ dtotal
        dw_hidden += np.outer(h, dtotal)
        dw_in += np.outer(x, dtotal)
    return dw_in, dw_hidden, db
