"""JAX's `debug`: to see values while a transformed function runs.

    from srcjax import debug

    def loss(w):
        y = np.tanh(w)
        debug.print("y = {y}", y=y)
        return y.sum()

Python's own `print` and `breakpoint` do the same here: generated text is Python that
runs. They are seen once in a gradient, in its forward sweep, and in a batch once for
each example, which then runs in a loop.
"""

from builtins import breakpoint

from srcjax.debug.printing import print_formatted as print
from srcjax.ops.callbacks import callback

__all__ = ["breakpoint", "callback", "print"]
