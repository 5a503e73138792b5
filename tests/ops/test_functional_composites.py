"""Composites that take functions, and those that write to their first argument."""

from __future__ import annotations

import ast

import numpy as np
import pytest

import srcjax
from srcjax.errors import NoRuleError
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 6

X = np.array([0.3, -1.2, 0.9, 2.1, -0.4, 0.7])
MODES = ("rev", "fwd")


def pieces(x):
    return np.piecewise(
        x, [x < 0, x >= 0.5], [lambda v: v**2, lambda v: np.sin(v), 3.0]
    )


def pieces_with_a_rest(x):
    return np.piecewise(x, [x < 0], [lambda v: v**2, lambda v: v**3])


def pieces_by_one_condition(x):
    return np.piecewise(x, x < 0, [np.sin, np.cos])


def pieces_that_use_a_value_around(x):
    s = x[0]
    return np.piecewise(x, [x < 0], [lambda v: v * s, lambda v: v**3])


def along_rows(x):
    return np.apply_along_axis(lambda r: np.sum(r**2), 1, np.reshape(x, (2, 3)))


def along_columns(x):
    return np.apply_along_axis(np.sort, 0, np.reshape(x, (2, 3)))


def rows_to_matrices(x):
    return np.apply_along_axis(np.diag, -1, np.reshape(x**2, (2, 3)))


def over_axes(x):
    return np.apply_over_axes(np.sum, np.reshape(x**2, (1, 2, 3)), [0, 2])


def of_coordinates(x):
    return np.fromfunction(lambda i, j: np.sin(x[0] * i) + j * x[1], (3, 2))


def of_coordinates_and_a_value(x):
    return np.fromfunction(lambda i, j, k=2.0: np.sin(k * i) + j, (3, 2), k=x[0])


def chosen_from_a_list(x):
    return np.choose(np.array([0, 1, 1, 0, 2, 0]), [x, x**2, np.full(6, 3.0)])


def put_along_an_axis(x):
    y = np.reshape(x**2, (2, 3)).copy()
    np.put_along_axis(y, np.array([[1], [2]]), x[:2, None] * 3, axis=1)
    return y**2


def put_along_the_first_axis(x):
    y = np.reshape(x**2, (2, 3)).copy()
    np.put_along_axis(y, np.array([[1, 0, 1]]), x[0], axis=0)
    return y**2


def placed(x):
    y = x**2
    np.place(y, np.array([1, 0, 1, 1, 0, 1], bool), x[:2] * x[2])
    return y**2


def put_where_a_mask_holds(x):
    y = np.reshape(x**2, (2, 3)).copy()
    np.putmask(y, y > 1, x[:2] * 3)  # fewer values than places: over and over
    np.putmask(y, [[1, 0, 0], [0, 0, 1]], x[3])
    return y**2


def put_values_of_the_same_places(x):
    y = x**2
    np.putmask(y, values=y * x[0], mask=y > 0.5)
    return y


def multiplied_at(x):
    y = x[:3] ** 2
    np.multiply.at(y, [0, 2, 0, -1], x[2:])
    np.divide.at(y, np.array([1, 1]), x[0])
    return y**2


def rows_multiplied_at(x):
    y = np.reshape(x, (2, 3)) ** 2
    np.multiply.at(y, [1, 1], np.stack([x[:3], x[3:]]))
    return y


def largest_and_smallest_at(x):
    y = np.zeros(3) + x[5]
    np.maximum.at(y, [0, 2, 0], x[:3] * 2)
    np.minimum.at(y, [1, 1], np.sin(x[:2]))
    return y**2


def put(x):
    y = x**2
    np.put(y, [1, 4], x[:2] * 3)
    return y**2


def put_twice_at_one_place(x):
    y = x**2
    np.put(y, [1, 4, 1], x[:3] * 3)
    return y**2


def put_around_the_end(x):
    y = np.reshape(x**2, (2, 3)).copy()
    np.put(y, [1, -1, 10], x[:2] * 3, mode="wrap")
    return y**2


def put_up_to_the_end(x):
    y = np.zeros((2, 3))
    np.put(y, [1, 9, 4], x[0], mode="clip")
    return y**2


def diagonal(x):
    y = np.outer(x, x)
    np.fill_diagonal(y, x**3)
    return y**2


def diagonal_of_one_value(x):
    y = np.reshape(x**2, (3, 2)).copy()
    np.fill_diagonal(y, x[0])
    return y**2


def diagonal_that_begins_anew(x):
    y = np.reshape(np.concatenate([x, x]) ** 2, (6, 2)).copy()
    np.fill_diagonal(y, x[:2], wrap=True)
    return y**2


FUNCTIONS = [
    pieces,
    pieces_with_a_rest,
    pieces_by_one_condition,
    pieces_that_use_a_value_around,
    along_rows,
    along_columns,
    rows_to_matrices,
    over_axes,
    of_coordinates,
    of_coordinates_and_a_value,
    chosen_from_a_list,
    put_along_an_axis,
    put_along_the_first_axis,
    placed,
    put_where_a_mask_holds,
    put_values_of_the_same_places,
    multiplied_at,
    rows_multiplied_at,
    largest_and_smallest_at,
    put,
    put_twice_at_one_place,
    put_around_the_end,
    put_up_to_the_end,
    diagonal,
    diagonal_of_one_value,
    diagonal_that_begins_anew,
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_both_modes_to_second_order(f):
    check_grads(f, (X,), order=2, modes=MODES)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_the_value_is_that_of_numpy(f):
    value, _ = srcjax.vjp(f, X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)


def test_a_number_out_of_range():
    def loss(x):
        return np.sum(np.choose(np.array([0, 3]), [x[:2], x[2:4]]))

    with pytest.raises(ValueError, match="invalid entry"):
        srcjax.grad(loss)(X)


def test_arguments_that_are_not_served():
    def loss(x):
        y = x**2
        np.put_along_axis(y, np.array([1]), x[0], axis=None)
        return np.sum(y)

    with pytest.raises(NoRuleError, match="`np.put_along_axis`.*`axis=None`"):
        srcjax.grad(loss)(X)

    def masked(x):
        y = x**2
        np.multiply.at(y, x > 1, x[0])
        return np.sum(y)

    with pytest.raises(NoRuleError, match="indices that are no list"):
        srcjax.grad(masked)(X)


def test_a_loop_over_functions_is_written_out():
    def loss(x):
        functions = [np.sin, np.tanh, lambda v: v**2]
        for f in functions:
            x = f(x)
        return np.sum(x)

    text = srcjax.source(srcjax.grad(loss), X)
    nodes = ast.walk(ast.parse(str(text)))
    assert not any(isinstance(node, ast.For) for node in nodes) and "vjp" not in text
    check_grads(loss, (X,), order=2, modes=MODES)


def test_a_helper_of_a_composite_is_exported_with_it(tmp_path):
    def loss(x):
        return np.quantile(x, 0.3)

    path = srcjax.export(srcjax.grad(loss), tmp_path / "exported.py", X)
    text = path.read_text()
    assert "import srcjax" not in text and "from srcjax" not in text
    scope: dict = {"__name__": "exported"}
    exec(text, scope)
    np.testing.assert_allclose(scope["grad_loss"](X), srcjax.grad(loss)(X))
