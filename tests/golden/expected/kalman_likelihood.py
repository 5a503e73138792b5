import numpy as np

__all__ = ["grad_kalman_likelihood"]


def grad_kalman_likelihood(noise, data):
    """Gradient of kalman_likelihood with respect to noise.

    For noise: float, data: (n,).
    """
    if np.ndim(noise) != 0 or data.ndim != 1:
        raise ValueError("grad_kalman_likelihood is for noise: float, data: (n,)")
    x, p = 0.0, 1.0
    tape = []
    for z in data:
        p2 = p + noise
        s = p2 + 0.5
        gain = p2 / s
        r = z - x
        x = x + gain * r
        p = (1 - gain) * p2
        tape.append((p2, r))
    dx = 0.0
    dp = 0.0
    dnoise = 0.0
    for p2, r in reversed(tape):
        s = p2 + 0.5
        gain = p2 / s
        # p = (1 - gain) * p
        dgain = -dp * p2
        # x = x + gain * r
        dgain += dx * r
        # total -= 0.5 * (np.log(s) + r * r / s)
        dr = dx * gain - r / s
        # r = z - x
        dx -= dr
        # gain = p / s
        ds = -0.5 / s + 0.5 * r * r / s**2 - dgain * gain / s
        # s = p + 0.5
        dp = dp * (1 - gain) + dgain / s + ds
        # p = p + noise
        dnoise += dp
    return dnoise
