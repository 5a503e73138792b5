import numpy as np

__all__ = ["jvp_mlp"]


def jvp_mlp(X, W, b, w, X_dot, W_dot, b_dot, w_dot):
    hidden = np.tanh(X @ W + b)
    hidden_dot = (X_dot @ W + X @ W_dot + b_dot) * (1 - hidden**2)
    return hidden @ w, hidden_dot @ w + hidden @ w_dot
