"""`getattr` and `setattr` by names that loops go through."""

import numpy as np
import pytest

import srcjax

X = np.array([0.5, 1.2, 0.8])


class Box:
    pass


class Model:
    def __init__(self, **start):
        for name, value in start.items():
            setattr(self, name, value)

    def __call__(self, x):
        return np.tanh(self.w * x + self.b)

    def update(self, gradients, rate):
        for name, slope in gradients.items():
            setattr(self, name, getattr(self, name) - rate * slope)

    def parameters(self):
        return {name: getattr(self, name) for name in ("w", "b")}


def counted(x):
    box = Box()
    for k, name in enumerate(["a", "b", "c"]):
        setattr(box, name, x[k] ** 2)
    return box.a * box.b + getattr(box, "c")  # noqa: B009  (what is tested)


def beside_values(x):
    box = Box()
    for name, value in zip(("a", "b"), x, strict=False):
        setattr(box, name, value**2)
    return box.a * box.b


def with_a_name_that_is_chosen(x):
    box = Box()
    box.a, box.b = x[0], x[1]
    chosen = "a" if x.size == 3 else "b"
    setattr(box, chosen, getattr(box, chosen) * x[2])
    return box.a * box.b


def trained(x):
    model = Model(w=x[0], b=x[1])
    for _ in range(3):
        model.update({"w": model.w * x[2], "b": model.b}, 0.1)
    return model(1.0)


def read_again(x):
    parameters = Model(w=x[0], b=x[1]).parameters()
    return sum(v**2 for v in parameters.values()) * parameters["w"]


def the_last_counts(x):
    box = Box()
    for name in ["a", "b", "a"]:
        setattr(box, name, x[0] * len(name))
        box.a = box.a * x[1]
    return box.a * box.b


@pytest.mark.parametrize(
    "f",
    [
        counted,
        beside_values,
        with_a_name_that_is_chosen,
        trained,
        read_again,
        the_last_counts,
    ],
)
def test_all_modes(f):
    srcjax.testing.check_grads(f, (X,), order=2)
    batch = np.stack([X, 2 * X])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(X), f(2 * X)])
    expected = [srcjax.grad(f)(X), srcjax.grad(f)(2 * X)]
    np.testing.assert_allclose(srcjax.vmap(srcjax.grad(f))(batch), expected)


class Guarded:
    def __init__(self, a):
        self.a = a

    def __setattr__(self, name, value):
        object.__setattr__(self, name, 2 * value)


def by_a_method(x):
    guarded = Guarded(x[0])
    for name in ("a", "b"):
        setattr(guarded, name, x[1] * len(name))
    return guarded.a * guarded.b


def whose_names_are_not_known(x, names):
    box = Box()
    for name in names:
        setattr(box, name, x[0])
    return box.a * x[1]


@pytest.mark.parametrize(
    ("f", "args"), [(by_a_method, (X,)), (whose_names_are_not_known, (X, ["a", "b"]))]
)
def test_right_or_refused(f, args):
    try:
        found = srcjax.grad(f)(*args)
    except srcjax.errors.SrcjaxError:
        return
    x, *rest = args
    step = 1e-6 * np.eye(3)
    expected = [(f(x + h, *rest) - f(x - h, *rest)) / 2e-6 for h in step]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)
