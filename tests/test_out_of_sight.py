"""What is written out of sight is refused, or right, in every mode alike."""

import copy
import ctypes
import functools
import operator
import threading

import numpy as np
import pytest

import srcjax
from srcjax.errors import SrcjaxError

X = np.array([0.5, 1.2, -0.8])
PROGRAMS = []


def refused(function):
    """Every derivative of the program is refused; a batch is right or refused."""
    PROGRAMS.append(pytest.param(function, True, id=function.__name__))
    return function


def right(function):
    """Reverse and forward mode, and a batch, are all right."""
    PROGRAMS.append(pytest.param(function, False, id=function.__name__))
    return function


def compiled(body):
    """A function that has no source."""
    scope = {}
    exec("def function(x, out):\n    " + body, scope)
    return scope["function"]


squares = compiled("out[:] = x**2")
squares_here_and_there = compiled(
    "for k in range(3):\n        if k != 1:\n            out[k] = x[k] ** 2"
)
first_is_true = compiled("out[0] = x")


def in_a_callee(x, out):
    for k in range(2):
        if k == 1:
            squares_here_and_there(x, out)


# -- filled by what is not looked into -----------------------------------------------


@refused
def a_function_without_a_source(x):
    out = np.zeros(3)
    squares(x, out)
    return (out * x).sum()


@refused
def in_a_callee_with_a_loop(x):
    out = np.zeros(3)
    in_a_callee(x, out)
    return out[0] * x[1]


@refused
def one_array_twice_in_a_deep_copy(x):
    square = x * x
    copies = copy.deepcopy([square, square])
    copies[0][0] = 3 * x[1]
    return np.sum(copies[1] * x)


@refused
def a_result_that_is_not_used(x):
    out = np.zeros(3)
    unused = squares(x, out)  # noqa: F841
    return out.sum()


@refused
def method_put(x):
    out = np.zeros(3)
    out.put([0, 2], x[:2] ** 2)
    return (out * x).sum()


@refused
def setfield(x):
    out = np.zeros(3)
    out.setfield(x**2, np.float64)
    return (out * x).sum()


@refused
def partition(x):
    y = x * 2
    y.partition(1)
    return y[0] * 3


@refused
def resize(x):
    y = x * 2
    y.resize(5, refcheck=False)
    return y[0] * 3 + y[4]


@refused
def a_view_of_another_dtype(x):
    out = np.zeros(3)
    same = out.view(np.float64)
    same[:] = x**2
    return out.sum()


@refused
def nditer(x):
    out = x.copy()
    for v in np.nditer(out, op_flags=["readwrite"]):
        v[...] = v * v
    return (out * x).sum()


@refused
def a_thread(x):
    out = np.zeros(3)

    def work(a, b):
        b[:] = a**2

    thread = threading.Thread(target=work, args=(x, out))
    thread.start()
    thread.join()
    return out.sum()


@refused
def memory_moved(x):
    out = np.zeros(3)
    y = x**2
    ctypes.memmove(out.ctypes.data, y.ctypes.data, out.nbytes)
    return (out * x).sum()


@refused
def special_method_of_a_list(x):
    out = [0.0, 0.0, 0.0]
    list(map(lambda i: out.__setitem__(i, x[i] ** 2), range(3)))
    return out[0] + out[1]


@refused
def special_method_of_an_array(x):
    out = np.zeros(3)
    out.__setitem__(1, x[0] ** 2)
    return out[1] * x[1]


@refused
def operator_setitem(x):
    out = np.zeros(3)
    operator.setitem(out, 1, x[0] ** 2)
    return out[1] * x[1]


@refused
def operator_iadd(x):
    out = np.zeros(3)
    functools.reduce(operator.iadd, [x, x * 2], out)
    return out[1] * x[0]


@refused
def key_that_appends(x):
    seen = []
    sorted(range(3), key=lambda i: seen.append(x[i] ** 2) or i)
    return seen[0] + seen[1]


@refused
def memoryview_of_an_array(x):
    out = np.zeros(3)
    view = memoryview(out)
    for i in range(3):
        view[i] = x[i] ** 2
    return (out * x).sum()


# -- what is known of a container that something else writes to ----------------------


# -- kept by an object that is not known -----------------------------------------------


class Keeper:
    def __init__(self):
        self.v = 0.0
        self.items = [0.0]

    def keep(self, v):
        self.v = v


class KeepsAll(Keeper):
    """Compiled elsewhere: its methods have no source."""

    exec("def keep(self, v):\n    self.v = v")


def made(cls, scope={}):  # noqa: B006
    """An object of which nothing is known where it is made."""
    if not scope:
        exec("def make(cls):\n    return cls()", scope)
    return scope["make"](cls)


@refused
def a_method_whose_result_is_not_used(x):
    keeper = made(Keeper)
    unused = keeper.keep(x[0] ** 2)  # noqa: F841
    return keeper.v * x[1]


@refused
def a_method_without_a_source(x):
    keeper = made(KeepsAll)
    both = (keeper.keep(x[0] ** 2), keeper.v * x[1])
    return both[1]


@refused
def a_method_in_a_comprehension(x):
    keeper = made(KeepsAll)
    return sum([(keeper.keep(v), keeper.v * v)[1] for v in x])


@refused
def a_comprehension_for_its_effect(x):
    keeper = made(KeepsAll)
    [keeper.keep(v) for v in x]
    return keeper.v * x[1]


@refused
def a_method_that_is_mapped(x):
    keeper = made(KeepsAll)
    list(map(keeper.keep, x))
    return keeper.v * x[1]


@refused
def a_method_in_a_test(x):
    keeper = made(KeepsAll)
    if keeper.keep(x[0] ** 2):
        return x[1]
    return keeper.v * x[1]


@refused
def a_list_of_an_object(x):
    items = made(Keeper).items
    pair = [(items.append(v), v)[1] for v in x]
    return items[-1] * pair[1]


@refused
def a_dict_merged_with_one_that_is_not_known(x):
    merged = made(dict) | {"a": x[0] ** 2}
    return merged["a"] * x[1]


@refused
def a_dict_that_is_not_known_and_grows(x):
    kept = made(dict)
    kept |= {"a": x[0] ** 2}
    return kept["a"] * x[1]


@refused
def a_dict_updated_from_an_iterator(x):
    kept = {"a": x[0]}
    kept.update(zip("bc", x, strict=False))
    return kept["b"] * kept["c"]


def fill(a, v):
    for i in range(len(a)):
        a[i] = v * (i + 1)


@right
def filled_by_a_callee_and_tested(x):
    held = [0.0, 0.0]
    fill(held, x[0])
    if held[0]:
        return x[0] * held[1]
    return x[1] * 2


@right
def filled_out_of_sight_and_tested(x):
    held = [False, 2]
    first_is_true(True, held)
    if held[0]:
        return x[0] * x[1]
    return x[1] * 2


grown = compiled("out += x")


@right
def grown_out_of_sight_and_looped_over(x):
    held = [1.0]
    grown([2.0, 3.0], held)
    total = 0.0
    for v in held:
        total = total + v * x[0]
    return total * x[1]


@right
def out_of_keywords(x):
    def squared(x, **kwargs):
        out = kwargs.pop("out", None)
        if out is None:
            out = np.empty_like(x)
        out[:] = x**2
        return out

    buffer = np.zeros(3)
    squared(x, out=buffer)
    return (buffer * x).sum()


# -- arrays that were taken out of a container, and have another name too --------------


@right
def popped_from_a_dict(x):
    buffer = np.zeros(3)
    held = {"out": buffer}
    out = held.pop("out")
    out[:] = x**2
    return (buffer * x).sum()


@right
def popped_from_a_list(x):
    buffer = np.zeros(3)
    held = [buffer]
    out = held.pop()
    out[:] = x**2
    return (buffer * x).sum()


@right
def popped_and_held_by_nothing_else(x):
    pool = [np.zeros(3), np.zeros(3)]
    out, other = pool.pop(), pool.pop()
    out[:] = x**2
    other[1:] = out[1:] * x[1:]
    return (out * x).sum() + other.sum()


# -- functions that are found when the program runs -----------------------------------


def power(x, n):
    return x**n if isinstance(n, int) else x * 100.0


def powers(x, n):
    total = 0.0
    for k in range(n):
        total = total + x ** (k + 1)
    return total


def square_into(x, out):
    out[0] = x[0] ** 2
    return x[1]


def cube_into(x, out):
    out[0] = x[0] ** 3
    return x[1]


CHOICES = {"power": power, "powers": powers, True: square_into, False: cube_into}


@right
def integers_stay_integers(x):
    total = 0.0
    for name in ["power", "powers"]:
        chosen = CHOICES[name]
        total = total + chosen(x[0], 2)
    return total


@refused
def a_found_function_that_writes(x):
    out = np.zeros(3)
    chosen = CHOICES[bool(x[0] > 0)]
    result = chosen(x, out)
    return out[0] * result


@refused
def a_found_function_that_only_writes(x):
    out = np.zeros(3)
    for chosen in sorted([square_into, cube_into], key=lambda f: f.__name__):
        chosen(x, out)
    return out[0] * x[1]


# -- the derivative is refused in some mode; none is wrong ----------------------------

EITHER = []


def either(function):
    """Each mode is right, or refuses."""
    EITHER.append(pytest.param(function, id=function.__name__))
    return function


@either
def functions_that_only_write(x):
    out = np.zeros(3)
    for chosen in [square_into, cube_into]:
        chosen(x, out)
    return out[0] * x[1]


@either
def a_row_held_twice(x):
    rows = [[0.0] * 2] * 2
    for i in range(2):
        for j in range(2):
            rows[i][j] = x[i] * x[j] ** 2
    return rows[0][0] + 2 * rows[0][1] + 5 * rows[1][0]


@either
def an_array_held_twice(x):
    both = [np.zeros(2)] * 2
    both[0][0] = x[0] ** 2
    both[1][1] = x[1] * x[0]
    return both[1][0] * both[0][1]


@either
def one_of_two_lists(x):
    a, b = [0.0, 1.0], [1.0, 0.0]
    chosen = a if x[0] > 0 else b
    chosen[0] = x[0] * x[1]
    return a[0] ** 2 + b[0] * x[1]


@either
def rows_of_a_shallow_copy(x):
    rows = [[0.0, 0.0], [0.0, 0.0]]
    other = list(rows)
    other[0][0] = x[0] ** 2
    return rows[0][0] * 3 + other[1][0] ** 2


def differences(f, x):
    steps = 1e-6 * np.eye(len(x))
    return np.array([(f(x + s) - f(x - s)) / 2e-6 for s in steps])


def derivatives(f):
    """The gradient, by each mode."""

    def forward():
        return np.array([srcjax.jvp(f, (X,), (e,))[1] for e in np.eye(3)])

    return {"reverse": lambda: srcjax.grad(f)(X), "forward": forward}


def outcome(run):
    """What a mode gives; None where it refuses."""
    try:
        return run()
    except SrcjaxError:
        return None


C_LIBRARY = ctypes.CDLL(None)


def filled_by_the_c_library(image, step, stop=None):
    if stop is None:
        stop = [size * k for size, k in zip(image.shape, step, strict=True)]
    result = np.zeros((stop[1], stop[0]))
    pointer = ctypes.POINTER(ctypes.c_double)
    C_LIBRARY.memcpy(
        result.ctypes.data_as(pointer), image.ctypes.data_as(pointer), 8 * image.size
    )
    return np.reshape(result, stop)


@refused
def what_a_function_gives_that_a_library_fills(x):
    return np.sum(filled_by_the_c_library(x[:, None], (2, 1)))


def filled_further_down(image, n):
    for _ in range(n):
        if image.ndim != 2:
            return np.zeros((2, 2))
    return filled_by_the_c_library(image, (2, 1))


@refused
def what_a_function_further_down_gives(x):
    return np.sum(filled_further_down(x[:, None], 3) * 2.0)


@refused
def one_of_several_functions_that_see_what_was_popped(x):
    stack = []
    for token in ["0", "1", "+"]:
        if token.isdigit():
            stack.append(x[int(token)])
        else:
            b, a = stack.pop(), stack.pop()
            stack.append({"+": lambda: a + b, "-": lambda: a - b}[token]())  # noqa: B023
    return stack[0]


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(("function", "refuses"), PROGRAMS)
def test_every_mode_refuses_alike(function, refuses, mode):
    found = outcome(derivatives(function)[mode])
    assert (found is None) == refuses
    if not refuses:
        np.testing.assert_allclose(found, differences(function, X), atol=1e-6)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("function", EITHER)
def test_no_mode_is_wrong(function, mode):
    found = outcome(derivatives(function)[mode])
    if found is not None:
        np.testing.assert_allclose(found, differences(function, X), atol=1e-6)


@pytest.mark.filterwarnings("ignore::srcjax.errors.PerformanceWarning")
@pytest.mark.parametrize(
    "function", [p.values[0] for p in [*PROGRAMS, *EITHER]], ids=lambda f: f.__name__
)
def test_batches_are_right(function):
    batch = np.stack([X, X[::-1] * 1.1])
    found = outcome(lambda: srcjax.vmap(function)(batch))
    if found is not None:
        np.testing.assert_allclose(found, [function(x) for x in batch.copy()])
