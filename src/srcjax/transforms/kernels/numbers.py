"""What is computed for one number, typed as NumPy and Python type it.

A kernel's arithmetic is that of the machine. Where Python's differs, for numbers that
are Python's own, the kernel is left (`raise Differs`) and the function runs as it was
written: a division by zero, `math.log(-1.0)`, an int that no longer fits in 64 bits.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcjax import syntax
from srcjax.analysis.plain import LARGEST_SIZE
from srcjax.analysis.sizes import Sym
from srcjax.analysis.types import Array, Const, Scalar, Type
from srcjax.transforms.kernels.accepted import (
    LARGEST,
    LeavesLate,
    NotCompiled,
    is_kernel_array,
    is_kernel_number,
    is_pythons,
    is_single,
    kind,
)
from srcjax.transforms.kernels.operations import Operation, Operations

#: Operations on Python's numbers that fail where machines give NaN or infinity.
_DIVISIONS = ("a / b", "a // b", "a % b")
#: Those whose result may not fit in 64 bits.
_GROWING = ("a + b", "a - b", "a * b")
_SHIFTS = ("a << b", "a >> b")
#: How many bits ints have.
_BITS = 64
#: Casts, by what is called.
_CASTS = {float: "f", int: "i", bool: "b", np.float64: "f", np.float32: "s"}
_CASTS |= {np.int64: "i", np.bool_: "b"}
#: What gives an int that is near.
_ROUNDED: dict[Any, str] = {math.floor: "np.floor", math.ceil: "np.ceil"}
_ROUNDED |= {math.trunc: "np.trunc", round: "np.rint"}
Emit = Callable[[gast.stmt], None]


class Numbers:
    """Expressions of single numbers, as a kernel computes them."""

    def __init__(
        self,
        type_of: Callable[[gast.expr], Type],
        operations: Operations,
        is_local: Callable[[str], bool],
        fresh: Callable[[str], str],
    ) -> None:
        self.type_of = type_of
        self.operations = operations
        self.is_local = is_local
        self.fresh = fresh
        #: Arrays of which an index may be out of bounds.
        self.indexed: set[str] = set()
        #: Names of ints that are small: those of loops over ranges.
        self.small: set[str] = set()
        #: Whether the kernel may be left, and the function run again from its start.
        self.may_leave = True
        #: Whether it says so somewhere.
        self.leaves = False
        #: Whether it may raise what the function does.
        self.may_raise = True
        #: The parts of a display that has a name.
        self.displayed: Callable[[gast.expr], list[gast.expr] | None] = lambda n: None
        #: Arrays of the items of lists of numbers, by the name of the list.
        self.items_of: dict[str, str] = {}
        #: Takes the statements that an expression needs before it.
        self.emit: Emit = lambda stmt: None

    def number(self, node: gast.expr) -> gast.expr:
        """The expression of a number. Raises NotCompiled."""
        t = self.type_of(node)
        if not is_kernel_number(t):
            raise NotCompiled(node, f"`{syntax.text(node)}` is no number of 64 bits")
        if isinstance(node, gast.Name) and self.is_local(node.id):
            return node
        if isinstance(t, Const):
            return literal(t.value, node)
        if isinstance(node, gast.Constant | gast.Name):
            return node  # a name from around: the kernel is given its value
        if isinstance(node, gast.Subscript):
            return self.item(node)
        if syntax.dotted(node) in ("np.pi", "math.pi", "np.e", "math.e", "np.inf"):
            return node
        if isinstance(node, gast.Attribute) and is_kernel_array(
            self.type_of(node.value)
        ):
            return gast.Attribute(self.array(node.value), node.attr, syntax.LOAD)
        if isinstance(node, gast.IfExp):
            parts = [self.number(n) for n in (node.test, node.body, node.orelse)]
            return gast.IfExp(*parts)
        if isinstance(node, gast.BoolOp):
            if any(kind(self.type_of(v)) != "b" for v in node.values):
                raise NotCompiled(node, "`and`, `or` of what is no truth value")
            return gast.BoolOp(node.op, [self.number(v) for v in node.values])
        if isinstance(node, gast.Call):
            found = self.call(node)
            if found is not None:
                return found
        if isinstance(node, gast.Compare):
            listed = self.listed(node)
            if listed is not None:
                return listed
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Invert):
            operand = node.operand
            if kind(t) == "i" and kind(self.type_of(operand)) == "i":
                return gast.UnaryOp(node.op, self.number(operand))
        operation = self.operations.of(node)
        if operation is not None and operation.op.fold is not None:
            return self.fold_of_one(node, operation)
        if operation is None or operation.takes_any_number:
            shown = syntax.text(node)
            raise NotCompiled(node, f"`{shown}` is no operation with a kernel")
        operands = {k: self.number(v) for k, v in operation.operands.items()}
        types = {k: self.type_of(v) for k, v in operation.operands.items()}
        return self.operate(node, operation, operands, types, t)

    def listed(self, node: gast.Compare) -> gast.expr | None:
        """`angle in (30, 45)` as `angle == 30 or angle == 45`; None for others."""
        op, of = node.ops[0], node.comparators[0]
        if len(node.ops) != 1 or not isinstance(op, (gast.In, gast.NotIn)):
            return None
        parts = self.displayed(of)
        if not parts or not isinstance(node.left, gast.Name):
            return None
        tests: list[gast.expr] = []
        for part in parts:
            value = getattr(self.type_of(part), "value", None)
            if not isinstance(value, (int, float)) or value != value:
                return None  # NaN is in a list that has the very same one
            tests.append(self.number(gast.Compare(node.left, [gast.Eq()], [part])))
        found = tests[0] if len(tests) == 1 else gast.BoolOp(gast.Or(), tests)
        return gast.UnaryOp(gast.Not(), found) if isinstance(op, gast.NotIn) else found

    def fold_of_one(self, node: gast.expr, operation: Operation) -> gast.expr:
        """`np.sum(x)` of a number: the number."""
        given = operation.operands
        if set(given) != {"a"} or kind(self.type_of(given["a"])) != kind(
            self.type_of(node)
        ):
            raise NotCompiled(node, f"`{operation.op.name}` has no kernel")
        return self.number(given["a"])

    def array(self, node: gast.expr) -> gast.expr:
        """The name of an array. Raises NotCompiled."""
        if not isinstance(node, gast.Name):
            raise NotCompiled(node, f"`{syntax.text(node)}` is no name of an array")
        return node

    def item(self, node: gast.Subscript) -> gast.expr:
        """An element of an array, a size, or an item of a list that the kernel made."""
        base = node.value
        shape = isinstance(base, gast.Attribute) and base.attr == "shape"
        if shape and isinstance(node.slice, gast.Constant):
            array = self.array(base.value)
            sizes = gast.Attribute(array, "shape", syntax.LOAD)
            return gast.Subscript(sizes, node.slice, syntax.LOAD)
        if is_kernel_array(self.type_of(base)):
            return gast.Subscript(
                self.array(base), self.index(node.slice, base), syntax.LOAD
            )
        items = self.items_of.get(getattr(base, "id", ""))
        if items is not None:
            self.indexed.add(items)
            return gast.Subscript(
                syntax.name(items), self.whole(node.slice), syntax.LOAD
            )
        raise NotCompiled(node, f"`{syntax.text(node)}` is no element of an array")

    def index(self, node: gast.expr, base: gast.expr) -> gast.expr:
        """The index of one element. Raises NotCompiled."""
        items = node.elts if isinstance(node, gast.Tuple) else [node]
        t = self.type_of(base)
        if not isinstance(t, Array) or len(items) != len(t.shape or ()):
            raise NotCompiled(node, "an index of another length")
        found = [self.whole(item) for item in items]
        there = list(map(has_place, t.shape or (), found))
        if False in there:  # it raises, whoever reads what is stored
            raise NotCompiled(node, "an index that is out of bounds")
        if None in there:
            self.indexed.add(syntax.root_of(base))
        if isinstance(node, gast.Tuple):
            return gast.Tuple(found, syntax.LOAD)
        return found[0]

    def whole(self, node: gast.expr) -> gast.expr:
        """The expression of an int."""
        if kind(self.type_of(node)) != "i":
            raise NotCompiled(node, f"`{syntax.text(node)}` is no int")
        return self.number(node)

    def call(self, node: gast.Call) -> gast.expr | None:
        """`len(x)`, and casts; None for other calls."""
        owner = self.type_of(node.func)
        function = owner.value if isinstance(owner, Const) else None
        if len(node.args) != 1 or node.keywords or function is None:
            return None
        (value,) = node.args
        if function is len and is_kernel_array(self.type_of(value)):
            return syntax.call("len", self.array(value))
        if isinstance(function, type) and function in _CASTS:
            spelled = spelled_number(function, self.type_of(value))
            if spelled is not None:
                return literal(spelled, node)
            return self.cast(node, _CASTS[function], value)
        if function in _ROUNDED and kind(self.type_of(value)) == "f":
            x = self.atom(self.number(value), "value")
            self.unless(f"abs(x) < {float(LARGEST)}", node, x=x)
            return syntax.expression(f"int({_ROUNDED[function]}(x))", x=x)
        return None

    def cast(self, node: gast.expr, to: str, value: gast.expr) -> gast.expr:
        """`float(x)`; an int that a float does not fit in leaves the kernel."""
        x, t = self.number(value), self.type_of(value)
        if to == "i" and kind(t) == "f":
            x = self.atom(x, "value")
            self.unless(f"abs(x) < {float(LARGEST)}", node, x=x)
            return syntax.call("int", x)
        if to == kind(t) and not (to == "f" and is_single(t)):
            return x
        if to == "b":
            return syntax.expression("x != 0", x=x)
        if kind(t) == "b" and to in "fs":
            x = as_float(x, "b")
        names = {"f": "float", "i": "int", "s": "np.float32"}
        return syntax.expression(f"{names[to]}(x)", x=x)

    # -- operations ------------------------------------------------------------------

    def operate(
        self,
        node: gast.expr,
        operation: Operation,
        operands: dict[str, gast.expr],
        types: dict[str, Type],
        result: Type,
    ) -> gast.expr:
        """An elementwise operation on numbers of these types. Raises NotCompiled."""
        op, kernel = operation.op, operation.op.kernel
        if not op.elementwise or kernel is None:
            raise NotCompiled(node, f"`{op.name}` has no kernel")
        names = names_in(kernel)
        if set(operands) != names:
            raise NotCompiled(node, f"`{op.name}` with other arguments")
        expanded = self.power(kernel, operation, operands, types, result)
        if expanded is not None:
            return expanded
        python = all(map(is_pythons, types.values()))
        special = kernel if python else for_special_values(operation, types, result)
        values = {
            n: self.fitting(node, op, n, operands[n], types, result, special)
            for n in operands
        }
        if kernel == "a ** b" and kind(types["a"]) != "f" and kind(result) == "f":
            types = {n: Scalar(dtype=np.dtype(float), python=python) for n in types}
        if python:
            values = self.checked_operands(node, kernel, values, types)
        elif kernel in _SHIFTS:
            return self.shift(kernel, values, types)
        for name in values:
            if names_in(special, name) > 1:
                values[name] = self.atom(values[name], name)
        found = syntax.expression(special, **values)
        if is_single(result) and not _stays_single(kernel):
            found = syntax.call(syntax.expression("np.float32"), found)
        if python or raises_itself(operation.function):
            return self.checked_result(node, operation, found, values, types, result)
        return found

    def shift(
        self, kernel: str, values: dict[str, gast.expr], types: dict[str, Type]
    ) -> gast.expr:
        """A shift of NumPy's ints; by more bits than there are it leaves the sign."""
        if not 0 <= getattr(types["b"], "value", -1) < _BITS:
            values = {k: self.atom(v, k) for k, v in values.items()}
            rest = "0" if kernel == "a << b" else "-1 if a < 0 else 0"
            kernel = f"{kernel} if 0 <= b < {_BITS} else {rest}"
        return syntax.expression(kernel, **values)

    def power(
        self,
        kernel: str,
        operation: Operation,
        operands: dict[str, gast.expr],
        types: dict[str, Type],
        result: Type,
    ) -> gast.expr | None:
        """`x**2` as the product that NumPy computes, and `x**0.5` as its root."""
        if kernel != "a ** b" or kind(types["a"]) != "f":
            return None
        exponent = getattr(types["b"], "value", None)
        if isinstance(exponent, bool) or not isinstance(exponent, (int, float)):
            return None
        python = is_pythons(types["a"])
        if kind(result) != "f" or is_single(result) != is_single(types["a"]):
            return None
        if exponent in (2, 3, 4):
            x = self.atom(operands["a"], "a")
            found = syntax.expression(
                {2: "x * x", 3: "x * x * x"}.get(int(exponent), "x"), x=x
            )
            if exponent == 4:
                square = self.atom(syntax.expression("x * x", x=x), "square")
                found = syntax.expression("y * y", y=square)
            if python:  # `1e200**2` raises
                found = self.atom(found, "power")
                error = error_of("a ** b", a=1e200, b=exponent)
                self.unless("y - y == 0 or x - x != 0", found, error, y=found, x=x)
            return found
        if exponent == 0.5 and not python and is_uniform(operation, types):
            return syntax.expression("np.sqrt(x)", x=operands["a"])
        if exponent == -1 and not python:
            one = "np.float32(1)" if is_single(result) else "1.0"
            return syntax.expression(f"{one} / x", x=operands["a"])
        return None

    def fitting(
        self,
        node: gast.expr,
        op: Any,
        name: str,
        value: gast.expr,
        types: dict[str, Type],
        result: Type,
        kernel: str,
    ) -> gast.expr:
        """An operand in the precision that the operation is computed in."""
        t = types[name]
        own = kind(t)
        kinds = {kind(each) for each in types.values()}
        condition = op.kernel == "b if a else c" and name == "a"
        if condition:
            if own != "b":
                return syntax.expression("x != 0", x=value)
            return value
        floating = "f" in kinds or (kind(result) == "f")
        if floating:
            single = self.in_single(types, result)
            if single and not (own == "f" and is_single(t) and not is_pythons(t)):
                if isinstance(value, gast.Constant) and own in "if":
                    value = syntax.const(float(value.value))
                if own == "b":
                    value = as_float(value, own)
                return syntax.call(syntax.expression("np.float32"), value)
            if own in "ib" and "f" in op.kinds:
                return as_float(value, own)
            if own == "f":
                narrow = kind(result) == "f" and is_single(t) and not single
                if narrow and not widens(kernel, types):
                    return syntax.call("float", value)
                return value
        elif (
            own in op.kinds
            and kinds == {own}
            or own in op.kinds
            and "i" in op.kinds
            and own == "i"
        ):
            return value
        elif own == "b" and "i" in kinds and "i" in op.kinds:
            return syntax.call("int", value)
        raise NotCompiled(node, f"`{op.name}` of such numbers")

    def in_single(self, types: dict[str, Type], result: Type) -> bool:
        """Whether it is computed in single precision; the result may be a bool."""
        strong = [t for t in types.values() if not is_pythons(t) and kind(t) == "f"]
        if kind(result) == "f":
            return is_single(result)
        return bool(strong) and all(map(is_single, strong))

    # -- where Python's numbers differ -----------------------------------------------

    def checked_operands(
        self,
        node: gast.expr,
        kernel: str,
        values: dict[str, gast.expr],
        types: dict[str, Type],
    ) -> dict[str, gast.expr]:
        """The operands, tested before the operation where Python would raise."""
        if kernel in _DIVISIONS:
            known = getattr(types["b"], "value", 0)
            if known == 0:
                values["b"] = self.atom(values["b"], "divisor")
                error = error_of(
                    kernel, a=ONES[kind(types["a"])], b=0 * ONES[kind(types["b"])]
                )
                self.unless("b != 0", node, error, b=values["b"])
        if kernel in _GROWING and {kind(t) for t in types.values()} <= {"i", "b"}:
            found = [self.bound(values[n], t) for n, t in types.items()]
            known = [n for n in found if n is not None]
            if kernel == "a * b":
                fits = len(known) == len(found) and math.prod(known) < LARGEST
            else:  # what is given, or computed, is no larger than `LARGEST`
                fits = bool(known) and min(known) < LARGEST
            if not fits:
                values = {k: self.atom(v, k) for k, v in values.items()}
                text = kernel.replace("a", "float(a)").replace("b", "float(b)")
                self.unless(f"abs({text}) < {float(LARGEST)}", node, **values)
        if kernel in _SHIFTS:
            values = self.shifted(node, kernel, values, types)
        return values

    def shifted(
        self,
        node: gast.expr,
        kernel: str,
        values: dict[str, gast.expr],
        types: dict[str, Type],
    ) -> dict[str, gast.expr]:
        """The operands of a shift of Python's ints, which lose no bits."""
        count = getattr(types["b"], "value", -1)
        within = 0 <= count < _BITS
        size = self.bound(values["a"], types["a"])
        fits = size is not None and within and size << count < LARGEST
        if within and kernel == "a >> b" or fits:
            return values
        values = {k: self.atom(v, k) for k, v in values.items()}
        tests = [] if within else [f"0 <= b < {_BITS}"]
        if kernel == "a << b":
            tests.append(f"abs(float(a) * 2.0**b) < {float(LARGEST)}")
        self.unless(" and ".join(tests), node, **values)
        return values

    def bound(self, value: gast.expr, t: Type) -> int | None:
        """What an int is no larger than, and no less than its negative; or None."""
        found = bound_of(t)
        if found is None and getattr(value, "id", "") in self.small:
            return LARGEST_SIZE
        return found

    def checked_result(
        self,
        node: gast.expr,
        operation: Operation,
        found: gast.expr,
        values: dict[str, gast.expr],
        types: dict[str, Type],
        result: Type,
    ) -> gast.expr:
        """The result, tested where Python raises: `math.log(-1.0)`, `0.0**-1`."""
        kernel = operation.op.kernel or ""
        itself = raises_itself(operation.function)
        if kind(result) != "f" or not (itself or kernel == "a ** b"):
            return found
        if kernel == "a ** b" and not (kind(types["a"]) == "f"):
            raise NotCompiled(node, "a power of an int")
        found = self.atom(found, "y")
        varying = [n for n, v in values.items() if not is_constant(v)]
        finite = " or ".join(["y - y == 0", *(f"{n} - {n} != 0" for n in varying)])
        if itself and varying:  # `math.sin(inf)` raises, `math.exp(inf)` does not
            nan = " or ".join(f"{n} != {n}" for n in varying)
            far = " or ".join(f"{n} - {n} != 0" for n in varying)
            finite = f"y - y == 0 or {nan} or (y == y and ({far}))"
        atoms = {n: v for n, v in values.items() if not is_constant(v)}
        if any(not isinstance(v, gast.Name) for v in atoms.values()):
            # What a name does not hold is finite where the result is.
            finite, atoms = "y - y == 0", {}
        self.unless(finite, node, y=found, **atoms)
        return found

    def unless(
        self,
        text: str,
        node: gast.expr,
        error: Exception | None = None,
        **holes: gast.expr,
    ) -> None:
        """Leave the kernel where this does not hold.

        Args:
            error: what the function raises there, where that is known; it is raised
                where something was written to, and the function cannot run again.
        """
        if self.may_leave:
            self.leaves = True
            leave = "raise Differs"
        elif error is not None and self.may_raise:
            leave = f"raise {error!r}"
        else:
            shown = syntax.text(node)
            raise LeavesLate(node, f"`{shown}` may raise after a write")
        statements = syntax.statements(leave)
        test = opposite(syntax.expression(text, **holes))
        if isinstance(test, gast.UnaryOp) and isinstance(test.operand, gast.Constant):
            if not test.operand.value:
                self.emit(statements[0])
            return
        self.emit(gast.If(test, statements, []))

    def atom(self, value: gast.expr, base: str) -> gast.expr:
        """A name for the value, unless it is one."""
        if isinstance(value, (gast.Name, gast.Constant)):
            return value
        name = self.fresh(base)
        self.emit(syntax.assign(name, value))
        return syntax.name(name)


def has_place(size: Any, item: gast.expr) -> bool | None:
    """Whether an axis of this size has a place; None where one is no number."""
    sign, number = 1, item
    if isinstance(item, gast.UnaryOp) and isinstance(item.op, gast.USub):
        sign, number = -1, item.operand
    at = getattr(number, "value", None)
    if type(at) is not int or type(size) is not int:
        return None
    return -size <= sign * at < size


#: A number of each kind.
ONES: dict[str, Any] = {"f": 1.0, "i": 1, "b": True}


def error_of(kernel: str, **values: Any) -> Exception | None:
    """What Python raises for these numbers."""
    try:
        eval(kernel, {}, values)
    except ArithmeticError as error:
        return error
    return None


def raises_itself(function: Any) -> bool:
    """Whether it raises where NumPy's gives NaN or infinity, for NumPy numbers too."""
    return (
        getattr(function, "__module__", "") == "math" and function not in _NEVER_RAISING
    )


#: Functions of `math` that give a number for all numbers.
_NEVER_RAISING = (
    math.fabs,
    math.copysign,
    math.atan,
    math.atan2,
    math.asinh,
    math.tanh,
    math.erf,
    math.erfc,
    math.radians,
)


def opposite(test: gast.expr) -> gast.expr:
    """Whether a test fails; NaN, which is in no order, fails all but `!=`."""
    turned = {gast.NotEq: gast.Eq, gast.Eq: gast.NotEq}
    if isinstance(test, gast.Compare) and type(test.ops[0]) in turned:
        (op,) = test.ops
        return gast.Compare(test.left, [turned[type(op)]()], test.comparators)
    return gast.UnaryOp(gast.Not(), test)


def as_float(value: gast.expr, own: str) -> gast.expr:
    """A whole number or truth value as a float."""
    if isinstance(value, gast.Constant):
        return syntax.const(float(value.value))
    if own == "b":
        return syntax.expression("1.0 if x else 0.0", x=value)
    return syntax.call("float", value)


def for_special_values(
    operation: Operation, types: dict[str, Type], result: Type
) -> str:
    """The kernel of NumPy's numbers, which has more cases than that of Python's."""
    kernel = operation.op.kernel or ""
    other = getattr(types.get("b"), "value", None)
    if kernel == "a // b" and kind(result) == "i" and other in (None, -1):
        return "-a if b == -1 else a // b"  # the smallest has no opposite
    uniform = kernel == "a ** b" and is_uniform(operation, types)
    if uniform and kind(result) == "f" and other in (None, 0.5):
        return "np.sqrt(a) if b == 0.5 else a ** b"
    return kernel


def is_uniform(operation: Operation, types: dict[str, Type]) -> bool:
    """Whether a power has one exponent, of which NumPy asks whether it is a half.

    Its root of negative infinity is NaN, and that of -0.0 is -0.0, where C has infinity
    and 0.0, and so have `**` of two numbers, exponents that are an array, and
    `np.float_power`.
    """
    if operation.function is np.float_power:
        return False
    arrays = {name for name, t in types.items() if isinstance(t, Array) and t.shape}
    return "b" not in arrays and ("a" in arrays or operation.function is np.power)


def widens(kernel: str, types: dict[str, Type]) -> bool:
    """Whether what a kernel calls is called with all operands, one of them wide."""
    if all(is_single(t) or kind(t) != "f" for t in types.values()):
        return False
    found = [n for n in syntax.walk([_parsed(kernel)]) if isinstance(n, gast.Call)]
    names = set(types)
    return all({getattr(a, "id", "") for a in n.args} == names for n in found)


def is_constant(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant)


def bound_of(t: Type) -> int | None:
    """What an int of the type is no larger than, nor its negative; None if unknown."""
    if isinstance(t, Const):
        return abs(int(t.value))
    if kind(t) == "b":
        return 1
    return bound_of_size(t.size) if isinstance(t, Scalar) else None


def bound_of_size(dim: Any) -> int | None:
    """What the size of an axis is no larger than, as `bound_of`."""
    if isinstance(dim, int):
        return abs(dim)
    if not isinstance(dim, Sym):
        return None
    if dim.made is None:
        return LARGEST_SIZE + abs(dim.offset)
    of = [n for n in map(bound_of_size, dim.made.of) if n is not None]
    if len(of) < len(dim.made.of):
        return None
    if dim.made.how == "*":
        return math.prod(of) + abs(dim.offset)
    # A quotient, or a part, is no larger than that of which it is one.
    return sum(of) + abs(dim.offset)


def _stays_single(kernel: str) -> bool:
    """Whether a kernel gives single precision where its operands have it."""
    return not any(c.isdigit() for c in kernel) and "math." not in kernel


@functools.cache
def _parsed(kernel: str) -> gast.expr:
    return syntax.expression(kernel)


def names_in(kernel: str, name: str | None = None) -> Any:
    """The names of arguments in a kernel, or how often it has one."""
    counts = syntax.read_counts(_parsed(kernel))
    if name is not None:
        return counts[name]
    return {n for n in counts if n not in ("np", "math", "abs")}


def spelled_number(cast: type, t: Type) -> Any:
    """The number of `float("inf")`; None for all others."""
    text = t.value if isinstance(t, Const) else None
    if not isinstance(text, str):
        return None
    try:
        found = cast(text)
    except ValueError:  # which Python raises when it comes to it
        return None
    return found if not isinstance(found, int) or abs(found) < LARGEST else None


def literal(value: Any, node: gast.expr) -> gast.expr:
    """A number that is known, as a kernel writes it."""
    if isinstance(value, (bool, np.bool_)):
        return syntax.const(bool(value))
    if isinstance(value, (int, np.integer)):
        return syntax.const(int(value))
    if isinstance(value, np.float32):
        return syntax.expression(f"np.float32({float(value)!r})")
    if not math.isfinite(value):
        text = "np.nan" if value != value else "np.inf" if value > 0 else "-np.inf"
        return syntax.expression(text)
    return syntax.const(float(value))
