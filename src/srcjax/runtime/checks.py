"""What generated code finds out when it runs, because no types were known before."""

import numpy as np


def items_like(d, x):
    """The adjoint of `x` from that of `list(x)`: a list, tuple or array like `x`."""
    return type(x)(d) if isinstance(x, (list, tuple)) else np.array(d)


def in_place_of(old, x):
    """What `x` held before it was changed, where it is an array in its own memory."""
    if not hasattr(type(x), "__setitem__"):
        return old  # a number, of which `x += 1` makes another one
    x[...] = old
    return x


def refuse_in_place(x):
    """Raise TypeError for what `x += ...` would change in place: an array or list.

    The code was written for a number: another name for the array would not see the
    change.
    """
    if hasattr(type(x), "__iadd__"):
        raise TypeError(
            f"this code changes a {type(x).__name__} in place that has several names; "
            "without types it was written for numbers: give srcjax example arguments "
            "or type hints, or write `x = x + y` for `x += y`"
        )


def refuse_whole_numbers(dtype):
    """Raise TypeError for the dtype of numbers that carry no derivative."""
    if dtype is not None and not np.issubdtype(dtype, np.inexact):
        raise TypeError(
            f"a differentiated value becomes one of the dtype {np.dtype(dtype)}: whole "
            "numbers and truth values carry no derivative. Give it a floating one, or "
            "use `srcjax.stop_gradient` around the value"
        )


def refuse_number(x):
    """Raise TypeError for what `x += ...` would not change in place: a number.

    The code was written for an array, whose other names see the change.
    """
    if not hasattr(type(x), "__iadd__"):
        raise TypeError(
            f"this code changes a {type(x).__name__} in place that has several names; "
            "the number of axes was not known, and it was written for arrays: give it "
            "an axis (`np.atleast_1d`), or write `x = x + y` for `x += y`"
        )


def apart(y, x):
    """`y`, a copy of what is in `x`. Raises ValueError if it is a view of it.

    The code was written for arrays that lie in memory as NumPy makes them.
    """
    if np.may_share_memory(y, x):
        raise ValueError(
            "this array lies in memory otherwise than the code was written for, which "
            "takes a copy of it for one: give it `np.ascontiguousarray(...)`, or copy "
            "it first: `.copy()`"
        )
    return y
