"""What users see of an error: their lines and generated lines, none of srcjax."""

import os
import subprocess
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import srcjax
from srcjax.backends import tracebacks
from srcjax.errors import ArgumentError, SrcjaxError


@pytest.fixture(autouse=True)
def as_for_users(monkeypatch):
    monkeypatch.setattr(tracebacks.Setting, "full", False)


def fussy(x):
    y = 2.0 * x
    if np.sum(y) > 5.0:
        raise ValueError("too large")
    return np.sum(y * y)


def unruled(x):
    return np.sum(np.busday_count(x, x))


def seen(call):
    """The files of the traceback of an error, and the error."""
    try:
        call()
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        return [os.path.basename(f.filename) for f in frames][1:], error
    pytest.fail("no error")


HERE = os.path.basename(__file__)
LARGE, SMALL = np.ones(4), 0.1 * np.ones(4)


def called_often(d, *args):
    for _ in range(4):
        d(*args)
    return d


@pytest.mark.parametrize(
    "call",
    [
        lambda: srcjax.grad(fussy)(LARGE),
        lambda: called_often(srcjax.grad(fussy), SMALL)(LARGE),
        lambda: srcjax.vmap(fussy)(np.ones((2, 4))),
        lambda: called_often(srcjax.vmap(fussy), np.zeros((2, 4)))(np.ones((2, 4))),
        lambda: srcjax.jvp(fussy, (LARGE,), (LARGE,)),
        lambda: srcjax.vjp(fussy, LARGE),
        lambda: srcjax.hessian(fussy)(LARGE),
        lambda: srcjax.jvp(fussy)((LARGE,), (LARGE,)),
    ],
)
def test_an_error_in_the_function(call):
    files, error = seen(call)
    assert files[0] == HERE and "fussy" in files[-1]
    assert set(files) <= {HERE, *(f for f in files if "fussy" in f)}
    assert error.__notes__[0].startswith(f"in the user's code: {__file__}:")
    assert isinstance(error, ValueError) and str(error) == "too large"


@pytest.mark.parametrize(
    "call",
    [
        lambda: srcjax.grad(unruled)(LARGE),
        lambda: srcjax.grad(fussy, argnum=1),
        lambda: srcjax.grad(fussy, argnums=1),
        lambda: srcjax.grad(fussy)("text"),
        lambda: srcjax.source(fussy),
        lambda: srcjax.source(srcjax.grad(unruled), LARGE),
        lambda: srcjax.stages(srcjax.grad(unruled), LARGE),
        lambda: srcjax.jvp(fussy, (LARGE,), (np.ones(3),)),
        lambda: srcjax.vjp(np.tanh, LARGE)[1](np.ones(3)),
        lambda: srcjax.vmap(fussy)(1.0),
        lambda: srcjax.linearize(fussy, SMALL)[1](np.ones(3)),
        lambda: srcjax.vectorize(fussy, signature="(n)->()")(1.0),
        lambda: srcjax.jit(fussy, static_argnums=0)(LARGE),
    ],
)
def test_an_error_of_srcjax(call):
    files, error = seen(call)
    assert files == [HERE]
    assert isinstance(error, SrcjaxError)
    shown = "".join(traceback.format_exception(error))
    assert shown.count("Traceback") == 1 and len(shown.splitlines()) < 16


def test_a_setting_brings_them_back(monkeypatch):
    assert not srcjax.config.full_tracebacks
    monkeypatch.setattr(srcjax.config, "full_tracebacks", True)
    files, _ = seen(lambda: srcjax.grad(unruled)(LARGE))
    assert "callables.py" in files and len(files) > 5
    with pytest.raises(ArgumentError, match="True or False"):
        srcjax.config.full_tracebacks = 1


def test_errors_of_srcjax_itself_are_whole(monkeypatch):
    """Who reports them has to tell where."""
    d = srcjax.grad(fussy)
    monkeypatch.setattr(d.__srcjax_transform__, "parameters", None)
    files, error = seen(lambda: d(LARGE))
    assert isinstance(error, TypeError) and files[-1] == "callables.py"


def test_files_are_where_nobody_else_reads():
    seen(lambda: srcjax.grad(fussy)(LARGE))
    outer = os.path.dirname(tracebacks.Texts.folder)
    assert os.stat(outer).st_mode & 0o777 == 0o700
    for name in os.listdir(tracebacks.Texts.folder):
        text = Path(tracebacks.Texts.folder, name).read_text()
        assert "def " in text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_has_a_folder_of_its_own():
    text = """
import os, sys
from srcjax.backends import tracebacks
before = tracebacks.Texts.folder
child = os.fork()
if not child:
    inside = tracebacks.Texts.folder != before
    files = before + "/f.py", tracebacks.Texts.folder + "/f.py"
    both = map(tracebacks.is_in_folder, files)
    sys.exit(not (inside and all(both)))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], timeout=60)
    assert done.returncode == 0
