"""JAX's `checkpoint_policies`: what `checkpoint` may save.

They are accepted, and of no effect: nothing but the arguments is saved, and the rest is
computed again. Values and derivatives are those of JAX in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def everything_saveable(*_: Any, **__: Any) -> bool:
    """All results may be saved."""
    return True


def nothing_saveable(*_: Any, **__: Any) -> bool:
    """No result may be saved: what `checkpoint` does here."""
    return False


def dots_saveable(*_: Any, **__: Any) -> bool:
    """Products of matrices may be saved."""
    return False


checkpoint_dots = dots_saveable


def dots_with_no_batch_dims_saveable(*_: Any, **__: Any) -> bool:
    """Products of matrices that are no batches may be saved."""
    return False


checkpoint_dots_with_no_batch_dims = dots_with_no_batch_dims_saveable


def save_only_these_names(*names_which_can_be_saved: str) -> Callable[..., bool]:
    """What `checkpoint_name` gave one of these names may be saved."""
    return nothing_saveable


def save_anything_except_these_names(*names_not_saveable: str) -> Callable[..., bool]:
    """What `checkpoint_name` gave one of these names may not be saved."""
    return nothing_saveable


def save_any_names_but_these(*names_not_saveable: str) -> Callable[..., bool]:
    """What has another name may be saved."""
    return nothing_saveable


def save_from_both_policies(
    policy_1: Callable[..., bool], policy_2: Callable[..., bool]
) -> Callable[..., bool]:
    """What one of the two saves may be saved."""
    return nothing_saveable


__all__ = [
    "checkpoint_dots",
    "checkpoint_dots_with_no_batch_dims",
    "dots_saveable",
    "dots_with_no_batch_dims_saveable",
    "everything_saveable",
    "nothing_saveable",
    "save_any_names_but_these",
    "save_anything_except_these_names",
    "save_from_both_policies",
    "save_only_these_names",
]
