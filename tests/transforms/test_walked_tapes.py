"""Backward loops over tapes, and what a transform of such a text gives."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2


def halved(x):
    while x > 1:
        x = np.sqrt(x) * 0.9
    return x * x


def broken_off(x):
    for _ in range(30):
        if x < 1:
            break
        x = np.sqrt(x) * 0.9
    return x * x


def broken_after(x):
    for _ in range(30):
        step = 0.1 * np.sin(x)
        x = x - step
        if abs(step) < 0.05:
            break
    return x


def broken_between(x):
    y = x
    for k in range(6):
        y = y * np.cos(x)
        if k > 3:
            break
        x = x * y
    return x + y


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        y = x + k
        while y > 1:
            y = y * np.cos(y) * 0.7
        total += y
    return total


def skipping(x):
    for k in range(6):
        if k % 2:
            continue
        x = x * np.sin(x)
    return x


def returned_from(x):
    total = 0.0
    for _ in range(10):
        if x < 0.1:
            return total
        total += np.sin(x)
        x = x * 0.6
    return total


def returned_otherwise(x):
    total = 0.0
    for _ in range(10):
        if x < 0.1:
            return total + x
        total += np.sin(x)
        x = x * 0.6
    return total


def different_sides(x):
    n = 7
    while n != 1:
        if n % 2 == 0:
            n = n // 2
            x = x * 0.9
        else:
            n = 3 * n + 1
            x = np.sin(x) + 1
    return x


def sides_that_bind_it_first(x):
    for k in range(4):
        if k % 2:
            x = x * 1.1
            y = np.cos(x)
            x = y * x
        else:
            y = np.sin(x)
            x = y + x
    return x


def over_items(x):
    y = 0.0
    for c in (1.0, 2.0, 3.0):
        y = y * x + c
    return y


FUNCTIONS = [
    halved,
    broken_off,
    broken_after,
    broken_between,
    in_a_loop,
    skipping,
    returned_from,
    returned_otherwise,
    different_sides,
    sides_that_bind_it_first,
    over_items,
]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("x", [0.05, 2.3])
def test_derivatives(function, x):
    check_grads(function, (x,), order=2)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_batches_of_gradients(function):
    xs = np.array([0.05, 2.3, 1.7])
    found = srcjax.vmap(srcjax.grad(function))(xs)
    np.testing.assert_allclose(found, [srcjax.grad(function)(x) for x in xs])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_texts_without_types(function):
    scope = {}
    exec(srcjax.source(srcjax.grad(function)), scope)
    for x in (0.05, 2.3):
        found = scope[f"grad_{function.__name__}"](x)
        np.testing.assert_allclose(found, srcjax.grad(function)(x))


def rotated(u):
    a, b, c = u.copy(), u * 2, np.zeros_like(u)
    for _ in range(2):
        c[:] = a * b
        a, b, c = b, c, a
    return np.sum(a * u)


def test_what_is_put_back_into_an_array_waits_for_its_name():
    check_grads(rotated, (np.array([0.3, 0.2, 0.5]),), order=2)
    text = srcjax.source(srcjax.grad(rotated), np.ones(3))
    assert "in reversed(" in text and "for c[:]" not in text


def weights_changed_by_an_iterator(x):
    w = np.arange(1.0, 4.0)
    y = w * x
    for item in np.nditer(w, op_flags=["readwrite"]):
        item[...] = 2 * item
    return np.sum(w * y)


def test_a_pullback_puts_back_what_an_iterator_of_numpy_handed_out():
    x = np.array([0.3, 0.2, 0.5])
    _, pullback = srcjax.vjp(weights_changed_by_an_iterator, x)
    for _ in range(2):
        np.testing.assert_allclose(pullback(1.0)[0], [2.0, 8.0, 18.0])


def test_a_loop_that_is_left_goes_back_over_the_tape():
    text = srcjax.source(srcjax.grad(halved), 3.0)
    assert "for sqrt_x in reversed(sqrt_x_tape):" in text
    assert "trips" not in text


def test_a_trip_that_breaks_off_is_not_counted():
    text = srcjax.source(srcjax.grad(broken_off), 3.0)
    assert "condition" not in text and "trips" not in text
    assert "        if x < 1:\n            break\n" in text


def test_what_both_sides_put_on_a_tape_is_put_there_before():
    text = srcjax.source(srcjax.grad(different_sides), 3.0)
    assert text.count(".append(") == 1
    assert "for x, condition in reversed(tape):" in text


def test_another_return_in_a_loop_is_differentiated_where_it_is_left():
    text = srcjax.source(srcjax.grad(returned_otherwise), 3.0)
    assert "result" not in text and "trips" not in text
    assert "            dx = 1.0\n            break\n" in text
    assert "    else:\n        # return total\n" in text


def bound_in_the_loop(x):
    for k in range(6):
        y = x * k
        if y > 1:
            return y * y
        x = x + 0.3
    return x


def of_its_item(x):
    for c in (0.1, 0.4, 3.0):
        x = np.sin(x) + c
        if x > 1.2:
            return c * x
    return x * x


def of_two_loops(x):
    for k in range(3):
        for j in range(3):
            x = x * 1.1
            if x > k + j + 0.5:
                return x * k
        x = x + 0.1
    return x


@pytest.mark.parametrize("function", [bound_in_the_loop, of_its_item, of_two_loops])
@pytest.mark.parametrize("x", [0.05, 0.9, 2.3])
def test_returns_that_read_what_the_loop_binds(function, x):
    check_grads(function, (x,), order=2)
    gradient = srcjax.grad(function)
    np.testing.assert_allclose(
        srcjax.vmap(gradient)(np.array([x, 0.9])), [gradient(x), gradient(0.9)]
    )


def test_the_same_return_twice_is_a_break():
    text = srcjax.source(srcjax.grad(returned_from), 3.0)
    assert "returned =" not in text


def test_a_second_derivative_goes_over_its_tape_too():
    text = srcjax.source(srcjax.jacfwd(srcjax.grad(broken_after)), 3.0)
    assert "in reversed(tape):" in text and "trips" not in text


def layers(params, x):
    for W, b in params[:-1]:
        x = np.tanh(x @ W + b)
    W, b = params[-1]
    return np.sum((x @ W + b) ** 2)


def test_a_list_of_adjoints_is_spread():
    draw = np.random.default_rng(3).normal
    sizes = [3, 4, 5, 2]
    params = [
        (draw(size=(n, m)), draw(size=m))
        for n, m in zip(sizes, sizes[1:], strict=False)
    ]
    x = draw(size=(2, 3))
    text = srcjax.source(srcjax.grad(layers), params, x)
    assert "return [*dparams_start, (dW, db)]" in text
    check_grads(layers, (params, x), order=2)


def by_two_branches(x):
    total = 0.0
    for k in range(4):
        if k % 2:
            total += 4 * np.sin(x + k)
        else:
            total += 2 * np.sin(x - k)
    return total * x


def test_branches_call_their_values_the_same():
    text = srcjax.source(srcjax.grad(by_two_branches), 3.0)
    assert "2 = " not in text
    check_grads(by_two_branches, (0.7,), order=2)
