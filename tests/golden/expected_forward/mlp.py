import numpy as np

__all__ = ["jvp_mlp"]


def jvp_mlp(X, W, b, w, X_dot, W_dot, b_dot, w_dot):
    """Value of mlp, and its derivative along X_dot, W_dot, b_dot and w_dot.

    For X: (n, m), W: (m, k), b: (k,), w: (k,).
    """
    if (
        X.ndim != 2
        or W.ndim != 2
        or len(W) != X.shape[1]
        or b.shape != W.shape[1:]
        or w.shape != W.shape[1:]
        or X_dot.shape != X.shape
        or W_dot.shape != W.shape
        or b_dot.shape != b.shape
        or w_dot.shape != w.shape
    ):
        raise ValueError("jvp_mlp is for X: (n, m), W: (m, k), b: (k,), w: (k,)")
    hidden = np.tanh(X @ W + b)
    hidden_dot = (X_dot @ W + X @ W_dot + b_dot) * (1 - hidden**2)
    return hidden @ w, hidden_dot @ w + hidden @ w_dot
