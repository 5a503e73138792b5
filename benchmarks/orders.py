"""Derivatives of order 1 to 5: how the text grows, beside JAX's list of equations."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np

import srcjax

from .peers import JAX_JIT, available, on_module, the_jax
from .timing import interleaved, spell, table

#: Seconds after which an order is given up; higher ones are not tried.
LIMIT = 60

# --- functions of one number --------------------------------------------------------

INPUTS = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
FIRST = np.linspace(-0.5, 0.7, 15).reshape(3, 5)
SECOND = np.linspace(0.6, -0.4, 5)
TARGETS = np.array([0.1, -0.2, 0.4, 0.3])
DATA = np.linspace(-1.5, 2.0, 20)


def polynomial(x):
    return 3 * x**5 + 2 * x**3 - x


def chain(x):
    return np.exp(np.sin(x)) * np.sin(2 * x)


def rational(x):
    return (x**2 + 1) / (x**3 + 2 * x + 3)


def power(x):
    y = 1.0
    for _ in range(6):
        y = y * x
    return y


def network(t):
    hidden = np.tanh(t * INPUTS @ FIRST)
    return np.mean((hidden @ SECOND - TARGETS) ** 2)


def log_likelihood(s):
    z = DATA / s
    return np.sum(-0.5 * z**2 - np.log(s))


FUNCTIONS = (polynomial, chain, rational, power, network, log_likelihood)


def reverse(f: Callable) -> Callable:
    """The derivative by reverse mode."""
    return srcjax.grad(f)


def forward(f: Callable) -> Callable:
    """The derivative by forward mode: the tangent along 1."""

    def tangent(x):
        return srcjax.jvp(f, (x,), (1.0,))[1]

    return tangent


def nested(f: Callable, step: Callable[[Callable], Callable], order: int) -> Callable:
    """The derivative of an order, by one mode alone."""
    for _ in range(order):
        f = step(f)
    return f


def growth(most: int, point: float = 1.3) -> str:
    """One row per function and order: lines and characters, seconds, equations."""
    rows = []
    for function in FUNCTIONS:
        alive = {"reverse": True, "forward": True}
        for order in range(1, most + 1):
            row = [function.__name__ if order == 1 else "", str(order)]
            for name, step in (("reverse", reverse), ("forward", forward)):
                found = text_of(function, step, order, point) if alive[name] else None
                alive[name] = found is not None
                if found is None:
                    row += ["-", "-", "-"]
                    continue
                text, taken = found
                row += [str(lines_of(text)), str(len(text)), spell(taken)]
            rows.append([*row, *equations(function, order, point)])
    head = ["function", "order"]
    head += ["reverse: lines", "characters", "transform"]
    head += ["forward: lines", "characters", "transform"]
    return table([*head, "JAX grad: equations", "JAX jvp: equations"], rows)


def text_of(
    function: Callable, step: Callable[[Callable], Callable], order: int, point: float
) -> tuple[str, float] | None:
    """The text of a derivative and the time to write it; None if that takes too long.

    Forward mode is asked for the value of the tangent of one order less: one function
    of `(x, x_dot)`, as `srcjax.jvp` writes it.
    """
    start = time.perf_counter()
    try:
        with limited(LIMIT):
            if step is forward:
                inner = nested(function, step, order - 1)
                text = srcjax.source(srcjax.jvp(inner), point)
            else:
                text = srcjax.source(nested(function, step, order), point)
    except TimeoutError:
        return None
    return str(text), time.perf_counter() - start


@contextmanager
def limited(seconds: int):
    """Raises TimeoutError when the block takes longer."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def lines_of(text: str) -> int:
    """Lines of code: no comments, blank lines, imports or `__all__`."""
    skipped = ("#", "import ", "from ", "__all__")
    lines = [line.strip() for line in text.splitlines()]
    return sum(bool(line) and not line.startswith(skipped) for line in lines)


def equations(function: Callable, order: int, point: float) -> list[str]:
    """Equations of JAX's program for the same derivative, by either mode."""
    if not available(JAX_JIT):
        return ["-", "-"]
    jax = the_jax()
    plain = on_module(function, jax.numpy)

    def by_jvp(f: Callable) -> Callable:
        return lambda x: jax.jvp(f, (x,), (1.0,))[1]

    return [
        str(count(jax.make_jaxpr(nested(plain, step, order))(point).jaxpr))
        for step in (jax.grad, by_jvp)
    ]


def count(jaxpr: Any) -> int:
    """Equations of a jaxpr, those of the calls inside it included."""
    total = 0
    for equation in jaxpr.eqns:
        inner = [
            getattr(value, "jaxpr", value)
            for value in equation.params.values()
            if hasattr(value, "jaxpr") or hasattr(value, "eqns")
        ]
        total += sum(map(count, inner)) if inner else 1
    return total


# --- what the derivatives execute ---------------------------------------------------


class Counted(np.ndarray):
    """An array that counts the operations it takes part in, and their elements."""

    calls = 0
    elements = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [np.asarray(i) if isinstance(i, Counted) else i for i in inputs]
        if out is not None:
            kwargs["out"] = tuple(np.asarray(o) for o in out)
        result = getattr(ufunc, method)(*plain, **kwargs)
        Counted.calls += 1
        Counted.elements += work(ufunc, plain, result)
        if out is not None:
            return out[0]
        return result.view(Counted) if isinstance(result, np.ndarray) else result


def standing_alone(function: Callable, *args: Any) -> Callable:
    """What is generated for a derivative, as it stands: it takes any kind of array."""
    names: dict[str, Any] = dict(globals())
    exec(str(srcjax.source(function, *args)), names)
    return names[names["__all__"][0]]


def work(ufunc: np.ufunc, inputs: list, result: Any) -> int:
    """How many numbers an operation reads or makes; multiplications of a product."""
    sizes = [np.size(i) for i in inputs]
    if ufunc is np.matmul:
        return math.prod(sizes) // max(np.shape(inputs[0])[-1], 1)
    return max([*sizes, np.size(result)])


def executed(call: Callable[[], Any]) -> tuple[int, int]:
    """Operations on arrays that a call executes, and their elements."""
    Counted.calls = Counted.elements = 0
    call()
    return Counted.calls, Counted.elements


WIDE = np.linspace(-1.0, 1.0, 4000).reshape(100, 40)
LABELS = np.sin(np.arange(100.0))
LAST = np.linspace(-1.0, 1.0, 30)


def elementwise_chain(x):
    return np.sum(np.exp(np.sin(x)) * np.sin(2 * x))


def elementwise_rational(x):
    return np.sum((x**2 + 1) / (x**2 + 2 * x + 3))


def network_of_matrix(W):
    hidden = np.tanh(WIDE @ W)
    return np.sum((hidden @ LAST - LABELS) ** 2)


def gaussian(x):
    z = (x - 0.3) / 1.7
    return np.sum(-0.5 * z * z - 0.9)


EXECUTED: tuple[tuple[Callable, np.ndarray], ...] = (
    (elementwise_chain, np.linspace(0.1, 2.0, 4000)),
    (elementwise_rational, np.linspace(0.1, 2.0, 4000)),
    (network_of_matrix, np.linspace(-0.5, 0.5, 1200).reshape(40, 30)),
    (gaussian, np.linspace(-1.0, 2.0, 4000)),
)


def costs(rounds: int) -> str:
    """Operations and time of the gradient and of `hvp`, in calls of the function."""
    head = ["function", "its time"]
    for name in ("jvp", "grad", "hvp"):
        head += [f"{name}: operations", "elements", "time"]
    return table(head, [cost(function, x, rounds) for function, x in EXECUTED])


def cost(function: Callable, x: np.ndarray, rounds: int) -> list[str]:
    """One row of the table."""
    v = np.cos(np.arange(float(x.size))).reshape(x.shape)
    gradient = standing_alone(srcjax.grad(function), x)
    calls: dict[str, Callable[[Any, Any], Any]] = {
        "function": lambda x, v: function(x),
        "grad": lambda x, v: gradient(x),
        "jvp": standing_alone(srcjax.jvp(function), x),
        "hvp": standing_alone(srcjax.jvp(srcjax.grad(function)), x),
    }
    for call in calls.values():
        call(x, v)
    counted = {
        name: executed(lambda c=c: c(x.view(Counted), v.view(Counted)))
        for name, c in calls.items()
    }
    times = interleaved(
        {name: lambda c=c: c(x, v) for name, c in calls.items()}, rounds
    )
    base_calls, base_elements = counted["function"]
    row = [function.__name__, spell(times["function"])]
    for name in ("jvp", "grad", "hvp"):
        n, elements = counted[name]
        shares = (n / base_calls, elements / base_elements)
        row += [f"{share:.1f}" for share in shares]
        row.append(f"{times[name] / times['function']:.1f}")
    return row


def polynomials() -> str:
    """The third derivative of the polynomial, to be read."""
    parts = [
        srcjax.source(nested(polynomial, reverse, 3), 1.3),
        srcjax.source(srcjax.jvp(nested(polynomial, forward, 2)), 1.3),
    ]
    return "\n\n".join(f"```python\n{text.strip()}\n```" for text in parts)
