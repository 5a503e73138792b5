"""Every way of calling a function with a differentiated value."""

from __future__ import annotations

import functools
import math
import operator

import numpy as np

from .judge import refused


def _product(a, b=2.0, *args, k=1.0, **kwargs):
    return a * b * k + sum(args) + sum(kwargs.values())


def positional(x):
    return _product(x[0], x[1])


def keyword(x):
    return _product(b=x[0], a=x[1], k=x[2])


def star(x):
    pair = (x[0], x[1])
    return _product(*pair) * _product(*[x[1], x[2]], *(x[0],))


def star_of_an_array(x):
    return _product(*x)


def double_star(x):
    return _product(**{"a": x[0], "b": x[1]}, **{"k": x[2], "z": x[0]})


def double_star_of_a_built_dict(x):
    options = {}
    options["a"] = x[0]
    options["k"] = x[1]
    return _product(**options)


def _shifted(a, shift=0.5, scale=(1.0, 2.0)):
    return (a + shift) * scale[1]


def by_default(x):
    return _shifted(x[0]) * _shifted(x[1], scale=(x[0], x[2]))


def default_is_a_value(x):
    def f(v, w=x[1]):
        return v * w

    return f(x[0])


def default_is_a_changed_value(x):
    y = x[1]

    def f(v, w=y):
        return v * w

    y = x[2]
    return f(x[0]) * y


def partial(x):
    f = functools.partial(_product, x[0], k=x[1])
    return f(x[2]) * f(b=x[1])


def partial_of_a_partial(x):
    f = functools.partial(functools.partial(_product, x[0]), k=x[1])
    return f(x[2])


_HALF = functools.partial(_product, 0.5, k=3.0)


def partial_of_the_module(x):
    return _HALF(x[0]) * x[1]


@refused()
def partial_method(x):
    class C:
        def f(self, a, b):
            return a * b

        g = functools.partialmethod(f, 2.0)

    return C().g(x[0]) * x[1]


@refused()
def method_of_an_array(x):
    f = x.sum
    return f() * x.dot(x) * np.ndarray.mean(x)


@refused()
def bound_method_in_a_list(x):
    fs = [x.sum, x.mean, x.prod]
    return fs[0]() * fs[2]()


@refused()
def method_by_getattr(x):
    return getattr(x, "sum")() * x[0]  # noqa: B009


def function_by_getattr(x):
    return getattr(np, "sin")(x[0]) * getattr(math, "cos")(x[1])  # noqa: B009


def function_in_a_dict(x):
    table = {"sin": np.sin, "square": lambda v: v**2}
    return table["sin"](x[0]) * table["square"](x[1])


def function_by_a_loop(x):
    total = 0.0
    for f in (np.sin, np.cos, lambda v: v * x[0]):
        total = total + f(x[1])
    return total


def function_as_an_argument(x):
    def twice(f, v):
        return f(f(v))

    return twice(np.sin, x[0]) * twice(lambda v: v * x[1], x[2])


def function_from_a_function(x):
    def scaled(k):
        return lambda v: k * v

    return scaled(x[0])(x[1]) * scaled(2.0)(x[2])


def _doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2 * f(*args, **kwargs)

    return wrapper


@_doubled
def _decorated(a, b=1.0):
    return a * b


def decorated(x):
    return _decorated(x[0]) * _decorated(x[1], b=x[2])


def _with_option(k):
    def decorate(f):
        def wrapper(v):
            return f(v) * k

        return wrapper

    return decorate


@_with_option(3.0)
def _optioned(v):
    return v**2


def decorated_with_an_option(x):
    return _optioned(x[0]) * x[1]


@refused()
def decorated_here(x):
    @_doubled
    def f(v):
        return v * x[1]

    return f(x[0])


class _Callable:
    def __init__(self, k):
        self.k = k

    def __call__(self, v, *more):
        return self.k * v + sum(more)


def callable_object(x):
    return _Callable(x[0])(x[1], x[2])


_OBJECT = _Callable(3.0)


def callable_object_of_the_module(x):
    return _OBJECT(x[0], x[1]) * x[2]


def immediately_called(x):
    return (lambda a, b: a * b)(x[0], x[1]) * (lambda: x[2])()


def by_map(x):
    return sum(map(lambda v: v**2, x)) * list(map(math.exp, [x[0]]))[0]


def by_reduce(x):
    return functools.reduce(lambda a, b: a * b + a, x, x[0])


def by_key(x):
    return max([x[0], x[1]], key=lambda v: -v) * min(x[0], x[1], x[2])


def by_operator(x):
    return operator.mul(x[0], operator.add(x[1], x[2]))


@refused("vmap")
def by_sorted(x):
    return sorted(x)[0] * sorted([x[0], x[2]], reverse=True)[0]


def by_zip_and_enumerate(x):
    return sum(a * b * i for i, (a, b) in enumerate(zip(x, x[::-1], strict=True)))


def by_reversed(x):
    return next(iter([x[0]])) * x[1] if False else list(reversed(x))[0] * x[1]


@refused()
def by_iter_and_next(x):
    it = iter(x)
    return next(it) * next(it)


@refused()
def by_iter_with_a_sentinel(x):
    values = [x[0], x[1], 0.0]
    return sum(iter(lambda: values.pop(0), 0.0)) * x[2]


def by_apply_helper(x):
    def apply(f, *args, **kwargs):
        return f(*args, **kwargs)

    return apply(_product, x[0], x[1], k=x[2])


@refused()
def by_vectorize(x):
    return np.sum(np.vectorize(lambda v, k: v**2 * k)(x, x[0]))


@refused()
def by_apply_along_axis(x):
    return np.sum(np.apply_along_axis(lambda v: v * x[0], 0, x))


def by_ufunc_methods(x):
    return np.add.reduce(x) * np.multiply.outer(x, x).sum() + np.add.accumulate(x)[1]


def by_ufunc_at(x):
    y = x.copy()
    np.add.at(y, [0, 0], x[1])
    return np.sum(y * x)


def by_out(x):
    y = np.empty(3)
    np.sin(x, out=y)
    z = np.empty(3)
    np.multiply(x, y, z)
    return np.sum(y * z)


def by_where(x):
    return np.sum(np.add(x, x, where=[True, False, True], out=np.zeros(3)) * x)


def cached(x):
    @functools.lru_cache(None)
    def f(v):
        return v**2

    return f(x[0]) * x[1]


def recursive(x):
    return _power(x[0], 3) * x[1]


def _power(v, n):
    return 1.0 if n == 0 else v * _power(v, n - 1)


def mutually_recursive(x):
    return _even(x[0], 4) * x[1]


def _even(v, n):
    return v if n == 0 else 2 * _odd(v, n - 1)


def _odd(v, n):
    return v if n == 0 else v * _even(v, n - 1)


def result_is_ignored(x):
    y = x.copy()
    _fill(y, x[1])
    return np.sum(y)


def _fill(y, v):
    y[0] = v**2
    return y


def result_is_the_argument(x):
    y = _fill(x.copy(), x[2])
    return np.sum(y * x)


def several_results(x):
    def f(v):
        return v, v**2, [v * 3]

    a, b, (c,) = f(x[0])
    return a * b * c * x[1]


def keyword_only(x):
    def f(*, a, b=x[1]):
        return a * b

    return f(a=x[0])


def positional_only(x):
    def f(a, b=x[1], /):
        return a * b

    return f(x[0])


def variadic_is_indexed(x):
    def f(*args, **kwargs):
        return args[0] * args[-1] * kwargs["k"] * len(args)

    return f(x[0], x[1], k=x[2])


def keyword_is_popped(x):
    def f(**kwargs):
        k = kwargs.pop("k", 2.0)
        return k * kwargs.get("b", 1.0) * kwargs.setdefault("c", x[2])

    return f(k=x[0], b=x[1])


@refused()
def unknown_method_for_its_effect(x):
    import queue

    q = queue.SimpleQueue()
    q.put(x[0])
    return q.get() * x[1]


@refused()
def by_signature(x):
    import inspect

    bound = inspect.signature(_product).bind(x[0], k=x[1])
    return _product(*bound.args, **bound.kwargs)


@refused()
def by_executor(x):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return sum(pool.map(lambda v: v**2, x)) * x[0]


@refused()
def by_dispatch(x):
    @functools.singledispatch
    def f(v):
        return v**2

    return f(x[0]) * x[1]


@refused()
def by_total_ordering(x):
    key = functools.cmp_to_key(lambda a, b: a - b)
    return max([x[0], x[1]], key=key) * x[2]
