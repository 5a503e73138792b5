"""What every pass asks of trees: the blocks of a statement, the root of a place."""

import ast
from pathlib import Path

import gast
import pytest

import srcjax
from srcjax import syntax

TRY = """\
try:
    a = 1
except b as c:
    d = 1
else:
    e = 1
finally:
    f = 1
"""
EVERY_KIND = {
    "if a:\n    b = 1\nelse:\n    c = 1\n": (["a"], ["b", "c"]),
    "for a in b:\n    c = 1\nelse:\n    d = 1\n": (["a", "b"], ["c", "d"]),
    "while a:\n    b = 1\n": (["a"], ["b"]),
    "with a as b:\n    c = 1\n": (["a", "b"], ["c"]),
    TRY: (["b", "c"], ["a", "d", "e", "f"]),
    "try:\n    a = 1\nfinally:\n    b = 1\n": ([], ["a", "b"]),
    "match a:\n    case 1 if b:\n        c = 1\n": (["a", "b"], ["c"]),
    "def a(b):\n    c = 1\n": (["a", "b", "c"], []),
    "a = b\n": (["a", "b"], []),
}


def first(text):
    return gast.parse(text).body[0]


def names(nodes):
    return sorted(syntax.all_names(nodes) - {"1"})


@pytest.mark.parametrize("text", EVERY_KIND)
def test_head_and_blocks_make_the_statement(text):
    head, inside = EVERY_KIND[text]
    stmt = first(text)
    assert names(syntax.head(stmt)) == head
    targets = [b[0].targets[0].id for b in syntax.inner_blocks(stmt)]
    assert targets == inside  # in the order of the text


@pytest.mark.parametrize("text", EVERY_KIND)
def test_blocks_are_rewritten_in_place_and_anew(text):
    stmt = first(text)
    inside = EVERY_KIND[text][1]
    new = syntax.rebuilt(stmt, lambda block: [*block, *block])
    assert [len(b) for b in syntax.inner_blocks(stmt)] == [1] * len(inside)
    assert [len(b) for b in syntax.inner_blocks(new)] == [2] * len(inside)
    syntax.rewrite_blocks(stmt, lambda block: [])
    compile(syntax.text(stmt), "emptied", "exec")
    assert all(isinstance(s, gast.Pass) for b in syntax.inner_blocks(stmt) for s in b)


def test_definitions_are_other_scopes():
    stmt = first("def f():\n    a = 1\n")
    assert not syntax.inner_blocks(stmt)
    assert len(syntax.inner_blocks(stmt, definitions=True)) == 1


@pytest.mark.parametrize(
    ("place", "root"),
    [("x", "x"), ("x[i]", "x"), ("x.part[i].real", "x"), ("f(x)[0]", ""), ("1", "")],
)
def test_root_of_a_place(place, root):
    assert syntax.root_of(syntax.expression(place)) == root


def test_root_of_a_place_in_a_result():
    place = syntax.expression("x.ravel()[0]")
    assert syntax.root_of(place, lambda call: call.func) == "x"


def test_no_pass_lists_the_blocks_of_statements_by_itself():
    """A new kind of statement would have to be added to each of the lists."""
    fields = {"body", "orelse", "finalbody", "handlers", "cases"}
    root = Path(srcjax.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
                values = {e.value for e in node.elts if isinstance(e, ast.Constant)}
                assert len(values & fields) < 2 or path.name == "syntax.py", path


def test_what_stands_twice_is_seen():
    node = syntax.expression("a + b")
    node.right = node.left
    assert syntax.shared_nodes(node) == [node.left]
    syntax.set_apart(node)
    assert syntax.shared_nodes(node) == [] and syntax.text(node) == "a + a"
