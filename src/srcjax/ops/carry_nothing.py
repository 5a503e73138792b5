"""Arguments of operations that carry no derivative: flags, axes, shapes, indices.

What depends on a differentiated value and goes to an operation must be named in the
rule that is applied. Otherwise its part of the derivative would be lost silently.
"""

from __future__ import annotations

from srcjax.ops.record import Op, directions

#: Names that say the same in every operation, those of users too.
_ANYWHERE = frozenset(
    [
        "axis",
        "axes",
        "axis1",
        "axis2",
        "axisa",
        "axisb",
        "axisc",
        "keepdims",
        "dtype",
        "order",
        "copy",
        "casting",
        "shape",
        "subok",
        "device",
        "like",
        "indexing",
        "sparse",
        "indices",
        "check_finite",
    ]
)
#: What further names stand for in NumPy and SciPy: counts, flags, tolerances.
#: They are whole numbers, strings or truth values, or the result is constant between
#: the jumps that they make (`stop` of `arange`, `rcond`, `a` of `full_like`).
_IN_LIBRARIES = {
    "numpy": frozenset(
        [
            "N",
            "UPLO",
            "a",
            "compute_uv",
            "condition",
            "condlist",
            "deg",
            "destination",
            "edge_order",
            "endpoint",
            "full_matrices",
            "hermitian",
            "increasing",
            "indices_or_sections",
            "k",
            "kind",
            "kth",
            "mode",
            "n",
            "norm",
            "num",
            "obj",
            "offset",
            "optimize",
            "pad_width",
            "rcond",
            "reflect_type",
            "repeats",
            "reps",
            "s",
            "stable",
            "shift",
            "source",
            "start",
            "stop",
            "strides",
            "upper",
            "window_shape",
            "writeable",
        ]
    ),
    "scipy": frozenset(
        [
            "assume_a",
            "driver",
            "eigvals_only",
            "exact",
            "extend",
            "k",
            "l_and_u",
            "lapack_driver",
            "lower",
            "m",
            "mode",
            "n",
            "norm",
            "orthogonalize",
            "overwrite_a",
            "overwrite_ab",
            "overwrite_b",
            "overwrite_x",
            "p_indices",
            "permute_l",
            "repetition",
            "select",
            "select_range",
            "side",
            "subset_by_index",
            "subset_by_value",
            "tol",
            "trans",
            "transposed",
            "type",
            "unit_diagonal",
            "workers",
        ]
    ),
}
#: Methods of arrays, and records named after them.
_METHODS = frozenset(["astype", "flatten", "reshape"])


def lost_arguments(op: Op, active: list[str], named: set[str]) -> list[str]:
    """The active arguments that neither a rule names nor anything declares constant."""
    return [n for n in active if n not in named and not is_constant(op, n)]


def is_constant(op: Op, argument: str) -> bool:
    """Whether it is declared that no derivative flows through the argument."""
    if argument in _ANYWHERE or argument in op.constant:
        return True
    partials = op.adjoint.parameters if op.elementwise and op.adjoint else ()
    if argument in partials:
        return True  # its partial is given, as None
    library = "numpy" if op.name in _METHODS else op.name.split(".")[0]
    return argument in _IN_LIBRARIES.get(library, ())


def named_in_tangent(op: Op) -> set[str]:
    """The arguments whose tangents the forward rules of the operation read."""
    named = {name.lstrip("*") for group in op.linear for name in group}
    for stmt in op.tangent.body if op.tangent is not None else ():
        named |= directions(stmt)
    return named
