"""A function that gives a value on some of its paths, and None on others."""

import numpy as np
import pytest

import srcjax


def falls_off(x):
    if x > 0:
        return 2 * x


def returns_nothing(x):
    for _ in range(3):
        if x > 4:
            return
        x = x * x
    return x


def found_in_a_loop(x):
    while True:
        x = x * 2
        if x > 4:
            return x * x


@pytest.mark.parametrize(
    ("f", "with_value", "without"),
    [(falls_off, 1.5, -1.0), (returns_nothing, 0.5, 3.0)],
)
def test_none_is_loud(f, with_value, without):
    np.testing.assert_allclose(
        srcjax.grad(f)(with_value), srcjax.jvp(f, (with_value,), (1.0,))[1]
    )
    with pytest.raises(TypeError, match="returned None; grad needs one real number"):
        srcjax.grad(f)(without)
    batch = np.array([with_value, without])
    with pytest.raises(TypeError, match="returned None; vmap needs a result"):
        srcjax.vmap(f)(batch)
    np.testing.assert_allclose(srcjax.vmap(f)(batch[:1]), [f(with_value)])
    assert srcjax.jvp(f, (without,), (1.0,)) == (None, None)


def test_what_never_ends_without_a_value_has_no_check():
    assert "None" not in srcjax.source(srcjax.grad(found_in_a_loop), 1.0)
    assert srcjax.grad(found_in_a_loop)(1.5) == 2 * 6.0 * 4


def test_nothing_follows_what_is_raised():
    lines = srcjax.source(srcjax.grad(falls_off), 1.0).splitlines()
    after = next(i for i, line in enumerate(lines) if "raise" in line) + 1
    assert lines[after].strip() == "return dx"


def none_or_power(x):
    """None on the path that no example takes."""
    power = None
    if x < 1:
        power = x**2
    elif x < 2:
        power = x**3
    return power


def power_or_none(x):
    if x < 1:
        power = x**2
    elif x < 2:
        power = x**3
    else:
        power = None
    return power


@pytest.mark.parametrize("f", [none_or_power, power_or_none])
@pytest.mark.parametrize("batch", [[1.5, 1.8], [0.5, 1.5], [0.3, 0.5]])
def test_none_of_other_examples(f, batch):
    y, slope = srcjax.vmap(srcjax.value_and_grad(f))(np.array(batch))
    np.testing.assert_allclose(y, [f(x) for x in batch])
    np.testing.assert_allclose(slope, [2 * x if x < 1 else 3 * x**2 for x in batch])


def test_none_of_some_examples():
    with pytest.raises(ValueError, match="the examples of a batch give"):
        srcjax.vmap(power_or_none)(np.array([0.5, 2.5]))
