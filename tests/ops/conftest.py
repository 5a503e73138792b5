"""Draws and records that do not depend on which tests ran before in the process."""

import importlib

import numpy as np
import pytest

from srcjax.ops import record, registry  # noqa: F401  (fills the tables)


@pytest.fixture(autouse=True)
def same_draws(request):
    """Each test draws the same numbers, from its module or those it imports from."""
    used = [getattr(v, "__globals__", {}) for v in vars(request.module).values()]
    for names in (vars(request.module), *used):
        for name in ("rng", "RNG"):
            generator = names.get(name)
            if isinstance(generator, np.random.Generator):
                state = np.random.default_rng(0).bit_generator.state
                generator.bit_generator.state = state


@pytest.fixture
def all_records():
    """Every record is in the tables, those of SciPy too, which are imported late."""
    for modules in list(record.LAZY.values()):
        for module in modules:
            importlib.import_module(module)
