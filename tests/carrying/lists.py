"""Lists, tuples and ranges that stand where NumPy takes an array."""

from __future__ import annotations

import numpy as np

WEIGHTS = [3, 5, 2]
PAIR = (3.0, 5.0, 2.0)
TABLE = [[1, 2, 3], [4, 5, 6]]


def on_the_right(x):
    return np.sum(x * [3, 5, 2])


def on_the_left(x):
    return np.sum([3, 5, 2] * np.exp(x))


def of_the_module(x):
    return np.sum(x * WEIGHTS) + np.sum(np.sin(WEIGHTS * x))


def tuple_of_the_module(x):
    return np.sum(x * PAIR) + np.sum(PAIR * x)


def sums_and_differences(x):
    return np.sum(x + WEIGHTS) * np.sum((WEIGHTS - x) ** 3) + np.sum((x - PAIR) ** 2)


def quotients_and_powers(x):
    return np.sum(x / WEIGHTS) + np.sum(WEIGHTS / x) + np.sum(x**PAIR + WEIGHTS**x)


def remainders(x):
    return np.sum(x % [1, 2, 3]) * np.sum([2, 3.1, 4.1] % x)


def nested(x):
    return np.sum(TABLE * x**2) + np.sum(x[:, None] * [1.0, 2.0, 3.0])


def products_of_matrices(x):
    left = TABLE @ x
    return np.sum(left) * np.sum(x @ [[1, 2], [3, 4], [5, 6]]) + ((1, 2, 3) @ x) ** 2


def filled_in_a_loop(x):
    weights = []
    for i in range(3):
        weights.append(i + 1)
    return np.sum(x * weights)


def comprehension(x):
    weights = [float(i) for i in range(3)]
    return np.sum(weights * x) + sum(np.sum(x * w) for w in [[1, 2, 3], [4, 5, 6]])


def converted(x):
    return np.sum(x * list(range(3))) + np.sum(x * np.arange(3.0).tolist())


def ranges(x):
    return np.sum(x * range(3)) * np.sum(range(1, 4) + x)


def in_a_dict(x):
    given = {"w": [1, 2, 3]}
    return np.sum(x * given["w"])


def by_default(x, w=[2, 3, 4]):  # noqa: B006
    return np.sum(x * w)


def _weighted(x, w):
    return np.sum(np.sin(x * w))


def given_to_a_helper(x):
    return _weighted(x, [2, 3, 4]) + _weighted(x, (2, 3, x[0]))


def chosen_by_a_branch(x):
    w = [1, 2, 3] if x[0] > 0 else [4, 5, 6]
    return np.sum(x * w)


def differentiated_items(x):
    a = [x[0], 2.0, x[1]]
    return np.sum(x * a) + np.sum(np.ones(3) * a) + np.sum(a / x)


def differentiated_tuple(x):
    t = tuple(x[i] for i in range(3))
    return np.sum(t * x) + np.sum(np.arange(3.0) * t)


def differentiated_rows(x):
    w = [[x[0], x[1]], [x[2], 1.0]]
    return np.sum(w @ x[:2]) + np.sum(x[:2] @ w) + np.sum(np.eye(2) * w)


def zeros_with_one_item_set(x):
    zeros = [0.0] * len(x)
    zeros[1] = x[1]
    return np.sum(x + zeros) * np.sum(zeros * x)


def beside_numbers_of_numpy(x):
    return np.sum(x[0] + [1.0, 2.0]) * np.sum([1.0, 2.0] / x[1]) + np.sum(
        x[0] ** [1, 2]
    )


def repeated(x):
    s = 2 * [x[0], x[1]]
    t = (x[2],) * 2
    return sum(s) * sum(t)


def in_place(x):
    x = x.copy()
    x += [1, 2, 3]
    x /= (2, 2, 2)
    x -= [0.1] * 3
    x **= [2, 2, 3]
    x[:2] += [1.0, 2.0]
    x[:2] *= (3, 4)
    return np.sum(np.sin(x))


def list_becomes_an_array(x):
    a = [x[0], x[1], 2.0]
    a *= x
    b = [1.0, x[2], 3.0]
    b -= x
    return np.sum(a) * np.sum(b**2)


def ufuncs(x):
    a = np.multiply(x, WEIGHTS) + np.power(WEIGHTS, x) + np.power(x, PAIR)
    return np.sum(a + np.arctan2([1, 2, 3], x) + np.hypot(x, (1, 2, 3)))


def extremes(x):
    return np.sum(np.maximum(x, [1, 1, 1]) * np.clip(x, [0.5] * 3, [1.0, 1.0, 1.0]))


def functions_of_numpy(x):
    a = np.dot([1, 2, 3], x) * np.inner(x, (1, 2, 3)) + np.vdot([1, 2, 3], x)
    b = np.outer([1, 2], x).sum() + np.einsum("i,i->", x, [1, 2, 3])
    return a + b + np.cross(x, [1, 2, 3]).sum() + np.kron([1, 2], x).sum()


def solved(x):
    return np.sum(np.linalg.solve([[2.0, 1, 0], [1, 3, 0], [0, 0, 1]], x) ** 2)


def methods(x):
    return x.dot([1, 2, 3]) * x.clip([0.1, 0.2, 0.3], [9, 9, 9]).sum()


def joined_then_weighted(x):
    return np.sum(np.concatenate([x, [1, 2]]) * [1, 2, 3, 4, 5])
