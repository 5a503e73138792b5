"""Elementary functions of compiled kernels: how near, how special, how vectorised."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.special

from srcjax.backends import elementary
from srcjax.backends.elementary import compiled, name_of, ordinary
from tests.backends import elementary_cases as cases

numba = pytest.importorskip("numba")
binding = pytest.importorskip("llvmlite.binding")

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2

AVX2 = binding.get_host_cpu_features().get("avx2", False)
EACH = [(name, dtype) for name in cases.NAMES for dtype in cases.DTYPES]
each = pytest.mark.parametrize(
    "name, dtype", EACH, ids=[f"{name}-{dtype.__name__}" for name, dtype in EACH]
)
needs_long = pytest.mark.skipif(
    not cases.EXTENDED, reason="long double has no more digits than float64"
)
needs_avx2 = pytest.mark.skipif(not AVX2, reason="the machine has no AVX2")
PRELUDE = "import sys; import numpy as np; from srcjax.backends import elementary\n"


def printed(code):
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + code],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


@needs_long
@each
def test_within_two_ulps(name, dtype):
    """Special values, any floats, and where the function changes."""
    error, arguments, result = cases.largest(name, dtype, 4000)
    assert error <= 2, f"{name}{arguments} = {result}: {error} ulps"


@each
def test_special_values_are_numpys(name, dtype):
    """Zeros with their signs, infinities and NaN; nothing is raised."""
    values = cases.specials(dtype)
    if name in cases.OF_TWO:
        arguments = tuple(v.ravel() for v in np.meshgrid(values, values))
    else:
        arguments = (values,)
    with np.errstate(all="ignore"):
        want = cases.function_of(name)(*arguments)
    got = cases.found(name, *arguments)
    assert got.dtype == dtype
    endless = ~np.isfinite(want)
    np.testing.assert_array_equal(np.isfinite(got), ~endless)
    np.testing.assert_array_equal(got[endless], want[endless])
    # SciPy gives 0 where `expit` is a denormal float32.
    zeros = (want == 0) & (got == 0)
    assert (np.signbit(got) == np.signbit(want))[zeros].all()


@needs_avx2
@each
def test_loops_vectorise(name, dtype):
    """The polynomial is one of vectors, and the machine's registers are wide."""
    loop = cases.loop(name, dtype)
    (signature,) = loop.signatures
    sums = r" = fadd <(\d+) x (float|double)>"
    widths = re.findall(sums, loop.inspect_llvm(signature))
    widest = max(int(n) * (32 if kind == "float" else 64) for n, kind in widths)
    assert widest >= 256
    assert re.search(r"[yz]mm\d", loop.inspect_asm(signature))


def test_values_that_are_known():
    """From mpmath, with 40 digits: huge arguments, the hardest one, small results."""
    x = np.array([1e22, 6381956970095103.0 * 2.0**797, 1.7976931348623157e308])
    want = [-0.8522008497671888, 1.0, 0.004961954789184062]
    np.testing.assert_array_equal(cases.found("sin", x), want)
    want = [0.5232147853951389, -4.687165924254628e-19, -0.9999876894265599]
    np.testing.assert_allclose(cases.found("cos", x), want, rtol=3e-16)
    x = np.array([26.5, 0.5, -1.0])
    want = [2.2109076642637343e-307, 0.4795001221869535, 1.842700792949715]
    np.testing.assert_allclose(cases.found("erfc", x), want, rtol=3e-16)


@pytest.mark.parametrize("dtype", cases.DTYPES)
def test_the_whole_range_of_exponents(dtype):
    """exp2 and log2 are exact at powers of two, denormal ones too."""
    info = np.finfo(dtype)
    k = np.arange(info.minexp - info.nmant, info.maxexp)
    powers = np.ldexp(dtype(1), k)
    np.testing.assert_array_equal(cases.found("exp2", k.astype(dtype)), powers)
    np.testing.assert_array_equal(cases.found("log2", powers), k)


@needs_long
@pytest.mark.parametrize("dtype", cases.DTYPES)
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_within_the_bound_a_faster_one(name, dtype):
    error, arguments, result = cases.largest(name, dtype, 4000, kind="ordinary")
    assert error <= 2, f"{name}{arguments} = {result}: {error} ulps"
    _, bound = ordinary(cases.function_of(name), dtype)
    assert bound >= 1e5
    assert ordinary(np.exp, dtype) is None


@needs_avx2
def test_a_kernel_finds_out_whether_the_faster_one_did():
    """As the package's docstring has it: the loop that looks is one of vectors."""
    sin, (near_sin, bound) = compiled(np.sin, "float64"), ordinary(np.sin, "float64")

    def kernel(x, out):
        far = False
        for i in range(x.size):
            out[i] = near_sin(x[i])
            far |= not (abs(x[i]) <= bound)
        if far:
            for i in range(x.size):
                out[i] = sin(x[i])
        return far

    jitted = numba.njit("b1(f8[::1], f8[::1])", error_model="numpy")(kernel)
    (signature,) = jitted.signatures
    calls = re.findall(r"fmuladd\.v(\d)f64", jitted.inspect_llvm(signature))
    assert calls and {"1", "2"}.isdisjoint(calls)
    x = np.linspace(-99, 99, 1001)
    out = np.empty_like(x)
    assert not jitted(x, out)
    np.testing.assert_allclose(out, np.sin(x), rtol=1e-15)
    x[7] = 1e300
    assert jitted(x, out)
    np.testing.assert_allclose(out, np.sin(x), rtol=1e-15)


def test_no_promotion():
    """float32 gives float32, and a function is for its own dtype alone."""
    f = compiled(np.tanh, np.dtype("float32"))

    @numba.njit
    def kernel(x):
        return f(x)

    kernel(np.float32(0.5))
    (signature,) = kernel.nopython_signatures
    assert signature.return_type == numba.float32
    with pytest.raises(numba.TypingError):
        kernel(0.5)


def test_functions_that_are_here():
    for name in cases.NAMES:
        assert name_of(cases.function_of(name)) == name
    assert name_of(math.exp) == name_of(np.exp) == "exp"
    assert name_of(math.atan2) == name_of(np.arctan2) == "arctan2"
    assert name_of(math.pow) == name_of(pow) == "power"
    assert name_of(scipy.special.expm1) == "expm1"
    for unknown in (np.add, np.sum, len, [], None, "exp"):
        assert name_of(unknown) is None
        assert compiled(unknown, np.float64) is None
    assert compiled(np.exp, np.dtype("complex128")) is None
    assert compiled(np.exp, np.dtype("float16")) is None
    assert compiled(np.exp, np.float64) is compiled(math.exp, np.dtype("float64"))


def test_numba_is_imported_when_something_is_compiled():
    code = (
        "assert elementary.name_of(np.exp) == 'exp'\n"
        "print('numba' in sys.modules, 'scipy' in sys.modules)\n"
        "sys.modules['numba'] = None\n"  # as if it were not installed
        "try: elementary.compiled(np.exp, np.dtype('float32'))\n"
        "except ImportError: print('asked for')\n"
    )
    assert printed(code) == ["False", "False", "asked", "for"]


def test_kernels_can_be_cached(tmp_path, monkeypatch):
    """A second process loads the kernel, and compiles nothing."""
    (tmp_path / "mine.py").write_text(
        "import numba\nimport numpy as np\n"
        "from srcjax.backends.elementary import compiled\n"
        "exp = compiled(np.exp, np.dtype('float64'))\n\n\n"
        "@numba.njit(cache=True, error_model='numpy', nogil=True)\n"
        "def kernel(x, out):\n"
        "    for i in range(x.size):\n"
        "        out[i] = exp(x[i])\n\n\n"
        "x = np.linspace(-1, 1, 9)\nout = np.empty_like(x)\nkernel(x, out)\n"
        "assert np.allclose(out, np.exp(x), rtol=1e-15)\n"
        "print(sum(kernel.stats.cache_hits.values()), len(exp.signatures))\n"
    )
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    results = [
        subprocess.run(
            [sys.executable, tmp_path / "mine.py"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert results == [["0", "1"], ["1", "0"]]


def test_coefficients_are_those_that_are_derived(capsys):
    pytest.importorskip("mpmath")
    from tests.backends import elementary_coefficients

    elementary_coefficients.main()
    with open(elementary.coefficients.__file__, encoding="utf-8") as file:
        assert capsys.readouterr().out == file.read()
