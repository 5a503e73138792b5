"""What it takes until the first derivative is there, beside JAX's trace and compile."""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import srcjax

from .peers import JAX_JIT, available, the_jax
from .timing import CLOCK, ratio, seconds, spell, table

X = np.linspace(0.1, 0.5, 5)


def straight(count: int) -> str:
    """A function in which each value is used twice for the next."""
    steps = "".join(f"    a{i + 1} = np.sin(a{i}) * a{i}\n" for i in range(count))
    return f"import numpy as np\n\n\ndef f(a0):\n{steps}    return np.sum(a{count})\n"


#: Statements of `mixed`: each has the value before it, and that before that one.
MIXED = [
    "np.sin({a}) + 0.2 * {a}",
    "0.5 * {a} * {b} + 0.25",
    "np.tanh({a}) - {b}",
    "np.exp(-{a} * {a}) + {b}",
]


def mixed(count: int) -> str:
    """A function of several kinds of statements; XLA compiles its gradient."""
    steps = "".join(
        f"    a{i + 1} = {MIXED[i % 4].format(a=f'a{i}', b=f'a{max(i - 1, 0)}')}\n"
        for i in range(count)
    )
    return f"import numpy as np\n\n\ndef f(a0):\n{steps}    return np.sum(a{count})\n"


def module(text: str, folder: str, name: str) -> ModuleType:
    """The module of a file with this text: a new one, which nothing knows yet."""
    path = Path(folder) / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[name] = made
    spec.loader.exec_module(made)
    return made


def number(count: int) -> str:
    """A function of one number."""
    lines = "    y = np.sin(x) * x\n" * count
    text = "import numpy as np\n\n\ndef f(x):\n"
    return f"{text}{lines}    return np.exp(-y * y) / (1.0 + x * x)\n"


def third(transforms: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    """The gradient of the sum of a product with the Hessian."""

    def product(x: Any) -> Any:
        return transforms.jvp(transforms.grad(f), (x,), (x,))[1].sum()

    return transforms.grad(product)


def transformed(transforms: Any, name: str, f: Callable[..., Any]) -> Callable:
    """The derivative of a row of the table."""
    arrays = np if transforms is srcjax else transforms.numpy
    if name == "grad":
        return transforms.grad(f)
    if name == "jvp":
        return lambda x: transforms.jvp(f, (x,), (x,))[1]
    if name == "vmap":
        return lambda x: transforms.vmap(f)(arrays.stack([x, x]))
    if name == "grad of grad":
        return transforms.grad(lambda x: transforms.grad(f)(x).sum())
    if name == "grad thrice":
        return transforms.grad(transforms.grad(transforms.grad(f)))
    if name == "hvp":
        return lambda x: transforms.jvp(transforms.grad(f), (x,), (x,))[1]
    if name == "vmap of grad":
        return lambda x: transforms.vmap(transforms.grad(f))(arrays.stack([x, x]))
    return third(transforms, f)


#: Derivative, program and number of statements.
ROWS = [
    ("grad", straight, 50),
    ("grad", mixed, 50),
    ("hvp", straight, 40),
    ("vmap of grad", straight, 40),
    ("third order", straight, 3),
    ("grad thrice", number, 1),
    ("grad", mixed, 500),
    ("third order", straight, 30),
]
#: How many of them are printed by `--quick`.
QUICK = 6


def firsts(quick: bool = False) -> str:
    """The first call of each derivative."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, program, count in ROWS[: QUICK if quick else None]:
            text = program(count)
            label = f"{program.__name__}_{name.replace(' ', '_')}_{count}"
            x = 0.3 if program is number else X
            warm = module(program(1), folder, f"{label}_warm").f  # done once: imports
            transformed(srcjax, name, warm)(x)
            jax_first(name, program(1), folder, f"{label}_jax_warm", x)
            f = module(text, folder, label).f
            ours = seconds(lambda f=f, n=name, x=x: transformed(srcjax, n, f)(x))
            traced, compiled = jax_first(name, text, folder, f"{label}_jax", x)
            both = None if compiled is None else traced + compiled
            times = [spell(t) for t in (ours, traced, compiled)]
            shown = [name, f"{program.__name__} {count}", *times, ratio(ours, both)]
            rows.append(shown)
    head = ["derivative", "program", "srcjax", "JAX, trace", "XLA", "ratio to both"]
    return table(head, rows)


def growth(quick: bool = False) -> str:
    """The first call by the length of the function: ten times as long, ten times."""
    names = ["grad", "jvp", "vmap", "vmap of grad", "hvp", "grad of grad"]
    lengths = (10, 40) if quick else (40, 400)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            times = []
            for count in (5, *lengths):  # the first one for what is done once
                label = f"growth_{name.replace(' ', '_')}_{count}"
                f = module(straight(count), folder, label).f
                call = transformed(srcjax, name, f)
                times.append(seconds(lambda call=call: call(X)))
            rows.append([name, *map(spell, times[1:]), ratio(times[2], times[1])])
    return table(["derivative", *(f"{n} statements" for n in lengths), "ratio"], rows)


#: Functions of other people's packages: a module, an expression, and arguments.
FUNCTIONS = [
    ("fluids.friction", "friction_factor", (1e5, 1e-4)),
    ("chemicals.iapws", "iapws95_Psat", (400.0,)),
    ("chemicals.iapws", "iapws97_rho", (300.0, 1e6)),
    ("chemicals.rachford_rice", "flash_inner_loop", ([0.5, 0.3, 0.2], [1.7, 0.7, 0.5])),
    ("ht.hx", "NTU_from_effectiveness", (0.6, 0.7)),
]


def of_packages(quick: bool = False) -> str:
    """The first gradient of functions of packages, of those that are installed."""
    rows = []
    for home, name, args in FUNCTIONS[: 2 if quick else None]:
        if importlib.util.find_spec(home.split(".")[0]) is None:
            continue
        f = getattr(importlib.import_module(home), name)
        call = srcjax.vjp if name == "flash_inner_loop" else srcjax.value_and_grad(f)
        given = (f, *args) if call is srcjax.vjp else args
        rows.append([f"{home}.{name}", spell(seconds(lambda: call(*given)))])  # noqa: B023
    return table(["function", "srcjax"], rows)


def jax_first(
    name: str, text: str, folder: str, label: str, x: Any
) -> tuple[Any, float | None]:
    """The times of JAX's trace, and of XLA's compiler with the first call.

    None without JAX; None for the latter where the compiler fails.
    """
    if not available(JAX_JIT):
        return None, None
    jax = the_jax()
    text = text.replace("import numpy as np", "import jax.numpy as np")
    f = module(text, folder, label).f
    x = jax.numpy.asarray(x)
    derivative = jax.jit(transformed(jax, name, f))
    found: list[Any] = []
    traced = seconds(lambda: found.append(derivative.lower(x)))
    try:
        return traced, seconds(
            lambda: jax.block_until_ready(found[0].compile()(x)),
        )
    except RuntimeError:  # of its compiler
        return traced, None


def of_processes() -> float:
    """The time, or that of the CPU for other processes."""
    if CLOCK["clock"] is time.perf_counter:
        return time.perf_counter()
    spent = os.times()
    return spent.children_user + spent.children_system


def starts(quick: bool = False) -> str:
    """What a new process takes, the best of some.

    With bytecode at hand, as pip leaves it for all packages: where this process keeps
    none, the sources of srcjax would be compiled each time, and no one else's.
    """
    peers = ["srcjax", *(["jax"] if available(JAX_JIT) else [])]
    codes = {f"import {name}": f"import {name}" for name in ["numpy", *peers]}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in peers:
            text = straight(2)
            if name == "jax":
                text = text.replace("import numpy as np", "import jax.numpy as np")
            (Path(folder) / f"of_{name}.py").write_text(text, encoding="utf-8")
            codes[f"from {name} import grad"] = f"import numpy; from {name} import grad"
            codes[f"import {name}, first gradient"] = (
                f"import sys; sys.path.insert(0, {folder!r}); import numpy, {name}\n"
                f"import of_{name}; {name}.grad(of_{name}.f)(numpy.ones(5))"
            )
        kept = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode")}
        kept.pop("PYTHONDONTWRITEBYTECODE", None)
        for code in codes.values():  # which is made here
            subprocess.run([sys.executable, "-c", code], check=True, env=kept)
        for name, code in codes.items():
            command = [sys.executable, "-c", code]
            times = []
            for _ in range(2 if quick else 7):
                begun = of_processes()
                subprocess.run(command, check=True, env=kept)
                times.append(of_processes() - begun)
            rows.append([name, spell(min(times))])
    return table(["a new process", "time"], rows)
