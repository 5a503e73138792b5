"""Executes notebooks: `python -m tests.run_notebooks [--check] [--store] FOLDER ...`.

Prints each notebook's name and time, and whether it is stored with other outputs than
it gives. The exit status is 1 if any of them failed, and with `--check` if any of them
gives something else than what is stored: numbers may differ by what rounding makes of
them, pictures are not compared. With `--store` the outputs are written into the
notebooks: what varies from run to run or machine to machine is left out, so that
running it twice writes the same bytes. Without it the files stay as they are.
"""

from __future__ import annotations

import copy
import math
import re
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

AGAIN = "python -m tests.run_notebooks --store"
TIMEOUT = 300  # seconds for one cell
#: Cells with this tag print times and the like: their outputs are not stored.
VARIES = "varies"
#: Cells with this tag print what the rounding of a machine decides, such as how a long
#: training ends: their outputs are stored, and not compared.
ROUNDING = "rounding"
NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?|-?\d+e[-+]?\d+")
MARKUP = re.compile(r"<(style|script)\b.*?</\1>|<[^>]+>", re.S)
#: How far numbers may be apart, relative to the larger one, and altogether.
RELATIVE, ABSOLUTE = 1e-3, 1e-9
#: What a kernel's files and objects are called on one machine, in one run.
PLACES = [
    (
        re.compile(r"(/|[A-Z]:\\)[^\s\"'<>:]*ipykernel_\d+[/\\]\d+\.py"),
        "cell.py",
    ),
    (re.compile(r"ipykernel_\d+"), "ipykernel"),
    (re.compile(r" at 0x[0-9a-f]+"), " at 0x..."),
]


def run(path: Path, store: bool) -> tuple[str | None, str]:
    """Runs one notebook in its own folder: what went wrong, and which cell differs."""
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
        return str(error), ""
    notebook.metadata = stored.metadata
    for cell in notebook.cells:
        if cell.cell_type == "code":
            tidy(cell)
    if store:
        path.write_text(nbformat.writes(notebook) + "\n")
    return None, difference(stored, notebook)


def difference(stored: nbformat.NotebookNode, given: nbformat.NotebookNode) -> str:
    """The first cell that gives something else than what is stored; empty for none."""
    for number, (old, new) in enumerate(zip(stored.cells, given.cells, strict=True)):
        if old.cell_type != "code" or ROUNDING in old.metadata.get("tags", ()):
            continue
        pairs = list(zip(old.outputs, new.outputs, strict=False))
        if len(old.outputs) != len(new.outputs):
            return f"cell {number} has {len(new.outputs)} outputs"
        for before, now in pairs:
            if not is_same(shown(before), shown(now)):
                return f"cell {number}"
    return ""


def shown(output: nbformat.NotebookNode) -> str:
    """What is compared of an output: its texts, and of pictures that there is one."""
    data = output.get("data", {})
    texts = [read(kind, data[kind]) for kind in sorted(data) if is_text(kind)]
    pictures = [kind for kind in sorted(data) if not is_text(kind)]
    parts = [output.output_type, output.get("text", ""), *map(str, texts), *pictures]
    if pictures:  # beside a picture stands how large it is
        parts = [output.output_type, *pictures]
    return "\n".join(parts)


def is_text(kind: str) -> bool:
    return kind.startswith("text/")


def read(kind: str, text: str) -> str:
    """What a reader sees: how it is coloured depends on the version of Pygments."""
    return MARKUP.sub("", text) if kind == "text/html" else text


def is_same(before: str, now: str) -> bool:
    """Whether two texts say the same, but for the rounding of numbers."""
    if before == now:
        return True
    if NUMBER.sub("0.0", before) != NUMBER.sub("0.0", now):
        return False
    pairs = zip(NUMBER.findall(before), NUMBER.findall(now), strict=True)
    return all(
        math.isclose(float(a), float(b), rel_tol=RELATIVE, abs_tol=ABSOLUTE)
        for a, b in pairs
    )


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
    store, check = "--store" in arguments, "--check" in arguments
    folders = [a for a in arguments if a not in ("--store", "--check")]
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
            note = f", stored with other outputs: {differs}" if differs else ""
            print(f"{path}: {word} in {seconds:.1f} s{note}", flush=True)
            if differs and check:
                failed += 1
                print(f"{path}: run `{AGAIN} {path.parent}`", file=sys.stderr)
            if problem:
                failed += 1
                print(problem, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
