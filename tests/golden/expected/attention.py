import numpy as np

__all__ = ["grad_attention"]


def grad_attention(queries, keys, values, targets):
    """Gradient of attention with respect to queries, keys and values.

    For queries: (n, m), keys: (k, m), values: (k, p), targets: (n, p).
    """
    if (
        queries.ndim != 2
        or keys.shape[1:] != queries.shape[1:]
        or values.ndim != 2
        or len(values) != len(keys)
        or targets.shape != (len(queries), values.shape[1])
    ):
        raise ValueError(grad_attention.__doc__)
    sqrt_size = np.sqrt(queries.shape[1])
    scores = queries @ keys.T / sqrt_size
    exponentials = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    weights = exponentials / np.sum(exponentials, axis=1, keepdims=True)
    # mixed = weights @ values
    dweights = targets @ values.T
    dvalues = weights.T @ targets
    # scores = queries @ keys.T / np.sqrt(queries.shape[1])
    dproduct = (
        weights
        * (dweights - np.sum(dweights * weights, axis=1, keepdims=True))
        / sqrt_size
    )
    dqueries = dproduct @ keys
    dkeys = dproduct.T @ queries
    return dqueries, dkeys, dvalues
