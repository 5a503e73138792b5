"""Errors that nobody catches, as the interpreter prints them."""

import os
import subprocess
import sys

import pytest

UNCAUGHT = """
import sys
import numpy as np
import srcjax


def wave(x):
    y = np.sin(x)
    if np.any(y > 0.5):
        {what}
    return np.sum(y)


srcjax.grad(wave)(np.ones(3))
"""


def run(folder, text):
    (folder / "main.py").write_text(text)
    # What the interpreter would find by the base name of the text.
    (folder / "grad_wave.py").write_text("# another file of that name\n" * 40)
    environment = {**os.environ, "TMPDIR": str(folder), "SRCJAX_FULL_TRACEBACKS": "0"}
    done = subprocess.run(
        [sys.executable, "main.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert not list(folder.glob("srcjax-*"))  # nothing is left behind
    return done.stderr


@pytest.mark.parametrize(
    "what", ["raise ValueError('no')", "raise KeyboardInterrupt('no')"]
)
def test_uncaught_errors_show_the_generated_line(tmp_path, what):
    shown = run(tmp_path, UNCAUGHT.replace("{what}", what))
    lines = [line.strip() for line in shown.splitlines()]
    assert any(line.startswith("raise ") for line in lines), shown
    assert "another file" not in shown and "site-packages" not in shown
    assert "srcjax.grad(wave)(np.ones(3))" in lines
    note = next(line for line in lines if line.startswith("in the user's code:"))
    assert "main.py:10: raise" in note
