"""load: a generated module is a real one for inspect, tracebacks, pdb and pickle."""

import importlib
import inspect
import io
import linecache
import math
import pdb
import pickle
import sys
import traceback

import numpy as np
import pytest

import srcjax
from srcjax.backends.load import annotate, load, unload
from srcjax.backends.marks import ADJOINTS_MADE
from srcjax.errors import SrcjaxError

TEXT = '''"""Generated."""


def {name}(x):
    y = x * k
    return 1 / y
'''


@pytest.fixture
def make(request):
    """Loads modules under a name of this test only, and unloads them after it."""
    made = []
    name = request.node.name.replace("[", "_").replace("]", "")

    def load_here(text=None, namespace=None, line_map=None):
        text = TEXT.format(name="f") if text is None else text
        module = load(
            text, name, {"k": 2} if namespace is None else namespace, line_map
        )
        made.append(module)
        return module

    yield load_here
    for module in made:
        unload(module)


def drop_nothing():
    pass


@pytest.fixture(params=["as it is", "checkcache", "clearcache"])
def dropped(request, monkeypatch):
    """Drops what linecache knows, as other programs may; puts it back afterwards."""
    monkeypatch.setattr(linecache, "cache", dict(linecache.cache))
    return getattr(linecache, request.param, drop_nothing)


def test_runs_with_its_namespace(make):
    module = make()
    assert module.f(2) == 0.25
    assert module.__doc__ == "Generated."
    assert module.k == 2


def test_is_a_real_module(make):
    module = make()
    name = module.__name__
    assert name == "srcjax._generated.test_is_a_real_module"
    assert sys.modules[name] is module
    assert importlib.import_module(name) is module
    assert module.__package__ == "srcjax._generated"
    assert module.__spec__.name == name
    assert module.__spec__.loader is module.__loader__
    loader = module.__loader__
    assert loader.get_source(name) == TEXT.format(name="f")
    assert loader.get_code(name).co_filename == module.__file__
    assert loader.get_filename(name) == module.__file__
    assert not loader.is_package(name)
    with pytest.raises(ImportError):
        loader.get_source("something.else")
    path = module.__file__.replace("\\", "/")
    assert path.endswith("/srcjax-generated/test_is_a_real_module.py")
    parent = importlib.import_module("srcjax._generated")
    assert parent.test_is_a_real_module is module
    assert hasattr(parent, "__path__")


def test_names_are_numbered_and_modules_shared(make):
    first = make()
    assert make() is first
    other_text = make(TEXT.format(name="g"))
    other_values = make(namespace={"k": 3})
    base = first.__name__
    assert other_text.__name__ == f"{base}_2"
    assert other_values.__name__ == f"{base}_3"
    assert make(namespace={"k": 3}) is other_values
    assert len({m.__file__ for m in (first, other_text, other_values)}) == 3


def test_equal_values_are_not_the_same_values(make):
    a, b = [1], [1]
    assert make(namespace={"k": a}) is not make(namespace={"k": b})
    assert make(namespace={"k": a}) is make(namespace={"k": a})


def test_a_changed_module_is_not_shared(make):
    first = make()
    first.k = 5
    assert make() is not first


def test_another_line_map_is_another_module(make):
    first = make()
    other = make(line_map={5: ("user.py", 1, "y = x * k")})
    assert other is not first
    assert other.__srcjax_lines__ == {5: ("user.py", 1, "y = x * k")}
    assert first.__srcjax_lines__ == {}


def test_name_is_made_an_identifier():
    module = load("x = 1\n", "grad of <lambda>")
    assert module.__name__ == "srcjax._generated.grad_of__lambda_"
    unload(module)


def test_unload(make):
    module = make()
    f = module.f
    unload(module)
    assert module.__name__ not in sys.modules
    assert module.__file__ not in linecache.cache
    assert f(2) == 0.25
    assert make() is not module
    unload(module)  # again does nothing


def test_namespace_may_not_replace_what_makes_it_a_module(make):
    with pytest.raises(ValueError, match="__name__, __spec__"):
        make(namespace={"__spec__": 1, "__name__": "x", "k": 2})


def test_a_text_that_fails_leaves_nothing_behind(make):
    with pytest.raises(ZeroDivisionError):
        make("1 / 0\n")
    name = "srcjax._generated.test_a_text_that_fails_leaves_nothing_behind"
    assert name not in sys.modules
    with pytest.raises(SyntaxError):
        make("def f(:\n")


def test_getsource(make, dropped):
    module = make()
    dropped()
    assert inspect.getsource(module) == TEXT.format(name="f")
    assert inspect.getsource(module.f).startswith("def f(x):\n    y = x * k\n")
    assert inspect.getsourcefile(module.f) == module.__file__
    dropped()
    assert inspect.getsource(module.f).startswith("def f(x):\n")


def test_traceback(make, dropped):
    module = make()
    dropped()
    with pytest.raises(ZeroDivisionError) as caught:
        module.f(0)
    dropped()
    text = "".join(traceback.format_exception(caught.value))
    assert f'File "{module.__file__}", line 6, in f\n    return 1 / y' in text


def test_getline_without_globals(make):
    module = make()
    linecache.checkcache()
    assert linecache.getline(module.__file__, 6) == "    return 1 / y\n"


def run_pdb(commands, call):
    """What pdb prints when `call` runs under it with these commands."""
    out = io.StringIO()
    debugger = pdb.Pdb(
        stdin=io.StringIO("\n".join(commands) + "\n"), stdout=out, nosigint=True
    )
    debugger.use_rawinput = False
    trace = sys.gettrace()
    try:
        debugger.runcall(call)
    finally:
        debugger.clear_all_breaks()
        sys.settrace(trace)
    return out.getvalue()


def test_pdb_lists_and_steps(make, dropped):
    module = make()

    def call():
        return module.f(2)

    dropped()
    out = run_pdb(["step", "step", "next", "list", "p y", "continue"], call)
    assert "-> y = x * k" in out
    assert "-> return 1 / y" in out
    assert "  6  ->\t    return 1 / y" in out
    assert "\n(Pdb) 4\n" in out


def test_pdb_breakpoint(make):
    module = make()

    def call():
        return module.f(2)

    commands = ["step", "step", "break 6", "continue", "p y", "continue"]
    out = run_pdb(commands, call)
    assert f" at {module.__file__}:6" in out
    assert "\n(Pdb) 4\n" in out


def test_pickle(make):
    module = make()
    again = pickle.loads(pickle.dumps(module.f))
    assert again is module.f


def test_text_may_load_another_module(make):
    text = "from srcjax.backends.load import load\n"
    text += "inner = load('x = 1\\n', 'inner_module')\n"
    module = make(text)
    assert module.inner.x == 1
    unload(module.inner)


# Notes with the user's line

CALLER = """def outer(x):
    return inner(
        x,
    )
"""


def notes(exc):
    return getattr(exc, "__notes__", [])


def raised(call):
    with pytest.raises(ZeroDivisionError) as caught:
        call()
    return caught.value


def test_annotate_once(make):
    module = make(line_map={6: ("model.py", 12, "return 1 / scaled")})
    exc = raised(lambda: module.f(0))
    annotate(exc)
    annotate(exc)
    assert notes(exc) == ["in the user's code: model.py:12: return 1 / scaled"]
    text = "".join(traceback.format_exception(exc))
    assert text.endswith("in the user's code: model.py:12: return 1 / scaled\n")


def test_annotate_takes_the_innermost_generated_frame(make):
    inner = make(line_map={6: ("model.py", 12, "return 1 / y")}).f
    outer = make(CALLER, {"inner": inner}, {2: ("model.py", 30, "return g(x)")}).outer
    exc = raised(lambda: outer(0))
    annotate(exc)
    assert notes(exc) == ["in the user's code: model.py:12: return 1 / y"]


def test_annotate_below_generated_code(make):
    def fails(x):
        return 1 / x

    outer = make(CALLER, {"inner": fails}, {2: ("model.py", 30, "return g(x)")}).outer
    exc = raised(lambda: outer(0))
    annotate(exc)
    assert notes(exc) == ["in the user's code: model.py:30: return g(x)"]


def test_annotate_in_the_middle_of_a_statement(make):
    text = "def f(x):\n    return (\n        x\n        + 1 / x\n    )\n"
    module = make(text, {}, {2: ("model.py", 7, "return x + 1 / x")})
    exc = raised(lambda: module.f(0))
    annotate(exc)
    assert notes(exc) == ["in the user's code: model.py:7: return x + 1 / x"]


def test_annotate_where_there_is_nothing_to_say(make):
    exc = raised(lambda: make().f(0))
    annotate(exc)
    annotate(ValueError("never raised"))
    assert notes(exc) == []


def test_a_division_by_zero_in_a_derivative_is_named():
    for derivative in (
        lambda: srcjax.grad(root)(0.0),
        lambda: srcjax.jvp(root, (0.0,), (1.0,)),
        lambda: srcjax.hvp(root, (0.0,), (1.0,)),
    ):
        with pytest.raises(SrcjaxError, match="division by zero") as caught:
            derivative()
        assert isinstance(caught.value, ZeroDivisionError)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_what_a_rule_does_not_serve_names_the_line():
    with pytest.raises(SrcjaxError, match="for vectors of 3 only") as caught:
        srcjax.grad(crossed)(np.ones(3))
    assert "np.cross(x[:2], x[1:])" in str(caught.value)
    assert isinstance(caught.value, NotImplementedError)


def root(x):
    return math.sqrt(x)


def crossed(x):
    return np.sum(np.cross(x[:2], x[1:]))


def over_or_sum(x):
    total = 0.0
    for i in range(len(x)):
        total = total + x[i] ** 2
        if total > 100:
            return total * 2
    return total


def of_two(x):
    return over_or_sum(x) * over_or_sum(x * 2)


def test_all_functions_of_a_module_are_known_by_their_adjoints():
    gradient = srcjax.grad(of_two)
    gradient(np.array([0.5, -0.3]))
    (made,) = {f for f in ADJOINTS_MADE if f.__name__ == "grad_of_two"}
    backward = made.__globals__["over_or_sum_backward"]
    assert {"dx", "dtotal"} <= ADJOINTS_MADE[backward]


def test_divisions_that_fail_and_errors_of_that_class():
    """What the user raises is raised as it is."""

    def f(x):
        if x > 1:
            raise ZeroDivisionError("flat")
        return 1 / x

    with pytest.raises(ZeroDivisionError, match=r"^flat(\n|$)"):
        srcjax.grad(f)(2.0)
    with pytest.raises(ZeroDivisionError, match="in its derivative"):
        srcjax.grad(f)(0.0)
