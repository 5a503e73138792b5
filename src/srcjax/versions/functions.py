"""The Python function behind what users give: an operation, or one with a rule."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from srcjax.analysis.custom import Checkpointed, CustomRule, CustomTangent
from srcjax.analysis.kept import Kept
from srcjax.backends.load import load
from srcjax.errors import ArgumentError
from srcjax.late import late
from srcjax.versions.described import is_library_file

if TYPE_CHECKING:
    from srcjax.ops import record
else:
    record = late("srcjax.ops.record")


def underlying(function: Any) -> Callable:
    """The Python function behind a custom rule or checkpoint, or in a library's place.

    That of a library, `scipy.optimize.rosen`, is differentiated as it is where called.
    """
    served = record.composite_of(function) if may_be_served(function) else None
    if inspect.isfunction(served):
        return served
    while isinstance(function, (CustomRule, CustomTangent, Checkpointed)):
        if not isinstance(function, Checkpointed):
            return _calling(function)
        function = function.function
    return function


def may_be_served(function: Any) -> bool:
    """Whether another function may stand for one: those of libraries alone."""
    if not inspect.isfunction(function) or hasattr(function, "__srcjax_transform__"):
        return False
    known = "srcjax.ops.record" in sys.modules
    return known or is_library_file(function.__code__.co_filename)


def _calling(rule: CustomRule | CustomTangent) -> Callable:
    """A Python function that calls a function with its own rule."""
    if isinstance(rule, CustomTangent):
        if rule.rule is None:
            raise ArgumentError(
                f"`{rule.__name__}` was made by custom_jvp but has no rule",
                instead=f"`{rule.__name__}.defjvp(rule)`",
            )
    elif rule.fwd is None or rule.bwd is None:
        raise ArgumentError(
            f"`{rule.__name__}` was made by custom_vjp but has no rule",
            instead=f"`{rule.__name__}.defvjp(forward, backward)`",
        )

    def made() -> Any:
        names = list(inspect.signature(rule.function).parameters)
        joined, name = ", ".join(names), rule.__name__
        text = f"def {name}_({joined}):\n    return {name}({joined})\n"
        return getattr(load(text, f"{name}_", {name: rule}), f"{name}_")

    found: Callable = _CALLING.get(id(rule), rule, made)
    return found


_CALLING = Kept()


_WRAPPERS = Kept()


def with_source(f: Callable, count: int) -> Callable:
    """A Python function around an operation such as `np.sin`."""
    if inspect.isfunction(f):
        return f
    from srcjax.ops import registry  # noqa: F401  (fills the table of operations)

    if record.lookup(f) is None:
        return f

    def made() -> Any:
        names = ", ".join("xyzuvw"[:count])
        name = getattr(f, "__name__", "function")
        text = f"def {name}_({names}):\n    return operation({names})\n"
        return getattr(load(text, f"{name}_", {"operation": f}), f"{name}_")

    found: Callable = _WRAPPERS.get((id(f), count), f, made)
    return found
