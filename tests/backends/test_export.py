"""export: the text runs without srcjax, with the same numbers, and is laid out well."""

import collections
import enum
import functools
import math
import operator
import subprocess
import sys
import types
from dataclasses import dataclass, field
from typing import NamedTuple

import gast
import numpy as np
import pytest
import scipy.special
from scipy.special import logsumexp

import srcjax
from srcjax import runtime
from srcjax.backends.export import export, export_text
from srcjax.backends.module import Module
from srcjax.errors import ArgumentError

RATE = 2.5
OFFSET = np.array([1.0, -0.0, 1 / 3])


def module_of(text, entry="entry", **values):
    """A module as the pipeline makes it, of a text and the values of its names."""
    functions = [s for s in gast.parse(text).body if isinstance(s, gast.FunctionDef)]
    return Module(entry, functions, values, entry=entry)


def run_text(text):
    """The entry point of an exported text."""
    assert "import srcjax" not in text and "from srcjax" not in text
    names = {"__name__": "exported_for_a_test"}
    sys.modules["exported_for_a_test"] = types.ModuleType("exported_for_a_test")
    try:
        exec(compile(text, "exported.py", "exec"), names)
    finally:
        del sys.modules["exported_for_a_test"]
    (entry,) = names["__all__"]
    return names[entry]


def exported(*args, **values):
    return run_text(export_text(module_of(*args, **values)))


def assert_clean(*paths):
    """Ruff has nothing to say of the files."""
    ruff = [sys.executable, "-m", "ruff"]
    files = [str(p) for p in paths]
    for command in (
        [*ruff, "check", "--isolated", "--select=E,F,W,I,UP", *files],
        [*ruff, "format", "--isolated", "--check", *files],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


# -- values ---------------------------------------------------------------------------


class Colour(enum.Enum):
    RED = 1


class Pair(NamedTuple):
    left: float
    right: "float" = RATE


@dataclass(frozen=True)
class Options:
    """How to do it."""

    rate: float = RATE
    sizes: "list[int]" = field(default_factory=list)
    inner: object = None

    def scaled(self, x):
        return self.rate * helper(x)


Old = collections.namedtuple("Old", "a b", defaults=[3])


def helper(x, by=RATE):
    """Twice, or so."""
    return np.sum(x) * by + math.sin(OFFSET[0])


VALUES = {
    "none": None,
    "yes": True,
    "number": -3,
    "text": 'it\'s "so"\n',
    "data": b"\x00a",
    "negative_zero": -0.0,
    "infinite": (math.inf, -math.inf),
    "complex_number": complex(-0.0, 2),
    "nested": {"a": [1, (2.5, None)], 3: {1, 2}, "empty": (set(), frozenset({1}), ())},
    "span": (slice(1, None), range(0, 5, 2), ...),
    "float32": np.float32(0.1),
    "dtype": np.dtype("float32"),
    "vector": OFFSET,
    "matrix": np.arange(12.0).reshape(3, 4)[:, ::2],
    "single": np.array([1 / 3, np.inf, np.nan], dtype=np.float32),
    "integers": np.array([[1, 2]], dtype=np.int8),
    "mask": np.array([True, False]),
    "big_endian": np.array([1.5], dtype=">f8"),
    "zero_rank": np.array(0.1),
    "empty": np.zeros((0, 3)),
    "zeros": np.zeros((50, 100)),
    "ones": np.ones(3000, dtype=np.float32),
    "full": np.full((100, 100), 1 / 3),
    "random": np.random.default_rng(0).normal(size=(40, 50)),
    "words": np.array(["a b", "c"]),
    "colour": Colour.RED,
    "pair": Pair(1.0),
    "old": Old(1),
    "options": Options(0.5, [1, 2], Pair(1.0, 2.0)),
}


def same(a, b):
    if isinstance(a, (np.ndarray, np.generic)):
        equal_nan = a.dtype.kind == "f"
        signs = np.array_equal(np.signbit(a), np.signbit(b)) if equal_nan else True
        return (
            type(a) is type(b)
            and a.dtype == b.dtype
            and np.shape(a) == np.shape(b)
            and np.array_equal(a, b, equal_nan=equal_nan)
            and signs
        )
    return repr(a) == repr(b)


@pytest.mark.parametrize("name", VALUES)
def test_values_are_given_again_exactly(name, tmp_path):
    value = VALUES[name]
    text = export_text(module_of("def entry():\n    return v\n", v=value))
    assert same(run_text(text)(), value)
    path = tmp_path / "exported.py"
    path.write_text(text)
    assert_clean(path)


def test_what_has_no_text_is_refused_by_name():
    code = "def entry():\n    return rng\n"
    for value in (
        np.random.default_rng(0),
        object(),
        np.ma.masked_array([1.0]),
        np.array([object()]),
        np.random.default_rng(0).normal(size=2001),
        [object()],
    ):
        with pytest.raises(ArgumentError, match="`rng` cannot be exported") as caught:
            export_text(module_of(code, rng=value))
        assert "argument" in caught.value.instead


def test_a_large_array_is_refused_with_its_size():
    with pytest.raises(ArgumentError, match="2001 elements"):
        exported("def entry():\n    return a\n", a=np.arange(2001.0))


# -- functions and classes ------------------------------------------------------------


def test_helpers_are_pasted_with_what_they_call():
    code = "def entry(d, x):\n    return undot_left(d, x, x)\n"
    text = export_text(module_of(code, undot_left=runtime.undot_left))
    assert text.index("def unbroadcast") < text.index("def undot_left")
    x = np.array([1.0, 2.0])
    assert np.array_equal(run_text(text)(3.0, x), 3 * x)


def test_every_helper_can_be_pasted():
    calls = ", ".join(f"{name}(*args)" for name in runtime.HELPERS)
    code = f"def entry(*args):\n    return [{calls}]\n"
    text = export_text(module_of(code, **runtime.HELPERS))
    run_text(text)
    for name in runtime.HELPERS:
        assert f"def {name}(" in text


def test_user_functions_with_globals_and_defaults():
    text = export_text(
        module_of("def entry(x):\n    return helper(x)\n", helper=helper)
    )
    x = np.array([1.0, 2.0])
    assert run_text(text)(x) == helper(x)
    assert '"""Twice, or so."""' in text


def test_a_default_keeps_its_value(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "RATE", 100.0)
    entry = exported("def entry(x):\n    return helper(x)\n", helper=helper)
    assert entry(1.0) == helper(1.0)


def test_the_name_of_a_global_may_mean_two_things():
    def make(K):
        def inner(x, n):
            if n == 0:
                return x
            return K * inner(x, n - 1)

        return inner

    code = "def entry(x):\n    return (f(x, 1), g(x, 2), K * x)\n"
    assert exported(code, f=make(2.0), g=make(5.0), K=7.0)(1.0) == (2.0, 25.0, 7.0)


def test_a_local_name_never_hides_a_global():
    scale = 3.0

    def first(x):
        return scale * x

    def second(x):
        return first([scale * y for scale, y in [(x, 2.0)]][0])

    code = "def entry(x):\n    scale2 = first(x)\n    return scale2 + scale + g(x)\n"
    entry = exported(code, first=first, scale=10.0, g=second)
    assert entry(2.0) == 6.0 + 10.0 + 12.0


def test_a_user_function_called_like_a_builtin():
    def sum(x):
        return len(x)

    def total(x):
        return math.fsum(x)

    code = "def entry(d, x, y):\n    return sum(y), total(y), unbroadcast(d, x)\n"
    entry = exported(code, sum=sum, total=total, unbroadcast=runtime.unbroadcast)
    assert entry(np.ones(3), 1.0, [4.0]) == (1, 4.0, 3.0)


def test_lambdas_partials_caches_and_methods():
    values = {
        "f": lambda x: x + RATE,
        "g": functools.partial(helper, by=2.0),
        "h": functools.lru_cache(maxsize=8)(lambda n: n * RATE),
        "m": Options(2.0).scaled,
        "add": operator.add,
        "table": {"tanh": np.tanh, "same": abs},
    }
    code = (
        "def entry(x):\n"
        "    a = table['tanh'](x), table['same']\n"
        "    return f(x), g(x), h(x), m(x), add(x, x), *a\n"
    )
    found = exported(code, **values)(0.5)
    x = 0.5
    expected = (3.0, helper(x, 2.0), 1.25, 2.0 * helper(x), 1.0, np.tanh(x), abs)
    assert found == expected


def test_classes_are_pasted():
    code = (
        "def entry(x):\n    return Options(x).scaled(x), Pair(x), Old(x), Colour.RED\n"
    )
    values = {"Options": Options, "Pair": Pair, "Old": Old, "Colour": Colour}
    text = export_text(module_of(code, **values))
    assert "rate: float = RATE" in text
    assert "sizes: list[int]" in text
    scaled, pair, old, colour = run_text(text)(2.0)
    assert scaled == 2.0 * helper(2.0)
    assert pair == (2.0, RATE) and old == (2.0, 3)
    assert colour.name == "RED"


def test_a_module_of_the_user_is_not_imported():
    mine = types.ModuleType("mine")
    mine.helper = helper
    mine.K = 4.0
    code = "def entry(x):\n    return mine.helper(x) * mine.K\n"
    text = export_text(module_of(code, mine=mine))
    assert "import mine" not in text
    assert run_text(text)(1.0) == 4.0 * helper(1.0)
    with pytest.raises(ArgumentError, match="module `mine`"):
        export_text(module_of("def entry():\n    return mine\n", mine=mine))


def test_imports_are_those_of_the_user_sorted(tmp_path):
    values = {
        "np": np,
        "numpy": np,
        "math": math,
        "scipy": scipy,
        "logsumexp": logsumexp,
        "special": scipy.special,
        "sps": scipy.special,
        "sine": np.sin,
        "erf": scipy.special.erf,
    }
    code = (
        "def entry(x):\n"
        "    a = scipy.special.expit(x) + special.erf(x) + sps.erf(x) + erf(x)\n"
        "    return np.sum(a) + numpy.sum(x) + math.pi + logsumexp(x) + sine(x)\n"
    )
    text = export_text(module_of(code, **values))
    assert np.isfinite(run_text(text)(0.5))
    path = tmp_path / "exported.py"
    path.write_text(text)
    assert_clean(path)


def test_state_is_refused():
    count = 0

    def counting(x):
        nonlocal count
        count += 1
        return x

    with pytest.raises(ArgumentError, match="assigns to `count`"):
        exported("def entry(x):\n    return f(x)\n", f=counting)


def test_what_needs_srcjax_is_refused():
    with pytest.raises(
        ArgumentError, match="`vjp` cannot be exported: it needs srcjax"
    ):
        exported("def entry(x):\n    return vjp(x)\n", vjp=srcjax.vjp)


def test_an_unknown_name_is_refused():
    with pytest.raises(ArgumentError, match="`nothing`, which `entry` uses"):
        exported("def entry(x):\n    return nothing(x)\n")


def test_stop_gradient_is_the_identity():
    def inner(x):
        return srcjax.stop_gradient(x) * 2

    assert exported("def entry(x):\n    return f(x)\n", f=inner)(3.0) == 6.0


# -- the whole way --------------------------------------------------------------------


@srcjax.custom_vjp
def clipped(x):
    return np.exp(x)


def clipped_forward(x):
    return np.exp(x), x


def clipped_backward(x, d):
    return (np.minimum(d * np.exp(x), RATE),)


clipped.defvjp(clipped_forward, clipped_backward)


def mlp(params, x):
    for W, b in params:
        x = np.tanh(np.dot(x, W) + b)
    return np.sum(x * RATE)


def with_own_rule(x):
    return np.sum(clipped(x) * OFFSET)


def likelihood(x, k):
    return logsumexp(x) * helper(k)


PARAMS = [(np.full((3, 4), 0.1), np.zeros(4)), (np.full((4, 2), 0.2), np.zeros(2))]
CASES = {
    "mlp": (mlp, (PARAMS, np.ones((5, 3)))),
    "with_own_rule": (with_own_rule, (np.array([0.5, 1.0, 2.0]),)),
    "likelihood": (likelihood, (np.array([0.5, 1.0]), 2.0)),
}


def leaves(x):
    return [y for item in x for y in leaves(item)] if type(x) in (list, tuple) else [x]


@pytest.mark.parametrize("typed", [True, False], ids=["typed", "untyped"])
@pytest.mark.parametrize("name", CASES)
def test_gradients_run_without_srcjax(name, typed, tmp_path):
    function, args = CASES[name]
    gradient = srcjax.grad(function)
    path = export(gradient, tmp_path / "exported.py", *(args if typed else ()))
    text = path.read_text()
    assert text.startswith('"""Written by srcjax from `')
    assert f'__all__ = ["grad_{name}"]' in text
    assert str(tmp_path) not in text
    code = (
        "import sys\n"
        "for name in ('srcjax', 'gast', 'astor', 'optree', 'beniget'):\n"
        "    sys.modules[name] = None\n"
        "import numpy as np\n"
        "from numpy import array\n"
        "import exported\n"
        "entry, = exported.__all__\n"
        f"print(repr(getattr(exported, entry)(*{args!r})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    names = {"array": np.array, "np": np}
    found = eval(done.stdout, names)
    for a, b in zip(leaves(found), leaves(gradient(*args)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7)
    assert_clean(path)


def test_the_text_is_the_same_each_time(tmp_path):
    texts = {
        export(srcjax.grad(mlp), tmp_path / f"{i}.py", *CASES["mlp"][1]).read_bytes()
        for i in range(2)
    }
    assert len(texts) == 1


def test_a_derivative_used_as_a_value_is_exported():
    slope = srcjax.grad(lambda x: x**3)
    entry = exported("def entry(x):\n    return slope(x)\n", slope=slope)
    assert entry(2.0) == 12.0


def test_only_what_srcjax_made_is_exported(tmp_path):
    with pytest.raises(ArgumentError, match="was not made by srcjax"):
        export(helper, tmp_path / "no.py")
    assert not (tmp_path / "no.py").exists()
