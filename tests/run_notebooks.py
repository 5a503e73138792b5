"""Executes notebooks: `python -m tests.run_notebooks [--store] FOLDER ...`.

Prints each notebook's name and time, and whether it is stored with other outputs than
it gives. The exit status is 1 if any of them failed. With `--store` the outputs are
written into the notebooks: what varies from run to run or machine to machine is left
out, so that running it twice writes the same bytes. Without it the files stay as they
are.
"""

from __future__ import annotations

import copy
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

TIMEOUT = 300  # seconds for one cell
#: Cells with this tag print times and the like: their outputs are not stored.
VARIES = "varies"
#: What a kernel's files and objects are called on one machine, in one run.
PLACES = [
    (
        re.compile(r"(/|[A-Z]:\\)[^\s\"'<>:]*ipykernel_\d+[/\\]\d+\.py"),
        "cell.py",
    ),
    (re.compile(r"ipykernel_\d+"), "ipykernel"),
    (re.compile(r" at 0x[0-9a-f]+"), " at 0x..."),
]


def run(path: Path, store: bool) -> tuple[str | None, bool]:
    """Runs one notebook in its own folder: what went wrong, and if outputs differ."""
    notebook = nbformat.read(path, as_version=4)
    stored = copy.deepcopy(notebook)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        # The kernel of this environment, whatever the notebook was saved with.
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
        coalesce_streams=True,
    )
    try:
        client.execute()
    except (CellExecutionError, TimeoutError) as error:
        return str(error), False
    notebook.metadata = stored.metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            tidy(cell)
    if store:
        path.write_text(nbformat.writes(notebook) + "\n")
    return None, notebook != stored


def tidy(cell: nbformat.NotebookNode) -> None:
    """Leaves out of the outputs what another run would not give."""
    if VARIES in cell.metadata.get("tags", ()):
        cell.outputs = []
    for output in cell.outputs:
        if output.output_type == "stream":
            output.text = without_places(output.text)
        for kind, data in output.get("data", {}).items():
            if isinstance(data, str):
                output.data[kind] = without_places(data)


def without_places(text: str) -> str:
    for pattern, word in PLACES:
        text = pattern.sub(word, text)
    return text


def main(arguments: list[str]) -> int:
    """Runs every notebook in the folders named, `notebooks` if none is."""
    store = "--store" in arguments
    folders = [a for a in arguments if a != "--store"]
    failed = 0
    for folder in folders or ["notebooks"]:
        paths = sorted(Path(folder).glob("*.ipynb"))
        if not paths:
            print(f"{folder}: no notebooks")
        for path in paths:
            start = time.perf_counter()
            problem, differs = run(path, store)
            seconds = time.perf_counter() - start
            word = "FAILED" if problem else "ok"
            note = ", stored with other outputs" if differs else ""
            print(f"{path}: {word} in {seconds:.1f} s{note}", flush=True)
            if problem:
                failed += 1
                print(problem, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
