"""First calls of what `jit` made run the function itself, where that is worth it."""

import functools
import math
import types

import numpy as np
import pytest

import srcjax
from srcjax import lax
from srcjax.errors import ArgumentError
from srcjax.versions import trials
from srcjax.versions.effort import effort_of, longest


def branches(x, y):
    if x > y:
        z = x * math.sin(y)
    elif x > 0.0:
        z = math.exp(-x) * y
    else:
        z = x * y
    return z * z + x


def many_sines(x):
    for _ in range(9):
        x = math.sin(x) + x
    return x


def scaled_by_rate(x):
    return rate * x  # noqa: F821


X = np.linspace(0.1, 1.0, 5)


@pytest.fixture(autouse=True)
def tried(monkeypatch):
    monkeypatch.setattr(srcjax.config, "jit_at_once", False)


def squares(x):
    return np.sum(x * x) + X[0]


def summed(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(3):
            total += x[i] * j
    return total


def halved(x):
    while x > 1.0:
        x = x / 2
    return x


def recursive(n):
    return 1 if n < 2 else n * recursive(n - 1)


def of_container(x, functions=(np.sin, np.cos)):
    for function in functions:
        x = function(x)
    return x


def replaced(x):
    return x.at[0].set(1.0)


class Layer:
    def __init__(self, function):
        self.function = function

    def __call__(self, x):
        return self.function(x)


LISTED, NAMED, LAYER = [replaced], {"c": replaced}, Layer(replaced)


def taken(x):
    function = LISTED[0]
    return np.sum(function(x))


def got(x):
    function = NAMED.get("c")
    return np.sum(function(x))


def of_layer(x):
    return np.sum(LAYER(x))


def given_on(x):
    return np.sum(lax.cond(x[0] > 0, LISTED[0], np.sin, x))


def with_method(model, x):
    return model.predict(x)


def looping(x):
    return lax.while_loop(lambda v: v > 1.0, lambda v: v / 2, x)


def scanned(xs):
    return lax.scan(lambda carry, x: (carry + x * x, carry), 0.0, xs)


def mean_of_squares(x):
    return srcjax.grad(squares)(x) / len(x)


def versions(compiled):
    return compiled.__srcjax_transform__.versions


def test_first_calls_run_the_function_itself():
    seen = []

    def f(x):
        seen.append(1)
        return np.sum(x * x)

    compiled = srcjax.jit(f)
    for _ in range(3):
        assert compiled(X) == f(X)
    assert len(seen) == 6 and not versions(compiled)


def test_it_is_compiled_once_that_is_worth_it():
    compiled = srcjax.jit(squares)
    value = compiled(X)
    account = compiled.__srcjax_transform__.account
    assert account.calls == 1 and 0 < account.spent < 0.2
    account.spent = 10.0
    np.testing.assert_allclose(compiled(X), value, rtol=1e-14)
    (version,) = set(versions(compiled).values())
    assert version.module.whole is not None and account.spent == 0
    # One for all sizes serves other sizes, and is compiled.
    np.testing.assert_allclose(compiled(X[:3]), squares(X[:3]), rtol=1e-14)
    assert account.calls == 1 and len(versions(compiled)) == 2
    text = srcjax.explain(compiled, X)
    assert text.endswith("1 calls before this one ran squares itself")
    # Other types are tried anew.
    compiled(X.astype("float32"))
    assert account.calls == 2


def test_functions_made_anew_have_one_account():
    def one():
        return srcjax.jit(lambda x: x + 1.0)

    for count in range(3):
        made = one()
        made(2.0)
        assert made.__srcjax_transform__.account.calls == count + 1


def test_what_is_asked_for_is_compiled():
    compiled = srcjax.jit(summed)
    assert "kernel(" in srcjax.source(compiled, X)
    np.testing.assert_allclose(compiled(X), summed(X))
    assert compiled.__srcjax_transform__.account.calls == 0

    again = srcjax.jit(mean_of_squares)
    again(X)
    assert not versions(again)
    np.testing.assert_allclose(again.lower(X).compile()(X), mean_of_squares(X))
    np.testing.assert_allclose(again(X), mean_of_squares(X))
    assert again.__srcjax_transform__.account.calls == 1 and versions(again)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (halved, (3.0,)),
        (recursive, (3,)),
        (of_container, (X,)),
        (replaced, (X,)),
        (with_method, (X, X)),
        (looping, (3.0,)),
        (srcjax.grad(halved), (3.0,)),
        (functools.partial(halved), (3.0,)),
        (lambda x: [halved(v) for v in x], (X,)),
        (lambda x: x.block_until_ready(), (X,)),
    ],
)
def test_what_may_take_long_or_not_run_is_compiled_at_once(function, args):
    assert effort_of(function, longest(args)).steps == math.inf
    assert trials.Account().allowance(function, list(args)) == 0.0


@pytest.mark.parametrize("function", [taken, got, of_layer, given_on])
def test_what_is_no_numpy_is_found_in_containers(function):
    assert effort_of(function, 5).steps == math.inf
    np.testing.assert_allclose(srcjax.jit(function)(X), np.sum(X[1:]) + 1.0)


def test_places_of_ufuncs_are_numpy():
    assert effort_of(lambda x: np.add.at(x, [0], 1.0), 5).steps < 10


def test_objects_are_compiled_at_once():
    class Model:
        def predict(self, x):
            return x

    assert longest([Model(), X]) is None
    assert longest([{"a": X}, 3, None, "name"]) == 5
    assert trials.Account().allowance(squares, [Model()]) == 0.0


def test_steps_are_those_of_loops_and_of_what_is_called():
    assert effort_of(squares, 1000).steps == 2
    found = effort_of(summed, 1000)
    assert 1000 * 3 <= found.steps < 1000 * 6
    assert effort_of(lambda x: summed(x) + summed(x), 10).steps > 2 * 30
    assert 1000 < effort_of(scanned, 1000).steps < 20_000
    assert effort_of(mean_of_squares, 1000).steps < 10
    long = trials.Account().allowance(summed, [np.zeros(1_000_000)])
    assert long == 0.0 < trials.Account().allowance(summed, [X])


HOLDER = types.SimpleNamespace(weights=X, apply=halved)


def test_attributes_of_objects_around_it():
    assert (
        effort_of(
            lambda x: HOLDER.weights[0] + len(list(zip(x, X, strict=True))), 10
        ).steps
        < 30
    )
    assert effort_of(lambda x: HOLDER.apply(x), 10).steps == math.inf


def test_the_setting_is_a_truth_value():
    with pytest.raises(ArgumentError, match="jit_at_once must be True or False"):
        srcjax.config.jit_at_once = 1
    srcjax.config.update("jit_at_once", True)
    compiled = srcjax.jit(lambda x: x + 2.0)
    compiled(1.0)
    assert versions(compiled)


def shifted(x, offset=None):
    return np.sin(x) if offset is None else x + offset


@pytest.mark.parametrize("args", [(X, None), (X, 2.0)])
def test_a_vmap_of_a_function_with_defaults(args):
    """`jit` makes a `vmap` of its own of them, which has to run, too."""
    batched = srcjax.vmap(shifted, in_axes=(0, None))
    np.testing.assert_allclose(srcjax.jit(batched)(*args), batched(*args))


@pytest.mark.parametrize("transform", [lambda f: f, srcjax.grad, srcjax.hessian])
def test_what_takes_less_than_a_call_of_a_kernel_stays(transform):
    compiled = srcjax.jit(transform(branches))
    assert "takes longer than" in srcjax.explain(compiled, 0.7, 0.9)
    for args in [(0.7, 0.9), (0.9, 0.7), (-0.7, 0.9)]:
        assert compiled(*args) == transform(branches)(*args)


@pytest.mark.parametrize("args", [(0.7,), (np.arange(3.0),)])
def test_loops_and_arrays_do_not_stay(args):
    function = many_sines if isinstance(args[0], float) else squares
    assert "compiled" in srcjax.explain(srcjax.jit(function), *args)


def test_what_stays_follows_names_around_it():
    names = {"math": math, "rate": 2.0}
    function = types.FunctionType(scaled_by_rate.__code__, names, "scaled_by_rate")
    compiled = srcjax.jit(function)
    with trials.at_once():
        assert compiled(3.0) == 6.0
        names["rate"] = 5.0
        assert compiled(3.0) == 15.0


def test_all_is_compiled_where_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(srcjax.config, "jit_at_once", True)
    assert "compiled" in srcjax.explain(srcjax.jit(branches), 0.7, 0.9)


class Lazy(types.ModuleType):
    """A module that imports what it is asked for, which is not there."""

    def __getattr__(self, name):
        raise ModuleNotFoundError(name)


MOVED = types.SimpleNamespace(range=range, dbm=Lazy("dbm"))


def test_modules_that_raise_when_they_are_asked():
    def f(x):
        total = 0.0
        for i in MOVED.range(int(str(len(x)))):
            total = total + np.sum(x) * i
        return total

    assert srcjax.jit(f)(np.ones(3)) == 9.0
