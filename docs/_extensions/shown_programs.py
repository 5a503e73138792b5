"""The directive `{run-python}`: Python that runs when the site is built.

The text is shown, and what it prints below it. The programs of a page share their
names, as the cells of a notebook do. A program that fails, fails the build.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
import types
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

#: What the programs of a page have named, by the page.
_PAGES: dict[str, types.ModuleType] = {}
_FOLDER = Path(tempfile.mkdtemp(prefix="srcjax_pages_"))


def run(page: str, text: str) -> str:
    """What the program prints. It is a file, as srcjax reads functions from files."""
    name = "page_" + "".join(c if c.isalnum() else "_" for c in page)
    module = _PAGES.setdefault(page, types.ModuleType(name))
    sys.modules[name] = module
    path = _FOLDER / f"{name}_{len(vars(module))}_{abs(hash(text))}.py"
    path.write_text(text)
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
    return shown.getvalue().replace(str(path), "your_file.py").strip("\n")


class Program(SphinxDirective):
    """Shows the program, and what it prints."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content) + "\n"
        found: list[nodes.Node] = [code(text)]
        if printed := run(self.env.docname, text):
            python = "def " in printed
            found.append(code(printed, "python" if python else "text", ["printed"]))
        return found


def code(
    text: str, language: str = "python", classes: list[str] | None = None
) -> nodes.literal_block:
    block = nodes.literal_block(text, text, classes=classes or [])
    block["language"] = language
    return block


def _tidy(app: Sphinx, error: Exception | None) -> None:
    shutil.rmtree(_FOLDER, ignore_errors=True)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("run-python", Program)
    app.connect("build-finished", _tidy)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
