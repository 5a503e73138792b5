"""Random draws that do not depend on which tests ran before in the same process."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def same_draws(request):
    """Each test draws the same numbers from its module's generator."""
    for name in ("rng", "RNG"):
        generator = getattr(request.module, name, None)
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = np.random.default_rng(0).bit_generator.state
