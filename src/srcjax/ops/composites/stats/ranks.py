"""Ranks: they jump, and carry no derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from srcjax.analysis.types import Array, Type, rank_of, shape_of
from srcjax.ops.known import known
from srcjax.ops.record import inert


def infer_ranks(a: Type, method: Type | None = None, **options: Any) -> Type:
    """One for each value: numbers with halves where equal ones share theirs."""
    halves = method is None or known(method) == "average"
    same = not options and rank_of(a) == 1
    return Array(
        dtype=np.dtype(float) if halves else None, shape=shape_of(a) if same else None
    )


inert(stats.rankdata, infer=infer_ranks)
