"""Arrays that loops and branches make and write to, under a name of several."""

import numpy as np
import pytest

import srcjax
from srcjax.testing import check_grads

M = np.array([[1.2, 0.1, 0.3], [0.2, 0.9, 0.4], [0.5, 0.3, 1.1]])
X = np.array([[0.6, 0.3, 0.2], [0.2, 1.0, 1.1], [0.8, 0.9, 0.7]])


def powers(x):
    h = x
    for _ in range(3):
        h = M @ h
        h /= np.linalg.norm(h)
    return np.sum((M @ h) ** 2)


def stored(x):
    h = x
    for _ in range(3):
        h = np.tanh(M @ h)
        h[0] = 0.0
    return np.sum(h**2)


def stored_and_updated(x):
    h = x
    for _ in range(3):
        h = np.tanh(M @ h)
        h[0] += h[1]
        h /= np.sum(h)
    return np.sum(h**2)


def in_a_branch(x):
    h = x
    if x[0, 0] > 0:
        h = np.tanh(h)
        h *= 2
    return np.sum(h**2)


def of_two_branches(x):
    h = x
    for k in range(3):
        h = np.tanh(M @ h) if k % 2 else np.sin(h)
        h *= 0.7
        h[0] = h[1] * 2
    return np.sum(h**2)


def kept(x):
    h, kept = x, []
    for _ in range(3):
        h = np.tanh(M @ h)
        h *= 0.7
        kept.append(h)
    return np.sum(h**2) + np.sum(kept[0] * kept[1])


def through_a_view(x):
    h, s = x, 0.0
    for _ in range(3):
        h = np.tanh(M @ h)
        v = h[0]
        h *= 0.7
        s += np.sum(v**2)
    return np.sum(h**2) + s


def inner_loop(x):
    h = x
    for _ in range(3):
        h = np.tanh(M @ h)
        for j in range(3):
            h[j] *= j
            h += 0.1
    return np.sum(h**2)


def updated_by_the_last(x):
    h = x
    for _ in range(3):
        g = h
        h = np.tanh(M @ h)
        h += g
        g = h
        g *= 1.1
    return np.sum(h**2)


def with_a_choice(x):
    h = x
    for k in range(3):
        h = np.tanh(M @ h)
        if h[0, 0] > 0.5:
            h *= 0.7
        else:
            h += x
        h[k] = 0
    return np.sum(h**2)


def left_early(x):
    h = x
    i = 0
    while i < 3:
        i += 1
        h = np.tanh(M @ h)
        if i == 2:
            continue
        h *= 0.5
    return np.sum(h**2)


def one_of_the_trips(x):
    h, w = x, None
    for k in range(3):
        h = np.tanh(M @ h)
        h *= 0.7
        if k == 1:
            w = h
    return np.sum(h**2) + np.sum(w**2)


def written_after_the_branches(x):
    d = np.ones_like(x)
    for k in range(3):
        new = d.copy()
        if k == 1:
            p = new[0]
            new[0] = 0.0
            d = np.zeros_like(x)
            d[1] = 7 * p * x[0]
        else:
            d = np.zeros_like(x)
        d[0] += new[0] * x[1]
        d[:-1] += 0.6 * new[1:] * x[:-1]
    return np.sum(d**2)


PROGRAMS = [
    powers,
    stored,
    stored_and_updated,
    in_a_branch,
    of_two_branches,
    kept,
    through_a_view,
    inner_loop,
    updated_by_the_last,
    with_a_choice,
    left_early,
    one_of_the_trips,
    written_after_the_branches,
]


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives_of_both_orders(f):
    check_grads(f, (X,), order=2)
    batch = np.stack([X, X[::-1]])
    each = [srcjax.grad(f)(x) for x in batch]
    mapped = srcjax.grad(lambda b: np.sum(srcjax.vmap(f)(b)))(batch)
    np.testing.assert_allclose(mapped, each, rtol=1e-10)


def test_an_update_of_what_nothing_else_holds_is_a_new_value():
    def f(x):
        s = np.zeros(3)
        for k in range(3):
            z = np.tanh(x[k])
            z *= s + 1
            s += z
        return np.sum(s**2)

    text = str(srcjax.source(srcjax.grad(f), X))
    assert "        z = z * total\n" in text and "[...]" not in text
    check_grads(f, (X,), order=2)


def test_a_cast_in_place_stays_one():
    """`h * W` is of float64, what `h *= W` leaves in `h` is of float32."""

    def f(x):
        h = x.astype(np.float32)
        for _ in range(3):
            h = np.tanh(h)
            h *= M
        return np.sum(h.astype(float) ** 2), h.dtype.itemsize

    (value, size), pullback = srcjax.vjp(f, X)
    assert size == 4 and value == f(X)[0]
    (got,) = pullback((1.0, 0))
    tangents = np.eye(9).reshape(9, 3, 3)
    forward = [srcjax.jvp(f, (X,), (t,))[1][0] for t in tangents]
    np.testing.assert_allclose(got.ravel(), forward, rtol=1e-5)
    assert np.abs(got).min() > 0


def test_a_shape_that_does_not_fit_stays_an_error():
    def f(x):
        h = x
        for _ in range(2):
            h = np.tanh(h)
            h *= M
        return np.sum(h**2)

    with pytest.raises(ValueError):
        f(X[0])
    with pytest.raises(ValueError):
        srcjax.grad(f)(X[0])


def test_what_an_error_leaves_is_no_new_value():
    def f(x):
        h = x
        for k in range(3):
            try:
                h = np.tanh(0.1 * (M @ h))
                h *= 2.0
                if k == 1:
                    raise ValueError
                h += 1.0
            except ValueError:
                h = h * 3
        return np.sum(h**2)

    steps = np.eye(9).reshape(9, 3, 3)
    forward = [srcjax.jvp(f, (X,), (t,))[1] for t in steps]
    slopes = [(f(X + 1e-6 * t) - f(X - 1e-6 * t)) / 2e-6 for t in steps]
    np.testing.assert_allclose(forward, slopes, rtol=1e-6)
    np.testing.assert_allclose(srcjax.grad(f)(X).ravel(), forward, rtol=1e-10)


def test_a_sum_that_nothing_reads_before_it_is_done_stays_in_place():
    def f(a, x):
        total = 0.0
        for i in range(len(a)):
            z = np.zeros(3)
            for j in range(len(x)):
                z += a[i, j] * x[j]
            total += np.sum(np.tanh(z))
        return total

    args = (X, X[::-1] + 0.1)
    text = str(srcjax.source(srcjax.grad(f, argnums=(0, 1)), *args))
    assert "z += a[i, j] * x[j]" in text
    check_grads(f, args, order=2)


def test_a_sum_that_is_read_on_its_way_is_a_new_value():
    def f(a):
        total = 0.0
        for i in range(1, len(a)):
            q = a[i] * 1.0
            for j in range(i):
                q -= (a[j] @ q) * a[j]
            total += np.sum(q**3)
        return total

    text = str(srcjax.source(srcjax.grad(f), X))
    assert "q = q - " in text and "[...]" not in text
    check_grads(f, (X,), order=2)
