"""No pass decides by the spelling of a name that a user may have chosen.

What a call does, what memory it gives and whose name a name is are facts: of the object
that is called (`transforms.call_effects`), of inference, of what a writer noted down.
"""

import ast
from pathlib import Path

import numpy as np
import pytest

import srcjax

ROOT = Path(srcjax.__file__).parent
FILES = {
    str(path.relative_to(ROOT)): path
    for room in ("transforms", "analysis")
    for path in sorted((ROOT / room).rglob("*.py"))
}
#: Tests of beginnings and ends that are no guess about a user's name: file -> how many.
ALLOWED = {
    # `@before`: names that the writer makes for old values, which are no identifiers
    "transforms/reverse/saving.py": 1,
    "transforms/reverse/pairs.py": 1,
    "transforms/reverse/planning.py": 1,
    # the module of a class or function object
    "analysis/calls.py": 1,
    "analysis/standard.py": 2,
    "analysis/unfollowed.py": 1,
    # the text of a number; the star of `*operands` in a record of ours
    "transforms/algebra.py": 1,
    "transforms/forward/rule_templates.py": 1,
    # the module of a function that was found to be called
    "transforms/batch/operations.py": 1,
    # names of attributes as `Unit.varying` keeps them, with a dot
    "analysis/program.py": 1,
    # what facts call the methods of containers: `dict.pop`
    "transforms/reverse/container_rules.py": 1,
    # names that were resolved first (`called`), or that rules of ours are written with
    "transforms/rule_text.py": 4,
    "transforms/fresh.py": 2,
    "transforms/forward/tangents.py": 1,
    "transforms/simplify/nest.py": 1,
    "transforms/simplify/plain.py": 1,
    "analysis/counts.py": 1,
}
#: Tables of names of methods, by file, and what their names are compared with.
TABLES = {
    # the methods of a list or dict whose type is known
    "transforms/forward/calls.py": 2,
    "transforms/settle/loops.py": 4,
    "transforms/dissolve.py": 1,
    "transforms/batch/operations.py": 2,
    "transforms/kernels/known.py": 1,
    # a loop over what has no type yet (`for k, v in d.items()`): the text checks it
    "transforms/iterables.py": 1,
    # names of operations that were found to be called
    "transforms/reverse/views.py": 1,
    # more containers than there are: nothing is taken for unchanged
    "transforms/reads_writes.py": 1,
    # methods that are not NumPy's: which memory they give is open
    "transforms/fresh.py": 1,
    "transforms/simplify/restored.py": 1,  # calls that the backward sweep makes
}
#: What tells a table of methods from other tables of words.
_METHODS = {
    name
    for cls in (list, dict, set, np.ndarray)
    for name, value in vars(cls).items()
    if callable(value) and not name.startswith("_")
} - {"any", "all", "max", "min", "round", "sum", "copy", "count", "index"}


def parsed(file: str) -> ast.Module:
    return ast.parse(FILES[file].read_text(encoding="utf-8"))


def ends_of_names(tree: ast.AST) -> list[int]:
    """The lines that ask how a string begins or ends."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("startswith", "endswith")
    ]


def tables_of_methods(tree: ast.AST) -> list[int]:
    """The lines of displays, or texts, that name several methods."""
    found: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            items = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            items = node.elts
        else:
            continue
        words = {getattr(item, "value", None) for item in items}
        if len([w for w in words if isinstance(w, str) and w in _METHODS]) > 1:
            found.append(node.lineno)
    return found


@pytest.mark.parametrize("file", FILES)
def test_no_name_is_judged_by_its_ends(file):
    lines = ends_of_names(parsed(file))
    assert len(lines) <= ALLOWED.get(file, 0), f"{file}: lines {lines}"


@pytest.mark.parametrize("file", FILES)
def test_no_method_is_judged_by_its_name(file):
    lines = tables_of_methods(parsed(file))
    assert len(lines) <= TABLES.get(file, 0), f"{file}: lines {lines}"


def test_what_is_allowed_is_there():
    for file, count in ALLOWED.items():
        assert len(ends_of_names(parsed(file))) == count, file
    for file, count in TABLES.items():
        assert len(tables_of_methods(parsed(file))) == count, file


def test_the_judge_sees_both():
    tree = ast.parse("_A = ('append', 'pop')\nif name.startswith('d'): pass")
    assert ends_of_names(tree) == [2]
    assert tables_of_methods(tree) == [1]
