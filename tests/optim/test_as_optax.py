"""Every optimiser makes the steps that optax's makes, to rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import optim, tree

optax = pytest.importorskip("optax")

#: One test in so many runs here (see conftest); the second stage runs all.
SAMPLE = {
    "test_more_steps": 13,
    "test_more_schedules": 10**9,
    "test_steps_without_numbers_are_not_made": 10**9,
    "test_means_of_parameters": 10**9,
}

STEPS = 4
#: Rectified Adam is Adam from the sixth step on.
LONGER = {"radam": 8}
SCHEDULE = {"init_value": 0.1, "transition_steps": 2, "decay_rate": 0.5}
MASK = {"w": True, "layers": [(False, True)]}

#: What is made of the functions of either library.
OPTIMIZERS = {
    "sgd": lambda o: o.sgd(0.1),
    "momentum": lambda o: o.sgd(0.1, momentum=0.9),
    "nesterov": lambda o: o.sgd(0.1, momentum=0.9, nesterov=True),
    "scheduled": lambda o: o.sgd(o.exponential_decay(**SCHEDULE)),
    "adam": lambda o: o.adam(1e-2),
    "adam, other constants": lambda o: o.adam(1e-2, 0.8, 0.95, 1e-4, 1e-3),
    "nadam": lambda o: o.nadam(1e-2),
    "adamw": lambda o: o.adamw(1e-2, weight_decay=0.1),
    "adamw, masked": lambda o: o.adamw(1e-2, weight_decay=0.1, mask=MASK),
    "amsgrad": lambda o: o.amsgrad(1e-2),
    "rmsprop": lambda o: o.rmsprop(1e-2),
    "rmsprop, centered": lambda o: o.rmsprop(1e-2, centered=True, momentum=0.9),
    "rmsprop, corrected": lambda o: o.rmsprop(
        1e-2, eps_in_sqrt=False, initial_scale=0.5, bias_correction=True
    ),
    "rmsprop, both": lambda o: o.rmsprop(
        1e-2, centered=True, initial_scale=0.5, bias_correction=True
    ),
    "adagrad": lambda o: o.adagrad(1e-1),
    "lamb": lambda o: o.lamb(1e-2, weight_decay=0.1),
    "lion": lambda o: o.lion(1e-3),
    "adafactor": lambda o: o.adafactor(1e-2, min_dim_size_to_factor=2),
    "adafactor, all": lambda o: o.adafactor(
        None, momentum=0.9, weight_decay_rate=0.1, factored=False
    ),
    "clipped": lambda o: o.chain(o.clip(0.5), o.clip_by_global_norm(1.0), o.sgd(0.1)),
    "decayed": lambda o: o.chain(o.add_decayed_weights(0.1), o.scale(-0.1)),
    "masked": lambda o: o.chain(o.masked(o.trace(0.9), MASK), o.scale(-0.1)),
    "ema": lambda o: o.chain(o.ema(0.9), o.scale(-1.0)),
    "frozen": lambda o: o.multi_transform(
        {"train": o.adam(1e-2), "keep": o.set_to_zero()},
        {"w": "train", "layers": "keep"},
    ),
}


def start():
    draw = np.random.default_rng(0)
    return {
        "w": draw.normal(size=(3,)).astype(np.float32),
        "layers": [
            (draw.normal(size=(4, 3, 2)).astype(np.float32), np.float32([0, 2]))
        ],
    }


def gradients(params, k):
    return tree.map(lambda p: (np.cos(3 * p + k) * 2 + p).astype(np.float32), params)


def run(library, make, map_arrays, steps=STEPS):
    params = tree.map(map_arrays, start())
    optimizer = make(library)
    state = optimizer.init(params)
    trail = []
    for k in range(steps):
        grads = tree.map(map_arrays, gradients(tree.map(np.asarray, params), k))
        updates, state = optimizer.update(grads, state, params)
        params = library.apply_updates(params, updates)
        trail.append(params)
    return trail


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name):
    check_steps(name, OPTIMIZERS[name])


def check_steps(name, make):
    steps = LONGER.get(name, STEPS)
    found = run(optim, make, np.array, steps)
    expected = run(optax, make, jnp.asarray, steps)
    for ours, theirs in zip(found, expected, strict=True):
        assert tree.structure(ours) == tree.structure(theirs)
        for a, b in zip(tree.leaves(ours), tree.leaves(theirs), strict=True):
            assert a.dtype == np.float32
            np.testing.assert_allclose(a, b, rtol=3e-5, atol=3e-6)


#: As above; one of them in the first stage.
MORE = {
    "adabelief": lambda o: o.adabelief(1e-2),
    "yogi": lambda o: o.yogi(1e-2),
    "radam": lambda o: o.radam(1e-2, b2=0.9),
    "radam, at first": lambda o: o.radam(1e-2),
    "adamax": lambda o: o.adamax(1e-2),
    "adamaxw": lambda o: o.adamaxw(1e-2, weight_decay=0.1, mask=MASK),
    "adadelta": lambda o: o.adadelta(0.5, weight_decay=0.1),
    "sign_sgd": lambda o: o.sign_sgd(1e-2),
    "gathered": lambda o: o.MultiSteps(o.adam(1e-2), 2).gradient_transformation(),
    "gathered, summed": lambda o: o.MultiSteps(o.sgd(1e-2), 3, use_grad_mean=False),
    "injected": lambda o: o.inject_hyperparams(o.adam)(
        o.exponential_decay(**SCHEDULE), b1=0.8
    ),
    "partition": lambda o: o.partition(
        {"train": o.yogi(1e-2), "keep": o.set_to_zero()},
        {"w": "train", "layers": "keep"},
    ),
    "finite": lambda o: o.apply_if_finite(o.adam(1e-2), 2),
}


@pytest.mark.parametrize("name", MORE)
def test_more_steps(name):
    check_steps(name, MORE[name])


SCHEDULES = {
    "constant": lambda o: o.constant_schedule(0.3),
    "linear": lambda o: o.linear_schedule(1.0, 0.1, 10, 3),
    "polynomial": lambda o: o.polynomial_schedule(1.0, 0.1, 2, 10),
    "exponential": lambda o: o.exponential_decay(1.0, 4, 0.5, 2, False, 0.2),
    "staircase": lambda o: o.exponential_decay(1.0, 4, 1.5, 0, True, 3.0),
    "cosine": lambda o: o.cosine_decay_schedule(1.0, 12, 0.1, 2.0),
    "piecewise": lambda o: o.piecewise_constant_schedule(1.0, {5: 0.5, 9: 0.1}),
    "warmup": lambda o: o.warmup_cosine_decay_schedule(0.0, 1.0, 4, 14, 0.2),
    "warmup, constant": lambda o: o.warmup_constant_schedule(0.0, 1.0, 4),
    "joined": lambda o: o.join_schedules(
        [o.constant_schedule(1.0), o.linear_schedule(1.0, 0.0, 5)], [6]
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(name):
    check_schedule(SCHEDULES[name])


def check_schedule(make):
    ours, theirs = make(optim), make(optax)
    for count in (0, 1, 3, 4, 5, 6, 9, 12, 20):
        np.testing.assert_allclose(ours(count), theirs(count), rtol=1e-5, atol=1e-7)


MORE_SCHEDULES = {
    "warmup, exponential": lambda o: o.warmup_exponential_decay_schedule(
        0.0, 1.0, 4, 3, 0.5, 1, end_value=0.1
    ),
    "restarts": lambda o: o.sgdr_schedule(
        {"init_value": 0.0, "peak_value": p, "warmup_steps": 2, "decay_steps": 6}
        for p in (1.0, 0.5)
    ),
    "one cycle": lambda o: o.cosine_onecycle_schedule(14, 1.0),
}


@pytest.mark.parametrize("name", MORE_SCHEDULES)
def test_more_schedules(name):
    check_schedule(MORE_SCHEDULES[name])


X = np.linspace(-2.0, 3.0, 12).reshape(4, 3).astype(np.float32)
P = (np.abs(X) / np.abs(X).sum(axis=-1, keepdims=True)).astype(np.float32)
LOSSES = {
    "squared_error": (X, P),
    "l2_loss": (X, P),
    "huber_loss": (X, P),
    "log_cosh": (X, P),
    "cosine_similarity": (X, P),
    "cosine_distance": (X, P),
    "sigmoid_binary_cross_entropy": (X, P),
    "softmax_cross_entropy": (X, P),
    "softmax_cross_entropy_with_integer_labels": (X, np.array([0, 2, 1, 1])),
    "hinge_loss": (X, np.sign(X)),
    "kl_divergence": (np.log(P), P[::-1]),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    args = LOSSES[name]
    found = getattr(optim, name)(*args)
    assert found.dtype == np.float32
    expected = getattr(optax, name)(*map(jnp.asarray, args))
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


def test_real_optax_with_our_gradients():
    """A user of optax keeps it: our gradients are trees as JAX's are."""

    def loss(params):
        return np.sum(params["w"] ** 2) + np.sum(params["layers"][0][0])

    params = start()
    grads = srcjax.grad(loss)(params)
    assert jax.tree.structure(grads) == jax.tree.structure(params)
    optimizer = optax.adam(1e-2)
    updates, _ = optimizer.update(grads, optimizer.init(params), params)
    found = optax.apply_updates(params, updates)
    np.testing.assert_allclose(
        found["w"], params["w"] - 0.01 * np.sign(params["w"]), 1e-5
    )


def mean_square(params, x, y):
    hidden = np.tanh(x @ params["w"] + params["b"])
    return np.mean((hidden @ params["v"] - y) ** 2)


def network():
    draw = np.random.default_rng(1)
    params = {"w": draw.normal(size=(3, 4)), "b": np.zeros(4), "v": draw.normal(size=4)}
    return params, draw.normal(size=(5, 3)), draw.normal(size=5)


def after_a_step(rate, params, x, y):
    optimizer = optim.sgd(rate)
    grads = srcjax.grad(mean_square)(params, x, y)
    updates, _ = optimizer.update(grads, optimizer.init(params), params)
    return mean_square(optim.apply_updates(params, updates), x, y)


def test_gradient_of_the_learning_rate():
    args = network()
    step = 1e-6
    high, low = (after_a_step(0.1 + s, *args) for s in (step, -step))
    found = srcjax.grad(after_a_step)(0.1, *args)
    np.testing.assert_allclose(found, (high - low) / (2 * step), rtol=1e-6)


def test_nothing_is_written_in_place():
    params = start()
    before = tree.map(np.copy, params)
    grads = gradients(params, 0)
    kept = tree.map(np.copy, grads)
    for make in OPTIMIZERS.values():
        optimizer = make(optim)
        state = optimizer.init(params)
        saved = tree.map(np.copy, state)
        updates, _ = optimizer.update(grads, state, params)
        optim.apply_updates(params, updates)
        for old, new in ((before, params), (kept, grads), (saved, state)):
            assert tree.all(tree.map(np.array_equal, old, new))


def test_numbers_stay_numbers():
    optimizer = optim.adam(0.1)
    state = optimizer.init({"a": 1.0})
    updates, state = optimizer.update({"a": 2.0}, state)
    params = optim.apply_updates({"a": 1.0}, updates)
    assert type(params["a"]) is float and abs(params["a"] - 0.9) < 1e-6


def test_errors():
    params = start()
    optimizer = optim.adamw(0.1)
    with pytest.raises(ValueError, match="parameters"):
        optimizer.update(params, optimizer.init(params))
    with pytest.raises(ValueError, match="another optimiser"):
        optimizer.update(params, optim.sgd(0.1).init(params), params)
    frozen = optim.multi_transform({"a": optim.sgd(0.1)}, {"w": "b", "layers": "a"})
    with pytest.raises(ValueError, match="no transformation"):
        frozen.init(params)
    with pytest.raises(ValueError, match="decay_steps"):
        optim.cosine_decay_schedule(1.0, 0)


def test_steps_without_numbers_are_not_made():
    params = {"w": np.float32([1, 2])}
    bad = {"w": np.float32([np.nan, 1])}
    for make in (
        lambda o: o.chain(o.zero_nans(), o.sgd(0.1)),
        lambda o: o.apply_if_finite(o.sgd(0.1), 1),
    ):
        ours, theirs = make(optim), make(optax)
        state, expected = ours.init(params), theirs.init(params)
        for _ in range(3):
            found, state = ours.update(bad, state, params)
            wanted, expected = theirs.update(tree.map(jnp.asarray, bad), expected)
            np.testing.assert_array_equal(found["w"], wanted["w"])
    assert (state.total_notfinite, state.last_finite) == (3, False)


def test_means_of_parameters():
    new, old = {"w": np.float32([1, 2])}, {"w": np.float32([3, 6])}
    mean = optax.incremental_update(new, old, 0.25)["w"]
    np.testing.assert_allclose(optim.incremental_update(new, old, 0.25)["w"], mean)
    assert optim.periodic_update(new, old, 3, 3) is new
    assert optim.periodic_update(new, old, 4, 3) is old


def test_numbers_in_the_state_may_be_written():
    optimizer = optim.inject_hyperparams(optim.sgd)(0.5)
    state = optimizer.init(np.ones(2))
    assert state.hyperparams["learning_rate"] == 0.5
    state.hyperparams["learning_rate"] = 0.1
    updates, state = optimizer.update(np.ones(2), state)
    np.testing.assert_allclose(updates, [-0.1, -0.1])
