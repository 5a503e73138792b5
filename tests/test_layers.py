"""Imports between the rooms of srcjax go one way, from the tools to what users call."""

import ast
from pathlib import Path

import pytest

import srcjax
from srcjax.analysis import references
from srcjax.analysis.references import Reference

ROOT = Path(srcjax.__file__).parent

# Each room may import from those above it, and from its own. Longer names win:
# `ops.record` is not `ops`.
ORDER = [
    ("process",),
    ("errors", "late", "syntax"),
    ("analysis.flow",),  # how control and values go through statements: names alone
    ("_generated",),
    ("backends.tracebacks",),  # what of errors users see
    # Runs a text as a module, what is known of it, and threads: need nothing.
    ("backends.load", "backends.marks", "backends.threads"),
    (
        "frontend.stage_texts",
        "analysis.custom",
        "analysis.kept",
        "analysis.references",
        "analysis.registered",  # classes that users made nodes of trees
        "analysis.sizes",
        "analysis.standard",
        "analysis.structural",
    ),
    ("analysis.arrays",),  # the arrays that programs written for JAX have
    ("analysis.plain",),  # which values are numbers and arrays
    ("analysis.types",),  # what every other room speaks of
    ("ops.patched",),  # whether functions are the libraries' own
    ("ops.record",),
    ("ops.helpers",),  # what follows from the text of a helper of the runtime
    # What inference asks of operations.
    ("ops.known", "ops.carry_nothing", "ops.library_writes"),
    ("ops.infer_rules",),
    ("ops.random_numbers",),
    ("frontend",),
    ("analysis",),
    ("runtime",),  # what generated code calls: NumPy, and nothing of srcjax
    ("parallel",),  # devices, and how they meet: NumPy, MPI
    ("random",),  # for users; its operations have records as others have
    ("ops",),
    ("transforms",),
    ("backends",),
    ("pipeline",),
    ("compiling",),  # what `jit` does after the pipeline
    ("beside",),
    ("checks",),  # what a derivative is compared with when it is run
    ("versions",),
    ("api",),
    ("distributed",),
    ("jaxprs",),  # core form in JAX's notation
    ("teaching",),  # tools to read, step through and teach with what was written
    ("view",),  # a function and its derivative, to be stepped through
    # The library that users import, written as plain NumPy; what it knows of the rooms
    # above is how to say of functions what they are.
    ("numpy", "debug", "typing", "dtypes"),
    ("__init__",),
    ("made",),  # names by which what transforms made is unpickled
    ("tree",),
    ("tree_util",),
    ("flatten_util",),
    ("lax",),
    ("custom_batching", "checkpoint_policies", "ad_checkpoint"),
    ("scipy",),  # SciPy's, and solvers that `lax` has the derivatives for
    ("experimental",),
    ("nn",),
    ("image",),
    ("optim",),
    ("example_libraries",),
    ("testing",),  # a user of the library, as the rooms below
    ("test_util",),
    ("demo",),
    ("cli",),
    ("__main__",),
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


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
    """Modules of srcjax that are imported: inside functions too, and for types alone.

    An import that runs late still is a need. What a room says to those that stand on
    it goes by `analysis.references`, and by what they hand to it.
    """
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
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
    assert not wrong, f"imports against the order: {sorted(wrong)}"


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


#: Transforms stand side by side on what they share.
SIDE_BY_SIDE = ("forward", "reverse", "batch")


def test_transforms_do_not_import_each_other():
    """What two of them need is in `transforms` itself."""
    for module, path in MODULES.items():
        if room_of(module) != "transforms":
            continue
        for other in imports_of(path):
            room, _, rest = other.partition(".")
            part = rest.partition(".")[0]
            if room == "transforms" and part in SIDE_BY_SIDE:
                assert module.split(".")[1:2] == [part], f"{module} imports {other}"


def test_runtime_imports_nothing_of_srcjax():
    """Exported modules copy what they need of it."""
    for name, path in MODULES.items():
        if room_of(name) == "runtime":
            assert all(room_of(other) == "runtime" for other in imports_of(path))


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import srcjax.api.reverse\n",
        "def f():\n    from srcjax.api.reverse import vjp\n",
        "class A:\n    def f(self):\n        from srcjax.api import reverse\n",
        "if TYPE_CHECKING:\n    from srcjax.api.reverse import vjp\n",
    ],
)
def test_every_import_counts(tmp_path, text):
    path = tmp_path / "some.py"
    path.write_text(f"import srcjax.errors\n{text}")
    assert imports_of(path) == {"errors", "api.reverse"}


def literals(path: Path) -> set[str]:
    """Modules of srcjax that are named by strings in code: a way to import them too.

    `"scipy.special"` is SciPy's own.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    values = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    texts = {v for v in values if isinstance(v, str) and not v.startswith("scipy.")}
    names = {v.removeprefix("srcjax.") for v in texts}
    return {n for n in names if "." in n and n in MODULES}


#: Modules that may name those above them by strings, and why.
NAMED = {
    "analysis.references": "what generated code calls of the API",
    "backends.module": "where functions are that users import from `srcjax` itself",
}


def test_modules_above_are_named_where_it_is_said():
    found = set()
    for name, path in MODULES.items():
        level = LEVEL[room_of(name)]
        if any(LEVEL[room_of(n)] > level for n in literals(path)):
            found.add(name)
    assert found == NAMED.keys()


def test_references_lead_somewhere():
    found = [r for r in vars(references).values() if isinstance(r, Reference)]
    assert found
    for reference in found:
        assert reference.value.__name__ == reference.name
        assert reference.value.__module__ == reference.module
