"""Complex numbers in both modes, with the conventions of JAX."""

from __future__ import annotations

import cmath

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError, NoRuleError, UnsupportedError
from srcjax.testing import check_grads

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 5

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)
jnp = jax.numpy

RNG = np.random.default_rng(0)
MODES = ("rev", "fwd")


def real(*shape):
    return RNG.normal(size=shape)


def cplx(*shape):
    return RNG.normal(size=shape) + 1j * RNG.normal(size=shape)


X, Z, W = real(3, 4), cplx(3, 4), cplx(3, 4)
SQUARE = cplx(4, 4)
HERMITIAN = SQUARE @ SQUARE.conj().T + np.eye(4)


def drawn_like(value, rng):
    """A random cotangent or tangent of the same kind, shape and dtype."""
    drawn = rng.normal(size=np.shape(value))
    if np.iscomplexobj(value):
        drawn = drawn + 1j * rng.normal(size=np.shape(value))
    if isinstance(value, (float, complex)) and not hasattr(value, "dtype"):
        return type(value)(drawn)
    return np.asarray(drawn, np.asarray(value).dtype)[()]


def same(mine, theirs, tolerance):
    """Equal leaves of equal dtypes: real is real, complex is complex."""
    mine, theirs = map(jax.tree_util.tree_leaves, (mine, theirs))
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


def compare(f, *args, theirs=None, tolerance=1e-8):
    """Value, vjp and jvp of `f(np, *args)` with those of JAX."""
    rng = np.random.default_rng(1)
    theirs = theirs or f

    def mine_of(*args):
        return f(np, *args)

    def theirs_of(*args):
        return theirs(jnp, *args)

    tangents = tuple(jax.tree_util.tree_map(lambda v: drawn_like(v, rng), args))
    wanted, wanted_pullback = jax.vjp(theirs_of, *args)
    leaves, structure = jax.tree_util.tree_flatten(wanted)
    seeds = [drawn_like(np.asarray(leaf), rng) for leaf in leaves]
    got, pullback = srcjax.vjp(mine_of, *args)
    same(got, wanted, tolerance)
    seed = jax.tree_util.tree_unflatten(structure, seeds)
    same(pullback(seed), wanted_pullback(seed), tolerance)
    _, wanted_dot = jax.jvp(theirs_of, args, tangents)
    _, got_dot = srcjax.jvp(mine_of, args, tangents)
    same(got_dot, wanted_dot, tolerance)


ELEMENTWISE = """
    exp sin cos tan sinh cosh tanh arctan arcsin arccos arcsinh arctanh sqrt log log2
    log10 log1p expm1 exp2 square reciprocal negative positive sinc conj real imag abs
    angle
""".split()  # noqa: SIM905


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise(name):
    compare(lambda np, z: getattr(np, name)(z), Z * 0.7)


def test_arccosh_on_both_halves_of_the_plane():
    """JAX's own derivative has the wrong sign in the left half; differences tell."""
    check_grads(np.arccosh, (Z,), modes=MODES)


ARITHMETIC = [
    lambda np, z, w, x: z * w,
    lambda np, z, w, x: z * x,
    lambda np, z, w, x: z / x,
    lambda np, z, w, x: x / z,
    lambda np, z, w, x: x - z,
    lambda np, z, w, x: z**w,
    lambda np, z, w, x: z**x,
    lambda np, z, w, x: abs(x) ** z,
    lambda np, z, w, x: (-abs(x)) ** z,
    lambda np, z, w, x: z**3 + z**-1.5,
    lambda np, z, w, x: z.real * w.imag + z.conj().real,
    lambda np, z, w, x: np.where(x > 0, z, x) * np.where(np.abs(w) > 1, w, 1),
    lambda np, z, w, x: z * x[0] + x[:, :1] * w,
    lambda np, z, w, x: x + 1j,
    lambda np, z, w, x: x.astype(complex) * w,
    lambda np, z, w, x: np.concatenate([z, x]) * np.stack([x, z]).sum(axis=0)[0],
    lambda np, z, w, x: z[[0, 0, 1], [1, 1, 2]] * x[0, 0] + z.reshape(4, 3).T[1, 1],
    lambda np, z, w, x: np.sum(z, axis=0) * np.mean(w) + np.prod(x * 1j, axis=0),
    lambda np, z, w, x: np.cumsum(z, axis=1) * np.cumprod(w, axis=1),
    lambda np, z, w, x: np.var(z, axis=1) * np.std(w),
    lambda np, z, w, x: np.linalg.norm(z) + np.linalg.norm(w, axis=0),
    lambda np, z, w, x: np.linalg.norm(z, 1, axis=1) + np.linalg.norm(w, 3, axis=1),
    lambda np, z, w, x: np.linalg.norm(z, np.inf, axis=1),
    lambda np, z, w, x: np.linalg.norm(z, "nuc") + np.linalg.norm(w, 2),
    lambda np, z, w, x: np.linalg.norm(z, 1) + np.linalg.norm(w, -np.inf),
    lambda np, z, w, x: z @ x.T + x @ w.T,
    lambda np, z, w, x: np.dot(x[0], z[1]) * np.inner(z, w),
    lambda np, z, w, x: np.outer(z[:, 0], x[0, :3]),
    lambda np, z, w, x: np.vdot(z, x) + np.vdot(x, w) * np.vdot(w, z),
    lambda np, z, w, x: np.vecdot(z, x) + np.vecdot(x, w),
    lambda np, z, w, x: np.einsum("ij,kj,kl->il", z, w, x),
    lambda np, z, w, x: np.tensordot(z, x, ([1], [1])),
    lambda np, z, w, x: np.kron(z, x) * np.trace(z),
    lambda np, z, w, x: np.cov(z) + np.diff(w)[0, 0],
    lambda np, z, w, x: np.convolve(z[0], x[0]),
    lambda np, z, w, x: np.correlate(z[0], w[1], "full"),
    lambda np, z, w, x: np.fft.fft(z) * np.fft.ifft(x * w, axis=0),
    lambda np, z, w, x: np.fft.irfft(np.fft.rfft(x) * np.abs(w[0, :3])),
    lambda np, z, w, x: np.abs(np.fft.fft2(x)) ** 2,
    lambda np, z, w, x: {"a": z * x, "b": (abs(z), w)},
]


@pytest.mark.parametrize("f", ARITHMETIC)
def test_arrays(f):
    compare(f, Z, W, X)


def eigh(np, a):
    w, v = np.linalg.eigh(a)
    return w, v @ np.diag(np.exp(-w)) @ v.conj().T


def svd(np, a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return s, (u * s**2) @ vh, np.abs(u), np.abs(vh)


MATRICES = [
    (lambda np, a: np.linalg.inv(a), SQUARE),
    (lambda np, a: np.linalg.det(a), SQUARE),
    (lambda np, a: tuple(np.linalg.slogdet(a)), SQUARE),
    (lambda np, a: np.linalg.slogdet(a)[1], SQUARE),
    (lambda np, a: np.linalg.cholesky(a), HERMITIAN),
    (lambda np, a: np.linalg.cholesky(a, upper=True), HERMITIAN),
    (lambda np, a: np.linalg.eigvalsh((a + a.conj().T) / 2), HERMITIAN),
    (eigh, HERMITIAN),
    (lambda np, a: np.linalg.svdvals(a), Z),
    (svd, Z),
    (svd, Z.T),
    (lambda np, a: tuple(np.linalg.qr(a)), Z.T),
    (lambda np, a: tuple(np.linalg.qr(a)), SQUARE),
    (lambda np, a: np.linalg.pinv(a), Z),
    (lambda np, a: np.linalg.matrix_power(a, 3), SQUARE),
    (lambda np, a: np.sort(np.abs(np.linalg.eigvals(a))), SQUARE),
]


@pytest.mark.parametrize("f, a", MATRICES)
def test_linear_algebra(f, a):
    if a is HERMITIAN:  # JAX reads both triangles of a Hermitian matrix

        def theirs(jnp, a):
            return f(jnp, (a + jnp.conj(a.T)) / 2)

        def mine(np, a):
            return f(np, (a + np.conj(a.T)) / 2)

        compare(mine, a, theirs=theirs)
        return
    compare(f, a)


def test_solve_of_real_right_hand_sides():
    compare(lambda np, a, b: np.linalg.solve(a, b), SQUARE, real(4))
    compare(lambda np, a, b: np.linalg.solve(a, b), real(4, 4), cplx(4, 2))


SCALARS = [
    lambda np, x, z: x * z + x / z - z**2,
    lambda np, x, z: abs(x * z) ** 2,
    lambda np, x, z: (x * z).real * (x + z).imag,
    lambda np, x, z: np.array([x, z * 1j, x * z]),
    lambda np, x, z: x + 1j,
    lambda np, x, z: 2 * z,
    lambda np, x, z: x * 1.0,
]


@pytest.mark.parametrize("f", SCALARS)
def test_python_numbers(f):
    compare(f, 1.5, 2.5 - 1j)


def test_complex_of_two_parts():
    lax_complex = jax.lax.complex
    f = lambda np, a, b: complex(a, b) ** 2  # noqa: E731
    compare(f, 1.5, -0.3, theirs=lambda np, a, b: lax_complex(a, b) ** 2)
    check_grads(lambda a, z: complex(a, z) * complex(a), (1.5, 2 - 1j), 2, MODES)


def test_single_precision_stays():
    z, x = Z.astype(np.complex64), X.astype(np.float32)
    compare(lambda np, z, x: np.sum(z * x * 2.0), z, x, tolerance=1e-4)
    compare(lambda np, z, x: np.abs(np.exp(z) * x), z, x, tolerance=1e-4)
    compare(lambda np, z, w: z * w, z, W, tolerance=1e-4)


def loop(np, x, z):
    for _ in range(3):
        x = x * z
    return x


def branches(np, x, z):
    n = 0
    while n < 3:
        x = x * z if n % 2 else x + z
        n += 1
    return x


def items(np, x, z):
    xs = [x, z]
    for _ in range(2):
        xs.append(xs[-1] * z + x)
    return xs[-1]


def helper(u, v):
    return u * v


def generic(np, x, z):
    """The helper is real for one call and complex for another."""
    return helper(x, x) * helper(x, z)


def recursive(x, n):
    return x if n == 0 else recursive(x * (1 + 1j), n - 1)


@pytest.mark.parametrize("f", [loop, branches, items, generic])
def test_names_that_get_complex(f):
    """The adjoint of a real argument is real, whatever its name means later."""
    compare(f, 1.5, 2 - 1j)


def test_a_loop_over_arrays_and_a_recursion():
    compare(loop, X, Z)
    compare(lambda np, x: recursive(x, 3), 1.5)


def test_without_types():
    """Text that was written without types still keeps a real argument's kind."""

    def loss(x):
        return np.sum(abs(x * 1j) ** 2)

    text = srcjax.source(srcjax.grad(loss))
    scope = {}
    exec(text, scope)
    got = scope["grad_loss"](X)
    assert got.dtype == float
    np.testing.assert_allclose(got, 2 * X)


def test_unknown_dtypes_of_eigenvalues():
    a, b = real(4, 4), real(4)

    def f(np, a, b):
        return np.sum(np.linalg.eigvals(a) * b) * b[0]

    compare(f, a, np.full(4, 0.7))
    check_grads(lambda b: np.var(np.linalg.eigvals(a) * b), (b,), 1, MODES)


# -- in place -----------------------------------------------------------------------


def written(z, x):
    y = np.zeros((3, 4), complex)
    y += x
    y *= z
    y -= x * 1j
    y /= x
    y[0] *= x[0]
    y[1] /= z[0]
    y[2] = x[1]
    y **= 2
    np.add.at(y, ([0, 0], [1, 1]), x[0, :2])
    return y


def written_in_a_loop(z, x):
    y = x + 0j
    for i in range(3):
        y[i] = y[i] * 1j + x[i]
        y[i] += y[0] * z[i]
    return np.abs(y)


def real_part_written(z, x):
    y = z.copy()
    y.real[:] = x
    return y**2


@pytest.mark.parametrize("f", [written, written_in_a_loop, real_part_written])
def test_in_place(f):
    check_grads(f, (Z, 1 + X**2), order=1, modes=MODES)


def imag_assigned(z):
    y = z.copy()
    y.imag = 2.0
    return np.sum(np.abs(y))


def imag_written(z):
    y = z.copy()
    y.imag[:] = 2.0
    return np.sum(np.abs(y))


@pytest.mark.parametrize("f", [imag_assigned, imag_written])
def test_writes_to_imaginary_parts_are_refused(f):
    with pytest.raises(UnsupportedError):
        srcjax.grad(f)(Z)


# -- gradients ----------------------------------------------------------------------


def test_the_gradient_of_a_square_is_conjugated():
    z = 1.5 - 2j
    assert srcjax.grad(lambda z: abs(z) ** 2)(z) == pytest.approx(2 * np.conj(z))


GRADIENTS = [
    lambda np, z, x: np.sum(np.abs(z) ** 2) * x[0, 0],
    lambda np, z, x: np.sum(np.real(z * z * x)),
    lambda np, z, x: np.sum(np.real(z * x) * np.imag(z)),
    lambda np, z, x: np.sum(x),
]


@pytest.mark.parametrize("f", GRADIENTS)
def test_gradients_of_real_numbers(f):
    got = srcjax.grad(lambda z, x: f(np, z, x), argnums=(0, 1))(Z, X)
    wanted = jax.grad(lambda z, x: f(jnp, z, x), argnums=(0, 1))(Z, X)
    same(got, wanted, 1e-9)


HOLOMORPHIC = [
    (lambda np, z: np.sum(z**3 * np.exp(z)), Z),
    (lambda np, z: np.fft.fft(z)[0, 0], Z),
    (lambda np, z: np.linalg.det(z), SQUARE),
    (lambda np, z: np.trace(z), SQUARE),
    (lambda np, z: z**3, 2 + 1j),
    (lambda np, z: 2 * z, 2 + 1j),
    (lambda np, z: z, 2 + 1j),
]


@pytest.mark.parametrize("f, z", HOLOMORPHIC)
def test_holomorphic(f, z):
    got = srcjax.value_and_grad(lambda z: f(np, z), holomorphic=True)(z)
    wanted = jax.value_and_grad(lambda z: f(jnp, z), holomorphic=True)(z)
    same(got, wanted, 1e-9)


def test_holomorphic_text_has_no_trace_of_the_seed():
    def f(z):
        return np.sum(z**3 * np.exp(z))

    text = srcjax.source(srcjax.grad(f, holomorphic=True), Z)
    assert "0j" not in text and "1.0" not in text


def test_holomorphic_twice():
    first = srcjax.grad(lambda z: z**4, holomorphic=True)
    assert srcjax.grad(first, holomorphic=True)(1 + 2j) == pytest.approx(
        12 * (1 + 2j) ** 2
    )


def test_second_order_against_jax():
    v = cplx(3)

    def f(np, z):
        return np.sum(np.abs(z) ** 4) + np.real(z[0] * z[1] ** 2)

    mine, theirs = srcjax.grad(lambda z: f(np, z)), jax.grad(lambda z: f(jnp, z))
    z = cplx(3)
    same(srcjax.jvp(mine, (z,), (v,)), jax.jvp(theirs, (z,), (v,)), 1e-9)
    got = srcjax.grad(lambda z: np.real(np.sum(mine(z) * v)))(z)
    same(got, jax.grad(lambda z: jnp.real(jnp.sum(theirs(z) * v)))(z), 1e-9)


SECOND = [
    lambda z: np.abs(z) ** 3 * np.angle(z),
    lambda z: np.conj(z) * z.real * z.imag,
    lambda z: np.linalg.norm(z) * np.var(z) + np.std(z, axis=0),
    lambda z: np.abs(np.fft.fft(z)) ** 2,
    lambda z: z**W,
    lambda z: np.linalg.pinv(z),
    lambda z: np.linalg.norm(z, "nuc") + np.linalg.norm(z, 1),
    lambda z: np.interp(X[0], np.arange(3.0), z[:, 0]),
    lambda z: np.polyval(z[0], X[1]),
    lambda z: np.linspace(z[0], X[0], 3),
    lambda z: np.sort(z) + np.maximum(z, z[::-1]) + np.max(z),
]


@pytest.mark.parametrize("f", SECOND)
def test_second_order_by_differences(f):
    check_grads(f, (Z,), order=2, modes=MODES)


def test_second_order_of_matrices():
    def f(a):
        a = (a + np.conj(a).T) / 2
        w, v = np.linalg.eigh(a)
        sign, logdet = np.linalg.slogdet(a + 1j * np.eye(4))
        return np.linalg.cholesky(a) + (v * w**2) @ np.conj(v).T * sign * logdet

    check_grads(f, (HERMITIAN,), order=2, modes=MODES)


# -- what is refused ----------------------------------------------------------------


def test_a_complex_result_names_the_option():
    with pytest.raises(ArgumentError, match="holomorphic=True"):
        srcjax.grad(lambda z: z * z)(1 + 2j)
    with pytest.raises(ArgumentError, match="holomorphic=True"):
        srcjax.grad(lambda x: x * 1j)(1.5)


def test_a_result_that_turns_out_complex_names_the_option():
    a = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with pytest.raises(TypeError, match="holomorphic=True"):
        srcjax.grad(lambda a: np.linalg.eigvals(a)[0])(a)


def test_holomorphic_needs_complex_arguments_and_results():
    with pytest.raises(ArgumentError, match="complex arguments"):
        srcjax.grad(lambda z: z * z, holomorphic=True)(1.5)
    with pytest.raises(ArgumentError, match="needs a complex number"):
        srcjax.grad(lambda z: abs(z), holomorphic=True)(1.5j)


def test_seeds_of_real_values_are_real():
    _, pullback = srcjax.vjp(np.abs, Z)
    with pytest.raises(ArgumentError, match="complex"):
        pullback(Z)
    with pytest.raises(ArgumentError, match="complex"):
        srcjax.jvp(np.sin, (X,), (Z,))


@pytest.mark.parametrize("f", [srcjax.jacrev, srcjax.jacfwd, srcjax.hessian])
def test_jacobians_are_of_real_numbers(f):
    with pytest.raises(ArgumentError, match="complex"):
        f(lambda z: np.sum(np.abs(z) ** 2))(Z)
    with pytest.raises(ArgumentError, match="complex"):
        f(lambda x: x * 1j)(X)


def real_only_functions():
    yield lambda z: np.histogram(z, 3)[1]
    special = pytest.importorskip("scipy.special")
    yield lambda z: special.digamma(z)
    yield lambda z: special.spence(z)
    linalg = pytest.importorskip("scipy.linalg")
    yield lambda z: linalg.solve_toeplitz(z[0], z[1])
    yield lambda z: linalg.solveh_banded(z[:2], z[0])
    stats = pytest.importorskip("scipy.stats")
    yield lambda z: stats.norm.logpdf(z)


@pytest.mark.parametrize("f", list(real_only_functions()))
def test_rules_for_real_numbers_refuse_complex_ones(f):
    def loss(z):
        return np.sum(np.abs(f(z)))

    with pytest.raises(NoRuleError, match="complex"):
        srcjax.grad(loss)(Z)
    with pytest.raises(NoRuleError, match="complex"):
        srcjax.jvp(f, (Z,), (W,))


def cast_to_complex(x):
    total = np.complex128(0)
    for k in range(3):
        total += np.complex128(x[k]) * np.complex128(1j) ** k
    return np.abs(total) ** 2 + total.imag + np.sum(np.complex128(x * 1j).imag)


def of_two_parts(x):
    w = complex(x[0], x[1])
    return abs(w * w + complex(x[2], 2.0)) ** 2 + w.imag


@pytest.mark.parametrize("f", [cast_to_complex, of_two_parts])
def test_numbers_made_complex(f):
    x = np.array([0.3, 0.9, 1.7])
    check_grads(f, (x,), 2, MODES)
    batch = np.stack([x, x * 1.1, x - 1.0])
    gradient = srcjax.grad(f)
    found, expected = srcjax.vmap(gradient)(batch), [gradient(one) for one in batch]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    of_the_batch = srcjax.grad(lambda b: np.sum(srcjax.vmap(f)(b)))(batch)
    np.testing.assert_allclose(of_the_batch, expected, rtol=1e-12)


# -- real arguments of functions that compute with complex numbers --------------------


def scale_of(m, x, kind):
    if kind == "none":
        return 1.0
    q = x * np.sum(np.abs(series(m, x, 3)) ** 2).real
    return np.sqrt(q) if kind == "albedo" else q


def recur(z, N):
    r = z
    while np.abs(N) > 0:
        r = 1 / (r + z)
        N = N - 1
    return r


def series(m, x, n):
    if np.imag(m) > 0:
        m = np.conj(m)
    a = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        D = recur(m * x, k + 1)
        a[k] = (D / m + k / x) * 1j
    return a


def amplitudes(m, x, mu, kind="albedo"):
    if np.imag(m) > 0:
        m = np.conj(m)
    a = series(np.complex128(m), x, 3)
    s1 = np.sum(a) * np.ones_like(mu)
    s2 = np.sum(a) * mu
    s = scale_of(m, x, kind)
    s1 /= s
    s2 /= s
    return s1, s2


def intensity(m, x, mu):
    _, s2 = amplitudes(m, x, mu)
    return (np.abs(s2) ** 2).astype("float")


def test_a_real_argument_gets_a_real_gradient():
    places = np.linspace(-1.0, 1.0, 4)

    def total(m, x):
        return np.sum(intensity(m, x, places))

    found = srcjax.grad(total, argnums=(0, 1))(1.5, 2.0)
    assert [np.asarray(d).dtype for d in found] == [float, float]
    check_grads(total, (1.5, 2.0), modes=["rev"])


def halves(x):
    """A Fourier transform as textbooks have it: of lists, by halves."""
    if len(x) <= 1:
        return x
    even, odd = halves(x[0::2]), halves(x[1::2])
    n = len(even)
    turned = [cmath.exp(-1j * cmath.pi * k / n) * odd[k] for k in range(n)]
    pairs = list(zip(even, turned, strict=True))
    return [e + t for e, t in pairs] + [e - t for e, t in pairs]


def of_halves(x):
    return sum(abs(v) ** 2 * (k + 1) for k, v in enumerate(halves(x)))


def of_halves_of_rows(x):
    return of_halves([a for row in x for a in row])


def of_an_array_made_complex(x):
    z = np.asarray([a * 1.5 for a in x], dtype=np.complex128)
    return np.sum(np.abs(z + np.array([1j, 2.0, 3.0, 1 + 1j])[: len(z)]))


@pytest.mark.parametrize(
    "f, x",
    [
        (of_halves, [1.0, 2.0, 3.0, 2.5]),
        (of_halves_of_rows, [[1.0, 2.0], [3.0, 2.5]]),
        (of_an_array_made_complex, [1.0, 2.0, 3.0, 2.5]),
        (of_an_array_made_complex, [np.array([1.0, 2.0]), np.array([3.0, 2.5])]),
    ],
)
def test_lists_of_real_numbers_get_real_gradients(f, x):
    found = srcjax.grad(f)(x)
    assert np.asarray(found).dtype == float
    ends = [f([a * s for a in map(np.array, x)]) for s in (1 + 1e-6, 1 - 1e-6)]
    np.testing.assert_allclose(np.sum(found * np.array(x)), np.diff(ends) / -2e-6)
