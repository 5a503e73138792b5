"""Where arrays are: in the memory of the CPU (NumPy), or of a GPU (CuPy)."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.registered import record_fields
from srcjax.backends.on_device import is_on_device
from srcjax.errors import ArgumentError
from srcjax.late import late

if TYPE_CHECKING:
    import optree

    from srcjax.backends.cuda import run as cuda_run
else:
    optree = late("optree")
    cuda_run = late("srcjax.backends.cuda.run")


#: What annotations of JAX's programs say: all arrays here are NumPy's (or CuPy's).
Array = np.ndarray


def devices() -> list[str]:
    """The devices that arrays can be on: "cpu", and "gpu:0" and so on.

    Without CuPy, or without a GPU that it can use, there is "cpu" alone.
    """
    try:
        cupy = cuda_run.the_cupy()
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception:  # no CuPy, no driver, no device
        count = 0
    return ["cpu", *(f"gpu:{k}" for k in range(count))]


def device_put(x: Any, device: str | None = None) -> Any:
    """The same pytree with its arrays on a device; numbers stay what they are.

    Args:
        x: an array, or a pytree of arrays.
        device: "gpu", which is the current one, "gpu:1" and so on, or "cpu". Without
            it a GPU if there is one, else the CPU.

    Raises:
        ArgumentError: there is no such device, or no CuPy.
    """
    if device is None:
        device = "gpu" if len(devices()) > 1 else "cpu"
    if device == "cpu":
        return device_get(x)
    cupy = cuda_run.the_cupy()
    with chosen(device):
        return optree.tree_map(
            lambda leaf: cupy.asarray(leaf) if is_array(leaf) else leaf,
            x,
            none_is_leaf=True,
        )


def device_get(x: Any) -> Any:
    """The same pytree with its arrays in NumPy."""
    return optree.tree_map(
        lambda leaf: leaf.get() if is_on_device(leaf) else leaf,
        x,
        none_is_leaf=True,
    )


def block_until_ready(x: Any) -> Any:
    """The pytree itself, once what computes its arrays on a GPU is done."""
    if any(map(is_on_device, leaves(x))):
        cuda_run.the_cupy().cuda.get_current_stream().synchronize()
    return x


def chosen(device: str) -> Any:
    """The context in which arrays are made on a device. Raises ArgumentError."""
    kind, _, number = device.partition(":")
    known = kind == "gpu" and (not number or number.isdigit())
    if known and not number:
        found = devices()
        if len(found) == 1:
            raise no_device(device)
        return contextlib.nullcontext()
    if not known or device not in devices():
        raise no_device(device)
    return cuda_run.the_cupy().cuda.Device(int(number))


def no_device(device: str) -> ArgumentError:
    found = ", ".join(map(repr, devices()))
    return ArgumentError(f"there is no device {device!r}", instead=f"one of {found}")


def is_array(x: Any) -> bool:
    """Whether it is an array that can be on a device."""
    return is_on_device(x) or isinstance(x, np.ndarray) and x.dtype.kind in "biufc"


def leaves(value: Any) -> Iterator[Any]:
    """What a pytree, or a dataclass, holds."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from leaves(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from leaves(each)
    elif record_fields(value) is not None:
        for name in record_fields(value) or ():
            yield from leaves(getattr(value, name, None))
    else:
        yield value


def device_of(values: list[Any], names: list[str]) -> str:
    """Where arguments are, "cpu" or "gpu". Raises ArgumentError if on both."""
    where: dict[str, str] = {}
    for name, value in zip(names, values, strict=True):
        for leaf in leaves(value):
            if is_on_device(leaf):
                where.setdefault("gpu", name)
            elif isinstance(leaf, np.ndarray) and leaf.ndim:
                where.setdefault("cpu", name)
    if len(where) == 2:
        raise ArgumentError(
            f"jit: `{where['cpu']}` is on the CPU, and `{where['gpu']}` on the GPU",
            instead=f"`srcjax.device_put({where['cpu']})`, or "
            f"`srcjax.device_get({where['gpu']})`",
        )
    return next(iter(where), "cpu")
