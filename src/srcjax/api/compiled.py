"""`jit`: the same function, compiled."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, overload

import numpy as np

from srcjax.api.devices import device_of, leaves, moved_to
from srcjax.api.options import boundary, with_known_options
from srcjax.api.structures import stand_ins, structs_given
from srcjax.backends.on_device import is_on_device
from srcjax.errors import (
    ArgumentError,
    SourceNotFoundError,
    SrcjaxError,
    UnsupportedError,
)
from srcjax.frontend.stage_texts import is_recording
from srcjax.late import late
from srcjax.versions import trials
from srcjax.versions.callables import Transform, Version, make_callable
from srcjax.versions.config import config
from srcjax.versions.dressed import dress
from srcjax.versions.effort import as_called
from srcjax.versions.functions import calling_as_it_is, underlying
from srcjax.versions.recipes import Recipe

if TYPE_CHECKING:
    from srcjax import syntax
    from srcjax.analysis import request as requests
    from srcjax.analysis import types as ty
    from srcjax.backends import kernels
    from srcjax.backends import module as modules
    from srcjax.backends.cuda import run as cuda_run
    from srcjax.frontend import read as reading
    from srcjax.frontend import unit as units
    from srcjax.versions import tree
else:
    requests = late("srcjax.analysis.request")
    ty = late("srcjax.analysis.types")
    cuda_run = late("srcjax.backends.cuda.run")
    kernels = late("srcjax.backends.kernels")
    modules = late("srcjax.backends.module")
    reading = late("srcjax.frontend.read")
    units = late("srcjax.frontend.unit")
    syntax = late("srcjax.syntax")
    tree = late("srcjax.versions.tree")


P = ParamSpec("P")
R = TypeVar("R")


class Jit(Transform):
    """`jit`: a version for each signature of types."""

    name = "jit"
    compiles = True
    follows_device = False
    reads_supposed = False
    OWN = Transform.OWN | {"exact", "on_gpu", "trials", "account"}

    def __init__(
        self, function: Callable, device: str = "cpu", place: str | None = None
    ) -> None:
        super().__init__(function, ())
        #: Where what it computes with is.
        self.device = device
        #: Where arguments are moved first.
        self.place = place
        #: Versions for sizes by value.
        self.exact: list[Version] = []
        #: Calls of the function itself, by key, as long as nothing is compiled.
        self.trials: dict[Any, trials.Trial] = {}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.exact, self.trials = [], {}
        super().__setstate__(state)

    def anew(self) -> Self:
        other = super().anew()
        other.trials = {}
        return other

    @functools.cached_property
    def account(self) -> trials.Account:
        """How long the function itself took so far, in the place of kernels."""
        return trials.account_of(self)

    def trial(self, values: list[Any], key: Any) -> trials.Trial | None:
        """A call of the function itself; None where it is or is to be compiled."""
        if trials.is_at_once() or self.device != "cpu" or config.check:
            return None
        found = self.trials.get(key)
        if key in self.versions:  # something else asked for it
            self.trials.pop(key, None)
            return None
        if found is None:
            if is_recording() or self.is_served(values, key):
                return None
            plain = taking_positions(self.function, self.parameters)
            found = trials.Trial(plain, self.account, self.allowance(values))
            self.trials[key] = found
        if not found.is_over:
            return found
        self.account.spent = 0.0
        self.trials.pop(key, None)
        return None

    def is_served(self, values: list[Any], key: Any) -> bool:
        """Whether nothing has to be compiled for these arguments, or is on the CPU."""
        if device_of(values, self.parameters) != "cpu":
            return True
        known = [k for k in list(self.versions) if covers(k, key)]
        if any(self.served(k) is not None for k in [key, *known]):
            return True
        if not self.general:
            return False
        types = [
            tree.argument_type(value, name, False)
            for name, value in zip(self.parameters, values, strict=True)
        ]
        _, common, sizes = tree.generalise(types, self.parameters)
        found = self.general_version(self.general.get(common, []), sizes)
        return found is not None and not unfinished(found)

    def allowance(self, values: list[Any]) -> float:
        """The seconds that calls of the function itself may take, about."""
        found = self.account.allowance(self.function, values)
        before = self.places
        kept = self.place_for(values).version() if found else None
        self.places = before
        return min(found, trials.to_load()) if kept is not None else found

    @functools.cached_property
    def source(self) -> reading.FunctionSource:
        """The function as written; a call of it where there is no text of it."""
        try:
            found: reading.FunctionSource = super().source
        except (SourceNotFoundError, UnsupportedError):
            if self.inner is not None:
                raise
            self.function = calling_as_it_is(self.function)
            self.read_as = None
            return reading.read(self.function)
        return found

    def request(self, types: list[ty.Type]) -> requests.Request:
        _ = self.source  # a function without a text has another one in its place
        return super().request(types)

    def summary(self) -> str:
        return f"What {self.shown_name} gives, compiled"

    def annotations(self, given: dict[str, Any]) -> dict[str, Any]:
        """Those of the function: the result is its result too."""
        return given

    def build(self, types: list[ty.Type], typed: bool) -> modules.Module:
        from srcjax import compiling

        of_examples = self.of_examples(types)
        found = of_examples or compiling.jitted(
            self.request(types), self.device, trials.Setting.at_once
        )
        if found.stays and self.device == "gpu" and self.inner is not None:
            # What another transform writes for arrays of the device is asked of it.
            found.values = dict.fromkeys(found.values, self.function)
        if found.stays and self.device == "cpu":
            found.values = {n: as_called(f) for n, f in found.values.items()}
        return found

    def version_for_sizes(self, types: list[ty.Type], values: list[Any]) -> Version:
        """A version for all sizes; for these alone where kernels have to know them."""
        version = super().version_for_sizes(types, values)
        left = unfinished(version)
        if not version.sizes.example:
            return version  # it is for these alone
        if not left or MOST_PYTHON < left < math.inf or len(self.exact) >= MOST_EXACT:
            return version
        try:
            exact = self.built(types)
        except SrcjaxError:
            return version
        if unfinished(exact) >= unfinished(version):
            return version
        self.exact.append(exact)
        return exact

    def new_version(self, values: list[Any], key: Any) -> Version:
        """The version for these argument values.

        One for a counter that began at 0 serves it when it may be a size, too.
        """
        for known in list(self.versions):
            version = self.served(known) if covers(known, key) else None
            if version is not None:
                self.versions[key], self.reals[key] = version, self.reals[known]
                return version
        return super().new_version(values, key)

    def of_examples(self, types: list[ty.Type]) -> modules.Module | None:
        """One kernel for all examples of a `vmap`, where each goes its own way."""
        from srcjax import compiling
        from srcjax.api.batch import Batched, example_of

        mapped = self.inner
        if not isinstance(mapped, Batched) or mapped.axis_name is not None:
            return None
        axes = mapped.axes_of_types(len(types))
        plain = all(a is None or a == 0 and isinstance(a, int) for a in axes)
        if not plain or mapped.out_axes != 0 or all(a is None for a in axes):
            return None
        with ty.varying(ty.Varies.EXAMPLES):
            examples = [example_of(t, a) for t, a in zip(types, axes, strict=True)]
        examples = [ty.with_active(t, False) for t in examples]
        inner = mapped.inner
        function = underlying(mapped.function)
        if inner is not None:
            function = inner.function_for(examples)
        names = dict(zip(self.parameters, examples, strict=True))
        request = requests.Request(function, names, [])
        by_name = {n: a is not None for n, a in zip(self.parameters, axes, strict=True)}
        batched = mapped.function_for(types)
        return compiling.jitted_examples(request, by_name, batched, self.device)

    @functools.cached_property
    def on_gpu(self) -> Jit:
        """The same for arrays of the device. What is called often is found in `hot`."""
        other = Jit(self.function, "gpu")
        other.hot, other.array_class = self.hot, cuda_run.the_cupy().ndarray
        return other

    def version(self, values: list[Any], key: Any) -> Version:
        if self.device == "gpu" or device_of(values, self.parameters) == "cpu":
            return super().version(values, key)
        found = self.on_gpu.version(values, key)
        self.reals[key] = self.on_gpu.reals[key]
        return found

    def module_for(self, args: tuple, kwargs: dict) -> modules.Module:
        """The module for example arguments, where they are or are moved."""
        if self.place == "gpu" and not cuda_run.has_cupy():
            return self.text_for_gpu(args, kwargs)
        if self.place is not None:
            args, kwargs = moved_to((args, kwargs), self.place)
        names = list(map(str, range(len(args))))
        if self.device == "cpu" and device_of(list(args), names) == "gpu":
            return self.on_gpu.module_for(args, kwargs)
        return super().module_for(args, kwargs)

    def text_for_gpu(self, args: tuple, kwargs: dict) -> modules.Module:
        """What would run on a GPU, to be read where there is none."""
        types = [
            tree.argument_type(value, name, False)
            for name, value in zip(
                self.parameters, self.bind(args, kwargs), strict=True
            )
        ]
        general, _, sizes = tree.generalise(types, self.parameters)
        return self.described(
            Jit(self.function, "gpu").build(general, True), general, sizes
        )

    def changes(self, args: tuple, kwargs: dict) -> bool:
        """Whether a call may write to its arguments."""
        return self.prepare(args, kwargs)[0].module.changes_given

    def run(self, version: Version, values: list, keywords: dict) -> Any:
        whole = version.module.whole
        if whole is None:
            return version.call(*values, **keywords)
        if not version.was_run:
            version.was_run = True
            for each in vars(version.loaded).values():
                if isinstance(each, kernels.Kernel):
                    each.whole = True
        try:
            return version.call(*values, **keywords)
        except kernels.NotCompilable as failure:
            version.call = version.function = whole
            version.module.whole, version.module.stays = None, str(failure)
            return whole(*values, **keywords)

    def function_for(self, types: list[ty.Type]) -> Callable:
        """Other transforms are those of the function, not of its kernels."""
        if self.inner is not None:
            return self.inner.function_for(types)
        return underlying(self.function)


#: For so many sets of sizes a function is compiled by value; then for all sizes.
MOST_EXACT = 8


#: Of a function that is Python for the most part sizes by value finish little, and each
#: set of them takes as long again.
MOST_PYTHON = 48


def unfinished(version: Version) -> float:
    """How much of a version stays Python."""
    module = version.module
    return math.inf if module.stays else len(module.python)


def covers(known: Any, key: Any) -> bool:
    """Whether a version for one signature serves another: of ints it supposes less."""
    if known == key:
        return True
    if not (isinstance(known, tuple) and isinstance(key, tuple)):
        return False
    if len(known) != len(key):
        return False
    if known == (int, False):
        return key == (int, True)
    return all(map(covers, known, key))


class Lowered:
    """What `jit(f).lower(*args)` gives: the text for these arguments."""

    def __init__(self, function: Callable, args: tuple, kwargs: dict) -> None:
        self.function = function
        #: The shapes and dtypes of the arguments.
        self.args_info = structs_given((args, kwargs))
        given, named = stand_ins(self.args_info)
        transform = function.__srcjax_transform__  # type: ignore[attr-defined]
        self.text: str = transform.module_for(given, named).text

    def as_text(self) -> str:
        """The generated text."""
        return self.text

    def compile(self) -> CompiledFor:
        """The function for arguments of these shapes and dtypes alone."""
        return CompiledFor(self)


class CompiledFor:
    """What `lower(...).compile()` gives. Its first call compiles all kernels."""

    def __init__(self, lowered: Lowered) -> None:
        self.lowered = lowered
        #: Whether it was called.
        self.called = False

    def as_text(self) -> str:
        """The generated text."""
        return self.lowered.text

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function of the arguments.

        Raises:
            ArgumentError: they have other shapes or dtypes.
        """
        found = structs_given((args, kwargs))
        if found != self.lowered.args_info:
            raise ArgumentError(
                f"compiled for {self.lowered.args_info}, and called with {found}",
                instead="`lower` for these arguments, or what `jit` gives",
            )
        if self.called:
            return self.lowered.function(*args, **kwargs)
        with trials.at_once():
            result = self.lowered.function(*args, **kwargs)
        self.called = True
        return result


@overload
def jit(
    f: Callable[P, R],
    static_argnums: int | Sequence[int] = ...,
    static_argnames: str | Sequence[str] = ...,
    device: str | None = ...,
    *,
    backend: str | None = ...,
    donate_argnums: int | Sequence[int] = ...,
    donate_argnames: str | Sequence[str] = ...,
    keep_unused: bool = ...,
    inline: bool = ...,
) -> Callable[P, R]: ...
@overload
def jit(
    f: None = None,
    static_argnums: int | Sequence[int] = ...,
    static_argnames: str | Sequence[str] = ...,
    device: str | None = ...,
    *,
    backend: str | None = ...,
    donate_argnums: int | Sequence[int] = ...,
    donate_argnames: str | Sequence[str] = ...,
    keep_unused: bool = ...,
    inline: bool = ...,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@with_known_options
def jit(
    f: Callable | None = None,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    device: str | None = None,
    *,
    backend: str | None = None,
    donate_argnums: int | Sequence[int] = (),
    donate_argnames: str | Sequence[str] = (),
    keep_unused: bool = False,
    inline: bool = False,
) -> Callable:
    """The same function, compiled for the types of its arguments.

    What it gives, raises, prints and writes to is what the function does; what cannot
    be compiled runs as Python (`explain` says what and why). Loops over elements,
    elementwise chains with their sums, and numbers are compiled with Numba (the extra
    `numba`). Without it such chains stay NumPy's, and go through large arrays in blocks
    that fit the cache, with `out=`; where arrays are small the function runs as it is.
    Threads share blocks, and kernels of one long loop over elements
    (`srcjax.config.threads`).

    To write kernels and compile them takes from half a second to many. So the first
    calls run the function itself, until they have taken about a quarter of that time;
    what may take long in one call, by its loops, is compiled in the first. Last digits
    may differ from then on. With `srcjax.config.jit_at_once = True` first calls
    compile, and so does the first call of `lower(*args).compile()`. A few operations of
    numbers stay as they are, as a kernel takes longer to be called.

    Arrays of CuPy stay on their GPU: the same loops are CUDA kernels there, with one
    thread for each element, row or example, and numbers that only kernels read stay
    on the device. `source` shows their text. NumPy's arrays stay on the CPU; a call
    with both raises ArgumentError.

    Args:
        f: a Python function of NumPy values, or what another transform made of one.
        static_argnums: positions of arguments that the text is written for by value;
            they have a hash. A new value is compiled anew.
        static_argnames: the same by name.
        device: where it runs: None, where its arguments are; "gpu" and "cpu" copy
            arguments from elsewhere first (what the function writes to them is
            written back), and leave the results there.
        backend: the same; that is its older name in JAX.
        donate_argnums: accepted, and of no effect: memory of arguments is not reused.
        donate_argnames: the same.
        keep_unused: accepted, and of no effect.
        inline: the same.

    Returns:
        A function of the same arguments. Without `f`, a decorator. `grad`, `vmap` and
        the others of it are those of `f`. Its `lower(*args)` gives the text for such
        arguments (arrays or `ShapeDtypeStruct`s), with `as_text()` and `compile()`.

    Raises:
        ArgumentError: a static argument has no hash, or there is no such device.

    >>> squares = srcjax.jit(lambda x: np.sum(x * x))
    >>> float(squares(np.arange(3.0)))
    5.0
    """
    device = backend if device is None else device
    if device not in (None, "cpu", "gpu"):
        raise ArgumentError(
            f"jit: there is no device {device!r}", instead='None, "cpu" or "gpu"'
        )

    def make(g: Callable) -> Callable:
        static = listed(static_argnums), listed(static_argnames)
        transform = Jit(g, place=device)
        options = {"static_argnums": static[0], "device": device}
        options["static_argnames"] = static[1]
        recipe = Recipe("jit", g, options)
        if any(static):
            compiled = _with_static(transform, recipe, *static)
        else:
            compiled = make_callable(transform, None if device else recipe)
        found = compiled
        if device is not None:
            found = _placed(compiled, transform, recipe)

        def lower(*args: Any, **kwargs: Any) -> Lowered:
            return Lowered(found, args, kwargs)

        found.lower = lower  # type: ignore[attr-defined]
        return found

    return make if f is None else make(f)


@boundary
def explain(f: Callable, *args: Any, **kwargs: Any) -> str:
    """What `jit` made of a function for example arguments, and why the rest stayed.

    Each kernel with its parameters, and each statement that stays Python with what is
    in the way. The function runs once, on these arguments: Numba tells then what it
    does not compile.

    Args:
        f: what `jit` gave.

    Raises:
        ArgumentError: `f` was not made by `jit`.

    >>> print(srcjax.explain(srcjax.jit(lambda x: x[0]), [1.0]))  # doctest: +ELLIPSIS
    fn...
    """
    transform = getattr(f, "__srcjax_transform__", None)
    if not isinstance(transform, Jit):
        raise ArgumentError(
            "explain needs a function that jit made", instead="`explain(jit(f), x)`"
        )
    tried = transform.account.calls
    with transform.nothing_kept(), trials.at_once():
        f(*args, **kwargs)
        module = transform.module_for(args, kwargs)
    if module.stays:
        return f"{transform.shown_name} runs as it is: {module.stays}"
    if module.blocks:
        return "\n".join(f"NumPy {line}" for line in module.blocks)
    loaded = module.load()
    lines = []
    for node in module.functions[:-1]:
        given = ", ".join(units.parameter_names(node.args))
        made = vars(loaded)[node.name]
        failure = getattr(made, "failure", "")
        target = f"Python, for Numba says: {failure}" if failure else "compiled"
        if isinstance(made, cuda_run.CudaKernel):
            target = "CUDA"
        elif not node.decorator_list:
            target = "Python that launches these"
        lines.append(f"{node.name}({given}): {target}")
    for stmt, reason in module.python:
        first = syntax.text(stmt).splitlines()[0]
        lines.append(f"Python: {first}  # {reason}")
    if tried:
        lines.append(f"{tried} calls before this one ran {transform.shown_name} itself")
    return "\n".join(lines)


def _placed(compiled: Callable, transform: Jit, recipe: Recipe) -> Callable:
    """The function with its arguments moved to a device."""
    device = transform.place or "cpu"

    @boundary
    def placed(*args: Any, **kwargs: Any) -> Any:
        given = args, kwargs
        moved = moved_to(given, device)
        result = compiled(*moved[0], **moved[1])
        pairs = [
            (a, b)
            for a, b in zip(leaves(given), leaves(moved), strict=True)
            if a is not b
        ]
        if pairs and transform.changes(*moved):
            for old, new in pairs:
                old[...] = moved_to(new, "gpu" if is_on_device(old) else "cpu")
        return result

    dress(placed, transform, recipe)
    return placed


def listed(given: Any) -> tuple:
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _with_static(
    transform: Jit, recipe: Recipe, positions: tuple[int, ...], names: tuple[str, ...]
) -> Callable:
    """A compiled function for each set of values of the static arguments."""
    function = transform.function
    parameters = transform.parameters
    for position in positions:
        if not -len(parameters) <= position < len(parameters):
            raise ArgumentError(
                f"jit: static_argnums={position}, but {transform.source.name} has "
                f"{len(parameters)} parameters",
                instead=f"a position from 0 to {len(parameters) - 1}",
            )
    for name in names:
        if name not in parameters:
            raise ArgumentError(
                f"jit: static_argnames={name!r}, but {transform.source.name} has the "
                f"parameters {', '.join(parameters)}",
                instead="one of these names",
            )
    static = {parameters[p] for p in positions} | set(names)
    # Those that come first are bound by position: `*args` may follow.
    first = next((k for k, n in enumerate(parameters) if n not in static), len(static))
    made: dict[tuple, Callable] = {}

    @boundary
    def compiled(*args: Any, **kwargs: Any) -> Any:
        values = dict(zip(parameters, transform.bind(args, kwargs), strict=True))
        fixed = {n: values.pop(n) for n in parameters if n in static}
        try:
            key = tuple(map(told_apart, fixed.values()))
            found = made.get(key)
        except TypeError:
            worst = next(n for n, v in fixed.items() if not has_hash(v))
            raise ArgumentError(
                f"jit: the static argument `{worst}` has no hash",
                instead="a number, string or tuple; or leave it out of static_argnums",
            ) from None
        if found is None:
            leading = [fixed.pop(n) for n in parameters[:first]]
            bound = functools.partial(function, *leading, **fixed)
            found = made[key] = make_callable(Jit(bound))
        if len(args) >= first and len(static) == first:
            return found(*args[first:], **kwargs)
        return found(**by_name(values, transform.signature))

    dress(compiled, transform, recipe)
    return compiled


def by_name(values: dict[str, Any], signature: inspect.Signature) -> dict[str, Any]:
    """What gives the values to a function by their names.

    Raises:
        ArgumentError: some are for `*args`, which have none.
    """
    found: dict[str, Any] = {}
    for name, value in values.items():
        kind = signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            found |= value
        elif kind is not inspect.Parameter.VAR_POSITIONAL:
            found[name] = value
        elif value:
            raise ArgumentError(
                f"jit: arguments are given for `*{name}`, and a static one is not the "
                "first",
                instead="the static arguments before all others",
            )
    return found


def taking_positions(function: Any, parameters: list[str]) -> Callable:
    """The function, which may have bound some of its first parameters by name."""
    if not isinstance(function, functools.partial) or not function.keywords:
        return function

    def called(*values: Any, **keywords: Any) -> Any:
        given = zip(parameters, values, strict=False)  # the others are in `keywords`
        return function(**dict(given), **keywords)

    return called


def told_apart(value: Any) -> Any:
    """A key for a static value: 1, 1.0 and True are equal, and others; so is -0.0."""
    hash(value)
    if isinstance(value, (float, complex)):
        return type(value), repr(value), value
    if isinstance(value, tuple):
        return type(value), tuple(map(told_apart, value)), value
    return type(value), value


def has_hash(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return not isinstance(value, np.ndarray)


jit.__srcjax_maker__ = True  # type: ignore[attr-defined]
#: A function that is made inside of another one is what it is without it there.
jit.__srcjax_keeps__ = True  # type: ignore[attr-defined]
