import numpy as np

__all__ = ["grad_attention"]


def grad_attention(queries, keys, values, targets):
    sqrt = np.sqrt(queries.shape[1])
    scores = queries @ keys.T / sqrt
    max_scores = np.max(scores, axis=1, keepdims=True)
    exponentials = np.exp(scores - max_scores)
    sum_value = np.sum(exponentials, axis=1, keepdims=True)
    weights = exponentials / sum_value
    # mixed = weights @ values
    dweights = targets @ values.T
    dvalues = weights.T @ targets
    # weights = exponentials / np.sum(exponentials, axis=1, keepdims=True)
    dexponentials = dweights / sum_value + (
        -dweights * exponentials / sum_value**2
    ).sum(axis=1, keepdims=True)
    # exponentials = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    ddifference = dexponentials * exponentials
    # scores = queries @ keys.T / np.sqrt(queries.shape[1])
    dproduct = (
        ddifference
        - ddifference.sum(axis=1, keepdims=True)
        * (scores == max_scores)
        / np.sum(scores == max_scores, axis=1, keepdims=True)
    ) / sqrt
    dqueries = dproduct @ keys
    dkeys = dproduct.T @ queries
    return dqueries, dkeys, dvalues
