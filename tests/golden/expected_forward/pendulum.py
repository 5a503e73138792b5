import math

import numpy as np

__all__ = ["jvp_pendulum"]


def jvp_pendulum(angle, gravity, steps, angle_dot, gravity_dot):
    """Value of pendulum, and its derivative along angle_dot and gravity_dot."""
    if np.ndim(angle) != 0 or np.ndim(gravity) != 0:
        raise ValueError("jvp_pendulum is for numbers, not for arrays")
    speed = 0.0
    speed_dot = 0.0
    for _ in range(steps):
        sin_angle = math.sin(angle)
        speed = speed - 0.01 * gravity * sin_angle
        speed_dot = speed_dot - 0.01 * (
            gravity_dot * sin_angle + angle_dot * math.cos(angle) * gravity
        )
        angle = angle + 0.01 * speed
        angle_dot = angle_dot + 0.01 * speed_dot
    return angle, angle_dot
