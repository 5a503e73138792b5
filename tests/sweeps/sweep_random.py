"""What is recorded of JAX's draws is what the JAX that is installed draws.

python -m pytest -q -o 'python_files=sweep_*.py' tests/sweeps/sweep_random.py
"""

import numpy as np

from tests.random.draws_of_jax import RECORDED, drawn_by_jax


def test_recorded_draws():
    recorded, drawn = dict(np.load(RECORDED)), drawn_by_jax()
    assert recorded.keys() == drawn.keys()
    for name, value in drawn.items():
        np.testing.assert_array_equal(value, recorded[name], err_msg=name)
