"""The README's programs run, and print what it shows.

`python -m tests.test_readme` writes what they print into the README, or with `FILE`
the README with it into another file.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import types
from pathlib import Path

from srcjax.parallel import counting

README = Path(__file__).parent.parent / "README.md"

BLOCK = re.compile(
    r"(?P<output><!-- output -->\n)?```(\w*)\n(?P<text>.*?)^```$", re.M | re.S
)


def printed(text, folder):
    """What each output block of the README should show."""
    module = types.ModuleType("readme")
    shown = io.StringIO()
    found = []
    sys.modules["readme"] = module
    devices = counting.Setting.cpu_devices
    try:
        with contextlib.chdir(folder), contextlib.redirect_stdout(shown):
            for i, block in enumerate(BLOCK.finditer(text)):
                if block["output"]:
                    paths = rf"{re.escape(str(folder))}\S*readme_\d+\.py"
                    lines = re.sub(paths, "your_file.py", shown.getvalue()).splitlines()
                    lines = [line.rstrip() for line in lines]
                    found.append("\n".join(lines).strip("\n") + "\n")
                elif block[2] == "python":
                    shown.seek(0)
                    shown.truncate()
                    # Source is read from a file, as that of users is.
                    path = Path(folder, f"readme_{i}.py")
                    path.write_text(block["text"])
                    code = compile(block["text"], str(path), "exec", dont_inherit=True)
                    exec(code, vars(module))
    finally:
        del sys.modules["readme"]
        counting.Setting.cpu_devices = devices
    return found


def updated(text, folder):
    """The README with what its programs print."""
    outputs = iter(printed(text, folder))

    def replace(block):
        if not block["output"]:
            return block[0]
        return f"{block['output']}```{block[2]}\n{next(outputs)}```"

    return BLOCK.sub(replace, text)


def test_shows_what_its_programs_print(tmp_path):
    # In a process of its own, as readers run them: modules of generated texts are named
    # by what was loaded before (`grad_energy_2`).
    new = tmp_path / "README.md"
    # A dependency of ours warns when it is imported, from Python 3.12.
    strict = ["-W", "error", "-W", "ignore::DeprecationWarning"]
    command = [sys.executable, *strict, "-m", "tests.test_readme", str(new)]
    subprocess.run(command, check=True, cwd=README.parent)
    assert README.read_text() == new.read_text(), "run: python -m tests.test_readme"


def test_shows_real_gradients():
    text = README.read_text()
    assert "def grad_loss(w, x, y):" in text
    assert "def grad_heat_left(u, steps):" in text


def test_has_the_two_commands():
    text = README.read_text()
    inside = text.partition("<!-- test-command -->")[2]
    inside = inside.partition("<!-- /test-command -->")[0]
    assert "-m pytest" in inside and ".[test]" in inside
    assert "'.[demo]' && .venv/bin/srcjax demo" in text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        new = updated(README.read_text(), os.path.realpath(scratch))
    Path(*sys.argv[1:] or [README]).write_text(new)
