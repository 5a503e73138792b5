"""Common mistakes, and what a user sees of each: the message, and their own lines.

What stands here is the whole message without the place, which is looked at for all of
them: it is the user's line where the mistake is in the function.
"""

import os
import traceback

import numpy as np
import pytest

import srcjax
from srcjax.backends import tracebacks

W = np.array([1.0, 2.0, 3.0])
INSIDE = os.path.dirname(os.path.abspath(srcjax.__file__)) + os.sep


def loss(w):
    return np.sum(w**2)


def product(x, y):
    return np.sum(x * y)


def squares(x):
    return x**2


def forgets_to_return(x):
    y = x**2  # noqa: F841


def of_torch(x):
    return x.detach().sum()


def misspelt_method(x):
    return x.summ()


def misspelt_attribute(x):
    return np.sum(x.TT)


def misspelt_place(x):
    return np.sum(x.at[0].sett(1.0))


def two_results(x):
    return x, x


def whole_number(x):
    return int(x)


def turns_complex(x):
    return x * 1j


def always_raises(x):
    raise ValueError("no data")


def sets_a_global(x):
    global KEPT
    KEPT = x
    return x * x


def yields(x):
    yield x * x


MISTAKES = {
    "the value is given": (
        lambda: srcjax.grad(loss(W)),
        "grad needs a function, not float64",
        "Instead: `srcjax.grad(f)`",
    ),
    "an option is misspelt": (
        lambda: srcjax.grad(product, argnum=1),
        "grad has no option `argnum`",
        "Instead: `argnums`",
    ),
    "a position that is not there": (
        lambda: srcjax.grad(product, argnums=2),
        "argnums=2, but product has 2 parameters",
        "Instead: a position from 0 to 1",
    ),
    "a name that is not there": (
        lambda: srcjax.grad(product, argnums="z"),
        "argnums names `z`, but product has the parameters x, y",
        "Instead: one of these names, or a position",
    ),
    "an argument is missing": (
        lambda: srcjax.grad(product)(W),
        "grad_product() missing 1 required positional argument: 'y'",
        "",
    ),
    "an array of whole numbers": (
        lambda: srcjax.grad(loss)(np.arange(3)),
        "argument `w` is an array of int64; only real and complex numbers have a "
        "derivative",
        "Instead: `w.astype(float)`, or leave it out of argnums",
    ),
    "a list for an array": (
        lambda: srcjax.grad(loss)([1.0, 2.0]),
        "a list and a number are operands of `pow`, which Python refuses",
        "Instead: `np.array(...)` of the list",
    ),
    "a text for a number": (
        lambda: srcjax.grad(squares)("1.0"),
        "argument `x` is a str; it cannot be differentiated",
        "Instead: a float or an array of floats, or leave it out of argnums",
    ),
    "several results": (
        lambda: srcjax.grad(squares)(W),
        "the function returns an array of shape (3,); grad needs one real number",
        "Instead: `np.sum(...)` of the result, or `srcjax.vjp`",
    ),
    "a tuple of results": (
        lambda: srcjax.grad(two_results)(1.0),
        "the function returns a container; grad needs one real number",
        "Instead: `srcjax.vjp`, or has_aux=True for (value, aux)",
    ),
    "no result": (
        lambda: srcjax.grad(forgets_to_return)(1.0),
        "the function returns None; grad needs one real number",
        "Instead: `return` the number on every path",
    ),
    "a whole number as result": (
        lambda: srcjax.grad(whole_number)(1.5),
        "the function returns int64; grad needs a real floating number",
        "Instead: a float result",
    ),
    "a complex result": (
        lambda: srcjax.grad(turns_complex)(1.0),
        "the function returns complex128; grad needs a real number",
        "Instead: `holomorphic=True` if the function is holomorphic, else "
        "`srcjax.vjp`, or a real result such as `np.real(...)` or `np.abs(...)`",
    ),
    "shapes that do not fit": (
        lambda: srcjax.grad(product)(W, np.ones(2)),
        "the shapes (3,) and (2,) do not fit together here",
        "Instead: operands of fitting shapes: the function itself fails as well",
    ),
    "a method of another library": (
        lambda: srcjax.grad(of_torch)(W),
        "an array has no attribute `detach`",
        "Instead: one that it has: the function itself fails as well",
    ),
    "a misspelt method": (
        lambda: srcjax.grad(misspelt_method)(W),
        "an array has no attribute `summ`",
        "Instead: `sum`",
    ),
    "a misspelt attribute": (
        lambda: srcjax.grad(misspelt_attribute)(W),
        "an array has no attribute `TT`",
        "Instead: one that it has: the function itself fails as well",
    ),
    "a misspelt method of a place": (
        lambda: srcjax.grad(misspelt_place)(W),
        "an object of the class `Places` has no attribute `sett`",
        "Instead: `set`",
    ),
    "a function that raises": (
        lambda: srcjax.grad(always_raises)(1.0),
        "the function raises this error, whatever it is given of these types",
        "Instead: a call that gives a value: the function itself fails as well",
    ),
    "a global is set": (
        lambda: srcjax.grad(sets_a_global)(2.0),
        "a variable from around the function is set to a differentiated value "
        "(`global`, `nonlocal`)",
        "Instead: the value in the result of the function",
    ),
    "a generator": (
        lambda: srcjax.grad(yields)(1.0),
        "`yields` is a generator function: it yields its values later.",
        "Instead: collect the values in a list and return it.",
    ),
    "examples that are not as many": (
        lambda: srcjax.vmap(product)(np.ones((3, 2)), np.ones((4, 2))),
        "vmap: `y` of shape (4, 2) has 4 examples along axis 0, and `x` of shape "
        "(3, 2) has 3 along axis 0",
        "Instead: the same number of examples in every mapped argument",
    ),
    "a number is mapped": (
        lambda: srcjax.vmap(squares)(1.0),
        "vmap: `x` is a number (1.0, shape ()) and cannot be mapped along axis 0",
        "Instead: None for it in in_axes, or an array of the examples",
    ),
    "a tangent of another shape": (
        lambda: srcjax.jvp(loss, (W,), (np.ones(2),)),
        "`tangents[0]` has shape (2,); the value has (3,)",
        "Instead: a tangent of the same shape as the value",
    ),
    "primals that are no tuple": (
        lambda: srcjax.jvp(loss, W, W),
        "jvp: `primals` is no tuple but ndarray",
        "Instead: `srcjax.jvp(f, (x,), (x_dot,))`",
    ),
    "the text of the user's function": (
        lambda: srcjax.source(loss),
        "'loss' was not made by srcjax",
        "Instead: `srcjax.source(srcjax.grad(f))`",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_what_is_seen_of_a_mistake(name, monkeypatch):
    monkeypatch.setattr(tracebacks.Setting, "full", False)
    mistake, told, instead = MISTAKES[name]
    with pytest.raises(Exception) as caught:  # noqa: PT011
        mistake()
    lines = str(caught.value).splitlines()
    assert lines[0] == told
    assert lines[-1] == (instead or told)
    if len(lines) > 2:  # at the user's line
        assert lines[1].split('"')[1] == __file__
        assert lines[2].strip() and set(lines[3].strip()) == {"^"}
    seen = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    assert not any(name.startswith(INSIDE) for name in seen), seen
