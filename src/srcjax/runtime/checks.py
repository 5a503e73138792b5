"""What generated code finds out when it runs, because no types were known before."""

import numpy as np


def items_like(d, x):
    """The adjoint of `x` from that of `list(x)`: a list, tuple or array like `x`."""
    return type(x)(d) if isinstance(x, (list, tuple)) else np.array(d)


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
