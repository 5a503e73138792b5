"""Programs that look at the class of a value: a batch is none of an example's."""

import numpy as np
import pytest

import srcjax


def is_list_of_numbers(v):
    return isinstance(v, (list, tuple)) and all(
        map(lambda y: isinstance(y, (int, float, np.floating)), v)
    )


def by_map(x):
    v = [x, 2.0 * x]
    return v[0] * 3.0 if is_list_of_numbers(v) else v[1]


def by_generator(x):
    v = (x, 2.0 * x)
    return v[0] * 3.0 if all(isinstance(y, float) for y in v) else v[1]


def by_list(x):
    found = [isinstance(y, np.ndarray) for y in (x, x * x)]
    return x * (1 + sum(found))


def by_attribute(x):
    found = [hasattr(y, "append") for y in (x, x * x)]
    return x * (1 + sum(found))


def by_type(x):
    found = [type(y) is list for y in (x, x * x)]
    return x * (1 + sum(found))


def of_any_kind(x):
    count = 0
    for y in [[x], (x,), x]:
        if isinstance(y, list):
            count += 1
        elif isinstance(y, tuple):
            count += 10
        elif isinstance(y, np.ndarray):
            count += 100
        else:
            count += 1000
    return x * count


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize(
    "f", [by_map, by_generator, by_list, by_attribute, by_type, of_any_kind]
)
def test_class_of_an_example(f):
    xs = np.array([0.5, -0.25, 2.0])
    want = [f(float(x)) for x in xs]
    np.testing.assert_allclose(srcjax.vmap(f)(xs), want)
    values, grads = srcjax.vmap(srcjax.value_and_grad(f))(xs)
    np.testing.assert_allclose(values, want)
    np.testing.assert_allclose(grads, np.array(want) / xs)


def test_no_loop_where_the_types_tell():
    text = srcjax.source(srcjax.vmap(by_list), np.zeros(3))
    assert "isinstance" not in text
