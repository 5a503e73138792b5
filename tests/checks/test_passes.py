"""`check_passes` names the pass that changes what a derivative does."""

import dataclasses

import gast
import numpy as np
import pytest

import srcjax
from srcjax import pipeline, syntax
from srcjax.testing import check_passes
from srcjax.transforms.passes import Pass

X = np.array([0.3, -1.2, 2.0])


def loss(x):
    y = np.sin(x)
    for _ in range(2):
        y = y * x
    return np.sum(y**2)


def scaled(x, factor=2.0):
    return factor * x


def calling(x):
    return np.sum(scaled(np.sin(x)) * scaled(x))


def of_two(x, y):
    return {"sum": x + y, "parts": (x * y, [np.exp(x)])}


@pytest.mark.parametrize(
    ("df", "args"),
    [
        (srcjax.grad(loss), (X,)),
        (srcjax.value_and_grad(calling), (X,)),
        (srcjax.grad(of_two, argnums=0), None),
        (srcjax.vjp(of_two), (X, X[0])),
        (srcjax.jvp(of_two), ((X, X[0]), (X, 1.0))),
        (srcjax.jvp(of_two), ((X, X[0]), (None, 1.0))),
        (srcjax.vmap(loss), (np.stack([X, 2 * X]),)),
        (srcjax.vmap(of_two, in_axes=(0, None)), (np.stack([X, 2 * X]), 3.0)),
        (srcjax.jvp(srcjax.grad(loss)), ((X,), (X,))),
        (srcjax.vmap(srcjax.grad(calling)), (np.stack([X, 2 * X]),)),
        (srcjax.jacfwd(of_two), (X, 2.0)),
        (srcjax.jacrev(calling), (X,)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_no_pass_changes_these(df, args):
    if args is None:
        with pytest.raises(srcjax.errors.ArgumentError):
            check_passes(df, X, 1.0)
        return
    assert check_passes(df, *args) >= 1


def planted(monkeypatch, name, change, after="algebra"):
    """The pass lists with a wrong pass after the last of that name."""

    def wrong(finisher):
        change(finisher.node)

    for which in ("REVERSE", "FORWARD", "BATCH"):
        simplify = getattr(pipeline, which)
        passes = list(simplify.passes)
        at = max(k for k, p in enumerate(passes) if p.name == after) + 1
        passes.insert(at, Pass(name, wrong))
        monkeypatch.setattr(
            pipeline, which, dataclasses.replace(simplify, passes=tuple(passes))
        )


def doubled(node):
    """Returns twice the result."""
    last = node.body[-1]
    last.value = gast.BinOp(syntax.const(2.0), gast.Mult(), last.value)


def in_half(node):
    last = node.body[-1]
    last.value = syntax.call("np.float32", last.value)


def in_a_list(node):
    last = node.body[-1]
    last.value = gast.List([last.value], syntax.LOAD)


def writing(node):
    """Writes to the first argument."""
    name = node.args.args[0].id
    last = node.body[-1]
    last.value = syntax.expression(
        "(v, x.fill(7))[0]", v=last.value, x=syntax.name(name)
    )


def raising(node):
    node.body[-1:-1] = syntax.statements("1 / 0")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (doubled, "the result: "),
        (in_half, "a number of float64, then a number of float32"),
        (in_a_list, "then list"),
        (raising, "nothing is raised, then ZeroDivisionError"),
    ],
)
def test_the_pass_is_named_and_both_texts_are_shown(monkeypatch, change, says):
    planted(monkeypatch, "planted", change)

    def first(x):
        return x[1] * x[2]

    with pytest.raises(AssertionError) as caught:
        check_passes(srcjax.vmap(first), np.ones((2, 3)))
    message = str(caught.value)
    assert "the pass `simplify: planted` changed what the function does" in message
    if change is not in_half:
        assert says in message
    before, after = message.split("After it:")
    assert "def vmap_first" in before and "def vmap_first" in after


def calls_scaled(x):
    for _ in range(2):
        x = scaled(x) * halved(x, 3)
    return x


def halved(x, n):
    if n == 0:
        return x
    return halved(x / 2, n - 1)


def test_a_pass_that_writes_to_an_argument_is_named(monkeypatch):
    planted(monkeypatch, "planted", writing)
    with pytest.raises(AssertionError, match=r"planted.*\n*.*what is written to"):
        check_passes(srcjax.jvp(sines), (np.ones(3),), (np.ones(3),))


def sines(x):
    return np.sin(x)


def test_a_wrong_backward_function_of_a_recursion_is_found(monkeypatch):
    def change(node):
        if node.name == "halved_backward":
            doubled(node)

    planted(monkeypatch, "planted", change)
    with pytest.raises(AssertionError, match="planted"):
        check_passes(srcjax.vjp(calls_scaled), X)


log: list = []


def noted(x):
    log.append(float(x[0]))
    return 2.0


def with_effects(x):
    a = noted(np.array([1.0]))
    b = noted(np.array([2.0]))
    return np.sum(x * a * b)


def test_effects_on_objects_are_compared_in_order_and_undone(monkeypatch):
    log[:] = ["before"]
    assert check_passes(srcjax.grad(with_effects), X) > 0
    assert log == ["before"]

    def change(node):
        calls = [
            k
            for k, s in enumerate(node.body)
            if isinstance(s, gast.Assign) and "noted" in syntax.text(s)
        ]
        if len(calls) > 1:
            i, j = calls[:2]
            node.body[i], node.body[j] = node.body[j], node.body[i]

    planted(monkeypatch, "planted", change)
    with pytest.raises(AssertionError, match="what is written to"):
        check_passes(srcjax.grad(with_effects), X)
    assert log == ["before"]


def test_what_is_random_is_the_same_in_each_run():
    def noisy(x):
        return np.sum(x * np.random.normal(size=3))

    state = np.random.get_state()[1].copy()
    assert check_passes(srcjax.grad(noisy), X) > 0
    np.testing.assert_array_equal(np.random.get_state()[1], state)


def test_arguments_are_left_alone():
    def overwrites(x):
        x[0] = 0.0
        return np.sum(x**2)

    x = X.copy()
    check_passes(srcjax.grad(overwrites), x)
    np.testing.assert_array_equal(x, X)


def test_it_takes_what_srcjax_made():
    with pytest.raises(srcjax.errors.ArgumentError, match="was not made by srcjax"):
        check_passes(loss, X)
