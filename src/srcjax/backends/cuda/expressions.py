"""Expressions of kernels in C++, with the values that NumPy gives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast

from srcjax import syntax
from srcjax.backends.cuda.kinds import (
    BOOL,
    CASTS,
    DOUBLE,
    FLOAT,
    LONG,
    Elements,
    Kind,
    Kinds,
    NotCuda,
    items_of,
    number,
    wider,
)

#: C++'s levels of binding, loosest first.
(
    CHOICE,
    OR,
    AND,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    EQUAL,
    ORDER,
    SHIFT,
    SUM,
    PRODUCT,
    UNARY,
    ATOM,
) = range(13)
_ARITHMETIC: dict[type, tuple[str, int]] = {
    gast.Add: ("+", SUM),
    gast.Sub: ("-", SUM),
    gast.Mult: ("*", PRODUCT),
    gast.Div: ("/", PRODUCT),
}
_WHOLE: dict[type, str] = {
    gast.Add: "wrap_add",
    gast.Sub: "wrap_sub",
    gast.Mult: "wrap_mul",
    gast.LShift: "left_shift",
    gast.RShift: "right_shift",
    gast.FloorDiv: "floor_div",
    gast.Mod: "floor_mod",
}
_BITS: dict[type, tuple[str, int]] = {
    gast.BitAnd: ("&", BIT_AND),
    gast.BitOr: ("|", BIT_OR),
    gast.BitXor: ("^", BIT_XOR),
}
_ORDERS: dict[type, tuple[str, int]] = {
    gast.Lt: ("<", ORDER),
    gast.LtE: ("<=", ORDER),
    gast.Gt: (">", ORDER),
    gast.GtE: (">=", ORDER),
    gast.Eq: ("==", EQUAL),
    gast.NotEq: ("!=", EQUAL),
}
#: C++'s functions of floats, by those of NumPy and `math`.
FUNCTIONS = {
    name: name
    for name in (
        *("sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"),
        *("sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan"),
        *("asinh", "acosh", "atanh", "atan2", "hypot", "copysign", "fmod", "floor"),
        *("ceil", "trunc", "rint", "erf", "erfc", "pow"),
    )
}
FUNCTIONS |= {f"arc{name}": f"a{name}" for name in ("sin", "cos", "tan", "tan2")}
FUNCTIONS |= {f"arc{name}": f"a{name}" for name in ("sinh", "cosh", "tanh")}
FUNCTIONS |= {"logaddexp": "log_add_exp", "power": "pow"}
TESTS = {"isinf": "isinf", "isfinite": "isfinite"}
#: Words of C++, and of what kernels are written with.
WORDS = """
    alignas and asm auto bool break case catch char class const constexpr continue
    default delete do double else enum explicit export extern false float for friend
    goto if inline int long mutable namespace new not operator or private protected
    public register return short signed sizeof static struct switch template this
    throw true try typedef typeid typename union unsigned using virtual void volatile
    while xor array number tape index status thread threads row rows t min max abs
    fabs gridDim blockDim blockIdx threadIdx INF NOT_A_NUMBER DIFFERS OUT_OF_BOUNDS
    TAPE_IS_FULL LARGE_ARRAYS row_sync row_mask of_row of_block among_warps sign_of
    wrap_add wrap_sub wrap_mul floor_div floor_mod left_shift right_shift whole_power
    whole_abs trips log_add_exp by_sum by_product by_largest by_smallest by_any by_all
    element k j0 j1 jn y0 y1 yn gamma signbit linux unix std shim main
"""
#: What no variable may be called.
TAKEN = set(FUNCTIONS.values()) | set(TESTS.values())
TAKEN |= set(WORDS.split())


#: Ends of names that kernels make of others.
OURS = ("_given", "_out", "_parts", "_part", "_all", "_memory", "_at")


@dataclass(frozen=True)
class C:
    """A text of C++, how tightly it binds, and its type."""

    text: str
    level: int
    of: str

    def at(self, level: int) -> str:
        """The text where only what binds as tightly as this may stand."""
        return self.text if self.level >= level else f"({self.text})"


@dataclass
class Range:
    """What is known of the variable of a loop."""

    #: The least value, if it is known and not negative.
    low: int | None
    #: The size that it stays below by `room`, as Python says it: `len(x)`.
    size: str = ""
    room: int = 0


@dataclass
class Expressions:
    """Writes the expressions of a kernel."""

    kinds: Kinds
    #: Whether an index may be out of bounds.
    checked: bool
    #: The size of an axis, by array and axis, as Python says it.
    size: Callable[[str, int], str]
    loops: dict[str, Range] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    #: Whether `status` is told something.
    tells: bool = False

    def name(self, name: str) -> str:
        """The name in C++."""
        if name not in self.names:
            new = (
                name
                if name.isascii()
                else "".join(c if c.isascii() else f"u{ord(c):x}" for c in name)
            )
            new = new.strip("_") or "it"
            new = f"it{new}" if new[0].isdigit() else new
            new += "_" * new.endswith(OURS) + "_" * new.startswith(("n_", "new_"))
            while new in TAKEN or new in self.names.values():
                new += "_"
            self.names[name] = new
        return self.names[name]

    def of(self, node: Any) -> C:
        """An expression. Raises NotCuda."""
        write = getattr(self, f"of_{type(node).__name__}", None)
        if write is None:
            raise NotCuda(f"`{syntax.text(node)}` in a kernel")
        found: C = write(node)
        return found

    def text(self, node: Any, of: str | None = None) -> str:
        """The text of an expression, as a number of a type."""
        found = self.of(node)
        return found.text if of is None else self.to(found, of).text

    def to(self, c: C, of: str) -> C:
        """The number as one of another type."""
        if c.of == of:
            return c
        if c.text.lstrip("-").isdigit() and of in (DOUBLE, FLOAT):
            return C(c.text + (".0" if of == DOUBLE else ".0f"), c.level, of)
        if of == BOOL:
            return C(f"{c.at(EQUAL + 1)} != 0", EQUAL, of)
        return C(f"({of}){c.at(UNARY)}", UNARY, of)

    # -- atoms -----------------------------------------------------------------------

    def of_Constant(self, node: gast.Constant) -> C:
        value = node.value
        if isinstance(value, bool):
            return C("true" if value else "false", ATOM, BOOL)
        if isinstance(value, int):
            level = UNARY if value < 0 else ATOM
            long = "LL" if abs(value) >= 2**31 else ""
            return C(f"{value}{long}", level, LONG)
        if isinstance(value, float):
            return self.of_float(value)
        raise NotCuda(f"`{value!r}` in a kernel")

    def of_float(self, value: float) -> C:
        if math.isnan(value):
            return C("NOT_A_NUMBER", ATOM, DOUBLE)
        if math.isinf(value):
            return C("INF" if value > 0 else "-INF", UNARY, DOUBLE)
        level = UNARY if math.copysign(1, value) < 0 else ATOM
        return C(repr(value), level, DOUBLE)

    def of_Name(self, node: gast.Name) -> C:
        of = number(self.kinds.kind(node))
        if node.id in self.loops:
            return C(f"(long long){self.name(node.id)}", UNARY, LONG)
        return C(self.name(node.id), ATOM, of)

    def of_Attribute(self, node: gast.Attribute) -> C:
        path = syntax.dotted(node) or ""
        values = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan}
        holder, _, last = path.rpartition(".")
        if holder in ("np", "math") and last in values:
            return self.of_float(values[last])
        kind = self.kinds.kind(node.value)
        if isinstance(kind, Elements) and isinstance(node.value, gast.Name):
            if node.attr == "ndim":
                return C(str(kind.rank), ATOM, LONG)
            if node.attr == "size":
                name = self.name(node.value.id)
                sizes = [f"{name}.n[{k}]" for k in range(kind.rank)]
                return C(" * ".join(sizes), PRODUCT, LONG)
        raise NotCuda(f"`{path}` in a kernel")

    # -- operators -------------------------------------------------------------------

    def of_BinOp(self, node: gast.BinOp) -> C:
        return self.operate(node.op, self.of(node.left), self.of(node.right), node)

    def operate(self, op: Any, a: C, b: C, node: Any) -> C:
        of, kind = wider(a.of, b.of), type(op)
        if kind in _BITS:
            sign, level = _BITS[kind]
            a, b = self.to(a, of), self.to(b, of)
            # C++ gives an int for two truth values.
            if of == BOOL:
                sign, level = {"&": ("&&", AND), "|": ("||", OR)}.get(
                    sign, ("!=", EQUAL)
                )
            return C(f"{a.at(level + 1)} {sign} {b.at(level + 1)}", level, of)
        if kind is gast.Div and of in (LONG, BOOL):
            of = DOUBLE
        if of == BOOL:
            of = LONG
        a, b = self.to(a, of), self.to(b, of)
        if kind is gast.Pow:
            return self.power(a, b, node)
        if of == LONG or kind in (gast.FloorDiv, gast.Mod):
            if kind not in _WHOLE:
                raise NotCuda(f"`{syntax.text(node)}` in a kernel")
            return C(f"{_WHOLE[kind]}({a.text}, {b.text})", ATOM, of)
        if kind not in _ARITHMETIC:
            raise NotCuda(f"`{syntax.text(node)}` in a kernel")
        sign, level = _ARITHMETIC[kind]
        return C(f"{a.at(level)} {sign} {b.at(level + 1)}", level, of)

    def power(self, a: C, b: C, node: gast.BinOp) -> C:
        if a.of != LONG:
            return C(f"pow({a.text}, {b.text})", ATOM, a.of)
        exponent = getattr(node.right, "value", -1)
        if not isinstance(exponent, int) or exponent < 0:
            raise NotCuda("a power of a whole number, of which the exponent may be < 0")
        return C(f"whole_power({a.text}, {b.text})", ATOM, LONG)

    def of_UnaryOp(self, node: gast.UnaryOp) -> C:
        x = self.of(node.operand)
        if isinstance(node.op, gast.Not):
            return C(f"!{self.to(x, BOOL).at(UNARY)}", UNARY, BOOL)
        if x.of == BOOL:
            x = self.to(x, LONG)
        if isinstance(node.op, gast.UAdd):
            return x
        if isinstance(node.op, gast.Invert):
            return C(f"~{x.at(UNARY)}", UNARY, x.of)
        if x.of == LONG and not isinstance(node.operand, gast.Constant):
            return C(f"wrap_sub(0, {x.text})", ATOM, LONG)
        # `- -x` and not `--x`.
        return C(f"-{x.at(UNARY + (x.text[:1] == '-'))}", UNARY, x.of)

    def of_Compare(self, node: gast.Compare) -> C:
        if len(node.ops) != 1 or type(node.ops[0]) not in _ORDERS:
            raise NotCuda(f"`{syntax.text(node)}` in a kernel")
        a, b = self.of(node.left), self.of(node.comparators[0])
        of = wider(a.of, b.of)
        a, b = self.to(a, of), self.to(b, of)
        sign, level = _ORDERS[type(node.ops[0])]
        return C(f"{a.at(level + 1)} {sign} {b.at(level + 1)}", level, BOOL)

    def of_BoolOp(self, node: gast.BoolOp) -> C:
        sign, level = ("&&", AND) if isinstance(node.op, gast.And) else ("||", OR)
        parts = [self.to(self.of(v), BOOL).at(level + 1) for v in node.values]
        return C(f" {sign} ".join(parts), level, BOOL)

    def of_IfExp(self, node: gast.IfExp) -> C:
        test = self.to(self.of(node.test), BOOL)
        a, b = self.of(node.body), self.of(node.orelse)
        of = wider(a.of, b.of)
        a, b = self.to(a, of), self.to(b, of)
        return C(f"{test.at(OR)} ? {a.at(OR)} : {b.at(CHOICE)}", CHOICE, of)

    # -- calls -----------------------------------------------------------------------

    def of_Call(self, node: gast.Call) -> C:
        path = syntax.dotted(node.func) or ""
        if isinstance(node.func, gast.Attribute) and node.func.attr == "pop":
            if not isinstance(node.func.value, gast.Name):
                raise NotCuda(f"`{syntax.text(node)}` in a kernel")
            name = node.func.value.id
            return C(f"{self.name(name)}.pop()", ATOM, number(self.kinds.kind(node)))
        if path == "len":
            return C(self.size_text(node.args[0], 0), ATOM, LONG)
        if path in CASTS:
            return self.cast(node.args[0], CASTS[path])
        values = [self.of(a) for a in node.args]
        of = values[0].of
        for value in values[1:]:
            of = wider(of, value.of)
        if path == "added":
            return self.operate(gast.Add(), values[0], values[1], node)
        if path == "abs" and of in (LONG, BOOL):
            return C(f"whole_abs({values[0].text})", ATOM, LONG)
        last = path.rpartition(".")[2]
        if path == "np.sign":
            return C(f"sign_of({values[0].text})", ATOM, LONG if of == BOOL else of)
        if last in TESTS:
            x = self.to(values[0], FLOAT if of == FLOAT else DOUBLE)
            return C(f"{TESTS[last]}({x.text})", ATOM, BOOL)
        of = FLOAT if of == FLOAT else DOUBLE
        texts = ", ".join(self.to(v, of).text for v in values)
        if path == "abs":
            return C(f"fabs({texts})", ATOM, of)
        if path.partition(".")[0] in ("np", "math") and last in FUNCTIONS:
            return C(f"{FUNCTIONS[last]}({texts})", ATOM, of)
        raise NotCuda(f"`{path}` in a kernel")

    def cast(self, node: Any, to: str) -> C:
        x = self.of(node)
        if to == FLOAT and isinstance(node, gast.Constant) and x.of == DOUBLE:
            return C(f"{x.text}f", x.level, FLOAT)
        return self.to(x, to)

    # -- elements --------------------------------------------------------------------

    def size_text(self, node: Any, axis: int) -> str:
        """The size of an axis of an array."""
        if not isinstance(node, gast.Name):
            raise NotCuda(f"`len({syntax.text(node)})` in a kernel")
        return f"{self.name(node.id)}.n[{axis}]"

    def of_Subscript(self, node: gast.Subscript) -> C:
        base = node.value
        if isinstance(base, gast.Attribute) and base.attr == "shape":
            return C(self.size_text(base.value, node.slice.value), ATOM, LONG)
        kind = self.kinds.kind(node)
        if not isinstance(base, gast.Name) or not isinstance(kind, str):
            raise NotCuda(f"`{syntax.text(node)}` in a kernel")
        return C(self.element(node), ATOM, kind)

    def element(self, node: gast.Subscript) -> str:
        """`x(i, j)`, or what tests its indices."""
        if not isinstance(node.value, gast.Name):
            raise NotCuda(f"`{syntax.text(node)}`: an element of what has no name")
        name, items = node.value.id, items_of(node)
        sure = [self.sure(name, axis, item) for axis, item in enumerate(items)]
        if all(s is not None for s in sure):
            return f"{self.name(name)}({', '.join(map(str, sure))})"
        self.tells = True
        texts = [self.index(item) or self.text(item) for item in items]
        return f"{self.name(name)}.at(status, {', '.join(texts)})"

    def index(self, item: Any) -> str | None:
        """`i`, `i + 1`: what fits in an index; None for all others."""
        var, more = affine(item)
        if var is None or var not in self.loops:
            return None
        if not more:
            return self.name(var)
        return f"{self.name(var)} {'+' if more > 0 else '-'} {abs(more)}"

    def sure(self, array: str, axis: int, item: Any) -> str | None:
        """The text of an index that is in bounds; None where it may not be."""
        text = self.index(item)
        if text is not None:
            var, more = affine(item)
            known = self.loops[var or ""]
            if not self.checked:
                return text
            if known.low is None or known.low + more < 0:
                return None
            if known.size == self.size(array, axis) and more <= known.room:
                return text
            return None
        if not self.checked:
            return self.text(item)
        if isinstance(item, gast.Constant) and str(item.value) == "0":
            return "0" if self.size(array, axis) == "1" else None
        return None


def affine(node: Any) -> tuple[str | None, int]:
    """`i + 1` as the name and the number; no name for what is none of that kind."""
    if isinstance(node, gast.Name):
        return node.id, 0
    if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
        name, more = affine(node.left)
        plain = isinstance(node.right, gast.Constant) and type(node.right.value) is int
        if name is not None and plain and abs(node.right.value) < 2**20:
            sign = 1 if isinstance(node.op, gast.Add) else -1
            return name, more + sign * node.right.value
    return None, 0


__all__ = ["C", "Expressions", "Kind", "NotCuda", "Range", "affine"]
