"""Whether a program is one that was written for JAX: its results are `Array`s.

    def rank(damping):
        return jnp.linalg.solve(jnp.eye(n) - damping * P, jnp.full(n, 1 / n))

    jit(rank)(0.85).block_until_ready()

A function that is given no array makes its own. In a text they are NumPy's.
"""

from __future__ import annotations

import dis
import functools
import sys
from collections.abc import Callable
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from srcjax.analysis.arrays import (
    are_given,
    as_arrays,
    call_plainly,
    gives_arrays,
)
from srcjax.analysis.custom import CustomRule, CustomTangent
from srcjax.analysis.standard import nested
from srcjax.late import late

if TYPE_CHECKING:
    from srcjax.versions import effort
else:
    effort = late("srcjax.versions.effort")


#: What is looked into: nothing of the user's that may notice it.
_CALLED = (FunctionType, MethodType, functools.partial, CustomRule, CustomTangent)


def is_for_jax(function: Any) -> bool:
    """Whether a function, or one that it calls by name, has calls of `srcjax.numpy`."""
    if "srcjax.numpy" not in sys.modules:
        return False
    seen: dict[int, Any] = {}
    waiting = [function]
    while waiting:
        value = waiting.pop()
        plain = effort.written_in_python(value)
        if plain is None or effort.is_of_srcjax(plain) or id(plain) in seen:
            if gives_arrays(value):
                return True
            continue
        seen[id(plain)] = plain
        read = globals_read(plain.__code__) | {*plain.__code__.co_freevars}
        around = effort.names_around(plain)
        for found in [around[name] for name in read & around.keys()]:
            if isinstance(found, ModuleType):
                attributes = effort.all_names(plain.__code__)
                parts = [vars(found).get(name) for name in attributes]
                if any(map(gives_arrays, [found, *parts])):
                    return True
            elif isinstance(found, _CALLED):
                waiting.append(found)
    return False


def serve(
    function: Callable,
    result: Callable[[tuple, dict], Any],
    for_jax: Callable[[], bool],
    args: tuple,
    kwargs: dict,
) -> Any:
    """What `function(*args, **kwargs)` gives: `Array`s if given one, or for JAX.

    `result` gives it for arrays of NumPy's own class; `for_jax` tells whether the
    program is one of JAX.
    """
    if are_given(args, kwargs):
        return call_plainly(function, args, kwargs)
    found = result(args, kwargs)
    return as_arrays(found) if for_jax() else found


def globals_read(code: CodeType) -> set[str]:
    """The names of globals that a function, or one inside it, reads."""
    return {
        step.argval
        for each in nested(code)
        for step in dis.get_instructions(each)
        if step.opname == "LOAD_GLOBAL"
    }
