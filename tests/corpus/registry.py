"""The register of corpus programs: what each one is, and how to call it.

A program is a plain Python function, kept exactly as it is written. The decorator
`program` notes it down with example arguments and returns it untouched:

    @program(2.0)
    def square(x):
        return x * x

    @program(make=lambda: (np.ones(3),), tags="inplace")
    def doubled(x): ...

Arguments given by position are copied for each use; `make` is for the ones that a
deep copy would not renew.
"""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import optree


@dataclass(frozen=True, eq=False)
class Program:
    """One corpus program.

    **Attributes:**

    - `name`: `module.function`, unique in the corpus.
    - `function`: the callable to differentiate: a function, lambda, method, partial.
    - `make`: gives a fresh tuple of example arguments.
    - `argnums`: the positions of the differentiated arguments.
    - `jax`: `None` to try the same function on `jax.numpy`; `True` when it has to run
        there; `False` when it means something else there; or a function to use instead.
    - `smooth`: whether finite differences tell the derivative at the example point.
    - `expected`: the gradients when they do not: a tuple with one for each of
        `argnums`, or a function of the arguments that gives it.
    - `order`: how many derivatives the tests may take.
    - `tags`: words to select programs by.
    """

    name: str
    function: Callable[..., Any]
    make: Callable[[], tuple]
    argnums: tuple[int, ...]
    jax: bool | Callable[..., Any] | None = None
    smooth: bool = True
    expected: tuple | Callable[..., tuple] | None = None
    order: int = 2
    tags: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"<program {self.name}>"

    @property
    def module(self) -> str:
        """The theme, `"loops"` for `"loops.power"`."""
        return self.name.partition(".")[0]

    def args(self) -> tuple:
        """Fresh example arguments."""
        return self.make()

    def run(self) -> Any:
        """The plain function's value at fresh example arguments."""
        return self.function(*self.args())

    @functools.cached_property
    def is_scalar(self) -> bool:
        """Whether the value is one real number."""
        return is_real_scalar(self.run())

    @property
    def is_flat(self) -> bool:
        """Whether each differentiated argument is one number or one array."""
        args = self.args()
        return all(optree.tree_is_leaf(args[i]) for i in self.argnums)


PROGRAMS: list[Program] = []


def program(
    *args: Any,
    make: Callable[[], tuple] | None = None,
    name: str | None = None,
    argnums: int | tuple[int, ...] | None = None,
    jax: bool | Callable[..., Any] | None = None,
    smooth: bool = True,
    expected: tuple | Callable[..., tuple] | None = None,
    order: int = 2,
    tags: str | Iterable[str] = (),
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the decorated function, and returns it unchanged.

    `argnums` defaults to every argument whose leaves are all real floats. The other
    parameters are the attributes of `Program`; `tags` is one string of words.
    """
    if make is None:

        def make() -> tuple:
            return copy.deepcopy(args)

    if not smooth and expected is None:
        raise ValueError("a program that is not smooth needs `expected`")
    caller = sys._getframe(1).f_globals["__name__"].rpartition(".")[2]

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        full = f"{caller}.{name or function.__name__}"
        if any(other.name == full for other in PROGRAMS):
            raise ValueError(f"two programs are named {full}")
        PROGRAMS.append(
            Program(
                name=full,
                function=function,
                make=make,
                argnums=_argnums(argnums, make()),
                jax=jax,
                smooth=smooth,
                expected=expected,
                order=order,
                tags=frozenset(tags.split() if isinstance(tags, str) else tags),
            )
        )
        return function

    return register


def scalar_programs() -> list[Program]:
    """The programs whose value is one real number."""
    return [each for each in PROGRAMS if each.is_scalar]


def second_order_programs() -> list[Program]:
    """The scalar programs of plain arguments that have a second derivative."""
    found = [each for each in scalar_programs() if each.smooth and each.order > 1]
    return [each for each in found if each.is_flat]


def is_float(leaf: Any) -> bool:
    """Whether a leaf is a real float or an array of them."""
    if isinstance(leaf, np.ndarray):
        return np.issubdtype(leaf.dtype, np.floating)
    return isinstance(leaf, float | np.floating)


def is_real_scalar(value: Any) -> bool:
    """Whether a value is one real float: a Python or NumPy number, or a 0-d array."""
    return is_float(value) and np.ndim(value) == 0


def normal(*shape: int, seed: int = 0) -> np.ndarray:
    """A fixed array of standard normal numbers."""
    return np.random.default_rng(seed).normal(size=shape)


def positive(*shape: int, seed: int = 0) -> np.ndarray:
    """A fixed array of numbers between 0.5 and 2."""
    return np.random.default_rng(seed).uniform(0.5, 2.0, size=shape)


def spd(n: int, seed: int = 0) -> np.ndarray:
    """A fixed symmetric positive definite matrix."""
    root = normal(n, n, seed=seed)
    return root @ root.T + n * np.eye(n)


def _argnums(argnums: int | tuple[int, ...] | None, args: tuple) -> tuple[int, ...]:
    if isinstance(argnums, int):
        return (argnums,)
    if argnums is not None:
        return tuple(argnums)
    found = []
    for position, value in enumerate(args):
        leaves = optree.tree_leaves(value)
        if leaves and all(is_float(leaf) for leaf in leaves):
            found.append(position)
    return tuple(found)
