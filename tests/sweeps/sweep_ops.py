"""The tests of operations of which the first stage runs a sample, here all of them."""

import importlib
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "ops"

for _path in sorted(FOLDER.glob("test_*.py")):
    _module = importlib.import_module(f"tests.ops.{_path.stem}")
    _sampled = getattr(_module, "SAMPLE", {})
    for _name, _test in vars(_module).items():
        if not _name.startswith("test_") or _test.__module__ != _module.__name__:
            continue
        if _sampled != {} and (isinstance(_sampled, int) or _name in _sampled):
            globals()[f"{_path.stem}_{_name.removeprefix('test_')}"] = _test
