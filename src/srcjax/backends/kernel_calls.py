"""How Python calls what is compiled: with arrays for the results, and NumPy's errors.

    def f_kernel(x):                          def call(x):
        y = np.empty(len(x))                      y = empty(len(x))
        for i in range(len(x)):     ->            f_kernel(x, y)
            y[i] = ...                            return y
        return y

An array that a compiler makes takes three times as long as one of NumPy's until it is
Python's. So the results that only depend on the sizes of what is given are made before,
and what is compiled fills them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from srcjax import syntax

_MAKERS = ("np.empty", "np.zeros")
#: What sizes that are known before consist of.
_PLAIN = (gast.Constant, gast.Name, gast.Tuple, gast.Subscript, gast.Attribute)
_CONTEXTS = (gast.Load, gast.Call)
#: What may take long, so that other threads are to go on meanwhile.
_LONG = (gast.For, gast.While)


@dataclass(frozen=True)
class Result:
    """An array that a kernel returns, of a size that is known before."""

    name: str
    #: What makes it, of the kernel's arguments.
    maker: gast.expr
    #: Which of the parts that are returned it is first.
    place: int
    #: What makes it in the kernel: "np.empty", "np.zeros" or "np.dot".
    made_by: str


def results_made(
    node: gast.FunctionDef, ranks: Sequence[int | None] = ()
) -> list[Result]:
    """The arrays that are returned, of sizes known before.

    Args:
        ranks: those of the arguments, where all arrays hold floats of double precision:
            what products of matrices have is told by them.
    """
    if not isinstance(node.body[-1], gast.Return):
        return []
    if sum(isinstance(s, gast.Return) for s in syntax.walk(node.body)) > 1:
        return []
    bindings = syntax.binding_counts(node.body)
    given = [p.id for p in node.args.args]
    shapes = Shapes({n for n in given if not bindings[n]})
    shapes.take_given(given, ranks)
    made: dict[str, gast.Assign] = {}
    for stmt in node.body:
        name = made_by(stmt)
        if name and bindings[name] == 1 and name not in given:
            shapes.take(name, stmt.value)
            made[name] = stmt
    fresh = syntax.Names(syntax.all_names(node)).fresh
    found: dict[str, Result] = {}
    for place, part in enumerate(parts_of(node.body[-1].value)):
        name = getattr(part, "id", "")
        value = made[name].value if name in made else part
        maker = shapes.maker(value)
        if maker is not None and name not in found:
            path = syntax.dotted(value.func) or ""
            name = name or fresh(f"result{place}")
            found[name] = Result(name, maker, place, path)
    return list(found.values())


class Shapes:
    """The shapes of arrays in a kernel, told by those of its arguments."""

    def __init__(self, given: set[str]) -> None:
        self.given = given
        self.known: dict[str, list[gast.expr]] = {}

    def take_given(self, names: list[str], ranks: Sequence[int | None]) -> None:
        for name, rank in zip(names, ranks, strict=False):
            if rank is not None and name in self.given:
                sizes = [f"{name}.shape[{k}]" for k in range(rank)]
                sizes[:1] = [f"len({name})"] * bool(rank)
                self.known[name] = list(map(syntax.expression, sizes))

    def take(self, name: str, value: Any) -> None:
        """See what a name is bound to, once."""
        found = self.of(value)
        if found is not None:
            self.known[name] = found

    def of(self, value: Any) -> list[gast.expr] | None:
        """The shape of what an expression gives; None if it is not known."""
        if isinstance(value, gast.Name):
            return self.known.get(value.id)
        if isinstance(value, gast.Attribute) and value.attr == "T":
            found = self.of(value.value)
            return None if found is None else found[::-1]
        if not isinstance(value, gast.Call) or value.keywords:
            return None
        path = syntax.dotted(value.func)
        if path in _MAKERS:
            shape = value.args[0]
            if isinstance(shape, gast.Attribute):  # `x.shape`
                return self.known.get(getattr(shape.value, "id", ""))
            dims = shape.elts if isinstance(shape, gast.Tuple) else [shape]
            if not all(is_one_size(d) for d in dims):
                return None
            sizes = [syntax.map_expressions(d, self.told) for d in dims]
            return sizes if all(is_known_before(s, self.given) for s in sizes) else None
        if path == "np.dot" and len(value.args) == 2:
            first, second = map(self.of, value.args)
            if first and second and max(len(first), len(second)) < 3:
                return [*first[:-1], *second[1:]] or None
        return None

    def told(self, node: gast.expr) -> gast.expr:
        """A size by those of the arguments."""
        asked = syntax.size_asked(node)
        if asked is None or asked[0] in self.given:
            return node
        sizes = self.known.get(asked[0], [])
        return sizes[asked[1]] if asked[1] < len(sizes) else node

    def maker(self, value: Any) -> gast.expr | None:
        """What makes an array of the shape; None if it is none that is made here."""
        path = syntax.dotted(getattr(value, "func", None))
        shape = self.of(value) if path in (*_MAKERS, "np.dot") else None
        if shape is None:
            return None
        dtype = value.args[1:] if path in _MAKERS else []
        if not all(is_known_before(d, self.given) for d in dtype):
            return None
        size = shape[0] if len(shape) == 1 else gast.Tuple(shape, syntax.LOAD)
        return gast.Call(syntax.expression("np.empty"), [size, *dtype], [])


def is_one_size(node: Any) -> bool:
    """Whether it is a number, and no shape of several."""
    return isinstance(node, gast.Constant) or syntax.size_asked(node) is not None


def parts_of(value: Any) -> list[Any]:
    """What is returned, one by one."""
    return list(value.elts) if isinstance(value, gast.Tuple) else [value]


def is_known_before(value: Any, given: set[str]) -> bool:
    """Whether it is a size, or a dtype, that what is given tells."""
    for node in syntax.walk(value):
        if isinstance(node, gast.Call):
            if not syntax.is_name(node.func, "len"):
                return False
        elif isinstance(node, gast.Attribute):
            if node.attr not in ("shape", "dtype") and syntax.dotted(node) is None:
                return False
        elif isinstance(node, gast.expr) and not isinstance(node, _PLAIN):
            return False
    return syntax.names_read(value) - {"np", "len"} <= given


def fill(node: gast.FunctionDef, made: Sequence[Result]) -> None:
    """Have a function fill the arrays that it is given, in place."""
    if not made:
        return
    known = {r.name: r for r in made}
    body: list[Any] = []
    for stmt in node.body[:-1]:
        result = known.get(made_by(stmt))
        body += [stmt] if result is None else filled(result, stmt.value)
    rest, here = [], {r.place: r for r in made}
    for place, part in enumerate(parts_of(node.body[-1].value)):
        if getattr(part, "id", "") in known:
            continue
        if place in here:
            body += filled(here[place], part)
        else:
            rest.append(part)
    value: Any = gast.Tuple(rest, syntax.LOAD) if len(rest) > 1 else None
    node.body = [*body, gast.Return(rest[0] if len(rest) == 1 else value)]
    node.args.args += [gast.Name(n, gast.Param(), None, None) for n in known]


def filled(result: Result, maker: Any) -> list[Any]:
    """What stands in the place of what made an array."""
    if result.made_by == "np.dot":
        a, b = maker.args
        return syntax.statements(f"filled(a, b, {result.name})", a=a, b=b)
    zeros = result.made_by == "np.zeros"
    return syntax.statements(f"{result.name}.fill(0)") if zeros else []


def made_by(stmt: Any) -> str:
    """The name that a statement binds."""
    if not isinstance(stmt, gast.Assign):
        return ""
    return getattr(stmt.targets[0], "id", "")


def calling_text(node: gast.FunctionDef, made: Sequence[Result], checked: bool) -> str:
    """What stands between Python and what is compiled of a kernel.

    `calling` makes the function that Python calls, `arrays` the arrays that are filled,
    and `filling` of the kernel as Python what fills them; None where it is nothing.

    Args:
        node: the kernel, as it was written.
        made: its results that are made before.
        checked: whether it may raise what is to be an error of NumPy's.
    """
    fresh = syntax.Names(syntax.all_names(node)).fresh
    kernel, error, empty, bounds = map(
        fresh, ("compiled", "error", "empty", "OutOfBounds")
    )
    given = ", ".join(p.id for p in node.args.args)
    names = [result.name for result in made]
    back = [fresh("value")]
    rest = back
    if made:
        here = {r.place: r.name for r in made}
        parts = [getattr(p, "id", "") for p in parts_of(node.body[-1].value)]
        known = [here.get(place, name) for place, name in enumerate(parts)]
        back = [name if name in names else fresh("value") for name in known]
        rest = [name for name in back if name not in names]
    both = ", ".join([given, *names] if given else names)
    called = " = ".join([", ".join(rest)] * bool(rest) + [f"{kernel}({both})"])
    lines = [called]
    if checked:
        lines = ["try:", f"    {called}", f"except {bounds} as {error}:"]
        lines += [f"    raise IndexError(str({error})) from None"]
    makers = makers_text(made, empty, fresh)
    several = bool(made) and isinstance(node.body[-1].value, gast.Tuple)
    result = ", ".join(back) + "," * (several and len(back) == 1)
    text = "calling = arrays = filling = None\n"
    if made or checked:
        head = f"def calling({kernel}, {bounds}, {empty}=np.empty):"
        text += function_text(head, given, [*makers, *lines, f"return {result}"])
    if made:
        values = "".join(f"{syntax.text(r.maker)}, " for r in made)
        text += f"\n\ndef arrays({given}):\n    return ({values})\n"
        found = [fresh("found") if name in names else name for name in back]
        copied = [f"{a}[...] = {b}" for a, b in zip(back, found, strict=True) if a != b]
        lines = [f"{', '.join(found)}{',' * (several and len(found) == 1)} = "]
        lines[0] += f"{kernel}({given})"
        lines += [*copied, f"return {', '.join(rest) or None}"]
        text += function_text(f"def filling({kernel}):", both, lines)
    return text


def makers_text(
    made: Sequence[Result], empty: str, fresh: Callable[[str], str]
) -> list[str]:
    """The statements that make arrays; a size of several of them is asked once."""
    sizes = Counter(
        syntax.text(n)
        for r in made
        for n in syntax.walk(r.maker.args)
        if syntax.size_asked(n)
    )
    names = {text: fresh("size") for text, count in sizes.items() if count > 1}

    def told(node: gast.expr) -> gast.expr:
        found = names.get(syntax.text(node)) if syntax.size_asked(node) else None
        return syntax.name(found) if found else node

    lines = [f"{name} = {text}" for text, name in names.items()]
    for result in made:
        given = [
            syntax.text(syntax.map_expressions(a, told)) for a in result.maker.args
        ]
        lines.append(f"{result.name} = {empty}({', '.join(given)})")
    return lines


def function_text(head: str, given: str, lines: list[str]) -> str:
    """A function that makes a function of these parameters and statements."""
    inside = "".join(f"        {line}\n" for line in lines)
    return f"\n\n{head}\n    def call({given}):\n{inside}    return call\n"


#: Nanoseconds that Python takes for an operation and for a function of one number, and
#: that it takes to call a kernel: measured, and read for their ratios.
OPERATION, FUNCTION, CALL = 5, 16, 120


def takes_little(node: gast.FunctionDef) -> bool:
    """Whether a kernel of numbers does less than what it takes to call it.

    False where it has loops or arrays. Of branches the longest one counts.
    """
    time = time_of(node.body)
    return time is not None and time < CALL


def time_of(stmts: list[Any]) -> float | None:
    """What statements take in Python, about; None if that is not known."""
    total = 0.0
    for stmt in stmts:
        if isinstance(stmt, gast.If):
            if any(isinstance(s, gast.Raise) for s in stmt.body):
                continue  # Python looks itself whether numbers are what they should be
            sides = [time_of(stmt.body), time_of(stmt.orelse)]
            own = time_of_value(stmt.test)
            if None in sides:
                return None
            inner: float | None = max(s for s in sides if s is not None)
        elif isinstance(stmt, (gast.Assign, gast.Return)):
            own, inner = time_of_value(stmt.value), 0.0
        else:
            return None
        if own is None or inner is None:
            return None
        total += own + inner
    return total


def time_of_value(value: Any) -> float | None:
    """What an expression of numbers takes in Python, about."""
    total = 0.0
    for node in syntax.walk(value) if value is not None else ():
        if isinstance(node, gast.Call):
            path = syntax.dotted(node.func) or ""
            own = getattr(np, path.removeprefix("np."), None)
            if not isinstance(own, np.ufunc):
                return None
            total += FUNCTION
        elif isinstance(node, (gast.Subscript, gast.Lambda, gast.List)):
            return None
        elif isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            total += OPERATION
    return total


def takes_long(node: gast.FunctionDef) -> bool:
    """Whether a kernel may take longer than to let other threads go on."""
    return any(
        isinstance(n, _LONG)
        or isinstance(n, gast.Call)
        and (syntax.dotted(n.func) or "").startswith(("np.dot", "np.linalg"))
        for n in syntax.walk(node.body)
    )
