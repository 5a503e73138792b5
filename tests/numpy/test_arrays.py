"""Arrays of `srcjax.numpy`: what programs written for JAX do with them outside."""

import copy
import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import srcjax as jax
import srcjax.numpy as jnp
from srcjax import grad, jit, lax, nn, random, vmap
from srcjax.numpy import where
from srcjax.numpy.linalg import inv

KEY = random.key(0)
X = jnp.array([0.5, -1.0, 2.0])


def selu(x, alpha=1.67, scale=1.05):
    return scale * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


def loss(params, x):
    return jnp.mean((jnp.tanh(x @ params["w"]) + params["b"]) ** 2)


PARAMS = {"w": random.normal(KEY, (3, 2), np.float64), "b": jnp.zeros(2)}


def is_array(x):
    return type(x) is jax.Array


@pytest.mark.parametrize(
    "made",
    [
        lambda: jnp.arange(3.0),
        lambda: jnp.zeros((2, 2)),
        lambda: jnp.asarray(np.ones(3)),
        lambda: jnp.array(1.0),
        lambda: where(X > 0, X, 0.0),
        lambda: jnp.where(np.ones(3) > 0, 1.0, 0.0),
        lambda: jnp.stack([X, X]),
        lambda: jnp.concatenate([X, np.ones(2)]),
        lambda: jnp.einsum("i,j->ij", X, X),
        lambda: jnp.linalg.solve(jnp.eye(3), np.ones(3)),
        lambda: inv(np.eye(2)),
        lambda: jnp.fft.fft(X),
        lambda: jnp.sort(X, descending=True),
        lambda: jnp.split(jnp.arange(4.0), 2)[1],
        lambda: jnp.nonzero(np.ones(2))[0],
        lambda: jnp.linalg.eigh(np.eye(2)).eigenvectors,
        lambda: random.uniform(KEY, (3,)),
        lambda: random.permutation(KEY, 4),
        lambda: jax.device_put(np.ones(2)),
        lambda: nn.relu(X),
        lambda: lax.scan(lambda c, x: (c + x, c * x), 0.0, X)[1],
        lambda: lax.map(jnp.sin, X),
        lambda: np.sin(X) + 1 - X[::-1],
        lambda: X.reshape(3, 1).T.sum(0),
    ],
)
def test_what_gives_arrays(made):
    found = made()
    assert is_array(found)
    assert found.block_until_ready() is found
    assert found.at[...].set(0).sum() == 0


def test_numbers_are_those_of_numpy():
    found = jnp.sum(X), X.sum(), X @ X, jnp.max(X), jnp.linalg.norm(X), jit(jnp.sum)(X)
    for number in found:
        assert isinstance(number, np.float64) and isinstance(number, jax.Array)
        assert number.block_until_ready() is number
        assert number.devices() == X.devices()
        assert (
            type(number + 1) is np.float64 and repr(number) == f"np.float64({number})"
        )
    assert type(X[0]) is np.float64
    assert {X.sum(): 1}[1.5] == 1 and jnp.any(X > 1) is np.True_
    assert type(pickle.loads(pickle.dumps(X.sum()))) is np.float64


@pytest.mark.parametrize("code", "bhilBHILefdFD")
def test_numbers_of_all_dtypes(code):
    number = jnp.ones(3, code).max()
    assert number.dtype == np.dtype(code) and number == 1 and str(number)
    assert repr(number) and f"{number}" and hash(number) == hash(1)
    assert type(jax.device_get(number)) is np.dtype(code).type
    assert type(jit(lambda x: x * x)(number).block_until_ready()) is type(number)
    assert grad(lambda x, n: x * x * float(n.real))(2.0, number) == 4.0


def test_plain_code_does_not_see_it():
    x = np.array([1.0, 2.0])
    for found in (nn.relu(x), lax.map(np.sin, x), np.asarray(X), jax.device_get(X)):
        assert type(found) is np.ndarray
    assert type(grad(lambda x: np.sum(x**2))(x)) is np.ndarray
    assert type(random.split(KEY)) is np.ndarray


def test_places():
    x = jnp.arange(4)
    y = x.at[1].set(7).at[2:].add(1)
    assert is_array(y) and y.tolist() == [0, 7, 3, 4] and x.tolist() == [0, 1, 2, 3]
    assert x.devices() == {jax.devices("cpu")[0]}
    assert repr(y) == "Array([0, 7, 3, 4])"


def test_writing_keeps_the_object():
    x = jnp.zeros(3)
    y = x
    y += 1
    x[0] = 5
    assert y is x and x.tolist() == [5, 1, 1]
    assert np.add(x, 1, out=x) is x


def test_any_array_is_an_instance():
    assert isinstance(np.ones(2), jax.Array) and isinstance(X, np.ndarray)
    assert not isinstance([1.0], jax.Array) and not isinstance(1.0, jax.Array)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies(copied):
    found = copied(X)
    found = pickle.loads(found) if isinstance(found, bytes) else found
    assert is_array(found) and found.tolist() == X.tolist()


TRANSFORMED = {
    "grad": (grad(lambda x: jnp.sum(selu(x))), (X,)),
    "jit": (jit(selu), (X,)),
    "vmap": (vmap(selu), (X,)),
    "jit_grad": (jit(grad(loss)), (PARAMS, jnp.ones((4, 3)))),
    "pmap": (jax.pmap(selu), (X[None],)),
    "hessian": (jax.hessian(lambda x: jnp.sum(selu(x) ** 2)), (X,)),
    "of_numpy": (jit(jnp.cumsum), (X,)),
    "of_extras": (jit(jnp.sort), (X,)),
    "vmap_grad": (vmap(grad(loss), (None, 0)), (PARAMS, jnp.ones((4, 3)))),
}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_results_of_programs_for_jax(name):
    f, args = TRANSFORMED[name]
    plain = jax.tree.map(np.asarray, args)
    expected = f(*plain)
    for _ in range(4):  # a call, its version again, and a version found by tests
        found = f(*args)
        assert all(map(is_array, jax.tree.leaves(found)))
        jax.tree.map(np.testing.assert_array_equal, found, expected)
    for _ in range(4):  # what it calls is `jnp`
        assert all(map(is_array, jax.tree.leaves(f(*plain))))


def mixed(x):
    return np.where(x > 0, np.sin(x), 0.5 * x)


@pytest.mark.parametrize(
    "f",
    [
        grad(lambda x: np.sum(mixed(x))),
        jit(mixed),
        vmap(mixed),
        jit(grad(lambda x: np.sum(mixed(x)))),
        jax.jacrev(mixed),
        jit(nn.softplus),
        lambda x: jax.pmap(mixed)(x[None])[0],
    ],
)
def test_functions_of_numpy_give_what_they_are_given(f):
    for _ in range(4):
        found, plain = f(X), f(np.asarray(X))
        assert is_array(found) and type(plain) is np.ndarray
        np.testing.assert_array_equal(found, plain)


def test_functions_of_the_library_are_differentiated():
    assert grad(jnp.linalg.norm)(X).tolist() == (X / np.sqrt(5.25)).tolist()
    np.testing.assert_allclose(grad(jnp.prod)(X), [-2.0, 1.0, -0.5])
    y, dy = jax.jvp(jnp.where, (True, 2.0, 3.0), (None, 1.0, 0.0))
    assert (y, dy) == (2.0, 1.0)
    assert jax.vjp(nn.relu, X)[1](X)[0].tolist() == [0.5, 0.0, 2.0]
    assert jax.hessian(jnp.sum)(X).shape == (3, 3)


def test_pullbacks_and_tangents():
    y, pullback = jax.vjp(selu, X)
    assert is_array(y) and is_array(pullback(jnp.ones(3))[0])
    y, dy = jax.jvp(selu, (X,), (X,))
    assert is_array(y) and is_array(dy)


def test_arguments_are_written_to():
    def scale(x):
        x *= 2.0
        return jnp.sum(x)

    x = jnp.ones(3)
    for _ in range(3):
        jit(scale)(x)
    assert x.tolist() == [8.0, 8.0, 8.0]


def test_a_container_that_is_given_back():
    def update(state):
        state["x"] = state["x"] + 1.0
        return state

    updated = jit(update)
    state = {"x": jnp.zeros(2)}
    for _ in range(4):
        assert updated(state) is state
    assert is_array(state["x"]) and state["x"].tolist() == [4.0, 4.0]


class Pair(tuple):
    def __new__(cls, first, second):
        return super().__new__(cls, (first, second))


def test_other_classes_of_containers_stay_what_they_are():
    pair = Pair(jnp.ones(2), 2.0)
    assert jit(lambda p, x: p)(pair, X) is pair

    def grow(xs, x):
        xs.append(xs[0] * x)
        return xs

    grown = jit(grow)
    xs = [X]
    for _ in range(4):
        assert grown(xs, X) is xs
    assert len(xs) == 5 and all(map(is_array, xs))
    np.testing.assert_array_equal(xs[4], np.asarray(X) ** 2)


@dataclass
class Layer:
    w: jax.Array
    b: jax.Array


def of_a_layer(layer, x):
    return jnp.sum((layer.w @ x + layer.b) ** 2)


def test_parts_of_dataclasses():
    layer = Layer(jnp.ones((2, 3)), np.zeros(2))
    for df in (grad(of_a_layer), jit(grad(of_a_layer))):
        for _ in range(4):
            found = df(layer, X)
            assert is_array(found.w) and is_array(found.b)
            np.testing.assert_allclose(found.b, [3.0, 3.0])
    assert type(layer.b) is np.ndarray


def test_a_container_that_is_given_twice():
    def both(a, b):
        a["x"] = a["x"] + 1.0
        return a["x"] + b["x"]

    assert jit(lambda a, b: a is b)(X, X) and not jit(lambda a, b: a is b)(X, X[:])
    params = {"x": jnp.zeros(1)}
    assert jit(both)(params, params).tolist() == [2.0]
    assert params["x"].tolist() == [1.0]


def around(x):
    return jnp.sum(WEIGHTS * x**2)


WEIGHTS = jnp.array([1.0, 2.0, 3.0])


def test_arrays_around_a_function(monkeypatch):
    df = grad(around)
    x = np.ones(3)
    assert df(x).tolist() == [2.0, 4.0, 6.0]
    text = jax.source(df, x)
    assert "return 2 * WEIGHTS * x" in text
    monkeypatch.setitem(globals(), "WEIGHTS", np.ones(3))
    assert df(x).tolist() == [2.0, 2.0, 2.0]
    assert jit(df)(x).tolist() == [2.0, 2.0, 2.0]


def by_long_names(x):
    return jax.numpy.sum(jax.numpy.linalg.norm(x) * where(x > 0, x, 0.0))


def test_texts_say_np():
    text = jax.source(grad(by_long_names), np.ones(3))
    assert "jax" not in "".join(s for s in text.splitlines() if "# " not in s)
    assert "np.linalg.norm(x)" in text and "np.where(x > 0" in text


def test_a_function_around_one_of_numpy_is_not_that_one():
    import functools

    @functools.wraps(jnp.zeros)
    def zeros(n):
        return 1.0 + jnp.zeros(n)

    assert grad(lambda x: jnp.sum(zeros(3) * x))(np.ones(3)).tolist() == [1.0] * 3


def test_functions_as_arguments():
    def total(f, x):
        return jnp.sum(f(x) * x)

    x = np.array([1.0, 2.0])
    for f in (jnp.ones_like, jnp.cumsum, jnp.flip):
        expected = grad(lambda x, f=f: np.sum(f(x) * x))(x)
        np.testing.assert_allclose(grad(total, 1)(f, x), expected)
        tree = grad(lambda p: sum(jax.tree.leaves(jax.tree.map(jnp.sum, p))))
        assert tree({"a": x})["a"].tolist() == [1.0, 1.0]


def made_inside(rate):
    return jnp.linalg.solve(jnp.eye(2) * 2.0, jnp.full(2, rate))


def by_a_helper(rate):
    return np.sin(rate) * made_inside(rate)


def by_long_name(rate):
    return jax.numpy.ones(2) * rate


def drawn(rate):
    return rate * random.normal(KEY, (2,))


def of_plain_numpy(rate):
    return np.ones(2) * rate


@pytest.mark.parametrize("f", [made_inside, by_a_helper, by_long_name, drawn])
def test_functions_that_are_given_no_array(f):
    made = jit(f), jax.jacfwd(f), jit(jax.jacfwd(f)), vmap(lambda x: f(x))
    for g in made:
        for _ in range(4):
            assert is_array(g(np.ones(3) if g is made[-1] else 0.5))
    assert made[0](0.5).tolist() == pytest.approx(f(0.5).tolist())


def test_functions_of_plain_numpy():
    for _ in range(4):
        assert type(jit(of_plain_numpy)(0.5)) is np.ndarray
        assert type(vmap(of_plain_numpy)(np.ones(3))) is np.ndarray
