"""A function that gives a value on some of its paths, and None on others."""

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {"test_none_of_other_examples": 3}


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


def power_or_unbound(x):
    if x < 1:
        power = x**2
    elif x < 2:
        power = x**3
    return power


def helper_of_some(x):
    if x > 2:
        return None
    return x**2 if x < 1 else x**3


def through_a_helper(x):
    power = helper_of_some(x)
    return power


def of_a_helper(x):
    return helper_of_some(x)


def found_and_left(x):
    power = None
    for exponent in range(2, 4):
        if x < exponent - 1:
            power = x**exponent
            break
    return power


def asked_and_kept(x):
    power = None
    for exponent in range(2, 4):
        if power is None and x < exponent - 1:
            power = x**exponent
    return power


def chosen(x):
    return x**2 if x < 1 else x**3 if x < 2 else None


def computed_with(x):
    power = None
    if x < 1:
        power = x**2
    elif x < 2:
        power = x**3
    return 1.0 * power


PARTLY = [
    none_or_power,
    power_or_none,
    power_or_unbound,
    through_a_helper,
    of_a_helper,
    found_and_left,
    asked_and_kept,
    chosen,
    computed_with,
]


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize("f", PARTLY)
@pytest.mark.parametrize("batch", [[1.5, 1.8], [0.5, 1.5], [0.3, 0.5]])
def test_none_of_other_examples(f, batch):
    y, slope = srcjax.vmap(srcjax.value_and_grad(f))(np.array(batch))
    np.testing.assert_allclose(y, [f(x) for x in batch])
    np.testing.assert_allclose(slope, [2 * x if x < 1 else 3 * x**2 for x in batch])


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize("f", PARTLY)
@pytest.mark.parametrize("transform", [srcjax.grad, srcjax.value_and_grad])
def test_none_has_no_gradient(f, transform):
    assert transform(f)(1.5) is not None
    with pytest.raises((TypeError, UnboundLocalError), match="None|not associated"):
        transform(f)(2.5)


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize("f", PARTLY)
def test_none_of_some_examples(f):
    errors = (TypeError, UnboundLocalError, SrcjaxError)
    with pytest.raises(errors, match="None|not associated|objects"):
        srcjax.vmap(f)(np.array([0.5, 2.5]))


def in_a_dict(x):
    power = None
    if x < 1:
        power = x**2
    return {"power": power, "x": x}


def test_none_in_a_part_of_the_result():
    assert srcjax.vmap(in_a_dict)(np.array([0.25, 0.5]))["power"][1] == 0.25
    with pytest.raises(TypeError, match="returned None; vmap needs a result"):
        srcjax.vmap(in_a_dict)(np.array([0.5, 2.5]))


def with_aux(x):
    power = None
    if x < 1:
        power = x**2
    return power, None


def test_aux_may_be_none():
    assert srcjax.grad(with_aux, has_aux=True)(0.5) == (1.0, None)
    with pytest.raises(TypeError, match="returned None; grad needs one real number"):
        srcjax.grad(with_aux, has_aux=True)(2.5)


def smallest(xs):
    best = None
    for x in xs:
        if best is None or x < best:
            best = x
    return best


def none_on_the_way(x):
    """None that is asked for before anything is computed with it."""
    power = helper_of_some(x)
    if power is None:
        power = 3 * x
    before = None
    total = 0.0
    for k in range(3):
        if before is not None:
            total += before * x
        before = power * k
    return total


def test_none_that_is_asked_for():
    xs = np.array([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(srcjax.grad(smallest)(xs), [0.0, 1.0, 0.0])
    text = srcjax.source(srcjax.grad(none_on_the_way), 1.5)
    assert "computed with" not in text
    for x in (0.5, 1.5, 2.5):
        step = 1e-6
        slope = (none_on_the_way(x + step) - none_on_the_way(x - step)) / (2 * step)
        np.testing.assert_allclose(srcjax.grad(none_on_the_way)(x), slope, rtol=1e-7)


def test_a_branch_raises_where_it_decides():
    text = srcjax.source(srcjax.grad(none_or_power), 1.5)
    assert "is None" not in text
    assert "power = None" not in text
    text = srcjax.source(srcjax.grad(found_and_left), 1.5)
    assert "if no_power:" in text


def none_for_a_given_none(x, w):
    if w is None:
        x = 2 * x
    else:
        return w * x


def test_none_of_what_was_given():
    assert srcjax.grad(none_for_a_given_none)(1.5, 2.0) == 2.0
    with pytest.raises((TypeError, SrcjaxError)):
        srcjax.grad(none_for_a_given_none)(1.5, None)


class Power:
    def __init__(self, limit):
        self.limit = limit

    def below(self, x):
        if x < self.limit:
            return x**2

    @staticmethod
    def above(x):
        if x > 2:
            return x**2

    def by_method(self, x):
        return self.below(x)

    def by_static_method(self, x):
        power = self.above(4 - x)
        return power


@pytest.mark.parametrize("name", ["by_method", "by_static_method"])
def test_none_of_a_method(name):
    f = getattr(Power(2), name)
    assert srcjax.grad(f)(1.5) in (3.0, -5.0)
    with pytest.raises(TypeError, match="returned None; grad needs one real number"):
        srcjax.grad(f)(2.5)


def of_a_range_of_its_own(x):
    def range(n):
        return [n] * int(x > 2)

    power = None
    for _ in range(3):
        power = x**2
    return power


def of_a_range_that_is_none(x):
    power = None
    for _ in range(0, 5, 0):
        power = x**2
    return power


def of_a_given_power(x, given):
    power = None
    for k in range(int(x)):
        if k == 1:
            power = given * x
    return power


def test_a_loop_runs_for_sure_where_it_does():
    assert srcjax.grad(of_a_range_of_its_own)(2.5) == 5.0
    with pytest.raises(TypeError, match="returned None; grad needs one real number"):
        srcjax.grad(of_a_range_of_its_own)(1.5)
    with pytest.raises(ValueError, match="arg 3 must not be zero"):
        srcjax.grad(of_a_range_that_is_none)(1.5)
    assert srcjax.grad(of_a_given_power)(2.5, 3.0) == 3.0
    with pytest.raises(TypeError, match="returned None; grad needs one real number"):
        srcjax.grad(of_a_given_power)(1.5, 3.0)
