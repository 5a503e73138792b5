"""Where arrays are: in the memory of the CPU (NumPy), or of a GPU (CuPy)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.arrays import as_arrays, as_plain
from srcjax.analysis.registered import record_fields
from srcjax.backends.on_device import is_on_device
from srcjax.errors import ArgumentError
from srcjax.late import late
from srcjax.parallel.counting import cpu_devices
from srcjax.parallel.processes import processes

if TYPE_CHECKING:
    import optree

    from srcjax.backends.cuda import run as cuda_run
else:
    optree = late("optree")
    cuda_run = late("srcjax.backends.cuda.run")


class Device(str):
    """A device by its name: "cpu", or "cpu:1" where there are several, and "gpu:0"."""

    #: Its number among the devices of all processes, and of its own process.
    id: int
    local: int
    process_index: int

    @property
    def platform(self) -> str:
        """ "cpu" or "gpu"."""
        return self.partition(":")[0]

    device_kind = platform

    def __repr__(self) -> str:
        return repr(str(self))


def devices(backend: str | None = None) -> list[Device]:
    """The devices of all processes: those that `pmap` takes the first ones of.

    Args:
        backend: "gpu" for the GPUs that CuPy finds, "cpu" for the devices on the CPU:
            as many as `srcjax.config.update("jax_num_cpu_devices", n)` says. None: the
            GPUs, if there are any, else those on the CPU.

    Raises:
        ArgumentError: there is no such backend.
    """
    platform = backend_of(backend)
    around = processes()
    per_process = len(_local(platform))
    found = []
    for number in range(per_process * around.count):
        process, local = divmod(number, per_process)
        alone = platform == "cpu" and per_process * around.count == 1
        device = Device(platform if alone else f"{platform}:{number}")
        device.id, device.process_index = number, process
        device.local = _local(platform)[local]
        found.append(device)
    return found


def local_devices(
    process_index: int | None = None, backend: str | None = None
) -> list[Device]:
    """The devices of one process; of this one, if none is named (see `devices`)."""
    wanted = processes().index if process_index is None else process_index
    return [d for d in devices(backend) if d.process_index == wanted]


def device_count(backend: str | None = None) -> int:
    """How many devices there are in all processes (see `devices`)."""
    return len(devices(backend))


def local_device_count(backend: str | None = None) -> int:
    """How many of them are those of this process."""
    return len(local_devices(backend=backend))


def process_index(backend: str | None = None) -> int:
    """The number of this process among those that `mpiexec` started; 0 without it."""
    return processes().index


def process_count(backend: str | None = None) -> int:
    """How many processes `mpiexec` started; 1 without it."""
    return processes().count


def backend_of(backend: str | None) -> str:
    """ "cpu" or "gpu". Raises ArgumentError if there is no such backend."""
    if backend is None:
        return "gpu" if gpu_count() else "cpu"
    name = "gpu" if backend == "cuda" else backend
    if name not in ("cpu", "gpu") or (name == "gpu" and not gpu_count()):
        known = "'cpu'" + (" or 'gpu'" if gpu_count() else "")
        raise ArgumentError(f"there is no backend {backend!r}", instead=known)
    return name


def gpu_count() -> int:
    """How many GPUs CuPy can use, 0 without it."""
    try:
        return int(cuda_run.the_cupy().cuda.runtime.getDeviceCount())
    except Exception:  # no CuPy, no driver, no device
        return 0


def _local(platform: str) -> list[int]:
    """The numbers of this process's devices; each process has a GPU of its own."""
    if platform == "cpu":
        return list(range(cpu_devices()))
    count, around = gpu_count(), processes()
    if around.count == 1:
        return list(range(count))
    named = [os.environ[n] for n in _LOCAL_RANK if n in os.environ]
    return [int(named[0] if named else around.index) % count]


#: What launchers say of the place of a process among those on the same machine.
_LOCAL_RANK = ("MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID")


#: Where `device_put` puts arrays that are not said to go somewhere.
_DEFAULT: ContextVar[str | None] = ContextVar("default device", default=None)


@contextlib.contextmanager
def default_device(device: str | None) -> Iterator[None]:
    """Inside of it `device_put(x)` puts arrays on this device, in this thread.

    What NumPy makes is on the CPU all the same, `srcjax.numpy` and `srcjax.random` too.

    Args:
        device: "cpu", "gpu", "gpu:1" and so on, an item of `devices()`, or None: a GPU
            if there is one.

    Raises:
        ArgumentError: there is no such device.
    """
    if device is not None and device != "cpu" and device not in devices("cpu"):
        with chosen(device):
            pass
    before = _DEFAULT.set(device)
    try:
        yield
    finally:
        _DEFAULT.reset(before)


def device_put(x: Any, device: str | None = None) -> Any:
    """The same pytree with its arrays on a device; numbers stay what they are.

    Those on the CPU are of the class `srcjax.Array`.

    Args:
        x: an array, or a pytree of arrays.
        device: "gpu", which is the current one, "gpu:1" and so on, or "cpu". Without
            it that of `default_device`, or a GPU if there is one, else the CPU.

    Raises:
        ArgumentError: there is no such device, or no CuPy.
    """
    return optree.tree_map(as_arrays, moved_to(x, device), none_is_leaf=True)


def moved_to(x: Any, device: str | None) -> Any:
    """`device_put` of arrays that stay of the class that they are of."""
    if device is None:
        device = _DEFAULT.get()
    if device is None:
        device = "gpu" if gpu_count() else "cpu"
    if device == "cpu" or device in devices("cpu"):
        return optree.tree_map(off_device, x, none_is_leaf=True)
    cupy = cuda_run.the_cupy()
    with chosen(device):
        return optree.tree_map(
            lambda leaf: cupy.asarray(leaf) if is_array(leaf) else leaf,
            x,
            none_is_leaf=True,
        )


def device_get(x: Any) -> Any:
    """The same pytree with its arrays in NumPy, of NumPy's own class."""
    return optree.tree_map(in_numpy, x, none_is_leaf=True)


def in_numpy(leaf: Any) -> Any:
    """The array, of whatever device, as NumPy has it; other leaves as they are."""
    return off_device(as_plain(leaf))


def off_device(leaf: Any) -> Any:
    """The array in the memory of the CPU; other leaves as they are."""
    return leaf.get() if is_on_device(leaf) else leaf


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
        if not gpu_count():
            raise no_device(device)
        return contextlib.nullcontext()
    if not known or int(number) >= gpu_count():
        raise no_device(device)
    return cuda_run.the_cupy().cuda.Device(int(number))


def no_device(device: str) -> ArgumentError:
    gpus = [f"gpu:{k}" for k in range(gpu_count())]
    found = ", ".join(map(repr, ["cpu", *gpus]))
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
