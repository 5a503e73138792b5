import numpy as np

__all__ = ["grad_attention"]


def grad_attention(queries, keys, values, targets):
    sqrt = np.sqrt(queries.shape[1])
    scores = queries @ keys.T / sqrt
    exponentials = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = exponentials / np.sum(exponentials, axis=1, keepdims=True)
    # mixed = weights @ values
    dweights = targets @ values.T
    dvalues = weights.T @ targets
    # scores = queries @ keys.T / np.sqrt(queries.shape[1])
    dproduct = (
        weights * (dweights - np.sum(dweights * weights, axis=1, keepdims=True)) / sqrt
    )
    dqueries = dproduct @ keys
    dkeys = dproduct.T @ queries
    return dqueries, dkeys, dvalues
