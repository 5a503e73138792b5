"""read: every kind of callable gives its own node, true positions and live values."""

import ast
import functools
import importlib.util
import linecache
import math
import operator
import sys
import types

import gast
import numpy as np
import pytest

import srcjax
from srcjax.backends.load import load
from srcjax.errors import (
    ArgumentError,
    SourceNotFoundError,
    UnsupportedError,
    error_at,
)
from srcjax.frontend.read import read

SCALE = 2.0


def text_of(source):
    """The function as Python text, from its node."""
    return ast.unparse(gast.gast_to_ast(source.node))


def returned(source):
    """The expression that a function of one `return` gives."""
    return ast.unparse(gast.gast_to_ast(source.node.body[-1].value))


@pytest.fixture
def module_from(tmp_path):
    """Imports `text` as a fresh module from a real file."""

    def make(text, name="user_module"):
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return make


def plain(x, y=3.0, *, z=4.0):
    """Adds.

    In words.
    """
    return x + y * z + SCALE


def test_plain_function():
    source = read(plain)
    assert source.func is plain
    assert source.name == "plain"
    assert source.filename == plain.__code__.co_filename
    assert source.globals is globals()
    assert source.defaults == {"y": 3.0, "z": 4.0}
    assert source.bound == {}
    assert source.closure == {}
    assert source.docstring == "Adds.\n\nIn words."
    assert isinstance(source.node, gast.FunctionDef)
    assert text_of(source) == (
        "def plain(x, y=3.0, *, z=4.0):\n    return x + y * z + SCALE"
    )
    assert source.text.startswith("def plain(x, y=3.0, *, z=4.0):\n")
    assert source.text.endswith("    return x + y * z + SCALE\n")


def test_positions_are_those_of_the_file():
    source = read(plain)
    lineno = source.node.body[0].lineno
    assert source.node.lineno == plain.__code__.co_firstlineno
    assert source.line(lineno) == "return x + y * z + SCALE"
    assert source.raw_line(lineno) == "    return x + y * z + SCALE\n"
    assert source.node.body[0].col_offset == 4
    assert source.line(0) == source.line(10**6) == ""


def test_each_read_gives_a_tree_of_its_own():
    read(plain).node.body.clear()
    assert len(read(plain).node.body) == 1


def only_docstring():
    """Nothing else."""


def test_strings_that_stand_as_comments():
    """They are no statements: one was taken for the imports of the gradient."""

    def f(x):
        """Solves."""
        """Derived with:
        from somewhere import *
        """
        if x > 1.0:
            "large"
            y = x * x
        else:
            ...
            y = x
        return y

    assert "Derived" not in text_of(read(f))
    gradient = srcjax.grad(f)
    assert (gradient(3.0), gradient(0.5)) == (6.0, 1.0)
    assert "large" not in srcjax.source(gradient)


def test_a_body_of_only_a_docstring():
    assert text_of(read(only_docstring)) == "def only_docstring():\n    pass"


def test_resolve():
    free = 5.0

    def f(x):
        return x * free * SCALE * len([x]) * later

    source = read(f)
    assert source.resolve("free") == 5.0
    assert source.resolve("SCALE") is SCALE
    assert source.resolve("len") is len
    with pytest.raises(KeyError, match="nowhere"):
        source.resolve("nowhere")
    with pytest.raises(KeyError, match="later"):
        source.resolve("later")  # its cell is empty still
    later = 1.0
    free = 6.0
    assert source.resolve("later") == later
    assert source.resolve("free") == free
    assert set(source.closure) == {"free", "later"}


def test_resolve_sees_globals_as_they_are_now(module_from):
    module = module_from("a = 1\n\ndef f(x):\n    return a * x\n")
    source = read(module.f)
    module.a = 7
    assert source.resolve("a") == 7
    module.len = max  # a global hides a builtin
    assert source.resolve("len") is max


def test_nested_function_keeps_file_columns():
    def outer():
        def inner(x):
            return x + 1

        return inner

    source = read(outer())
    assert source.node.col_offset == 8
    assert source.text == "def inner(x):\n    return x + 1\n"
    error = error_at(UnsupportedError, source, source.node.body[0].value, "why", "that")
    assert "    return x + 1\n           ^^^^^\n" in str(error)


# Lambdas


def test_lambda():
    f = lambda x, y=2: x**y  # noqa: E731
    source = read(f)
    assert source.name == "fn"
    assert text_of(source) == "def fn(x, y=2):\n    return x ** y"
    assert source.defaults == {"y": 2}
    assert source.docstring is None


def test_error_in_a_lambda():
    f, g = lambda x: x + 1, lambda x: x @ x
    source = read(g)
    error = error_at(UnsupportedError, source, source.node.body[0].value, "why")
    shown, carets = str(error).split("\n")[-2:]
    assert shown[carets.index("^") : len(carets)] == "x @ x"
    assert returned(read(f)) == "x + 1"


def test_lambdas_on_one_line():
    # fmt: off
    fs = [lambda x: x, lambda x: x, lambda x: (x + 1), lambda x: x * 2, lambda x: x * 3]
    # fmt: on
    assert [returned(read(f)) for f in fs] == ["x", "x", "x + 1", "x * 2", "x * 3"]
    columns = [read(f).node.col_offset for f in fs]
    assert columns == sorted(set(columns))


def test_lambdas_that_differ_in_one_constant_or_name():
    # fmt: off
    fs = [lambda x: x * 1, lambda x: x * 1.0, lambda x: x * True, lambda x: math.sin(x), lambda x: math.cos(x)]  # noqa: E501
    # fmt: on
    assert [returned(read(f)) for f in fs] == [
        "x * 1",
        "x * 1.0",
        "x * True",
        "math.sin(x)",
        "math.cos(x)",
    ]


def test_nested_lambdas():
    # fmt: off
    outer = lambda a: lambda x: (lambda y: a * y)(x + 1) if x else (lambda z: z)  # noqa: E731, E501
    # fmt: on
    inner = outer(3.0)
    assert returned(read(outer)).startswith("lambda x:")
    assert returned(read(inner)) == "(lambda y: a * y)(x + 1) if x else lambda z: z"
    assert returned(read(inner(0))) == "z"
    assert read(inner).resolve("a") == 3.0


def test_lambda_as_a_default_of_a_lambda():
    f = lambda x, g=lambda x: x: g(x)  # noqa: E731
    assert returned(read(f)) == "g(x)"
    assert returned(read(f.__defaults__[0])) == "x"


def test_lambdas_in_an_expression_of_several_lines():
    table = {
        "double": lambda x: (
            x
            + x
        ),
        "sum": functools.reduce(
            lambda f, g: lambda x: f(x) + g(x), [lambda x: x * 3, lambda x: x * 4]
        ),
    }  # fmt: skip
    assert returned(read(table["double"])) == "x + x"
    assert returned(read(table["sum"])) == "f(x) + g(x)"
    assert returned(read(read(table["sum"]).resolve("f"))) == "x * 3"
    assert returned(read(read(table["sum"]).resolve("g"))) == "x * 4"


def test_lambda_of_a_folded_constant():
    fs = [lambda: 1 + 2, lambda: "a" if True else "b", lambda: None]
    assert [returned(read(f)) for f in fs] == [
        "1 + 2",
        "'a' if True else 'b'",
        "None",
    ]


def test_lambda_in_a_decorator():
    def apply(change):
        return lambda f: change

    @apply(lambda x: x * 5)
    def f(x):
        return x

    assert returned(read(f)) == "x * 5"


def without_columns(f):
    """`f` as `python -X no_debug_ranges` would have compiled it."""
    code = f.__code__.replace(co_linetable=b"")
    return types.FunctionType(code, f.__globals__, "f", f.__defaults__, f.__closure__)


def test_lambdas_without_column_information():
    a = 2.0
    # fmt: off
    fs = [lambda x: x * a, lambda x, k=(lambda x: x): x * 2, lambda x: math.sin(x), lambda x: lambda y: x, lambda: 3]  # noqa: E501
    # fmt: on
    assert [returned(read(without_columns(f))) for f in fs] == [
        "x * a",
        "x * 2",
        "math.sin(x)",
        "lambda y: x",
        "3",
    ]


def test_ambiguous_lambdas_without_column_information():
    # fmt: off
    fs = [lambda x: 2 * 3 * x, lambda x: 6 * x]
    # fmt: on
    with pytest.raises(SourceNotFoundError, match="line of its own"):
        read(without_columns(fs[0]))


# Methods, partials, objects


class Layer:
    factor = 3.0
    __rate = 0.5

    def __init__(self, w):
        self.w = w

    def apply(self, x, y=1.0):
        return self.w * x + y

    def private(self, x):
        __local = self.__rate
        return __local * x

    @classmethod
    def scaled(cls, x):
        return cls.factor * x

    @staticmethod
    def double(x):
        return 2 * x

    def __call__(self, x):
        return self.apply(x)

    def which(self):
        return __class__


def test_bound_method():
    layer = Layer(2.0)
    source = read(layer.apply)
    assert source.func is Layer.apply
    assert source.name == "apply"
    assert source.bound == {"self": layer}
    assert source.defaults == {"y": 1.0}
    assert read(Layer.apply).bound == {}


def test_class_and_static_methods():
    assert read(Layer.scaled).bound == {"cls": Layer}
    assert read(Layer(1.0).scaled).bound == {"cls": Layer}
    assert read(Layer.double).bound == {}
    assert read(Layer.__dict__["double"]).func is Layer.double
    # Not decorators, nor what is below them.
    assert text_of(read(Layer.scaled)).startswith("def scaled(cls, x):")


def test_callable_object():
    layer = Layer(2.0)
    source = read(layer)
    assert source.func is Layer.__call__
    assert source.name == "Layer"
    assert source.bound == {"self": layer}


def test_class_cell():
    assert read(Layer.which).resolve("__class__") is Layer


def test_private_names_are_written_out():
    assert text_of(read(Layer.private)) == (
        "def private(self, x):\n"
        "    _Layer__local = self._Layer__rate\n"
        "    return _Layer__local * x"
    )


def test_partial():
    p = functools.partial(plain, 1.0, z=5.0)
    source = read(p)
    assert source.func is plain
    assert source.name == "plain"
    assert source.bound == {"x": 1.0, "z": 5.0}
    outer = functools.partial(functools.partial(Layer(2.0).apply, 3.0), y=4.0)
    assert {**read(outer).bound, "self": None} == {"self": None, "x": 3.0, "y": 4.0}
    layer = Layer(1.0)
    assert read(functools.partial(layer, 7.0)).bound == {"self": layer, "x": 7.0}
    assert read(functools.partial(layer, 7.0)).name == "Layer"


def test_partial_of_starred_parameters():
    def f(a, *rest, k=0, **options):
        return a

    source = read(functools.partial(f, 1, 2, 3, k=4, m=5))
    assert source.bound == {"a": 1, "rest": (2, 3), "k": 4, "options": {"m": 5}}


@pytest.mark.parametrize(
    ("args", "kwargs", "match"),
    [
        ((1, 2, 3), {}, "takes 2 positional"),
        ((1,), {"x": 2}, "bound twice"),
        ((), {"w": 2}, "not a parameter"),
    ],
)
def test_partial_that_no_call_could_use(args, kwargs, match):
    with pytest.raises(ArgumentError, match=match):
        read(functools.partial(plain, *args, **kwargs))


# Decorators


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2 * f(*args)

    return wrapper


@doubled
@functools.wraps(
    plain,
)
def decorated(
    x,
    y,
):
    return x * y


def test_a_foreign_decorator_is_read_as_what_runs():
    source = read(decorated)
    assert source.node.name == "wrapper"
    assert returned(source) == "2 * f(*args)"
    inner = read(source.resolve("f"))
    assert inner.node.name == "decorated"
    assert inner.node.decorator_list == []
    assert inner.line(inner.node.lineno) == "def decorated("
    assert inner.text.startswith("def decorated(\n")


# What cannot be read


def generator(x):
    y = [(yield_) for yield_ in x]
    yield y


async def coroutine(x):
    return x


async def async_generator(x):
    yield x


def test_generators_and_coroutines():
    with pytest.raises(UnsupportedError, match="generator function") as caught:
        read(generator)
    assert str(caught.value).split("\n")[2:4] == ["    yield y", "    ^^^^^^^"]
    for f in (coroutine, async_generator):
        with pytest.raises(UnsupportedError, match="async") as caught:
            read(f)
        assert caught.value.lineno == f.__code__.co_firstlineno


@pytest.mark.parametrize("f", [math.sin, np.sin, len, operator.add, "a".join, np.dot])
def test_callables_not_written_in_python(f):
    with pytest.raises(SourceNotFoundError, match="not written in Python") as caught:
        read(f)
    assert f.__name__ in str(caught.value)
    assert "lambda x:" in caught.value.instead


def test_other_callables():
    with pytest.raises(SourceNotFoundError, match="is a class"):
        read(Layer)
    with pytest.raises(SourceNotFoundError, match="__wrapped__"):
        read(functools.lru_cache(plain))
    with pytest.raises(ArgumentError, match="not an object of type int"):
        read(3)
    with pytest.raises(ArgumentError, match="classmethod"):
        read(Layer.__dict__["scaled"])


def test_no_source():
    space = {}
    exec("def f(x):\n    return x", space)
    with pytest.raises(SourceNotFoundError, match="no text to read") as caught:
        read(space["f"])
    assert "`f`" in str(caught.value)
    assert "file" in caught.value.instead


def test_file_changed_after_import(module_from):
    module = module_from("def f(x):\n    return x * 2\n")
    path = module.__file__
    read(module.f)
    with open(path, "w") as file:
        file.write("def f(x):\n    return x * 3 + 1\n")
    # What was imported is known still, and right.
    assert returned(read(module.f)) == "x * 2"
    linecache.checkcache(path)
    with pytest.raises(SourceNotFoundError, match="changed after it was imported"):
        read(module.f)
    linecache.checkcache(path)
    module = module_from("def f(x):\n    return x * 3 + 1\n")
    assert returned(read(module.f)) == "x * 3 + 1"


@pytest.mark.parametrize(
    "changed",
    [
        "def f(x):\n    return x * 3.0\n",
        "def f(x):\n    return x + 2.0\n",
        "def f(x):\n    return x * 2\n",
        "def f(y):\n    return y * 2.0\n",
        "def f(x):\n    return g(x)\n",
        "def f(x):\n    return [y * 3.0 for y in x]\n",
        "\ndef f(x):\n    return x * 2.0\n",
        "def f(x:\n",
        "",
    ],
)
def test_file_changed_before_it_was_read(module_from, changed):
    module = module_from("def f(x):\n    return x * 2.0\n")
    with open(module.__file__, "w") as file:
        file.write(changed)
    with pytest.raises(SourceNotFoundError):
        read(module.f)


def test_file_reloaded_after_a_change(module_from):
    module = module_from("def f(x):\n    return x * 2.0\n")
    assert returned(read(module.f)) == "x * 2.0"
    # linecache has the old text, nobody told it.
    again = module_from("def f(x):\n    return x * 2.0 + 10\n")
    assert returned(read(again.f)) == "x * 2.0 + 10"


def test_lambda_columns_changed_after_import(module_from):
    module = module_from("fs = [lambda x: x, lambda x: x]\n")
    with open(module.__file__, "w") as file:
        file.write("fs  = [lambda x: x, lambda x: x]\n")
    with pytest.raises(SourceNotFoundError, match="changed"):
        read(module.fs[1])


def test_function_with_asserts_under_pytest():
    def f(x):
        assert x > 0, "positive"
        y = [v for v in (x, 2.0)]
        assert isinstance(y, list)
        return sum(y)

    source = read(f)
    assert [type(s).__name__ for s in source.node.body] == [
        "Assert",
        "Assign",
        "Assert",
        "Return",
    ]


# Where functions come from


def run_cell(text, name):
    """Runs `text` as a notebook does: its text is in linecache only."""
    lines = [line + "\n" for line in text.splitlines()]
    linecache.cache[name] = (len(text), None, lines, name)
    space = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), space)
    return space


@pytest.mark.parametrize(
    "name", ["<ipython-input-7-0123abcd>", "/tmp/ipykernel_1234/567890.py"]
)
def test_notebook_cells(name):
    cell = "k = 3\n\n@staticmethod\ndef f(x):\n    return k * x\n\ng = lambda x: x\n"
    space = run_cell(cell, name)
    source = read(space["f"])
    assert source.filename == name
    assert source.line(source.node.body[0].lineno) == "return k * x"
    assert source.resolve("k") == 3
    assert returned(read(space["g"])) == "x"
    linecache.checkcache()
    assert read(space["f"]).text == source.text


def test_notebook_cell_with_await_and_another_cells_future():
    import __future__

    name = "<ipython-input-8-0123abcd>"
    text = (
        "async def a(): pass\nawait a()\ndef f(x: T) -> T:\n    def g(y: U): return y\n"
    )
    text += "    return g(x)\n"
    flags = __future__.annotations.compiler_flag | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    module = compile(text, name, "exec", flags)
    code = next(c for c in module.co_consts if getattr(c, "co_name", "") == "f")
    assert returned(read(types.FunctionType(code, {}))) == "g(x)"


def test_generated_function():
    module = load("def f(x):\n    return k * x\n", "read_me", {"k": 2.0})
    source = read(module.f)
    assert source.text == "def f(x):\n    return k * x\n"
    assert source.resolve("k") == 2.0


def test_function_from_a_zip_file(tmp_path, monkeypatch):
    import zipfile

    path = tmp_path / "lib.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("zipped_module.py", "def f(x):\n    return x * 9\n")
    monkeypatch.syspath_prepend(str(path))
    module = importlib.import_module("zipped_module")
    assert returned(read(module.f)) == "x * 9"
    del sys.modules["zipped_module"]


def test_byte_columns_become_carets(module_from):
    module = module_from("def f(x):\n    return 'é' * g(x)\n")
    source = read(module.f)
    call = source.node.body[0].value.right
    last = str(error_at(UnsupportedError, source, call, "why")).split("\n")[-1]
    assert last == "    " + " " * len("return 'é' * ") + "^^^^"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of 3.12")
def test_type_parameters(module_from):
    module = module_from("def f[T](x: T) -> T:\n    return x\n")
    assert returned(read(module.f)) == "x"
