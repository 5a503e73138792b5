"""One text for float32 and float64: constants and numbers in the precision asked for.

A kernel is a plain function of floats. Its numbers (`0.5 * x`) would be float64 in
Numba, and with them the result; `Precision.kernel` makes them numbers of the precision
that the kernel is compiled for, before Numba sees them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction
from types import CodeType, FunctionType
from typing import Any

import numba
import numpy as np

from srcjax.backends.elementary import coefficients, words

# As many digits as all parts of a constant together have.
LN2 = Fraction("0.693147180559945309417232121458176568075500134360255254120680009")
LOG2_E = Fraction("1.442695040888963407359924681001892137426645954152985934135449407")
LOG10_E = Fraction("0.434294481903251827651128918916605082294397005803666566114453784")
LOG10_2 = Fraction("0.301029995663981195213738894724493026768189881462108541310427461")
PI = Fraction("3.141592653589793238462643383279502884197169399375105820974944592")
CBRT_2 = Fraction("1.259921049894873164767210607278228350570251464701507980081975112")
SQRT_2 = Fraction("1.414213562373095048801688724209698078569671875376948073176679738")


class Precision:
    """What kernels have to know of a format, and how they are compiled for it."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.scalar: Any = self.dtype.type
        info = np.finfo(self.dtype)
        self.double = self.dtype == np.float64
        self.digits = int(info.nmant)  # those that are stored
        self.bias = int(info.maxexp) - 1
        self.integer: Any = np.int64 if self.double else np.int32
        self.smallest_normal = self.scalar(info.smallest_normal)
        self.infinity = self.scalar(np.inf)
        self.nan = self.scalar(np.nan)
        #: Adding it rounds to an integer, which the last bits of the sum then hold.
        self.magic = self.scalar(1.5 * 2.0**self.digits)
        self._kind = numba.from_dtype(self.dtype)

    def choose(self, double: float, single: float) -> Any:
        """A bound or a number that each format has its own of."""
        return self.scalar(double if self.double else single)

    def bits_of(self, value: Any) -> Any:
        return self.integer(self.scalar(value).view(self.integer))

    def parts(self, value: Fraction, *digits: int) -> tuple[Any, ...]:
        """The value as a sum, of parts of so many bits, and a rounded rest."""
        found = []
        for count in digits:
            exponent = (abs(value).numerator.bit_length() - 1) - (
                value.denominator.bit_length() - 1
            )
            unit = Fraction(2) ** (exponent - count + 1)
            part = int(value / unit) * unit
            found.append(self.scalar(float(part)))
            value -= part
        return (*found, self.scalar(float(value)))

    def pair(self, value: Fraction) -> tuple[Any, Any]:
        """The nearest float, and what is missing."""
        nearest = self.scalar(float(value))
        return nearest, self.scalar(float(value - Fraction(float(nearest))))

    def polynomial(self, name: str) -> Any:
        return words.polynomial(self._kind, self._coefficients(name))

    def starting(self, name: str, count: int) -> tuple[Any, ...]:
        """The first coefficients, and the polynomial of the others."""
        found = self._coefficients(name)
        first = [self.scalar(c) for c in found[:count]]
        return (*first, words.polynomial(self._kind, found[count:]))

    def _coefficients(self, name: str) -> tuple[float, ...]:
        tables = coefficients.FLOAT64 if self.double else coefficients.FLOAT32
        return tables[name]

    def kernel(self, function: Any) -> Any:
        """The function, compiled by Numba at its first use, in this precision.

        It is inlined wherever it is called: LLVM vectorises no loop with a call.
        """
        code = function.__code__
        closure = function.__closure__
        typed = FunctionType(
            self._typed(code), function.__globals__, code.co_name, None, closure
        )
        functools.update_wrapper(typed, function)
        del typed.__wrapped__  # type: ignore[attr-defined]
        compiler = numba.njit(forceinline=True, error_model="numpy", nogil=True)
        return compiler(typed)

    def _typed(self, code: CodeType) -> CodeType:
        constants = tuple(
            self.scalar(c) if isinstance(c, float) else c for c in code.co_consts
        )
        return code.replace(co_consts=constants)


Family = Callable[[Precision], dict[str, Any]]
