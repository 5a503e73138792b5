"""`jit`: the same function, compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcjax import syntax
from srcjax.analysis.request import Request
from srcjax.analysis.types import Type, Varies, varying, with_active
from srcjax.backends.kernels import Kernel, NotCompilable
from srcjax.backends.module import Module
from srcjax.errors import ArgumentError
from srcjax.frontend.unit import parameter_names
from srcjax.versions.callables import Transform, Version, make_callable, underlying


class Jit(Transform):
    """`jit`: a version for each signature of types."""

    name = "jit"

    def __init__(self, function: Callable) -> None:
        super().__init__(function, ())

    def summary(self) -> str:
        return f"What {self.shown_name} gives, compiled"

    def build(self, types: list[Type], typed: bool) -> Module:
        from srcjax import compiling

        return self.of_examples(types) or compiling.jitted(self.request(types))

    def of_examples(self, types: list[Type]) -> Module | None:
        """One kernel for all examples of a `vmap`, where each goes its own way."""
        from srcjax import compiling
        from srcjax.api.batch import Batched, example_of

        mapped = self.inner
        if not isinstance(mapped, Batched) or mapped.axis_name is not None:
            return None
        axes = mapped.axes_of_types(len(types))
        plain = all(a is None or a == 0 and isinstance(a, int) for a in axes)
        if not plain or mapped.out_axes != 0 or all(a is None for a in axes):
            return None
        with varying(Varies.EXAMPLES):
            examples = [example_of(t, a) for t, a in zip(types, axes, strict=True)]
        examples = [with_active(t, False) for t in examples]
        inner = mapped.inner
        function = underlying(mapped.function)
        if inner is not None:
            function = inner.function_for(examples)
        names = dict(zip(self.parameters, examples, strict=True))
        request = Request(function, names, [])
        by_name = {n: a is not None for n, a in zip(self.parameters, axes, strict=True)}
        return compiling.jitted_examples(request, by_name, mapped.function_for(types))

    def run(self, version: Version, values: list, keywords: dict) -> Any:
        whole = version.module.whole
        if whole is None:
            return version.call(*values, **keywords)
        for each in vars(version.loaded).values():
            if isinstance(each, Kernel):
                each.whole = True
        try:
            return version.call(*values, **keywords)
        except NotCompilable as failure:
            version.call = version.function = whole
            version.module.whole, version.module.stays = None, str(failure)
            return whole(*values, **keywords)

    def function_for(self, types: list[Type]) -> Callable:
        """Other transforms are those of the function, not of its kernels."""
        if self.inner is not None:
            return self.inner.function_for(types)
        return underlying(self.function)


def jit(
    f: Callable | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    device: str | None = None,
) -> Callable:
    """The same function, compiled for the types of its arguments.

    What it gives, raises, prints and writes to is what the function does; what cannot
    be compiled runs as Python (`explain` says what and why). Loops over elements,
    elementwise chains with their sums, and numbers are compiled with Numba (the extra
    `numba`); without it the function runs as it is.

    Args:
        f: a Python function of NumPy values, or what another transform made of one.
        static_argnums: positions of arguments that the text is written for by value;
            they have a hash. A new value is compiled anew.
        static_argnames: the same by name.
        device: None or "cpu": where the arguments are.

    Returns:
        A function of the same arguments. Without `f`, a decorator. `grad`, `vmap` and
        the others of it are those of `f`.

    Raises:
        ArgumentError: a static argument has no hash, or there is no such device.
    """
    if device not in (None, "cpu"):
        raise ArgumentError(
            f"jit: there is no device {device!r}", instead='None, or "cpu"'
        )

    def make(g: Callable) -> Callable:
        static = _listed(static_argnums), _listed(static_argnames)
        transform = Jit(g)
        if not any(static):
            return make_callable(transform)
        return _with_static(transform, *static)

    return make if f is None else make(f)


def explain(f: Callable, *args: Any, **kwargs: Any) -> str:
    """What `jit` made of a function for example arguments, and why the rest stayed.

    Each kernel with its parameters, and each statement that stays Python with what is
    in the way. The function runs once, on these arguments: Numba tells then what it
    does not compile.

    Args:
        f: what `jit` gave.

    Raises:
        ArgumentError: `f` was not made by `jit`.
    """
    transform = getattr(f, "__srcjax_transform__", None)
    if not isinstance(transform, Jit):
        raise ArgumentError(
            "explain needs a function that jit made", instead="`explain(jit(f), x)`"
        )
    f(*args, **kwargs)
    module = transform.module_for(args, kwargs)
    if module.stays:
        return f"{transform.shown_name} runs as it is: {module.stays}"
    loaded = module.load()
    lines = []
    for node in module.functions[:-1]:
        given = ", ".join(parameter_names(node.args))
        failure = getattr(vars(loaded)[node.name], "failure", "")
        target = f"Python, for Numba says: {failure}" if failure else "compiled"
        lines.append(f"{node.name}({given}): {target}")
    for stmt, reason in module.python:
        first = syntax.text(stmt).splitlines()[0]
        lines.append(f"Python: {first}  # {reason}")
    return "\n".join(lines)


def _listed(given: Any) -> tuple:
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _with_static(
    transform: Jit, positions: tuple[int, ...], names: tuple[str, ...]
) -> Callable:
    """A compiled function for each set of values of the static arguments."""
    function = transform.function
    parameters = transform.parameters
    for position in positions:
        if not -len(parameters) <= position < len(parameters):
            raise ArgumentError(
                f"jit: static_argnums={position}, but {transform.source.name} has "
                f"{len(parameters)} parameters",
                instead=f"a position from 0 to {len(parameters) - 1}",
            )
    for name in names:
        if name not in parameters:
            raise ArgumentError(
                f"jit: static_argnames={name!r}, but {transform.source.name} has the "
                f"parameters {', '.join(parameters)}",
                instead="one of these names",
            )
    static = {parameters[p] for p in positions} | set(names)
    made: dict[tuple, Callable] = {}

    @functools.wraps(function)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        values = dict(zip(parameters, transform.bind(args, kwargs), strict=True))
        fixed = {n: values.pop(n) for n in parameters if n in static}
        try:
            key = tuple((type(v), v) for v in fixed.values())
            found = made.get(key)
        except TypeError:
            worst = next(n for n, v in fixed.items() if not _has_hash(v))
            raise ArgumentError(
                f"jit: the static argument `{worst}` has no hash",
                instead="a number, string or tuple; or leave it out of static_argnums",
            ) from None
        if found is None:
            bound = functools.partial(function, **fixed)
            found = made[key] = make_callable(Jit(bound))
        return found(**values)

    compiled.__srcjax_transform__ = transform  # type: ignore[attr-defined]
    return compiled


def _has_hash(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return not isinstance(value, np.ndarray)


jit.__srcjax_maker__ = True  # type: ignore[attr-defined]
