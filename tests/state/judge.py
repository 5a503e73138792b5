"""What a program of `tests.state` gives in a mode, against differences."""

import warnings

import numpy as np

import srcjax
from srcjax.errors import PerformanceWarning, SrcjaxError

X = np.array([0.3, 0.8, 1.7])
STEPS = np.eye(3) * 1e-6


def differences(function):
    """The derivative along each axis."""
    return np.array([(function(X + h) - function(X - h)) / 2e-6 for h in STEPS])


def _grad(f):
    return srcjax.grad(f)(X), differences(f)


def _jvp(f):
    return srcjax.jvp(f, (X,), (X,))[1], differences(f) @ X


def _vmap(f):
    return srcjax.vmap(f)(np.array([X, X + 1])), [f(X), f(X + 1)]


def _vmap_of_grad(f):
    return srcjax.vmap(srcjax.grad(f))(np.array([X, X])), [differences(f)] * 2


def _hvp(f):
    df = srcjax.grad(f)
    return srcjax.jvp(df, (X,), (X,))[1], (
        df(X * (1 + 1e-6)) - df(X * (1 - 1e-6))
    ) / 2e-6


def _grad_of_grad(f):
    def along(z):
        return srcjax.grad(f)(z) @ z

    return srcjax.grad(along)(X), differences(along)


MODES = {
    "grad": _grad,
    "jvp": _jvp,
    "vmap": _vmap,
    "vmap(grad)": _vmap_of_grad,
    "jvp(grad)": _hvp,
    "grad(grad)": _grad_of_grad,
}


def verdict(function, mode):
    """`right`, `refused: why` or `wrong: by how much`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PerformanceWarning)
        try:
            got, wanted = MODES[mode](function)
        except SrcjaxError as error:
            return "refused: " + str(error).splitlines()[0]
    error = np.max(np.abs(np.asarray(got) - wanted))
    return "right" if error < 1e-4 else f"wrong: {error}"
