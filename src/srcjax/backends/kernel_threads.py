"""Kernels of one loop over long arrays, shared by threads.

    def f_kernel(w, x):               def f_kernel_part(first, last, step, w, x, y):
        r = -1.0 / w.size                 r = -1.0 / w.size
        y = np.empty(len(x))      ->      for i in range(first, last):
        for i in range(len(x)):               y[i] = r * np.exp(x[i] * w[i])
            y[i] = ...
        return y                      y = np.empty(len(x))
                                      f_kernel_part(0, len(x), 32768, w, x, y)

It is done where each iteration computes the elements of its index in arrays that the
kernel makes, and nothing that another one reads: then it does not matter which thread
computes which, and the numbers are the same. Sums of all elements are none of these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.backends import threads
from srcjax.backends.threads import in_threads


@dataclass
class Split:
    """A kernel in two: what makes its arrays, and what computes parts of them."""

    #: The parameter that tells how many iterations there are, by its place.
    counted: int
    #: A function of the kernel's arguments that gives the arrays, in Python.
    made: Callable[..., tuple]
    #: The text of the function of a part.
    text: str
    name: str
    #: Whether the kernel gives a tuple.
    many: bool


def split(text: str) -> Split | None:
    """The parts of a kernel; None where its iterations are not known to be apart."""
    node = syntax.gast_of(text[text.index("def ") :]).body[0]
    parameters = [p.id for p in node.args.args]
    loops = [s for s in node.body if isinstance(s, gast.For)]
    if len(loops) != 1:
        return None
    (loop,) = loops
    at = node.body.index(loop)
    before, after = node.body[:at], node.body[at + 1 :]
    makers = [s for s in before if is_maker(s, parameters)]
    made = [s.targets[0].id for s in makers]
    rest = [s for s in before if s not in makers]
    given = results(after)
    size = counted(loop)
    if given is None or size not in parameters or given != made or not made:
        return None
    if not (all(map(is_number, rest)) and is_apart(loop, set(made))):
        return None
    if (syntax.names_read(rest) | syntax.names_written(rest)) & set(made):
        return None
    name = f"{node.name}_part"
    names = syntax.Names(syntax.all_names(node))
    first, last, step = map(names.fresh, ("first", "last", "step"))
    loop.iter = syntax.expression(f"range({first}, {last})")
    head = (
        f"def {name}({', '.join([first, last, step, *parameters, *made])}):\n    pass"
    )
    (part,) = syntax.statements(head)
    part.body = [*rest, loop]
    listed = ", ".join(parameters)
    (maker,) = syntax.statements(f"def made({listed}):\n    return {', '.join(made)},")
    maker.body = [*makers, *maker.body]
    namespace: dict[str, Any] = {"np": np}
    exec(syntax.text(maker), namespace)
    many = isinstance(after[0].value, gast.Tuple)
    where = parameters.index(size)
    return Split(where, namespace["made"], syntax.text(part), name, many)


def results(after: list[Any]) -> list[str] | None:
    """The names that a kernel returns after its loop; None where it does more."""
    if len(after) != 1 or not isinstance(after[0], gast.Return):
        return None
    value = after[0].value
    parts = value.elts if isinstance(value, gast.Tuple) else [value]
    if not all(isinstance(p, gast.Name) for p in parts):
        return None
    return [p.id for p in parts]


def is_maker(stmt: Any, parameters: list[str]) -> bool:
    """Whether it is `y = np.empty(len(x))`, of parameters."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.value, gast.Call):
        return False
    names = syntax.names_read(stmt.value.args) - {"np", "len"}
    return syntax.dotted(stmt.value.func) == "np.empty" and names <= set(parameters)


def counted(loop: gast.For) -> str:
    """The array that a loop goes through; nothing where it is another loop."""
    call = loop.iter
    if not isinstance(call, gast.Call) or not syntax.is_name(call.func, "range"):
        return ""
    size = call.args[0]
    if len(call.args) != 1 or not isinstance(size, gast.Call):
        return ""
    named = syntax.is_name(size.func, "len") and isinstance(size.args[0], gast.Name)
    return size.args[0].id if named else ""


def is_number(stmt: Any) -> bool:
    """Whether a statement binds a number, or leaves the kernel."""
    if isinstance(stmt, gast.If):
        return not stmt.orelse and all(isinstance(s, gast.Raise) for s in stmt.body)
    return isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name)


def is_apart(loop: gast.For, made: set[str]) -> bool:
    """Whether iterations write to their own elements alone, and read no other's."""
    index = getattr(loop.target, "id", "")
    if not all(isinstance(s, gast.Assign) for s in loop.body):
        return False
    if index in syntax.names_written(loop.body):
        return False
    if exposed(loop.body) & (syntax.names_written(loop.body) - made):
        return False  # what the iteration before it left
    elements = 0
    for node in syntax.walk(loop.body):
        if isinstance(node, gast.Call) and not is_function(node.func):
            return False  # a method, which may change what it is of
        if not isinstance(node, gast.Subscript):
            continue
        own = getattr(node.value, "id", "") in made and syntax.is_name(
            node.slice, index
        )
        if isinstance(node.ctx, gast.Store) and not own:
            return False
        elements += own
    return elements == sum(syntax.count_uses(loop.body, n) for n in made)


def is_function(called: Any) -> bool:
    """Whether it is a name, or a function of a module."""
    path = syntax.dotted(called) or ""
    return "." not in path or path.partition(".")[0] in ("np", "math")


def shared(whole: Callable, found: Split, part: Callable) -> Callable:
    """A kernel that is shared by threads where its arrays are long.

    Args:
        whole: the kernel as it is.
        part: what computes a part.
    """
    from numba.core.errors import NumbaError

    counted, made, many = found.counted, found.made, found.many
    parts = in_threads(part)

    def call(*args: Any) -> Any:
        size = len(args[counted])
        if size < threads.least() or threads.available() < 2:
            return whole(*args)
        arrays = made(*args)
        try:
            part(0, 0, threads.STEP, *args, *arrays)  # compiles, and leaves the kernel
        except NumbaError:
            return whole(*args)
        parts(0, size, threads.STEP, *args, *arrays)
        return arrays if many else arrays[0]

    return call
