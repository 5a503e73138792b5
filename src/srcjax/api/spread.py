"""`pmap`: one program on many devices."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from srcjax.analysis.custom import CustomRules
from srcjax.api.at_run_time import jvp_at_run_time, vjp_at_run_time
from srcjax.api.batch import check_axes, common_size, example_of, size_of, vmap
from srcjax.api.compiled import Jit, has_hash, listed, told_apart
from srcjax.api.devices import backend_of, is_array, local_devices
from srcjax.backends.load import load
from srcjax.backends.on_device import is_on_device
from srcjax.errors import ArgumentError, SrcjaxError
from srcjax.late import late
from srcjax.ops.collectives import ppermute, psum
from srcjax.parallel.axis import HERE
from srcjax.parallel.processes import processes
from srcjax.parallel.running import run_on_devices
from srcjax.runtime.batches import has_parts, over_parts
from srcjax.versions.callables import Transform, make_callable
from srcjax.versions.for_jax import serve
from srcjax.versions.functions import underlying

if TYPE_CHECKING:
    from srcjax.analysis import axes as axes_in_scope
    from srcjax.analysis import types as ty
    from srcjax.backends import module as modules
    from srcjax.backends.cuda import run as cuda_run
else:
    axes_in_scope = late("srcjax.analysis.axes")
    ty = late("srcjax.analysis.types")
    cuda_run = late("srcjax.backends.cuda.run")

Axes = Any


class OnDevice(Transform):
    """The program of one device: a version for each signature of types.

    What transforms make inside of it, and small functions that it calls, are written
    out; collectives are the calls that they are.
    """

    name = "pmap"
    reads_supposed = False

    def __init__(self, function: Callable, axis_name: str | None) -> None:
        super().__init__(function, ())
        self.axis_name = axis_name

    def summary(self) -> str:
        axis = "" if self.axis_name is None else f" of the axis {self.axis_name!r}"
        return f"What {self.shown_name} does on each device{axis}"

    def build(self, types: list[ty.Type], typed: bool) -> modules.Module:
        from srcjax import compiling

        with axes_in_scope.opened(self.axis_name):
            return compiling.on_device(self.request(types))

    def prove(self, version: Any, args: tuple, kwargs: dict) -> None:
        """It is the function itself: there is nothing to compare it with."""


class Spread(Transform):
    """`pmap`, as other transforms and `source` see it."""

    name = "pmap"
    maps = True
    reads_supposed = False

    def __init__(self, made: Pmapped) -> None:
        super().__init__(made.function, ())
        self.made = made

    def function_for(self, types: list[ty.Type]) -> Callable:
        """A function that calls it: the call has rules of its own."""
        return underlying(self.made)

    def version_of(self, types: list[ty.Type]) -> Any:
        return CalledAsItIs(types, self.function_for(types))

    def rebased(self, function: Callable, count: int | None = None) -> Callable:
        other = self.made.of(function)
        other.__srcjax_transform__.given = self.given
        return other

    def module_for(self, args: tuple, kwargs: dict) -> modules.Module:
        program = self.made.program(args, kwargs)
        with axes_in_scope.opened(self.made.axis_name):
            if not args and not kwargs:
                return program.transform.module_for((), {})
            mine, named = program.shares(args, kwargs, 1)[1][0]
            return program.transform.module_for(mine, named)

    def recorded(self, args: tuple, kwargs: dict) -> tuple[modules.Module, list, dict]:
        program = self.made.program(args, kwargs)
        with axes_in_scope.opened(self.made.axis_name):
            return program.transform.recorded(*program.shares(args, kwargs, 1)[1][0])


@dataclass
class CalledAsItIs:
    """What other transforms need to know of the version that they call."""

    types: list[Any]
    function: Callable
    guards: tuple = ()


class Rules:
    """The derivatives of a `pmap`, each of them a `pmap` of a derivative on a device.

        y = pmap_f(x, w)          y, saved = pmap_f_fwd(x, w)        # the arguments
                                  dx, dw = pmap_f_bwd(saved, dy)     # f_pullback

    The program of the pullback runs `f` again. What all devices get alike has the sum
    of their adjoints (`psum`). Of a result that is the same on all, and is that of the
    first device, the adjoint is the first one's alone (`ppermute`).
    """

    def __init__(self, made: Pmapped) -> None:
        self.made = made
        if made.static:
            raise ArgumentError(
                f"{made.__name__} has static arguments, and is differentiated",
                instead="`pmap(lambda x: f(x, n))`, a function that has them",
            )
        self.names = made.parameters
        for name, p in made.__srcjax_transform__.signature.parameters.items():
            if p.kind not in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                raise ArgumentError(
                    f"{made.__name__} is differentiated, and `{name}` is none of its "
                    "arguments by position",
                    instead="a function with a name for each argument",
                )
            if p.default is not p.empty:
                raise ArgumentError(
                    f"{made.__name__} is differentiated, and `{name}` has a default",
                    instead="`pmap(lambda x: f(x))`, a function of what it is given",
                )
        self.axis = "devices" if made.axis_name is None else made.axis_name
        self.axes = made.axes_of(len(self.names))
        self.base = made.__name__.removeprefix("pmap_")

    @functools.cached_property
    def forward(self) -> Callable:
        taken = ", ".join(self.names)
        kept = f"({taken},)"
        return self.function(
            f"{self.made.__name__}_fwd({taken})",
            [f"return {self.made.__name__}({taken}), {kept}"],
            {self.made.__name__: self.made},
        )

    @functools.cached_property
    def backward(self) -> Callable:
        taken = ", ".join(self.names)
        dy = self.fresh("dy")
        pulled = f"pmap_{self.base}_pullback"
        call = f"{pulled}({taken}, {dy})"
        return self.function(
            f"{self.made.__name__}_bwd({self.fresh('saved')}, {dy})",
            [f"{taken}, = {self.fresh('saved')}", f"return {call}"],
            {pulled: self.pullback},
        )

    @functools.cached_property
    def along(self) -> Callable:
        taken = ", ".join(self.names)
        dots = ", ".join(self.dots)
        pushed = f"pmap_{self.base}_jvp"
        return self.function(
            f"{self.made.__name__}_rule(primals, tangents)",
            [
                f"{taken}, = primals",
                f"{dots}, = tangents",
                f"return {pushed}({taken}, {dots})",
            ],
            {pushed: self.tangent},
        )

    @property
    def dots(self) -> list[str]:
        return [self.fresh(f"{n}_dot") for n in self.names]

    @functools.cached_property
    def pullback(self) -> Pmapped:
        """The adjoints of the arguments on each device."""
        taken, dy = ", ".join(self.names), self.fresh("dy")
        found = [f"d{n}" for n in self.names]
        given = [
            self.over_axes(d, axes, lambda part: f"psum({part}, {self.axis!r})")
            for d, axes in zip(found, self.axes, strict=True)
        ]
        own = self.over_axes(
            dy,
            self.made.out_axes,
            lambda part: f"ppermute({part}, {self.axis!r}, [(0, 0)])",
        )
        name = f"{self.base}_pullback"
        function = self.function(
            f"{name}({taken}, {dy})",
            [
                f"y_, pullback_ = vjp_({self.base}_, {taken})",
                f"{', '.join(found)}, = pullback_({own})",
                f"return {', '.join(given)},",
            ],
            {
                f"{self.base}_": self.made.function,
                "vjp_": vjp_at_run_time,
                "ppermute": ppermute,
                "psum": psum,
            },
        )
        out_axes = self.made.out_axes
        return self.on_devices(function, (*self.axes, out_axes), tuple(self.axes))

    @functools.cached_property
    def tangent(self) -> Pmapped:
        """The value and its tangent on each device."""
        taken, dots = ", ".join(self.names), ", ".join(self.dots)
        function = self.function(
            f"{self.base}_jvp({taken}, {dots})",
            [f"return jvp_({self.base}_, ({taken},), ({dots},))"],
            {f"{self.base}_": self.made.function, "jvp_": jvp_at_run_time},
        )
        out_axes = self.made.out_axes
        return self.on_devices(function, (*self.axes, *self.axes), (out_axes, out_axes))

    def over_axes(self, text: str, axes: Axes, alike: Callable[[str], str]) -> str:
        """The expression with its parts changed of which the devices have the same."""
        if axes is None:
            return alike(text)
        if isinstance(axes, (list, tuple)):
            parts = [
                self.over_axes(f"{text}[{k}]", each, alike)
                for k, each in enumerate(axes)
            ]
            inside = ", ".join(parts)
            return f"[{inside}]" if isinstance(axes, list) else f"({inside},)"
        if isinstance(axes, dict):
            pairs = [
                f"{k!r}: {self.over_axes(f'{text}[{k!r}]', axes[k], alike)}"
                for k in axes
            ]
            return f"{{{', '.join(pairs)}}}"
        return text

    def on_devices(self, function: Callable, in_axes: Axes, out_axes: Axes) -> Pmapped:
        made = self.made
        return Pmapped(
            function,
            self.axis,
            in_axes,
            out_axes,
            (),
            made.devices,
            made.axis_size,
            made.backend,
        )

    def fresh(self, name: str) -> str:
        """A name that is none of the parameters'."""
        while name in self.names:
            name += "_"
        return name

    def function(self, head: str, lines: list[str], values: dict[str, Any]) -> Callable:
        text = f"def {head}:\n" + "".join(f"    {line}\n" for line in lines)
        name = head.partition("(")[0]
        found: Callable = getattr(load(text, name, values), name)
        return found


class Program:
    """The program that devices run, for some values of the static arguments."""

    def __init__(self, made: Pmapped, function: Callable, static: set[str]) -> None:
        self.made, self.static = made, static
        inner = getattr(function, "__srcjax_transform__", None)
        if isinstance(inner, Jit):  # it is compiled for each device
            self.transform: Transform = inner
            self.call = function
        else:
            self.transform = OnDevice(function, made.axis_name)
            self.call = make_callable(self.transform)

    def shares(
        self, args: tuple, kwargs: dict, most: int | None = None
    ) -> tuple[int, list[tuple[tuple, dict]]]:
        """How many devices there are, and the arguments of each (of the first `most`).

        Raises:
            ArgumentError: the axes do not fit the arguments, or sizes differ.
        """
        made = self.made
        names = made.names_of(len(args))
        axes = made.axes_of(len(args))
        everything = [*zip(names, args, axes, strict=True)]
        given = [each for each in everything if each[0] not in self.static]
        named = {n: v for n, v in kwargs.items() if n not in self.static}
        count = common_size(
            [*(n for n, _, _ in given), *named],
            [*(v for _, v, _ in given), *named.values()],
            [*(a for _, _, a in given), *[0] * len(named)],
            made.axis_size,
            "pmap",
        )
        found = []
        for k in range(count if most is None else min(count, most)):
            mine = [share(v, a, k) for _, v, a in given]
            own = {n: share(v, 0, k) for n, v in named.items()}
            if self.static:
                own |= {n: v for (n, _, _), v in zip(given, mine, strict=True)}
                mine = []
            found.append((tuple(mine), own))
        return count, found

    def run(self, args: tuple, kwargs: dict) -> list[Any]:
        """What the program gives on each device."""
        count, shares = self.shares(args, kwargs)
        gpus = self.made.gpus_for(count)

        @contextmanager
        def on_device(device: int) -> Iterator[None]:
            gpu: Any = contextlib.nullcontext()
            if gpus:
                gpu = cuda_run.the_cupy().cuda.Device(gpus[device])
            with gpu, axes_in_scope.opened(self.made.axis_name):
                yield

        def program(device: int) -> Any:
            mine, named = shares[device]
            if count > 1 or self.made.on_gpu:
                mine, named = self.made.own((mine, named), device, self.may_write)
            return self.call(*mine, **named)

        return run_on_devices(self.made.axis_name, count, program, on_device, gpus)

    def may_write(self, args: tuple, kwargs: dict) -> bool:
        """Whether the program may write to what it is given."""
        if hasattr(self.call, "__wrapped__"):  # a version for each static argument
            return True
        version = self.transform.prepare(args, kwargs)[0]
        return bool(version.module.changes_given)


class Pmapped(CustomRules):
    """What `pmap` returns: it runs on devices, and so do its derivatives."""

    def __init__(
        self,
        function: Callable,
        axis_name: str | None,
        in_axes: Axes,
        out_axes: Axes,
        static: tuple[int, ...],
        devices: Sequence[Any] | None,
        axis_size: int | None,
        backend: str | None,
    ) -> None:
        if not callable(function):
            raise ArgumentError(
                f"pmap needs a function, not {type(function).__name__}",
                instead="`srcjax.pmap(f)`",
            )
        super().__init__(function)
        name = getattr(function, "__name__", "fn")
        name = name if name.isidentifier() else "fn"
        self.__name__ = self.__qualname__ = f"pmap_{name}"
        self.axis_name = axis_name
        self.in_axes, self.out_axes = in_axes, out_axes
        self.static = static
        self.devices, self.axis_size, self.backend = devices, axis_size, backend
        self.programs: dict[Any, Program] = {}
        self.__srcjax_transform__ = Spread(self)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if HERE.get() is not None:
            raise ArgumentError(
                f"{self.__name__} is called in the program of another pmap",
                instead="`srcjax.vmap` for the inner axis",
            )
        return serve(self, self.result, self.is_for_jax, args, kwargs)

    def result(self, args: tuple, kwargs: dict) -> Any:
        """What the devices give for arrays of NumPy's own class."""
        results = self.program(args, kwargs).run(args, kwargs)
        return together(results, self.out_axes)

    def is_for_jax(self) -> bool:
        """Whether the function is one of a program that was written for JAX."""
        return bool(self.__srcjax_transform__.is_for_jax)

    @property
    def on_gpu(self) -> bool:
        return backend_of(self.backend) == "gpu"

    # -- arguments ---------------------------------------------------------------------

    def program(self, args: tuple, kwargs: dict) -> Program:
        """The program for the values of the static arguments. Raises ArgumentError."""
        if not self.static:
            if () not in self.programs:
                self.programs[()] = Program(self, self.function, set())
            return self.programs[()]
        names = self.names_of(len(args))
        given = dict(zip(names, args, strict=True)) | kwargs
        static = {self.parameters[k] for k in self.static}
        fixed = {n: given[n] for n in static if n in given}
        for name, value in fixed.items():
            if not has_hash(value):
                raise ArgumentError(
                    f"pmap: the static argument `{name}` has no hash",
                    instead="a number, string or tuple; or leave it out of "
                    "static_broadcasted_argnums",
                )
        key = tuple((n, told_apart(v)) for n, v in sorted(fixed.items()))
        if key not in self.programs:
            bound = functools.partial(self.function, **fixed)
            self.programs[key] = Program(self, bound, set(fixed))
        return self.programs[key]

    @property
    def parameters(self) -> list[str]:
        found: list[str] = self.__srcjax_transform__.parameters
        return found

    def names_of(self, count: int) -> list[str]:
        """What the arguments by position are called in errors."""
        known = self.parameters if count else []
        more = [f"argument {k}" for k in range(len(known), count)]
        return [*known[:count], *more]

    def axes_of(self, count: int) -> list[Axes]:
        """The axes of the arguments by position. Raises ArgumentError."""
        given = self.__srcjax_transform__.given
        if given is not None and given.count("arg") < count == len(given):
            # There are parameters for what the function takes from around it.
            found = iter(self.axes_of(given.count("arg")))
            return [next(found) if kind == "arg" else None for kind in given]
        if not isinstance(self.in_axes, (list, tuple)):
            return [self.in_axes] * count
        if len(self.in_axes) != count:
            raise ArgumentError(
                f"pmap: in_axes has {len(self.in_axes)} entries, and the call has "
                f"{count} arguments by position",
                instead="an entry for each argument, or one int for all",
            )
        return list(self.in_axes)

    def of(self, function: Callable) -> Pmapped:
        """The same of another function."""
        return Pmapped(
            function,
            self.axis_name,
            self.in_axes,
            self.out_axes,
            self.static,
            self.devices,
            self.axis_size,
            self.backend,
        )

    # -- for other transforms ----------------------------------------------------------

    @functools.cached_property
    def rules(self) -> Rules:
        return Rules(self)

    @property
    def fwd(self) -> Callable:  # type: ignore[override]
        return self.rules.forward

    @property
    def bwd(self) -> Callable:  # type: ignore[override]
        return self.rules.backward

    @property
    def rule(self) -> Callable:
        return self.rules.along

    @property
    def batched(self) -> Callable:
        """The same as a batch, for a batch of calls."""
        found: Callable = vmap(
            self.function,
            in_axes=self.in_axes,
            out_axes=self.out_axes,
            axis_size=self.axis_size,
            axis_name=self.axis_name,
        )
        given = self.__srcjax_transform__.given
        found.__srcjax_transform__.given = given  # type: ignore[attr-defined]
        return found

    def result_type(self, types: list[Any], named: dict[str, Any]) -> Any:
        """What the program gives for what a device gets, with the axis of devices."""
        axes = self.axes_of(len(types))
        parameters = self.parameters
        known = dict(zip(parameters, zip(types, axes, strict=True), strict=False))
        known |= {n: (t, 0) for n, t in named.items()}
        program = self.program((), {})
        if set(known) != set(parameters) or not isinstance(program.transform, OnDevice):
            return ty.UNKNOWN
        try:
            each = [example_of(*known[name]) for name in parameters]
            version = program.transform.version_of(each)
        except SrcjaxError:
            return ty.UNKNOWN
        sizes = (size_of(t, a) for t, a in known.values())
        count = next((n for n in sizes if n is not None), self.axis_size)
        return with_axis(version.module.result, self.out_axes, count)

    # -- devices -----------------------------------------------------------------------

    def gpus_for(self, count: int) -> tuple[int, ...]:
        """The numbers of the GPUs; none for the CPU. Raises ArgumentError."""
        local = local_devices(backend=self.backend)
        if self.devices is not None:
            named = {*map(str, self.devices)}
            unknown = sorted(named - {*map(str, local)})
            if unknown:
                raise ArgumentError(
                    f"pmap: there is no device {unknown[0]!r} in this process",
                    instead=f"devices of `srcjax.local_devices()`: {local}",
                )
            by_name = {str(d): d for d in local}
            local = [by_name[str(d)] for d in self.devices]
        some = self.devices is not None or processes().count > 1
        if count > len(local) or (some and count != len(local)):
            raise ArgumentError(
                f"pmap: the mapped axis has the size {count}, and there "
                f"{'is' if len(local) == 1 else 'are'} {len(local)} "
                f"device{'' if len(local) == 1 else 's'}"
                + (" in each process" if processes().count > 1 else ""),
                instead="an item for each device"
                + ("" if some else MORE_DEVICES.format(count)),
            )
        return tuple(d.local for d in local[:count]) if self.on_gpu else ()

    def own(
        self, given: tuple, device: int, may_write: Callable[[tuple, dict], bool]
    ) -> tuple:
        """The arguments of a device where it is, and its own if it writes to them."""
        if self.on_gpu:
            cupy = cuda_run.the_cupy()
            return over_leaves(lambda x: moved(cupy, x), given)
        if not may_write(*given):
            return given
        return over_leaves(lambda x: x.copy() if is_array(x) else x, given)


def with_axis(t: ty.Type, axes: Axes, count: Any) -> ty.Type:
    """The type of the results of `count` devices, from that of one."""
    if axes is None:
        return t
    if isinstance(t, ty.Array):
        shape = t.shape
        if shape is not None:
            place = axes % (len(shape) + 1)
            shape = (*shape[:place], count, *shape[place:])
        return ty.Array(dtype=t.dtype, shape=shape)
    if ty.is_number(t):
        return ty.Array(dtype=ty.dtype_of(t), shape=(count,))
    if isinstance(t, (ty.Tuple, ty.List)) and t.items is not None:
        many = axes if isinstance(axes, (list, tuple)) else [axes] * len(t.items)
        items = [with_axis(p, a, count) for p, a in zip(t.items, many, strict=True)]
        return ty.replace(t, items=tuple(items))
    if isinstance(t, ty.Dict) and t.items is not None:
        pairs = [
            (k, with_axis(p, axes[k] if isinstance(axes, dict) else axes, count))
            for k, p in t.items
        ]
        return ty.replace(t, items=tuple(pairs))
    return ty.UNKNOWN


MORE_DEVICES = (
    '; `srcjax.config.update("jax_num_cpu_devices", {})` for more of them on the CPU'
)


def moved(cupy: Any, x: Any) -> Any:
    """The argument in memory of its own on the current GPU."""
    if is_on_device(x):
        return x.copy()
    return cupy.asarray(x) if is_array(x) else x


def over_leaves(function: Callable, x: Any) -> Any:
    """The container with a function applied to what is none."""
    if has_parts(x):
        return over_parts(lambda part: over_leaves(function, part), x)
    return function(x)


def share(value: Any, axes: Axes, k: int) -> Any:
    """What device `k` gets of an argument."""
    if axes is None or value is None or isinstance(value, str):
        return value
    if has_parts(value):
        return over_parts(lambda part, each: share(part, each, k), value, axes)
    return value[(slice(None),) * (axes % np.ndim(value)) + (k,)]


def together(results: list[Any], axes: Axes, where: str = "the result") -> Any:
    """What the devices give, as one result. Raises ArgumentError."""
    first = results[0]
    if axes is None or first is None:
        return first
    if has_parts(first):
        others = results[1:]
        try:
            return over_parts(
                lambda part, each, *more: together([part, *more], each, where),
                first,
                axes,
                *others,
            )
        except ValueError as error:
            raise ArgumentError(
                f"pmap: {where}: {error}",
                instead="the same structure on all devices and in out_axes",
            ) from None
    if not (hasattr(first, "dtype") or isinstance(first, (bool, int, float, complex))):
        raise ArgumentError(
            f"pmap: {where} holds a {type(first).__name__}",
            instead="numbers, arrays, and containers of them",
        )
    xp: Any = np
    if is_on_device(first):
        xp = cuda_run.the_cupy()
        results = [xp.asarray(each) for each in results]
    try:
        return xp.stack(results, axis=axes)
    except ValueError as error:
        shapes = [np.shape(each) for each in results]
        raise ArgumentError(
            f"pmap: out_axes is {axes!r} for results of shapes {shapes}: {error}",
            instead="results of one shape, and an axis of it",
        ) from None


def pmap(
    f: Callable | None = None,
    axis_name: str | None = None,
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    static_broadcasted_argnums: int | Sequence[int] = (),
    devices: Sequence[Any] | None = None,
    axis_size: int | None = None,
    backend: str | None = None,
    donate_argnums: int | Sequence[int] = (),
) -> Any:
    """One program on many devices: `f` runs on each with its share of the arguments.

    On a CPU each device is a thread (`srcjax.config.update("jax_num_cpu_devices", n)`
    says how many there are), on GPUs it is a thread for each of them. Started by
    `mpiexec -n 4`, each process has its own devices, and gives and gets the items of
    these; collectives are about those of all processes.

    What `f` does is written out for one device, with what transforms make in it
    (`srcjax.source` shows the text); what cannot be written runs as it is. It is not
    compiled: `pmap(jit(f))` is.

    Args:
        f: a Python function of what one device gets.
        axis_name: a name for the axis of the devices, for collectives such as `psum`.
        in_axes: the axis of each argument along which there is an item for each device:
            an int for all arguments, or a tuple with an entry for each, which is an
            int, None (all devices get the same) or a container of them for a container
            argument. Arguments given by name are shared out along axis 0.
        out_axes: the axis of the results along which the devices stand; None for a
            result that is the same on all, which is that of the first device.
        static_broadcasted_argnums: positions of arguments that the program is written
            for by value; they have a hash. Their entries in `in_axes` do not count.
        devices: the devices to be used, of `srcjax.local_devices()`. Without it the
            first ones.
        axis_size: the number of devices, where no argument tells.
        backend: "cpu" or "gpu"; without it GPUs, if there are any.
        donate_argnums: accepted, and of no effect.

    Returns:
        A function of the same arguments. What it gives is what
        `vmap(f, axis_name=axis_name)` gives, and so are its derivatives. Without `f`, a
        decorator.

    Raises:
        ArgumentError: the axes do not fit the arguments, sizes differ, or there are not
            as many devices.
        DeviceError: the devices do not come to the same collectives. An error in the
            program of one device stops the others, and is raised.
    """
    if axis_name is not None and not isinstance(axis_name, str):
        raise ArgumentError(
            f"pmap: axis_name must be a string, not {axis_name!r}",
            instead='`axis_name="devices"`',
        )
    check_axes(in_axes, "in_axes", "pmap")
    check_axes(out_axes, "out_axes", "pmap")
    if backend is not None:
        backend_of(backend)

    def make(g: Callable) -> Pmapped:
        return Pmapped(
            g,
            axis_name,
            in_axes,
            out_axes,
            listed(static_broadcasted_argnums),
            devices,
            axis_size,
            backend,
        )

    return make if f is None else make(f)


pmap.__srcjax_maker__ = True  # type: ignore[attr-defined]

__all__ = ["Pmapped", "pmap"]
