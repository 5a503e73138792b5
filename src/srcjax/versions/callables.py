"""A transform of a function: its versions, and the callable that users get.

What writes derivatives is imported when the first one is asked for: much of it, with
SciPy.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import types as pytypes
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from srcjax.analysis.arrays import (
    ARRAYS,
    giving_arrays,
)
from srcjax.analysis.custom import Rules
from srcjax.analysis.guards import Whole
from srcjax.backends.load import load, report
from srcjax.errors import ArgumentError, SrcjaxError
from srcjax.frontend.stage_texts import is_recording, recording
from srcjax.late import late
from srcjax.versions import dispatch, edited, modes, recipes, relatives, shapes
from srcjax.versions.config import config
from srcjax.versions.dressed import Dress, dress
from srcjax.versions.facts import (
    is_container,
    is_option,
    own_memory,
    without_activity,
)
from srcjax.versions.for_jax import is_for_jax, serve
from srcjax.versions.functions import (
    as_function,
    positional_count,
    takes_more,
    underlying,
)
from srcjax.versions.generating import generating
from srcjax.versions.kept import Place, is_asked, nothing_kept
from srcjax.versions.rebase import rebased
from srcjax.versions.recipes import Recipe
from srcjax.versions.signature import is_of_device, signature_key

if TYPE_CHECKING:
    from srcjax import syntax
    from srcjax.analysis import axes, binding
    from srcjax.analysis import request as requests
    from srcjax.analysis import sizes as sz
    from srcjax.analysis import types as ty
    from srcjax.backends import written_for
    from srcjax.backends.cuda import elements as cuda_elements
    from srcjax.backends.cuda import run as cuda_run
    from srcjax.backends.module import Module
    from srcjax.checks import first_call
    from srcjax.frontend import read as reading
    from srcjax.frontend import unit as units
    from srcjax.versions import supposed, tree
else:
    axes = late("srcjax.analysis.axes")
    binding = late("srcjax.analysis.binding")
    requests = late("srcjax.analysis.request")
    sz = late("srcjax.analysis.sizes")
    ty = late("srcjax.analysis.types")
    written_for = late("srcjax.backends.written_for")
    cuda_elements = late("srcjax.backends.cuda.elements")
    cuda_run = late("srcjax.backends.cuda.run")
    first_call = late("srcjax.checks.first_call")
    reading = late("srcjax.frontend.read")
    units = late("srcjax.frontend.unit")
    syntax = late("srcjax.syntax")
    supposed = late("srcjax.versions.supposed")
    tree = late("srcjax.versions.tree")

Argnums = int | str | Sequence[int | str]
#: Versions that are tried one after the other before a call's key is computed.
MAX_HOT = 8
#: So many signatures of a function are kept for other processes.
MOST_KEPT = 4
#: After so many calls types are worth to be known of a version that was kept.
MANY_CALLS = 100
#: So many ways to read a function without examples are tried.
MOST_SUPPOSED = 3


class Version:
    """One specialisation: generated code for one signature."""

    #: Whether another process made it.
    kept = False
    #: Whether it is a call of the function itself (`trials.Trial`).
    tries = False
    #: Whether it was run before, but for calls that are told apart by a few tests.
    was_run = False

    def __init__(
        self, module: Module, types: list[ty.Type], sizes: sz.Sizes | None = None
    ) -> None:
        self.module = module
        #: What is supposed of the sizes that are symbols in the types.
        self.sizes = sizes or sz.Sizes()
        #: What the code was generated for.
        supposed = self.sizes.with_fits(lambda name: True)
        self.types = [ty.resolved(t, supposed) for t in types]
        self.order = supposed.resolved_order()
        self.made = supposed.resolved_made()
        self.loaded = module.load()
        self.function: Callable = getattr(self.loaded, module.entry)
        #: The same without the test of its arguments, for those that were told apart.
        self.call = module.untested(self.loaded)
        self.guards = module.guards
        #: Whether a matcher was asked for already, and after how many calls.
        self.tried = False
        self.calls = 0
        #: Whether its first call was compared with what else is known (`check=True`).
        self.checked = False
        #: How many rules there were.
        self.rules = Rules.given
        #: What made it.
        self.transform: Transform | None = None

    def __reduce__(self) -> tuple:
        """None: in another process it is made anew."""
        return type(None), ()

    def __copy__(self) -> Version:
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def holds(self) -> bool:
        """Whether everything that was resolved still is what it was."""
        return self.rules == Rules.given and all(guard.holds() for guard in self.guards)


class Transform:
    """A transform applied to a function: builds, keeps and picks its versions."""

    name = "transform"
    #: Whether arguments have a batch axis (`vmap`, `vectorize`).
    maps = False
    #: Whether Python ints in differentiated arguments stand for real numbers.
    ints_are_real = True
    #: The class of arrays for which calls are told apart fast.
    array_class: type = np.ndarray
    #: Whether its Python is written anew for arrays of the device.
    follows_device = True
    #: For those, inside a transformed function, what each parameter gets: an "arg" by
    #: position, a "keyword", or a default or a variable from around, without that axis.
    given: tuple[str, ...] | None = None

    def __init__(self, function: Callable, argnums: Argnums) -> None:
        if not callable(function):
            raise ArgumentError(
                f"{self.name} needs a function, not {type(function).__name__}",
                instead=f"`srcjax.{self.name}(f)`",
            )
        #: Of a pullback: what it computes, in Python that can be read.
        function = as_function(function)
        self.function = getattr(function, "__srcjax_function__", function)
        self.argnums = argnums
        self.check_early()
        self.versions: dict[Any, Version] = {}
        #: Versions for all sizes of which something holds, by all else in their types.
        self.general: dict[Any, list[Version]] = {}
        #: The same for lists of all lengths, where the text only loops over them.
        self.any_length: dict[Any, list[Version]] = {}
        #: Positions of arguments in which Python ints stand for reals, by key.
        self.reals: dict[Any, list[int]] = {}
        #: Versions that were called again, found by tests that are faster than the key.
        self.hot = dispatch.Hot()
        self.last = pytypes.CellType(None)
        self._as_called: dict[Any, Callable] = {}
        modes.remember(self)

    #: What an instance keeps for itself: all else tells what kind of transform it is.
    OWN: ClassVar[frozenset[str]] = frozenset(
        ("function", "versions", "general", "any_length", "reals", "hot", "_as_called")
        + (
            "source",
            "parameters",
            "signature",
            "wrt",
            "positional",
            "plain",
            "read_as",
            "places",
            "last",
            "array_class",
            "on_device",
        )
    )
    #: For how many signatures other processes were asked.
    places = 0
    #: Holds the version that was called last, once there is one.
    last: pytypes.CellType
    #: The code and defaults of the function, as they were read.
    read_as: edited.State | None = None

    def options(self) -> dict[str, Any] | None:
        """What tells it from other transforms of its class; None if that is unclear."""
        mine = vars(self).copy()  # another thread may add to it
        found = {k: v for k, v in mine.items() if k not in self.OWN}
        return found if all(map(is_option, found.values())) else None

    # -- the function ---------------------------------------------------------------

    @functools.cached_property
    def source(self) -> reading.FunctionSource:
        """The function as written (for a transformed function, what it was made of)."""
        inner = self.inner
        if inner is not None:
            return inner.source
        with generating():
            return reading.read(underlying(self.function))

    @property
    def inner(self) -> Transform | None:
        """The transform of the function, if it was made by srcjax itself."""
        return getattr(self.function, "__srcjax_transform__", None)

    @functools.cached_property
    def parameters(self) -> list[str]:
        """Names of the arguments of a call."""
        plain = self.plain_parameters()
        if plain is not None:
            return list(plain.names)
        names = units.parameter_names(self.source.node.args)
        return [n for n in names if n not in self.source.bound]

    def plain_parameters(self) -> dispatch.Parameters | None:
        """Those of a function or method, told without reading it; None of all else."""
        inner = self.inner
        if inner is not None:
            return inner.plain_parameters()
        return dispatch.plain_parameters(underlying(self.function))

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The signature of a call."""
        plain = self.plain_parameters()
        if plain is not None:
            return plain.signature()
        full = binding.signature_of(self.source.node.args, self.source)
        kept = [p for n, p in full.parameters.items() if n not in self.source.bound]
        return full.replace(parameters=kept)

    @functools.cached_property
    def wrt(self) -> list[str]:
        """Names of the differentiated parameters. Raises ArgumentError."""
        found = []
        for which in self.argnums_list():
            if isinstance(which, str):
                if which not in self.parameters:
                    raise ArgumentError(
                        f"argnums names `{which}`, but {self.shown_name} has the "
                        f"parameters {', '.join(self.parameters) or '(none)'}",
                        instead="one of these names, or a position",
                    )
                found.append(which)
                continue
            count = len(self.parameters)
            if not -count <= which < count:
                raise ArgumentError(
                    f"argnums={which}, but {self.shown_name} has {count} parameter"
                    f"{'' if count == 1 else 's'}",
                    instead=f"a position from 0 to {count - 1}"
                    if count
                    else "a function of at least one argument",
                )
            found.append(self.parameters[which])
        if len(set(found)) != len(found):
            raise ArgumentError(
                f"argnums={self.argnums!r} names an argument twice",
                instead="each argument once",
            )
        return found

    def check_parameters(self) -> None:
        """Raise ArgumentError for argnums that do not fit, if parameters can be told.

        So they are where nothing is given beforehand and no decorator stands between.
        """
        if self.inner is None and self.plain_parameters() is None:
            told = dispatch.told_parameters(underlying(self.function))
            if told is None:
                return
            vars(self)["parameters"] = told
        _ = self.wrt

    def annotations(self, given: dict[str, Any]) -> dict[str, Any]:
        """Those of what users get, for those of the function."""
        return {name: hint for name, hint in given.items() if name != "return"}

    def argnums_list(self) -> list[Any]:
        if isinstance(self.argnums, (list, tuple)):
            return list(self.argnums)
        return [self.argnums]

    @property
    def single(self) -> bool:
        """Whether the gradient of one argument (no tuple) is wanted."""
        return not isinstance(self.argnums, (list, tuple))

    # -- versions -------------------------------------------------------------------

    def bind(self, args: tuple, kwargs: dict) -> list[Any]:
        """The value of every parameter, in order. Raises TypeError as Python does."""
        edited.read_again(self)
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            name = self.source.name
            raise ArgumentError(
                f"{name}(): {error}",
                instead=f"the arguments of `{name}{self.signature}`",
            ) from None
        bound.apply_defaults()
        return [bound.arguments[n] for n in self.parameters]

    def version(self, values: list[Any], key: Any) -> Version:
        """The version for these argument values."""
        called_before = key in self.versions
        found = self.served(key)
        if found is None:
            with generating():
                found = self.served(key)  # another thread may have made it meanwhile
                return found or self.new_version(values, key)
        if called_before:
            self.promote(found, values)
        return found

    @functools.cached_property
    def on_device(self) -> Self:
        """The same for arrays of the device, in its words."""
        other = copy.copy(self)
        other.versions, other.general, other.any_length = {}, {}, {}
        other.reals, other.hot, other.last = {}, dispatch.Hot(), pytypes.CellType(None)
        other.array_class = cuda_run.the_cupy().ndarray
        return other

    @property
    def is_for_device(self) -> bool:
        """Whether what it is given is on the device."""
        return self.array_class is not np.ndarray

    def new_version(self, values: list[Any], key: Any) -> Version:
        """The version for these argument values, kept by another process or made."""
        if self.follows_device and is_of_device(key) and not self.is_for_device:
            found = self.on_device.version(values, key)
            self.versions[key] = found
            self.reals[key] = self.on_device.reals[key]
            return found
        place = self.place_for(values)
        kept = place.version()
        if kept is not None:
            version, self.reals[key] = kept
            self.versions[key] = self.of_this(version)
            return version
        types = [
            tree.argument_type(value, name, name in self.wrt, self.ints_are_real)
            for name, value in zip(self.parameters, values, strict=True)
        ]
        self.reals[key] = [
            i
            for i, (name, value) in enumerate(zip(self.parameters, values, strict=True))
            if self.ints_are_real and name in self.wrt and tree.has_ints(value)
        ]
        version = self.version_for_sizes(types, values)
        self.refuse_asked(version, [self.parameters[i] for i in self.reals[key]])
        place.keep(version, self.reals[key])
        self.versions[key] = version
        self.forget_stale()
        return version

    def place_for(self, values: list[Any], more: Any = ()) -> Place:
        """Where a version for these arguments is kept, for other processes.

        Functions that are made anew time and again are served in memory.
        """
        relative = relatives.of(self)
        again = relative is None or relatives.is_of_same(self, relative)
        few = self.places < MOST_KEPT  # then a text for all sizes is worth writing
        few = few and not self.is_for_device
        self.places += again and few
        return Place(self if again and few else None, values, more)

    def version_for_sizes(self, types: list[ty.Type], values: list[Any]) -> Version:
        """The version for all sizes of which holds what holds for those in the types.

        Where a text needs to know a size by value, it is a version for these sizes.
        """
        general, common, sizes = tree.generalise(types, self.parameters)
        self.demand(values, general, sizes)
        known = self.general.setdefault(common, [])
        found = self.general_version(known, sizes)
        if found is not None:
            return found
        longer = tree.of_any_length(general, self.parameters)
        for version in self.any_length.get(longer, ()) if longer else ():
            accepts = version.module.accepts
            if accepts is not None and version.holds() and accepts(*values):
                return version
        try:
            version = self.built(general, sizes)
        except SrcjaxError:
            if not sizes.example:
                raise
            return self.built(types)
        known.append(version)
        if longer and version.module.accepts is not None:
            self.any_length.setdefault(longer, []).append(version)
        return version

    def general_version(self, known: list[Version], sizes: sz.Sizes) -> Version | None:
        """That one of the versions, all for the same types, which is for such sizes."""
        for k, version in enumerate(known):
            if version.sizes.holds(sizes.example):
                now = self.current(version)
                if now is not None:
                    known[k] = now
                    return now
        return None

    def demand(self, values: list[Any], types: list[ty.Type], sizes: sz.Sizes) -> None:
        """Demand of arguments what the transform does that made the function.

        Its text is part of this one, without the checks of a call.
        """
        if self.inner is not None and len(self.inner.parameters) == len(values):
            self.inner.demand(values, types, sizes)

    def built(self, types: list[ty.Type], sizes: sz.Sizes | None = None) -> Version:
        """Generated and loaded code for the types."""
        with generating():
            module = by_value_or_type(lambda: self.build(types, True))
            module = self.described(module, types, sizes)
            return self.of_this(Version(self.placed(module), types, sizes))

    def built_inside(self, types: list[ty.Type], sizes: sz.Sizes | None) -> Version:
        """The same for a call in other generated code, whose sizes the types have."""
        with generating():
            module = by_value_or_type(lambda: self.build(types, True))
            return self.of_this(Version(self.placed(module), types, sizes))

    def placed(self, module: Module) -> Module:
        """The module, in the words of the device where it is for arrays of it."""
        if self.follows_device and self.is_for_device:
            cuda_elements.for_device(module)
        return module

    def of_this(self, version: Version) -> Version:
        """Remember whose version it is."""
        version.transform = self
        relatives.keep(self)
        return version

    def served(self, key: Any) -> Version | None:
        """The version of a key, for what is around the function now, if there is one.

        It may have been that of a function that was made of the same code.
        """
        found = self.versions.get(key)
        if found is None:
            relative = None if is_recording() else relatives.of(self)
            if relative is None or key not in relative.versions:
                return None
            found = relative.versions[key]
            if found.kept and not is_asked():
                return None
            self.reals[key] = relative.reals.get(key, [])
        if found.kept and not is_asked():
            return None
        now = self.current(found)
        if now is not None and now is not found:
            self.versions[key] = now
            self.forget_stale()
            relatives.keep(self)
        return now

    def forget_stale(self) -> None:
        """Try no version for what is around the function no more."""
        self.hot[:] = [each for each in self.hot if each[2].holds()]

    def current(self, version: Version) -> Version | None:
        """The version for what is around the function now; None without such a one."""
        if version.transform is self and version.holds():
            return version
        if version.transform is None:
            return version if version.holds() else None
        if version.kept:  # what stands for what in it is not known
            same = relatives.is_of_same(self, version.transform)
            return version if same and version.holds() else None
        if version.rules != Rules.given:
            return None
        found: Version | None = rebased(version, self.function)
        if found is not None:
            found.transform = self
        return found

    def described(
        self, module: Module, types: list[ty.Type], sizes: sz.Sizes | None = None
    ) -> Module:
        """The module, whose entry point says what it is for, and tests that it is."""
        sizes = (sizes or sz.Sizes()).with_fits(written_for.stands_alone)
        entry = written_for.Entry(
            self.summary(),
            self.parameters,
            [ty.resolved(t, sizes) for t in types],
            sizes,
            syntax.names_read(self.source.node.body),
            written_for.is_formula(self.source),
            self.wrt if self.name == "jvp" else [],
        )
        written_for.describe(module, entry)
        return module

    @property
    def shown_name(self) -> str:
        """What the function is called in a sentence."""
        name = getattr(self.function, "__name__", "")
        if name == "<lambda>":
            return "fn"
        return name if name.isidentifier() else self.source.name

    @property
    def of(self) -> Callable:
        """What the user gave."""
        return self.function

    @property
    def made_name(self) -> str:
        """What the function is called that users get."""
        name = getattr(self.of, "__name__", "function")
        return f"{self.name}_{name if name.isidentifier() else 'fn'}"

    def summary(self) -> str:
        """What the entry point gives, in a few words."""
        return f"The {self.name} of {self.shown_name}"

    def build(self, types: list[ty.Type], typed: bool) -> Module:
        """Generate the module for the types."""
        raise NotImplementedError

    def request(self, types: list[ty.Type]) -> requests.Request:
        names = dict(zip(self.parameters, types, strict=True))
        function = underlying(self.function)
        if self.inner is not None:
            function = self.inner.function_for(types)
        return requests.Request(function, names, self.wrt)

    def module_for(self, args: tuple, kwargs: dict) -> Module:
        """The module for example arguments, or for what the type hints say."""
        if self.depends_on_call():
            positions = [n for n in self.argnums_list() if not isinstance(n, str)]
            count = len(args) or max([0, *positions]) + 1
            called = self.as_called(count, tuple(kwargs))
            inner = called.__srcjax_transform__  # type: ignore[attr-defined]
            found: Module = inner.module_for(args, kwargs)
            return found
        if args or kwargs:
            values = self.bind(args, kwargs)
            fresh = self.anew() if is_recording() else self
            with self.nothing_kept():
                return fresh.version(values, self.key(values)).module.shown()
        types = self.hinted_types()
        return self.described(self.build(types, False), types)

    def shown_for(self, args: tuple, kwargs: dict) -> Module:
        """The same for users, who may say of arguments what shapes they have."""
        examples, given = shapes.examples_of(self, args, kwargs)
        if not examples.called:
            return self.module_for(args, given)
        with recording(), examples.called_so():  # written for these names
            return self.module_for(args, given)

    def module_to_read(self, args: tuple = (), kwargs: dict | None = None) -> Module:
        """The module for arguments that a reader supposes, where nothing tells any.

        One for arguments of all kinds where nothing can be supposed of them.
        """
        told = args or kwargs or any(shapes.hinted_shapes(self).values())
        if self.reads_supposed and not told:
            found = list(self.supposed_modules())
            if found:
                return min(found, key=count_helpers)
        return self.shown_for(args, kwargs or {})

    def supposed_modules(self) -> Iterator[Module]:
        """Modules for what may be supposed, to the first one of NumPy alone."""
        for given in itertools.islice(supposed.arguments(self), MOST_SUPPOSED):
            args, kwargs = self.as_call(self.of_example(given))
            with suppress(Exception), recording():  # as for `supposed.arguments`
                module = self.module_for(args, kwargs)
                yield module
                if not count_helpers(module):
                    return

    #: Whether its text is one for what a reader supposes of the arguments.
    reads_supposed = True

    def of_example(self, given: dict[str, Any]) -> dict[str, Any]:
        """Arguments of the transform, made of those of the function."""
        return given

    def as_call(self, given: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """Arguments by position, as far as they go, and by name."""
        rest = dict(given)
        args = []
        for name, parameter in self.signature.parameters.items():
            if name not in rest or parameter.kind is parameter.KEYWORD_ONLY:
                break
            args.append(rest.pop(name))
        return tuple(args), rest

    #: Whether the function has to return a number.
    of_number = False

    def recorded(self, args: tuple, kwargs: dict) -> tuple[Module, list, dict]:
        """A module written anew, with what passes left, and what it is called with."""
        if self.depends_on_call():
            called = self.as_called(len(args), tuple(kwargs))
            inner = called.__srcjax_transform__  # type: ignore[attr-defined]
            found: tuple[Module, list, dict] = inner.recorded(args, kwargs)
            return found
        with recording():
            version, values, keywords = self.anew().prepare(args, kwargs)
        return version.module, values, keywords

    # -- check=True -----------------------------------------------------------------

    #: Whether first calls are checked; None: as `config.check` says.
    check: bool | None = None
    #: The transform of the other mode, by name (filled in where they are defined).
    OPPOSITES: ClassVar[dict[str, Callable[..., Transform]]] = {}

    def is_to_be_checked(self, version: Version, check: bool | None = None) -> bool:
        """Whether this is the first call of the version, and it is to be checked."""
        check = self.check if check is None else check
        on = config.check if check is None else check
        if not on or version.checked or is_recording() or first_call.is_checking():
            return False
        version.checked = True
        return True

    def prove(self, version: Version, args: tuple, kwargs: dict) -> None:
        """Compare a call with what else is known. Raises DerivativeMismatch."""
        first_call.prove(self, self.bind(args, kwargs), version.module.opinions)

    def plain_value(self, values: list[Any]) -> Any:
        """What the function gives, without what goes along."""
        args, kwargs = self.arguments(values)
        result = self.function(*args, **kwargs)
        return result[0] if getattr(self, "has_aux", False) else result

    def along(self, values: list[Any], tangents: list[Any], weights: Any) -> Any:
        """Two trees whose inner product is the derivative of the weighted value.

        None if it cannot be told.
        """
        return None

    def opposite(self) -> Transform | None:
        """The transform of the other mode, for the same arguments."""
        return None

    def key(self, values: list[Any]) -> Any:
        return tuple([signature_key(v) for v in values])

    def hinted_types(self) -> list[ty.Type]:
        """What annotations and defaults say of the parameters."""
        hints = getattr(self.source.func, "__annotations__", {})
        found: list[ty.Type] = []
        for name in self.parameters:
            hint = shapes.plain_hint(hints.get(name))
            t: ty.Type = ty.Unknown(buffers=frozenset([("param", name)]))
            if hint is float:
                t = ty.FLOAT
            elif hint is int:
                t = ty.Scalar(dtype=np.dtype(int), python=True)
                if name in self.wrt:
                    t = ty.FLOAT
            elif hint in ARRAYS:
                t = ty.Array(buffers=frozenset([("param", name)]))
            elif hint in (str, bool):
                t = ty.Unknown()
            elif name in self.source.defaults and name not in self.wrt:
                value = self.source.defaults[name]
                if value is None or isinstance(value, (bool, str)):
                    t = ty.Const(value=value)
            parameter = self.signature.parameters[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                t = ty.type_of(())
            elif parameter.kind is parameter.VAR_KEYWORD:
                t = ty.type_of({}, ("param", name))
            found.append(ty.with_active(t, True) if name in self.wrt else t)
        return found

    def arguments(self, values: list[Any]) -> tuple[list[Any], dict[str, Any]]:
        """Values of parameters as a call of the generated function."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for name, value in zip(self.parameters, values, strict=True):
            kind = self.signature.parameters[name].kind
            if kind is inspect.Parameter.VAR_POSITIONAL:
                args.extend(value)
            elif kind is inspect.Parameter.KEYWORD_ONLY:
                kwargs[name] = value
            elif kind is inspect.Parameter.VAR_KEYWORD:
                kwargs.update(value)
            else:
                args.append(value)
        return args, kwargs

    @functools.cached_property
    def positional(self) -> bool:
        """Whether every parameter is passed by position."""
        if self.plain_parameters() is not None:
            return True
        simple = (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        return all(p.kind in simple for p in self.signature.parameters.values())

    def prepare(
        self, args: tuple, kwargs: dict, called: bool = False
    ) -> tuple[Version, list, dict]:
        """The version for a call, and the arguments for its function.

        Args:
            called: whether the version is called with them, and nothing else is asked.
        """
        if self.hot and not kwargs and len(args) == len(self.parameters):
            for match, _, version in self.hot:
                if match(*args):
                    return version, list(args), {}
        edited.read_again(self)
        if not self.versions and not is_recording():
            relatives.take_over(self)
        if self.positional and not kwargs and len(args) == len(self.parameters):
            values = list(args)
        else:
            values = self.bind(args, kwargs)
        key = self.key(values)
        trial = self.trial(values, key) if called else None
        if trial is not None:
            return trial, *self.arguments(values)
        version = self.version(values, key)
        for i in self.reals[key]:
            values[i] = tree.with_reals(values[i])
        if self.positional:
            return version, values, {}
        return version, *self.arguments(values)

    def trial(self, values: list[Any], key: Any) -> Any:
        """What stands for a version that is not worth making yet; None without it."""
        return None

    def run(self, version: Version, values: list, keywords: dict) -> Any:
        """What a version gives."""
        return version.call(*values, **keywords)

    @contextmanager
    def nothing_kept(self) -> Iterator[None]:
        """Inside and after it, texts are those that this process wrote."""
        self.hot[:] = [each for each in self.hot if not each[2].kept]
        with nothing_kept():
            yield

    def promote(self, version: Version, values: list[Any]) -> None:
        """Let calls find the version by a few tests instead of by their key.

        One that another process made has to be called some more times: the tests are
        of types, and what knows types takes longer to import than some keys.
        """
        version.calls += 1
        if version.kept and version.calls < MANY_CALLS:
            return
        if version.tried or not self.positional or len(self.hot) >= MAX_HOT:
            return
        if modes.any_on():
            return
        version.tried = True
        types = version.types
        of = version.transform or self
        if version.kept:
            types = [
                tree.argument_type(value, name, name in self.wrt, self.ints_are_real)
                for name, value in zip(self.parameters, values, strict=True)
            ]
        match = dispatch.matcher(
            self.parameters,
            types,
            version.guards,
            version.order,
            version.made,
            of.array_class,
        )
        if match is not None:
            function = dispatch.behind(version.call)
            if self.is_for_jax:
                function = giving_arrays(function)
            self.hot.append((match, function, version))

    @functools.cached_property
    def is_for_jax(self) -> bool:
        """Whether the function is one of a program that was written for JAX."""
        return is_for_jax(self.function)

    def check_early(self) -> None:
        """What can be told before a call: argnums of the right kind."""
        for which in self.argnums_list():
            if isinstance(which, bool) or not isinstance(which, (int, str, np.integer)):
                raise ArgumentError(
                    f"argnums must be positions or names, not {which!r}",
                    instead="`argnums=0` or `argnums=(0, 1)`",
                )

    def maps_what_is_given(self) -> bool:
        """Whether a `vmap` maps a function of which a call tells what there is to map.

        Defaults have no batch axis, and each of `*args` has its own.
        """
        if self.inner is not None and self.inner.maps_what_is_given():
            return True
        plain = self.plain_parameters()
        if plain is not None:
            return self.maps and bool(plain.defaults)
        variadic = self.source.node.args.vararg is not None
        return self.maps and (variadic or bool(self.source.defaults))

    def depends_on_call(self) -> bool:
        """Whether a version is for a way to call: how many by position, which by name.

        So it is where argnums may point into `*args`, and below a `vmap` where
        defaults or `*args` are mapped.
        """
        if self.inner is not None and self.inner.maps_what_is_given():
            return True
        innermost = self
        while innermost.inner is not None:
            innermost = innermost.inner
        if not takes_more(innermost.function):
            return False
        return self.points_beyond(positional_count(innermost.function))

    def points_beyond(self, count: int) -> bool:
        """Whether argnums, here or below, tell of more than `count` arguments."""
        if self.inner is not None and self.inner.points_beyond(count):
            return True
        return any(
            isinstance(n, (int, np.integer)) and (n >= count or n < 0)
            for n in self.argnums_list()
        )

    def as_called(self, count: int, keywords: tuple[str, ...] = ()) -> Callable:
        """The transform for calls with `count` arguments, and `keywords` by name."""
        if self.inner is not None:
            return self.with_arguments_given(count, keywords)
        return self.with_arguments_named(count, keywords)

    def with_arguments_named(self, count: int, keywords: tuple[str, ...]) -> Callable:
        """The transform of the function with a name for each of `*args`.

        What is given by name to a parameter before them, or to `**options`, is taken by
        name.
        """
        key = (count, keywords)
        if key not in self._as_called:
            arguments = self.source.node.args
            more = arguments.vararg.id
            fixed = self.parameters[: self.parameters.index(more)]
            names = fixed[:count]
            names += [f"{more}_{k}" for k in range(count - len(names))]
            named = [a.id for a in arguments.kwonlyargs]
            takes_any = arguments.kwarg is not None
            known = {*names, *named}
            named += [
                n for n in keywords if n not in known and (takes_any or n in fixed)
            ]
            passed = ", ".join([*names, *(f"{n}={n}" for n in named)])
            options = [
                f"{n}=default_{n}" if n in self.source.defaults else n for n in named
            ]
            taken = ", ".join([*names, "*", *options] if named else names)
            name = self.source.name
            text = f"def {name}_({taken}):\n    return {name}({passed})\n"
            values: dict[str, Any] = {name: self.function}
            for n in named:
                if n in self.source.defaults:
                    values[f"default_{n}"] = self.source.defaults[n]
            wrapper = getattr(load(text, f"{name}_", values), f"{name}_")
            self._as_called[key] = self.rebased(wrapper)
        return self._as_called[key]

    def with_arguments_given(self, count: int, keywords: tuple[str, ...]) -> Callable:
        """The transforms of a function without the parameters that are not given.

        A `vmap` below this transform would map the defaults that this one passes on.
        """
        key = (count, keywords)
        if key not in self._as_called:
            innermost: Transform = self
            while innermost.inner is not None:
                innermost = innermost.inner
            more = self.source.node.args.vararg
            fixed = self.parameters
            if more is not None:
                fixed = fixed[: fixed.index(more.id)]
            names = fixed[:count]
            if more is not None:
                names += [f"{more.id}_{k}" for k in range(count - len(names))]
            named = [n for n in self.parameters if n in keywords and n not in names]
            passed = ", ".join([*names, *(f"{n}={n}" for n in named)])
            taken = ", ".join([*names, "*", *named] if named else names)
            name = self.source.name
            text = f"def {name}_({taken}):\n    return {name}({passed})\n"
            wrapper = load(text, f"{name}_", {name: innermost.function})
            self._as_called[key] = self.on(getattr(wrapper, f"{name}_"))
        return self._as_called[key]

    def on(self, function: Callable) -> Callable:
        """The same transforms, this one and those inside it, of another function."""
        return self.rebased(function if self.inner is None else self.inner.on(function))

    def rebased(self, function: Callable, count: int | None = None) -> Callable:
        """The same transform of another function.

        With `count`, argnums from the end are counted from the last of that many.
        """
        other = self.anew()
        for key in ("source", "parameters", "signature", "wrt", "positional", "plain"):
            other.__dict__.pop(key, None)
        other.function = function
        if count is not None:
            found = [
                n + count if isinstance(n, int) and n < 0 else n
                for n in self.argnums_list()
            ]
            other.argnums = found[0] if self.single else tuple(found)
        return make_callable(other)

    def __copy__(self) -> Self:
        other = object.__new__(type(self))
        vars(other).update(vars(self).copy())  # another thread may add to it
        return other

    def __getstate__(self) -> dict[str, Any]:
        """What it is, without versions; `hot` is that of a dispatcher too."""
        kept = {k: v for k, v in vars(self).copy().items() if k not in self.OWN}
        places = recipes.places_of(self.function)
        return kept | {"function": self.function, "hot": self.hot, "stand": places}

    def __setstate__(self, state: dict[str, Any]) -> None:
        recipes.put_back(state["function"], state.pop("stand"))
        self.versions, self.general, self.any_length = {}, {}, {}
        self.reals, self._as_called = {}, {}
        self.last = pytypes.CellType(None)
        vars(self).update(state)
        modes.remember(self)

    def anew(self) -> Self:
        """The same transform without the versions that were made."""
        other = copy.copy(self)
        other.versions, other.general, other.any_length = {}, {}, {}
        other.reals, other.hot, other._as_called = {}, dispatch.Hot(), {}
        other.places, other.last = 0, pytypes.CellType(None)
        modes.remember(other)
        return other

    def forget(self) -> None:
        """Find no version by tests alone, until it is called again."""
        self.hot.clear()
        for version in list(self.versions.values()):
            version.tried = False

    #: What runs the function itself where `disable_jit` is on.
    compiles = False

    def watched(self, args: tuple, kwargs: dict, call: Callable) -> Any:
        """What `call` gives, looked at as `modes` say."""
        if self.compiles and modes.ON["disable_jit"]:
            return self.function(*args, **kwargs)
        if not modes.ON["debug_nans"]:
            return call(args, kwargs)
        given, named = tree.copy_saved((args, kwargs))
        result = call(args, kwargs)

        def again() -> Any:
            if self.compiles:
                return self.function(*given, **named)
            version, values, keywords = self.prepare(given, named)
            return self.run(version, values, keywords)

        modes.refuse_nans(f"{self.name} of {self.shown_name}", result, again)
        return result

    #: How a call of it is a call of `jvp` or `vjp`, not of its generated function.
    way: tuple[str, Callable] | None = None

    def function_for(self, types: list[ty.Type]) -> Callable:
        """The generated function for arguments of these types, for other transforms."""
        return self.version_of(types).function

    def version_of(self, types: list[ty.Type]) -> Version:
        """The version for arguments of these types.

        Raises:
            ArgumentError: a differentiated argument is not real.
        """
        own = [
            own_memory(without_activity(t), ("param", n))
            for n, t in zip(self.parameters, types, strict=True)
        ]
        types = [
            tree.as_real(t) if self.ints_are_real and n in self.wrt else t
            for n, t in zip(self.parameters, own, strict=True)
        ]
        with ty.mapping(False):
            found = self.version_of_own(types)
        each = zip(self.parameters, own, types, strict=True)
        self.refuse_asked(found, [n for n, t, real in each if t != real])
        return found

    def refuse_asked(self, version: Version, ints: list[str]) -> None:
        """Raise ArgumentError if it asks for ints, and these are taken for reals."""
        if ints and version.module.asks_for_ints:
            raise ArgumentError(
                f"argument `{ints[0]}` is an int, taken for a real number, and "
                f"{self.shown_name} asks whether a number is an int",
                instead=f"`float({ints[0]})`, or leave it out of what is "
                "differentiated",
            )

    def version_of_own(self, types: list[ty.Type]) -> Version:
        """The version for arguments of these types, each in memory of its own.

        What it supposes of sizes is supposed of those of the types.
        """
        outer = sz.sizes_of(ty.dims_of(types))
        for count in itertools.count():
            key = ("types", axes.names_in_scope(), tuple(types), count)
            found = self.versions.get(key)
            if found is None or not found.holds():
                break
            if outer is None or found.sizes.holds(found.sizes.example | outer.example):
                break  # sizes of these names are as they were
        if found is None or not found.holds():
            active = [
                ty.with_active(t, n in self.wrt)
                for n, t in zip(self.parameters, types, strict=True)
            ]
            for n, t in zip(self.parameters, active, strict=True):
                if n in self.wrt and not ty.is_active(t) and not is_container(t):
                    raise ArgumentError(
                        f"argument `{n}` of {self.source.name} cannot be "
                        "differentiated",
                        instead="a float or an array of floats, or leave it out of "
                        "argnums",
                    )
            sizes = outer.copy() if outer is not None else None
            if sizes is not None:
                active = [ty.resolved(t, sizes) for t in active]
            found = self.versions[key] = self.built_inside(active, sizes)
        if outer is not None:
            outer.take(found.sizes)
        return found

    def result_type(
        self, types: list[ty.Type], value: Callable[..., ty.Type]
    ) -> ty.Type:
        """What a call gives, before code is generated; `value` gives the function's.

        Of other types, too: `value(types)`.
        """
        return ty.UNKNOWN


def count_helpers(module: Module) -> int:
    """How many functions of the runtime its text calls."""
    return sum("srcjax.runtime" in line for line in module.imports().values())


def by_value_or_type(build: Callable[[], Module]) -> Module:
    """A module for all values of whole numbers that change; else for these."""
    try:
        return build()
    except SrcjaxError:
        if not Whole.CHANGED:
            raise
        with Whole.by_value():
            return build()


class Calls:
    """Serves the calls of what users get, where no version is found by a few tests."""

    #: The function that users call, and how it is shown.
    function: Callable
    dress: Dress

    def __init__(self, transform: Transform) -> None:
        self.transform = transform
        self.by_call = transform.depends_on_call()

    def __call__(self, args: tuple, kwargs: dict) -> Any:
        for_jax = self.is_for_jax
        return serve(self.function, self.result, for_jax, args, kwargs)

    def is_for_jax(self) -> bool:
        """Whether the function is one of a program that was written for JAX."""
        return self.transform.is_for_jax

    def result(self, args: tuple, kwargs: dict) -> Any:
        """What a version gives, or what is made of the function for such a call."""
        transform = self.transform
        if self.by_call:
            named: Any = transform.as_called(len(args), tuple(kwargs))
            result = named(*args, **kwargs)
            called = getattr(named, "__srcjax_transform__", None)
            if called is not None:  # the text that `source` shows
                transform.last.cell_contents = called.last.cell_contents
            return result
        if modes.any_on():
            return transform.watched(args, kwargs, self.called)
        return self.called(args, kwargs)

    def called(self, args: tuple, kwargs: dict) -> Any:
        """What a version gives."""
        transform = self.transform
        version, values, keywords = transform.prepare(args, kwargs, True)
        if version.tries:
            return version.call(*values, **keywords)
        result = transform.run(version, values, keywords)
        if transform.is_to_be_checked(version):
            transform.prove(version, args, kwargs)
        transform.last.cell_contents = version
        if version is not self.dress.version:
            self.dress.note(version)
        return result


def make_callable(transform: Transform, recipe: Recipe | None = None) -> Callable:
    """The function that users call; dispatch on argument types is its only work.

    With a `recipe` it can be made in another process.

    Raises:
        ArgumentError: argnums is about no parameter of the function.
    """
    general = Calls(transform)
    transform.read_as = edited.state_of(transform)
    if not general.by_call:
        transform.check_parameters()
    parameters = None if general.by_call else transform.plain_parameters()
    if parameters is None:

        def transformed(*args: Any, **kwargs: Any) -> Any:
            try:
                return general(args, kwargs)
            except BaseException as error:
                report(error)
                raise

    else:
        transformed = dispatch.dispatcher(
            parameters, transform.hot, general, transform.last
        )
    general.function = transformed
    general.dress = dress(transformed, transform, recipe)
    return transformed
