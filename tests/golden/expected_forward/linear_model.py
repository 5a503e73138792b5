import numpy as np

__all__ = ["jvp_linear_model"]


def jvp_linear_model(params, X, params_dot, X_dot):
    """Value of linear_model, and its derivative along params_dot and X_dot.

    For params: {'w': (n,), 'b': float}, X: (m, n).
    """
    if (
        params.keys() != {"w", "b"}
        or params["w"].ndim != 1
        or np.ndim(params["b"]) != 0
        or X.shape[1:] != params["w"].shape
        or X_dot.shape != X.shape
    ):
        raise ValueError(jvp_linear_model.__doc__)
    return (
        X @ params["w"] + params["b"],
        X_dot @ params["w"] + X @ params_dot["w"] + params_dot["b"],
    )
