"""Errors that once misled: they show the user's line, and what to write instead."""

import sys

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError

LIBRARY = """
KEPT = []


def total(x):
    KEPT.append(x)
    return x


class Wrapped:
    def __init__(self, x):
        self.x = x

    def clipped(self, x):
        KEPT.append(x)
        return x
"""


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library that was installed, and does what is not differentiated."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "installed_library.py").write_text(LIBRARY)
    monkeypatch.syspath_prepend(folder)
    import installed_library

    yield installed_library
    sys.modules.pop("installed_library")


def test_code_of_other_libraries_is_told_at_the_users_line(library):
    def mine(x):
        y = 2.0 * x
        return library.total(y)

    with pytest.raises(UnsupportedError) as caught:
        srcjax.grad(mine)(1.0)
    assert caught.value.filename == __file__
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(
        "`library.total` of installed_library is not differentiated: "
    )
    assert lines[0].endswith("(installed_library.py, line 6)")
    assert lines[2].strip() == "return library.total(y)"
    assert lines[3].strip() == "^" * len("library.total(y)")


def test_what_numpy_has_is_named(library):
    library.Wrapped.clipped.__qualname__ = "clip"
    kept = library.Wrapped(1.0)

    def mine(x):
        return kept.clipped(x)

    with pytest.raises(UnsupportedError, match="Instead: `np.clip`"):
        srcjax.grad(mine)(1.0)


def refused(x):
    if x.ndim != 3:
        raise ValueError("three axes")
    return np.sum(x)


def endless(x):
    return endless(x)


def test_a_function_that_always_raises():
    with pytest.raises(UnsupportedError, match="the function raises") as caught:
        srcjax.grad(refused)(np.ones(2))
    assert 'raise ValueError("three axes")' in str(caught.value)
    with pytest.raises(UnsupportedError, match="no path through the function returns"):
        srcjax.grad(endless)(1.0)


def test_functions_of_numpy_are_functions():
    np.testing.assert_allclose(srcjax.grad(np.sin)(0.3), np.cos(0.3))
    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(srcjax.grad(np.linalg.norm)(x), x / np.linalg.norm(x))
    np.testing.assert_array_equal(srcjax.vmap(np.dot)(np.eye(2), np.ones((2, 2))), 1.0)


def number_or_array(t, s):
    if t >= 3.0:
        return 0.0
    return np.log(t) * s


@pytest.mark.parametrize("s", [np.array([0.4, 0.3]), np.array([0.4])])
def test_a_result_that_is_a_number_on_one_path(s):
    """There is no gradient of what is an array on the other one."""
    for transform in (srcjax.grad, srcjax.value_and_grad):
        with pytest.raises(TypeError, match=r"a number or an array of shape \(\d,\)"):
            transform(number_or_array, argnums=1)(2.0, s)
