import numpy as np

__all__ = ["grad_layer_norm"]


def grad_layer_norm(x, gain, bias, targets):
    """Gradient of layer_norm with respect to x, gain and bias.

    For x: (n, m), gain: (m,), bias: (m,), targets: (n, m).
    """
    if (
        x.ndim != 2
        or gain.shape != x.shape[1:]
        or bias.shape != x.shape[1:]
        or targets.shape != x.shape
    ):
        raise ValueError(grad_layer_norm.__doc__)
    mean = np.mean(x, axis=1, keepdims=True)
    centred = x - mean
    variance = np.mean(centred**2, axis=1, keepdims=True)
    sqrt_total = np.sqrt(variance + 1e-5)
    scale = 1 / sqrt_total
    normalised = centred * scale
    # y = gain * normalised + bias
    dbias = targets.sum(axis=0)
    dgain = (targets * normalised).sum(axis=0)
    dnormalised = targets * gain
    # normalised = centred * scale
    dcentred = dnormalised * scale
    dscale = (dnormalised * centred).sum(axis=1, keepdims=True)
    # variance = np.mean(centred**2, axis=1, keepdims=True)
    dcentred -= dscale / sqrt_total**2 / sqrt_total / centred.shape[1] * centred
    # centred = x - mean
    dmean = -dcentred.sum(axis=1, keepdims=True)
    return dcentred + dmean / x.shape[1], dgain, dbias
