"""Calls: recursion, closures, nested functions, functions as values, signatures."""

import functools
import math
import operator
from functools import partial, reduce

import numpy as np

from .registry import normal, program

SCALE = 1.5


def _square(x):
    return x * x


def _scaled_sine(x, scale=2.0, shift=0.0):
    return scale * np.sin(x + shift)


def _two_results(x, y):
    return x * y, x + y


def _large(x, y):
    total = 0.0
    for i in range(3):
        if x > i:
            total = total + x * y * i
        else:
            total = total - y**2
    return total


@program(1.3)
def calls_a_helper(x):
    return _square(x) + _square(x + 1)


@program(1.3, 0.4)
def calls_a_helper_twice_over(x, y):
    return _large(x, y) * _large(y, x)


@program(0.8)
def helper_in_a_loop(x):
    for _ in range(3):
        x = _scaled_sine(x)
    return x


@program(0.8)
def keyword_arguments(x):
    return _scaled_sine(x, shift=x * 2, scale=3.0)


@program(0.8)
def default_arguments(x, power=3, offset=0.5):
    return x**power + offset


@program(0.5, 1.5)
def several_results(x, y):
    product, total = _two_results(x, y)
    return product / total


@program(0.5, 1.5)
def only_one_result_used(x, y):
    product, _ = _two_results(x, y)
    return product * x


@program(0.5, 1.5)
def results_passed_with_a_star(x, y):
    return _large(*_two_results(x, y))


@program(1.2, 5)
def recursive_power(x, n):
    if n == 0:
        return 1.0
    return x * recursive_power(x, n - 1)


@program(1.2, 9)
def recursive_power_by_halves(x, n):
    if n == 0:
        return 1.0
    half = recursive_power_by_halves(x, n // 2)
    if n % 2:
        return half * half * x
    return half * half


@program(0.6, 6)
def fibonacci_like(x, n):
    if n < 2:
        return x
    return fibonacci_like(x, n - 1) + x * fibonacci_like(x, n - 2)


@program(0.3, 4)
def recursion_on_the_value(x, depth):
    if depth == 0 or x > 5:
        return np.sin(x)
    return recursion_on_the_value(x * x + 1, depth - 1) * x


@program(1.3)
def recursion_beside_a_variable_without_a_value(x, noted=False):
    if noted:
        notes = {"first": 1.0}

    def raised(c, n):
        if n < 3:
            c = raised(c * x, n + 1)
        if noted:
            notes["last"] = c
        return c

    y = raised(x * 1.5, 0)
    return notes["last"] if noted else y


def _even_steps(x, n):
    if n == 0:
        return x
    return _odd_steps(x * 1.1, n - 1)


def _odd_steps(x, n):
    if n == 0:
        return x * x
    return _even_steps(x + 0.5, n - 1)


@program(0.7, 5)
def mutual_recursion(x, n):
    return _even_steps(x, n) + _odd_steps(x, n)


@program(normal(8))
def recursive_sum_of_halves(x):
    if len(x) == 1:
        return x[0] ** 2
    middle = len(x) // 2
    left = recursive_sum_of_halves(x[:middle])
    return left + 2 * recursive_sum_of_halves(x[middle:])


@program(((0.5, 1.5), (2.0, (0.1, 0.7))))
def recursion_over_a_tree(tree):
    if isinstance(tree, tuple):
        left, right = tree
        return recursion_over_a_tree(left) * 2 + recursion_over_a_tree(right)
    return tree**2


@program(0.4, 1.1)
def nested_function(x, y):
    def inner(z):
        return z * x + y

    return inner(x) * inner(y)


@program(0.4)
def nested_function_sees_later_value(x):
    scale = 2.0

    def inner(z):
        return z * scale

    scale = x
    return inner(3.0) + inner(x)


@program(0.4)
def nested_recursive_function(x):
    def series(n):
        if n == 0:
            return 1.0
        return 1 + x * series(n - 1) / n

    return series(6)


@program(1.3)
def nonlocal_accumulator(x):
    total = 0.0

    def add(value):
        nonlocal total
        total = total + value * x

    add(x)
    add(x**2)
    return total


@program(1.4)
def returned_closure(x):
    def make_line(slope, offset):
        def line(t):
            return slope * t + offset

        return line

    line = make_line(x, x**2)
    return line(2.0) * line(3.0)


def _power_function(n):
    def power(x):
        result = 1.0
        for _ in range(n):
            result = result * x
        return result

    return power


program(1.2, name="closure_over_an_int")(_power_function(4))


def _fit_loss(data, target):
    def loss(w):
        residual = data @ w - target
        return residual @ residual

    return loss


program(normal(3), name="closure_over_arrays")(
    _fit_loss(normal(5, 3, seed=1), normal(5, seed=2))
)

program(0.6, name="plain_lambda")(lambda x: x * np.cos(x))

_first, _second = lambda x: x**2, lambda x: x**3
program(1.5, name="two_lambdas_on_a_line_first")(_first)
program(1.5, name="two_lambdas_on_a_line_second")(_second)


@program(0.9)
def local_lambda(x):
    double = lambda z: 2 * z
    shifted = lambda z, by=0.5: z + by * x
    return double(x) * shifted(x) + shifted(1.0, by=2.0)


def _apply_twice(function, x):
    return function(function(x))


@program(0.7)
def function_as_argument(x):
    return _apply_twice(np.sin, x) + _apply_twice(_square, x)


@program(0.7)
def lambda_as_argument(x):
    return _apply_twice(lambda z: z * x + 1, x)


@program(_square, 0.7)
def function_as_argument_of_the_program(function, x):
    return function(x) * x


@program(0.7, np.tanh)
def numpy_function_as_argument(x, activation):
    return activation(2 * x) + activation(x) ** 2


def _compose(*functions):
    def composed(x):
        for function in functions:
            x = function(x)
        return x

    return composed


@program(0.7)
def composition(x):
    return _compose(np.sin, _square, lambda z: z + 1)(x)


@program(0.3)
def functions_in_a_list(x):
    total = 0.0
    for function in [np.sin, np.cos, math.exp, _square]:
        total = total + function(x) * x
    return total


ACTIVATIONS = {"tanh": np.tanh, "square": _square}


@program(0.3, "square")
def functions_in_a_dict(x, name):
    return ACTIVATIONS[name](x) + ACTIVATIONS["tanh"](x)


@program(0.8)
def partial_inside(x):
    wave = partial(_scaled_sine, scale=x)
    return wave(x) + wave(1.0, shift=x)


program(0.8, name="partial_program")(partial(_scaled_sine, scale=3.0, shift=0.2))


WAVE = partial(_scaled_sine, scale=3.0, shift=0.2)
WEIGHTED = partial(np.multiply, np.array([1.0, -2.0, 3.0]))


@program(normal(3))
def partials_of_the_module(x):
    return np.sum(WAVE(x) * WEIGHTED(x) + WAVE(2.0, shift=x))


def _weighted_by(x, out=3.0):
    return x * np.sum(out)


class _Weighting:
    def by(self, x, out=1.0):
        return x + np.sum(out)


_weighting = _Weighting()


@program(normal(3))
def out_that_means_something_else(x):
    def scaled(value, out="half"):
        return value * (0.5 if out == "half" else 2.0)

    weights = np.array([1.0, 2.0, 0.5])
    first = _weighted_by(x, out=weights) + _weighting.by(x, out=weights)
    return np.sum(first * weights * scaled(x, out="twice"))


a = [0.5, 2.0]


@program(0.3, 1.7)
def global_called_as_a_variable_of_generated_code(x, y):
    x, y = list(map(np.asanyarray, (x, y)))
    return a[0] * x * y + a[1] * x


@program(normal(4))
def reduce_with_lambda(x):
    return reduce(lambda total, value: total * 0.5 + value**2, x, 1.0)


@program(1.1, 2.2, 3.3)
def reduce_with_operator(x, y, z):
    return functools.reduce(operator.mul, [x, y, z]) + operator.add(x, y)


@program(normal(4))
def map_and_sum(x):
    return sum(map(lambda value: value**3, x))


@program(0.5, 1.5, 2.5)
def star_arguments(*values):
    total = 1.0
    for value in values:
        total = total * value + 1
    return total


def _weighted(*values, scale=1.0, **weights):
    total = 0.0
    for value in values:
        total = total + value**2
    return scale * total + weights["first"] * values[0] + weights.get("second", 0.0)


@program(0.5, 1.5)
def star_and_double_star(x, y):
    options = {"first": x, "second": y * y}
    return _weighted(x, y, scale=2.0, **options)


@program(0.5, 1.5)
def double_star_literal(x, y):
    return _weighted(y, **{"first": x * y})


def _keyword_only(x, *, scale, power=2):
    return scale * x**power


def _powers(x, y, n=3):
    if n == 0:
        return x * y
    return _powers(x * y, y, n - 1)


@program(1.2, 0.7)
def star_arguments_of_a_recursion(x, y):
    pair = (x * y, y)
    named = {"y": x, "x": y}
    return _powers(*pair) + _powers(**named, n=2)


@program(1.2, 0.7)
def star_arguments_of_operations(x, y):
    pair = [x * y, x + y]
    return np.hypot(*pair) * np.maximum(*pair) * math.atan2(*pair)


@program(1.2, 0.7)
def largest_of_star_arguments(x, y):
    candidates = [x * i - y * i**2 for i in range(4)]
    return max(*candidates, x * y) - min(*candidates) * y


@program(0.5, 1.5)
def keyword_only_arguments(x, y):
    return _keyword_only(x, scale=y) + _keyword_only(y, power=3, scale=x)


def _positional_only(x, y, /, z=1.0):
    return x * y - z


@program(0.5, 1.5)
def positional_only_arguments(x, y):
    return _positional_only(x, y, z=x) * _positional_only(y, x)


@program(0.5)
def global_constant_in_callee(x):
    def scaled(z):
        return z * SCALE

    return scaled(x) ** 2


@program(0.5)
def ten_calls_deep(x):
    def f1(x):
        return np.sin(x) * x

    def f2(x):
        return f1(x) + f1(x * 0.5)

    def f3(x):
        return f2(x) * 1.1

    def f4(x):
        return f3(x) + x

    return f4(f3(f2(f1(x))))


def _documented_pipeline(x: float, steps: int = 3) -> float:
    """Runs a few steps, and leaves by the first good one."""
    for k in range(steps):
        x = x * 1.5
        if x > 2:
            return x + k
    return x


@program(0.9)
def early_return_in_callee(x):
    return _documented_pipeline(x) * _documented_pipeline(x, steps=1)


@program(0.9)
def callee_without_use(x):
    _square(x)
    return x + 1


@functools.cache
def _table(n):
    return [1.0 / math.factorial(k) for k in range(n)]


@program(0.9)
def cached_inactive_callee(x):
    total = 0.0
    for k, weight in enumerate(_table(6)):
        total += weight * x**k
    return total


@program(0.4)
def function_redefined_in_branch(x):
    if x > 1:

        def curve(z):
            return z**2

    else:

        def curve(z):
            return z**3 + x

    return curve(x + 1)


def _doubled_result(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2.0 * function(*args, **kwargs)

    return wrapper


@_doubled_result
def _decorated(z, power=2):
    return z**power


@program(0.7, 1.3)
def decorated_helper(x, y):
    return _decorated(x) * _decorated(y, power=3)


def _newton(a):
    z = a
    while True:
        z = 0.5 * (z + a / z)
        yield z


def _with_square(a, times=2):
    for _ in range(times):
        yield a
    yield a * a


def _both(a, b):
    yield from _with_square(a, times=1)
    yield b


@program(np.array([0.7, 1.3, 0.4]), jax=False)
def generators(x):
    def changed_in_place(state, factor):
        state = state.copy()
        for k in range(3):
            state *= factor + k
            yield k, state

    root = total = 0.0
    for z in _newton(abs(x[1])):
        if abs(z - root) < 1e-12:
            break
        if z > 1.32:
            continue
        root = z
    for k, state in changed_in_place(x, x[0]):
        total += (k + 1) * np.sum(state) ** 2
    pairs = [a * b for a, b in zip(x, _with_square(total))]  # noqa: B905
    return sum(_both(root, total)) * sum(pairs) + list(_with_square(x[2]))[-1]


@program(np.array([0.4, 1.2, 0.7]), jax=False)
def functions_by_choice(x):
    total = x[0]
    for k in range(3):
        if x[k] > 1.0:
            act = np.tanh
        else:

            def act(z, k=k):
                return z * x[k]

        total = total + act(total)
    inner = (lambda z: z * total) if total > 0 else (lambda z: z)
    table = {"square": lambda z: z * z, "sine": np.sin, "inner": lambda z: z * x[1]}
    for name, function in table.items():
        total = total + len(name) * function(x[2]) * inner(x[0])
    return total


@program(0.4)
def closures_made_in_a_loop(x):
    total = 0.0
    for k in range(3):

        def term(z, k=k):
            return z**k * x

        total = total + term(x + 1)
    return total


@program(0.8)
def immediately_called_lambda(x):
    return (lambda y: y * y + x)(x + 1)


@program(1.5)
def pipeline_of_generators(x):
    def powers(base, count):
        return [base**k for k in range(count)]

    return sum(value / (1 + k) for k, value in enumerate(powers(x, 4)))


@program(2.0, 5)
def recursion_over_captured_values(x, n):
    y = x * 2

    def even(k, acc=0.0):
        if k == 0:
            return acc
        return odd(k - 1, acc + y)

    def odd(k, acc):
        y = acc * 0.5
        return even(k - 1, acc * half(k) + y)

    half = lambda k: x / k  # noqa: E731
    return even(n - 1) * x


@program(np.array([1.0, 2.0, 3.0]))
def recursion_with_a_function_inside(xs):
    def walk(i):
        def local(t):
            return t * xs[i]

        if i == len(xs):
            return 0.0
        return local(i + 1.0) + walk(i + 1) * xs[i]

    return sum(map(walk, range(3)))


@program(2.0)
def recursion_captures_what_a_loop_changes(x):
    y = x
    for s in (1.0, 2.0):

        def go(n):
            return y if n == 0 else s * go(n - 1)  # noqa: B023

        y = go(2) * x
    return y


@program(2.0)
def recursion_over_a_tree_inside(x):
    def fold(t):
        if isinstance(t, tuple):
            return fold(t[0]) * fold(t[1])
        return t * w

    w = x * 2
    return fold((x, (x, w)))


@program(2.0, 4)
def recursion_of_inactive_values(x, n):
    def factorial(k):
        return 1 if k < 2 else k * factorial(k - 1)

    def power(k, z):
        return 1.0 if k == 0 else z * power(k - 1, z)

    return x * factorial(n) + power(2, 3.0) * power(3, x)


def _each(function, values):
    return [function(v) for v in values]


def _doubled(tree):
    if isinstance(tree, list):
        return _each(lambda part: _doubled(part), tree)
    return tree * 2.0


@program(0.7, 1.3)
def recursion_through_a_lambda(x, y):
    doubled = _doubled([x, [y, x * y]])
    return doubled[0] * doubled[1][0] + doubled[1][1]


def _of_links(links):
    return 0.0 if links is None else links[0] ** 2 + links[0] * _of_links(links[1])


@program(normal(3), order=1)
def recursion_that_ends_at_none(x):
    return _of_links((x[0], (x[1], (x[2], None))))


@functools.lru_cache
def _cached_power(x, n):
    return x if n == 0 else x * _cached_power(x, n - 1)


@program(0.7, 1.3, jax=False)
def cached_recursion(x, y):
    return _cached_power(x, 3) * y + _cached_power(x, 3)


def _counter(total):
    def add(v):
        nonlocal total
        total = total * v
        return total + v

    return add


@program(normal(3))
def closures_with_a_variable_each(x):
    first, second = _counter(x[0]), _counter(x[1])
    return first(x[1]) * first(x[2]) + second(x[0]) * second(x[2])


@program(normal(3))
def lambdas_with_defaults_in_a_comprehension(x):
    powers = [lambda z, k=k: np.sum(z**k) for k in range(1, 4)]
    scaled = {k: (lambda z: z * k) for k in (2, 5)}
    total = sum(p(x[i:]) for i, p in enumerate(powers))
    return total + scaled[2](x[0]) ** 2


@program(1.5)
def test_of_a_list_that_an_inner_function_fills(x):
    held = []

    def keep(value):
        held.append(value)

    keep(x)
    if held:
        return x * held[0]
    return x * 3


@program(1.5)
def test_of_a_flag_that_an_inner_function_sets(x):
    seen = False

    def look():
        nonlocal seen
        seen = True

    for _ in range(2):
        if seen:
            x = x * x
        look()
    return x
