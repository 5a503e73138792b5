"""`vmap`: a function of one example as a function of many."""

from __future__ import annotations

import functools
import types as pytypes
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from srcjax.analysis.arrays import ARRAYS
from srcjax.analysis.registered import record_fields, structure_fields
from srcjax.api.options import with_known_options
from srcjax.backends.load import report
from srcjax.errors import (
    ArgumentError,
    PerformanceWarning,
    SrcjaxError,
    UnsupportedError,
)
from srcjax.frontend.stage_texts import is_recording, recording
from srcjax.late import late
from srcjax.runtime.basics import of_class
from srcjax.versions import modes
from srcjax.versions.callables import Transform, Version
from srcjax.versions.dressed import Dress, dress
from srcjax.versions.effort import as_called
from srcjax.versions.for_jax import is_for_jax, serve
from srcjax.versions.functions import takes_more, underlying, with_source
from srcjax.versions.generating import generating
from srcjax.versions.recipes import Recipe
from srcjax.versions.signature import is_of_device, signature_key

if TYPE_CHECKING:
    from srcjax import pipeline
    from srcjax.analysis import axes as axes_in_scope
    from srcjax.analysis import request as requests
    from srcjax.analysis import sizes as sz
    from srcjax.analysis import types as ty
    from srcjax.api import batch_orders
    from srcjax.backends import module as modules
    from srcjax.checks import examples as checked_examples
    from srcjax.transforms.batch import loop as example_loop
    from srcjax.transforms.batch import results as results_of
    from srcjax.versions import tree
else:
    axes_in_scope = late("srcjax.analysis.axes")
    requests = late("srcjax.analysis.request")
    sz = late("srcjax.analysis.sizes")
    ty = late("srcjax.analysis.types")
    batch_orders = late("srcjax.api.batch_orders")
    modules = late("srcjax.backends.module")
    checked_examples = late("srcjax.checks.examples")
    pipeline = late("srcjax.pipeline")
    example_loop = late("srcjax.transforms.batch.loop")
    results_of = late("srcjax.transforms.batch.results")
    tree = late("srcjax.versions.tree")

Axes = Any
#: Signatures of which the generated function is kept at hand.
MAX_HOT = 64
#: How many examples a batch has that is made up.
SUPPOSED_EXAMPLES = 7


@dataclass
class Tried:
    """What was found out of types, for which a loop is written in the end."""

    #: What was found out of those that were tried before.
    before: Tried | None = None
    #: The types of the arguments for one example.
    types: list[ty.Type] | None = None
    #: Why there is no batched form, whether operations may be loops or not.
    refusal: UnsupportedError | None = None
    #: What is known of one example (`Request.found`).
    found: tuple[ty.Type | None, ty.Buffers] | None = None
    #: Whether transforming in another order was tried.
    other_order: bool = False

    def learn_of(self, types: list[ty.Type]) -> None:
        """Take over why there is no batched form for the same types of one example.

        They are the same where only the number of examples is known by now.
        """
        self.types, before = types, self.before
        if before is not None and before.types == types and self.refusal is None:
            self.refusal, self.found = before.refusal, before.found


class Batched(Transform):
    """`vmap`: versions by the types of one example and the axes of the batch."""

    name = "vmap"
    maps = True

    def __init__(
        self,
        function: Callable,
        in_axes: Axes,
        out_axes: Axes,
        axis_size: int | None = None,
        axis_name: str | None = None,
    ) -> None:
        super().__init__(function, ())
        self.in_axes = in_axes
        self.out_axes = out_axes
        self.axis_size = axis_size
        self.axis_name = axis_name
        if axis_size is not None and not is_count(axis_size):
            raise ArgumentError(
                f"vmap: axis_size must be a count of examples, not {axis_size!r}",
                instead="an int, or None",
            )
        check_axes(in_axes, "in_axes")
        check_axes(out_axes, "out_axes")

    def summary(self) -> str:
        return f"What {self.shown_name} gives for each example of a batch"

    def rebased(self, function: Callable, count: int | None = None) -> Callable:
        """The same transform of another function, which can be called itself."""
        made: Any = vmap(
            *(function, self.in_axes, self.out_axes, self.axis_size, self.axis_name)
        )
        transform = made.__srcjax_transform__
        transform.given, transform.check = self.given, self.check
        return cast("Callable", made)

    def annotations(self, given: dict[str, Any]) -> dict[str, Any]:
        """None: hints are about one example."""
        return {}

    # -- axes --------------------------------------------------------------------------

    def axes_of(self, count: int, names: list[str]) -> list[Axes]:
        """The axes of each argument; those given by name are mapped along axis 0."""
        axes = self.in_axes
        if isinstance(axes, (list, tuple)):
            if len(axes) != count:
                raise ArgumentError(
                    f"vmap: in_axes has {len(axes)} entries, and the call has {count} "
                    "arguments by position",
                    instead="an entry for each argument, or one int for all",
                )
            found = list(axes)
        else:
            found = [axes] * count
        return [*found, *[0] * (len(names) - count)]

    def axes_of_types(self, count: int) -> list[Axes]:
        """The axes of the parameters of a function that is called in another one."""
        given = self.given or tuple(
            "keyword" if p.kind is p.KEYWORD_ONLY else "arg"
            for p in list(self.signature.parameters.values())[:count]
        )
        found = iter(self.axes_of(given.count("arg"), [n for n in given if n == "arg"]))
        by_kind: dict[str, Callable[[], Axes]] = {
            "arg": lambda: next(found),
            "keyword": lambda: 0,
        }
        return [by_kind.get(kind, lambda: None)() for kind in given]

    def axes_without_arguments(self) -> list[Axes]:
        """The axes of every parameter; those that keep their default have none."""
        given = self.in_axes
        if isinstance(given, (list, tuple)):
            return [*given, *[None] * (len(self.parameters) - len(given))]
        defaults = self.source.defaults
        return [None if n in defaults else given for n in self.parameters]

    def prepared(self, args: tuple, kwargs: dict) -> tuple[list[Any], list[Axes]]:
        """The value and the axes of every parameter."""
        values = self.bind(args, kwargs)
        given = dict(self.signature.bind(*args, **kwargs).arguments)
        positional = self.parameters[: len(args)]
        named = [n for n in self.parameters if n in given and n not in positional]
        by_name = dict(
            zip(
                [*positional, *named],
                self.axes_of(len(args), [*positional, *named]),
                strict=True,
            )
        )
        return values, [by_name.get(n) for n in self.parameters]

    def depends_on_call(self) -> bool:
        """Whether each argument is mapped that a call gives, and nothing else is."""
        if self.inner is not None:
            plain = self.plain_parameters()
            if plain is not None:
                return self.inner.maps_what_is_given()
            variadic = self.source.node.args.vararg is not None
            return variadic or self.inner.maps_what_is_given()
        return takes_more(self.function)

    def for_call(self, args: tuple, kwargs: dict) -> Batched:
        """The transform for calls with as many arguments, and these by name."""
        called = self.as_called(len(args), tuple(kwargs))
        found: Batched = called.__srcjax_transform__  # type: ignore[attr-defined]
        return found

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.depends_on_call():
            return self.for_call(args, kwargs)(*args, **kwargs)
        values, axes = self.prepared(args, kwargs)
        size = common_size(self.parameters, values, axes, self.axis_size)
        version = self.version_for(values, axes)
        if version is None:
            value = self.function(*args, **kwargs)
            return spread_result(value, size, self.out_axes)
        call_args, keywords = self.arguments(values)
        result = version.call(*call_args, **keywords)
        tree.check_result(result, "vmap")
        if modes.ON["debug_nans"]:
            modes.refuse_nans(
                f"vmap of {self.shown_name}",
                result,
                lambda: version.call(*call_args, **keywords),
            )
        self.last.cell_contents = version
        if self.axis_name is None and self.is_to_be_checked(version):
            self.prove_examples(values, axes, size, result)
        return result

    def prove_examples(
        self, values: list[Any], axes: list[Axes], size: int, result: Any
    ) -> None:
        """Compare with a loop over some examples. Raises DerivativeMismatch."""

        def example(k: int) -> list[Any]:
            return [example_value(v, a, k) for v, a in zip(values, axes, strict=True)]

        def part(result: Any, k: int) -> Any:
            return example_value(result, self.out_axes, k)

        checked_examples.prove_batch(self, values, size, result, example, part)

    def checked_version(self, args: tuple) -> Version | None:
        """The version for arguments by position, whose axes and sizes fit."""
        values, axes = self.prepared(args, {})
        common_size(self.parameters, values, axes, self.axis_size)
        return self.version_for(values, axes)

    def version_for(self, values: list[Any], axes: list[Axes]) -> Version | None:
        """The version for these arguments; None if none of them is mapped."""
        key = (
            tuple(signature_key(v) for v in values),
            tuple(map(frozen, axes)),
        )
        found = self.served(key)
        if found is not None:
            return found
        with generating():
            found = self.served(key)  # another thread may have made it meanwhile
            return found or self.new_version_for(values, axes, key)

    def new_version_for(
        self, values: list[Any], axes: list[Axes], key: tuple
    ) -> Version | None:
        """The version for a key, kept by another process or made; None as above."""
        if is_of_device(key) and not self.is_for_device:
            version = self.on_device.version_for(values, axes)
            if version is not None:
                self.versions[key] = version
            return version
        place = self.place_for(values, key[1])
        kept = place.version()
        if kept is not None:
            self.versions[key] = self.of_this(kept[0])
            return self.versions[key]
        with ty.mapping():
            batches = [
                ty.type_of(v, ("param", n))
                for n, v in zip(self.parameters, values, strict=True)
            ]
        size = self.size_of(batches, axes) if self.axis_name is not None else None
        if not self.maps_any(batches, axes) and self.axis_name is None:
            return None
        version = self.version_for_sizes_of(batches, axes, size)
        place.keep(version, [])
        self.versions[key] = version
        return version

    def maps_any(self, batches: list[ty.Type], axes: list[Axes]) -> bool:
        """Whether any argument, or a part of one, has examples."""
        with ty.mapping():
            return any(map(ty.is_active, map(example_of, batches, axes)))

    def version_for_sizes_of(
        self, batches: list[ty.Type], axes: list[Axes], size: int | None
    ) -> Version:
        """The version for batches of all sizes of which the same holds.

        `size` is the number of examples, where a version is for that number.
        """
        general, common, sizes = tree.generalise(batches, self.parameters)
        suppose_one_size(general, axes, sizes)
        known = self.general.setdefault((common, tuple(map(frozen, axes)), size), [])
        for k, version in enumerate(known):
            if version.sizes.holds(sizes.example):
                now = self.current(version)
                if now is not None:
                    known[k] = now
                    return now
        ways: list[tuple[list[ty.Type], sz.Sizes | None, bool, Tried]]
        first = Tried()
        known_sizes = Tried(first)
        ways = [(general, sizes, False, first), (general, sizes, True, first)]
        if sizes.example:  # where a text needs to know a size by value
            ways.insert(1, (batches, None, False, known_sizes))
            ways.append((batches, None, True, known_sizes))
        if self.axis_name is not None:
            ways = [(general, sizes, False, first), (batches, None, True, known_sizes)]
        for way in ways:
            types, symbols, may_loop, tried = way
            count = size if symbols is None else None
            try:
                version = self.built_for(types, axes, count, symbols, may_loop, tried)
            except SrcjaxError as error:
                loops = isinstance(error, UnsupportedError) and not self.strict
                if way is ways[-1] or symbols is None and not loops:
                    raise
                continue
            if symbols is not None:
                known.append(version)
            return version
        raise AssertionError("a loop serves all sizes")

    def demand(self, values: list[Any], types: list[ty.Type], sizes: sz.Sizes) -> None:
        """The same number of examples. Raises ArgumentError."""
        axes = self.axes_of_types(len(types))
        common_size(self.parameters, values, axes, self.axis_size)
        suppose_one_size(types, axes, sizes)
        super().demand(values, types, sizes)

    def built_for(
        self,
        batches: list[ty.Type],
        axes: list[Axes],
        size: int | None,
        sizes: sz.Sizes | None,
        may_loop: bool,
        tried: Tried,
    ) -> Version:
        """Generated and loaded code for batches of these types."""
        with ty.mapping():
            types = list(map(example_of, batches, axes))
        if size is None:  # a batch with a name may be another one for each number
            tried.learn_of(types)
        module = self.module(types, axes, size, batches, may_loop, tried)
        self.described(module, batches, sizes)
        return self.of_this(Version(self.placed(module), types, sizes))

    def size_of(self, batches: list[ty.Type], axes: list[Axes]) -> int | None:
        """The number of examples as the types of the batches tell it."""
        if self.axis_size is not None:
            return self.axis_size
        sizes = (size_of(t, a) for t, a in zip(batches, axes, strict=True))
        return next((n for n in sizes if isinstance(n, int)), None)

    #: Whether a function that has no batched form is refused, not run in a loop.
    strict = False

    @generating()
    def module(
        self,
        types: list[ty.Type],
        axes: list[Axes],
        size: int | None = None,
        batches: list[ty.Type] | None = None,
        may_loop: bool = True,
        tried: Tried | None = None,
        keeps_rules: bool = False,
    ) -> modules.Module:
        """Generate the module for one example of these types, of `size` of them.

        `batches` are the types of the whole batches, where they are known, and `tried`
        is what was found out before for the same types. With `keeps_rules`, functions
        with a rule of their own have one for the batch: it is differentiated.
        """
        tried = Tried() if tried is None else tried
        names = dict(zip(self.parameters, types, strict=True))
        wrt = [n for n, t in names.items() if ty.is_active(t)]
        by_name = dict(zip(self.parameters, axes, strict=True))
        with axes_in_scope.opened(self.axis_name, size) as axis:
            function = underlying(self.function)
            if self.inner is not None:
                function = self.inner.function_for([_quiet(t) for t in types])
            request = requests.Request(
                function, names, wrt, self.axis_name, self.axis_size, keeps_rules
            )
            try:
                if tried.refusal is not None:
                    raise tried.refusal
                return pipeline.batch(
                    request, by_name, self.out_axes, may_loop=may_loop
                )
            except UnsupportedError as error:
                if axis.used or not wrt or None in results_of.leaves(self.out_axes):
                    raise  # all the examples are needed at a time
                tried.found = tried.found or request.found
                if not error.asks_for_loop:
                    tried.refusal = error
                if batches and not tried.other_order:
                    tried.other_order = True
                    module = batch_orders.other_order(self, batches, axes)
                    if module:
                        return module
                if self.strict or not may_loop:
                    raise
                why = str(error).splitlines()[0]
        warnings.warn(
            PerformanceWarning(
                f"vmap: {self.source.name} runs in a loop over the batch, because {why}"
            ),
            stacklevel=7,
        )
        return self.loop(request, by_name, why, tried.found)

    def loop(
        self,
        request: requests.Request,
        axes: dict[str, Axes],
        reason: str,
        found: tuple[ty.Type | None, ty.Buffers] | None = None,
    ) -> modules.Module:
        """A loop over the examples, where there is no batched form."""
        result, written = found or pipeline.result_of_examples(request)
        name = getattr(request.function, "__name__", self.source.name)
        called = name if name.isidentifier() else "function"
        copied = [n for n, t in request.types.items() if ty.all_buffers(t) & written]
        loop = example_loop.ExampleLoop(
            self.signature,
            request.types,
            axes,
            self.out_axes,
            result,
            frozenset(copied),
        )
        node = loop.write(called, as_called(request.function), reason)
        module = modules.Module(node.name, [node], loop.values)
        module.entry = node.name
        module.stages.keep("read", lambda: self.source.text)
        module.print()
        return module

    # -- for the text, and for other transforms ----------------------------------------

    def module_for(self, args: tuple, kwargs: dict) -> modules.Module:
        if not args and not kwargs and self.parameters:
            return self.untyped_module()
        if self.depends_on_call():
            return self.for_call(args, kwargs).module_for(args, kwargs)
        values, axes = self.prepared(args, kwargs)
        common_size(self.parameters, values, axes, self.axis_size)
        fresh = self.anew() if is_recording() else self
        with self.nothing_kept():
            version = fresh.version_for(values, axes)
        if version is None:
            raise ArgumentError(
                "vmap: no argument is mapped", instead="an axis in in_axes"
            )
        return version.module.shown()

    def of_example(self, given: dict[str, Any]) -> dict[str, Any]:
        axes = dict(zip(self.parameters, self.axes_without_arguments(), strict=True))
        return {name: batch_of(value, axes[name]) for name, value in given.items()}

    def recorded(self, args: tuple, kwargs: dict) -> tuple[modules.Module, list, dict]:
        if self.depends_on_call():
            return self.for_call(args, kwargs).recorded(args, kwargs)
        with recording():
            module = self.module_for(args, kwargs)
        return module, *self.arguments(self.prepared(args, kwargs)[0])

    def untyped_module(self) -> modules.Module:
        """The text for arguments of every rank.

        Type hints are those of one example. Where they do not tell that a mapped
        argument is a number or an array, it is a loop.
        """
        if self.axis_name is not None or None in results_of.leaves(self.out_axes):
            raise ArgumentError(
                "the text of a vmap with axis_name, or with None in out_axes, needs "
                "example arguments: it is no loop over the examples",
                instead="`srcjax.source(srcjax.vmap(f), x)`",
            )
        axes = self.axes_without_arguments()
        with ty.mapping():
            types = [
                _quiet(t) if a is None else ty.with_active(t, True)
                for t, a in zip(self.hinted_types(), axes, strict=True)
            ]
        if not any(map(ty.is_active, types)):
            raise ArgumentError(
                "vmap: no argument is mapped", instead="an axis in in_axes"
            )
        if not any(isinstance(t, ty.Unknown) and ty.is_active(t) for t in types):
            return self.module(types, axes)
        function = underlying(self.function)
        if self.inner is not None:
            function = self.inner.function_for([_quiet(t) for t in types])
        names = dict(zip(self.parameters, types, strict=True))
        wrt = [n for n, t in names.items() if ty.is_active(t)]
        reason = (
            "the ranks of the arguments are not known, and they decide the batched "
            "form. Example arguments give it."
        )
        by_name = dict(zip(self.parameters, axes, strict=True))
        return self.loop(requests.Request(function, names, wrt), by_name, reason)

    def result_type(
        self, types: list[ty.Type], value: Callable[..., ty.Type]
    ) -> ty.Type:
        """What the function gives for one example, with an axis for the examples."""
        if self.axis_name is not None or type(self.out_axes) is not int:
            return ty.UNKNOWN
        try:
            axes = self.axes_of_types(len(types))
            examples = list(map(example_of, map(_quiet, types), axes))
            size = self.axis_size or self.size_of(types, axes)
        except (ArgumentError, IndexError, KeyError, TypeError, ValueError):
            return ty.UNKNOWN  # said where the call is written out
        if size is None:
            named = (size_of(t, a) for t, a in zip(types, axes, strict=True))
            size = next((n for n in named if n is not None), None)
        return type_of_batch(value(examples), size, self.out_axes)

    def version_of(self, types: list[ty.Type]) -> Version:
        """The version for batches of these types, for other transforms."""
        axes = self.axes_of_types(len(types))
        # What is supposed of sizes is noted down where they belong, once for each.
        sizes = sz.sizes_of(ty.dims_of(types))
        if not suppose_one_size(types, axes, sizes):
            raise ArgumentError(
                f"vmap: the arguments of {self.source.name} have different numbers of "
                "examples",
                instead="the same number of examples in every mapped argument",
            )
        key = ("types", axes_in_scope.names_in_scope(), tuple(types), id(sizes))
        found = self.versions.get(key)
        if found is None or not found.holds():
            with ty.mapping():
                examples = [
                    example_of(_quiet(t), a) for t, a in zip(types, axes, strict=True)
                ]
            size = self.size_of(types, axes)
            module = self.module(examples, axes, size, types, keeps_rules=True)
            found = self.versions[key] = Version(module, examples)
        return found


@with_known_options
def vmap(
    f: Callable | None = None,
    in_axes: Axes = 0,
    out_axes: Axes = 0,
    axis_size: int | None = None,
    axis_name: str | None = None,
    check: bool | None = None,
) -> Any:
    """A function of one example as a function of a batch of them.

    Args:
        f: a Python function of one example.
        in_axes: the axis of each argument along which the examples stand: an int for
            all arguments, or a tuple with an entry for each, which is an int, None (the
            argument is the same for all examples) or a container of them for a
            container argument. Arguments given by name are mapped along axis 0.
        out_axes: the axis of the results along which the examples stand.
        axis_size: the number of examples, where no argument tells.
        axis_name: a name for the batch axis, for collectives such as `psum`.
        check: compare some examples of the first call for each kind of arguments with
            `f` itself, and raise DerivativeMismatch if they differ. Without it, as
            `srcjax.config.check` says.

    Returns:
        A function of the same arguments: what a loop over the examples gives, stacked.
        Without `f`, a decorator.

    Raises:
        ArgumentError: the axes do not fit the arguments, or sizes differ.

    >>> dot = srcjax.vmap(lambda x, w: x @ w, in_axes=(0, None))
    >>> dot(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    if axis_name is not None and not isinstance(axis_name, str):
        raise ArgumentError(
            f"vmap: axis_name must be a string, not {axis_name!r}",
            instead='`axis_name="batch"`',
        )

    def make(g: Callable) -> Callable:
        transform: Batched | None = None

        #: Generated functions by the classes and shapes of arguments by position.
        hot = modes.Found()
        modes.remember(hot)

        def batched(*args: Any, **kwargs: Any) -> Any:
            try:
                return serve(batched, called, for_jax, args, kwargs)
            except BaseException as error:
                report(error)
                raise

        @functools.cache
        def for_jax() -> bool:
            return is_for_jax(g)

        def called(args: tuple, kwargs: dict) -> Any:
            nonlocal transform
            if not kwargs:
                key = tuple([signature_key(a) for a in args])
                version = hot.get(key)
                if version is not None and (not version.guards or version.holds()):
                    result = version.call(*args)
                    if type(result) not in ARRAYS or result.dtype == object:
                        tree.check_result(result, "vmap")
                    last.cell_contents = version
                    return result
            if transform is None:
                transform = mapped(with_source(g, len(args)))
                shown.append(dress(batched, transform, recipe))
            if not kwargs and transform.positional and not transform.depends_on_call():
                version = transform.checked_version(args)
                fast = len(args) == len(transform.parameters) and not modes.any_on()
                if version is not None and fast:
                    if len(hot) > MAX_HOT:
                        hot.clear()
                    hot[key] = version
            result = transform(*args, **kwargs)
            shown[0].note(last.cell_contents)
            return result

        def mapped(function: Callable) -> Batched:
            found = Batched(function, in_axes, out_axes, axis_size, axis_name)
            found.check, found.last = check, last
            return found

        options: dict[str, Any] = {"in_axes": in_axes, "out_axes": out_axes}
        options |= {"axis_size": axis_size, "axis_name": axis_name, "check": check}
        recipe = Recipe("vmap", g, options)
        #: What was called last, and how that is shown.
        last = pytypes.CellType(None)
        shown: list[Dress] = []
        if isinstance(g, np.ufunc):  # how many arguments it has is told by a call
            batched.__name__ = batched.__qualname__ = f"vmap_{g.__name__}"
            batched.__doc__ = f"vmap of {g.__name__}, written by srcjax."
        else:
            transform = mapped(g)
            shown.append(dress(batched, transform, recipe))
        return batched

    return make if f is None else make(f)


vmap.__srcjax_maker__ = True  # type: ignore[attr-defined]


# -- axes and examples -----------------------------------------------------------------


def example_value(value: Any, axes: Axes, k: int) -> Any:
    """One example of a batch, along the axes."""
    if axes is None:
        return value
    if isinstance(value, (tuple, list)):
        each = axes if isinstance(axes, (tuple, list)) else [axes] * len(value)
        parts = [example_value(v, a, k) for v, a in zip(value, each, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        chosen = axes if isinstance(axes, dict) else dict.fromkeys(value, axes)
        kept = {key: example_value(v, chosen[key], k) for key, v in value.items()}
        return of_class(value, kept)
    if not isinstance(value, np.ndarray):
        raise TypeError(f"no example of {type(value).__name__}")
    return np.take(value, k, axis=axes)


def is_count(n: Any) -> bool:
    """Whether the value is a whole number from 0."""
    return type(n) is int and n >= 0 or isinstance(n, np.integer) and bool(n >= 0)


def check_axes(axes: Axes, where: str, said: str = "vmap") -> None:
    """Raises ArgumentError for what is no axis."""
    name = where.partition("[")[0]
    if isinstance(axes, (list, tuple)):
        for k, each in enumerate(axes):
            check_axes(each, f"{where}[{k}]", said)
    elif isinstance(axes, dict):
        for key, each in axes.items():
            check_axes(each, f"{where}[{key!r}]", said)
    elif axes is not None and (
        isinstance(axes, bool) or not isinstance(axes, (int, np.integer))
    ):
        raise ArgumentError(
            f"{said}: {where} must be an int or None, not {axes!r}",
            instead=f"`{name}=0` or `{name}=(0, None)`",
        )


def frozen(axes: Axes) -> Any:
    """Axes as a key."""
    if isinstance(axes, (list, tuple)):
        return tuple(map(frozen, axes))
    if isinstance(axes, dict):
        return tuple((k, frozen(v)) for k, v in axes.items())
    return axes


def leaves_with_axes(
    value: Any, axes: Axes, where: str, said: str = "vmap"
) -> list[tuple[str, Any, Axes]]:
    """(where, leaf, axis) for the leaves; `axes` may end above them."""
    if axes is None or value is None:
        return []
    if isinstance(value, (dict, list, tuple)):
        tree.check_container(value, where)
    if isinstance(value, dict):
        if isinstance(axes, (list, tuple)):
            raise misfit(said, where, "a dict", axes)
        if isinstance(axes, dict) and axes.keys() != value.keys():
            raise misfit(said, where, f"a dict with the keys {list(value)}", axes)
        found = []
        for key, item in value.items():
            each = axes[key] if isinstance(axes, dict) else axes
            found += leaves_with_axes(item, each, f"{where}[{key!r}]", said)
        return found
    if isinstance(value, (list, tuple)):
        if isinstance(axes, dict):
            raise misfit(said, where, f"a {type(value).__name__}", axes)
        if isinstance(axes, (list, tuple)) and len(axes) != len(value):
            kind = type(value).__name__
            raise misfit(said, where, f"a {kind} of {len(value)} items", axes)
        found = []
        for k, item in enumerate(value):
            each = axes[k] if isinstance(axes, (list, tuple)) else axes
            found += leaves_with_axes(item, each, f"{where}[{k}]", said)
        return found
    names = record_fields(value)
    if names is not None:
        found = []
        cls: Any = type(value)
        fixed = structure_fields(cls, names)
        for name in [name for name in names if name not in fixed]:
            found += leaves_with_axes(
                getattr(value, name), axes, f"{where}.{name}", said
            )
        return found
    if isinstance(axes, (list, tuple, dict)):
        raise misfit(said, where, f"a single value of shape {np.shape(value)}", axes)
    return [(where, value, axes)]


def misfit(said: str, where: str, value: Any, axes: Any) -> ArgumentError:
    return ArgumentError(
        f"{said}: in_axes for `{where}` is {axes}, and that is {value}",
        instead="axes of the same structure as the argument, or one int",
    )


def common_size(
    names: list[str],
    values: list[Any],
    axes: list[Axes],
    axis_size: int | None,
    said: str = "vmap",
) -> int:
    """The number of examples. Raises ArgumentError if the arguments disagree.

    `said` is the transform that errors speak of.
    """
    size, first = axis_size, f"axis_size is {axis_size}"
    for name, value, each in zip(names, values, axes, strict=True):
        for where, leaf, axis in leaves_with_axes(value, each, name, said):
            tree.check_examples(leaf, where)
            shape = np.shape(leaf)
            if not shape:
                raise ArgumentError(
                    f"{said}: `{where}` is a number ({leaf!r}, shape ()) and cannot be "
                    f"mapped along axis {axis}",
                    instead="None for it in in_axes, or an array of the examples",
                )
            if not -len(shape) <= axis < len(shape):
                raise ArgumentError(
                    f"{said}: `{where}` is to be mapped along axis {axis}, and has the "
                    f"shape {shape}",
                    instead=f"an axis from 0 to {len(shape) - 1}",
                )
            if size is None:
                size = shape[axis]
                first = f"`{where}` of shape {shape} has {size} along axis {axis}"
            elif size != shape[axis]:
                raise ArgumentError(
                    f"{said}: `{where}` of shape {shape} has {shape[axis]} examples "
                    f"along axis {axis}, and {first}",
                    instead="the same number of examples in every mapped argument",
                )
    if size is None:
        raise ArgumentError(
            f"{said}: no argument is mapped, so the number of examples is not known",
            instead="an axis in in_axes, or axis_size",
        )
    return size


def suppose_one_size(
    types: list[ty.Type], axes: list[Axes], sizes: sz.Sizes | None
) -> bool:
    """Suppose that all batches have the same number of examples; whether they have."""
    counts = [
        n
        for t, a in zip(types, axes, strict=True)
        for n in sizes_in(t, a)
        if isinstance(n, (sz.Sym, int))
    ]
    if sizes is None:
        return len({n for n in counts if isinstance(n, int)}) < 2
    return all(sizes.suppose_same(counts[0], n) is not None for n in counts[1:])


def size_of(t: ty.Type, axes: Axes) -> Any:
    """The number of examples in a batch of the type, None if it does not tell."""
    return next((n for n in sizes_in(t, axes) if n is not None), None)


def sizes_in(t: ty.Type, axes: Axes) -> Iterator[Any]:
    """The number of examples that each part of a batch of the type tells."""
    if axes is None:
        return
    if isinstance(t, ty.Array):
        if t.shape is not None:
            yield t.shape[axes]
        return
    each: list[tuple[ty.Type, Axes]] = []
    if isinstance(t, (ty.Tuple, ty.List)) and t.items is not None:
        many = axes if isinstance(axes, (list, tuple)) else [axes] * len(t.items)
        each = list(zip(t.items, many, strict=True))
    elif isinstance(t, (ty.Dict, ty.Object)) and t.items is not None:
        named = axes if isinstance(axes, dict) else {k: axes for k, _ in t.items}
        each = [(p, named[k]) for k, p in t.items]
    for pair in each:
        yield from sizes_in(*pair)


def batch_of(value: Any, axes: Axes) -> Any:
    """A batch of examples that are all the same; a tree of arrays and numbers."""
    if axes is None:
        return value
    if isinstance(value, dict):
        by_key = axes if isinstance(axes, dict) else dict.fromkeys(value, axes)
        parts = {key: batch_of(part, by_key[key]) for key, part in value.items()}
        return of_class(value, parts)
    if isinstance(value, (list, tuple)):
        each = axes if isinstance(axes, (list, tuple)) else [axes] * len(value)
        return type(value)(map(batch_of, value, each))
    return np.stack([value] * SUPPOSED_EXAMPLES, axis=axes)


def example_of(t: ty.Type, axes: Axes) -> ty.Type:
    """The type of one example of a batch of the type."""
    if axes is None:
        return t
    if isinstance(t, ty.Array):
        shape = t.shape
        if shape is not None:
            axis = axes % len(shape)
            shape = shape[:axis] + shape[axis + 1 :]
        if shape == ():
            return ty.Scalar(True, dtype=t.dtype)
        return ty.Array(True, t.buffers, t.dtype, shape)
    if isinstance(t, (ty.Tuple, ty.List)) and t.items is not None:
        each = axes if isinstance(axes, (list, tuple)) else [axes] * len(t.items)
        items = tuple(example_of(p, a) for p, a in zip(t.items, each, strict=True))
        if isinstance(t, ty.Tuple):
            return ty.Tuple(items=items, cls=t.cls)
        return ty.List(False, t.buffers, items, None, t.cls)
    if isinstance(t, ty.Dict) and t.items is not None:
        pairs = tuple(
            (k, example_of(p, axes[k] if isinstance(axes, dict) else axes))
            for k, p in t.items
        )
        return ty.Dict(False, t.buffers, pairs, None, t.cls)
    if isinstance(t, ty.Object):
        return ty.map_parts(t, lambda p: example_of(p, axes))
    return ty.with_active(t, True)


def type_of_batch(t: ty.Type, size: Any, axis: int) -> ty.Type:
    """The type of a batch of so many examples of the type."""
    if isinstance(t, ty.Const) and type(t.value) in (bool, int, float, complex):
        t = ty.type_of(t.value)
    if isinstance(t, (ty.Array, ty.Scalar)):
        shape = ty.shape_of(t)
        if shape is not None:
            place = axis + len(shape) + 1 if axis < 0 else axis
            if not 0 <= place <= len(shape):
                return ty.UNKNOWN
            shape = (*shape[:place], size, *shape[place:])
        return ty.Array(False, frozenset([type_of_batch]), t.dtype, shape)
    if isinstance(t, (ty.Tuple, ty.List, ty.Dict)) and t.items is not None:
        return ty.map_parts(t, lambda part: type_of_batch(part, size, axis))
    return ty.UNKNOWN


def _quiet(t: ty.Type) -> ty.Type:
    return ty.with_active(t, False)


def spread_result(value: Any, size: int, out_axes: Axes) -> Any:
    """The same result for every example, once where its axis is None."""
    from srcjax.runtime.batches import has_parts, move_axes, over_parts, spread_items

    if out_axes is None:
        return value
    if has_parts(value):
        return over_parts(lambda v, a: spread_result(v, size, a), value, out_axes)
    try:
        return move_axes(spread_items(value, size), 0, out_axes)
    except (ValueError, TypeError) as error:
        raise ArgumentError(
            f"vmap: out_axes is {out_axes!r} for a result of shape {np.shape(value)}: "
            f"{error}",
            instead="an axis of the batch",
        ) from None


__all__ = ["Batched", "vmap"]
