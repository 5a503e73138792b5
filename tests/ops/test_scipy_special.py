"""Rules of scipy.special with orders, several results, and of distributions."""

from __future__ import annotations

import numpy as np
import pytest

import srcjax
from srcjax.ops.record import lookup
from srcjax.testing import check_grads

from .helpers import check_adjoint, check_infer

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 5

special = pytest.importorskip("scipy.special")

#: "fwd" as soon as there is forward mode.
MODES = ("rev", "fwd") if hasattr(srcjax, "jvp") else ("rev",)

X = np.array([[0.31, 0.52, 0.83], [0.24, 0.65, 0.47]])
WIDE = np.array([-2.3, -0.7, 0.4, 1.9, 5.2])
P = np.array([0.12, 0.3, 0.77, 0.9])
N = np.array([2, 3, 5])

#: Elementwise rows: arguments, and which of them the derivative is to.
ROWS = {
    "boxcox": [((X, X - 0.5), (0, 1)), ((9 * X, np.array([1e-9, 0.0, -1e-5])), (0, 1))],
    "boxcox1p": [((X - 0.6, X - 0.5), (0, 1)), ((X, np.array([1e-9, 0, 2])), (0, 1))],
    "inv_boxcox": [((X, X), (0, 1)), ((X, -X / 2), (0, 1))],
    "inv_boxcox1p": [((X, X), (0, 1)), ((X, -X / 2), (0, 1))],
    "exprel": [((np.array([-30, -1.0, -1e-9, 0.0, 1e-6, 2.0]),), (0,))],
    "powm1": [((X, 3 * X), (0, 1))],
    "softplus": [((30 * (X - 0.5),), (0,))],
    "hyp0f1": [((1.5, WIDE), (1,))],
    "hyp1f1": [((1.5, X, WIDE[:3]), (2,)), ((-2.0, 0.5, X), (2,))],
    "hyperu": [((1.5, 0.7, 3 * X), (2,))],
    "hyp2f1": [((0.5, X, 1.7, -X), (3,)), ((-2.0, 1.3, 0.5, X), (3,))],
    "wright_bessel": [((0.5, 1.5, X), (2,))],
    "expn": [((N[:, None], X[:, :1].T), (1,)), ((0, X), (1,)), ((1, 9 * X), (1,))],
    "owens_t": [((WIDE[:3], X), (0, 1)), ((-X, -3 * X), (0, 1)), ((0.0, X), (0, 1))],
    "ellipkm1": [((X,), (0,))],
    "ellipkinc": [((X, X - 0.5), (0, 1)), ((4 * X, X.T[:, :1, None]), (0, 1))],
    "ellipeinc": [((X, X - 0.5), (0, 1))],
    "ive": [((1.3, 4 * X), (1,)), ((2.0, -4 * X), (1,))],
    "kve": [((1.3, 4 * X), (1,))],
    "k0e": [((4 * X,), (0,))],
    "k1e": [((4 * X,), (0,))],
    "struve": [((0.6, 4 * X), (1,))],
    "modstruve": [((0.6, 4 * X), (1,))],
    "stdtr": [((2.5, WIDE), (1,)), ((1e9, WIDE), (1,))],
    "stdtrit": [((2.5, P), (1,))],
    "chdtr": [((3.0, 4 * X), (1,)), ((2.0, np.array([0.1, 9.0])), (1,))],
    "chdtrc": [((3.0, 4 * X), (1,))],
    "pdtr": [((N, 4 * X), (1,))],
    "pdtrc": [((N, 4 * X), (1,)), ((0, X), (1,))],
    "gdtr": [((X, 1.7, 3 * X), (0, 2))],
    "gdtrc": [((X, 1.7, 3 * X), (0, 2))],
    "gammaincinv": [((1.7, P), (1,))],
    "gammainccinv": [((1.7, P), (1,))],
    "betaincc": [((1.7, 2.5, P), (2,)), ((1.0, 1.0, P), (2,))],
    "betaincinv": [((1.7, 2.5, P), (2,))],
    "betainccinv": [((1.7, 2.5, P), (2,))],
    "ndtri_exp": [((-9 * X,), (0,))],
    "eval_chebyt": [((N, X), (1,)), ((0, X), (1,)), ((1.5, X), (1,))],
    "eval_chebyu": [((N, X), (1,)), ((1, X), (1,))],
    "eval_legendre": [((N, X), (1,)), ((1, X), (1,)), ((3, np.array([-1.0, 1])), (1,))],
    "eval_hermite": [((N, X), (1,))],
    "eval_hermitenorm": [((N, X), (1,))],
    "eval_laguerre": [((N, X), (1,))],
    "eval_genlaguerre": [((N, 0.7, X), (2,))],
    "eval_gegenbauer": [((N, 0.7, X), (2,))],
    "eval_jacobi": [((N, 0.7, 1.2, X), (3,))],
}
#: An order of at least 2, whose second derivative is zero or SciPy's lower orders give.
FIRST_ORDER_ONLY = {"pdtrc", "pdtr"}


def cases():
    for name, found in ROWS.items():
        function = getattr(special, name, None)
        if function is not None:
            for number, (args, wrt) in enumerate(found):
                yield pytest.param(function, args, wrt, id=f"{name}-{number}")


def moving(function, args, wrt):
    """The function of the arguments in `wrt` alone."""
    first = args[0]
    if wrt == (0,):
        return lambda a: function(a)
    if wrt == (0, 1):
        return lambda a, b: function(a, b)
    if wrt == (1,):
        return lambda b: function(first, b)
    second = args[1]
    if wrt == (0, 2):
        return lambda a, c: function(a, second, c)
    if wrt == (2,):
        return lambda c: function(first, second, c)
    third = args[2]
    return lambda e: function(first, second, third, e)


def test_every_row_is_tested():
    rows = {
        op.functions[0].__name__
        for op in (lookup(getattr(special, n)) for n in dir(special))
        if op is not None and op.elementwise and not op.inert
    }
    from .test_rules import elementwise_rows

    elsewhere = {function.__name__ for function, _ in elementwise_rows()}
    assert rows - elsewhere - {"wofz", "zetac"} <= set(ROWS)


def test_zetac_has_no_rule():
    with pytest.raises(NotImplementedError, match="is not known"):
        srcjax.grad(lambda x: special.zetac(x))(2.5)


def test_a_direction_that_leaves_the_order_alone_is_known():
    order, x = np.array([0.5, 1.5]), 2.0
    found = srcjax.jvp(special.jv, (order, x), (np.zeros(2), 3.0))[1]
    np.testing.assert_allclose(found, 3 * special.jvp(order, x))
    with pytest.raises(NotImplementedError, match="is not known"):
        srcjax.jvp(special.jv, (order, x), (np.array([0.0, 1.0]), 3.0))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function, args, wrt", list(cases()))
def test_row(function, args, wrt):
    names = ("x",) if len(args) == 1 else ("a", "b", "c", "e")
    wanted = tuple(names[i] for i in wrt)
    check_adjoint(function, *args, wrt=wanted, rtol=1e-5, atol=1e-7, float32=False)
    check_infer(function, *args)

    check_grads(
        moving(function, args, wrt), [np.asarray(args[i], float) for i in wrt], 2, MODES
    )


# -- other than rows ----------------------------------------------------------------


def joined(parts):
    """The numbers of a result of two parts, as one array."""
    first, second = parts
    return np.stack([first, second])


@pytest.mark.parametrize("name", ["fresnel", "sici", "shichi"])
def test_two_results(name):
    function = getattr(special, name)
    check_adjoint(function, 3 * X, float32=False)
    check_grads(lambda x: joined(function(x)), (3 * X,), 2, MODES)
    check_grads(lambda x: function(x)[1], (3 * X,), 2, MODES)


def test_fresnel_at_zero():
    assert srcjax.grad(lambda x: special.fresnel(x)[1])(0.0) == 1.0


@pytest.mark.parametrize("repetition", [False, True])
def test_comb(repetition):
    def f(n, k):
        return special.comb(n, k, repetition=repetition)

    check_grads(f, (X + 4, 2 * X), 2, MODES)
    none = srcjax.grad(lambda n: np.sum(special.comb(n, np.array([4.0, 3.0]))))
    np.testing.assert_array_equal(none(np.array([3.0, -1.0])), 0.0)
    with pytest.raises(NotImplementedError, match="exact"):
        srcjax.grad(lambda n: special.comb(n, 2, exact=True))(5.0)


def test_factorial():
    check_grads(lambda n: special.factorial(n), (4 * X,), 2, MODES)
    assert srcjax.grad(lambda n: special.factorial(n))(-1.5) == 0.0


def test_zeta():
    check_grads(lambda q: special.zeta(2.5, q), (3 * X,), 2, MODES)
    with pytest.raises(NotImplementedError, match="not known"):
        srcjax.grad(lambda x: special.zeta(x, 2.0))(3.0)


def test_multigammaln():
    check_grads(lambda a: special.multigammaln(a, 3), (X + 2,), 2, MODES)
    value = srcjax.value_and_grad(lambda a: special.multigammaln(a, 4))(3.5)[0]
    np.testing.assert_allclose(value, special.multigammaln(3.5, 4), rtol=1e-14)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_complex_results_of_real_numbers():
    n, m = np.array([2, 3, 3]), np.array([1, -3, 0])

    def harmonic(theta, phi):
        return np.real(special.sph_harm_y(n, m, theta, phi) * (2 - 1j))

    check_grads(harmonic, (X, 2 * X), 1, ("rev",))
    theta = np.array([0.0, np.pi, 0.0])  # the poles
    gradient = srcjax.grad(lambda t: np.sum(harmonic(t, 0.4)))(theta)
    expected = np.real(
        special.sph_harm_y(n, m, theta, 0.4, diff_n=1)[1][..., 0] * (2 - 1j)
    )
    np.testing.assert_allclose(gradient, expected, atol=1e-12)
    check_grads(lambda x: np.real(special.wofz(x) * (1 - 3j)), (3 * X,), 1, ("rev",))
    check_grads(lambda x: np.real(special.lambertw(x)), (X,), 1, ("rev",))


def test_tails_and_edges():
    """Where a formula by itself gives nan or loses all digits."""
    gradient = srcjax.grad(lambda x: np.sum(special.log_ndtr(x)))
    x = np.array([-1e6, -40.0, 0.0, 60.0])
    expected = [1e6, 40.02496884725, np.sqrt(2 / np.pi), 0.0]
    np.testing.assert_allclose(gradient(x), expected, rtol=1e-10, atol=1e-300)
    curvature = srcjax.grad(lambda x: np.sum(gradient(x)))
    np.testing.assert_allclose(
        curvature(np.array([-40.0, 0.0, 60.0])),
        [-0.9993773316, -2 / np.pi, 0],
        atol=1e-9,
    )
    assert srcjax.grad(lambda x: special.gammainc(1.0, x))(0.0) == 1.0
    np.testing.assert_allclose(srcjax.grad(lambda x: special.exprel(x))(0.0), 0.5)
    for name, value in (("ellipk", np.pi / 8), ("ellipe", -np.pi / 8)):
        function = getattr(special, name)
        np.testing.assert_allclose(srcjax.grad(lambda x: function(x))(0.0), value)  # noqa: B023


IN_JAX = [
    ("boxcox", (2 * X, X), (0, 1)), ("boxcox1p", (X, X), (0, 1)),
    ("expn", (2, X), (1,)), ("owens_t", (X, 2 * X), (0, 1)),
    ("hyp1f1", (1.5, 2.5, X), (2,)), ("zeta", (2.5, 3 * X), (1,)),
    ("factorial", (3 * X,), (0,)), ("spence", (X,), (0,)), ("dawsn", (X,), (0,)),
    ("gammaincc", (1.5, X), (1,)), ("i1e", (-X,), (0,)), ("poch", (X, 2 * X), (0, 1)),
]  # fmt: skip


@pytest.mark.parametrize("name, args, wrt", IN_JAX, ids=lambda v: str(v)[:9])
def test_as_jax(name, args, wrt):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    theirs = getattr(jax.scipy.special, name, None)
    if theirs is None:
        pytest.skip("not in JAX")
    primals = [np.asarray(args[i], float) for i in wrt]
    value, pullback = srcjax.vjp(moving(getattr(special, name), args, wrt), *primals)
    expected, their_pullback = jax.vjp(moving(theirs, args, wrt), *primals)
    np.testing.assert_allclose(value, expected, rtol=1e-9)
    seed = np.linspace(0.5, 1.5, np.size(value)).reshape(np.shape(value))
    for ours, other in zip(pullback(seed), their_pullback(seed), strict=True):
        np.testing.assert_allclose(ours, other, rtol=1e-8, atol=1e-12)
