"""`jacfwd`, `jacrev`, `hessian` and `hvp`: whole matrices of derivatives.

    def jacfwd_f(x):
        # Each column: the derivative along one element of x.
        x_dot = np.eye(x.size)
        y = np.sin(x)
        y_dot = x_dot * np.cos(x)
        return y_dot.T

The text is written for the types of the arguments; it is an ordinary function, or calls
`f_forward` and `f_backward`, and can be transformed again.
All columns, or rows, are computed at once, as `vmap` would; where that is not possible
(an operation without a batch rule, types that are not known) the text is a loop:

    columns = [pushforward_f(x, x_dot) for x_dot in np.eye(x.size)]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, overload

import numpy as np

from srcjax import pipeline
from srcjax.analysis.kept import Kept
from srcjax.analysis.types import (
    UNKNOWN,
    Array,
    Const,
    Tuple,
    Type,
    Unknown,
    dtype_of,
    has_complex,
    is_number,
)
from srcjax.api.forward import jvp
from srcjax.api.jacobian_texts.batches import columns_at_once, rows_at_once
from srcjax.api.jacobian_texts.loops import Columns, Rows
from srcjax.api.jacobian_texts.text import (
    Unwritable,
    Writer,
    jacobian_type,
    leaves_of,
)
from srcjax.api.options import as_decorator, with_known_options
from srcjax.api.reverse import grad
from srcjax.backends.module import Module
from srcjax.checks.leaves import leaves
from srcjax.errors import ArgumentError
from srcjax.versions.callables import Argnums, Transform, make_callable
from srcjax.versions.facts import has_real, listed, without_activity
from srcjax.versions.recipes import Recipe

P = ParamSpec("P")


class Jacobian(Transform):
    """`jacfwd` and `jacrev`."""

    def __init__(
        self,
        function: Callable,
        argnums: Argnums,
        has_aux: bool,
        name: str,
        inside: bool = False,
        holomorphic: bool = False,
    ) -> None:
        self.name = name
        super().__init__(function, argnums)
        self.has_aux = has_aux
        self.holomorphic = holomorphic
        #: Whether it is a part of another transform, and its name is not seen.
        self.inside = inside

    @property
    def of(self) -> Callable:
        if self.name == "hessian" and self.inner is not None:
            return self.inner.function
        return self.function

    def summary(self) -> str:
        names = listed(self.wrt)
        if self.name == "hessian":
            assert self.inner is not None
            return f"Hessian of {self.inner.shown_name} with respect to {names}"
        return f"Jacobian of {self.shown_name} with respect to {names}"

    def build(self, types: list[Type], typed: bool) -> Module:
        self.check_arguments(types)
        writer: Writer
        if self.name == "jacrev":
            request = self.request(types)
            module = pipeline.vjp(request)
            self.check_value(self.value(module))
            if is_number(self.value(module)):
                # One row: the gradient.
                module = pipeline.gradient(
                    request,
                    self.single,
                    False,
                    self.has_aux,
                    typed,
                    self.holomorphic,
                )
                if not self.inside:
                    module.functions[-1].name = f"jacrev_{self.source.name}"
                    module.name = module.entry = module.functions[-1].name
                    module.print()
                return module
            found = rows_at_once(self, module, types)
            if found is None:
                pipeline.keep_saved(module)
            writer = found or Rows(self, module, types)
        else:
            column = self.one_column(types)
            if column is not None:
                return column
            writer = self.batched_columns(types) or self.columns(types)
        writer.write()
        writer.module.print()
        return writer.module

    def one_column(self, types: list[Type]) -> Module | None:
        """The derivative along the one number that it is with respect to, if it is one.

        That is all there is to it, where the value is a number or an array.
        """
        if (
            self.has_aux
            or not self.single
            or not all(map(is_number, self.moved(types)))
        ):
            return None
        module = pipeline.jvp(
            self.request(types), f"{self.name}_{self.source.name}", along_one=True
        )
        value = self.value(module)
        if not is_number(value) and not isinstance(value, Array):
            return None
        self.check_value(value)
        module.print()
        return module

    def batched_columns(self, types: list[Type]) -> Writer | None:
        """What writes all columns at once; None where that is not possible."""
        if all(is_number(t) for t in self.moved(types)):
            return None
        module = pipeline.jvp(self.request(types))
        self.check_value(self.value(module))
        return columns_at_once(self, module, types)

    def columns(self, types: list[Type]) -> Writer:
        """What writes column by column, each of a pushforward without the value."""
        name = "" if self.has_aux else f"pushforward_{self.source.name}"
        module = pipeline.jvp(self.request(types), name)
        self.check_value(self.value(module))
        return Columns(self, module, types)

    def moved(self, types: list[Type]) -> list[Type]:
        """The types of the arguments that it is with respect to."""
        named = dict(zip(self.parameters, types, strict=True))
        return [named[n] for n in self.wrt]

    def along(self, values: list[Any], tangents: list[Any], weights: Any) -> Any:
        args, kwargs = self.arguments(values)
        version, values, keywords = self.prepare(tuple(args), kwargs)
        result = version.function(*values, **keywords)
        found = leaves(result[0] if self.has_aux else result)
        parts, dots = leaves(weights), leaves(tangents)
        if len(found) != len(parts) * len(dots):
            return None
        blocks = [np.asarray(b) for b in found]
        moved = [
            sum(
                np.tensordot(block, np.asarray(dot), np.ndim(dot))
                for block, dot in zip(
                    blocks[k * len(dots) : (k + 1) * len(dots)], dots, strict=True
                )
            )
            for k in range(len(parts))
        ]
        return parts, moved

    def opposite(self) -> Transform | None:
        other = "forward" if self.name == "jacrev" else "reverse"
        return self.OPPOSITES[other](self.function, tuple(self.wrt), self.has_aux)

    def value(self, module: Module) -> Type:
        """The type of what is differentiated."""
        result = module.result
        if not self.has_aux:
            return result
        if isinstance(result, Tuple) and len(result.items) == 2:
            return result.items[0]
        if isinstance(result, Unknown):
            return result
        raise ArgumentError(
            f"with has_aux=True, {self.source.name} must return (value, aux)",
            instead="`return value, aux`",
        )

    def result_type(self, types: list[Type], value: Callable[[], Type]) -> Type:
        named = dict(zip(self.parameters, map(without_activity, types), strict=True))
        result = without_activity(value())
        aux: Type | None = None
        if self.has_aux:
            if not (isinstance(result, Tuple) and len(result.items) == 2):
                return UNKNOWN
            result, aux = result.items
        try:
            found = tuple(jacobian_type(result, named[n]) for n in self.wrt)
        except Unwritable:
            return UNKNOWN
        jacobian = found[0] if self.single else Tuple(items=found)
        return jacobian if aux is None else Tuple(items=(jacobian, aux))

    def check_arguments(self, types: list[Type]) -> None:
        """A Jacobian has a real column (or row) for each element.

        With `holomorphic`, a complex one.
        """
        for name, t in zip(self.parameters, types, strict=True):
            if self.holomorphic:
                if name in self.wrt and has_real(t):
                    raise ArgumentError(
                        f"argument `{name}` is real; {self.name} with holomorphic=True "
                        "needs complex arguments",
                        instead=f"`{name} + 0j`, or no holomorphic=True",
                    )
            elif name in self.wrt and has_complex(t):
                raise ArgumentError(
                    f"argument `{name}` of {self.source.name} is complex; "
                    f"{self.name} needs real arguments",
                    instead="holomorphic=True, or the real and the imaginary part as "
                    "two arguments, or `srcjax.vjp` or `srcjax.jvp`",
                )

    def check_value(self, value: Type) -> None:
        """Numbers that are no real numbers have no derivative."""
        try:
            found = leaves_of(value, "")
        except Unwritable:
            return
        for path, t in found:
            dtype = dtype_of(t)
            constant = isinstance(t, Const) and type(t.value) in (int, float)
            wanted = "c" if self.holomorphic else "f"
            if dtype is not None and dtype.kind != wanted and not constant:
                where = f" at {path}" if path else ""
                kind = "complex" if self.holomorphic else "real"
                raise ArgumentError(
                    f"{self.source.name} returns {dtype.name}{where}; "
                    f"{self.name} needs {kind} numbers",
                    instead=f"a {'complex' if self.holomorphic else 'float'} result, "
                    "or has_aux=True for what goes along",
                )


# -- what users call ---------------------------------------------------------------


@overload
def jacfwd(
    f: Callable[P, Any],
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[P, Any]: ...
@overload
def jacfwd(
    f: None = None,
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
@with_known_options
def jacfwd(
    f: Callable | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    check: bool | None = None,
) -> Any:
    """The Jacobian of a function, all columns at once (forward mode).

    Args:
        f: a Python function of NumPy values; its result may be a pytree.
        argnums: position or name of the argument to differentiate with respect to;
            a tuple of them gives a tuple. The arguments may be pytrees.
        has_aux: `f` returns `(value, aux)`, and the result is `(jacobian, aux)`.
        holomorphic: `f` is a holomorphic function of complex arguments, and the result
            is its complex derivative (that it is holomorphic is not looked at).
        check: compare the first call for each kind of arguments with differences and
            with the other mode, as in `grad`.

    Returns:
        A function of the same arguments. Its result has the structure of that of `f`,
        with the structure of the argument in place of each leaf: for an output of shape
        `s` and an input of shape `t`, an array of shape `s + t`. Without `f`, a
        decorator.

    Cheaper than `jacrev` where there are fewer inputs than outputs. The tangents along
    all elements of the argument go through `f` as one batch, while its value is
    computed once. Where `f` has an operation that cannot run on a batch, its columns
    are computed one after the other, in a loop that the text shows.

    >>> srcjax.jacfwd(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return as_decorator(_jacobian("jacfwd", argnums, has_aux, holomorphic, check), f)


def _jacobian(
    name: str,
    argnums: Argnums,
    has_aux: bool,
    holomorphic: bool,
    check: bool | None,
) -> Callable[[Callable], Callable]:
    def make(g: Callable) -> Callable:
        transform = Jacobian(g, argnums, has_aux, name, holomorphic=holomorphic)
        transform.check = check
        options = {"argnums": argnums, "has_aux": has_aux, "check": check}
        options["holomorphic"] = holomorphic
        return make_callable(transform, Recipe(name, g, options))

    return make


@overload
def jacrev(
    f: Callable[P, Any],
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[P, Any]: ...
@overload
def jacrev(
    f: None = None,
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
@with_known_options
def jacrev(
    f: Callable | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    check: bool | None = None,
) -> Any:
    """The Jacobian of a function, all rows at once (reverse mode); like `jacfwd`.

    >>> srcjax.jacrev(lambda x: x[0] * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [2., 1.]])
    """
    return as_decorator(_jacobian("jacrev", argnums, has_aux, holomorphic, check), f)


@overload
def hessian(
    f: Callable[P, Any],
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[P, Any]: ...
@overload
def hessian(
    f: None = None,
    argnums: Argnums = ...,
    has_aux: bool = ...,
    holomorphic: bool = ...,
    check: bool | None = ...,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
@with_known_options
def hessian(
    f: Callable | None = None,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    check: bool | None = None,
) -> Any:
    """The matrix of second derivatives: `jacfwd` of `jacrev`.

    Returns:
        A function of the same arguments. For a result of shape `s` and an argument of
        shape `t`, an array of shape `s + t + t`; with pytrees, the structure of the
        argument twice. With `has_aux`, `(hessian, aux)`.

    >>> srcjax.hessian(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """

    def make(g: Callable) -> Callable:
        inner = Jacobian(g, argnums, has_aux, "jacrev", True, holomorphic)
        first = make_callable(inner)
        outer = Jacobian(first, argnums, has_aux, "hessian", False, holomorphic)
        outer.check = check
        options = {"argnums": argnums, "has_aux": has_aux, "check": check}
        options["holomorphic"] = holomorphic
        return make_callable(outer, Recipe("hessian", g, options))

    return as_decorator(make, f)


#: As in JAX.
jacobian = jacrev

for _maker in (jacfwd, jacrev, hessian):
    _maker.__srcjax_maker__ = True  # type: ignore[attr-defined]


@with_known_options
def hvp(f: Callable, primals: Any, tangents: Any, check: bool | None = None) -> Any:
    """The Hessian of `f` times a vector, without the matrix: forward over reverse.

    Args:
        f: a function that returns one real number.
        primals: a tuple with the arguments of `f`.
        tangents: a tuple with a tangent for each; None for an argument to hold
            constant.
        check: compare with differences of the gradient, as in `grad`.

    Returns:
        The change of the gradient in that direction: of the structure of the argument
        for one primal, a tuple of them for several.

    >>> srcjax.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.ones(2),))
    array([ 6., 12.])
    """
    argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(_gradient_of(f, argnums), primals, tangents, check=check)[1]


_GRADIENTS = Kept()


def _gradient_of(f: Callable, argnums: Argnums) -> Callable:
    """`grad(f, argnums)`, kept while `f` is the same function: made again, it would be
    transformed again."""
    which = tuple(argnums) if isinstance(argnums, list) else argnums
    found: Callable = _GRADIENTS.get((id(f), which), f, lambda: grad(f, argnums))
    return found


#: Inside differentiated code it is what `grad` is.
_gradient_of.__srcjax_maker__ = True  # type: ignore[attr-defined]


__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev"]
