"""What generated code calls of the API, named by rooms that the API stands on.

A transform writes `pullback = vjp(f, x)` for a function that is known only when the
program runs. `vjp` itself is made of transforms: so a transform says where it is, and
it is fetched when the module of the text is put together.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reference:
    """A value by the module that it is in and its name there."""

    module: str
    name: str

    @property
    def value(self) -> Any:
        """What is referred to; its module is imported, if it was not."""
        return getattr(importlib.import_module(self.module), self.name)


def resolved(value: Any) -> Any:
    """The value, or what a reference refers to."""
    return value.value if isinstance(value, Reference) else value


VJP = Reference("srcjax.api.reverse", "vjp")
JVP = Reference("srcjax.api.forward", "jvp")

_AT_RUN_TIME = "srcjax.api.at_run_time"
VJP_AT_RUN_TIME = Reference(_AT_RUN_TIME, "vjp_at_run_time")
JVP_AT_RUN_TIME = Reference(_AT_RUN_TIME, "jvp_at_run_time")
PULLBACK_OF = Reference(_AT_RUN_TIME, "pullback_of")
TANGENT_OF = Reference(_AT_RUN_TIME, "tangent_of")
#: Of functions made by `custom_jvp` and `checkpoint`.
VJP_CUSTOM = Reference(_AT_RUN_TIME, "vjp_custom")
VJP_CHECKPOINTED = Reference(_AT_RUN_TIME, "vjp_checkpointed")
#: Makes the batch of a function with a rule of its own.
BATCHED_RULE = Reference("srcjax.api.batched_rules", "batched_rule")
#: Calls the batched form that a function has of its own.
BATCH_BY_RULE = Reference("srcjax.api.batched_rules", "batch_by_rule")

__all__ = [
    "BATCH_BY_RULE",
    "BATCHED_RULE",
    "JVP",
    "JVP_AT_RUN_TIME",
    "PULLBACK_OF",
    "TANGENT_OF",
    "VJP",
    "VJP_AT_RUN_TIME",
    "VJP_CHECKPOINTED",
    "VJP_CUSTOM",
    "Reference",
    "resolved",
]
