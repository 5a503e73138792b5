"""Collectives among GPUs: those of NCCL, by way of CuPy, where both are there.

Each device's thread puts its part of a reduction into the stream of its own GPU. All
other collectives copy arrays from one GPU to another.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from srcjax.parallel.axis import DeviceAxis

#: The reductions of NCCL, and what it computes with.
_WAYS = {"psum": "SUM", "pmean": "SUM", "pmax": "MAX", "pmin": "MIN"}
_DTYPES = {
    "float16": "FLOAT16",
    "float32": "FLOAT32",
    "float64": "FLOAT64",
    "int8": "INT8",
    "int32": "INT32",
    "int64": "INT64",
    "uint8": "UINT8",
    "uint32": "UINT32",
    "uint64": "UINT64",
}

_LOCK = threading.Lock()
_COMMUNICATORS: dict[tuple[int, ...], list[Any]] = {}


def is_on_gpu(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "cupy"


def the_cupy() -> Any:
    import cupy

    return cupy


def ready(leaves: Sequence[Any]) -> None:
    """Wait until what was computed on this thread's GPU can be read by others."""
    if any(map(is_on_gpu, leaves)):
        the_cupy().cuda.get_current_stream().synchronize()


def here(x: Any) -> Any:
    """An array of a GPU on the one of this thread; all else as it is."""
    return the_cupy().asarray(x) if is_on_gpu(x) else x


def nccl_serves(name: str, leaves: Sequence[Any], axis: DeviceAxis) -> bool:
    """Whether NCCL reduces these values: arrays on GPUs that are different ones."""
    if name not in _WAYS or not leaves or len(set(axis.gpus)) < max(2, len(axis.gpus)):
        return False
    of_nccl = all(is_on_gpu(x) and str(x.dtype) in _DTYPES for x in leaves)
    return of_nccl and axis.processes.count == 1 and the_nccl() is not None


def the_nccl() -> Any:
    """CuPy's module of NCCL; None without it."""
    found = getattr(the_cupy().cuda, "nccl", None)
    return found if getattr(found, "available", False) else None


def reduced(name: str, x: Any, axis: DeviceAxis) -> Any:
    """The reduction of the arrays of all devices, on the GPU of this thread."""
    cupy, nccl = the_cupy(), the_nccl()
    if name == "pmean" and x.dtype.kind != "f":
        x = x.astype(float)
    given = cupy.ascontiguousarray(x)
    found = cupy.empty_like(given)
    communicators(axis.gpus)[axis.device].allReduce(
        given.data.ptr,
        found.data.ptr,
        given.size,
        getattr(nccl, f"NCCL_{_DTYPES[str(given.dtype)]}"),
        getattr(nccl, f"NCCL_{_WAYS[name]}"),
        cupy.cuda.get_current_stream().ptr,
    )
    return found / axis.size if name == "pmean" else found


def communicators(gpus: tuple[int, ...]) -> list[Any]:
    """NCCL's communicators for some GPUs of this process, one for each."""
    with _LOCK:
        if gpus not in _COMMUNICATORS:
            made = the_nccl().NcclCommunicator.initAll(list(gpus))
            _COMMUNICATORS[gpus] = list(made)
        return _COMMUNICATORS[gpus]


__all__ = ["here", "is_on_gpu", "nccl_serves", "ready", "reduced", "the_cupy"]
