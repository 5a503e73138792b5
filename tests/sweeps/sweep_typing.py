"""What mypy says of programs that call transforms: wrong arguments, and types."""

import subprocess
import sys
from pathlib import Path

import srcjax

PROGRAM = """
import numpy as np
import srcjax


def loss(w: np.ndarray, scale: float) -> float:
    return float(np.sum(w * scale))


@srcjax.grad
def force(x: float) -> float:
    return x * x


@srcjax.value_and_grad(argnums=1)
def both(x: float, y: float) -> float:
    return x * y


grad_loss = srcjax.grad(loss)
grad_loss(np.ones(3), 2.0)
grad_loss(np.ones(3), "two")  # has incompatible type "str"; expected "float"
grad_loss(np.ones(3))  # Too few arguments
force("x")  # has incompatible type "str"; expected "float"
both(1.0)  # Missing positional argument "y"
reveal_type(both(1.0, 2.0))  # "tuple[float, Any]"
reveal_type(srcjax.jit(force)(1.0))  # "Any"
reveal_type(srcjax.jit(loss)(np.ones(2), 1.0))  # "float"
srcjax.jit(loss)(1, 2, 3)  # Too many arguments
srcjax.grad(loss, argnum=1)  # did you mean "argnums"?
reveal_type(srcjax.vjp(loss, np.ones(2), 1.0))  # "tuple[float, def (Any)
reveal_type(srcjax.jvp(loss, (1.0, 1.0), (1.0, 1.0)))  # "tuple[float, float]"
srcjax.hessian(loss)(1.0)  # Too few arguments
srcjax.vmap(force)(np.ones(3))
srcjax.checkpoint(loss)("x", 2.0)  # has incompatible type "str"
"""


def test_mypy_sees_wrong_arguments(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    source = str(Path(srcjax.__file__).parent.parent)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", "--follow-imports=silent"]
        + ["program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"MYPYPATH": source, "PATH": ""},
    )
    told = {}
    for line in done.stdout.splitlines():
        place, _, text = line.partition(": ")
        assert place.startswith("program.py"), line
        told.setdefault(int(place.split(":")[1]), []).append(text)
    lines = PROGRAM.splitlines()
    for number, line in enumerate(lines, 1):
        _, comment, wanted = line.partition("  # ")
        if comment:
            assert any(wanted in text for text in told.pop(number, [])), (number, line)
    assert not told
