"""Functions of notebooks: cells, and what magics of IPython run of them."""

import re
import traceback

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import srcjax
from srcjax.backends import tracebacks


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", str(tmp_path_factory.mktemp("ipython")))
        config = Config({"HistoryManager": {"enabled": False}})
        found = InteractiveShell.instance(config=config)
        yield found
        InteractiveShell.clear_instance()


def run(shell, cell):
    """What a cell gives; its error is raised."""
    done = shell.run_cell(cell, store_history=True, silent=False)
    done.raise_error()
    return done.result


def test_a_cell_that_imports_and_defines(shell, capsys):
    got = run(
        shell,
        "import numpy as np, srcjax\ndef loss(w):\n    'The loss.'\n"
        "    return np.sum(w**2)\ngrad_loss = srcjax.grad(loss)\ngrad_loss(3.0)",
    )
    assert got == 6.0
    shell.run_cell("grad_loss??")
    shown = capsys.readouterr().out
    assert "def grad_loss(w):" in shown and "The loss." in shown
    assert "dispatched" not in shown


@pytest.mark.parametrize(
    "cell",
    [
        "%%time\ndef cubed(x):\n    return x**3\nresult = srcjax.grad(cubed)(2.0)",
        "%time result = srcjax.grad(lambda x: x**3)(2.0)",
        "y = 1\n%time result = srcjax.grad(lambda x: y * x**3)(2.0)",
        "%%timeit -n1 -r1\nglobal result\ndef cubed(x):\n    return x**3\n"
        "result = srcjax.grad(cubed)(2.0)",
        "%%capture\nresult = srcjax.grad(lambda x: x**3)(2.0)",
    ],
)
def test_what_magics_run(shell, cell):
    run(shell, "import srcjax\nresult = None")
    run(shell, cell)
    assert run(shell, "result") == 12.0


def test_an_error_is_short(shell, monkeypatch):
    monkeypatch.setattr(tracebacks.Setting, "full", False)
    cell = "import srcjax\ndef later(w):\n    yield w\nsrcjax.grad(later)(1.0)"
    with pytest.raises(srcjax.errors.UnsupportedError) as caught:
        run(shell, cell)
    shown = traceback.extract_tb(caught.value.__traceback__)
    assert not [f for f in shown if re.search(r"srcjax/(?!_generated)", f.filename)]
    assert shown[-1].line == "srcjax.grad(later)(1.0)"
