"""`while` loops, with conditions on values that are differentiated or not."""

import math

import numpy as np

from .registry import normal, program


@program(2.0)
def newton_square_root(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


@program(1.5)
def count_down(x):
    n = 5
    y = 1.0
    while n > 0:
        y = y * x
        n -= 1
    return y


@program(37.3)
def halve_until_small(x):
    while x > 1:
        x = x / 2
    return x


@program(0.7)
def exponential_by_taylor(x):
    term = 1.0
    total = 1.0
    n = 1
    while abs(term) > 1e-12:
        term = term * x / n
        total = total + term
        n += 1
    return total


@program(0.8)
def fixed_point_of_cosine(a):
    x = 0.5
    change = 1.0
    while change > 1e-12:
        new = math.cos(a * x)
        change = abs(new - x)
        x = new
    return x


@program(3.0, 5)
def fast_power(x, n):
    result = 1.0
    while n:
        if n & 1:
            result = result * x
        x = x * x
        n >>= 1
    return result


@program(0.6)
def condition_with_two_parts(x):
    steps = 0
    while x < 10 and steps < 20:
        x = x * 1.7 + 0.1
        steps += 1
    return x / (1 + steps)


@program(0.3)
def while_inside_for(x):
    total = 0.0
    for i in range(1, 4):
        y = x * i
        while y < 2:
            y = y * 1.5 + x
        total = total + y
    return total


@program(normal(3))
def power_iteration(v):
    matrix = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
    k = 0
    while k < 4:
        v = matrix @ v
        v = v / np.sqrt(v @ v)
        k = k + 1
    return v @ matrix @ v + v[0]


@program(normal(6))
def while_over_a_list(x):
    waiting = list(range(len(x)))
    total = 0.0
    while waiting:
        i = waiting.pop()
        total = total * 0.5 + x[i] ** 2
    return total


@program(1.3)
def walrus_in_the_condition(x):
    total = 0.0
    while (step := x / (1 + total)) > 0.2:
        total = total + step
    return total


@program(48.3, 18.1)
def euclid_with_reals(a, b):
    """The remainder is differentiable between its jumps."""
    while b > 0.5:
        a, b = b, a % b
    return a


@program(0.9)
def bisection_then_newton(a):
    """The bisection only finds where to start: the last step has the derivative."""
    low, high = 0.0, 2.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        if middle**3 + middle > a:
            high = middle
        else:
            low = middle
    x = (low + high) / 2
    return x - (x**3 + x - a) / (3 * x**2 + 1)
