"""What Numba is given for a kernel: the same text with words that it makes fast.

    y = np.empty(len(x))                     y = on_large_pages(np.empty(len(x)))
    for i in range(len(x)):            ->    for i in range(len(x)):
        y[i] = np.exp(x[i])                      y[i] = exp_(x[i])

Lists of numbers are arrays (`kernel_tapes`). In loops whose iterations do not depend on
each other elementary functions are those of `backends.elementary`, and extremes a word
that vectorises; large arrays are on large pages (`kernel_words`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.flow.bindings import exposed
from srcjax.backends.elementary import name_of
from srcjax.backends.interleaved import interleaved
from srcjax.backends.kernel_ahead import computed_ahead
from srcjax.backends.kernel_calls import calling_text, fill, results_made, takes_long
from srcjax.backends.kernel_gathers import with_gathers_apart
from srcjax.backends.kernel_memory import with_memory_of_calls
from srcjax.backends.kernel_tapes import tapes_as_arrays

#: Modules whose functions may be elementary, by the names that texts have for them.
_MODULES = {"np": np}
#: Steps of folds, and the words for them.
_EXTREMES = {
    "x if x > y or x != x else y": "larger",
    "x if x < y or x != x else y": "smaller",
}
_MAKERS = ("np.empty", "np.zeros")


def file_text(
    text: str, checked: Sequence[str] = (), ranks: Sequence[int | None] = ()
) -> str:
    """What stands in the file of a kernel.

    Args:
        checked: the arrays of which an index may be out of bounds.
        ranks: those of the arguments, where that tells the shapes of results.
    """
    node = syntax.gast_of(text[text.index("def ") :]).body[0]
    used: set[str] = set()
    words: set[str] = set()
    results = results_made(node, ranks)
    calling = calling_text(node, results, bool(checked))
    calling += f"GOES_ON = {takes_long(node)}\n"

    node.body = [syntax.map_expressions(s, in_double) for s in node.body]
    if ranks:
        words |= computed_ahead(node, ranks, set(checked), becomes_vectors)

    def elementary(expr: Any) -> Any:
        if isinstance(expr, gast.Call):
            path = syntax.dotted(expr.func) or ""
            function = getattr(_MODULES.get(path.partition(".")[0]), path[3:], None)
            function = function or getattr(math, path.removeprefix("math."), None)
            name = name_of(function) if "." in path else None
            if name is not None:
                used.add(name)
                return gast.Call(syntax.name(f"{name}_"), expr.args, [])
        if isinstance(expr, gast.BinOp) and isinstance(expr.op, gast.Pow):
            if is_half(expr.right):  # LLVM makes a root of it
                return expr
            used.add("power")
            return syntax.call("power_", expr.left, expr.right)
        return expr

    def made(expr: Any) -> Any:
        path = syntax.dotted(expr.func) if isinstance(expr, gast.Call) else None
        if path not in _MAKERS:
            return expr
        empty = gast.Call(syntax.expression("np.empty"), expr.args, expr.keywords)
        name = "on_large_pages" if path == "np.empty" else "cleared"
        words.add(name)
        return syntax.call(name, empty)

    for loop in syntax.walk(node.body):
        if isinstance(loop, gast.For) and becomes_vectors(loop.body):
            loop.body = [syntax.map_expressions(s, elementary) for s in loop.body]
    called = {f"{name}_" for name in used}
    with_gathers_apart(node, called)
    interleaved(node, called, folds_of)
    for loop in syntax.walk(node.body):
        if isinstance(loop, gast.For):
            for stmt in loop.body:
                word = extreme(stmt)
                if word is not None:
                    words.add(word)
                    stmt.value = syntax.call(
                        word, syntax.name(stmt.targets[0].id), stmt.value.body
                    )
    fill(node, results)
    words |= with_memory_of_calls(node)
    node.body = [syntax.map_expressions(s, made) for s in node.body]
    words |= tapes_as_arrays(node)
    if checked:
        words.add("within")
        node.body = [syntax.map_expressions(s, within(checked)) for s in node.body]
    own = syntax.names_read(node) & {"Differs", "added"}
    syntax.with_words_apart(node, words | called, syntax.Names(syntax.all_names(node)))
    lines = ["import math", "import numpy as np", "", "", syntax.text(node), "", ""]
    lines += [calling, ""]
    return "\n".join(lines + listed(own, words, used)) + "\n"


def listed(own: set[str], words: set[str], used: set[str]) -> list[str]:
    """A function that has the words of the text: to compile it takes them, to run none.

    Args:
        own: words of `kernels`.
        words: those of `kernel_words`.
        used: elementary functions.
    """
    names = sorted(own | words | {f"{name}_" for name in used})
    lines = ["def with_words():"]
    lines += [f"    global {', '.join(names)}"] if names else ["    pass"]
    for module, found in (
        ("kernels", {"compiled_sum" if w == "added" else w for w in own}),
        ("kernel_words", words | ({"elementary"} if used else set())),
    ):
        if found:
            spelled = ", ".join(sorted(found))
            lines.append(f"    from srcjax.backends.{module} import {spelled}")
    lines += ["    added = compiled_sum()"] if "added" in own else []
    return lines + [f'    {name}_ = elementary("{name}")' for name in sorted(used)]


def within(checked: Sequence[str]) -> Callable[[gast.expr], gast.expr]:
    """Has `x[i, j]` of such an array look whether it has these places."""

    def visit(node: gast.expr) -> gast.expr:
        if not isinstance(node, gast.Subscript) or syntax.root_of(node) not in checked:
            return node
        if getattr(node.value, "attr", "") == "shape":  # that is no array
            return node
        several = isinstance(node.slice, gast.Tuple)
        items = list(node.slice.elts) if several else [node.slice]
        taken = [k for k, item in enumerate(items) if not is_new_axis(item)]
        dots = [k for k in taken if is_dots(items[k])]
        for axis, k in enumerate(taken):
            if isinstance(items[k], gast.Slice) or k in dots:
                continue
            place = str(axis)
            if dots and k > dots[0]:
                place = f"x.ndim - {len(taken) - axis}"
            text = f"within(i, x.shape[{place}], {place})"
            items[k] = syntax.expression(text, i=items[k], x=syntax.clone(node.value))
        index = gast.Tuple(items, syntax.LOAD) if several else items[0]
        return gast.Subscript(node.value, index, node.ctx)

    return visit


def is_new_axis(item: Any) -> bool:
    """Whether an item of an index makes an axis."""
    return isinstance(item, gast.Constant) and item.value is None


def is_dots(item: Any) -> bool:
    """Whether it is `...`."""
    return isinstance(item, gast.Constant) and item.value is ...


def extreme(stmt: Any) -> str | None:
    """The word for `m = x if x > m or x != x else m`; None for all others."""
    if not (isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.IfExp)):
        return None
    (target,), x, y = stmt.targets, stmt.value.body, stmt.value.orelse
    if not (isinstance(target, gast.Name) and syntax.is_name(y, target.id)):
        return None
    for step, word in _EXTREMES.items():
        if syntax.equal(stmt.value, syntax.expression(step, x=x, y=y)):
            return word
    return None


def in_double(expr: Any) -> Any:
    """`float(x)` as `np.float64(x)`: Numba's `float` leaves single precision."""
    if isinstance(expr, gast.Call) and syntax.is_name(expr.func, "float"):
        return gast.Call(syntax.expression("np.float64"), expr.args, [])
    return expr


def is_half(node: Any) -> bool:
    """Whether it is `0.5`, in either precision."""
    if isinstance(node, gast.Call) and syntax.dotted(node.func) == "np.float32":
        (node,) = node.args
    return isinstance(node, gast.Constant) and node.value == 0.5


def becomes_vectors(body: list[Any]) -> bool:
    """Whether the iterations of a loop do not depend on each other, but for folds.

    Elsewhere what the library of the machine computes is faster: one number at a time.
    """
    if not all(isinstance(s, gast.Assign) for s in body):
        return False
    loaded: set[tuple[str, str]] = set()
    stored: set[tuple[str, str]] = set()
    for node in syntax.walk(body):
        if isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name):
            here = isinstance(node.ctx, gast.Store)
            (stored if here else loaded).add((node.value.id, syntax.text(node.slice)))
    arrays = {name for name, _ in stored}
    if any(name in arrays and (name, at) not in stored for name, at in loaded):
        return False
    return exposed(body) & syntax.names_written(body) <= folds_of(body) | arrays


def folds_of(body: list[Any]) -> set[str]:
    """The names of sums and extremes of all iterations."""
    steps = {
        s.targets[0].id
        for s in body
        if isinstance(s.targets[0], gast.Name)
        and (
            extreme(s) is not None
            or isinstance(s.value, gast.Call)
            and syntax.is_name(s.value.func, "added")
        )
    }
    return steps & exposed(body)
