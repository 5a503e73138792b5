"""What generating a derivative takes grows with the length of the function, not faster.

The work is counted, not timed: calls of functions, those of Python's own too, as a
list that is walked calls `pop` for each node. A pass that looks at the whole function
for each of its statements shows.
"""

import cProfile
import importlib.util
import itertools
import sys

import numpy as np
import pytest

import srcjax
from srcjax import config, pipeline
from srcjax.analysis import infer
from srcjax.analysis.applied import Applied
from srcjax.frontend import used_once
from srcjax.transforms.reverse.shapes import Shapes
from srcjax.transforms.settle import loops as settled_loops

SAMPLE = {
    "test_work_grows_with_the_length": 6,
    "test_a_sum_may_be_deeper_than_calls_may_be": 3,
}

SHORT, LONG = 20, 80

X = np.linspace(0.1, 0.5, 5)

#: Statements with the value before them, and that before that one.
STATEMENTS = [
    "np.sin({a}) + 0.2 * {a}",
    "0.5 * {a} * {b} + 0.25",
    "np.tanh({a}) - {b}",
    "np.exp(-{a} * {a}) + {b}",
]


def statements(count, indent):
    chosen = itertools.cycle(STATEMENTS)
    return "".join(
        f"{indent}a{i + 1} = {next(chosen).format(a=f'a{i}', b=f'a{max(i - 1, 0)}')}\n"
        for i in range(count)
    )


def straight(count):
    return f"def f(a0):\n{statements(count, '    ')}    return np.sum(a{count})\n"


def in_a_loop(count):
    """All statements in the body of one loop, which keeps their values on tapes."""
    return (
        "def f(x):\n"
        "    total = 0.0\n"
        "    for i in range(3):\n"
        "        a0 = x * (i + 1.0)\n"
        f"{statements(count, '        ')}"
        f"        total = total + np.sum(a{count})\n"
        "    return total\n"
    )


def in_place(count):
    """Statements that write to one array."""
    lines = "".join(
        f"    y[{i % 5}] = np.sin(y[{(i + 1) % 5}]) * x[{i % 3}]\n"
        for i in range(count)
    )
    return f"def f(x):\n    y = x.copy()\n{lines}    return np.sum(y)\n"


def branches(count):
    """Branches one after the other."""
    branch = """
    if x[0] > 0.2:
        y = y * np.cos(y)
    else:
        y = 2.0 * y
"""
    return f"def f(x):\n    y = x + 0.1{branch * (count // 4)}    return np.sum(y)\n"


def nested(count):
    """One expression of calls in each other."""
    value = "x"
    for k in range(count // 5):
        value = f"np.sin({value}) * {k + 1}.5 + 0.5"
    return f"def f(x):\n    return np.sum({value})\n"


def conditions(count):
    """`and` and `or` in each other."""
    test = "x[0] > 0.0"
    for k in range(count // 5):
        test = f"(x[0] > {k}.3 and ({test}) or x[1] < {k}.7)"
    return f"def f(x):\n    return np.sum(x) if {test} else np.sum(x * x)\n"


def polynomial(count):
    """Operators in each other, of what is the same for all examples."""
    value = "1.0"
    for k in range(count // 5):
        value = f"{k}.5 + c * ({value})"
    return f"def f(x):\n    c = len(x) / 9.0\n    return np.sum(x) * ({value})\n"


def long_sum(count):
    """One sum of many terms, as fitted polynomials of several variables are."""
    terms = " + ".join(f"{k}.5 * x[{k % 5}] ** {k % 4}" for k in range(count))
    return f"def f(x):\n    return {terms}\n"


TRANSFORMS = {
    "grad": lambda f: srcjax.grad(f)(X),
    "vjp": lambda f: srcjax.vjp(f, X),
    "jvp": lambda f: srcjax.jvp(f, (X,), (X,)),
    "vmap": lambda f: srcjax.vmap(f)(np.stack([X, X])),
    "vmap of grad": lambda f: srcjax.vmap(srcjax.grad(f))(np.stack([X, X])),
    "hvp": lambda f: srcjax.hvp(f, (X,), (X,)),
    "jit": lambda f: srcjax.source(srcjax.jit(srcjax.grad(f)), X),
}


def function(text, folder, name):
    path = folder / f"{name}.py"
    path.write_text(f"import numpy as np\n\n\n{text}", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.f


def work(transform, f):
    """How many calls of functions the first call of a derivative takes."""
    profile = cProfile.Profile()
    profile.enable()
    try:
        TRANSFORMS[transform](f)
    finally:
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


#: How many times the work may be of four times the length. What is kept of loops is
#: looked up by all names that there are, branches ask what those before have bound, and
#: what a sum has become is looked at with each term that joins it.
CASES = [
    *((transform, straight, 4.4) for transform in TRANSFORMS),
    *((transform, in_place, 4.4) for transform in ("grad", "jvp", "vmap")),
    *((transform, branches, 4.8) for transform in ("grad", "vmap")),
    *((transform, nested, 5.2) for transform in ("grad", "jvp", "vmap")),
    *((transform, conditions, 4.4) for transform in ("grad", "hvp")),
    ("vmap", conditions, 12),
    *((transform, polynomial, 4.4) for transform in ("grad", "jvp", "vmap")),
    *((transform, long_sum, 7) for transform in ("grad", "jvp", "vmap", "hvp")),
    ("grad", in_a_loop, 5.2),
    ("vmap", in_a_loop, 4.4),
]


@pytest.mark.parametrize(("transform", "program", "most"), CASES)
def test_work_grows_with_the_length(transform, program, most, tmp_path, monkeypatch):
    if transform == "jit":
        pytest.importorskip("numba")
    monkeypatch.setattr(config, "keep_texts", False)
    monkeypatch.setattr(pipeline, "VALIDATE", False)  # what tests look at besides
    monkeypatch.setattr(infer, "REMEMBERED", [])
    counts = {}
    for length in (8, SHORT, LONG):  # the first one for what is done once
        name = f"growth_{program.__name__}_{transform.replace(' ', '_')}_{length}"
        counts[length] = work(transform, function(program(length), tmp_path, name))
        sys.modules.pop(name)
    assert counts[LONG] < most * counts[SHORT]


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_sum_may_be_deeper_than_calls_may_be(transform, tmp_path, monkeypatch):
    """Each term lies in an operator of its own, in the one before it."""
    monkeypatch.setattr(pipeline, "VALIDATE", False)
    monkeypatch.setattr(infer, "REMEMBERED", [])
    limit = sys.getrecursionlimit()
    name = f"deep_{transform.replace(' ', '_')}"
    f = function(long_sum(200), tmp_path, name)
    TRANSFORMS[transform](f)
    assert sys.getrecursionlimit() == limit
    if transform == "grad":
        step = 1e-6 * np.eye(5)
        slopes = [(f(X + h) - f(X - h)) / 2e-6 for h in step]
        np.testing.assert_allclose(srcjax.grad(f)(X), slopes, rtol=1e-5)


def unlike(x):
    """How many values there are differs: there is no batched form."""
    values = np.unique(x)
    return np.sum(values * values)


def test_a_loop_over_examples_takes_no_analysis_of_its_own(monkeypatch):
    asked = []
    settled = pipeline.settled
    monkeypatch.setattr(config, "keep_texts", False)
    monkeypatch.setattr(
        pipeline, "settled", lambda *given: asked.append(given) or settled(*given)
    )
    with pytest.warns(srcjax.PerformanceWarning, match="in a loop over the batch"):
        found = srcjax.vmap(unlike)(np.array([[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]]))
    assert found.tolist() == [5.0, 14.0]
    assert len(asked) == 2  # with and without loops in place of operations


def counted(monkeypatch, owner, name):
    """A list that gets an item for each call of a method."""
    calls = []
    plain = getattr(owner, name)

    def method(*args, **kwargs):
        calls.append(name)
        return plain(*args, **kwargs)

    monkeypatch.setattr(owner, name, method)
    return calls


def in_lengths(monkeypatch, tmp_path, program, transform, owner, name):
    """How often a method is called for a short program, and for a longer one."""
    monkeypatch.setattr(config, "keep_texts", False)
    monkeypatch.setattr(pipeline, "VALIDATE", False)
    calls, counts = counted(monkeypatch, owner, name), []
    for length in (SHORT, LONG):
        shown = f"counted_{name}_{program.__name__}_{transform.replace(' ', '_')}_"
        f = function(program(length), tmp_path, f"{shown}{length}")
        calls.clear()
        TRANSFORMS[transform](f)
        counts.append(len(calls))
    return counts


@pytest.mark.parametrize("transform", ["grad", "hvp"])
def test_operations_of_the_same_arrays_are_inferred_once(
    transform, monkeypatch, tmp_path
):
    short, long = in_lengths(
        monkeypatch, tmp_path, straight, transform, Applied, "applied"
    )
    assert long - short < (LONG - SHORT) * 2  # reductions, and what has no record


def test_single_numbers_are_looked_for_once_each(monkeypatch, tmp_path):
    short, long = in_lengths(
        monkeypatch, tmp_path, straight, "grad", Shapes, "gives_number"
    )
    assert long < 4.4 * short


def test_uses_of_what_calls_give_are_not_sought_where_none_is_an_iterator(
    monkeypatch, tmp_path
):
    asked = counted(monkeypatch, used_once, "goes_through_once")
    TRANSFORMS["grad"](function(straight(LONG), tmp_path, "uses_not_sought"))
    assert not asked


def loops(count):
    """Loops one after the other, over ranges."""
    loop = "    for i in range(3):\n        total = total + np.sin(x[i])\n"
    return f"def f(x):\n    total = 0.0\n{loop * count}    return total\n"


def test_what_loops_over_ranges_run_over_is_not_sought(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "keep_texts", False)
    sought = counted(monkeypatch, settled_loops, "fixed_numbers")
    TRANSFORMS["grad"](function(loops(8), tmp_path, "loops_over_ranges"))
    assert not sought
