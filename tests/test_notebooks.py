"""Notebooks are stored with what they gave, and it is told whether they still do."""

import re
from pathlib import Path

import nbformat
import pytest

from tests.run_notebooks import VARIES, difference, is_same, tidy

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted([*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("docs/course/*.ipynb")])
#: What tells of one machine, or of one run.
OWN = re.compile(r"/(tmp|home|root|Users|usr)/|ipykernel_\d|\bat 0x[0-9a-f]{4}")


def texts(cell):
    """The texts among the outputs of a cell."""
    for output in cell.get("outputs", ()):
        yield output.get("text", "")
        yield from (v for v in output.get("data", {}).values() if isinstance(v, str))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_stored_outputs(path):
    notebook = nbformat.read(path, as_version=4)
    cells = [c for c in notebook.cells if c.cell_type == "code"]
    assert sum(bool(c.outputs) for c in cells) > len(cells) / 4
    for cell in cells:
        assert cell.execution_count is not None
        assert not any(map(OWN.search, texts(cell))), cell.source
        if VARIES in cell.metadata.get("tags", ()):
            assert not cell.outputs
        before = str(cell.outputs)
        tidy(cell)
        assert str(cell.outputs) == before


def one_cell(text, **metadata):
    cell = nbformat.v4.new_code_cell("print(x)", metadata=metadata)
    cell.outputs = [nbformat.v4.new_output("stream", text=text)]
    return nbformat.v4.new_notebook(cells=[cell])


def test_what_differs():
    stored = one_cell("loss 0.1234567 after 20 steps\n")
    assert not difference(stored, one_cell("loss 0.1234568 after 20 steps\n"))
    assert difference(stored, one_cell("loss 0.1434567 after 20 steps\n")) == "cell 0"
    assert difference(stored, one_cell("loss 0.1234567 after 21 steps\n")) == "cell 0"
    assert difference(stored, one_cell("loss was 0.1234567\n")) == "cell 0"
    rounding = one_cell("0.1", tags=["rounding"])
    assert not difference(rounding, one_cell("0.9", tags=["rounding"]))
    empty = one_cell("")
    empty.cells[0].outputs = []
    assert difference(stored, empty) == "cell 0 has 0 outputs"


def test_colours_are_not_compared():
    def shows(html):
        notebook = one_cell("")
        data = {"text/html": html, "text/plain": "x"}
        notebook.cells[0].outputs = [
            nbformat.v4.new_output("execute_result", data=data, execution_count=1)
        ]
        return notebook

    one = shows("<style>a{}</style><pre><i class='k'>def</i> f</pre>")
    assert not difference(one, shows("<pre><b>def</b> f</pre><script>1 < 2</script>"))
    assert difference(one, shows("<pre><i class='k'>def</i> g</pre>")) == "cell 0"


def test_numbers_but_for_rounding():
    assert is_same("[1.0e-17 2.5]", "[-3.0e-18 2.5]")
    assert is_same("dx = 0.30000000000000004 * x", "dx = 0.3 * x")
    assert not is_same("dx = 2.0 * x", "dx = 3.0 * x")
    assert not is_same("dx = 2 * x", "dx = 3 * x")
