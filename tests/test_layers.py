"""Imports between the rooms of srcjax go one way, from the tools to what users call."""

import ast
from pathlib import Path

import pytest

import srcjax

ROOT = Path(srcjax.__file__).parent

# Each room may import from those above it, and from its own. Longer names win:
# `ops.record` is not `ops`.
ORDER = [
    ("errors", "syntax", "custom", "stage_texts", "garbage"),
    ("analysis.types",),  # what every other room speaks of
    ("ops.record",),
    ("frontend",),
    ("analysis",),
    ("runtime",),  # what generated code calls: NumPy, and nothing of srcjax
    ("ops",),
    ("transforms",),
    ("_generated",),
    ("backends",),
    ("tree",),
    ("module",),
    ("assembling",),
    ("pipeline",),
    ("joining",),
    ("show",),
    ("dispatch",),
    ("callables",),
    ("linear_map", "batch_orders"),
    ("api", "forward_mode", "batch_mode"),
    ("jacobian_texts", "unknown_functions"),
    ("jacobians", "vectorized"),
    ("testing",),
    ("__init__",),
    ("demo",),
    ("cli",),
    ("__main__",),
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}

# Imports that go the wrong way and are to be turned round: (module, imported).
NOT_YET = {
    # Rules of shape and dtype that inference looks up while it runs.
    ("analysis.infer", "ops.infer_rules"),
}


def module_name(path: Path) -> str:
    """`transforms.reverse.entry` for its file; a package by its `__init__`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if len(parts) > 1 and parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def room_of(module: str) -> str:
    """The longest name in ORDER that the module belongs to."""
    parts = module.split(".")
    for count in range(len(parts), 0, -1):
        room = ".".join(parts[:count])
        if room in LEVEL:
            return room
    raise AssertionError(f"srcjax.{module} has no place in ORDER")


def imports_of(path: Path) -> set[str]:
    """Modules of srcjax that are imported when the file is: not inside functions."""
    found = set()
    todo: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        todo.extend(ast.iter_child_nodes(node))
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = absolute(node, path)
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {inside(name) for name in names if name.split(".")[0] == "srcjax"}
    return found


def absolute(node: ast.ImportFrom, path: Path) -> str:
    """The module that `from ... import` names, in full."""
    if not node.level:
        return node.module or ""
    package = ("srcjax", *path.relative_to(ROOT).parts)[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def inside(name: str) -> str:
    """The module that an import of `srcjax.ops.record.adjoint` runs: `ops.record`."""
    parts = name.split(".")[1:]
    for count in range(len(parts), 0, -1):
        module = ".".join(parts[:count])
        if module in MODULES:
            return module
    return "__init__"


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_one_way(module):
    level = LEVEL[room_of(module)]
    wrong = {
        (module, other)
        for other in imports_of(MODULES[module])
        if LEVEL[room_of(other)] > level
        or (LEVEL[room_of(other)] == level and room_of(other) != room_of(module))
    }
    assert wrong <= NOT_YET, f"imports against the order: {sorted(wrong - NOT_YET)}"


def test_no_cycles():
    """No module needs itself to be imported, within a room either."""
    needs = {module: imports_of(path) for module, path in MODULES.items()}
    done: set[str] = set()

    def visit(module: str, above: tuple[str, ...]) -> None:
        assert module not in above, " -> ".join((*above, module))
        if module not in done:
            for other in sorted(needs[module]):
                visit(other, (*above, module))
            done.add(module)

    for module in needs:
        visit(module, ())


def test_runtime_imports_nothing_of_srcjax():
    """Exported modules copy what they need of it."""
    for name, path in MODULES.items():
        if room_of(name) == "runtime":
            assert all(room_of(other) == "runtime" for other in imports_of(path))


def test_imports_inside_functions_do_not_count(tmp_path):
    path = tmp_path / "some.py"
    path.write_text("import srcjax.errors\ndef f():\n    import srcjax.api\n")
    assert imports_of(path) == {"errors"}
