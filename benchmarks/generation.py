"""What it takes until the first derivative is there, beside JAX's trace and compile."""

from __future__ import annotations

import importlib.util
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
from .timing import ratio, seconds, spell, table

X = np.linspace(0.1, 0.5, 5)


def straight(count: int) -> str:
    """A function in which each value is used twice for the next."""
    steps = "".join(f"    a{i + 1} = np.sin(a{i}) * a{i}\n" for i in range(count))
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
    if name == "hvp":
        return lambda x: transforms.jvp(transforms.grad(f), (x,), (x,))[1]
    if name == "vmap of grad":
        return lambda x: transforms.vmap(transforms.grad(f))(arrays.stack([x, x]))
    return third(transforms, f)


#: Derivative, and the numbers of statements that it is taken of.
ROWS = [
    ("grad", (50, 500)),
    ("hvp", (40, 400)),
    ("vmap of grad", (40, 400)),
    ("third order", (3, 30)),
]


def firsts(quick: bool = False) -> str:
    """The first call of each derivative, by the length of the function."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, lengths in ROWS:
            for count in lengths[: 1 if quick else 2]:
                label = f"generated_{name.replace(' ', '_')}_{count}"
                f = module(straight(count), folder, label).f
                ours = seconds(lambda f=f, n=name: transformed(srcjax, n, f)(X))
                jaxs = jax_first(name, straight(count), folder, f"{label}_jax")
                row = [name, str(count), spell(ours), spell(jaxs), ratio(ours, jaxs)]
                rows.append(row)
    head = ["derivative", "statements", "srcjax", "JAX, jit", "ratio"]
    return table(head, rows)


def jax_first(name: str, text: str, folder: str, label: str) -> float | None:
    """JAX's trace, compile and first call; None without JAX, and where it fails."""
    if not available(JAX_JIT):
        return None
    jax = the_jax()
    text = text.replace("import numpy as np", "import jax.numpy as np")
    f = module(text, folder, label).f
    x = jax.numpy.asarray(X)
    derivative = jax.jit(transformed(jax, name, f))
    try:
        return seconds(lambda: jax.block_until_ready(derivative(x)))
    except RuntimeError:  # of its compiler
        return None


def starts(quick: bool = False) -> str:
    """What a new process takes, the best of some."""
    peers = ["srcjax", *(["jax"] if available(JAX_JIT) else [])]
    codes = {f"import {name}": f"import {name}" for name in ["numpy", *peers]}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in peers:
            text = straight(2)
            if name == "jax":
                text = text.replace("import numpy as np", "import jax.numpy as np")
            (Path(folder) / f"of_{name}.py").write_text(text, encoding="utf-8")
            codes[f"import {name}, first gradient"] = (
                f"import sys; sys.path.insert(0, {folder!r}); import numpy, {name}\n"
                f"import of_{name}; {name}.grad(of_{name}.f)(numpy.ones(5))"
            )
        for name, code in codes.items():
            command = [sys.executable, "-c", code]
            times = []
            for _ in range(2 if quick else 7):
                begun = time.perf_counter()  # the work is in another process
                subprocess.run(command, check=True)
                times.append(time.perf_counter() - begun)
            rows.append([name, spell(min(times))])
    return table(["a new process", "time"], rows)
