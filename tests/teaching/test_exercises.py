"""Gaps in generated text, and how a gradient by hand is off."""

import operator

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError
from srcjax.testing import compare


def roll(h, w, n):
    for _ in range(n):
        h = np.tanh(w * h) + 0.1
    return h


def layer(W, b, x):
    return np.sum((x @ W + b) ** 2)


R = np.random.default_rng(0)
W, B, X = R.normal(size=(3, 4)), R.normal(size=4), R.normal(size=(5, 3))
ROLLED = srcjax.grad(roll, (0, 1))


def runs(text, name):
    """The function of a text."""
    around = {}
    exec(compile(text, f"<{name}>", "exec"), around)
    return around[name]


def filled(exercise, hidden):
    """The text with its gaps filled in, first to last."""
    for value in hidden:
        exercise = exercise.replace("...", value, 1)
    return exercise


def test_the_whole_backward_sweep():
    exercise = srcjax.exercise(ROLLED, 0.4, 1.2, 3)
    assert list(exercise.hidden.values()) == [
        "1.0",
        "dh * (1 - tanh_wh ** 2)",
        "dwh * h",
        "dwh * w",
    ]
    assert exercise.solution == srcjax.source(ROLLED, 0.4, 1.2, 3)
    assert exercise.count("...") == 4 and "tanh_wh = np.tanh(w * h)" in exercise
    solved = runs(filled(exercise, exercise.hidden.values()), "grad_roll")
    assert solved(0.4, 1.2, 3) == ROLLED(0.4, 1.2, 3)
    assert "<pre>" in exercise._repr_html_()


@pytest.mark.parametrize(
    ("hide", "lines"),
    [
        (21, [21]),
        ([12, 21], [12, 21]),
        (np.tanh, [20, 21, 22]),
        (operator.mul, [20, 21, 22]),
        ([16, np.tanh], [16, 20, 21, 22]),
    ],
)
def test_chosen_lines_and_operations(hide, lines):
    exercise = srcjax.exercise(ROLLED, 0.4, 1.2, 3, hide=hide)
    assert list(exercise.hidden) == lines and exercise.count("...") == len(lines)


def test_methods_are_the_operation():
    def total(x):
        y = x.cumsum()
        return np.sum(y * y)

    exercise = srcjax.exercise(srcjax.grad(total), np.ones(3), hide=np.cumsum)
    assert len(exercise.hidden) == 1 and "cumsum" in str(exercise.hidden)
    with pytest.raises(
        ArgumentError, match="no line .* differentiates a call of `sin`"
    ):
        srcjax.exercise(srcjax.grad(total), np.ones(3), hide=np.sin)


@pytest.mark.parametrize(
    ("hide", "message"),
    [
        (19, "line 19 .* has no right-hand side"),
        (1000, "line 1000 has no right-hand side"),
        ("forward", "no line, no function"),
        ([], "hide is empty"),
    ],
)
def test_nothing_to_hide(hide, message):
    with pytest.raises(ArgumentError, match=message):
        srcjax.exercise(ROLLED, 0.4, 1.2, 3, hide=hide)


def test_batches_have_no_backward_sweep():
    with pytest.raises(ArgumentError, match="there is no backward sweep"):
        srcjax.exercise(srcjax.vmap(layer), W[None], B[None], X[None])


def by_hand(make):
    """A gradient by hand of `layer`, of what is handed to its last line."""

    def student(W, b, x):
        return make(W, b, x, 2 * (x @ W + b))

    return student


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda W, b, x, d: (x.T @ d, d.sum(0)), {}),
        (
            lambda W, b, x, d: ((x.T @ d).T, d),
            {"W": "transposed", "b": "missing the sum over axis 0"},
        ),
        (
            lambda W, b, x, d: (-(x.T @ d), d.mean(0)),
            {
                "W": "the sign is wrong everywhere",
                "b": "0.2 times the gradient everywhere",
            },
        ),
        (
            lambda W, b, x, d: (2 * (x.T @ d)[::-1], 0 * d.sum(0)),
            {
                "W": "in the opposite order along axis 0, and 2 times the gradient "
                "everywhere",
                "b": "zero everywhere",
            },
        ),
        (
            lambda W, b, x, d: (x.T @ d, d.sum(0) + 3.0),
            {"b": "3.0 too much everywhere"},
        ),
        (
            lambda W, b, x, d: (x.T @ d, ...),
            {"b": "it is still to be filled in (`...`)"},
        ),
        (
            lambda W, b, x, d: (x.T @ d, np.ones(3)),
            {"b": "its shape is (3,), and (4,) is right"},
        ),
        (
            lambda W, b, x, d: (x.T @ d, d.sum(0) * [1, np.nan, 1, 1]),
            {"b": "it has index 1 not finite"},
        ),
    ],
)
def test_how_gradients_are_off(make, said):
    found = compare(by_hand(make), layer, W, B, X, argnums=(0, 1))
    assert {off.where: off.how for off in found.off} == said
    assert bool(found) is (not said)
    assert all(how in str(found) for how in said.values())


def test_an_element_that_is_off():
    def student(W, b, x):
        d = 2 * (x @ W + b)
        return x.T @ d, d.sum(0) + np.array([0, 0, 1, 0])

    (off,) = compare(student, layer, W, B, X, argnums=(0, 1)).off
    assert off.how.startswith("right except at index 2: it is ")


def test_elements_without_a_pattern():
    def student(W, b, x):
        return np.cos(W)

    (off,) = compare(student, layer, W, B, X).off
    assert off.how.startswith("12 of 12 elements are wrong, most of all at (")


def forgot_the_square(h, w, n):
    tape = []
    for _ in range(n):
        tanh_wh = np.tanh(w * h)
        tape.append((h, tanh_wh))
        h = tanh_wh + 0.1
    dh = 1.0
    dw = 0.0
    for h, tanh_wh in reversed(tape):
        dwh = dh * (1 - tanh_wh)
        dw += dwh * h
        dh = dwh * w
    return dh, dw


def test_the_first_line_that_differs():
    found = compare(forgot_the_square, ROLLED, 0.4, 1.2, 3)
    assert [off.where for off in found.off] == ["h", "w"]
    assert found.text == "dwh = dh * (1 - tanh_wh)"
    assert found.hint.startswith(
        "it is the backward sweep of `h = np.tanh(w * h) + 0.1`"
    )
    assert f"line {found.line}:" in str(found)


def unfinished(h, w, n):
    dh = ...
    return 2 * dh, n


def test_what_is_not_filled_in_yet():
    found = compare(unfinished, ROLLED, 0.4, 1.2, 3)
    assert not found and "raises TypeError" in str(found)
    assert found.text == "return 2 * dh, n" and "still to be filled in" in found.hint


def test_one_number():
    found = compare(lambda x: x, lambda x: x * x, 3.0)
    how = "0.5 times the gradient: it is 3.0, and 6.0 is right"
    assert found.off[0].how == how


def test_arguments_stay():
    given = np.ones(3)

    def writes(x):
        x += 1
        return x

    assert compare(writes, lambda x: np.sum(x * x), given)
    assert np.array_equal(given, np.ones(3))


def test_what_can_be_compared():
    with pytest.raises(ArgumentError, match="says nothing of what is a derivative"):
        compare(unfinished, ROLLED, 0.4, 1.2, 3, argnums=0)
    with pytest.raises(ArgumentError, match="this is value_and_grad"):
        compare(unfinished, srcjax.value_and_grad(roll), 0.4, 1.2, 3)
