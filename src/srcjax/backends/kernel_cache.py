"""What Numba keeps of a kernel, loaded without what Numba needs to compile one.

Before Numba looks for what it has compiled it fills its tables: what each function of
Python and NumPy is for each type, twenty modules of it, and `scipy.linalg`. Machine
code needs nothing of them but the addresses of what it calls. So these are kept beside
it, by name, and where all of them are known the tables stay empty until something has
to be compiled (which fills them itself). Neither are extensions of Numba looked for
before that, nor its memory's own functions compiled, nor is `numpy.ma` imported to ask
whether an array is a masked one.

What is on disk may be broken: it is known by a digest, and made anew if that is wrong.

Imports Numba: to be imported when a kernel is first called.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import pickle
from collections.abc import Callable
from typing import Any

from llvmlite import binding
from numba.core import caching, entrypoints, serialize, types
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime import _nrt_python
from numba.np.numpy_support import from_dtype, map_layout

from srcjax.analysis.arrays import ARRAYS

# Numba has no types.
# mypy: disable-error-code="attr-defined, misc, no-any-return"


class Kept(caching.CompileResultCacheImpl):
    """What is written for a compiled kernel: the names that it calls, and itself."""

    def reduce(self, cres: Any) -> tuple[list[str], list[Any], str, bytes]:
        reduced = super().reduce(cres)
        found = [
            (env.env_name, env.globals["__name__"], list(env.consts))
            for env in reduced[-1]
        ]
        payload = serialize.dumps(reduced)
        return symbols_of(cres.library), found, digest(payload), payload

    def rebuild(
        self, target_context: Any, payload: tuple[list[str], list[Any], str, bytes]
    ) -> Any:
        symbols, found, known, content = payload
        if digest(content) != known:
            raise ValueError("not what was written")
        environments = list(map(environment, found))  # kept while they are looked up
        with_memory()
        if not all(map(binding.address_of_symbol, symbols)):
            target_context.refresh()
        rebuilt = super().rebuild(target_context, pickle.loads(content))
        del environments
        return rebuilt


class KernelCache(caching.FunctionCache):
    """The kernels of a file. What cannot be read, or not be written, is left."""

    _impl_class = Kept

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        self.with_words = function.__globals__["with_words"]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = None
        try:
            found = self._load_overload(sig, target_context)
        except Exception:
            with contextlib.suppress(Exception):
                self.flush()
        if found is None:  # it is compiled next
            entrypoints.init_all()
            self.with_words()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(Exception):
            self._save_overload(sig, data)


@functools.cache
def with_memory() -> None:
    """Let machine code find what makes and frees arrays."""
    for name, address in _nrt_python.c_helpers.items():
        binding.add_symbol(name if name[0] == "_" else f"NRT_{name}", address)


def environment(known: tuple[str, str, list[Any]]) -> Any:
    """What machine code of a function has of its module.

    Numba would import the module for it, of which the code needs nothing.
    """
    name, module, constants = known
    found = lookup_environment(name)
    if found is None:
        found = Environment({"__name__": module})
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


def symbols_of(library: Any) -> list[str]:
    """What the machine code of a library calls, or looks at, that is not in it."""
    module = library._final_module
    declared = [*module.functions, *module.global_variables]
    names = {each.name for each in declared if each.is_declaration}
    return sorted(name for name in names if not name.startswith("llvm."))


def digest(content: bytes) -> str:
    """What the content is known by."""
    return hashlib.sha256(content).hexdigest()


def keep(dispatcher: Any, function: Callable) -> None:
    """Let a dispatcher keep what it compiles."""
    dispatcher._cache = KernelCache(function)
    dispatcher._compilation_chain_init_hook = lambda: None  # see `load_overload`
    type_of_others = dispatcher.typeof_pyval

    def type_of(value: Any) -> Any:
        """The type that Numba has for an argument."""
        known = type(value) in ARRAYS and value.dtype.kind in "biufc"
        if not known or not value.dtype.isnative:
            return type_of_others(value)
        dtype, layout = from_dtype(value.dtype), map_layout(value)
        readonly = not value.flags.writeable
        found = types.Array(dtype, value.ndim, layout, readonly=readonly)
        dispatcher._types_active_call.add(found)
        return found

    dispatcher.typeof_pyval = type_of
