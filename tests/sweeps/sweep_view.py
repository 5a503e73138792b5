"""Views of programs of the corpus: both texts are there, line by line, and the run."""

import json

import pytest

import srcjax
from tests.corpus import scalar_programs
from tests.sweeps.sweep_trace import along
from tests.view.test_show import Reader

#: One in so many.
APART = 10
PROGRAMS = scalar_programs()[1::APART]


@pytest.mark.parametrize("mode", ["grad", "jvp"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_both_sides(program, mode):
    if mode == "grad":
        df, args = srcjax.grad(program.function, program.argnums), program.args()
    else:
        df, args = srcjax.jvp(program.function), (program.args(), along(program))
    view = srcjax.show(df, *args)
    html = view.html()
    reader = Reader()
    reader.feed(html)
    assert reader.open == [] and len(html.encode()) < 200_000
    right = [v for k, v in reader.lines.items() if k.startswith("R")]
    assert right == str(view.text).splitlines()
    for k, shown in enumerate(view.sides.shown):
        for number, text in shown.lines.items():
            assert reader.lines[f"L{k}.{number}"] == text
    data = json.loads(reader.data)
    assert data["steps"]
    for first, _, execution, left, users, *_ in data["steps"]:
        assert execution < data["values"][f"R{first}"][1]
        assert not left or left in reader.lines
        assert users < 0 or users < data["values"][left][1]
    names = {name for name, _ in reader.names}
    assert all(of is None or of in names for _, of in reader.names)
