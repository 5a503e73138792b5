"""What hangs together runs in order: loops that may and may not run at once."""

import copy

import numpy as np
import optree
import pytest

import srcjax
from tests.gpu import fake_cupy, shim
from tests.gpu.test_cuda import on_host

pytestmark = [
    pytest.mark.skipif(not shim.has_compiler(), reason="there is no g++"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


@pytest.fixture
def cupy():
    with fake_cupy.installed() as found:
        yield found


def less_the_first(x):
    """All threads of a row read what one of them writes."""
    x = x.copy()
    for i in range(len(x)):
        first = x[i, 0]
        for j in range(x.shape[1]):
            x[i, j] = x[i, j] - first
    return x


def exchanged(x):
    """One thread writes what all of a row have read, and read again."""
    y = x.copy()
    for i in range(len(x)):
        first = y[i, 0]
        y[i, 0] = y[i, 1] * 2
        for j in range(1, x.shape[1]):
            y[i, j] = y[i, j] * y[i, 0] + first
    return y


def sums_of_rows(x, y):
    for i in range(len(y)):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
        y[i] = total


def along_columns(x, y):
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y[j] = y[j] * 0.5 + x[i, j]


def from_the_end(x, y):
    """The index -1 is that of the last one as well."""
    k = -3
    for i in range(k, len(x)):
        y[i] = y[i] * 0.5 + x[i] * i


def from_any(x, y, k):
    for i in range(k, len(x)):
        y[i] = y[i] * 0.5 + x[i] * i


def one_before(x):
    y = np.zeros(len(x))
    for i in range(len(x) + 1):
        y[i - 1] += i
    return y


def running(x):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]
    return y


def two_places(x):
    y = np.zeros(2 * len(x))
    for i in range(len(x)):
        y[i] = x[i]
        y[i + 1] += 1.0
    return y


def scattered(x, k):
    y = np.zeros(4)
    for i in range(len(x)):
        y[k[i]] += x[i]
    return y


def scattered_rows(x, k):
    y = np.zeros((4, x.shape[1]))
    for i in range(len(x)):
        for j in range(x.shape[1]):
            y[k[i], j] += x[i, j]
    return y


def found_first(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(x.shape[1]):
            total = total + x[i, j] ** 2
            if total > 2.0:
                return total * x[i, j]
    return total


def found_in_rows(x):
    total = 0.0
    for row in x:
        for value in row:
            total = total + value**2
            if total > 2.0:
                return total * value
    return total


def reversed_rows(x):
    total = 0.0
    for row in x[::-1]:
        for value in row[::-1]:
            total = total * 0.5 + value
    return total


def scaled_rows(x):
    scaled = x * 1.0
    for row in scaled:
        row -= row.mean()
        row /= np.sqrt(row @ row)
    return scaled


def centred_rows(x):
    """The rows of what was given have no name of a size that is known."""
    x = x * 1.0
    for row in x:
        row -= row.mean()
    return x


def lower(A):
    """The Cholesky factor, as it is written by hand."""
    L = np.zeros_like(A)
    for i in range(len(A)):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if i == j:
                L[i, j] = np.sqrt(total)
            else:
                L[i, j] = total / L[j, j]
    return L


def eliminated(A):
    A = A.copy()
    for k in range(len(A)):
        for i in range(k + 1, len(A)):
            factor = A[i, k] / A[k, k]
            for j in range(k, len(A)):
                A[i, j] -= factor * A[k, j]
    return A


def logical(x):
    either, both = False, True
    for i in range(len(x)):
        either = either or x[i] > 1.0
        both = both and x[i] > -9.0
    return either, both


def as_many_as_positive(x):
    k = 0
    for i in range(len(x)):
        k += x[i] > 0
    y = np.zeros(k)
    for i in range(k):
        y[i] = i * 2.0
    return y


def whole_quotients(x, k):
    total = 0.0
    for i in range(len(x)):
        total += x[i] / (k[i] // 2 + 1)
    return total


BASE = np.random.default_rng(0).normal(size=(6, 6))
PLACES = np.array([0, 1, 1, 2, 3, 3])
SQUARE = BASE @ BASE.T + 6 * np.eye(6)
#: The function, and its arguments: the first may be looked at by the second.
CASES = [
    (less_the_first, BASE),
    (exchanged, BASE),
    (sums_of_rows, BASE, lambda x: x[1]),
    (sums_of_rows, BASE, lambda x: x[:, 1]),
    (sums_of_rows, BASE, np.zeros(6)),
    (along_columns, BASE, lambda x: x[2]),
    (along_columns, BASE, lambda x: x[:, 2]),
    (along_columns, BASE, np.zeros(6)),
    (from_the_end, BASE[0], np.zeros(6)),
    (from_any, BASE[0], np.ones(6), -3),
    (from_any, BASE[0], np.ones(6), 2),
    (one_before, BASE[0]),
    (running, BASE[0]),
    (two_places, BASE[0]),
    (scattered, BASE[0], PLACES),
    (scattered_rows, BASE, PLACES),
    (found_first, BASE),
    (found_in_rows, BASE),
    (reversed_rows, BASE),
    (scaled_rows, BASE),
    (centred_rows, BASE),
    (lower, SQUARE),
    (eliminated, SQUARE),
    (logical, BASE[0]),
    (as_many_as_positive, BASE[0]),
    (whole_quotients, BASE[0], PLACES),
]


def arguments(case, put):
    _, first, *others = copy.deepcopy(case[:2]) + case[2:]
    first = put(first)
    found = [first]
    for other in others:
        if callable(other):
            other = other(first)
        elif isinstance(other, np.ndarray):
            other = put(other.copy())
        found.append(other)
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_it_is_as_if_in_order(cupy, case):
    function = case[0]
    args, given = arguments(case, np.array), arguments(case, cupy.asarray)
    compiled = srcjax.jit(function)
    wanted, got = function(*args), compiled(*given)
    assert "@" in compiled.__srcjax_transform__.module_for(given, {}).text
    pairs = zip(optree.tree_leaves(got), optree.tree_leaves(wanted), strict=True)
    for a, b in (*pairs, *zip(given, args, strict=True)):
        np.testing.assert_allclose(on_host(a), b, rtol=1e-12, atol=1e-12)


def test_what_is_proved_runs_at_once(cupy):
    """Denying by default must not deny what is plain."""

    def text(function, *args):
        compiled = srcjax.jit(function)
        return compiled.__srcjax_transform__.module_for(args, {}).text

    x = cupy.asarray(BASE)
    assert "less_the_first_x2_2[len(x), x.shape[1]]" in text(less_the_first, x)
    assert "row_sync" in text(less_the_first, x)
    eliminations = text(eliminated, cupy.asarray(SQUARE))
    assert "thread()" in eliminations or "row()" in eliminations
    rows = text(scattered_rows, x, cupy.asarray(PLACES))
    assert "j = thread(); j < n_j" in rows
