"""Products of constant sparse matrices and differentiated arrays."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg

import srcjax
from srcjax.errors import SrcjaxError, UnsupportedError

D = np.random.default_rng(0).normal(size=(4, 3)).round(1) * (
    np.arange(12) % 3 > 0
).reshape(4, 3)
A, S, C = sp.csr_matrix(D), sp.csc_array(D), sp.csr_array(D + 1j * D)
X = np.arange(3.0) + 0.5


def product(x):
    return np.sum((A @ x) ** 2)


def from_the_left(x):
    return np.sum(np.sin(x @ A.T @ S) ** 2)


def of_a_matrix(x):
    return np.sum((S @ np.outer(x, x) @ A.T) ** 2)


def by_name(x):
    return np.sum(A.T.dot(A.dot(x)) ** 2)


def by_star(x):
    return np.sum((A * x) ** 2)


def made_inside(x):
    B = sp.csr_matrix(D)
    return np.sum(B.dot(x) ** 2)


def steps(x):
    L = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(3, 3))
    for _ in range(3):
        x = x + 0.1 * (L @ x)
    return np.sum(x**2)


def in_place(x):
    y = np.zeros(4)
    y[:] = A @ x
    y += S @ (A.T @ y)
    return np.sum(y**2)


def of_a_list(x):
    return np.sum((A @ [x[0], x[1] * 2, x[2]]) ** 2)


def blocks(x):
    return np.sum((sp.bmat([[A, None], [None, A]]) @ np.concatenate([x, x**2])) ** 2)


def complex_ones(x):
    return np.sum(np.abs(C @ (x + 1j * x**2)) ** 2)


def nothing_in_it(x):
    return np.sum(sp.csr_matrix((3, 3)) @ x) + np.sum(x)


def of_an_operator(x):
    return np.sum((scipy.sparse.linalg.aslinearoperator(A) @ x) ** 2)


class Model:
    def __init__(self):
        self.A = A

    def energy(self, x):
        return np.sum(self.A.dot(x) ** 2)


model = Model()


def of_an_object(x):
    return model.energy(x)


FUNCTIONS = (product, from_the_left, of_a_matrix, by_name, by_star, made_inside, steps)
FUNCTIONS += (in_place, of_a_list, blocks, complex_ones, nothing_in_it)
FUNCTIONS += (of_an_operator, of_an_object)


#: Each is differentiated in six ways.
SAMPLE = {
    "test_derivatives": 2,
    "test_batches": 2,
    "test_what_makes_sparse_matrices_of_numbers_is_refused": 5,  # ten seconds each
}


def differences(f, x, h=1e-6):
    return np.array([(f(x + e) - f(x - e)) / (2 * h) for e in h * np.eye(len(x))])


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_derivatives(f):
    wanted, gradient = differences(f, X), srcjax.grad(f)
    np.testing.assert_allclose(gradient(X), wanted, rtol=1e-5, atol=1e-6)
    value, slope = srcjax.jvp(f, (X,), (np.ones(3),))
    np.testing.assert_allclose([value, slope], [f(X), wanted.sum()], rtol=1e-5)
    np.testing.assert_allclose(srcjax.jit(gradient)(X), gradient(X), rtol=1e-12)
    hessian = differences(gradient, X)
    np.testing.assert_allclose(srcjax.hessian(f)(X), hessian, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_batches(f):
    batch = np.stack([X, 2 * X, -X])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), list(map(f, batch)), rtol=1e-10)
    gradient = srcjax.grad(f)
    found = srcjax.vmap(gradient)(batch)
    np.testing.assert_allclose(found, list(map(gradient, batch)), rtol=1e-10)


def test_batches_of_vectors_are_one_product():
    """A loop over the batch would warn, and warnings are errors."""
    text = str(srcjax.source(srcjax.vmap(lambda x: A @ x), np.stack([X, X])))
    assert "x @ A.T" in text
    assert "x @ A" in str(srcjax.source(srcjax.vmap(lambda x: x @ A), np.ones((2, 4))))


def test_text_is_that_of_the_book():
    text = str(srcjax.source(srcjax.grad(product), X))
    assert "return A.T @ (2 * (A @ x))" in text


def test_the_matrix_may_be_an_argument():
    def f(x, B):
        return np.sum((B @ x) ** 2)

    for matrix in (A, S):
        found = srcjax.grad(f)(X, matrix)
        np.testing.assert_allclose(found, 2 * D.T @ (D @ X), rtol=1e-12)


def made_of_it(x):
    return np.sum((sp.csr_matrix((x, ([0, 1, 2], [0, 1, 2])), shape=(3, 3)) @ X) ** 2)


def scaled(x):
    return np.sum(((x[0] * A) @ x) ** 2)


def element_by_element(x):
    return A.multiply(x).sum()


def on_its_diagonal(x):
    return np.sum((sp.diags([x], [0]) @ X) ** 2)


@pytest.mark.parametrize(
    "f",
    [made_of_it, scaled, element_by_element, on_its_diagonal],
    ids=lambda f: f.__name__,
)
def test_what_makes_sparse_matrices_of_numbers_is_refused(f):
    f(X)
    for derivative in (srcjax.grad(f), lambda x: srcjax.jvp(f, (x,), (x,))):
        with pytest.raises(SrcjaxError):
            derivative(X)


class Squares:
    """It says itself what NumPy's product with it is."""

    def __array_ufunc__(self, ufunc, method, *operands):
        return ufunc(*(np.eye(3) if v is self else v for v in operands)) ** 2


squares = Squares()


@pytest.mark.parametrize(
    "f", [lambda x: np.sum(np.matmul(squares, x)), lambda x: np.sum(x @ squares)]
)
def test_other_objects_are_refused(f):
    np.testing.assert_allclose(f(X), X @ X)
    for derivative in (srcjax.grad(f), lambda x: srcjax.jvp(f, (x,), (x,))):
        with pytest.raises(UnsupportedError, match="what its class makes of them"):
            derivative(X)
