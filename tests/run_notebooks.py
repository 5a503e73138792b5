"""Executes notebooks: `python -m tests.run_notebooks FOLDER`.

Prints each notebook's name and time. The exit status is 1 if any of them failed.
Nothing is written: the outputs in the repository stay as they are.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

TIMEOUT = 300  # seconds for one cell


def run(path: Path) -> str | None:
    """Runs one notebook in its own folder; returns what went wrong, if anything."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        # The kernel of this environment, whatever the notebook was saved with.
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    try:
        client.execute()
    except (CellExecutionError, TimeoutError) as error:
        return str(error)
    return None


def main(arguments: list[str]) -> int:
    """Runs every notebook in the folders named, `notebooks` if none is."""
    failed = 0
    for folder in arguments or ["notebooks"]:
        paths = sorted(Path(folder).glob("*.ipynb"))
        if not paths:
            print(f"{folder}: no notebooks")
        for path in paths:
            start = time.perf_counter()
            problem = run(path)
            seconds = time.perf_counter() - start
            print(f"{path}: {'FAILED' if problem else 'ok'} in {seconds:.1f} s")
            if problem:
                failed += 1
                print(problem, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
