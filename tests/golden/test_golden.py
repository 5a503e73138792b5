"""Generated gradients of textbook functions: the text, its size, and its numbers.

`SRCJAX_UPDATE_GOLDEN=1 pytest tests/golden` writes the expected files anew.
"""

import ast
import difflib
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import optree
import pytest

import srcjax
from tests.corpus.harness import assert_close, assert_same_dtypes, differences

from . import textbook
from .functions import GOLDEN, Golden
from .inspect_text import (
    LIMIT,
    dead_assignments,
    functions_of,
    generated_statements,
    idle_code,
    sources_of,
    textbook_statements,
    untrue_comments,
)
from .ratios import generate, table

EXPECTED = Path(__file__).parent / "expected"
UPDATE = os.environ.get("SRCJAX_UPDATE_GOLDEN") == "1"

# What is not as it should be yet: test, then function, then the reason. To be emptied.
NOT_YET: dict[str, dict[str, str]] = {}

every_function = pytest.mark.parametrize("golden", GOLDEN.values(), ids=list(GOLDEN))


@pytest.fixture(autouse=True)
def expected_to_fail(request):
    """Marks what `NOT_YET` lists under the name of the test."""
    reasons = NOT_YET.get(request.node.originalname, {})
    case = request.node.callspec.id if reasons else None
    if case in reasons:
        request.applymarker(pytest.mark.xfail(reason=reasons[case]))


def expected_text(golden: Golden) -> str:
    """What is kept in the golden file."""
    return (EXPECTED / f"{golden.name}.py").read_text(encoding="utf-8")


def load(golden: Golden):
    """The golden file's entry point, and the module."""
    path = EXPECTED / f"{golden.name}.py"
    module = ModuleType(f"golden_{golden.name}")
    exec(compile(expected_text(golden), path, "exec"), vars(module))
    (entry,) = module.__all__
    return getattr(module, entry), module


def as_tuple(golden: Golden, gradients) -> tuple:
    """The gradients as a tuple, whatever `argnums` was."""
    return tuple(gradients) if isinstance(golden.argnums, tuple) else (gradients,)


def positions(golden: Golden) -> tuple[int, ...]:
    """`argnums` as a tuple."""
    argnums = golden.argnums
    return argnums if isinstance(argnums, tuple) else (argnums,)


def numeric(golden: Golden) -> tuple:
    """The gradients by finite differences."""
    return differences(
        lambda *args: float(golden.function(*args)), golden.args(), positions(golden)
    )


# --- the functions and the textbook ------------------------------------------


def test_there_are_enough_functions():
    assert len(GOLDEN) >= 25


def test_every_expected_file_has_a_function():
    assert {path.stem for path in EXPECTED.glob("*.py")} <= set(GOLDEN)


@every_function
def test_textbook_is_right(golden):
    by_hand = getattr(textbook, golden.name)(*golden.args())
    assert_close(as_tuple(golden, by_hand), numeric(golden))


# --- (a) the text ------------------------------------------------------------


@every_function
def test_text(golden):
    text = generate(golden)
    path = EXPECTED / f"{golden.name}.py"
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return
    kept = expected_text(golden)
    if text != kept:
        lines = difflib.unified_diff(
            kept.splitlines(),
            text.splitlines(),
            f"expected/{path.name}",
            "generated now",
            lineterm="",
        )
        pytest.fail("\n".join(lines), pytrace=False)


# --- (b) the numbers ---------------------------------------------------------


@every_function
def test_numbers(golden):
    derivative, _ = load(golden)
    args = golden.args()
    gradients = as_tuple(golden, derivative(*args))
    assert_close(gradients, numeric(golden), message="finite differences")
    by_hand = as_tuple(golden, getattr(textbook, golden.name)(*golden.args()))
    assert_close(gradients, by_hand, rtol=1e-9, atol=1e-11, message="textbook")
    assert_close(args, golden.args(), rtol=0, atol=0, message="arguments")


@every_function
def test_numbers_do_not_depend_on_the_call(golden):
    """A second call gives the same; what a first call gave is not changed by it."""
    derivative, _ = load(golden)
    first = derivative(*golden.args())
    copied = optree.tree_map(np.copy, first)
    second = derivative(*golden.args())
    assert_close(second, first, rtol=0, atol=0)
    assert_close(first, copied, rtol=0, atol=0)


@every_function
def test_numbers_without_types(golden):
    """The text that is written before any call is right as well."""
    derivative = srcjax.grad(golden.function, argnums=golden.argnums)
    world: dict = {}
    exec(srcjax.source(derivative, general=True), world)
    gradients = world[f"grad_{golden.name}"](*golden.args())
    by_hand = getattr(textbook, golden.name)(*golden.args())
    assert_close(gradients, by_hand, rtol=1e-9, atol=1e-11)


@every_function
def test_single_precision(golden):
    """Arguments in float32 have gradients in float32, near those in float64."""
    args = optree.tree_map(in_single_precision, golden.args())
    derivative = srcjax.grad(golden.function, argnums=golden.argnums)
    gradients = as_tuple(golden, derivative(*args))
    by_hand = as_tuple(golden, getattr(textbook, golden.name)(*golden.args()))
    assert_close(gradients, by_hand, rtol=1e-3, atol=1e-4)
    assert_same_dtypes(gradients, [args[i] for i in positions(golden)])


def in_single_precision(leaf):
    """Float arrays in float32; everything else as it is."""
    single = isinstance(leaf, np.ndarray) and leaf.dtype == np.float64
    return leaf.astype(np.float32) if single else leaf


# --- (c) size, and nothing that does nothing ---------------------------------


@every_function
def test_size(golden):
    ours = generated_statements(expected_text(golden))
    by_hand = textbook_statements(textbook, golden.name)
    assert ours <= LIMIT * by_hand, (
        f"{ours} statements; a textbook writes {by_hand} (ratio {ours / by_hand:.2f})"
    )


@every_function
def test_imports_numpy_only(golden):
    imported = set()
    for node in ast.walk(ast.parse(expected_text(golden))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.split(".")[0])
    assert imported <= {"math", "numpy", "scipy"}


@every_function
def test_no_idle_code(golden):
    found = idle_code(expected_text(golden))
    assert not found, "\n".join(found)


@every_function
def test_entry_point(golden):
    _, module = load(golden)
    assert module.__all__ == [f"grad_{golden.name}"]


def test_table_has_every_function():
    text = table()
    assert all(name in text for name in GOLDEN)


# --- (d) layout --------------------------------------------------------------


@pytest.mark.parametrize("command", ["check", "format --check --diff"])
@pytest.mark.parametrize("folder", ["expected", "expected_batch", "expected_forward"])
def test_ruff(folder, command):
    path = EXPECTED.parent / folder
    assert any(path.glob("*.py"))
    run = subprocess.run(
        [sys.executable, "-m", "ruff", *command.split(), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


# --- (e) comments ------------------------------------------------------------


@every_function
def test_comments_quote_the_user(golden):
    untrue = untrue_comments(expected_text(golden), sources_of(golden.function))
    assert not untrue, untrue


# --- the checks themselves ---------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "x = x",
        "y = 0 + x",
        "y = 1.0 * x",
        "y = x / 1",
        "x += 0",
        "y = - -x",
        "y = x",
        "x[0] = 0.0; x[0] += 1",
    ],
)
def test_idle_code_is_found(line):
    assert idle_code(f"def f(x):\n    {line}\n    return x, y\n")


def test_needed_code_is_not_called_idle():
    text = """
def f(a, n):
    x = a
    tape = []
    for _ in range(n):
        tape.append(x)
        x = x + a / x
    da = 0.0
    for _ in range(n):
        x = tape.pop()
        old = x
        x = 2 * x
        da += old * x
    return da
"""
    assert idle_code(text) == []


def test_dead_assignments_are_found():
    text = """
def f(x, n):
    a = x
    b = x
    for i in range(n):
        c = a
        a = x * b
        d = a
    if x > 0:
        b = 2
    else:
        e = 3
        e = 4
    return b, e
"""
    (function,) = functions_of(text)
    assert dead_assignments(function) == [(6, "c"), (8, "d"), (12, "e")]


def test_untrue_comments_are_found():
    text = "# y = x\n# y = x * 2\n# if x > (0):\n"
    source = "def f(x):\n    if x > 0:\n        y = (x *\n            2)\n"
    assert untrue_comments(text, [source]) == ["y = x"]
