__all__ = ["grad_dict_params"]


def grad_dict_params(params, features, targets):
    predictions = features @ params["w"] + params["b"]
    difference = predictions - targets
    # return np.mean((predictions - targets) ** 2)
    dpredictions = 1.0 / (difference**2).size * 2 * difference
    # predictions = features @ params["w"] + params["b"]
    db2 = dpredictions.sum()
    dw2 = features.T @ dpredictions
    return {"w": dw2, "b": db2}
