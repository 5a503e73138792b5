"""What the corpus is checked with: finite differences, JAX, and nothing-changed."""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import json
import math
import os
import sys
import types
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import optree

from .registry import PROGRAMS, Program, is_float, is_real_scalar

# --- cotangents --------------------------------------------------------------


def cotangent(program: Program, value: Any) -> Any:
    """Fixed weights with the structure of `value`: 1.0 for a scalar, else random."""
    if is_real_scalar(value):
        return np.ones_like(value)[()] if hasattr(value, "dtype") else 1.0
    rng = np.random.default_rng(zlib.crc32(program.name.encode()))

    def weight(leaf: Any) -> Any:
        drawn = rng.normal(size=np.shape(leaf))
        if isinstance(leaf, np.ndarray):
            return np.asarray(drawn, leaf.dtype)
        return float(drawn)

    return optree.tree_map(weight, value)


def scalarised(weights: Any, value: Any) -> Any:
    """The sum of all leaves of `value`, weighted."""
    pairs = zip(optree.tree_leaves(weights), optree.tree_leaves(value), strict=True)
    return sum((np.sum(weight * leaf) for weight, leaf in pairs), 0.0)


# --- finite differences ------------------------------------------------------


def numeric_gradient(program: Program, step: float = 1e-4) -> tuple:
    """The gradients for `program.argnums`, by differences of fourth order in float64.

    A value that is not one number is reduced with `cotangent` first. Programs that
    are not smooth give what they are registered with.
    """
    if not program.smooth:
        expected = program.expected
        return expected(*program.args()) if callable(expected) else expected
    weights = cotangent(program, program.run())

    def value(*args: Any) -> float:
        return float(scalarised(weights, program.function(*args)))

    return differences(value, program.args(), program.argnums, step)


def differences(
    value: Callable[..., float],
    args: tuple,
    argnums: tuple[int, ...],
    step: float = 1e-4,
) -> tuple:
    """Central differences of a scalar function at `args`, per leaf of `argnums`."""
    base = list(args)
    for position in argnums:
        base[position] = optree.tree_map(_float64, args[position])
    return tuple(_leaf_differences(value, base, i, step) for i in argnums)


def _leaf_differences(value: Callable, base: list, position: int, step: float) -> Any:
    leaves, structure = optree.tree_flatten(base[position])
    gradients = []
    for number, leaf in enumerate(leaves):
        flat = np.ravel(np.asarray(leaf, np.float64))
        gradient = np.zeros(flat.shape)
        for entry in range(flat.size):
            h = step * max(1.0, abs(flat[entry]))

            def moved(offset: float) -> float:
                shifted = flat.copy()
                shifted[entry] += offset
                new = shifted.reshape(np.shape(leaf))
                new = new if isinstance(leaf, np.ndarray) else float(new)
                tree = structure.unflatten(
                    [*leaves[:number], new, *leaves[number + 1 :]]
                )
                args = copy.deepcopy(base)
                args[position] = copy.deepcopy(tree)
                return value(*args)

            near = moved(h) - moved(-h)
            far = moved(2 * h) - moved(-2 * h)
            gradient[entry] = (8 * near - far) / (12 * h)
        gradients.append(gradient.reshape(np.shape(leaf)))
    return structure.unflatten(gradients)


def _float64(leaf: Any) -> Any:
    return np.asarray(leaf, np.float64) if isinstance(leaf, np.ndarray) else float(leaf)


# --- JAX ---------------------------------------------------------------------


class NoJax(Exception):
    """JAX is not here, or it cannot run the program."""


@functools.cache
def jax_gradient(program: Program) -> tuple[Any, tuple]:
    """The value and the gradients for `program.argnums` by JAX, in float64.

    Raises `NoJax` when JAX cannot run the program: it has no in-place assignment,
    and code that is not on `numpy` or `math` sees tracers.
    """
    try:
        import jax
    except ImportError as error:
        raise NoJax("jax is not installed") from error
    if program.jax is False:
        raise NoJax("registered with jax=False")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_disable_most_optimizations", True)  # compiles sooner
    weights = cotangent(program, program.run())
    function = program.jax if callable(program.jax) else on_jax(program.function)
    args = program.args()
    chosen = [optree.tree_map(_real, args[i]) for i in program.argnums]

    def of_chosen(*values: Any) -> Any:
        full = list(args)
        for position, value in zip(program.argnums, values, strict=True):
            full[position] = value
        return function(*full)

    try:
        value, pullback = jax.vjp(of_chosen, *chosen)
        weights = jax.tree.map(
            lambda weight, leaf: np.asarray(weight, leaf.dtype),
            weights,
            jax.tree.map(jax.numpy.asarray, value),
        )
        gradients = pullback(weights)
    except Exception as error:
        if program.jax is True:
            raise
        raise NoJax(f"{type(error).__name__}: {error}") from error
    return _to_numpy(value), tuple(_to_numpy(each) for each in gradients)


def on_jax(function: Callable[..., Any]) -> Callable[..., Any]:
    """A copy of a function, and of what it calls, with `numpy` swapped for JAX."""
    return _JaxCopies().of(function)


class _JaxCopies:
    """Copies functions and classes, following the globals that they name."""

    def __init__(self) -> None:
        self.done: dict[int, Any] = {}
        self.globals: dict[int, dict] = {}

    def of(self, value: Any) -> Any:
        if id(value) in self.done:
            return self.done[id(value)]
        if isinstance(value, types.ModuleType):
            return _jax_module(value)
        if isinstance(value, functools.partial):
            return functools.partial(self.of(value.func), *value.args, **value.keywords)
        if isinstance(value, types.FunctionType):
            if _is_ours(value):
                return self._function(value)
            return _jax_twin(value)
        if isinstance(value, type) and _is_ours(value):
            return self._class(value)
        if isinstance(value, property):
            return property(self.of(value.fget))
        if isinstance(value, staticmethod | classmethod):
            return type(value)(self.of(value.__func__))
        if isinstance(value, dict) and any(map(callable, value.values())):
            return {key: self.of(each) for key, each in value.items()}
        return _jax_twin(value)

    def _function(self, function: types.FunctionType) -> types.FunctionType:
        world = self.globals.get(id(function.__globals__))
        copied = types.FunctionType(
            function.__code__,
            {} if world is None else world,
            function.__name__,
            function.__defaults__,
            function.__closure__
            and tuple(types.CellType() for _ in function.__closure__),
        )
        copied.__kwdefaults__ = function.__kwdefaults__
        self.done[id(function)] = copied
        if world is None:
            world = copied.__globals__
            self.globals[id(function.__globals__)] = world
            world.update(function.__globals__)
            world.update({k: self.of(v) for k, v in function.__globals__.items()})
        for old, new in zip(
            function.__closure__ or (), copied.__closure__ or (), strict=True
        ):
            new.cell_contents = self.of(old.cell_contents)
        return copied

    def _class(self, cls: type) -> type:
        body = {
            name: value
            for name, value in vars(cls).items()
            if name not in ("__dict__", "__weakref__")
        }
        copied = type(cls)(cls.__name__, cls.__bases__, body)
        self.done[id(cls)] = copied
        for name, value in body.items():
            new = self.of(value)
            if new is not value:
                setattr(copied, name, new)
        return copied


class _JaxNumpy:
    """`jax.numpy`, and `numpy` for what it lacks (`errstate`, `random`)."""

    def __getattr__(self, name: str) -> Any:
        import jax.numpy

        return getattr(jax.numpy, name, None) or getattr(np, name)


def _jax_module(module: types.ModuleType) -> Any:
    import jax
    import jax.numpy
    import jax.scipy.special

    special = types.SimpleNamespace(**vars(jax.scipy.special))
    special.softmax = jax.nn.softmax
    special.log_softmax = jax.nn.log_softmax
    return {
        "numpy": _JaxNumpy(),
        "numpy.linalg": jax.numpy.linalg,
        "scipy.special": special,
        "math": _jax_math(),
    }.get(module.__name__, module)


def _jax_math() -> types.SimpleNamespace:
    import jax.numpy
    import jax.scipy.special

    found = dict(vars(math))
    for name in vars(math):
        twin = getattr(jax.numpy, name, None)
        if callable(twin) and name not in ("isclose", "comb", "gcd", "prod"):
            found[name] = twin
    found.update(
        pow=jax.numpy.power,
        fabs=jax.numpy.abs,
        lgamma=jax.scipy.special.gammaln,
        erf=jax.scipy.special.erf,
    )
    return types.SimpleNamespace(**found)


def _jax_twin(value: Any) -> Any:
    """The JAX function of the same name for a function of NumPy, SciPy or math."""
    import scipy.special

    name = getattr(value, "__name__", None)
    for module in (np, np.linalg, scipy.special, math):
        if isinstance(name, str) and vars(module).get(name) is value:
            return getattr(_jax_module(module), name, value)
    return value


def _is_ours(value: Any) -> bool:
    return getattr(value, "__module__", "").startswith(__package__ + ".")


def _real(leaf: Any) -> Any:
    return leaf if is_float(leaf) else float(leaf)


def _to_numpy(tree: Any) -> Any:
    return optree.tree_map(np.asarray, tree)


# --- comparison --------------------------------------------------------------


def assert_close(
    actual: Any,
    expected: Any,
    rtol: float = 1e-6,
    atol: float = 1e-8,
    message: str = "",
) -> None:
    """Two pytrees have one structure, the same shapes and close values."""
    actual_leaves, actual_structure = optree.tree_flatten(actual)
    leaves, structure = optree.tree_flatten(expected)
    assert actual_structure == structure, (
        f"{message} structure {actual_structure}, expected {structure}"
    )
    for got, wanted in zip(actual_leaves, leaves, strict=True):
        assert np.shape(got) == np.shape(wanted), (
            f"{message} shape {np.shape(got)}, expected {np.shape(wanted)}"
        )
        np.testing.assert_allclose(got, wanted, rtol=rtol, atol=atol, err_msg=message)


def assert_same_dtypes(gradients: Any, primals: Any) -> None:
    """Each gradient has the dtype of its primal, where that is an array."""
    for gradient, primal in zip(
        optree.tree_leaves(gradients), optree.tree_leaves(primals), strict=True
    ):
        if isinstance(primal, np.ndarray):
            assert np.asarray(gradient).dtype == primal.dtype, (
                f"gradient has dtype {np.asarray(gradient).dtype}, not {primal.dtype}"
            )


def tolerance(program: Program) -> dict[str, float]:
    """How close derivatives have to be, given the precision of the arguments."""
    args = program.args()
    for leaf in optree.tree_leaves([args[i] for i in program.argnums]):
        if getattr(leaf, "dtype", np.float64) == np.float32:
            return {"rtol": 2e-4, "atol": 2e-5}
    return {"rtol": 1e-6, "atol": 1e-8}


# --- nothing changed ---------------------------------------------------------


@contextmanager
def unchanged(program: Program, *args: Any) -> Iterator[None]:
    """What runs inside changes no argument, no global and no closure value.

    The globals are those that the function names, and that the functions which it
    calls name.
    """
    watched = {"argument": dict(enumerate(args)), **_surroundings(program.function)}
    before = {place: _snapshot(values) for place, values in watched.items()}
    yield
    after = {"argument": watched["argument"], **_surroundings(program.function)}
    for place, values in before.items():
        assert values.keys() == after[place].keys(), f"names of {place} were changed"
        for name, value in values.items():
            assert _same(value, after[place][name]), f"{place} {name!r} was changed"


def _surroundings(function: Any) -> dict[str, dict]:
    """The globals and closure values of a function and its callees, and its self."""
    found: dict[str, dict] = {}
    seen: set[int] = set()

    def visit(value: Any) -> None:
        if id(value) in seen:
            return
        seen.add(id(value))
        if isinstance(value, functools.partial):
            found[f"partial of {value.func!r}"] = {
                "args": value.args,
                "keywords": value.keywords,
            }
            visit(value.func)
        elif isinstance(value, types.MethodType):
            found[f"object of {value.__name__}"] = {"self": value.__self__}
            visit(value.__func__)
        elif isinstance(value, types.FunctionType) and _is_ours(value):
            visit_function(value)
        elif isinstance(value, type) and _is_ours(value):
            for member in vars(value).values():
                visit(getattr(member, "fget", member))
        elif not isinstance(value, type) and _is_ours(type(value)):
            found[f"object {type(value).__name__}"] = {"self": value}
            visit(type(value))

    def visit_function(function: types.FunctionType) -> None:
        world = function.__globals__
        names = [name for name in _names(function.__code__) if name in world]
        cells = dict(
            zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        )
        held = {name: cell.cell_contents for name, cell in cells.items()}
        found[f"global of {function.__qualname__}"] = {n: world[n] for n in names}
        found[f"closure of {function.__qualname__}"] = held
        found[f"defaults of {function.__qualname__}"] = {
            "positional": function.__defaults__,
            "keyword": function.__kwdefaults__,
        }
        for value in [*(world[name] for name in names), *held.values()]:
            visit(value)

    visit(function)
    return found


def _names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _snapshot(value: Any) -> Any:
    """A copy of the data in `value`; functions, classes and modules stay themselves."""
    if isinstance(value, dict):
        return {key: _snapshot(each) for key, each in value.items()}
    if isinstance(value, types.ModuleType | types.FunctionType | type):
        return value
    try:
        return copy.deepcopy(value)
    except TypeError:
        return value


def _same(left: Any, right: Any) -> bool:
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(left, right, equal_nan=True)
    if isinstance(left, dict):
        return list(left) == list(right) and all(
            _same(left[key], right[key]) for key in left
        )
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, float) and math.isnan(left):
        return math.isnan(right)
    by_contents = type(left).__eq__ is object.__eq__ and hasattr(left, "__dict__")
    if dataclasses.is_dataclass(left) or _is_ours(type(left)) or by_contents:
        return _same(_fields(left), _fields(right))
    try:
        return bool(left == right)
    except Exception:
        return left is right


def _fields(value: Any) -> dict:
    slots = getattr(type(value), "__slots__", ())
    held = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return {**held, **getattr(value, "__dict__", {})}


# --- texts -------------------------------------------------------------------


def gradient_texts(program: Program) -> tuple[str, str]:
    """The generated gradient of a program, without and with example arguments."""
    import srcjax

    derivative = scalar_gradient(program)
    return srcjax.source(derivative), srcjax.source(derivative, *program.args())


def scalar_gradient(program: Program) -> Callable[..., Any]:
    """`grad` of the program, reduced to one number where it gives more."""
    import srcjax

    function = program.function if program.is_scalar else as_scalar(program)
    return srcjax.grad(function, argnums=program.argnums)


def as_scalar(program: Program) -> Callable[..., Any]:
    """A function that reduces the value of a program to one number, in plain Python.

    The weights are those of `cotangent`.
    """
    function = program.function
    value = program.run()
    weights = cotangent(program, value)

    if optree.tree_is_leaf(value):

        def reduced(*args):
            return np.sum(weights * function(*args))

    else:

        def reduced(*args):
            return _weighted_sum(weights, function(*args))

    return reduced


def _weighted_sum(weights, value):
    if isinstance(value, dict):
        total = 0.0
        for key in value:
            total = total + _weighted_sum(weights[key], value[key])
        return total
    if isinstance(value, tuple | list):
        total = 0.0
        for weight, each in zip(weights, value, strict=True):
            total = total + _weighted_sum(weight, each)
        return total
    return np.sum(weights * value)


def print_text_hashes() -> None:
    """Prints a JSON object: each program's name, and the hash of its texts.

    A program that cannot be transformed counts by the name of its error, so that
    this says one thing only: whether the texts are the same in each process. One
    program in eighty, unless SRCJAX_TESTS=all.
    """
    hashes = {}
    share = 1 if os.environ.get("SRCJAX_TESTS") == "all" else 80
    for each in PROGRAMS:
        if zlib.crc32(each.name.encode()) % share:
            continue
        try:
            text = "\n".join(gradient_texts(each))
        except Exception as error:
            text = type(error).__name__
        hashes[each.name] = hashlib.sha256(text.encode()).hexdigest()
    json.dump(hashes, sys.stdout)
