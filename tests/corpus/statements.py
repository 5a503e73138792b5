"""The rest of Python's statements and expressions."""

import contextlib
import io
import math as m
import sys

import numpy
import numpy as xp
from numpy import cos
from numpy import exp as e_to_the

from .registry import normal, program

GRAVITY = 9.81
OFFSETS = (0.5, 1.5)
MATRIX = normal(2, 2, seed=3)


@program(0.6)
def assertion(x):
    assert x > 0, "x has to be positive"
    y = numpy.log(x)
    assert y < 10
    return y * x


@program(0.6)
def raise_not_taken(x):
    if x < 0:
        raise ValueError(f"cannot take the root of {x}")
    return numpy.sqrt(x)


@program(0.6)
def printing(x):
    y = x * x
    print("y is", y, file=io.StringIO())
    print(f"{y:.3f}", end="", file=sys.__stderr__ if y > 100 else io.StringIO())
    return y + x


@program(0.6)
def formatted_strings(x):
    label = f"x={x:.2f} and {x * 2!r}"
    name = "the %s" % label
    return x**2 if name.startswith("the") else x


@program(numpy.array([0.0, 1.0, 2.0]))
def errstate(x):
    with numpy.errstate(divide="ignore", invalid="ignore"):
        y = numpy.sin(x) * 2
        z = y * y
    return z.sum()


@program(0.6)
def with_as_and_two_items(x):
    with contextlib.nullcontext(2.0) as factor, contextlib.suppress(KeyError):
        y = x * factor
    return y**2


@program(0.6)
def try_finally(x):
    log = []
    try:
        y = x * x
        y = y + 1
    finally:
        log.append("done")
    return y * len(log)


@program(0.6)
def try_except_not_raised(x):
    try:
        y = m.sqrt(x)
    except ValueError:
        y = 0.0
    return y * x


@program(0.6)
def walrus(x):
    if (y := x * x) > 0.1:
        return y * x
    return y


@program(0.6)
def walrus_in_expression(x):
    z = (y := numpy.sin(x)) * y + x
    return z * y


@program(0.6, 0.9)
def chained_comparison(x, y):
    if 0 < x < y < 1:
        return x * y
    return x + y


@program(0.6, 0.9)
def boolean_operators(x, y):
    if (x > 0 and y > 1) or not x > y:
        z = x * y
    else:
        z = x - y
    return z**2


@program(0.6, 0.9)
def boolean_operators_give_values(x, y):
    first = 0.0 or x
    second = x and y
    third = None or y * 2
    return first * second + third


@program(0.6, 2)
def match_on_integers(x, mode):
    match mode:
        case 0:
            y = x
        case 1 | 2:
            y = x * x
        case _:
            y = 0.0
    return y + x


@program(0.6, ("scale", 3.0), argnums=0)
def match_on_sequence(x, command):
    match command:
        case ("shift", amount):
            return x + amount
        case ("scale", amount) if amount > 0:
            return x * amount * x
        case _:
            return x


@program(0.6, {"kind": "wave", "rate": 2.0}, argnums=0)
def match_on_mapping(x, settings):
    match settings:
        case {"kind": "line", "slope": slope}:
            return slope * x
        case {"kind": "wave", "rate": rate}:
            return numpy.sin(rate * x)
    return x


@program((0.6, 0.9))
def match_binds_active_values(pair):
    match pair:
        case (x, y) if x > y:
            return x - y
        case (x, y):
            return x * y


@program(0.6)
def global_constants(x):
    return GRAVITY * x**2 / 2 + OFFSETS[1] * x


@program(0.6)
def global_statement(x):
    global GRAVITY
    return GRAVITY * x


@program(normal(2))
def global_array(x):
    return x @ MATRIX @ x


@program(0.6)
def pass_and_del(x):
    y = x * 2
    if y > 100:
        pass
    z = y * y
    del y
    y = z + x
    return y


@program(0.6)
def docstring_and_comments(x):
    """Doubles the square.

    The text runs over several lines, and has "quotes" and a \\ in it.
    """
    # A comment on its own line.
    y = x * x  # and one behind
    "a string in the middle"
    return 2 * y


@program(0.6, 0.9)
def type_hints(x: float, y: "float") -> float:
    product: float = x * y
    total: float
    total = product + x
    return total


@program(0.6)
def semicolons_and_long_lines(x):
    y = x; z = y * 2  # fmt: skip # noqa: E702
    w = y * z + x \
        - y / (1 + z)  # fmt: skip
    if w > 0: w = w * 2  # fmt: skip # noqa: E701
    return w


@program(0.6)
def several_targets(x):
    a = b = c = x * x
    a = a + 1
    b += x
    return a * b * c


@program(normal(2), jax=False)
def several_targets_share_an_array(x):
    a = b = x * 2
    a[0] = 1.0
    return b @ x


@program(0.6, 0.9)
def nested_targets(x, y):
    (a, (b, c)), d = (x, (y, x * y)), x + y
    return a * b + c * d


@program(0.6)
def evaluation_order(x):
    values = [x]
    y = values.pop() * 2 + (values.append(x * x) or values[0])
    return y


@program(0.6)
def names_like_derivatives(x):
    dx = x * x
    x2 = dx + 1
    dy = x2 * x
    x_dot = dy + dx
    return x_dot * dy


@program(0.6)
def names_like_helpers(x):
    saved = x * 2
    tape = saved + 1
    y = tape * saved
    backward = forward = y * x
    result = forward + backward
    out = result * saved
    return out


@program(0.6)
def names_of_builtins(x):
    sum = x * 2
    max = sum + 1
    len = max * sum
    range = list = len + x
    return range * list


@program(0.6)
def names_of_modules(x):
    np = x * x
    d = np + 1
    grad = d * np
    return grad


@program(0.6)
def other_names_of_modules(x):
    return m.sin(x) * xp.cos(x) + numpy.tanh(x) * cos(x) + e_to_the(x)


@program(0.6)
def import_inside(x):
    from math import pi

    import numpy as np

    return np.sin(pi * x)


@program(0.6)
def ünïcode(x):
    σ = x * 2
    Δ = σ * σ
    return Δ + σ


@program(0.6)
def _private_and_dunder(x):
    _ = x * 2
    __ = _ * x
    _x = __ + _
    return _x


@program(0.6)
def parameter_named_self(self):
    cls = self * self
    return cls + self


@program(0.6)
def lambda_parameter_shadows(x):
    square = lambda x: x * x
    y = square(x + 1)
    return y * x


@program(0.6)
def comprehension_variable_shadows(x):
    total = sum([x * 2 for x in (1.0, 2.0)])
    return total * x


@program(0.6, 1.0)
def unused_argument_and_dead_code(x, unused):
    y = x * 3
    ignored = numpy.exp(y)  # noqa: F841
    other = y * y
    other = x
    return other * y


@program(0.6, 4)
def integer_arithmetic(x, n):
    half = n // 2
    bits = (n << 1) ^ 3
    return x**half * (bits % 5) + x * (-n) + ~n


@program(0.6)
def constants_of_many_kinds(x):
    flag = True
    nothing = None
    text = b"bytes" + b"more"
    big = 1_000_000
    if flag and nothing is None and len(text) > 3:
        return x * big * 1e-6 + 0x10 * x**2
    return x


@program(numpy.array([0.3, 0.6]))
def subscripts_of_many_kinds(x):
    y = x[0] * x[-1] + x[...].sum() + x[None, :][0, 1] + x[:, numpy.newaxis].sum()
    return y * x[slice(0, 1)][0]


@program(0.6)
def global_and_local_of_one_name(x):
    GRAVITY = x * 2
    return GRAVITY * GRAVITY


@program(0.6)
def loop_with_pass(x):
    for _ in range(3):
        pass
    while x > 1:
        break
    return x * x


@program(0.6)
def matrix_operator(x):
    left = numpy.array([x, x * 2])
    left = left @ MATRIX
    left @= MATRIX
    return left @ left
