"""What is said of an array that is not there."""

from __future__ import annotations

from typing import Any

import numpy as np


class ShapeDtypeStruct:
    """The shape and the dtype of an array, without the array."""

    __slots__ = ("dtype", "shape")

    shape: tuple[int, ...]
    dtype: np.dtype

    def __init__(self, shape: Any, dtype: Any) -> None:
        object.__setattr__(self, "shape", tuple(map(int, shape)))
        object.__setattr__(self, "dtype", np.dtype(dtype))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a ShapeDtypeStruct cannot be changed: .{name}")

    @property
    def ndim(self) -> int:
        """How many axes the array has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many items the array has."""
        return int(np.prod(self.shape, dtype=int))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __eq__(self, other: object) -> bool:
        mine = self.shape, self.dtype
        return isinstance(other, ShapeDtypeStruct) and mine == (
            other.shape,
            other.dtype,
        )

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={self.dtype.name})"


__all__ = ["ShapeDtypeStruct"]
