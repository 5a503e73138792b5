"""What looks at a value without taking anything of it that carries a derivative."""

from __future__ import annotations

#: Attributes that tell what all examples of a batch have in common.
SHAPE_ATTRIBUTES = frozenset(["shape", "ndim", "size", "dtype"])
#: Builtins, and functions by the names of their records, that do.
SHAPE_BUILTINS = frozenset(
    ["len", "isinstance", "callable", "hasattr", "type", "print"]
)
SHAPE_FUNCTIONS = frozenset(
    ["numpy.shape", "numpy.ndim", "numpy.size", "srcjax.lax.are_alike"]
)
#: Calls in generated text that look at structure and shapes only.
SHAPE_CALLS = frozenset(["len", "isinstance", "np.shape", "np.ndim", "np.size"])

#: What makes an array of a shape that is spelled out, as generated text calls it.
MAKERS = frozenset({"np.empty", "np.zeros", "np.ones", "np.full"})
