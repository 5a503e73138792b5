"""What JAX's programs call beside its transforms: compared with JAX."""

import functools
import warnings

import jax
import jax.flatten_util
import numpy as np
import pytest

import srcjax
from srcjax import lax
from srcjax.flatten_util import ravel_pytree
from srcjax.scipy.sparse.linalg import bicgstab, cg, gmres
from tests.corpus.harness import assert_close

A = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.5]])
B = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("solver", [cg, gmres, bicgstab])
def test_linear_systems_of_matrices_functions_and_trees(solver):
    """The functions go before SciPy's, of the same name."""
    expected = np.linalg.solve(A, B)
    theirs = getattr(jax.scipy.sparse.linalg, solver.__name__)
    for operator in (A, lambda x: A @ x):
        x, info = solver(operator, B, tol=1e-10)
        assert info is None
        assert_close(x, expected, rtol=1e-6)
        assert_close(x, np.asarray(theirs(operator, B, tol=1e-10)[0]), rtol=1e-6)
    right = {"a": np.array([[4.0, 1.0]]), "b": np.array([3.0])}
    x, _ = solver(lambda p: {"a": 2 * p["a"] + 0 * p["b"], "b": 3 * p["b"]}, right)
    assert_close(x["a"], right["a"] / 2, rtol=1e-6)
    assert_close(x["b"], right["b"] / 3, rtol=1e-6)
    nearly = solver(A, B, x0=expected + 1e-3, tol=1e-10, M=lambda r: r / np.diag(A))[0]
    assert_close(nearly, expected, rtol=1e-6)


def solved(t, b):
    m = A + t * np.eye(3)
    return np.sum(cg(lambda x: m @ x, b, tol=1e-13)[0] ** 2)


def solved_directly(t, b):
    return np.sum(np.linalg.solve(A + t * np.eye(3), b) ** 2)


def test_conjugate_gradients_have_the_derivatives_of_the_solution():
    ours, theirs = solved, solved_directly
    for _ in range(2):
        ours, theirs = srcjax.grad(ours), srcjax.grad(theirs)
        assert_close(ours(0.3, B), theirs(0.3, B), rtol=1e-7)
    direct = srcjax.grad(solved_directly, 1)(0.3, B)
    assert_close(srcjax.grad(solved, 1)(0.3, B), direct)
    found = srcjax.grad(lambda m: np.sum(cg(m, B, tol=1e-13)[0]))(A)
    assert_close(found, srcjax.grad(lambda m: np.sum(np.linalg.solve(m, B)))(A))
    tangent = srcjax.jvp(solved, (0.3, B), (1.0, B))[1]
    assert_close(tangent, srcjax.jvp(solved_directly, (0.3, B), (1.0, B))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", srcjax.PerformanceWarning)
        many = srcjax.vmap(lambda b: cg(lambda x: A @ x, b)[0])(np.stack([B, 2 * B]))
    assert_close(many[1], 2 * many[0], rtol=1e-6)
    text = srcjax.source(srcjax.grad(solved), 0.3, B)
    assert "dalpha" not in text  # no derivative goes through the steps
    assert "tree." not in text  # arrays are no trees to take apart
    for solver in (gmres, bicgstab):
        found = srcjax.grad(lambda b, s=solver: np.sum(s(lambda x: A @ x, b)[0]))(B)
        assert_close(found, np.linalg.solve(A.T, np.ones(3)), rtol=1e-4)


def test_a_newton_step_by_products_with_the_hessian():
    def energy(x):
        return np.sum(x**4) + 0.5 * np.sum((x - np.arange(3.0)) ** 2)

    def step(x):
        def product(v):
            return srcjax.jvp(srcjax.grad(energy), (x,), (v,))[1]

        return x + cg(product, -srcjax.grad(energy)(x))[0]

    x = np.ones(3)
    h = srcjax.hessian(energy)(x)
    assert_close(step(x), x - np.linalg.solve(h, srcjax.grad(energy)(x)), rtol=1e-6)


def net(params, x):
    for w, b in params:
        x = np.tanh(x @ w + b)
    return np.sum(x)


PARAMS = [(np.ones((2, 3)) / 3, np.zeros(3)), (np.ones((3, 1)), np.zeros(1))]


def test_the_way_back_from_a_vector_inside_of_transforms():
    flat, unravel = ravel_pytree(PARAMS)
    x = np.array([0.5, -0.2])

    def loss(v):
        return net(unravel(v), x)

    expected = ravel_pytree(srcjax.grad(net)(PARAMS, x))[0]
    assert_close(srcjax.grad(loss)(flat), expected)
    assert_close(srcjax.jit(srcjax.grad(loss))(flat), expected)

    def step(v, _):
        return v - 0.1 * srcjax.grad(loss)(v), loss(v)

    found = lax.scan(step, flat, None, length=3)[1]
    with jax.enable_x64(True):
        _, back = jax.flatten_util.ravel_pytree(PARAMS)

        def theirs(v):
            p = back(v)
            y = x
            for w, b in p:
                y = jax.numpy.tanh(y @ w + b)
            return jax.numpy.sum(y)

        assert_close(srcjax.hessian(loss)(flat), np.asarray(jax.hessian(theirs)(flat)))
    assert_close(found[0], net(PARAMS, x))


def shrunk(f, x, times, rate):
    def step(x, _):
        return x - rate * srcjax.grad(f)(x), None

    return lax.scan(step, x, None, length=times)[0]


def test_static_functions_before_other_arguments():
    """What is bound by name is followed by what `jit` passes by position."""
    compiled = srcjax.jit(shrunk, static_argnums=(0, 2))
    x = np.array([1.0, 2.0])
    assert_close(compiled(lambda x: x @ x, x, 3, 0.1), x * 0.8**3)
    bound = functools.partial(shrunk, f=lambda x: x @ x, times=3)
    assert_close(srcjax.jit(bound)(x=x, rate=0.1), x * 0.8**3)


def test_a_function_that_stays_python_passes_by_name():
    class Box:
        pass

    def odd(f, x, y, z):
        box = Box()
        box.value = f(x)
        return {"n": sorted([y, z], key=repr), "v": vars(box)["value"]}

    compiled = srcjax.jit(odd, static_argnums=(0, 2))
    found = compiled(np.sin, 1.0, 5, 2.0)
    assert found == odd(np.sin, 1.0, 5, 2.0)


def test_scans_without_arrays_are_compiled():
    def doubled(x, n):
        return lax.scan(lambda c, _: (2 * c, None), 1.0 * x, None, length=5)[0] + n

    compiled = srcjax.jit(doubled)
    assert_close(compiled(np.ones(3), 1.0), np.full(3, 33.0))
    module = compiled.__srcjax_transform__.module_for((np.ones(3), 1.0), {})
    assert module.stays == ""


def set_in_order(x, order):
    def body(x, i):
        return x.at[i].set(x[i - 1] + 1.0), None

    return lax.scan(body, x, order)[0]


def test_places_in_functions_inside_of_what_stays_python():
    """`x.at[i]` in the body of a `scan`, also where `jit` leaves the function alone."""
    from srcjax.frontend.runnable import runnable

    x, order = np.zeros(3), np.array([0, 2, 1])
    expected = np.array([1.0, 2.0, 1.0])
    assert_close(runnable(set_in_order)(x, order), expected)
    assert_close(srcjax.jit(set_in_order)(x, order), expected)
