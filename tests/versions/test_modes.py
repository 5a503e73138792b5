"""`disable_jit` and `debug_nans`."""

import sys

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError
from tests.corpus.harness import assert_close

X = np.array([1.0, 2.0])
BAD = np.array([1.0, -2.0])


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"):
        yield


def inner(x):
    y = x * 2
    return np.log(y)


def loss(x):
    z = inner(x)
    return np.sum(z * x)


def slope(x):
    w = np.sqrt(x)
    return np.sum(w)


def raised(call, name, line):
    """The error names the variable, and its note the user's line."""
    with pytest.raises(FloatingPointError, match=name) as caught:
        call()
    (note,) = [n for n in caught.value.__notes__ if "user's code" in n]
    assert __file__ in note and note.endswith(line), note


def test_nans_are_found_where_they_come_from():
    compiled = srcjax.jit(loss)
    value = srcjax.value_and_grad(loss)
    batched = srcjax.vmap(loss)
    rows = np.stack([X, BAD])
    for _ in range(3):  # versions that are found fast are found no more
        compiled(X), value(X), batched(rows)
    assert np.isnan(compiled(BAD))
    before = sys.gettrace()
    with srcjax.debug_nans(True):
        raised(lambda: compiled(BAD), "jit of loss gives", "return np.log(y)")
        raised(lambda: value(BAD), "of loss gives", "return np.log(y)")
        raised(lambda: batched(rows), "vmap of loss gives", "return np.log(y)")
        raised(
            lambda: srcjax.jvp(loss, (BAD,), (X,)), "jvp of loss", "return np.log(y)"
        )
        raised(lambda: srcjax.vjp(loss, BAD), "vjp of loss", "return np.log(y)")
        assert_close(value(X)[0], loss(X))
        # A gradient alone has no NaN where the logarithm has one.
        raised(lambda: srcjax.jit(slope)(BAD), "first one is in `w`", "w = np.sqrt(x)")
        zero = np.zeros(2)
        pull = srcjax.vjp(slope, zero)[1]
        raised(lambda: pull(0.0), "vjp of slope gives", "w = np.sqrt(x)")
        assert sys.gettrace() is before
    assert np.isnan(compiled(BAD)) and np.isnan(batched(rows)[1])


def test_settings_by_the_names_of_jax():
    srcjax.config.update("jax_debug_nans", True)
    try:
        raised(lambda: srcjax.jit(loss)(BAD), "NaN in what", "return np.log(y)")
    finally:
        srcjax.config.update("jax_debug_nans", False)
    assert np.isnan(srcjax.jit(loss)(BAD))
    with pytest.raises(ArgumentError, match="must be True or False, not 1"):
        srcjax.config.update("jax_disable_jit", 1)
    srcjax.config.update("jax_enable_x64", True)
    try:
        assert srcjax.random.normal(srcjax.random.key(0)).dtype == np.float64
    finally:
        srcjax.config.update("jax_enable_x64", False)
    assert srcjax.random.normal(srcjax.random.key(0)).dtype == np.float32


CALLS = []


def noted(x, k):
    CALLS.append(sys._getframe().f_code.co_filename)
    return x * k


def test_compiled_functions_run_as_they_are():
    compiled = srcjax.jit(noted)
    fixed = srcjax.jit(noted, static_argnums=1)
    for _ in range(3):
        compiled(X, 2.0), fixed(X, 2.0)
    with srcjax.disable_jit():
        CALLS.clear()
        assert_close(compiled(X, 3.0), 3.0 * X)
        assert_close(fixed(X, 2.0), 2.0 * X)
        assert [__file__, __file__] == CALLS
        with srcjax.disable_jit(False):
            compiled(X, 3.0)
        assert_close(srcjax.grad(lambda x: compiled(x, 3.0).sum())(X), np.full(2, 3.0))
    assert_close(compiled(X, 3.0), 3.0 * X)
