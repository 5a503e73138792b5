import numpy as np
from srcjax.runtime import unbroadcast

__all__ = ["grad_trajectory"]


def grad_trajectory(start, rate, steps):
    x = np.zeros(steps + 1)
    x[0] = start
    difference_tape = []
    product_tape = []
    product2_tape = []
    x_t2_tape = []
    for t in range(steps):
        product = 0.1 * rate
        x_t2 = x[t]
        product2 = product * x_t2
        difference = 1 - x[t]
        x[t + 1] = x[t] + product2 * difference
        difference_tape.append(difference)
        product_tape.append(product)
        product2_tape.append(product2)
        x_t2_tape.append(x_t2)
    # return np.sum(x**2)
    dx = unbroadcast(2 * x, x).copy()
    drate = 0.0
    for t in reversed(range(steps)):
        difference = difference_tape.pop()
        product = product_tape.pop()
        product2 = product2_tape.pop()
        x_t2 = x_t2_tape.pop()
        # x[t + 1] = x[t] + 0.1 * rate * x[t] * (1 - x[t])
        dx = dx.copy()
        dtotal = dx[t + 1]
        dx[t + 1] = 0.0
        dproduct2 = dtotal * difference
        dx[t] -= dtotal * product2
        dx[t] += dproduct2 * product
        drate += dproduct2 * x_t2 * 0.1
        dx[t] += dtotal
    # x[0] = start
    dx = dx.copy()
    dstart = dx[0]
    return dstart, drate
