"""Objects that are found when the program runs, and keep what they are given.

In functions that give nothing differentiated, for all that is known, nobody looked for
them: gradients were zero.
"""

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError


def made_again(values):
    """The lists once more; which, is only known when it runs."""
    made = {}

    def again(part):
        if id(part) not in made:
            parts = isinstance(part, list)
            made[id(part)] = [again(p) for p in part] if parts else part
        return made[id(part)]

    return again(values)


def filled_in_a_loop(x):
    lists, total = made_again([[], []]), 0.0
    for values in lists:
        values.append(x)
        total = total + values[-1] ** 2
    return total


def asked_in_a_test(x):
    lists, total = made_again([[], []]), 0.0
    for values in lists:
        if values.append(x) is None:
            total = total + values[-1] ** 2
    return total


def asked_in_a_list(x):
    lists = made_again([[], []])
    nothing = [values.append(x) for values in lists]
    return lists[0][0] ** len(nothing)


@pytest.mark.parametrize("f", [filled_in_a_loop, asked_in_a_test, asked_in_a_list])
@pytest.mark.parametrize("transform", [srcjax.grad, lambda f: srcjax.jacfwd(f)])
def test_refused_in_functions_that_are_called(f, transform):
    def called(x):
        return f(x) + 1.0

    with pytest.raises(UnsupportedError):
        transform(called)(0.7)


def test_the_gradient_of_a_batch():
    """Lists that a batch makes for its examples, put where numbers say."""

    def grouped(x, groups):
        lists = [[] for _ in range(2)]
        for k, v in zip(groups, x, strict=True):
            lists[k].append(v)
        return sum(np.prod(values) for values in lists)

    def total(rows, groups):
        return np.sum(srcjax.vmap(grouped, (0, None))(rows, groups))

    rows, groups = np.array([[0.3, 0.9, 0.5, 0.7], [0.4, 1.0, 0.6, 0.8]]), [0, 1, 0, 1]
    with pytest.raises(UnsupportedError, match="may change a differentiated value"):
        srcjax.grad(total)(rows, groups)
