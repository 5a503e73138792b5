"""What is in a mutable default of a function that is called, and what becomes of it."""

import numpy as np
import pytest

import srcjax

X = np.array([0.5, 1.5, 2.0])


def remembering(x, cache={}):  # noqa: B006
    if "k" in cache:
        return np.sum(x) * cache["k"]
    cache["k"] = 5.0
    return np.sum(x)


def with_options(x, options={"scale": 2.0}):  # noqa: B006
    if options.get("square"):
        return np.sum(x**2)
    return np.sum(x) * options["scale"]


def weighted(x, weights=[1.0, 2.0]):  # noqa: B006
    total = 0.0
    for w in weights:
        total = total + np.sum(x) * w
    return total


def chained(x, functions=[np.sin]):  # noqa: B006
    for function in functions:
        x = function(x)
    return np.sum(x)


def named(x, *, factors={"a": 1.0}):  # noqa: B006
    for key in factors:
        x = x * factors[key]
    return np.sum(x)


def times_three(v):
    return v * 3


CHANGES = {
    remembering: lambda f: None,
    with_options: lambda f: f.__defaults__[0].update(square=True),
    weighted: lambda f: f.__defaults__[0].append(10.0),
    chained: lambda f: f.__defaults__[0].append(times_three),
    named: lambda f: f.__kwdefaults__["factors"].update(b=7.0),
}


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("of", CHANGES, ids=lambda of: of.__name__)
@pytest.mark.parametrize("maker", [srcjax.grad, srcjax.vmap], ids=["grad", "vmap"])
def test_a_change_is_seen(of, maker):
    default = (of.__defaults__ or [*of.__kwdefaults__.values()])[0]
    before = default.copy()

    def f(x):
        return of(x) * 1.0

    def slopes():
        return [(f(X + h) - f(X - h)) / 2e-6 for h in np.eye(3) * 1e-6]

    try:
        made = maker(f)
        made(X if maker is srcjax.grad else X[None])
        CHANGES[of](of)
        if maker is srcjax.grad:
            np.testing.assert_allclose(made(X), slopes(), rtol=1e-6)
        else:
            np.testing.assert_allclose(made(X[None]), [f(X)])
    finally:
        default.clear()
        default.update(before) if isinstance(default, dict) else default.extend(before)


def test_a_write_to_a_default_that_the_gradient_does_not_need():
    def f(x):
        return remembering(x) * 1.0

    cache = remembering.__defaults__[0]
    try:
        np.testing.assert_allclose(srcjax.grad(f)(X), np.ones(3))
        assert cache == {"k": 5.0}
    finally:
        cache.clear()
