"""JAX with its default settings, whatever other tests have asked it for."""

import jax
import pytest


@pytest.fixture(autouse=True)
def single_precision():
    with jax.enable_x64(False):
        yield
