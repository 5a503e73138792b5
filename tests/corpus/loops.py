"""`for` loops over ranges, lists, rows and pairs."""

import numpy as np

from .registry import normal, positive, program


@program(1.3)
def power_by_loop(x):
    result = 1.0
    for _ in range(5):
        result = result * x
    return result


@program(1.3, 4)
def power_by_loop_to_n(x, n):
    result = 1.0
    for _ in range(n):
        result *= x
    return result


@program(0.5)
def horner(x):
    coefficients = [1.0, -2.0, 0.5, 3.0]
    total = 0.0
    for c in coefficients:
        total = total * x + c
    return total


@program(0.5, normal(5))
def horner_of_array(x, coefficients):
    total = 0.0
    for c in coefficients[::-1]:
        total = total * x + c
    return total


@program(0.4)
def loop_index_in_value(x):
    total = 0.0
    for i in range(1, 6):
        total = total + np.sin(i * x) / i
    return total


@program(0.4)
def range_with_a_step(x):
    total = x
    for i in range(10, 0, -3):
        total = np.cos(total) * i
    return total


@program(0.9)
def logistic_map(x):
    for _ in range(6):
        x = 1.9 * x * (1 - x)
    return x


@program(0.3, 0.8)
def two_carried_values(a, b):
    for _ in range(4):
        a, b = a * b, a + b
    return a - b


@program(positive(3), positive(4, seed=1))
def nested_loops(x, y):
    total = 0.0
    for i in range(3):
        for j in range(4):
            total += x[i] * np.log(y[j]) * (i + 1)
    return total


@program(normal(4))
def triangular_loops(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            total += (x[i] - x[j]) ** 2
    return total


@program(normal(4, 3))
def loop_over_rows(matrix):
    total = 0.0
    for row in matrix:
        total += np.sqrt(row @ row + 1)
    return total


@program(normal(3), normal(3, seed=1))
def loop_over_zip(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * np.exp(b)
    return total


@program(normal(4))
def loop_over_enumerate(x):
    total = 0.0
    for i, value in enumerate(x, start=1):
        total += value**i
    return total


@program(0.6)
def loop_over_reversed(x):
    for k in reversed(range(1, 4)):
        x = np.sin(k * x)
    return x


@program(0.3)
def loop_over_tuple_of_tuples(x):
    for weight, shift in ((1.0, 0.2), (0.5, -0.1), (2.0, 0.3)):
        x = np.tanh(weight * x + shift)
    return x


@program(0.7)
def branch_in_loop(x):
    total = 0.0
    for i in range(6):
        if i % 2 == 0:
            total = total + x**i
        else:
            total = total * x
    return total


@program(0.7)
def branch_on_carried_value(x):
    for _ in range(8):
        if x > 1:
            x = x / 2
        else:
            x = x * x + 0.7
    return x


@program(normal(5), normal(5, 5, seed=1))
def repeated_matrix_product(x, matrix):
    for _ in range(3):
        x = np.tanh(matrix @ x)
    return x.sum()


@program(0.5)
def loop_variable_after_the_loop(x):
    y = x
    for k in range(1, 4):
        y = y * x + k
    return y * k


@program(0.5)
def temporaries_in_a_loop(x):
    total = 0.0
    for i in range(4):
        a = x + i
        b = a * a
        c = b / (1 + b)
        total += c
    return total


@program(normal(3))
def sum_of_constant_in_loop(x):
    """`scale` does not change in the loop, `shift` does without any derivative."""
    scale = x[0] * 2
    shift = 0.0
    total = 0.0
    for value in x[1:]:
        shift = shift + 0.5
        total = total + scale * value**2 + shift
    return total


@program(0.2, normal(30))
def exponential_smoothing(rate, series):
    level = series[0]
    error = 0.0
    for value in series[1:]:
        error = error + (value - level) ** 2
        level = rate * value + (1 - rate) * level
    return error / len(series)


@program(normal(4))
def second_last_value_carried(x):
    previous = 0.0
    current = 1.0
    for value in x:
        previous, current = current, value * current + previous
    return current


@program(1.01)
def many_iterations(x):
    for _ in range(200):
        x = x + 0.01 * np.sin(x)
    return x


@program(0.7, 0.3, 1.0, jax=False)
def sums_of_products_that_are_computed_again(x, s, d):
    for _ in range(2):
        product = d * np.cos(s) * s
        total = product + d * x
        total2 = total + d
        step = total2 * np.sin(s)
        s = s + np.cos(step)
        d = d + step
        for _ in range(2):
            s = s * x
    return s + d


@program(np.array([0.5, 1.5, 2.0]))
def variables_whose_adjoints_are_keywords(ict):
    total = 0.0
    for el in ict:
        ef = el * 2
        ir = ef * el
        total = total + ir * ef + np.sum(ict) * el
    return total


@program(0.7)
def two_names_at_once_in_a_loop(x):
    for i in range(3):
        low = high = i * 0.5
        x = np.sin(x) * (1.0 + low) + high * x
    return x
