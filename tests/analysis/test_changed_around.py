"""What is read of objects around a function that it changes: what it is then."""

import contextlib

import numpy as np
import pytest

import srcjax
from srcjax.errors import UnsupportedError


class Settings:
    mode = "a"
    scale = None

    def set(self, mode):
        self.mode = mode

    def elsewhere(self, mode):
        CONFIG["mode"] = mode


CONFIG, STACK, settings, MODE = {"mode": "a", "trips": 3}, ["a"], Settings(), "a"
BY_MODE = {"a": lambda v: v * 3, "b": lambda v: v * v}


def by_config(x):
    return x * 3 if CONFIG["mode"] == "a" else x * x


def by_object(x):
    return x * 3 if settings.mode == "a" else x * x


def by_class(x):
    return x * 3 if Settings.mode == "a" else x * x


def by_stack(x):
    return x * 3 if STACK[-1] == "a" else x * x


def by_table(x):
    return BY_MODE[CONFIG["mode"]](x)


def by_variable(x):
    return x * 3 if MODE == "a" else x * x


def set_in(config, mode):
    config["mode"] = mode


def set_variable(mode):
    global MODE
    MODE = mode


class OfConfig:
    def __enter__(self):
        CONFIG["mode"] = "b"

    def __exit__(self, *error):
        CONFIG["mode"] = "a"


class OfObject:
    def __enter__(self):
        settings.mode = "b"

    def __exit__(self, *error):
        self.leave()

    def leave(self):
        settings.mode = "a"


class OfClass:
    def __enter__(self):
        Settings.mode = "b"

    def __exit__(self, *error):
        Settings.mode = "a"


class OfStack:
    def __enter__(self):
        STACK.append("b")

    def __exit__(self, *error):
        STACK.pop()


class OfVariable:
    def __enter__(self):
        set_variable("b")

    def __exit__(self, *error):
        set_variable("a")


@contextlib.contextmanager
def by_generator():
    set_in(CONFIG, "b")
    CONFIG["trips"] = 2
    yield
    set_in(CONFIG, "a")
    CONFIG["trips"] = 3


def item(x):
    CONFIG["mode"] = "b"
    y = by_config(x)
    CONFIG["mode"] = "a"
    return y * y


def item_in_the_same_function(x):
    CONFIG["mode"] = "b"
    y = x * 3 if CONFIG["mode"] == "a" else x * x
    CONFIG["mode"] = "a"
    return y


def trips(x):
    CONFIG["trips"] = 2
    for _ in range(CONFIG["trips"]):
        x = x * x
    CONFIG["trips"] = 3
    return x


def given_as_an_argument(x):
    set_in(CONFIG, "b")
    y = by_config(x)
    set_in(CONFIG, "a")
    return y


def under_another_name(x):
    config = CONFIG
    config["mode"] = "b"
    y = by_config(x)
    config["mode"] = "a"
    return y


def by_a_method_of_dicts(x):
    CONFIG.update(mode="b")
    y = by_table(x)
    CONFIG.update(mode="a")
    return y


def pushed(x):
    STACK.append("b")
    y = by_stack(x)
    STACK.pop()
    return y


def attribute(x):
    settings.mode = "b"
    y = by_object(x)
    settings.mode = "a"
    return y


def attribute_by_name(x):
    setattr(settings, "mode", "b")  # noqa: B010
    y = by_object(x)
    setattr(settings, "mode", "a")  # noqa: B010
    return y


def attribute_of_a_class(x):
    Settings.mode = "b"
    y = by_class(x)
    Settings.mode = "a"
    return y


def method(x):
    settings.set("b")
    y = by_object(x)
    settings.set("a")
    return y


def method_that_sets_something_else(x):
    settings.elsewhere("b")
    y = by_config(x)
    settings.elsewhere("a")
    return y


def within(manager, inner):
    def f(x):
        with manager():
            y = inner(x)
        return y * x

    f.__name__ = f"{manager.__name__}_{inner.__name__}"
    return f


def variable(x):
    set_variable("b")
    y = by_variable(x)
    set_variable("a")
    return y


def called_by_name(x):
    manager = OfConfig()
    manager.__enter__()
    y = by_config(x)
    manager.__exit__(None, None, None)
    return y


def grown_by_a_callee(x):
    before = x * CONFIG["trips"]
    grow(CONFIG)
    after = x * x * CONFIG["trips"] * len(STACK)
    CONFIG["trips"] = 3
    return before + after


def grow(config):
    config["trips"] += 2


def grown_out_of_sight(x):
    settings.scale = 2.0
    before = x * settings.scale
    rescale()
    after = x * x * settings.scale
    settings.scale = None
    return before + after


def rescale():
    settings.scale *= 2.5


RIGHT = [
    grown_by_a_callee,
    grown_out_of_sight,
    item,
    item_in_the_same_function,
    trips,
    given_as_an_argument,
]
RIGHT += [
    under_another_name,
    by_a_method_of_dicts,
    pushed,
    attribute,
    attribute_by_name,
]
RIGHT += [attribute_of_a_class, method, method_that_sets_something_else, called_by_name]
RIGHT += [within(OfConfig, by_config), within(OfConfig, by_table)]
RIGHT += [within(OfObject, by_object), within(OfClass, by_class)]
RIGHT += [within(OfStack, by_stack), within(by_generator, by_config)]
RIGHT += [variable, within(OfVariable, by_variable)]
RIGHT += [within(OfVariable, lambda x: x * 3 if MODE == "a" else x * x)]


@pytest.fixture(autouse=True)
def as_before():
    yield
    assert CONFIG == {"mode": "a", "trips": 3} and STACK == ["a"]
    assert settings.mode == Settings.mode == MODE == "a"
    vars(settings).clear()


@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
def test_what_is_read_is_what_it_is_then(f):
    x, h = 1.3, 1e-6
    slope = (f(x + h) - f(x - h)) / (2 * h)
    np.testing.assert_allclose(srcjax.value_and_grad(f)(x), (f(x), slope), rtol=1e-6)
    np.testing.assert_allclose(srcjax.jvp(f, (x,), (1.0,)), (f(x), slope), rtol=1e-6)
    batch = np.array([x, 2 * x])
    np.testing.assert_allclose(srcjax.vmap(f)(batch), [f(x), f(2 * x)], rtol=1e-12)
    np.testing.assert_allclose(srcjax.jit(f)(x), f(x), rtol=1e-12)


def counted(level):
    """A variable of a function around, which the manager sets."""
    mode = "a"

    class OfCell:
        def __enter__(self):
            nonlocal mode
            mode = "b"

        def __exit__(self, *error):
            nonlocal mode
            mode = "a"

    def f(x):
        with OfCell():
            y = x * level if mode == "a" else x * x
        return y

    return f


def test_variables_of_functions_around_are_refused():
    f = counted(3.0)
    assert f(1.5) == 2.25
    for derivative in (srcjax.grad(f), lambda x: srcjax.jvp(f, (x,), (1.0,))):
        with pytest.raises(UnsupportedError, match="sets the variable `mode`"):
            derivative(1.5)


def test_decisions_by_what_nobody_changes_are_none_of_the_text():
    assert "if " not in str(srcjax.source(srcjax.grad(by_config), 1.3)).replace(
        "if np.ndim(x) != 0", ""
    )
