import numpy as np

__all__ = ["grad_trajectory"]


def grad_trajectory(start, rate, steps):
    x = np.zeros(steps + 1)
    x[0] = start
    x_t2_tape = []
    x_t3_tape = []
    for t in range(steps):
        x_t = x[t]
        x_t2 = x[t]
        x[t + 1] = x[t] + 0.1 * rate * x_t * (1 - x_t2)
        x_t2_tape.append(x_t)
        x_t3_tape.append(x_t2)
    # return np.sum(x**2)
    dx = (2 * x).copy()
    drate = 0.0
    for t in reversed(range(steps)):
        x_t = x_t2_tape.pop()
        x_t2 = x_t3_tape.pop()
        product = 0.1 * rate
        # x[t + 1] = x[t] + 0.1 * rate * x[t] * (1 - x[t])
        dtotal = dx[t + 1]
        dx[t + 1] = 0.0
        dproduct2 = dtotal * (1 - x_t2)
        dx[t] -= dtotal * (product * x_t)
        dx[t] += dproduct2 * product
        drate += dproduct2 * x_t * 0.1
        dx[t] += dtotal
    # x[0] = start
    dstart = dx[0]
    return dstart, drate
