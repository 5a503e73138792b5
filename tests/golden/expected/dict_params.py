__all__ = ["grad_dict_params"]


def grad_dict_params(params, features, targets):
    predictions = features @ params["w"] + params["b"]
    difference = predictions - targets
    # return np.mean((predictions - targets) ** 2)
    dpredictions = 2 / difference.size * difference
    return {"w": features.T @ dpredictions, "b": dpredictions.sum()}
