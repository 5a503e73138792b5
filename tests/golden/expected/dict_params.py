import numpy as np

__all__ = ["grad_dict_params"]


def grad_dict_params(params, features, targets):
    """Gradient of dict_params with respect to params.

    For params: {'w': (n,), 'b': float}, features: (m, n), targets: (m,).
    """
    if (
        params.keys() != {"w", "b"}
        or params["w"].ndim != 1
        or np.ndim(params["b"]) != 0
        or features.shape[1:] != params["w"].shape
        or targets.shape != features.shape[:1]
    ):
        raise ValueError(grad_dict_params.__doc__)
    predictions = features @ params["w"] + params["b"]
    # return np.mean((predictions - targets) ** 2)
    dpredictions = 2 / len(targets) * (predictions - targets)
    return {"w": features.T @ dpredictions, "b": dpredictions.sum()}
