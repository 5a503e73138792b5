"""Every kind of node of the syntax, with a differentiated value put through it."""

from __future__ import annotations

import math

import numpy as np

from .judge import refused

# -- expressions ---------------------------------------------------------------------


def bool_op(x):
    return (x[0] and x[1]) * (0.0 or x[2])


def named_expr(x):
    if (y := x[0] * x[1]) > 0:
        return y * (z := x[2]) + z
    return y


def walrus_in_a_while(x):
    y = x[0]
    while (y := y * 2) < 10 and (z := y * x[1]) < 5:
        y = y + z
    return y * x[2]


def bin_op_add_sub_mult(x):
    return (x[0] + x[1] - x[2]) * x[1]


def bin_op_div_pow(x):
    return x[0] / x[1] ** x[2]


def bin_op_mod_floor_div(x):
    return (x[0] * 3 % 0.5) * (x[1] * 7 // 0.3)


def bin_op_mat_mult(x):
    return (x @ x) * x[0]


def bin_op_bits(x):
    flags = (x > 0.5) & (x < 2) | (x > 100) ^ (x > 200)
    return np.sum(x * flags) * (1 << 2 >> 1)


def unary_op(x):
    return -x[0] * +x[1] * (not x[2]) + np.sum(~(x > 1) * x)


def lambda_(x):
    f = lambda v, w=x[1], *, k=x[2]: v * w * k  # noqa: E731
    return f(x[0]) * f(x[0], x[2], k=1.0)


def if_exp(x):
    return (x[0] if x[1] > 0 else x[2]) * (x[1] if x[0] > 1 else x[2] ** 2)


def if_exp_of_containers(x):
    a, b = (x[0], x[1]) if x[2] > 0 else (x[1], x[0])
    return a * b**2


def dict_(x):
    d = {"a": x[0], **{"b": x[1]}, "c": {"d": x[2]}}
    return d["a"] * d["b"] * d["c"]["d"]


@refused()
def set_(x):
    return sum({x[0], x[1]}) * x[2]


def list_comp(x):
    return sum([v * w for v in x if v > 0.5 for w in (x[0], x[1])])


@refused()
def set_comp(x):
    return sum({v * 2 for v in x})


def dict_comp(x):
    d = {i: v**2 for i, v in enumerate(x)}
    return d[0] * d[2]


@refused()
def dict_comp_with_keys(x):
    return sum({float(v): 1 for v in x})


def generator_exp(x):
    return sum(v * v for v in x) * math.prod(v for v in x)


@refused()
def await_(x):
    async def g():
        return x[0] ** 2

    async def f():
        return await g()

    try:
        f().send(None)
    except StopIteration as e:
        return e.value
    return 0.0


def yield_(x):
    def g():
        yield x[0]
        yield x[1] * x[2]

    total = 0.0
    for v in g():
        total = total + v**2
    return total


@refused()
def yield_from(x):
    def inner():
        yield x[0]
        yield x[1]

    def g():
        yield from inner()
        yield x[2]

    total = 1.0
    for v in g():
        total = total * v
    return total


@refused()
def value_of_yield_from(x):
    def inner():
        yield x[0]
        return x[1]

    def g():
        r = yield from inner()
        yield r

    total = 1.0
    for v in g():
        total = total * v
    return total


@refused()
def value_of_yield(x):
    def g():
        r = yield 1.0
        yield r * x[0]

    it = g()
    next(it)
    return it.send(x[1])


def compare(x):
    return x[0] * (x[1] > x[2]) + (0 < x[0] < 1) * x[1] + np.sum(x[x >= 0.5])


@refused("vmap")
def compare_in(x):
    return x[0] * (x[1] not in [1.5, 2.0]) + (2 in (1, 2)) * x[2]


def compare_order(x):
    return x[0] * (x[1] <= x[2]) + x[1] * (x[0] != x[2]) + x[2] * (x[0] == 5.0)


def compare_is(x):
    y = x[0]
    return (y if y is not None else x[1]) * (x[2] if None is None else 0.0)


def call(x):
    return np.sum(x, axis=0) * np.sum(*[x], **{"axis": 0})


@refused()
def joined_str(x):
    return float(f"{float(x[0])!r:>30}") * x[1]


def joined_str_that_is_looked_at(x):
    text = f"{x[0]:.3f}"
    assert len(text) > 0, text
    return x[0] * x[1]


def constant(x):
    return 2.5 * x[0] + True * x[1] + int("3") * x[2]


def constant_complex(x):
    return (1j * x[0] * 1j).real * x[1]


def attribute(x):
    return x.T.real.sum() * x.size + x.flat[0]


def subscript(x):
    return x[0] * x[-1] * x[1:][0] * x[::-1][0] * x[...][1] * x[None][0, 1]


def subscript_with_a_mask(x):
    return np.sum(x[x > 0.5] ** 2) * np.sum(x[[0, 2]]) * x[np.array([1])][0]


def starred(x):
    a, *b = x
    first, *_ = [*b, a]
    return a * b[0] * first * np.hypot(*x[:2])


def tuple_(x):
    (a, b), c = (x[0], x[1]), x[2]
    return a * b + c


def slice_(x):
    return np.sum(x[slice(0, 2)]) * np.sum(x[1:3:1])


# -- statements ----------------------------------------------------------------------


def function_def(x):
    def f(v, w=2.0, /, k=x[1], *args, m=1.0, **kwargs):
        return v * w * k * m + sum(args) + sum(kwargs.values())

    return f(x[0]) + f(x[0], x[1], x[2], x[0], m=x[1], n=x[2])


@refused()
def async_function_def(x):
    async def f():
        return x[0] * x[1]

    try:
        f().send(None)
    except StopIteration as e:
        return e.value
    return 0.0


@refused()
def class_def(x):
    class C:
        a = x[0]

    return C.a * x[1]


@refused()
def class_def_with_a_method(x):
    class C:
        def f(self, v):
            return v * x[1]

    return C().f(x[0])


def return_early(x):
    if x[0] > 0:
        return x[0] * x[1]
    return x[2]


def return_in_a_loop(x):
    for i, v in enumerate(x):
        if v > 1:
            return v * (i + 1) * x[0]
    return x[0]


@refused("vmap")
def delete(x):
    y = x * 2
    d = {"a": x[0], "b": x[1]}
    a = [x[0], x[1]]
    del y, d["a"], a[0]
    return d["b"] * a[0]


def assign_several(x):
    a = b = x[0] * x[1]
    c, d = e = (x[1], x[2])
    return a * b + c * d * e[0]


def assign_items(x):
    y = np.zeros(3)
    y[0], y[1] = x[0], x[1] ** 2
    y[1:] += x[2]
    z = [0.0] * 2
    z[0] = z[1] = x[0]
    return np.sum(y) * sum(z)


def type_alias(x):
    kind = float
    y: kind = x[0]
    z: float
    z = x[1]
    return y * z


def aug_assign(x):
    a = x[0]
    a += x[1]
    a *= x[2]
    a -= 1
    a /= x[0]
    a **= 2
    a //= 0.01
    a %= 3
    b = x.copy()
    b @= np.outer(x, x)
    return a * x[0] + np.sum(b)


def ann_assign(x):
    y: float = x[0] * x[1]
    return y * x[2]


def for_(x):
    total = 0.0
    for v in x:
        if v > 1:
            continue
        total += v**2
    else:
        total *= x[1]
    return total


def for_with_a_break(x):
    total = x[0]
    for i in range(10):
        total = total * x[1]
        if total > 2:
            break
        if i > 5:
            total += 1
    else:
        total = 0.0
    return total


@refused()
def async_with(x):
    class Scope:
        async def __aenter__(self):
            return x[0]

        async def __aexit__(self, *_):
            return False

    async def f():
        async with Scope() as v:
            return v * x[1]

    try:
        f().send(None)
    except StopIteration as e:
        return e.value
    return 0.0


@refused()
def async_for(x):
    async def g():
        yield x[0]

    async def f():
        total = 0.0
        async for v in g():
            total += v * x[1]
        return total

    try:
        f().send(None)
    except StopIteration as e:
        return e.value
    return 0.0


def while_(x):
    y = x[0]
    n = 0
    while y < 5:
        y = y * (1 + x[1])
        n += 1
    else:
        y = y * x[2]
    return y * n


def if_(x):
    if x[0] > 1:
        y = x[0]
    elif x[1] > 1:
        y = x[1] * x[2]
    else:
        y = 0.0
    return y


def with_(x):
    with np.errstate(all="ignore"):
        y = x[0] ** 2
    return y * x[1]


@refused()
def with_a_value(x):
    class Scope:
        def __enter__(self):
            return x[0]

        def __exit__(self, *_):
            return False

    with Scope() as v:
        return v * x[1]


def match_(x):
    match (x[0], x[1]):
        case (a, b) if a > 1:
            return a * b
        case (a, b):
            return a * b**2


@refused()
def match_mapping(x):
    match {"a": x[0], "b": x[1]}:
        case {"a": a, **rest}:
            return a * rest["b"]
    return 0.0


@refused()
def match_star_and_as(x):
    match [x[0], x[1], x[2]]:
        case [a, *rest] as whole:
            return a * rest[0] * whole[2]
    return 0.0


@refused()
def match_value(x):
    match x[0]:
        case 0.75:
            return x[1] * x[0]
        case float() as v:
            return v * x[2]
    return x[0]


@refused()
def match_singleton_and_or(x):
    flag = None
    match flag:
        case True | False:
            return x[0]
        case None:
            return x[1] * x[2]
    return 0.0


class _Point:
    __match_args__ = ("a", "b")

    def __init__(self, a, b):
        self.a = a
        self.b = b


@refused()
def match_class(x):
    match _Point(x[0], x[1]):
        case _Point(a, b=b):
            return a * b
    return 0.0


def raise_(x):
    if x[0] < 0:
        raise ValueError(f"negative: {x[0]}")
    return x[0] * x[1]


@refused("vmap")
def try_(x):
    try:
        y = x[0] * x[1]
        if x[2] > 0:
            raise ValueError
    except ValueError:
        y = x[1] * x[2]
    else:
        y = 0.0
    finally:
        z = x[0]
    return y * z


@refused()
def try_star(x):
    try:
        raise ExceptionGroup("g", [ValueError(x[0])])
    except* ValueError as e:
        y = e.exceptions[0].args[0]
    return y * x[1]


def assert_(x):
    assert x[0] < 100, "large"
    return x[0] * x[1]


def import_(x):
    import math as m
    from math import sin as s

    return m.cos(x[0]) * s(x[1])


_KEPT = 0.0


@refused()
def global_(x):
    global _KEPT
    _KEPT = x[0]
    return _KEPT * x[1]


def _read_kept():
    return _KEPT


@refused()
def global_read_elsewhere(x):
    global _KEPT
    _KEPT = x[0]
    return _read_kept() * x[1]


def nonlocal_(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v

    add(x[0])
    add(x[1] ** 2)
    return total * x[2]


def expression_statement(x):
    a = []
    a.append(x[0])
    np.multiply(x, 2, out=(y := np.empty(3)))
    return a[0] * y[1]


def pass_break_continue(x):
    total = 0.0
    for v in x:
        if v > 1:
            pass
        elif v < 0.5:
            continue
        else:
            total += v
        if total > 100:
            break
    return total * x[1]


def nested_functions(x):
    def outer(a):
        def inner(b):
            return a * b * x[2]

        return inner

    return outer(x[0])(x[1])


def recursion(x):
    def power(v, n):
        return 1.0 if n == 0 else v * power(v, n - 1)

    return power(x[0], 3) * x[1]
