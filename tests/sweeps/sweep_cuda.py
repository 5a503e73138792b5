"""The corpus as CUDA, by the shim: kernels give what the function gives."""

import copy

import numpy as np
import optree
import pytest

import srcjax
from tests.corpus.registry import PROGRAMS
from tests.gpu import fake_cupy, nvrtc, shim

pytestmark = [
    pytest.mark.skipif(not shim.has_compiler(), reason="there is no g++"),
    pytest.mark.filterwarnings("ignore"),
]
every_program = pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)


def moved(cupy, args):
    """The arguments with their arrays of numbers on the device."""

    def move(leaf):
        numbers = isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fiubc"
        return cupy.asarray(leaf) if numbers else leaf

    return optree.tree_map(move, args, none_is_leaf=True)


def check(function, args):
    """Compare a call; what stays Python, or does not run with CuPy, is left out."""
    with fake_cupy.installed() as cupy:
        check_with(cupy, function, args)
        compiles()


def check_with(cupy, function, args):
    """Compare a call that has kernels with the plain function's."""
    wanted = function(*copy.deepcopy(args))
    given = moved(cupy, copy.deepcopy(args))
    compiled = srcjax.jit(function)
    module = compiled.__srcjax_transform__.module_for(given, {})
    if module.stays or "backends.cuda" not in module.text:
        pytest.skip(f"no kernels: {module.stays}")
    try:
        got = compiled(*given)
    except Exception:
        try:
            function(*moved(cupy, copy.deepcopy(args)))
        except Exception as error:
            pytest.skip(f"it does not run with CuPy: {error}")
        raise
    compare(srcjax.device_get(got), wanted)


def compare(got, wanted):
    pairs = zip(optree.tree_leaves(got), optree.tree_leaves(wanted), strict=True)
    for a, b in pairs:
        single = getattr(b, "dtype", None) == np.float32
        tolerance = (1e-5, 1e-6) if single else (1e-8, 1e-10)
        np.testing.assert_allclose(a, b, *tolerance)


#: How CuPy says that it has no arrays of NumPy's with its own.
NOT_MIXED = ("Implicit conversion", "Unsupported type", "Argument 'a' has incorrect")


def check_not_compiled(cupy, program):
    """Compare a gradient of arrays of the device, without `jit`, with NumPy's."""
    args = arguments(program)
    gradient = gradient_of(program, args)
    try:
        program.function(*moved(cupy, copy.deepcopy(args)))
    except Exception as error:
        pytest.skip(f"it does not run with CuPy: {error}")
    try:
        got = gradient(*moved(cupy, copy.deepcopy(args)))
    except TypeError as error:
        if not str(error).startswith(NOT_MIXED):
            raise
        pytest.skip(f"arrays of NumPy and of CuPy meet: {error}")
    compare(srcjax.device_get(got), gradient(*copy.deepcopy(args)))


def compiles():
    """What was launched is CUDA, and not only what a compiler of C++ takes."""
    if not nvrtc.is_there() or not fake_cupy.launched:
        return
    text = nvrtc.joined(fake_cupy.launched)
    for arch in ("sm_80", "sm_90"):
        assert nvrtc.compile_text(text, arch) == "", text


def arguments(program):
    args = program.args()
    if not any(np.ndim(leaf) for leaf in optree.tree_leaves(args)):
        pytest.skip("no arrays")
    return args


@every_program
def test_values(program):
    check(program.function, arguments(program))


def gradient_of(program, args):
    """A gradient that runs without `jit`."""
    gradient = srcjax.grad(program.function, program.argnums)
    try:
        gradient(*copy.deepcopy(args))
    except Exception as error:
        pytest.skip(f"no gradient: {error}")
    return gradient


@every_program
def test_gradients(program):
    args = arguments(program)
    check(gradient_of(program, args), args)


@every_program
def test_gradients_that_are_not_compiled(program):
    with fake_cupy.installed() as cupy:
        check_not_compiled(cupy, program)
