"""What generated Python calls for plain chains: kernels that CuPy makes.

    @elementwise_kernel
    def f_y(x, w, y):
        \"\"\"
        for i, j: double x(i, j), double w(j)
        -> double y(i, j)

        y = tanh(x * w);
        \"\"\"

is `cupy.ElementwiseKernel("float64 x, float64 w", "float64 y", "y = tanh(x * w);")`.
`f_y[n, m](x, w, y)` runs it for `n` times `m` elements: `w` is broadcast, and what is
longer than the loops is cut.
"""

from __future__ import annotations

import functools
import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srcjax.backends.cuda.run import (
    DTYPES,
    checked_array,
    is_on_device,
    the_cupy,
    words,
)

_PARAMETER = re.compile(r"(double|float|long long|bool) (\w+)(?:\(([\w, ]+)\))?")


@dataclass(frozen=True)
class Parameter:
    """What a kernel takes or gives; a number has no axes."""

    of: str
    name: str
    axes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{DTYPES[self.of].name} {self.name}"


class ElementwiseKernel:
    """`cupy.ElementwiseKernel` of broadcast arrays, made when it first runs."""

    def __init__(self, function: Callable) -> None:
        self.__name__: str = function.__name__
        self.function = function
        text = textwrap.dedent(inspect.getdoc(function) or "").strip()
        head, _, self.body = text.partition("\n\n")
        loops, _, parameters = head.partition(":")
        self.loops = tuple(loops.removeprefix("for ").split(", "))
        takes, _, gives = parameters.partition("->")
        self.takes, self.gives = parsed(takes), parsed(gives)
        #: For each parameter: its dtype, and whether it has the axes of all loops.
        self.parameters = [
            (p, DTYPES[p.of], p.axes == self.loops) for p in [*self.takes, *self.gives]
        ]

    def __getitem__(self, sizes: int | tuple[int, ...]) -> Callable:
        sizes = sizes if isinstance(sizes, tuple) else (sizes,)
        return functools.partial(self.launch, sizes)

    def launch(self, sizes: tuple[int, ...], *args: Any) -> None:
        if min(sizes) <= 0:
            return  # a loop without trips asks for no element
        values = []
        for x, (p, dtype, whole) in zip(args, self.parameters, strict=True):
            if whole and is_on_device(x) and x.shape == sizes and x.dtype == dtype:
                values.append(x)
            else:
                values.append(
                    self.aligned(x, p, sizes) if p.axes else as_number(x, p.of)
                )
        self.compiled(*values)

    def aligned(self, x: Any, p: Parameter, sizes: tuple[int, ...]) -> Any:
        """The array with the axes of all loops, as long as they are."""
        checked_array(x, p.of, len(p.axes))
        if "0" in p.axes:
            x = x[tuple(0 if axis == "0" else slice(None) for axis in p.axes)]
        given = [axis for axis in p.axes if axis != "0"]
        axes = [loop for loop in self.loops if loop in given]
        if axes != given:
            x = x.transpose([given.index(axis) for axis in axes])
        of = dict(zip(self.loops, sizes, strict=True))
        wanted = tuple(of[axis] for axis in axes)
        if x.shape != wanted:
            if any(map(int.__lt__, x.shape, wanted)):
                raise IndexError("an index is out of bounds for an axis of its array")
            x = x[tuple(map(slice, wanted))]
        if len(axes) == len(self.loops):
            return x
        return x[tuple(slice(None) if a in axes else None for a in self.loops)]

    @property
    def preamble(self) -> str:
        """The operations of ours that it calls."""
        ours = operations()
        names = set(re.findall(r"(\w+)\(|#define (\w+)", ours))
        used = set(re.findall(r"\w+", self.body))
        return ours if any(used & set(pair) for pair in names) else ""

    @functools.cached_property
    def compiled(self) -> Any:
        """CuPy's kernel."""
        return the_cupy().ElementwiseKernel(
            ", ".join(map(str, self.takes)),
            ", ".join(map(str, self.gives)),
            self.body,
            self.__name__,
            preamble=self.preamble,
            no_return=True,
        )


def elementwise_kernel(function: Callable) -> ElementwiseKernel:
    """Decorator: `cupy.ElementwiseKernel` of the docstring."""
    return ElementwiseKernel(function)


def parsed(text: str) -> list[Parameter]:
    """`double x(i, j), long long n`."""
    found = _PARAMETER.findall(" ".join(text.split()))
    return [Parameter(of, n, tuple(a.split(", ")) if a else ()) for of, n, a in found]


def as_number(x: Any, of: str) -> Any:
    """A number of a type, or where it is on the device."""
    if is_on_device(x):
        return x if x.dtype == DTYPES[of] else x.astype(DTYPES[of])
    return DTYPES[of].type(x)


@functools.cache
def operations() -> str:
    """Those of the words of kernels that are about numbers alone."""
    return words().partition("// -- operations")[2].partition("\n")[2]
