"""The command line."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import srcjax
from srcjax.cli import main

MODEL = """\
import numpy as np

import nearby

RATE = 0.5


def loss(w, x):
    return np.sum(np.tanh(w * x)) * RATE


def hinted(x: float, n: int):
    return x * x * n


def beside(x):
    return nearby.double(x) * x


class Ridge:
    def loss(self, w, x):
        return np.sum((x @ w) ** 2)

    @staticmethod
    def penalty(w):
        return np.sum(w**2)

    class Inner:
        def square(self, x):
            return x * x


def broken(x):
    yield x


def positive(x):
    if x < 0:
        raise ValueError("negative")
    return x * x


def nothing():
    return 1.0


LIST = [1, 2]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a file of functions, which is the current one."""
    (tmp_path / "model_file.py").write_text(MODEL)
    (tmp_path / "nearby.py").write_text("def double(x):\n    return 2 * x\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("nearby", None)


def run(capsys, *arguments):
    status = main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_prints_the_gradient(folder, capsys):
    before = list(sys.path), set(sys.modules)
    status, out, err = run(capsys, "grad", "model_file.py:loss")
    assert (status, err) == (0, "")
    assert '__all__ = ["grad_loss"]' in out
    assert "# return np.sum(np.tanh(w * x)) * RATE" in out
    assert sys.path == before[0]
    assert "model_file" not in sys.modules


def test_explains_the_gradient(folder, capsys):
    status, out, err = run(capsys, "grad", "model_file.py:loss", "--explain")
    assert (status, err) == (0, "")
    assert "d tanh(u) = (1 - tanh(u)**2) du" in out


def test_type_hints_make_it_clean(folder, capsys):
    status, out, _ = run(capsys, "grad", "model_file.py:hinted")
    assert status == 0
    assert "srcjax" not in out


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("Ridge.loss", "grad_loss"),
        ("Ridge.penalty", "grad_penalty"),
        ("Ridge.Inner.square", "grad_square"),
        ("beside", "grad_beside"),
    ],
)
def test_qualified_names(folder, capsys, name, entry):
    status, out, err = run(capsys, "grad", f"model_file.py:{name}")
    assert (status, err) == (0, "")
    assert f"def {entry}(" in out


def test_wrt_and_value(folder, capsys):
    _, out, _ = run(capsys, "grad", "model_file.py:loss", "--wrt", "x", "w")
    assert "def grad_loss(" in out and "with respect to x and w" in out
    assert "srcjax.runtime" not in out
    _, out, _ = run(capsys, "grad", "model_file.py:loss", "--wrt", "x")
    assert "dw" not in out
    _, out, _ = run(capsys, "grad", "model_file.py:loss", "--value")
    assert "def value_and_grad_loss(" in out


def test_writes_a_module_that_runs_alone(folder, capsys):
    status, out, err = run(capsys, "grad", "model_file.py:loss", "-o", "out_file.py")
    assert (status, err) == (0, "")
    assert out == "out_file.py: grad_loss\n"
    text = Path("out_file.py").read_text()
    assert text.startswith('"""Written by srcjax from `model_file.loss`."""\n')
    code = (
        "import sys\n"
        "sys.modules['srcjax'] = None\n"
        "from out_file import *\n"
        "import numpy as np\n"
        "print(grad_loss(np.zeros(2), np.ones(2)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("[0.5 0.5]\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["grad", "absent.py:f"], "there is no file absent.py"),
        (["grad", "model_file.py:los"], "has no function `los`; did you mean `loss`?"),
        (["grad", "model_file.py:Ridge.los"], "`los` in Ridge; did you mean `loss`?"),
        (["grad", "model_file.py:Ridge"], "a class, not a function; it has loss"),
        (["grad", "model_file.py:LIST"], "is `[1, 2]`, not a function"),
        (["grad", "model_file.py:broken"], "generator function"),
        (["grad", "model_file.py:nothing"], "has no parameter"),
        (["grad", "model_file.py:loss", "--wrt", "q"], "the parameters w, x"),
        (["grad", "model_file.py:loss", "-o", "no/no.py"], "cannot write no/no.py"),
    ],
)
def test_what_fails_is_said_and_gives_1(folder, capsys, arguments, message):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (1, "")
    assert err.startswith("srcjax: ") and message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\ny = 1 / 0\n", "bad_file.py, line 2: ZeroDivisionError: division by"),
        ("def f(:\n", "bad_file.py, line 1: SyntaxError: "),
        ("import not_there_at_all\n", "line 1: ModuleNotFoundError: No module named"),
        ("import sys\nsys.exit(3)\n", "line 2: the file exits when it is loaded"),
    ],
)
def test_a_file_that_fails(folder, capsys, text, message):
    Path("bad_file.py").write_text(text)
    status, _, err = run(capsys, "grad", "bad_file.py:f")
    assert status == 1 and message in err
    assert "bad_file" not in sys.modules


@pytest.mark.parametrize(
    "arguments",
    [[], ["grad"], ["grad", "model_file.py"], ["unknown"], ["demo", "--epochs", "0"]],
)
def test_wrong_usage_gives_2(folder, capsys, arguments):
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert err.startswith("usage: srcjax")


def test_help_and_version(capsys):
    assert run(capsys, "--help")[0] == 0
    status, out, _ = run(capsys, "--version")
    assert status == 0 and out.startswith("srcjax")


def test_a_file_named_like_a_library(folder, capsys):
    import json

    Path("json.py").write_text("def f(x: float):\n    return x * x\n")
    status, out, _ = run(capsys, "grad", "json.py:f")
    assert status == 0 and "grad_f" in out
    assert sys.modules["json"] is json


def test_a_derivative_in_the_file(folder, capsys):
    text = "import srcjax\n\n\n@srcjax.grad\ndef f(x: float):\n    return x * x\n"
    Path("made_file.py").write_text(text)
    status, out, _ = run(capsys, "grad", "made_file.py:f")
    assert status == 0 and "def grad_f(" in out
    status, _, err = run(capsys, "grad", "made_file.py:f", "--wrt", "x")
    assert status == 1 and "a derivative already" in err


def test_as_a_process(folder):
    source = str(Path(srcjax.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-m", "srcjax", "grad", "model_file.py:hinted"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert done.returncode == 0, done.stderr
    assert "def grad_hinted(" in done.stdout


def test_shapes_by_name(folder, capsys):
    status, out, err = run(
        capsys, "grad", "model_file.py:loss", "--shapes", "w=n", "x=m,n"
    )
    assert (status, err) == (0, "")
    assert "for w: (n,), x: (m, n)." in out and "unbroadcast" not in out
    status, _, err = run(
        capsys, "grad", "model_file.py:loss", "--shapes", "w=n", "x=n", "-o", "out.py"
    )
    assert status == 0 and "w: (n,), x: (n,)" in (folder / "out.py").read_text()
    status, _, err = run(capsys, "grad", "model_file.py:loss", "--shapes", "w=n+1")
    assert status == 1 and "'n+1' is no size" in err
    assert run(capsys, "grad", "model_file.py:loss", "--shapes", "w")[0] == 2


def test_shows_both_side_by_side(folder, capsys):
    status, out, err = run(capsys, "show", "model_file.py:loss")
    assert (status, err) == (0, "") and "your function" in out and "grad_loss" in out


def test_a_page(folder, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    status, out, _ = run(
        capsys, "show", "model_file.py:loss", "--html", "out.html", "--open"
    )
    assert (status, out) == (0, "out.html: grad_loss\n")
    text = (folder / "out.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and "written by srcjax" in text
    assert opened == [(folder / "out.html").resolve().as_uri()]
    status, out, _ = run(capsys, "show", "model_file.py:loss", "--open")
    page = Path(out.partition(": ")[0])
    assert status == 0 and opened[1] == page.as_uri() and page.is_file()
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    status, _, err = run(capsys, "show", "model_file.py:loss", "--open")
    assert status == 1 and "no browser was found" in err
    status, _, err = run(capsys, "show", "model_file.py:loss", "--html", "no/out.html")
    assert status == 1 and "cannot write no/out.html" in err


def test_a_page_of_a_run(folder, capsys):
    given = ["show", "model_file.py:loss", "--html", "out.html"]
    status, _, err = run(capsys, *given, "--args", "np.ones(2)", "2 * RATE")
    text = (folder / "out.html").read_text(encoding="utf-8")
    assert (status, err) == (0, "") and "Step of the run" in text
    assert '"steps":[[' in text
    status, _, err = run(capsys, *given, "--shapes", "w=n", "x=m,n")
    text = (folder / "out.html").read_text(encoding="utf-8")
    assert status == 0 and '"steps":' not in text and "for w: (n,), x: (m, n)" in text
    both = [*given, "--args", "1.0", "2.0", "--shapes", "w=n"]
    status, _, err = run(capsys, *both)
    assert status == 1 and "--args and --shapes both" in err


@pytest.mark.parametrize("command", [["show", "--html", "out.html"], ["trace"]])
def test_a_run_that_raises(folder, capsys, command):
    given = [command[0], "model_file.py:positive", *command[1:], "--args"]
    status, out, err = run(capsys, *given, "-1.0")
    assert (status, out) == (1, "")
    assert err.startswith("srcjax: the run of `positive` fails: ValueError: negative\n")
    assert "model_file.py:" in err and "Traceback" not in err
    assert run(capsys, *given, "1.0")[0] == 0


def test_the_values_of_a_run(folder, capsys):
    given = ["model_file.py:loss", "--args", "np.ones(2)", "2 * RATE", "--check"]
    status, out, err = run(capsys, "trace", *given)
    assert (status, err) == (0, "")
    assert "measured" in out and out.endswith("agrees\n")
    status, out, _ = run(capsys, "trace", *given, "--html", "out.html")
    assert (status, out) == (0, "out.html: the values of loss\n")
    assert "<table" in (folder / "out.html").read_text(encoding="utf-8")
    status, _, err = run(capsys, "trace", "model_file.py:loss", "--args", "1.0", "what")
    assert status == 1 and "the argument `what`: NameError" in err


def test_an_exercise(folder, capsys):
    shapes = ["--shapes", "w=n", "x=n"]
    status, out, _ = run(capsys, "exercise", "model_file.py:loss", *shapes)
    assert status == 0 and "..." in out
    hide = ["--hide", "np.tanh", "-o", "out_file.py"]
    status, out, _ = run(capsys, "exercise", "model_file.py:loss", *shapes, *hide)
    assert status == 0 and out.startswith("out_file.py: ")
    assert "..." in (folder / "out_file.py").read_text(encoding="utf-8")
    status, _, err = run(
        capsys, "exercise", "model_file.py:loss", *shapes, "--hide", "1000"
    )
    assert status == 1 and "line 1000 has no right-hand side" in err
    status, _, err = run(
        capsys, "exercise", "model_file.py:loss", *shapes, "--hide", "RATE"
    )
    assert status == 1 and "`RATE` is no function" in err


def test_a_picture(folder, capsys):
    given = ["model_file.py:loss", "--args", "0.3", "2.0"]
    status, out, _ = run(capsys, "graph", *given)
    assert status == 0 and out.startswith("<svg")
    status, out, _ = run(capsys, "graph", *given, "--wrt", "x", "-o", "out.svg")
    assert (status, out) == (0, "out.svg: loss\n")
    assert (folder / "out.svg").read_text(encoding="utf-8").startswith("<svg")
