"""Runs of generated text in which operations are counted, and bytes that are kept."""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from srcjax.backends.load import is_generated
from srcjax.backends.module import Module
from srcjax.checks.leaves import is_real_leaf

#: What moves numbers and computes none.
_MOVES: list[Any] = [
    *(np.reshape, np.transpose, np.copy, np.zeros, np.ones, np.empty, np.full, np.put),
    *(np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.asarray, np.array),
    *(np.where, np.broadcast_to, np.concatenate, np.stack, np.ravel, np.expand_dims),
    *(np.squeeze, np.moveaxis, np.swapaxes, np.flip, np.roll, np.take, np.repeat),
    *(np.tile, np.eye, np.diag, np.sort, np.atleast_1d, np.atleast_2d, np.split),
    *(float, complex, list, tuple, dict, zip, reversed, np.float64, np.float32),
]
_MOVED = frozenset(map(id, _MOVES))
#: Methods of arrays that do.
_MOVING = frozenset(
    ["copy", "reshape", "ravel", "transpose", "astype", "take", "item", "squeeze"]
    + ["flatten", "repeat", "swapaxes", "tolist", "view"]
)
_PRODUCTS = frozenset(map(id, (np.dot, np.matmul, np.inner)))
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
}
# Names that no text can have.
_BINARY_HOOK, _UNARY_HOOK, _CALL_HOOK, _ADDED_HOOK = (
    f"count {what}" for what in ("binary", "unary", "call", "added")
)


class Counted:
    """Counts the real numbers that are computed.

    A product of matrices of (m, k) and (k, n) counts `2 m k n`, a reduction one for
    each number that goes in, all else one for each number that comes out.
    """

    def __init__(self) -> None:
        self.operations = 0
        #: Calls of which it is not known what they compute, by name.
        self.unknown: Counter[str] = Counter()

    def binary(self, kind: type[ast.operator], left: Any, right: Any) -> Any:
        """`left + right` and the like."""
        value = _BINARY[kind](left, right)
        if is_real_leaf(value):
            matrix = kind is ast.MatMult
            self.operations += product_of(left, value) if matrix else np.size(value)
        return value

    def unary(self, value: Any) -> Any:
        """`-value`, which was computed."""
        if is_real_leaf(value):
            self.operations += np.size(value)
        return value

    def added(self, place: Any, value: Any) -> Any:
        """What is added to a place."""
        if is_real_leaf(place) or is_real_leaf(value):
            self.operations += max(np.size(place), np.size(value))
        return value

    def call(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """A call of the text."""
        value = function(*args, **kwargs)
        self.operations += self.cost(function, args, value)
        return value

    def cost(self, function: Any, args: tuple, value: Any) -> int:
        """What a call counts."""
        if id(function) in _MOVED or not any(map(is_real_leaf, _parts(value))):
            return 0
        if id(function) in _PRODUCTS:
            return product_of(args[0], value)
        if isinstance(function, np.ufunc):
            return int(np.size(value))
        owner = getattr(function, "__self__", None)
        if isinstance(function, BuiltinFunctionType):
            if isinstance(owner, np.ndarray):
                return 0 if function.__name__ in _MOVING else _largest((owner, value))
            if isinstance(owner, (list, dict, tuple)):
                return 0
        if isinstance(function, FunctionType) and is_generated(function.__globals__):
            return 0  # its own operations are
        if not _is_of_numpy(function):
            self.unknown[getattr(function, "__qualname__", "?")] += 1
            return 0
        return _largest((*args, value))


def _is_of_numpy(function: Any) -> bool:
    """Whether it is Python's or NumPy's, where a number takes an operation."""
    home = getattr(function, "__module__", None) or "builtins"
    known = home.split(".")[0] in (np.__name__, "builtins", "math", "_operator")
    return known and not home.startswith(np.linalg.__name__)


def _largest(values: Any) -> int:
    sizes = [int(np.size(v)) for v in _parts(list(values)) if is_real_leaf(v)]
    return max(sizes, default=0)


def product_of(left: Any, value: Any) -> int:
    """What a product of matrices counts."""
    inner = np.shape(left)[-1] if np.ndim(left) else 1
    return int(2 * np.size(value) * inner)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _parts(each)
    elif isinstance(value, dict):
        yield from _parts(list(value.values()))
    else:
        yield value


class _Hooks(ast.NodeTransformer):
    """Puts what counts around each operation."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        kind = ast.Name(f"kind {type(node.op).__name__}", ast.Load())
        return _hook(_BINARY_HOOK, kind, node.left, node.right)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            return _hook(_UNARY_HOOK, node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AugAssign:
        place: Any = ast.parse(ast.unparse(node.target), mode="eval").body
        node.value = _hook(_ADDED_HOOK, place, self.visit(node.value))
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        node.args.insert(0, node.func)
        node.func = ast.Name(_CALL_HOOK, ast.Load())
        return node


def _hook(name: str, *args: Any) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(args), [])


def counting(module: Module, counted: Counted) -> dict[str, Any]:
    """What the names of a module stand for, where its functions are counted."""
    around = dict(vars(module.load()))
    around |= {
        _BINARY_HOOK: counted.binary,
        _UNARY_HOOK: counted.unary,
        _CALL_HOOK: counted.call,
        _ADDED_HOOK: counted.added,
    }
    around |= {f"kind {kind.__name__}": kind for kind in _BINARY}
    tree = _Hooks().visit(ast.parse(module.text))
    tree.body = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    code = compile(ast.fix_missing_locations(tree), "<counted>", "exec")
    exec(code, around)
    return around


def bytes_kept(saved: Any, given: Any) -> int:
    """The bytes that are kept for a backward sweep; none for what was given."""
    theirs = list(_parts(given))
    arrays = {id(_owner(v)) for v in theirs if isinstance(v, np.ndarray)}
    own: dict[int, int] = {}
    numbers = 0
    for value in _parts(saved):
        if isinstance(value, np.ndarray):
            owner = id(_owner(value))
            if owner not in arrays:
                own[owner] = max(own.get(owner, 0), value.nbytes)
        elif is_real_leaf(value) and not any(value is v for v in theirs):
            numbers += np.asarray(value).nbytes
    return sum(own.values()) + numbers


def _owner(value: np.ndarray) -> np.ndarray:
    while isinstance(value.base, np.ndarray):
        value = value.base
    return value


__all__ = ["Counted", "bytes_kept", "counting"]
