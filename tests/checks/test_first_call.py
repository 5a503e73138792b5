"""`check=True` raises where a derivative is wrong, and nowhere else."""

import dataclasses

import gast
import numpy as np
import pytest

import srcjax
from srcjax import DerivativeMismatch, pipeline, syntax
from srcjax.testing import check_grads
from srcjax.transforms.passes import Pass

X = np.array([0.3, -1.2, 2.0])


@pytest.fixture(autouse=True)
def every_call_is_checked():
    srcjax.config.check = True
    yield
    srcjax.config.check = False


@pytest.fixture
def seen(monkeypatch):
    """What comparisons found: the numbers that were compared."""
    from srcjax.checks import first_call

    found = []
    numbers = first_call._Comparison.numbers

    def noted(self, chosen, direction):
        found.append(numbers(self, chosen, direction))
        return found[-1]

    monkeypatch.setattr(first_call._Comparison, "numbers", noted)
    return found


def loss(x):
    return np.sum(np.sin(x) * x)


def made():
    """A new function: transforms of an old one may have been called before."""

    def vector(x):
        return {"a": np.sin(x) * x[0], "b": np.sum(x**2)}

    return vector


vector = made()


def keyed(params, scale=2.0, *, shift):
    return np.sum(params["w"] * scale) ** 2 + shift


CALLS = {
    "grad": lambda **k: srcjax.grad(loss, **k)(X),
    "value_and_grad": lambda **k: srcjax.value_and_grad(loss, **k)(X),
    "vjp": lambda **k: srcjax.vjp(made(), X, **k)[1],
    "vjp of a function": lambda **k: srcjax.vjp(made(), **k)(X),
    "jvp": lambda **k: srcjax.jvp(made(), (X,), (X,), **k),
    "jvp of a function": lambda **k: srcjax.jvp(made(), **k)((X,), (X,)),
    "jacfwd": lambda **k: srcjax.jacfwd(made(), **k)(X),
    "jacrev": lambda **k: srcjax.jacrev(made(), **k)(X),
    "hessian": lambda **k: srcjax.hessian(loss, **k)(X),
    "linearize": lambda **k: srcjax.linearize(made(), X, **k)[1],
    "hvp": lambda **k: srcjax.hvp(lambda x: np.sum(x**3), (X,), (X,), **k),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_every_transform_compares_all_three(call, seen):
    call()
    assert seen
    for numbers in seen:
        assert numbers.own == pytest.approx(numbers.quotient.value, rel=1e-5)
        assert numbers.own == pytest.approx(numbers.other, rel=1e-9)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_for_one_transform(call, seen):
    srcjax.config.check = False
    call(check=True)
    assert seen
    seen.clear()
    srcjax.config.check = True
    call(check=False)
    assert not seen


def test_only_the_first_call_of_each_version(seen):
    df = srcjax.grad(loss)
    df(X)
    assert len(seen) == 1
    df(X)
    df(2 * X)
    assert len(seen) == 1
    df(X.astype(np.float32))
    assert len(seen) == 2


def wrong(monkeypatch, change, after="algebra"):
    """Every transform has a pass that changes what it wrote."""

    def run(finisher):
        change(finisher.node)

    for which in ("REVERSE", "FORWARD", "BATCH"):
        simplify = getattr(pipeline, which)
        at = max(k for k, p in enumerate(simplify.passes) if p.name == after) + 1
        passes = [*simplify.passes[:at], Pass("planted", run), *simplify.passes[at:]]
        changed = dataclasses.replace(simplify, passes=tuple(passes))
        monkeypatch.setattr(pipeline, which, changed)


def scaled(node):
    """One and a half times what a derivative or batch is."""
    if node.name.startswith("grad") or node.name.startswith("vmap"):
        last = node.body[-1]
        last.value = gast.BinOp(syntax.const(1.5), gast.Mult(), last.value)


def test_a_wrong_gradient_is_raised_with_the_pass(monkeypatch):
    wrong(monkeypatch, scaled)
    df = srcjax.grad(loss)
    with pytest.raises(DerivativeMismatch) as caught:
        df(X)
    message = str(caught.value)
    assert "the derivative of `loss` that `grad` gives is wrong" in message
    assert "with respect to `x`" in message
    assert "the pass `simplify: planted` changed" in message
    assert "def grad_loss" in message
    assert caught.value.filename == __file__ and caught.value.lineno
    assert isinstance(caught.value, srcjax.errors.SrcjaxError)
    np.testing.assert_allclose(df(X)[0], 1.5 * (np.sin(0.3) + 0.3 * np.cos(0.3)))


def test_a_wrong_batch_is_raised(monkeypatch):
    wrong(monkeypatch, scaled)
    with pytest.raises(DerivativeMismatch, match="for example 0") as caught:
        srcjax.vmap(loss)(np.stack([X, 2 * X]))
    assert "planted" in str(caught.value)


def test_what_the_user_gave_is_not_compared(seen):
    def half(x):
        return x * 0.5

    rule = srcjax.custom_vjp(half)
    rule.defvjp(lambda x: (x * 0.5, None), lambda res, dy: (dy * 0.0,))
    assert srcjax.grad(lambda x: np.sum(rule(x)))(X).tolist() == [0, 0, 0]
    assert not seen


def test_a_wrong_rule_of_an_operation_is_raised():
    def cube(x):
        return x**3

    @srcjax.adjoint(cube)
    def _(y, x):
        d[x] = d[y] * x**2  # noqa: F821

    with pytest.raises(DerivativeMismatch, match="None of the .* passes"):
        srcjax.grad(lambda x: np.sum(cube(x)))(X)


def relu_pair(x):
    return np.sum(np.maximum(x, 0.0) - np.maximum(-x, 0.0))


def sorted_ties(x):
    return np.sum(np.sort(x)[:2]) + np.max(x)


def steps(x):
    return np.sum(np.floor(x) + np.round(x) * x)


def jump(x):
    return x * 2.0 if x > 1.0 else x


def newton(x):
    y = 1.0
    while abs(y * y - x) > 1e-3:
        y = 0.5 * (y + x / y)
    return y


def logistic(x):
    for _ in range(80):
        x = 3.9 * x * (1 - x)
    return x


def noisy(x):
    return np.sum(x + np.random.normal(size=3) * x)


def counted(x):
    COUNT.append(1)
    return np.sum(x**2) * len(COUNT)


COUNT: list = []


def stopped(x):
    return np.sum(srcjax.stop_gradient(x) * x)


def cancelled(x):
    return np.sum((x + 1e4) ** 2 - 1e8)


def of_ints(x, n):
    return np.sum(x**n)


FINE = [
    (relu_pair, (np.zeros(3),)),
    (np.linalg.norm, (np.zeros(3),)),
    (abs, (0.0,)),
    (sorted_ties, (np.ones(3),)),
    (sorted_ties, (np.ones(3, np.float32),)),
    (steps, (np.array([1.0, 2.5, -0.5]),)),
    (jump, (1.0,)),
    (jump, (1.0 + 1e-5,)),
    (newton, (2.0,)),
    (newton, (np.float32(2.0),)),
    (logistic, (0.3,)),
    (noisy, (X,)),
    (stopped, (X,)),
    (cancelled, (X.astype(np.float32),)),
    (cancelled, (X,)),
    (of_ints, (X, 3)),
    (lambda x: x**3, (2,)),
    (lambda x: np.sum(np.sqrt(x)), (np.full(3, 1e-12),)),
    (lambda x: np.log(x) * 1e-30, (1e-8,)),
    (lambda x: np.sum(x) * 0.0, (X,)),
    (lambda x: np.sum(x**2), (np.zeros(0),)),
    (lambda x: np.exp(x * 300), (2.0,)),
    (lambda x: np.sum(np.arccos(x)), (np.array([1.0 - 1e-9, 0.1]),)),
]


@pytest.mark.parametrize(("f", "args"), FINE)
def test_never_raised_for_what_is_right(f, args):
    with np.errstate(all="ignore"):
        for transform in (srcjax.grad, srcjax.value_and_grad):
            try:
                transform(f)(*args)
            except DerivativeMismatch:
                raise
            except srcjax.errors.SrcjaxError:
                pytest.skip("refused")
        if len(args) == 1:
            srcjax.jvp(f, args, (np.ones_like(args[0]) * 1.0,))


def test_effects_happen_once():
    COUNT.clear()
    srcjax.grad(counted)(X)
    assert len(COUNT) == 1


def test_nothing_is_printed_twice(capsys):
    def speaks(x):
        print("once")
        return np.sum(x**2)

    srcjax.grad(speaks)(X)
    assert capsys.readouterr().out == "once\n"


def test_files_are_written_once(tmp_path, seen):
    path = str(tmp_path / "log")

    def writes(x):
        with open(path, "a") as file:
            file.write("x")
        return np.sum(x**2)

    try:
        srcjax.grad(writes)(X)
    except srcjax.errors.SrcjaxError:
        pytest.skip("refused")
    with open(path) as file:
        assert file.read() == "x"
    assert not seen


def test_arguments_and_random_numbers_are_left_alone():
    def overwrites(x, y):
        y[0] = 1.0
        return np.sum(x * y) + np.random.normal()

    x, y = X.copy(), X.copy()
    np.random.seed(0)
    srcjax.grad(overwrites)(x, y)
    with_check = np.random.normal()
    np.testing.assert_array_equal(x, X)
    np.random.seed(0)
    srcjax.config.check = False
    srcjax.grad(overwrites)(x, y)
    assert np.random.normal() == with_check


def test_pytrees_keywords_and_several_arguments(seen):
    df = srcjax.grad(keyed, argnums=("params", "shift"))
    df({"w": X}, shift=2.0)
    df({"w": X}, 3.0, shift=2.0)
    assert len(seen) >= 1
    assert all(n.own == pytest.approx(n.quotient.value, rel=1e-5) for n in seen)


def test_aux_and_complex(seen):
    def with_aux(x):
        return np.sum(x**2), {"x": x, "text": "a"}

    srcjax.grad(with_aux, has_aux=True)(X)
    srcjax.vjp(with_aux, X, has_aux=True)
    srcjax.grad(lambda z: abs(z) ** 2)(2 + 1j)
    srcjax.grad(lambda z: z**3, holomorphic=True)(2 + 1j)
    assert len(seen) >= 3
    assert all(n.own == pytest.approx(n.quotient.value, rel=1e-5) for n in seen)


def test_batches_of_everything():
    srcjax.vmap(vector)(np.stack([X, 2 * X]))
    srcjax.vmap(vector, in_axes=1, out_axes={"a": 1, "b": 0})(np.stack([X, 2 * X], 1))
    srcjax.vmap(lambda x: np.argmax(x))(np.stack([X, 2 * X]))
    srcjax.vmap(lambda x, y: (x * y, y), in_axes=(0, None))(X, 2.0)
    srcjax.vmap(logistic)(np.array([0.3, 0.4]))
    srcjax.vmap(srcjax.grad(loss))(np.stack([X, 2 * X]))
    srcjax.vectorize(lambda x: x * 2.0)(X)


def test_inside_of_other_transforms():
    def outer(x):
        return np.sum(srcjax.grad(loss, check=True)(x))

    def linear(x):
        return np.sum(srcjax.linearize(loss, x, check=True)[1](x))

    def others(x):
        moved = srcjax.jvp(loss, (x,), (x,), check=True)[1]
        (pulled,) = srcjax.vjp(loss, x, check=True)[1](1.0)
        mapped = srcjax.vmap(lambda t: np.sin(t), check=True)(x)
        return moved + np.sum(pulled * mapped)

    for f in (outer, linear, others):
        check_grads(f, (X,), modes=("rev", "fwd"))
    srcjax.jvp(srcjax.grad(loss, check=True), (X,), (X,))


def test_config_takes_a_bool():
    with pytest.raises(srcjax.errors.ArgumentError, match="True or False"):
        srcjax.config.check = "yes"
    assert repr(srcjax.config) == "<srcjax config: check=True, threads=None>"
