"""Texts of JAX's own documentation run with their imports changed, and give the same.

`tests/tutorials` has the code of its pages as it is known by heart, with smaller sizes
and fewer steps, and without what only a notebook can run.
"""

import re
import types
import warnings
from pathlib import Path

import jax
import numpy as np
import optree
import pytest

import srcjax

TUTORIALS = sorted((Path(__file__).parents[1] / "tutorials").glob("*.txt"))

#: Here a `vmap` runs in a loop over the examples, and says so: of a sampler's loop, of
#: a list of layers, of a namedtuple made of the items of an array, and of what an
#: optimiser carries through a loop.
IN_A_LOOP = {"deep_ensemble", "hmc", "maml", "reinforce"}


def with_imports_changed(text):
    """The text for srcjax: nothing but lines that import something is another one."""
    text = re.sub(r"^import optax$", "import srcjax.optim as optax", text, flags=re.M)
    text = re.sub(r"^import jax$", "import srcjax as jax", text, flags=re.M)
    return re.sub(r"^(import|from) jax\b", r"\1 srcjax", text, flags=re.M)


def run(text, path):
    """What names hold at the end of the text, which is run as a module."""
    path.write_text(text)
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    exec(compile(text, str(path), "exec"), module.__dict__)
    return vars(module)


def numbers(value):
    """The numbers in a value, None if it is none of those that are compared."""
    leaves, structure = optree.tree_flatten(value)
    if not leaves or not all(
        isinstance(x, (bool, int, float, np.ndarray, np.generic, jax.Array))
        and not jax.dtypes.issubdtype(getattr(x, "dtype", int), jax.dtypes.extended)
        for x in leaves
    ):
        return None
    return [np.asarray(x) for x in leaves]


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda p: p.stem)
def test_a_tutorial_gives_what_it_gives_with_jax(tutorial, tmp_path, capsys):
    text = tutorial.read_text()
    path = tmp_path / f"{tutorial.stem}_srcjax.py"
    with warnings.catch_warnings():
        if tutorial.stem in IN_A_LOOP:
            warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        ours = run(with_imports_changed(text), path)
    with jax.enable_x64(False):
        theirs = run(text, tmp_path / f"{tutorial.stem}_jax.py")
    compared = 0
    for name, value in theirs.items():
        expected = None if name.startswith("__") else numbers(value)
        if expected is None or name in ("key", "subkey", "subkeys"):
            continue
        found = numbers(ours[name])
        assert found is not None, name
        assert len(found) == len(expected), name
        for a, b in zip(found, expected, strict=True):
            if name.endswith("_numerical"):  # in single precision it is mostly rounding
                a, b = np.asarray(ours["Wb_grad"][1]), a
            np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-4, err_msg=name)
        compared += 1
    assert compared >= 4
