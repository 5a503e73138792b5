"""Checks of derivatives against finite differences, for users' tests and our own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcjax.backends.marks import transform_of
from srcjax.checks.leaves import is_real_leaf, long_dtype, put, walk
from srcjax.checks.passes import changes_of
from srcjax.errors import ArgumentError
from srcjax.teaching.compared import compare

__all__ = ["check_grads", "check_passes", "compare"]

MODES = ("rev", "fwd")


@dataclass(frozen=True)
class Precision:
    """How near a derivative can be to a difference in one floating dtype."""

    rtol: float
    atol: float
    #: Step of the differences, relative to the size of the argument.
    eps: float


# The error of a difference of fourth order with step h is about h**4 + u / h, where u
# is the rounding unit; steps are near the minimum, tolerances some way above it.
PRECISION = {
    8: Precision(rtol=1e-6, atol=1e-7, eps=1e-3),
    4: Precision(rtol=2e-3, atol=2e-3, eps=3e-2),
    2: Precision(rtol=5e-2, atol=5e-2, eps=1e-1),
}


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] | str = ("rev",),
    rtol: float | None = None,
    atol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of `f` at `args` against finite differences.

    Every argument is differentiated, but for whole numbers beside real ones, which
    `vjp` holds; to keep another one fixed, bind it (a closure or a lambda). The value
    may be a number, an array or a pytree of them. Each leaf of the arguments is moved
    in one random direction, with one random cotangent for the value; both are the same
    in each run.

    Args:
        f: the function. It has to be smooth near `args`.
        args: a tuple or list of arguments: pytrees of floating point (or complex)
            arrays and Python numbers.
        order: how many derivatives to check: 2 also checks the gradient of the
            gradient, and so on.
        modes: `"rev"` checks `srcjax.vjp`; `"fwd"` checks `srcjax.jvp`. Beyond the
            first order, the derivative of one mode is checked in all modes.
        rtol, atol: how far a derivative may be from the difference; by default what
            the lowest precision among arguments and value allows (float64: 1e-6, 1e-7).
        eps: the step of the differences, relative to the typical size of a leaf where
            that is above 1. By default what the precision allows (float64: 1e-3).

    Raises:
        AssertionError: a derivative is wrong. The message names the leaf of the
            arguments, and has both numbers and the error.
        ArgumentError: a mode that does not exist, or an argument without a derivative.

    A test of your own rule is one line: `check_grads(f, (x, y), order=2)`.
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    check_modes(modes)
    if not isinstance(args, (tuple, list)):
        raise ArgumentError(
            f"args must be a tuple of arguments, not {type(args).__name__}",
            instead="`check_grads(f, (x,))`",
        )
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ArgumentError(
            f"order must be 1 or more, not {order!r}", instead="order=1"
        )
    check_order(f, tuple(args), order, modes, (rtol, atol, eps), name_of(f))


def check_passes(df: Callable[..., Any], *args: Any, **kwargs: Any) -> int:
    """Check that no pass changed what a derivative does, by running all its texts.

    From the transform on, the text between two passes is Python. Each one is run on
    copies of the arguments, and results, dtypes, containers, what is written to
    arguments and to what is reached from the function, what is printed and what is
    raised are compared with those of the text before it. A function that does not
    give the same twice is not looked at.

    Args:
        df: what a transform gave, such as `srcjax.grad(f)`, `srcjax.vjp(f)`,
            `srcjax.jvp(f)` (then `args` are the primals and the tangents) or
            `srcjax.vmap(f)`.
        args, kwargs: what to call it with.

    Returns:
        How many texts were compared with the one before.

    Raises:
        AssertionError: a pass changed what the function does. The message names it,
            says how, and has the text before and after it.

    `srcjax.stages(df, *args)` lists the passes, and what each changed.
    """
    transform = transform_of(df, "check_passes(srcjax.grad(f), x)")
    found, count = changes_of(transform, args, kwargs)
    if found:
        raise AssertionError(str(found[0]))
    return count


def check_modes(modes: tuple[str, ...]) -> None:
    """Raise ArgumentError for a mode that does not exist."""
    for mode in modes:
        if mode not in MODES:
            raise ArgumentError(f"there is no mode {mode!r}", instead='"rev" or "fwd"')
        if mode == "fwd":
            forward_mode()
    if not modes:
        raise ArgumentError("modes is empty", instead='`modes=("rev",)`')


def forward_mode() -> Callable[..., Any]:
    """`srcjax.jvp`, looked up when it is needed. Raises ArgumentError without it."""
    import srcjax

    found = getattr(srcjax, "jvp", None)
    if found is None:
        raise ArgumentError(
            'mode "fwd" needs srcjax.jvp: this version has no forward mode',
            instead='`modes=("rev",)`',
        )
    return found


def check_order(
    f: Callable[..., Any],
    args: tuple,
    order: int,
    modes: tuple[str, ...],
    wanted: tuple[float | None, float | None, float | None],
    what: str,
    depth: int = 0,
) -> None:
    """Check one derivative in each mode, then that derivative as a function.

    `args` are the user's inside `depth` tuples of one argument.
    """
    import srcjax

    primals = Leaves(args, "args", depth)
    value = f(*copy.deepcopy(args))
    results = Leaves(value)
    precision = precision_of([*primals.values, *results.values], *wanted)
    rng = np.random.default_rng(0)
    weights = [weight(leaf, rng) for leaf in results.values]
    held = any(map(is_real_leaf, primals.values))
    tangents = [weight(leaf, rng, held) for leaf in primals.values]
    numeric = [
        sum_of_products(weights, difference(f, primals, i, tangent, precision.eps))
        for i, tangent in enumerate(tangents)
    ]
    cotangent = results.rebuild(weights)
    if "rev" in modes:
        name = f"the vjp of {what}"
        got, pullback = srcjax.vjp(f, *copy.deepcopy(args))
        check_value(got, results, precision, name)
        gradients = gradient_leaves(pullback(copy.deepcopy(cotangent)), primals, name)
        for i, (gradient, tangent) in enumerate(zip(gradients, tangents, strict=True)):
            analytic = sum_of_products([gradient], [tangent])
            agree(analytic, numeric[i], precision, primals.where(i), name)
    if "fwd" in modes:
        name = f"the jvp of {what}"
        for i, tangent in enumerate(tangents):
            alone = [np.zeros_like(t)[()] for t in tangents]
            alone[i] = tangent
            got, moved = forward_mode()(f, copy.deepcopy(args), primals.rebuild(alone))
            check_value(got, results, precision, name)
            analytic = sum_of_products(weights, result_leaves(moved, results, name))
            agree(analytic, numeric[i], precision, primals.where(i), name)
    if order > 1:
        name = f"the derivative of {what}"
        if "rev" in modes:
            gradient = gradient_of_sum(f, cotangent)
            found = gradient_leaves(gradient(copy.deepcopy(args)), primals, name)
            for i, (one, tangent) in enumerate(zip(found, tangents, strict=True)):
                analytic = sum_of_products([one], [tangent])
                agree(analytic, numeric[i], precision, primals.where(i), name)
            check_order(gradient, (args,), order - 1, modes, wanted, name, depth + 1)
        else:
            moved = directional(f, primals.rebuild(tangents))
            check_order(moved, args, order - 1, modes, wanted, name, depth)


def gradient_of_sum(f: Callable[..., Any], cotangent: Any) -> Callable[..., Any]:
    """The gradient of the weighted sum of `f`, as a function of one tuple."""
    import srcjax

    containers = (dict, list, tuple)

    def leaf(args):
        return np.real(np.sum(cotangent * f(*args)))

    def leaves(args):
        total = 0.0
        for weights, value in zip(cotangent, f(*args), strict=True):
            total = total + np.real(np.sum(weights * value))
        return total

    def tree(args):
        return weighted_sum(cotangent, f(*args))

    # No recursion where none is needed: a value whose type is not known goes through.
    if not isinstance(cotangent, containers):
        return srcjax.grad(leaf)
    plain = isinstance(cotangent, (list, tuple))
    nested = any(isinstance(part, containers) for part in cotangent)
    return srcjax.grad(leaves if plain and not nested else tree)


def weighted_sum(weights, value):
    """The sum of all leaves of a value, weighted: in Python that srcjax reads."""
    if isinstance(value, dict):
        total = 0.0
        for key in value:
            total = total + weighted_sum(weights[key], value[key])
        return total
    if isinstance(value, (tuple, list)):
        total = 0.0
        for weight_of_part, part in zip(weights, value, strict=True):
            total = total + weighted_sum(weight_of_part, part)
        return total
    return np.real(np.sum(weights * value))


def directional(f: Callable[..., Any], direction: Any) -> Callable[..., Any]:
    """The tangent of `f` along a direction, as a function of its arguments."""
    jvp = forward_mode()

    def tangent(*args):
        _, moved = jvp(f, args, direction)
        return moved

    return tangent


# -- the leaves of arguments and values ------------------------------------------------


class Leaves:
    """The leaves of a pytree, their names, and how to put others in their place.

    A dataclass is a container of its fields, registered with optree or not.
    """

    def __init__(self, tree: Any, root: str = "value", depth: int = 0) -> None:
        self.tree = tree
        self.depth = depth
        found = list(walk(tree, root))
        packed = root + "[0]" * depth
        self.names = [root + name.removeprefix(packed) for name, _ in found]
        self.values = [leaf for _, leaf in found]
        if root == "args":
            for name, leaf in zip(self.names, self.values, strict=True):
                check_leaf(leaf, name)

    def rebuild(self, values: Sequence[Any]) -> Any:
        """The same containers around other leaves."""
        return put(self.tree, iter(values))

    def where(self, i: int) -> str:
        """The name of a leaf, as the user would write it."""
        return self.names[i]


def check_leaf(leaf: Any, name: str) -> None:
    """Raise ArgumentError unless the leaf is a floating number or array of them."""
    dtype = getattr(leaf, "dtype", None)
    if dtype is not None and dtype.kind in "fc":
        return
    numbers = (int, float, complex)
    if dtype is None and isinstance(leaf, numbers) and not isinstance(leaf, bool):
        return
    kind = type(leaf).__name__ if dtype is None else f"{dtype.name} array"
    raise ArgumentError(
        f"{name} is a {kind}; check_grads moves every argument a little, which takes "
        "floating numbers",
        instead="bind it: `check_grads(lambda x: f(x, n), (x,))`",
    )


def weight(leaf: Any, rng: np.random.Generator, held: bool = False) -> Any:
    """A random cotangent or tangent for a leaf: zero for what is not floating.

    So for whole numbers of Python only if these are held, as beside real ones.
    """
    dtype = np.asarray(leaf).dtype
    drawn = np.asarray(rng.normal(size=np.shape(leaf)))
    if dtype.kind == "c":
        drawn = drawn + 1j * rng.normal(size=np.shape(leaf))
        return drawn.astype(dtype)[()] if hasattr(leaf, "dtype") else complex(drawn)
    if dtype.kind != "f":
        if isinstance(leaf, int) and not (held or isinstance(leaf, bool)):
            return float(drawn)
        return np.zeros_like(drawn)[()]
    if hasattr(leaf, "dtype"):
        return drawn.astype(dtype)[()]
    return float(drawn)


# -- differences -----------------------------------------------------------------------


def difference(
    f: Callable[..., Any], primals: Leaves, i: int, tangent: Any, eps: float
) -> list[np.ndarray]:
    """How the leaves of the value change along the tangent of one leaf, per unit.

    A central difference of fourth order.
    """
    leaf = primals.values[i]
    squares = np.square(np.abs(leaf).astype(float))
    size = float(np.sqrt(np.mean(squares))) if squares.size else 0.0
    step = eps * max(1.0, size)

    def at(offset: float) -> list[np.ndarray]:
        moved = leaf + np.asarray(tangent) * np.asarray(offset, np.result_type(tangent))
        if not hasattr(leaf, "dtype"):
            moved = complex(moved) if isinstance(leaf, complex) else float(moved)
        values = copy.deepcopy(primals.values)
        values[i] = moved
        tree = primals.rebuild(values)
        found = Leaves(f(*tree)).values
        return [np.asarray(each, long_dtype(each)) for each in found]

    near = [a - b for a, b in zip(at(step), at(-step), strict=True)]
    far = [a - b for a, b in zip(at(2 * step), at(-2 * step), strict=True)]
    return [(8 * a - b) / (12 * step) for a, b in zip(near, far, strict=True)]


def sum_of_products(left: Sequence[Any], right: Sequence[Any]) -> float:
    """The inner product of two lists of leaves; of complex ones the real part."""
    return float(
        sum(
            np.real(np.sum(np.asarray(a, long_dtype(a)) * np.asarray(b, long_dtype(b))))
            for a, b in zip(left, right, strict=True)
        )
    )


def precision_of(
    leaves: Sequence[Any], rtol: float | None, atol: float | None, eps: float | None
) -> Precision:
    """What the lowest precision among the leaves allows, unless the caller says."""
    sizes = [
        min(8, np.finfo(leaf.dtype).bits // 8)
        for leaf in leaves
        if getattr(leaf, "dtype", np.dtype(int)).kind in "fc"
    ]
    found = PRECISION[min(sizes, default=8)]
    return Precision(
        found.rtol if rtol is None else rtol,
        found.atol if atol is None else atol,
        found.eps if eps is None else eps,
    )


# -- comparison ------------------------------------------------------------------------


def agree(
    analytic: float, numeric: float, precision: Precision, where: str, name: str
) -> None:
    """Raise AssertionError unless the two directional derivatives agree."""
    error = abs(analytic - numeric)
    allowed = precision.atol + precision.rtol * max(abs(analytic), abs(numeric))
    if error <= allowed:
        return
    raise AssertionError(
        f"{name} is wrong with respect to {where}:\n"
        f"  derivative along a random direction: {analytic!r}\n"
        f"  finite difference along it:          {numeric!r}\n"
        f"  error {error:.3g}, allowed {allowed:.3g}"
    )


def check_value(got: Any, expected: Leaves, precision: Precision, name: str) -> None:
    """Raise AssertionError unless the transformed function gives the value of `f`."""
    found = result_leaves(got, expected, name)
    pairs = zip(found, expected.values, expected.names, strict=True)
    for actual, wanted, where in pairs:
        if np.asarray(wanted).dtype.kind not in "fcbiu":
            continue
        rtol, atol = precision.rtol, precision.atol
        if not np.allclose(actual, wanted, rtol, atol, equal_nan=True):
            raise AssertionError(
                f"{name} gives another {where} than the function:\n"
                f"  transformed: {actual!r}\n  function:    {wanted!r}"
            )


def result_leaves(tree: Any, expected: Leaves, name: str) -> list[Any]:
    """The leaves of a value or its tangent. Raises AssertionError for other ones."""
    found = Leaves(tree)
    check_structure(found, expected, name)
    return found.values


def gradient_leaves(gradients: Any, primals: Leaves, name: str) -> list[Any]:
    """The leaves of the gradients; AssertionError unless they fit the primals."""
    found = Leaves(gradients, depth=primals.depth)
    found.names = ["args" + each.removeprefix("value") for each in found.names]
    check_structure(found, primals, name)
    for gradient, primal, where in zip(
        found.values, primals.values, primals.names, strict=True
    ):
        dtype = getattr(primal, "dtype", None)
        if dtype is not None and np.asarray(gradient).dtype != dtype:
            raise AssertionError(
                f"{name} with respect to {where} has dtype "
                f"{np.asarray(gradient).dtype}, but the argument has {dtype}"
            )
    return found.values


def check_structure(found: Leaves, expected: Leaves, name: str) -> None:
    """Raise AssertionError unless the leaves have the same names and shapes."""
    if found.names != expected.names:
        raise AssertionError(
            f"{name} has the leaves {', '.join(found.names) or '(none)'}, "
            f"but expected are {', '.join(expected.names) or '(none)'}"
        )
    for actual, wanted, where in zip(
        found.values, expected.values, expected.names, strict=True
    ):
        if np.shape(actual) != np.shape(wanted):
            raise AssertionError(
                f"{name} has shape {np.shape(actual)} at {where}, "
                f"expected {np.shape(wanted)}"
            )


def name_of(f: Any) -> str:
    """What to call the function in messages."""
    return getattr(f, "__name__", None) or repr(f)
