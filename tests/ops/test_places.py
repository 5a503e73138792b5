"""`x.at[i].set(v)` and its kin: JAX's values, derivatives, and text without helpers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
import srcjax.numpy as snp
from srcjax import at
from tests.corpus.harness import assert_close, differences

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 3

X = np.linspace(0.5, 2.5, 12).reshape(4, 3)
REPEATED = np.array([1, 1, 3, 1])
INDICES = {
    "number": 1,
    "last": -1,
    "slice": slice(1, 3),
    "backwards": slice(None, None, -1),
    "repeated": REPEATED,
    "array of arrays": np.array([[0, 1], [1, 3]]),
    "mask": X > 1.2,
    "mask of rows": np.array([True, False, True, True]),
    "entry": (1, 2),
    "column": (slice(0, 2), 1),
    "pairs": (np.array([0, 0, 3]), np.array([1, 1, 2])),
    "parts of rows": (np.array([2, 2]), slice(0, 2)),
    "dots": (..., 0),
    "new axis": (None, 2),
}
OUTSIDE = {
    "number": 7,
    "repeated": np.array([1, 9, -1, -7, 1]),
    "pairs": (np.array([0, 7, 0, -1]), np.array([1, 1, 1, -8])),
    "parts of rows": (slice(1, None), np.array([0, 5, 0])),
    "dots": (..., np.array([0, 5])),
    "mask": (np.array([True, False, True, True]), np.array([0, -4, 3])),
}
UPDATES = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "power": np.power,
    "min": np.minimum,
    "max": np.maximum,
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_values_are_those_of_numpy_in_place(index):
    shape = X[index].shape
    values = np.linspace(0.4, 1.7, int(np.prod(shape))).reshape(shape)
    np.testing.assert_array_equal(at(X)[index].get(), X[index])
    expected = X.copy()
    expected[index] = values
    np.testing.assert_array_equal(at(X)[index].set(values), expected)
    for method, ufunc in UPDATES.items():
        expected = X.copy()
        ufunc.at(expected, index, values)
        assert_close(getattr(at(X)[index], method)(values), expected)


def outcomes(places):
    """What becomes of places out of bounds, for `at` of srcjax and of JAX."""
    found = []
    for mode in ("drop", "clip", "fill"):
        for index in OUTSIDE.values():
            found += [
                places(index).get(mode=mode),
                places(index).get(mode=mode, fill_value=7),
                places(index).set(0.3, mode=mode),
                places(index).add(0.3, mode=mode, indices_are_sorted=False),
                places(index).multiply(0.3, mode=mode, wrap_negative_indices=False),
            ]
    for index in OUTSIDE.values():  # and what becomes of them without a mode
        found += [
            places(index).get(fill_value=7),
            places(index).set(0.3),
            places(index).add(0.3),
            places(index).power(0.3),
            places(index).max(1.7),
        ]
    return found


def test_places_out_of_bounds_are_those_of_jax():
    with jax.enable_x64(True):
        x = jnp.asarray(X)
        theirs = jax.jit(lambda: outcomes(lambda index: x.at[index]))()
    for ours, wanted in zip(outcomes(lambda index: at(X)[index]), theirs, strict=True):
        assert_close(ours, np.asarray(wanted))


def test_broken_promises_and_unknown_modes_raise():
    for method, given in (("set", (1.0,)), ("add", (1.0,)), ("get", ())):
        with pytest.raises(IndexError):
            getattr(at(X)[9], method)(*given, mode="promise_in_bounds")
    with pytest.raises(ValueError, match="mode is 'wrap'"):
        at(X)[1].set(1.0, mode="wrap")


def test_dtypes_and_what_stands_for_no_value():
    nothing = {"float32": np.nan, "int32": -(2**31), "uint8": 255, "bool": True}
    for dtype, value in nothing.items():
        x = np.arange(3).astype(dtype)
        ours = at(x)[np.array([1, 5])].get(mode="fill")
        np.testing.assert_array_equal(ours, np.array([1, value], dtype))
        assert ours.dtype == x.dtype
        assert at(x)[0].set(1).dtype == at(x)[0].max(1).dtype == x.dtype
    single = np.ones(3, np.float32)
    assert at(single)[REPEATED[:2]].add(2.5).dtype == np.float32


def test_functions_are_applied_as_often_as_a_place_comes():
    x = np.array([1.0, 2.0, 3.0])
    again = at(x)[np.array([1, 1, 0])].apply(np.square)
    np.testing.assert_array_equal(again, [1.0, 16.0, 3.0])
    np.testing.assert_array_equal(x, [1.0, 2.0, 3.0])


# -- derivatives --------------------------------------------------------------------


def slices(x, v):
    y = at(x)[1:3].set(v * x[0])
    return np.sum(at(y)[::-1, 0].multiply(v) ** 2 * x)


def repeated(x, v):
    y = at(x)[REPEATED].add(v * x)
    return np.sum(at(y)[REPEATED].multiply(x) ** 2)


def masks(x, v):
    y = at(x)[x > 1.2].subtract(v)
    return np.sum(at(y)[(np.array([True, False, True, True]), 1)].max(v) ** 2)


def pairs(x, v):
    i, j = np.array([0, 0, 3]), np.array([1, 1, 2])
    return np.sum(at(x)[i, j].divide(v) ** 2) + at(x)[3, 2].get() ** 3


def outside(x, v):
    y = at(x)[np.array([1, 9, -1, 1])].add(v, mode="drop")
    return np.sum(at(y)[5, 0].get(mode="fill", fill_value=v) * y**2)


def left_out(x, v):
    y = at(x)[np.array([1, 9, -1, 1]), 1:].set(v * np.ones((4, 2)))
    z = at(at(y)[7].multiply(v))[:, np.array([0, -9])].add(v)
    return np.sum(z * at(x)[np.array([7, -9, 1, 0])].get())


def in_a_loop(x, v):
    for i in range(1, 4):
        x = at(x)[i].multiply(x[i - 1]) if i < 3 else at(x)[i, 0].power(v)
    return np.sum(x**2)


def applied(x, v):
    return np.sum(at(x)[1:].apply(np.sin) * at(x)[2].min(v))


PROGRAMS = [slices, repeated, masks, pairs, outside, left_out, in_a_loop, applied]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(f):
    v = 0.8
    expected = differences(f, (X, v), (0, 1))
    before = X.copy()
    dx, dv = srcjax.grad(f, (0, 1))(X, v)
    assert_close(dx, expected[0])
    assert_close(dv, expected[1])
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("f", [slices, repeated, in_a_loop], ids=lambda f: f.__name__)
def test_tangents_and_batches(f):
    v = 0.8
    expected = differences(f, (X, v), (0, 1))
    y, dy = srcjax.jvp(f, (X, v), (np.cos(X), 0.3))
    assert_close(y, f(X, v))
    assert_close(dy, np.sum(expected[0] * np.cos(X)) + 0.3 * expected[1])
    batch = srcjax.vmap(f, (0, None))(np.stack([X, X + 0.1]), v)
    assert_close(batch, np.array([f(X, v), f(X + 0.1, v)]))


def test_each_example_has_its_places():
    def f(x, i):
        return x.at[i].add(x[0]).at[i[0]].set(0.0)

    x, i = np.stack([X, X + 1]), np.array([[1, 1], [2, 3]])
    expected = [
        at(at(a)[b].add(a[0]))[b[0]].set(0.0) for a, b in zip(x, i, strict=True)
    ]
    assert_close(srcjax.vmap(f)(x, i), np.stack(expected))


def by_attribute(x, v):
    y = x.at[1:3].set(v * 2.0).at[0].add(x[1])
    w = snp.zeros(4).at[0].set(2.0)
    return np.sum(y * y * x + w[:, None])


def by_function(x, v):
    y = at(at(x)[1:3].set(v * 2.0))[0].add(x[1])
    w = at(snp.zeros(4))[0].set(2.0)
    return np.sum(y * y * x + w[:, None])


def test_the_attribute_is_the_function():
    expected = differences(by_function, (X, 0.7), (0, 1))
    for found, wanted in zip(
        srcjax.grad(by_attribute, (0, 1))(X, 0.7), expected, strict=True
    ):
        assert_close(found, wanted)
    code = srcjax.source(srcjax.grad(by_attribute)).splitlines()
    assert not any(".at" in line for line in code if "#" not in line)


def test_second_order():
    def f(x):
        return np.sum(x.at[0].add(x[1]).at[1:3].multiply(x[:2]) ** 2)

    def slope(x):
        return np.sum(srcjax.grad(f)(x) ** 2)

    assert_close(srcjax.grad(slope)(X), differences(slope, (X,), (0,))[0], rtol=1e-4)


def test_functions_that_stay_as_they_are_run_on_arrays():
    scale = 3.0

    def f(x, *, by=2.0):
        y = x.at[0].set(scale * by)
        return [str(y.dtype), y][1]  # which `jit` leaves alone

    found = srcjax.jit(f)(X)
    assert_close(found[0], np.full(3, 6.0))
    assert_close(found[1:], X[1:])

    def g(x):
        return x.at[np.argsort(x)[:2]].multiply(2.0)

    with pytest.warns(srcjax.PerformanceWarning, match="loop over the batch"):
        batch = srcjax.vmap(g)(X)
    assert_close(batch, X * [2.0, 2.0, 1.0])


def test_text_is_a_copy_and_an_update():
    def f(x, v):
        y = snp.zeros(5).at[0].set(2.0 * v).at[1:3].multiply(v)
        return np.sum(y * x.at[2].set(v))

    text = srcjax.source(srcjax.grad(f, (0, 1)), np.ones(5), 2.0)
    assert "    y = np.zeros(5)\n    y[0] = 2.0 * v\n" in text
    assert "y[1:3] = item * v" in text
    assert "x.copy()" in text and "zeros(5).copy()" not in text
    assert "import numpy as np\n\n__all__" in text  # and no helper of srcjax


def test_text_asks_for_bounds_only_where_they_are_not_known():
    def fixed(x, v):
        for i in range(1, len(x) - 1):
            x = x.at[i + 1].set(v).at[-1].add(x[i]).at[len(x) - 1 - i].multiply(v)
        return np.sum(x.at[2:5].get() ** 2)

    text = srcjax.source(srcjax.grad(fixed), np.ones(6), 2.0)
    assert " if " not in text.split("ValueError")[1]
    assert "clip" not in text and "srcjax" not in text
    assert "n >= 1" in text  # which -1 asks for

    def open_(x, i, v):
        return np.sum(x.at[i].set(v) ** 2)

    text = srcjax.source(srcjax.grad(open_), np.ones(6), 2, 2.0)
    assert "-n <= i < n" in text and "srcjax" not in text
    assert_close(srcjax.grad(open_)(np.ones(3), 5, 2.0), 2 * np.ones(3))
    assert_close(srcjax.grad(open_)(np.ones(3), -1, 2.0), np.array([2.0, 2.0, 0.0]))


def test_copies_that_are_read_again_stay():
    def f(x):
        a = snp.zeros(3).at[0].set(x)
        b = a.at[1].set(x * x)
        return np.sum(b * x) + np.sum(a)

    assert_close(srcjax.grad(f)(2.0), 1 + 2 * 2.0 + 3 * 4.0)

    def g(x):
        a = np.zeros(3)
        total = 0.0
        for _ in range(3):
            a = a.at[0].add(x)
            total += np.sum(a)
        return total

    assert_close(srcjax.grad(g)(2.0), 6.0)


def test_another_attribute_of_the_name_is_left_alone():
    class Table:
        at = {0: 3.0}  # noqa: RUF012

    table = Table()

    def f(x, other):
        return np.sum(x * table.at[0] * other.at[0])

    assert_close(srcjax.grad(f)(np.ones(2), Table()), np.array([9.0, 9.0]))


@pytest.mark.parametrize("mode", [None, "drop", "clip"])
def test_an_array_that_does_not_vary(mode):
    """Its places are written out all the same."""
    fixed = np.array([1.0, -2.0, 0.5])

    def f(x):
        most = srcjax.at(fixed)[0].max(x, mode=mode)
        put = srcjax.at(np.zeros(3))[np.array([1, 1])].add(x, mode=mode)
        return np.sum(most**2) + np.sum(put**3)

    assert_close(srcjax.grad(f)(2.0), 2 * 2.0 + 3 * 2 * 16.0)
    text = srcjax.source(srcjax.grad(f), 2.0)
    assert "At(" not in text and "vjp" not in text
