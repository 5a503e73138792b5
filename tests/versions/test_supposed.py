"""What a text is written for where nothing tells the types of arguments."""

import numpy as np
import pytest

import srcjax

#: One test in so many runs, unless SRCJAX_TESTS=all (see conftest).
SAMPLE = 2


def mlp(params, x, y):
    h = np.tanh(x @ params["W1"] + params["b1"])
    return np.mean((h @ params["W2"] + params["b2"] - y) ** 2)


def layers(params, x):
    for W, b in params:
        x = np.tanh(W @ x + b)
    return np.sum(x)


def regression(w, X, y):
    return np.mean((X @ w - y) ** 2)


def likelihood(mu, sigma, x):
    return np.sum(-0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma))


def rosenbrock(p):
    x, y = p
    return (1 - x) ** 2 + 100 * (y - x**2) ** 2


def root(a):
    x = a
    while abs(x * x - a) > 1e-10:
        x = 0.5 * (x + a / x)
    return x


def huber(r, delta):
    total = 0.0
    for v in r:
        if abs(v) <= delta:
            total += 0.5 * v**2
        else:
            total += delta * (abs(v) - 0.5 * delta)
    return total / len(r)


def cross_entropy(W, b, X, labels):
    logits = X @ W + b
    logits = logits - logits.max(axis=1, keepdims=True)
    logs = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(len(labels)), labels])


def windows(x, k):
    return sum(np.sum(x[i : i + k]) ** 2 for i in range(len(x) - k + 1))


def heat(u, steps, r=0.1):
    for _ in range(steps):
        u[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def hinted(x: np.ndarray, scale: float):
    return np.sum(scale * x)


SUPPOSED = {
    mlp: "{'W1': (n, m), 'b1': (m,), 'W2': (m, k), 'b2': (k,)}, x: (n,), y: (k,)",
    layers: "params: [((n, m), (n,)), ((n, m), (n,))], x: (n,)",
    regression: "w: (n,), X: (m, n), y: (m,)",
    likelihood: "mu: float, sigma: float, x: (n,)",
    rosenbrock: "p: (2,)",
    huber: "r: (n,), delta: float",
    cross_entropy: "W: (n, m), b: (m,), X: (k, n), labels: (p,)",
    windows: "x: (n,), k: int",
    heat: "u: (n,), steps: int",
    hinted: "x: (n,), scale: float",
}


@pytest.mark.parametrize("function", SUPPOSED, ids=lambda f: f.__name__)
def test_the_docstring_says_what_is_supposed(function):
    text = srcjax.source(srcjax.grad(function))
    assert SUPPOSED[function] in " ".join(text.split())
    assert "srcjax.runtime" not in text


ARGUMENTS = {
    layers: ([(np.ones((3, 3)) / 4, np.ones(3)), (np.eye(3), np.ones(3))], np.ones(3)),
    regression: (np.ones(2), np.arange(6.0).reshape(3, 2), np.ones(3)),
    huber: (np.array([0.3, -2.0, 0.7, 1.5]), 1.0),
    windows: (np.arange(6.0), 2),
    heat: (np.arange(6.0), 3),
    root: (2.0,),
}


@pytest.mark.parametrize("function", ARGUMENTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [srcjax.grad, srcjax.value_and_grad])
def test_the_text_gives_what_the_derivative_gives(function, transform):
    derivative = transform(function)
    scope = {}
    exec(srcjax.source(derivative), scope)
    found = scope[derivative.__name__](*ARGUMENTS[function])
    for got, wanted in zip(
        srcjax.tree.leaves(found),
        srcjax.tree.leaves(derivative(*ARGUMENTS[function])),
        strict=True,
    ):
        np.testing.assert_allclose(got, wanted)


def test_arguments_of_another_kind_are_refused_and_served_by_the_general_text():
    derivative = srcjax.grad(likelihood)
    args = (np.zeros(3), np.ones(3), np.arange(3.0))
    scope, general = {}, {}
    exec(srcjax.source(derivative), scope)
    with pytest.raises(ValueError, match="is for mu: float, sigma: float"):
        scope["grad_likelihood"](*args)
    exec(srcjax.source(derivative, general=True), general)
    np.testing.assert_allclose(general["grad_likelihood"](*args), derivative(*args))


def called_argument(f, x):
    return f(x) * 2.0


class Model:
    scale = 2.0


def of_an_object(x, model):
    return x * model.scale


def of_a_string(x, kind):
    return x * x if kind == "square" else x


def of_several(x, *others):
    return x * len(others)


@pytest.mark.parametrize(
    "function", [called_argument, of_an_object, of_a_string, of_several]
)
def test_nothing_is_supposed_of_what_is_no_number(function):
    derivative = srcjax.grad(function, argnums="x")
    text = srcjax.source(derivative)
    assert text == srcjax.source(derivative, general=True)


def of_rows(x, w):
    return np.sum(np.diff(x, axis=1) ** 2) + np.einsum("ij,j->", x, w)


def test_shapes_that_the_function_fails_with_are_passed_over():
    text = srcjax.source(srcjax.grad(of_rows))
    assert "for x: (n, m), w: (m,)" in text.replace("For", "for")


def test_the_last_call_tells_more():
    derivative = srcjax.grad(likelihood)
    derivative(np.zeros(3), np.ones(3), np.arange(3.0))
    assert "for mu: (n,), sigma: (n,), x: (n,)" in srcjax.source(derivative).replace(
        "For", "for"
    )


def test_a_parameter_may_be_called_general():
    def f(x, general):
        return np.sum(x * general)

    text = srcjax.source(srcjax.grad(f), x="n", general="n")
    assert "for x: (n,), general: (n,)" in text.replace("For", "for")


def test_batches_and_second_derivatives():
    text = srcjax.source(srcjax.vmap(regression, in_axes=(None, 0, 0)))
    assert "for w: (n,), X: (m, k, n), y: (m, k)" in " ".join(
        text.replace("For", "for").split()
    )
    text = srcjax.source(srcjax.hessian(rosenbrock))
    assert "for p: (2,)" in text.replace("For", "for")
