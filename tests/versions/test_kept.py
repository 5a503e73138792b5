"""Texts that another process wrote: used where all is the same, and never else."""

import hashlib
import json
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

import srcjax
from srcjax.backends import marks
from srcjax.backends.load import load
from srcjax.versions import store
from srcjax.versions.described import Described, NotDescribed
from srcjax.versions.kept import Keeping
from tests.versions.kept_cases import BY_TYPE, CASES, NOT_KEPT

ROOT = Path(srcjax.__file__).parents[1]

#: Runs all cases of a folder; writes what derivatives give, and differences.
DRIVER = """
import importlib, json, sys
import numpy as np
import srcjax

found = {}
for name in sys.argv[1:]:
    case = importlib.import_module(name)
    g, x, h = srcjax.grad(case.f), 0.7, 1e-6
    try:
        value = float(g(x))
        kept = [v.kept for v in g.__srcjax_transform__.versions.values()]
        slope = float((case.f(x + h) - case.f(x - h)) / (2 * h))
        batch = srcjax.vmap(srcjax.grad(case.f))(np.array([x, x]))
        try:
            pair = srcjax.jvp(case.f, (x,), (1.0,))
        except srcjax.errors.NoRuleError:
            pair = value, value
        found[name] = [value, slope, *map(float, batch), float(pair[1]), kept]
    except Exception as error:
        found[name] = [f"{type(error).__name__}: {error}", []]
print(json.dumps(found))
"""


def process(folder, text, *arguments, **variables):
    """What a new process prints that has entries in a folder."""
    (folder / "main.py").write_text(text)
    kept = folder / "kept"
    kept.mkdir(mode=0o700, exist_ok=True)
    paths = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "main.py", *arguments],
        cwd=folder,
        env={
            **os.environ,
            "SRCJAX_CACHE_DIR": str(kept),
            "SRCJAX_KEEP_TEXTS": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": paths,
            **variables,
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


#: The second stage runs all of them.
SAMPLE = {"test_an_edit_is_seen": 24, "test_an_entry_that_is_broken_is_none": 2}
NAMES = {case: f"case_{k}" for k, case in enumerate(CASES)}


def written(folder, which, cases):
    """Write the files of the cases, before (0) or after (1) they are edited."""
    for case in cases:
        name = NAMES[case]
        for kind, text in CASES[case][which].items():
            file = name if kind == "case" else f"{name}_{kind}"
            (folder / f"{file}.py").write_text(text.replace("NAME", name))


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    """What three processes find: the second one has the same files as the first."""
    folder = tmp_path_factory.mktemp("cases")
    asked = [
        item.callspec.params.get("case")
        for item in request.session.items
        if "runs" in getattr(item, "fixturenames", ()) and hasattr(item, "callspec")
    ]
    cases = [case for case in CASES if case in asked]
    found = []
    for which in (0, 0, 1):
        written(folder, which, cases)
        # One process for all that changes what others see is no good: each has its own.
        alone = [NAMES[c] for c in cases if c.startswith(("replaced", "rule of"))]
        together = [NAMES[c] for c in cases if NAMES[c] not in alone]
        all_of_them = {}
        for names in (together, *([n] for n in alone)):
            all_of_them |= json.loads(process(folder, DRIVER, *names))
        found.append(all_of_them)
    return found


@pytest.mark.parametrize("case", CASES)
def test_an_edit_is_seen(case, runs):
    first, again, edited = (run[NAMES[case]] for run in runs)
    assert len(first) > 2, first[0]
    assert first[-1] == [False]
    assert again == [*first[:-1], [case not in NOT_KEPT]]
    assert edited[-1] == [case in BY_TYPE]
    gradient, slope, *others, _ = edited
    if case not in ("rule", "rule of an operation"):
        assert gradient == pytest.approx(slope, rel=1e-6)
        assert others == pytest.approx([gradient] * 3)
    assert gradient != first[0], "the edit changes nothing: no good case"


# -- the rest of a process -------------------------------------------------------------

CHANGES = """
import sys
import numpy as np
import srcjax

C, D, L = 2.0, {"k": 3.0}, [5.0]


def g(x):
    return C * x


def other(x):
    return x * x * 7.0


class Model:
    w = 1.5

    def rate(self, x):
        return self.w * x * x


model = Model()


def f(x):
    return g(x) * x + D["k"] * x + L[0] * x + model.rate(x)


def df(x):
    return 2 * C * x + D["k"] + L[0] + 2 * model.w * x


for transform in (srcjax.grad, lambda f: srcjax.vmap(srcjax.grad(f))):
    d = transform(f)
    x = 0.7 if transform is srcjax.grad else np.array([0.7])
    C, D, L, model.w = 2.0, {"k": 3.0}, [5.0], 1.5
    found = [d(x), df(x), d(x), df(x), d(x), df(x)]
    C = 4.0
    found += [d(x), df(x), d(x), df(x)]
    D["k"] = 1.0
    found += [d(x), df(x), d(x), df(x)]
    L.append(1.0)
    L[0] = 2.0
    found += [d(x), df(x), d(x), df(x)]
    model.w = 3.5
    found += [d(x), df(x), d(x), df(x)]
    assert np.allclose(found[::2], found[1::2]), found
print("srcjax.pipeline" in sys.modules)

kept = g.__code__
g.__code__ = other.__code__
assert np.allclose(srcjax.grad(f)(0.7), 3 * 7.0 * 0.7**2 + df(0.0) + 7.0 * 0.7)
g.__code__ = kept
"""


def test_what_changes_after_a_text_was_read_is_seen(tmp_path):
    for _ in range(2):
        process(tmp_path, CHANGES)


USES = """
import pickle, sys
import numpy as np
import srcjax


def f(x, n=2):
    y = np.sin(x)
    for _ in range(n):
        y = y * x
    return np.sum(y)


x = np.arange(3.0)
d = srcjax.value_and_grad(f)
first = d(x)
print(*first[1])
print("srcjax.pipeline" in sys.modules, file=sys.stderr)
y, pull = srcjax.vjp(f, x)
print(*pull(1.0)[0])
print(*srcjax.vjp(pull, 1.0)[0][0])
print(srcjax.source(d))
print(srcjax.source(d, explain=True))
v = srcjax.vmap(srcjax.grad(f))
v(np.ones((2, 3)))
print(srcjax.source(v, explain=True))
print(srcjax.source(d, x))
print(srcjax.stages(d, x)["emit"])
srcjax.export(d, "exported.py", x)
print(open("exported.py").read())
again = srcjax.value_and_grad(f)
again(x)
srcjax.export(again, "exported.py", x)
print(*d(x)[1], *d(np.arange(5.0))[1], *d(x, 3)[1], *d(x, n=3)[1], *d(x)[1])
print(*srcjax.grad(f, check=True)(x))
print(*srcjax.hessian(f)(x).ravel(), *srcjax.jacrev(f)(x), *srcjax.jacfwd(f)(x))
print(srcjax.linearize(f, x)[1](x), srcjax.jvp(f, (x,), (x,))[1])
try:
    d("no")
except srcjax.errors.SrcjaxError as error:
    print(error)
"""


def test_what_else_is_asked_of_it_is_the_same(tmp_path):
    first, second = (process(tmp_path, USES) for _ in range(2))
    assert first == second
    third = process(tmp_path, USES, SRCJAX_KEEP_TEXTS="0")
    assert third == first


LITERALS = """
import sys
import numpy as np
import srcjax

gravity = 9.81


def f(x):
    return np.sum(np.sin(x) * gravity)


d = srcjax.grad(f)
print(d(np.array([1.0, 2.0])))
print(srcjax.source(d))
gravity = 1.62
print(srcjax.source(d))
print(d(np.array([1.0, 2.0])))
"""


def test_what_is_shown_has_the_values_of_now(tmp_path):
    first, second = (process(tmp_path, LITERALS) for _ in range(2))
    assert first == second
    assert "gravity = 9.81" in first
    assert "gravity = 1.62" in first


WARNS = """
import warnings
import numpy as np
import srcjax

warnings.simplefilter("always")


def f(x):
    while x.shape and x.any():
        return float(str(x[0]))
    return 1.0


with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    print(srcjax.vmap(f)(np.ones((2, 3))))
print([str(w.message) for w in found])
try:
    srcjax.grad(lambda x: [x])(1.0)
except srcjax.errors.SrcjaxError as error:
    print(error)
"""


def test_warnings_and_refusals_are_given_each_time(tmp_path):
    first, second = (process(tmp_path, WARNS) for _ in range(2))
    assert "runs in a loop" in first
    assert first == second


ONE = """
import sys
import numpy as np
import srcjax


def f(x):
    return np.sin(x) * x


d = srcjax.grad(f)
print(d(0.7), "srcjax.pipeline" in sys.modules)
"""


def entries(folder):
    return sorted((folder / "kept").glob("*.text"))


@pytest.mark.parametrize(
    "harm", ["cut", "empty", "bit", "other", "writable", "foreign"]
)
def test_an_entry_that_is_broken_is_none(tmp_path, harm):
    value = process(tmp_path, ONE).split()[0]
    (entry,) = entries(tmp_path)
    assert entry.stat().st_mode & 0o777 == 0o600
    content = entry.read_bytes()
    if harm == "cut":
        entry.write_bytes(content[:-7])
    elif harm == "empty":
        entry.write_bytes(b"")
    elif harm == "bit":
        entry.write_bytes(content[:90] + bytes([content[90] ^ 1]) + content[91:])
    elif harm == "other":  # of another key
        key, kept = marshal.loads(content[32:])
        payload = marshal.dumps(("0" * 64, kept))
        entry.write_bytes(hashlib.sha256(payload).digest() + payload)
    elif harm == "foreign":  # what says to be an entry, and is none
        payload = marshal.dumps((entry.stem, {"text": "x"}))
        entry.write_bytes(hashlib.sha256(payload).digest() + payload)
    else:
        entry.chmod(0o666)
    assert process(tmp_path, ONE).split() == [value, "True"]
    if harm != "writable":
        assert process(tmp_path, ONE).split() == [value, "False"]


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path):
    process(tmp_path, ONE)
    (tmp_path / "kept").chmod(0o777)
    assert process(tmp_path, ONE).split()[1] == "True"


def test_it_can_be_turned_off(tmp_path):
    off = ONE.replace("d = ", "srcjax.config.keep_texts = False\nd = ")
    process(tmp_path, off)
    process(tmp_path, ONE, SRCJAX_KEEP_TEXTS="0")
    assert not entries(tmp_path)
    process(tmp_path, ONE)
    assert entries(tmp_path)
    assert process(tmp_path, off).split()[1] == "True"


def test_old_entries_go(tmp_path, monkeypatch):
    monkeypatch.setenv("SRCJAX_CACHE_DIR", str(tmp_path))
    tmp_path.chmod(0o700)
    monkeypatch.setattr(store, "MOST", 10)
    for k in range(11):
        store.write(f"{k:02}", {"k": k})
        os.utime(tmp_path / f"{k:02}.text", (k, k))
    assert len(list(tmp_path.glob("*.text"))) == 5
    assert store.read("10") == {"k": 10}
    assert store.read("00") is None


def test_processes_at_once(tmp_path):
    (tmp_path / "main.py").write_text(ONE)
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o700)
    variables = {"SRCJAX_CACHE_DIR": str(kept), "SRCJAX_KEEP_TEXTS": "1"}
    variables["PYTHONPATH"] = str(ROOT)
    running = [
        subprocess.Popen(
            [sys.executable, "main.py"],
            cwd=tmp_path,
            env=os.environ | variables,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    found = {each.communicate()[0].split()[0] for each in running}
    assert len(found) == 1
    assert len(entries(tmp_path)) == 1


def test_all_that_is_known_of_generated_functions_is_kept():
    known = Keeping(Described(), None)
    for kind in marks.TABLES:
        empty = {"kept": (frozenset(), frozenset()), "joined": {}}.get(kind, ())
        assert known.mark(kind, empty) is not None
    with pytest.raises(NotDescribed):
        known.mark("new", ())


def test_functions_of_one_generated_line_are_told_apart():
    text = "def make():\n    return (lambda z: z < 0.5), (lambda z: z > 0.5)\n"
    digests = set()
    for function in load(text, "made_in_one_line").make():
        described = Described()
        described.visit(function)
        digests.add(described.digest)
    assert len(digests) == 2
