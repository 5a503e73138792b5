"""The corpus in two processes: the second one has the texts of the first, and equal
numbers, without what writes texts."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import srcjax
from tests.corpus import PROGRAMS

ROOT = Path(srcjax.__file__).parents[1]
HERE = Path(__file__).parents[2]
#: Programs of a process.
MANY = 40

DRIVER = """
import hashlib, json, pickle, sys, warnings
import numpy as np
import srcjax
from tests.corpus import PROGRAMS

warnings.simplefilter("ignore")
HEAVY = ("srcjax.pipeline", "srcjax.analysis.infer", "srcjax.ops.registry")
names, write = json.loads(sys.argv[1]), sys.argv[2] == "write"
found = {}


def told(value):
    if isinstance(value, np.ndarray):
        return [value.dtype.str, value.shape, value.tolist()]
    if isinstance(value, dict):
        return {str(k): told(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(told, value)]
    if isinstance(value, (int, float, complex, np.generic)):
        return [type(value).__name__, repr(value)]
    if hasattr(value, "__dict__"):
        return told(vars(value))
    return type(value).__name__


def versions(transform):
    return [v for v in transform.versions.values() if hasattr(v, "loaded")]


for program in PROGRAMS:
    if program.name not in names:
        continue
    for kind in ("value_and_grad", "vjp", "jvp"):
        args = program.args()
        argnums = program.argnums
        single = argnums[0] if len(argnums) == 1 else argnums
        try:
            if kind == "value_and_grad":
                d = srcjax.value_and_grad(program.function, single)
                value = d(*args)
            elif kind == "vjp":
                d = srcjax.vjp(program.function)
                value = srcjax.vjp(program.function, *args)[0]
                d = None
            else:
                dots = [None] * len(args)
                for k in argnums:
                    dots[k] = program.args()[k]
                d, value = None, srcjax.jvp(program.function, args, dots)
        except Exception as error:
            found[f"{program.name} {kind}"] = [type(error).__name__, str(error), []]
            continue
        kept, text, again = [], "", ""
        if d is not None:
            all_of_them = versions(d.__srcjax_transform__)
            kept = [v.kept for v in all_of_them]
            text = "".join(v.module.text for v in all_of_them)
            if write and kept == [True]:
                again = str(srcjax.source(d, *program.args()))
        heavy = [m for m in HEAVY if m in sys.modules]
        found[f"{program.name} {kind}"] = [told(value), text, kept, again, heavy]
json.dump(found, sys.stdout)
"""


def process(folder, names, write):
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(names), write],
        cwd=HERE,
        env=os.environ
        | {
            "SRCJAX_CACHE_DIR": str(folder),
            "SRCJAX_KEEP_TEXTS": "1",
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(HERE)]),
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


CHUNKS = [
    [p.name for p in PROGRAMS[start : start + MANY]]
    for start in range(0, len(PROGRAMS), MANY)
]


@pytest.mark.parametrize("names", CHUNKS, ids=lambda names: names[0])
def test_corpus_in_two_processes(names, tmp_path):
    tmp_path.chmod(0o700)
    first = process(tmp_path, names, "")
    second = process(tmp_path, names, "write")
    few = [n for n in names if second[f"{n} value_and_grad"][2] == [True]]
    assert len(few) > len(names) // 3, "nearly nothing is kept"
    for name, (value, text, kept, *rest) in second.items():
        assert value == first[name][0], name
        assert text == first[name][1], name
        if kept == [True]:
            assert rest[0] == text, f"{name}: the text is another one"
    third = process(tmp_path, few[:1], "")
    assert third[f"{few[0]} value_and_grad"][4] == []
