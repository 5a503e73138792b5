"""Collectives over devices: what each of them brings becomes what each of them gets.

A `Way` has three steps. `here` puts together what the devices of this process bring,
`across` what the processes have (a collective of MPI), and `part` is what one device
gets of it, in memory of its own. Meanings are those of JAX.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcjax.errors import ArgumentError, DeviceError
from srcjax.parallel.axis import HERE, DeviceAxis
from srcjax.parallel.gpus import (
    here,
    is_on_gpu,
    nccl_serves,
    ready,
    reduced,
    the_cupy,
)
from srcjax.parallel.processes import MpiProcesses
from srcjax.runtime.batches import has_parts, over_parts

Values = list[Any]


@dataclass(frozen=True)
class Way:
    """How a collective is computed; `options` are its arguments beside `x`."""

    here: Callable[[Values, DeviceAxis, dict], Any]
    across: Callable[[Any, MpiProcesses, DeviceAxis, dict], Any]
    part: Callable[[Any, DeviceAxis, dict], Any]
    check: Callable[[Any, DeviceAxis, dict], None] = lambda x, axis, options: None


def combined(name: str, x: Any, axis_name: Any, **options: Any) -> Any:
    """What a collective gives this device for a number, an array or a container.

    Raises:
        ArgumentError: no `pmap` runs here with this axis.
        DeviceError: other devices or processes do not come for the same.
    """
    axis = axis_here(name, axis_name)
    way = WAYS[name]
    leaves: list[Any] = []
    collect(x, leaves)
    for leaf in leaves:
        way.check(leaf, axis, options)
    subject = (name, axis.name, *map(kind_of, leaves), *options.items())
    if nccl_serves(name, leaves, axis):  # what all devices came for is the same
        axis.meeting.exchange(axis.device, (*subject, "NCCL"), None, lambda _: None)
        return rebuilt(x, iter([reduced(name, leaf, axis) for leaf in leaves]))

    def together(brought: list[Values]) -> Values:
        brought = [list(map(here, values)) for values in brought]
        found = [way.here(list(v), axis, options) for v in zip(*brought, strict=True)]
        processes = axis.processes
        if not isinstance(processes, MpiProcesses):
            return found
        processes.demand_same(subject)
        return [
            to_device_of(v, way.across(to_host(v), processes, axis, options))
            for v in found
        ]

    ready(leaves)
    brought = list(map(widened, leaves))
    found = axis.meeting.exchange(axis.device, subject, brought, together)
    parts = [way.part(on_this_device(each), axis, options) for each in found]
    return rebuilt(x, iter(map(in_dtype_of, leaves, parts)))


def axis_here(name: str, axis_name: Any) -> DeviceAxis:
    """The axis of the name, which is open in this thread. Raises ArgumentError."""
    axis = HERE.get()
    names = axis_name if isinstance(axis_name, (tuple, list)) else (axis_name,)
    if axis is None or axis.name is None or set(names) != {axis.name}:
        known = repr(axis.name) if axis is not None and axis.name is not None else None
        raise ArgumentError(
            f"{name}: there is no axis of the name {axis_name!r} here; names in scope: "
            f"{known or 'none'}",
            instead=f"a call by way of `srcjax.vmap(f, axis_name={axis_name!r})`, or "
            "of `srcjax.pmap`",
        )
    return axis


# -- leaves ----------------------------------------------------------------------------


def is_leaf(x: Any) -> bool:
    """Whether it takes part: a number or an array."""
    return hasattr(x, "dtype") or isinstance(x, (bool, int, float, complex))


def collect(x: Any, leaves: list[Any]) -> Any:
    """Append the leaves of a container, in order."""
    if has_parts(x):
        return over_parts(lambda part: collect(part, leaves), x)
    if is_leaf(x):
        leaves.append(x)
    return x


def rebuilt(x: Any, leaves: Iterator[Any]) -> Any:
    """The container with other leaves."""
    if has_parts(x):
        return over_parts(lambda part: rebuilt(part, leaves), x)
    return next(leaves) if is_leaf(x) else x


def kind_of(x: Any) -> str:
    """Shape and dtype, for comparisons and messages; of a number what kind it is.

    A number may be Python's on one device and NumPy's on another.
    """
    shape = np.shape(x)
    if shape == ():
        return f"{_NUMBERS[np.result_type(x).kind]} number"
    return f"{x.dtype}[{'x'.join(map(str, shape))}]"


#: What numbers are called, and how wide they are when they are exchanged.
_NUMBERS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
_WIDE = {"f": np.float64, "c": np.complex128, "i": np.int64}


def widened(x: Any) -> Any:
    """A number of NumPy's in the dtype that all devices exchange it in."""
    dtype = getattr(x, "dtype", None)
    if dtype is None or np.shape(x) != () or dtype.kind not in _WIDE:
        return x
    return x.astype(_WIDE[dtype.kind], copy=False)


def in_dtype_of(x: Any, found: Any) -> Any:
    """What was found for a number, as wide as that is."""
    dtype = getattr(x, "dtype", None)
    if dtype is None or np.shape(x) != () or found.dtype.kind != dtype.kind:
        return found
    return found.astype(dtype, copy=False)


def on_this_device(x: Any) -> Any:
    """What was put together on the GPU of another device, on that of this one."""
    if isinstance(x, dict):
        return {k: here(v) for k, v in x.items()}
    return here(x)


def to_host(x: Any) -> Any:
    """An array of a GPU in NumPy; all else as it is."""
    if isinstance(x, dict):
        return {k: to_host(v) for k, v in x.items()}
    return x.get() if is_on_gpu(x) else x


def to_device_of(x: Any, found: Any) -> Any:
    """What was computed in NumPy, where `x` is."""
    if is_on_gpu(x):
        return module_of(x).asarray(found)
    return found


def module_of(x: Any) -> Any:
    """NumPy, or CuPy for its arrays."""
    if not is_on_gpu(x):
        return np
    return the_cupy()


def own(x: Any) -> Any:
    """The value in memory of this device's own."""
    return x.copy() if isinstance(x, np.ndarray) or is_on_gpu(x) else x


# -- reductions ------------------------------------------------------------------------


def total_here(values: Values, axis: DeviceAxis, options: dict) -> Any:
    if getattr(getattr(values[0], "dtype", None), "kind", "") == "b":
        values = [np.asarray(v).astype(int)[()] for v in values]
    return functools.reduce(operator.add, values)


def whole(found: Any, axis: DeviceAxis, options: dict) -> Any:
    return own(found)


def mean_of_total(found: Any, axis: DeviceAxis, options: dict) -> Any:
    return found / axis.size


def extreme_here(function: np.ufunc) -> Callable[[Values, DeviceAxis, dict], Any]:
    def extreme(values: Values, axis: DeviceAxis, options: dict) -> Any:
        return functools.reduce(function, values)

    return extreme


def reduced_by(how: str) -> Callable[[Any, MpiProcesses, DeviceAxis, dict], Any]:
    def across(found: Any, processes: MpiProcesses, axis: Any, options: dict) -> Any:
        return processes.all_reduced(found, how)

    return across


# -- all of them -----------------------------------------------------------------------


def stacked_here(values: Values, axis: DeviceAxis, options: dict) -> Any:
    return module_of(values[0]).stack(values)


def gathered_across(
    found: Any, processes: MpiProcesses, axis: DeviceAxis, options: dict
) -> Any:
    return processes.all_gathered(found)


def gathered_part(found: Any, axis: DeviceAxis, options: dict) -> Any:
    xp, place = module_of(found), options["axis"]
    if options["tiled"]:
        return xp.concatenate(list(found), axis=place)
    return own(xp.moveaxis(found, 0, place))


# -- parts of the sum ------------------------------------------------------------------


def check_scattered(x: Any, axis: DeviceAxis, options: dict) -> None:
    check_cut("psum_scatter", x, options["scatter_dimension"], axis, options["tiled"])


def check_cut(name: str, x: Any, along: int, axis: DeviceAxis, tiled: bool) -> None:
    """The axis can be cut into a part for each device. Raises ArgumentError."""
    shape = np.shape(x)
    if not -len(shape) <= along < len(shape):
        raise ArgumentError(
            f"{name}: a value of shape {shape} has no axis {along}",
            instead="an axis of the value",
        )
    size = shape[along]
    if size % axis.size or (not tiled and size != axis.size):
        wanted = "a multiple of the number of devices" if tiled else "an item for each"
        raise ArgumentError(
            f"{name} over {axis.name!r}: axis {along} of a value of shape {shape} is "
            f"cut into parts for {axis.size} devices",
            instead=f"{wanted} along that axis",
        )


def scattered_here(values: Values, axis: DeviceAxis, options: dict) -> Any:
    """The sum, with the parts of all devices along its first axis."""
    total = total_here(values, axis, options)
    xp = module_of(total)
    first = xp.moveaxis(total, options["scatter_dimension"], 0)
    return first.reshape(axis.size, -1, *first.shape[1:])


def scattered_across(
    found: Any, processes: MpiProcesses, axis: DeviceAxis, options: dict
) -> Any:
    return processes.scattered_sum(found)


def scattered_part(found: Any, axis: DeviceAxis, options: dict) -> Any:
    place = options["scatter_dimension"]
    mine = found[axis.device]
    if options["tiled"]:
        return own(module_of(mine).moveaxis(mine, 0, place))
    return own(mine[0])


# -- from device to device -------------------------------------------------------------


def check_permuted(x: Any, axis: DeviceAxis, options: dict) -> None:
    perm = options["perm"]
    sources, targets = [a for a, _ in perm], [b for _, b in perm]
    inside = all(0 <= k < axis.size for k in (*sources, *targets))
    if not inside or len({*sources}) < len(perm) or len({*targets}) < len(perm):
        raise ArgumentError(
            f"ppermute over {axis.name!r} of {axis.size} devices: {list(perm)} are no "
            "pairs of devices, each one once as the source and once as the target",
            instead="`[(source, target), ...]`",
        )


def as_arrays_here(values: Values, axis: DeviceAxis, options: dict) -> Any:
    """The values by the numbers of the devices they are for."""
    first = axis.processes.index * len(values)
    return {
        target: values[source - first]
        for source, target in options["perm"]
        if 0 <= source - first < len(values)
    } | {-1: values[0]}


def permuted_across(
    found: Any, processes: MpiProcesses, axis: DeviceAxis, options: dict
) -> Any:
    count = axis.meeting.size
    like = np.asarray(found.pop(-1))
    kept: dict[int, Any] = {-1: like}
    sent: dict[tuple[int, int], np.ndarray] = {}
    wanted: dict[int, tuple] = {}
    for source, target in options["perm"]:
        a, b = source // count, target // count
        if b == processes.index and a == b:
            kept[target] = found[target]
        elif b == processes.index:
            wanted[target] = a, np.empty_like(like, order="C")
        elif a == processes.index:
            sent[b, target] = np.asarray(found[target])
    got = processes.passed_on(sent, wanted)
    return kept | {k: v if v.ndim else v[()] for k, v in got.items()}


def permuted_part(found: Any, axis: DeviceAxis, options: dict) -> Any:
    mine = found.get(axis.index)
    if mine is None:
        like = found[-1]
        return module_of(like).zeros_like(like)[()]
    return own(mine)


def check_exchanged(x: Any, axis: DeviceAxis, options: dict) -> None:
    check_cut("all_to_all", x, options["split_axis"], axis, options["tiled"])


def exchanged_here(values: Values, axis: DeviceAxis, options: dict) -> Any:
    """By (target, source): the parts, with the axis that was cut in front."""
    xp = module_of(values[0])
    rows = [xp.moveaxis(v, options["split_axis"], 0) for v in values]
    parts = [r.reshape(axis.size, -1, *r.shape[1:]) for r in rows]
    return xp.stack(parts, axis=1)


def exchanged_across(
    found: Any, processes: MpiProcesses, axis: DeviceAxis, options: dict
) -> Any:
    count = axis.meeting.size
    mine = found.reshape(processes.count, count, *found.shape[1:])
    got = processes.exchanged(mine)  # (process of the source, target, source, ...)
    return np.moveaxis(got, 0, 1).reshape(count, -1, *found.shape[2:])


def exchanged_part(found: Any, axis: DeviceAxis, options: dict) -> Any:
    xp = module_of(found)
    split, concat = options["split_axis"], options["concat_axis"]
    parts = found[axis.device]  # by source
    if options["tiled"]:
        rows = [xp.moveaxis(part, 0, split) for part in parts]
        return xp.concatenate(rows, axis=concat)
    return own(xp.moveaxis(parts[:, 0], 0, concat))


WAYS = {
    "psum": Way(total_here, reduced_by("SUM"), whole),
    "pmean": Way(total_here, reduced_by("SUM"), mean_of_total),
    "pmax": Way(extreme_here(np.maximum), reduced_by("MAX"), whole),
    "pmin": Way(extreme_here(np.minimum), reduced_by("MIN"), whole),
    "all_gather": Way(stacked_here, gathered_across, gathered_part),
    "psum_scatter": Way(
        scattered_here, scattered_across, scattered_part, check_scattered
    ),
    "ppermute": Way(as_arrays_here, permuted_across, permuted_part, check_permuted),
    "all_to_all": Way(
        exchanged_here, exchanged_across, exchanged_part, check_exchanged
    ),
}

__all__ = ["DeviceError", "axis_here", "combined"]
