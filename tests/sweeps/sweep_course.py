"""Functions of courses that the passes were not tuned to: right, and not longer."""

import numpy as np
import pytest

import srcjax
from tests.golden import course, course_by_hand
from tests.golden.ratios import SETS, ratios_of

#: Mean statements beside those of the gradient by hand; they may only get fewer.
MEANS = {"grad": 1.31, "untyped": 1.87, "vmap(grad)": 0.99, "hessian": 1.66}


@pytest.mark.parametrize("name", course.ARGS)
def test_gradients_are_those_by_hand(name):
    args, argnums = course.ARGS[name]
    found = srcjax.grad(getattr(course, name), argnums=argnums)(*args)
    wanted = getattr(course_by_hand, name)(*args)
    single = isinstance(argnums, int)
    pairs = [(found, wanted)] if single else zip(found, wanted, strict=True)
    for got, want in pairs:
        if name == "cholesky_solve" and np.ndim(want) == 2:  # of one triangle, of both
            got = (got + got.T) / 2
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-10)


def test_texts_get_no_longer():
    for mode, of in ratios_of(*SETS["course"]).items():
        assert np.mean(list(of.values())) <= MEANS[mode], (mode, of)
