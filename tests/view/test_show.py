"""`show`: what stands in a view, without a browser."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import srcjax
from srcjax.errors import ArgumentError
from srcjax.teaching.showing import shown
from srcjax.view.tapes import tapes_of


def predict(params, inputs):
    for W, b in params:
        outputs = inputs @ W + b
        inputs = np.tanh(outputs)
    return outputs


def loss(params, x, y):
    """Mean squared error."""
    error = predict(params, x) - y  # residual
    return np.mean(error**2)


def simulate(k, n):
    x, v = 1.0, 0.0
    for i in range(n):
        a = -k * x
        if x > 0.5:
            a = a * 0.5
        v = v + 0.1 * a
        x = x + 0.1 * v * np.cos(x) + i
    return x * x


def branch(x):
    if x > 0:  # noqa: SIM108
        y = x * x
    else:
        y = -x
    return np.sin(y) * y


def logistic(w, x):
    z = np.dot(w, x)
    return 1 / (1 + np.exp(-z))


def writes(x):
    x[0] = 2.0
    return np.sum(x * x)


RNG = np.random.default_rng(0)
PARAMS = [(RNG.normal(size=(3, 4)), np.zeros(4)), (RNG.normal(size=(4, 2)), np.ones(2))]
BATCH = RNG.normal(size=(5, 3)), np.zeros((5, 2))
W, X = np.array([0.5, -1.0, 2.0]), np.array([1.0, 2.0, 3.0])

VIEWS = {
    "mlp": (srcjax.grad(loss), (PARAMS, *BATCH)),
    "tape": (srcjax.grad(simulate), (0.8, 5)),
    "branch": (srcjax.value_and_grad(branch), (0.5,)),
    "vjp": (srcjax.vjp(loss), (PARAMS, *BATCH)),
    "jvp": (srcjax.jvp(simulate), ((0.8, 3), (1.0, None))),
    "vmap": (srcjax.vmap(logistic, (None, 0)), (W, BATCH[0])),
    "vmap of grad": (srcjax.vmap(srcjax.grad(branch)), (X,)),
    "hessian": (srcjax.hessian(logistic), (W, X)),
    "jit": (srcjax.jit(logistic), (W, X)),
    "vectorize": (srcjax.vectorize(branch), (X,)),
}


class Reader(HTMLParser):
    """Checks that tags nest, and collects what lines say and what marks they have."""

    VOID = ("input", "meta")

    def __init__(self):
        super().__init__()
        self.open = []
        self.lines = {}
        self.marks = {}
        self.names = {}
        self.styles = self.script = self.data = ""

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in self.VOID:
            return
        kind = (attrs.get("class") or "").split()
        self.open.append((tag, kind))
        if "l" in kind:
            self.key = attrs["data-k"]
            self.lines[self.key], self.marks[self.key] = "", (kind, attrs)
        if "data-n" in attrs:
            self.name = attrs["data-n"], attrs.get("data-of")

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        kinds = [k for _, kind in self.open for k in kind]
        tag = self.open[-1][0] if self.open else ""
        if "c" in kinds:
            self.lines[self.key] += data
            if tag == "i" and self.name:
                self.names.setdefault(self.name, []).append((self.key, data))
        elif tag == "script":
            if "data" in kinds:
                self.data += data
            else:
                self.script += data
        self.name = None


@pytest.fixture(scope="module")
def views():
    known = {}

    def find(name):
        if name not in known:
            df, args = VIEWS[name]
            view = srcjax.show(df, *args)
            reader = Reader()
            reader.feed(view.html())
            assert reader.open == []
            known[name] = view, reader
        return known[name]

    return find


def line_of(reader, text, side="R"):
    """The key of the only line with a text."""
    (found,) = (
        k for k, v in reader.lines.items() if v.strip() == text and k.startswith(side)
    )
    return found


@pytest.mark.parametrize("name", VIEWS)
def test_every_mode(views, name):
    view, reader = views(name)
    right = [v for k, v in reader.lines.items() if k.startswith("R")]
    assert right == str(view.text).splitlines()
    left = [v for k, v in reader.lines.items() if k.startswith("L")]
    assert left and left[0].startswith("def ")
    html = view.html()
    assert len(html.encode()) < 100_000
    assert "http" not in html and "<link" not in html and "/tests/" not in html
    data = json.loads(reader.data)
    families = {m["data-f"] for _, m in reader.marks.values() if "data-f" in m}
    assert families and families == set(data["rules"])
    sides = [{k[0] for k, (_, m) in reader.marks.items() if m.get("data-f") == f}
             for f in families]  # fmt: skip
    assert all(side == {"L", "R"} for side in sides)
    assert data["steps"] and data["values"]
    for first, last, execution, left, users, _, done in data["steps"]:
        assert f"R{first}" in reader.lines and first <= last
        assert not left or left in reader.lines
        assert execution < data["values"][f"R{first}"][1]
        assert users < 0 or users < data["values"][left][1]
        assert done >= 1


def test_the_style_is_of_the_view_alone(views):
    style = views("mlp")[0].html().partition("<style>")[2].partition("</style>")[0]
    rules = re.findall(r"([^{}]+){[^{}]*}", style)
    assert all(".srcjax-show" in r or r.lstrip().startswith("@") for r in rules)


def test_functions_that_are_called_stand_below(views):
    view, reader = views("mlp")
    assert [s.name for s in view.sides.shown] == ["loss", "predict"]
    assert reader.lines[line_of(reader, "error = predict(params, x) - y  # residual",
                                "L0")]  # fmt: skip
    line = view.sides.shown[1].first
    assert reader.lines[f"L1.{line}"] == "def predict(params, inputs):"


def test_sweeps_and_tapes(views):
    view, reader = views("tape")
    kinds = {k: kind for k, (kind, _) in reader.marks.items()}
    assert "fw" in kinds[line_of(reader, "x, v = 1.0, 0.0")]
    assert "bw" in kinds[line_of(reader, "# return x * x")]
    assert "bw" in kinds[line_of(reader, "return dk")]
    assert not {"fw", "bw"} & set(kinds["R1"])
    (tape,) = tapes_of(view.sides)
    rows = [view.sides.rows[n - 1].text for n in (*tape.pushes, *tape.pops)]
    assert "append(" in rows[0] and "in reversed(tape):" in rows[-1]
    (one,) = tapes_of(views("mlp")[0].sides)  # through two functions
    texts = [views("mlp")[0].sides.rows[n - 1].text for n in (*one.pushes, *one.pops)]
    assert "append(" in texts[0] and "pop()" in texts[-1]
    functions = [views("mlp")[0].sides.rows[n - 1].function for n in one.pushes]
    assert functions == ["predict_forward"]
    assert {views("mlp")[0].sides.rows[n - 1].function for n in one.pops} == {
        "predict_backward"
    }


def test_tangents_have_an_edge(views):
    _, reader = views("jvp")
    kinds = [kind for kind, _ in reader.marks.values()]
    assert any("tg" in k for k in kinds) and not any("bw" in k for k in kinds)


def test_names_and_their_adjoints(views):
    _, reader = views("tape")
    of = {(data, key[0]): name for name, uses in reader.names.items()
          for key, data in uses}  # fmt: skip
    x = of["x", "L"]
    assert of["x", "R"] == x and x[1] is None
    assert of["dx", "R"][1] == x[0]
    assert of["dk", "R"][1] == of["k", "L"][0]
    assert ("np", "L") not in of and ("range", "L") not in of


def test_the_rules_of_a_line(views):
    _, reader = views("branch")
    family = reader.marks[line_of(reader, "return np.sin(y) * y", "L")][1]["data-f"]
    where, *rules = json.loads(reader.data)["rules"][family]
    assert re.fullmatch(r"line \d+ of branch", where)
    assert "product rule" in rules[0] and "d sin(u) = cos(u) du" in rules[0]
    key = line_of(reader, "# y = x * x")
    below = f"R{int(key[1:]) + 1}"
    assert "product rule" in json.loads(reader.data)["said"][below]


def test_the_run(views):
    view, reader = views("tape")
    data = json.loads(reader.data)
    x, v, values = 1.0, 0.0, []
    for i in range(5):
        a = -0.8 * x * (0.5 if x > 0.5 else 1.0)
        v = v + 0.1 * a
        x = x + 0.1 * v * np.cos(x) + i
        values.append(shown(x))
    key = line_of(reader, "x = x + 0.1 * v * np.cos(x) + i", "L")
    assert data["values"][key][1:] == [5, {"x": values}]
    df, args = VIEWS["tape"]
    assert view.run.result == shown(df(*args))
    # the backward sweep goes through the iterations from the last one on
    users = [s[4] for s in data["steps"] if s[3] == key]
    assert users[-1] == 0 and users[: len(users) // 2] != sorted(users)[::-1]
    assert users[len(users) // 2 :] == sorted(users[len(users) // 2 :])[::-1]


def test_examples_of_a_batch_are_columns(views):
    view, reader = views("vmap")
    key = line_of(reader, "z = np.dot(w, x)", "L")
    found = json.loads(reader.data)["values"][key][2]["z"]
    assert found == [f"{W @ x:.4g}" for x in BATCH[0]]
    assert "examples of the batch" in view.html()


def test_kernels_are_stepped_through(views):
    view, _ = views("jit")
    functions = {view.sides.rows[m.line - 1].function for m in view.run.moments}
    assert len(functions) == (2 if "kernel" in view.text else 1)


def test_a_long_run_is_cut():
    view = srcjax.show(srcjax.grad(simulate), 0.8, 100)
    assert len(view.run.moments) == 400 < view.run.count
    assert len(view.html()) < 120_000


def test_nothing_is_written_to():
    x = np.array([1.0, 2.0])
    srcjax.show(srcjax.grad(writes), x)
    assert x.tolist() == [1.0, 2.0]


def test_without_arguments_there_is_no_run():
    for view in (
        srcjax.show(srcjax.grad(simulate)),
        srcjax.show(srcjax.grad(logistic), w="n", x="n"),
    ):
        assert view.run is None and '"steps":' not in view.html()
        assert view.stages and view.sides.rows


def test_stages(views):
    view, _ = views("mlp")
    names = [stage.name for stage in view.stages]
    assert names[:4] == ["read", "check", "normalise", "infer"] and names[-1] == (
        "simplify"
    )
    passes = [stage for stage in view.stages if ": " in stage.name]
    assert passes
    for stage in passes:
        assert {mark for mark, _ in stage.lines} & {"+", "-"}


def test_without_pygments(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygments.lexers", None)
    reader = Reader()
    view = srcjax.show(srcjax.grad(branch), 0.5)
    reader.feed(view.html())
    right = [v for k, v in reader.lines.items() if k.startswith("R")]
    assert right == str(view.text).splitlines() and reader.names


def test_it_is_the_same_character_for_character():
    first, again = (srcjax.show(srcjax.grad(branch), 0.5).html() for _ in range(2))
    assert first == again


def test_a_page(tmp_path):
    view = srcjax.show(srcjax.grad(branch), 0.5)
    view.save(tmp_path / "out.html")
    text = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>") and view.html() in text
    assert view._repr_html_() == view.html() and "def grad_branch" in repr(view)


def test_lambdas_and_second_derivatives():
    view = srcjax.show(srcjax.hessian(lambda x: np.sum(x**3)), X)
    assert [s.name for s in view.sides.shown] == ["your function"]
    assert any(row.family is not None for row in view.sides.rows)
    assert "steps" in view.html()


def turning(x, n):
    for _ in range(n):
        x = np.tanh(x)
    return np.sum(x**2)


@pytest.mark.parametrize("batched", [True, False])
def test_what_is_made_of_a_gradient_has_its_sweeps(batched):
    made = srcjax.vmap(srcjax.grad(turning), (0, None))
    df = made if batched else srcjax.hessian(turning)
    rows = srcjax.show(df, np.ones((2, 2)) if batched else X, 2).sides.rows
    name = next(row.function for row in rows if row.sweep)
    rows = [r for r in rows if r.function == name and r.statement is not None]
    sweeps = [row.sweep for row in rows if row.sweep]
    assert sweeps == sorted(sweeps, reverse=True) and set(sweeps) == {
        "forward",
        "backward",
    }
    turned = next(row for row in rows if row.sweep == "backward")
    assert turned.text.split(" = ")[0].strip() in ("dx", "dx_dot"), turned.text
    assert rows[-1].text.split()[0] == "return" and rows[-1].sweep == "backward"


def test_what_a_return_took_in_has_a_line():
    def product(p):
        return p["a"] * p["b"] ** 2

    view = srcjax.show(srcjax.grad(product), {"a": 1.0, "b": 2.0})
    (last,) = (r for r in view.sides.rows if r.text.startswith("    return"))
    assert last.family is not None


def test_what_is_refused():
    with pytest.raises(ArgumentError, match="was not made by srcjax"):
        srcjax.show(branch, 1.0)
    with pytest.raises(ArgumentError, match="too many"):
        srcjax.show(srcjax.grad(branch), 1.0, 2.0)
    with pytest.raises(ArgumentError, match="jvp_simulate"):
        srcjax.show(srcjax.jvp(simulate), 1.0)
    with pytest.raises(ArgumentError, match="no dimension"):
        srcjax.show(srcjax.vectorize(branch), 1.0)
