"""JAX's `lax`: its control flow and its operations, as plain Python on NumPy's arrays.

    from srcjax import lax

    def total(x):
        return lax.fori_loop(0, 5, lambda i, v: v * x + i, x)

The transforms go through these functions as through the user's own: in generated text a
`scan` is the loop that it is, and reverse mode works through `while_loop` too. Python's
own `if`, `for` and `while` do the same, and read better.
"""

from srcjax.analysis.stopped import stop_gradient
from srcjax.lax.control_flow import (
    associative_scan,
    cond,
    fori_loop,
    map,
    scan,
    switch,
    while_loop,
)
from srcjax.lax.slices import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_update_slice,
    select,
)
from srcjax.ops.collectives import (
    all_gather,
    axis_index,
    pmax,
    pmean,
    pmin,
    psum,
    psum_scatter,
)

__all__ = [
    "all_gather",
    "associative_scan",
    "axis_index",
    "cond",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_update_slice",
    "fori_loop",
    "map",
    "pmax",
    "pmean",
    "pmin",
    "psum",
    "psum_scatter",
    "scan",
    "select",
    "stop_gradient",
    "switch",
    "while_loop",
]
