import math

__all__ = ["grad_damped_wave"]


def grad_damped_wave(t, frequency, damping):
    """Gradient of damped_wave with respect to t, frequency and damping."""
    envelope = math.exp(-damping * t)
    phase = frequency * t
    # return envelope * math.cos(phase)
    denvelope = math.cos(phase)
    dphase = -envelope * math.sin(phase)
    # phase = frequency * t
    dfrequency = dphase * t
    # envelope = math.exp(-damping * t)
    dt = dphase * frequency - denvelope * envelope * damping
    ddamping = -denvelope * envelope * t
    return dt, dfrequency, ddamping
