"""`docs/from_jax.md`: each name that it has exists, here and in JAX."""

import importlib
import re
from pathlib import Path

import jax
import numpy as np
import pytest

import srcjax

PAGE = (Path(__file__).parents[1] / "docs" / "from_jax.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`((?:src)?jax(?:\.\w+)+)", PAGE)))
#: Names that the page says JAX has no more, or that it has but under another home.
GONE = {"jax.tree_map", "jax.test_util.check_grads"}


def found(name):
    """The object of a dotted name, whatever of it are modules."""
    first, *rest = name.split(".")
    value, path = importlib.import_module(first), first
    for part in rest:
        path = f"{path}.{part}"
        if not hasattr(value, part):
            importlib.import_module(path)
        value = getattr(value, part)
    return value


def test_the_page_has_names():
    assert len(NAMES) > 150


@pytest.mark.parametrize("name", NAMES)
def test_names_exist(name):
    if name not in GONE:
        assert found(name) is not None


def test_what_there_is_not():
    """The page does not say of anything that is there that it is not."""
    missing = PAGE.split("## What there is not")[1]
    for name in re.findall(r"`jax\.([\w.]+)", missing):
        if name == "export":
            continue
        with pytest.raises((AttributeError, ImportError)):
            found(f"srcjax.{name}")


def test_names_that_the_page_lists_of_numpy():
    text = re.search(r"NumPy's functions; (.*?) take JAX's", PAGE).group(1)
    names = re.findall(r"`(\w+)`", text)
    assert sorted(names) == sorted(srcjax.numpy.extras.__all__)
    linalg = found("srcjax.numpy.linalg")
    assert {*np.linalg.__all__} <= {*dir(linalg)} and linalg.LinAlgError
    assert jax.lax.scatter is not None
