"""More of scipy.special: orders, several results, distributions, polynomials.

Where a derivative to an order or a shape parameter is known in closed form it is here;
where none is known, asking for it raises (`no_derivative`). Formulas are those of the
NIST Digital Library of Mathematical Functions (dlmf.nist.gov), by number.
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np
import scipy.special

from srcjax.analysis.types import Const, Tuple, Type
from srcjax.ops.batch_kinds import along_axis, batch, elementwise
from srcjax.ops.batching import MappedCall
from srcjax.ops.infer_rules import NONE, infer_elementwise
from srcjax.ops.record import adjoint, inert, tangent
from srcjax.ops.special import _NONE, special

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"
d: Any  # adjoints (in tangent rules: tangents) by name, in the text of rules

# -- power transforms ----------------------------------------------------------------
# The derivative of expm1(u) / u, without cancellation near zero, is 1F1(2, 3, u) / 2.
_SLOPE = "scipy.special.hyp1f1(2, 3, {}) / 2"
special(
    "boxcox",
    "d * a ** (b - 1)",
    "d * np.log(a) ** 2 * " + _SLOPE.format("b * np.log(a)"),
)
special(
    "boxcox1p",
    "d * np.exp((b - 1) * np.log1p(a))",
    "d * np.log1p(a) ** 2 * " + _SLOPE.format("b * np.log1p(a)"),
)
special(
    "inv_boxcox",
    "d * y ** (1 - b)",
    "-d * y ** (1 - b) * np.log(y) ** 2 * " + _SLOPE.format("b * np.log(y)"),
)
special(
    "inv_boxcox1p",
    "d * (1 + y) ** (1 - b)",
    "-d * (1 + y) ** (1 - b) * np.log1p(y) ** 2 * " + _SLOPE.format("b * np.log1p(y)"),
)
special("exprel", "d * " + _SLOPE.format("x"))
special("powm1", "d * b * a ** (b - 1)", "d * (y + 1) * np.log(a)")
special("softplus", "d * scipy.special.expit(x)")

# -- hypergeometric functions and integrals ------------------------------------------
special("hyp0f1", _NONE, "d * scipy.special.hyp0f1(a + 1, b) / a")  # 15.5.1, 16.3.1
special("hyp1f1", _NONE, _NONE, "d * a / b * scipy.special.hyp1f1(a + 1, b + 1, c)")
special("hyperu", _NONE, _NONE, "-d * a * scipy.special.hyperu(a + 1, b + 1, c)")
special(
    "hyp2f1",
    _NONE,
    _NONE,
    _NONE,
    "d * a * b / c * scipy.special.hyp2f1(a + 1, b + 1, c + 1, e)",
)
special("wright_bessel", _NONE, _NONE, "d * scipy.special.wright_bessel(a, a + b, c)")
special(  # 8.19.13; SciPy has no E of order -1
    "expn",
    _NONE,
    "-d * np.where(a > 0, scipy.special.expn(np.maximum(a - 1, 0), b), "
    "np.exp(-b) * (1 + b) / b**2)",
)
special(
    "owens_t",
    "-d * np.exp(-(a**2) / 2) * scipy.special.erf(a * b / math.sqrt(2)) "
    "/ math.sqrt(8 * math.pi)",
    "d * np.exp(-(a**2) * (1 + b**2) / 2) / (2 * math.pi * (1 + b**2))",
)
special(  # 19.4
    "ellipkm1",
    "d * (x * y - scipy.special.ellipe(1 - x)) / (2 * x * (1 - x))",
)
special(
    "ellipkinc",
    "d / np.sqrt(1 - b * np.sin(a) ** 2)",
    "d * (scipy.special.ellipeinc(a, b) / (1 - b) - y - b / (1 - b) * np.sin(a) "
    "* np.cos(a) / np.sqrt(1 - b * np.sin(a) ** 2)) / (2 * b)",
)
special(
    "ellipeinc",
    "d * np.sqrt(1 - b * np.sin(a) ** 2)",
    "d * (y - scipy.special.ellipkinc(a, b)) / (2 * b)",
)

# -- Bessel and Struve functions -----------------------------------------------------
special(
    "ive",
    _NONE,
    "d * ((scipy.special.ive(a - 1, b) + scipy.special.ive(a + 1, b)) / 2 "
    "- np.sign(b) * y)",
)
special(
    "kve",
    _NONE,
    "d * (y - (scipy.special.kve(a - 1, b) + scipy.special.kve(a + 1, b)) / 2)",
)
special("k0e", "d * (y - scipy.special.k1e(x))")
special("k1e", "d * (y - (scipy.special.k0e(x) + scipy.special.kve(2, x)) / 2)")
for _name, _sign in (("struve", "-"), ("modstruve", "+")):  # 11.4.29 and 11.4.30
    special(
        _name,
        _NONE,
        f"d * (scipy.special.{_name}(a - 1, b) {_sign} scipy.special.{_name}(a + 1, b) "
        "+ (b / 2) ** a * scipy.special.rgamma(a + 1.5) / math.sqrt(math.pi)) / 2",
    )

# -- distribution functions ----------------------------------------------------------
_STUDENT = "np.exp(-scipy.special.betaln(0.5, a / 2) - (a + 1) / 2 * np.log1p({} / a))"
special("stdtr", _NONE, f"d * {_STUDENT.format('b**2')} / np.sqrt(a)")
special("stdtrit", _NONE, f"d * np.sqrt(a) / {_STUDENT.format('y**2')}")
_CHI2 = (
    "d * np.exp(scipy.special.xlogy(a / 2 - 1, b / 2) - b / 2 "
    "- scipy.special.gammaln(a / 2)) / 2"
)
special("chdtr", _NONE, _CHI2)
special("chdtrc", _NONE, "-" + _CHI2)
_POISSON = (
    "d * np.exp(scipy.special.xlogy(np.floor(a), b) - b "
    "- scipy.special.gammaln(np.floor(a) + 1))"
)
special("pdtr", None, "-" + _POISSON)  # a step function of the count
special("pdtrc", None, _POISSON)
_GAMMA = "np.exp(scipy.special.xlogy(b - 1, a * c) - a * c - scipy.special.gammaln(b))"
special("gdtr", f"d * c * {_GAMMA}", _NONE, f"d * a * {_GAMMA}")
special("gdtrc", f"-d * c * {_GAMMA}", _NONE, f"-d * a * {_GAMMA}")
_DENSITY = "np.exp({} + scipy.special.gammaln(a) - scipy.special.xlogy(a - 1, {}))"
special("gammaincinv", _NONE, "d * " + _DENSITY.format("y", "y"))
special("gammainccinv", _NONE, "-d * " + _DENSITY.format("y", "y"))
_BETA = (
    "np.exp(scipy.special.xlogy(a - 1, {0}) + scipy.special.xlog1py(b - 1, -{0}) "
    "- scipy.special.betaln(a, b))"
)
special("betaincc", _NONE, _NONE, "-d * " + _BETA.format("c"))
special("betaincinv", _NONE, _NONE, "d / " + _BETA.format("y"))
special("betainccinv", _NONE, _NONE, "-d / " + _BETA.format("y"))
special("ndtri_exp", "d * np.exp(x + y**2 / 2) * math.sqrt(2 * math.pi)")

# -- orthogonal polynomials (18.9) ---------------------------------------------------
special("eval_chebyt", _NONE, "d * a * scipy.special.eval_chebyu(a - 1, b)")
special("eval_chebyu", _NONE, "d * 2 * scipy.special.eval_gegenbauer(a - 1, 2, b)")
special("eval_legendre", _NONE, "d * scipy.special.eval_gegenbauer(a - 1, 1.5, b)")
special("eval_hermite", _NONE, "d * 2 * a * scipy.special.eval_hermite(a - 1, b)")
special("eval_hermitenorm", _NONE, "d * a * scipy.special.eval_hermitenorm(a - 1, b)")
special("eval_laguerre", _NONE, "-d * scipy.special.eval_genlaguerre(a - 1, 1, b)")
special(
    "eval_genlaguerre",
    _NONE,
    _NONE,
    "-d * scipy.special.eval_genlaguerre(a - 1, b + 1, c)",
)
special(
    "eval_gegenbauer",
    _NONE,
    _NONE,
    "d * 2 * b * scipy.special.eval_gegenbauer(a - 1, b + 1, c)",
)
special(
    "eval_jacobi",
    _NONE,
    _NONE,
    _NONE,
    "d * (a + b + c + 1) / 2 * scipy.special.eval_jacobi(a - 1, b + 1, c + 1, e)",
)


# -- types ---------------------------------------------------------------------------


def infer_pair(x: Type) -> Type:
    """Two results, each like an elementwise function's."""
    part = infer_elementwise(np.sin, x)
    return Tuple(items=(part, part))


def infer_comb(
    N: Type,  # noqa: N803  (SciPy's name)
    k: Type,
    exact: Type = NONE,
    repetition: Type = NONE,
) -> Type:
    return infer_elementwise(scipy.special.comb, N, k)


def infer_factorial(n: Type, exact: Type = NONE, extend: Type = NONE) -> Type:
    return infer_elementwise(scipy.special.factorial, n)


def infer_zeta(x: Type, q: Type = NONE, out: Type = NONE) -> Type:
    return infer_elementwise(
        scipy.special.zeta, x, Const(value=1.0) if q == NONE else q
    )


def infer_harmonic(n: Type, m: Type, theta: Type, phi: Type) -> Type:
    return infer_elementwise(scipy.special.sph_harm_y, n, m, theta, phi)


def infer_lambertw(z: Type, k: Type = NONE, tol: Type = NONE) -> Type:
    return infer_elementwise(scipy.special.lambertw, z)


# -- several results -----------------------------------------------------------------


@adjoint(scipy.special.fresnel, signature="x", infer=infer_pair)
def _(y, x):
    d[x] = d[y][0] * np.sin(np.pi / 2 * x**2) + d[y][1] * np.cos(np.pi / 2 * x**2)


@tangent(scipy.special.fresnel)
def _(y, x):
    d[y] = d[x] * np.sin(np.pi / 2 * x**2), d[x] * np.cos(np.pi / 2 * x**2)


@adjoint(scipy.special.sici, signature="x", infer=infer_pair)
def _(y, x):
    d[x] = d[y][0] * np.sinc(x / np.pi) + d[y][1] * np.cos(x) / x


@tangent(scipy.special.sici)
def _(y, x):
    d[y] = d[x] * np.sinc(x / np.pi), d[x] * np.cos(x) / x


@adjoint(scipy.special.shichi, signature="x", infer=infer_pair)
def _(y, x):
    d[x] = (d[y][0] * np.sinh(x) + d[y][1] * np.cosh(x)) / x


@tangent(scipy.special.shichi)
def _(y, x):
    d[y] = d[x] * np.sinh(x) / x, d[x] * np.cosh(x) / x


# -- counting ------------------------------------------------------------------------


@adjoint(
    scipy.special.comb,
    signature="N, k, *, exact=False, repetition=False",
    infer=infer_comb,
)
def _(y, N, k, exact=False, repetition=False):  # noqa: N803
    d[N] = unbroadcast(d[y] * comb_slopes(y, N, k, exact, repetition)[0], N)
    d[k] = unbroadcast(d[y] * comb_slopes(y, N, k, exact, repetition)[1], k)


@tangent(scipy.special.comb)
def _(y, N, k, exact=False, repetition=False):  # noqa: N803
    d[y] = d[N] * comb_slopes(y, N, k, exact, repetition)[0]
    d[y] = d[k] * comb_slopes(y, N, k, exact, repetition)[1]


# Zero below zero; y * digamma is not, at the poles of gamma.
@adjoint(
    scipy.special.factorial,
    signature="n, exact=False, extend='zero'",
    infer=infer_factorial,
)
def _(y, n, exact=False, extend="zero"):
    d[n] = d[y] * y * scipy.special.digamma(np.where(y == 0, 1, n + 1))


@tangent(scipy.special.factorial)
def _(y, n, exact=False, extend="zero"):
    d[y] = d[n] * y * scipy.special.digamma(np.where(y == 0, 1, n + 1))


# -- zeta, spherical harmonics -------------------------------------------------------


@adjoint(scipy.special.zeta, signature="x, q=None, out=None", infer=infer_zeta)
def _(y, x, q=None, out=None):
    d[x] = no_derivative(d[y])
    d[q] = unbroadcast(-d[y] * x * scipy.special.zeta(x + 1, q), q)


@tangent(scipy.special.zeta)
def _(y, x, q=None, out=None):
    d[y] = no_derivative(d[x])
    d[y] = -d[q] * x * scipy.special.zeta(x + 1, q)


# Angles are real, the result is complex: the adjoint is the real part.
@adjoint(scipy.special.sph_harm_y, signature="n, m, theta, phi", infer=infer_harmonic)
def _(y, n, m, theta, phi):
    d[theta] = unbroadcast(
        np.real(d[y] * spherical_harmonic_slope(n, m, theta, phi)), theta
    )
    d[phi] = unbroadcast(np.real(d[y] * 1j * m * y), phi)


@tangent(scipy.special.sph_harm_y)
def _(y, n, m, theta, phi):
    d[y] = d[theta] * spherical_harmonic_slope(n, m, theta, phi)
    d[y] = d[phi] * 1j * m * y


# -- of complex numbers, or complex for real ones ------------------------------------


@adjoint(scipy.special.wofz, signature="z", elementwise=True, real_only=False)
def _(y, z):
    d[z] = real_for_real(d[y] * (2j / np.sqrt(np.pi) - 2 * z * y), z)


@tangent(scipy.special.wofz)
def _(y, z):
    d[y] = d[z] * (2j / np.sqrt(np.pi) - 2 * z * y)


@adjoint(
    scipy.special.lambertw,
    signature="z, k=0, tol=1e-8",
    infer=infer_lambertw,
    real_only=False,
    may_be_complex=True,
)
def _(y, z, k=0, tol=1e-8):
    d[z] = real_for_real(d[y] / (np.exp(y) + z), z)


@tangent(scipy.special.lambertw)
def _(y, z, k=0, tol=1e-8):
    d[y] = d[z] / (np.exp(y) + z)


inert(scipy.special.bernoulli, scipy.special.euler, scipy.special.stirling2)

# -- batches -------------------------------------------------------------------------

batch(
    scipy.special.fresnel,
    scipy.special.sici,
    scipy.special.shichi,
    scipy.special.zeta,
    scipy.special.sph_harm_y,
    scipy.special.lambertw,
)(elementwise)
batch(scipy.special.softmax, scipy.special.log_softmax)(along_axis("x"))


@batch(scipy.special.comb, scipy.special.factorial, scipy.special.stirling2)
def _(call: MappedCall) -> gast.expr | None:
    """Exact results are Python's long integers: only one at a time."""
    return elementwise(call) if call.const("exact", False) is False else None
