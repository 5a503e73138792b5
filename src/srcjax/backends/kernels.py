"""Kernels: functions that Numba compiles, and keeps in the user's cache folder.

    @kernel
    def f_kernel(x): ...

is compiled when it is first called. Its text goes to a file of its own, named by its
content, in a folder that only the user can write to: there Numba keeps what it
compiled, and the next process finds it. Where the folder cannot be had, it is compiled
anew. `@checked_kernel("x")` says that indices of `x` are the user's, and may be wrong.

A kernel is plain Python. What Numba does not compile runs as that, and `explain` says
so.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import itertools
import linecache
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from srcjax.analysis.arrays import ARRAYS
from srcjax.backends.cache_folder import cache_folder, write_at_once
from srcjax.backends.kernel_elementary import may_compute
from srcjax.late import late
from srcjax.process import warnings_are

if TYPE_CHECKING:
    from srcjax.backends import kernel_text, kernel_threads, threads
else:
    kernel_text = late("srcjax.backends.kernel_text")
    kernel_threads = late("srcjax.backends.kernel_threads")
    threads = late("srcjax.backends.threads")


class Differs(Exception):
    """Python's own numbers do here what machine numbers do not: the kernel is left."""


class OutOfBounds(IndexError):
    """An index that an array has not, as NumPy says it."""

    def __init__(self, index: int, axis: int, size: int) -> None:
        text = f"index {index} is out of bounds for axis {axis} with size {size}"
        super().__init__(text)


def added(y: Any, x: Any) -> Any:
    """`y + x`, the next step of a sum, in which the order does not matter."""
    return y + x


def put_back(arrays: list[Any], before: list[Any]) -> None:
    """Let arrays be again what they were; those that cannot be written to are."""
    for array, kept in zip(arrays, before, strict=True):
        if array.flags.writeable:
            array[...] = kept


def overlap(written: list[Any], others: Sequence[Any] = ()) -> bool:
    """Whether an array that is written to may have memory in common with another.

    Args:
        written: arrays, or containers of them.
        others: those that are only read.
    """
    mine = arrays_in(written)
    pairs = [(a, b) for a in mine for b in arrays_in(others)]
    pairs += itertools.combinations(mine, 2)
    return any(may_overlap(a, b) for a, b in pairs)


def arrays_in(value: Any) -> list[Any]:
    """The arrays in a container: of NumPy, and on a device."""
    if isinstance(value, (list, tuple)):
        if all(type(item) in ARRAYS for item in value):
            return list(value)
        return [array for item in value for array in arrays_in(item)]
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        return arrays_in(list(value.values()))
    if isinstance(value, np.generic):
        return []
    if any(hasattr(value, f"__{of}array_interface__") for of in ("", "cuda_")):
        return [value]
    return arrays_in(list(vars(value).values())) if hasattr(value, "__dict__") else []


def may_overlap(a: Any, b: Any) -> bool:
    """Whether the ranges of memory of two arrays have something in common."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.may_share_memory(a, b)
    (start, end), (first, last) = bounds(a), bounds(b)
    return start < last and first < end


def bounds(array: Any) -> tuple[int, int]:
    """Where the memory of an array begins and ends."""
    found = getattr(array, "__cuda_array_interface__", None)
    start = end = (found or array.__array_interface__)["data"][0]
    if not array.size:
        return start, start
    for count, step in zip(array.shape, array.strides, strict=True):
        if step < 0:
            start += step * (count - 1)
        else:
            end += step * (count - 1)
    return start, end + array.dtype.itemsize


@functools.cache
def has_numba() -> bool:
    """Whether there is a compiler."""
    return importlib.util.find_spec("numba") is not None


class NotCompilable(Exception):
    """Numba does not compile a kernel that is all of a function."""


class Made:
    """What was made of a kernel's text: by all kernels of the same text."""

    def __init__(
        self,
        function: Callable,
        text: str,
        checked: tuple[str, ...] = (),
        ranks: tuple[int | None, ...] = (),
    ) -> None:
        found = compiled(text, function.__name__, checked, ranks)
        #: The dispatcher that Numba makes, and the argument whose length threads share.
        self.dispatcher, self.counted = found.dispatcher, found.counted
        #: What takes the arguments of the kernel.
        self.call: Callable = found.dispatcher
        if found.calling is not None:
            self.call = found.calling(found.dispatcher, OutOfBounds)
        self._arrays, self._plain = found.arrays, function
        if found.filling is not None:
            self._plain = found.filling(function)
        self._compile: Callable = vars(self.dispatcher)["_compile_for_args"]
        vars(self.dispatcher)["_compile_for_args"] = self.found

    def compile(self, *args: Any) -> Any:
        """Compile it for arguments of these types, or raise what Numba raises."""
        return self._compile(*args, *(self._arrays(*args) if self._arrays else ()))

    def entry(self, args: tuple) -> Callable | None:
        """What was compiled for numbers of these types, which does not look at them.

        To find it by what it is given takes longer than to call it: a third of a call
        with one number.
        """
        from numba import typeof

        if self.call is not self.dispatcher:
            return None
        overloads = vars(self.dispatcher)["overloads"]
        return cast(Callable, overloads[tuple(map(typeof, args))].entry_point)

    def found(self, *args: Any) -> Callable:
        """What a call runs for new types: an array that is read-only, say."""
        try:
            return self._compile(*args)
        except Exception as error:
            if not is_of_compiler(error):
                raise
            return self._plain


#: What was made, as long as a kernel has it, by what kernels compute.
MADE: weakref.WeakValueDictionary[Any, Made] = weakref.WeakValueDictionary()
_MAKING = threading.Lock()


def made_of(
    function: Callable,
    text: str,
    checked: tuple[str, ...],
    ranks: tuple[int | None, ...] = (),
) -> Made:
    """What was made of a kernel, or of one that differs from it by names alone."""
    key = computed(function, checked), ranks
    with _MAKING:
        found = MADE.get(key)
        if found is None:
            found = MADE[key] = Made(function, text, checked, ranks)
        return found


def ranks_of(text: str, args: tuple) -> tuple[int | None, ...]:
    """The ranks of arrays of double precision, where something follows from them.

    They tell the shapes of products that it returns, and what may be computed ahead of
    loops. Only where all others are whole: what is computed of these is double then.
    """
    asks = "np.dot(" in text or may_compute(text)
    if not asks or "float32" in text or "complex" in text:
        return ()
    if any(dtype_of(a) not in _DOUBLE for a in args):
        return ()
    double = [isinstance(a, np.ndarray) and a.dtype == np.float64 for a in args]
    return tuple(a.ndim if d else None for a, d in zip(args, double, strict=True))


def dtype_of(value: Any) -> Any:
    """The dtype of an array; the type of anything else."""
    return value.dtype if isinstance(value, np.ndarray) else type(value)


_DOUBLE = (np.float64, float, int, bool, np.int64, np.bool_)


def computed(function: Callable, checked: tuple[str, ...]) -> tuple:
    """What a kernel computes, whatever it calls its own names."""
    code = function.__code__
    places = tuple(
        code.co_varnames.index(n) if n in code.co_varnames else n for n in checked
    )
    return (
        (code.co_code, code.co_exceptiontable, code.co_argcount, code.co_names),
        # In other words `1`, `1.0` and `True` are the same, and so are both zeros.
        tuple(
            (type(c), c if isinstance(c, CodeType) else repr(c)) for c in code.co_consts
        ),
        (code.co_cellvars, code.co_freevars, places),
    )


class Kernel:
    """A kernel, compiled when it is first called."""

    #: Whether it is all of a function: that runs as it is if it cannot be compiled, and
    #: the types of what it is given are known before each call.
    whole = False

    def __init__(self, function: Callable, checked: tuple[str, ...] = ()) -> None:
        self.__name__: str = function.__name__
        self.__doc__ = function.__doc__
        #: The arrays of which an index may be out of bounds.
        self.checked = checked
        self.function = function
        self.text = text_of(function)
        #: Those of the arguments that it was called with first (`ranks_of`).
        self.ranks: tuple[int | None, ...] = ()
        #: Why it was not compiled, if it was not.
        self.failure = ""
        self.call: Callable = self.first

    def __call__(self, *args: Any) -> Any:
        """Any call may be the first one with numbers of these types."""
        return self.call(*args)

    def first(self, *args: Any) -> Any:
        """The first call, which compiles."""
        if not all(map(fits, args)):
            return self.left(*args)
        self.ranks = ranks_of(self.text, args)
        made = self.made
        try:
            made.compile(*args)
        except Exception as error:
            if not is_of_compiler(error):
                raise
            self.failure = " ".join(str(error).split())
            self.call = self.function
            if self.whole:
                raise NotCompilable(self.failure) from None
            return self.function(*args)
        direct = self.whole and all(map(is_machines, args)) and made.entry(args)
        self.becomes(direct or where_ints_fit(self.shared(), args, self.left))
        return self.call(*args)

    def left(self, *args: Any) -> Any:
        """What a call gives with ints that machines have not: as Python, or nothing."""
        if Differs.__name__ in self.function.__code__.co_names:
            raise Differs  # and the function runs as it was written
        return self.function(*args)

    def becomes(self, call: Callable) -> None:
        """Have what was compiled called, by the text too, which has the kernel."""
        self.call, names = call, self.function.__globals__
        if names.get(self.__name__) is self:
            names[self.__name__] = call

    def shared(self) -> Callable:
        """What is compiled, shared by threads where arrays are long and it can be."""
        whole, counted = self.made.call, self.made.counted
        if counted is None:
            return whole

        parts: Callable | None = None
        least, available = threads.least, threads.available

        def call(*args: Any) -> Any:
            nonlocal parts
            if len(args[counted]) < least() or available() < 2:
                return whole(*args)
            if parts is None:
                found = kernel_threads.split(self.text)
                assert found is not None
                part = compiled(found.text, found.name).dispatcher
                parts = kernel_threads.shared(whole, found, part)
            return parts(*args)

        return call

    @functools.cached_property
    def made(self) -> Made:
        """What was made of its text, perhaps for another kernel."""
        return made_of(self.function, self.text, self.checked, self.ranks)

    @property
    def compiled(self) -> Callable:
        """The dispatcher that Numba makes."""
        return self.made.dispatcher


class ForNumba(NamedTuple):
    """What a kernel's text is for Numba, and how that is called."""

    dispatcher: Callable
    #: The parameter that tells how many iterations there are, where they are known to
    #: be apart.
    counted: int | None
    #: Makes the function that Python calls, if it is not the dispatcher itself.
    calling: Callable | None
    #: Makes the arrays that are filled, of the kernel's arguments.
    arrays: Callable | None
    #: Makes what is done in its place of the kernel as Python.
    filling: Callable | None


def compiled(
    text: str,
    name: str,
    checked: tuple[str, ...] = (),
    ranks: tuple[int | None, ...] = (),
) -> ForNumba:
    """The dispatcher that Numba makes of a kernel's text, with what calls it."""
    from numba import njit

    from srcjax.backends.kernel_cache import keep

    module = module_of(text, name, checked, ranks)
    if module is not None:
        names = vars(module)
    else:  # nowhere to keep it
        names = {}
        exec(compile(whole_text(text, checked, ranks), "<kernel>", "exec"), names)
        names["with_words"]()
    function = names[name]
    with warnings_are("ignore"):
        make: Any = njit(error_model="numpy", nogil=names["GOES_ON"])
        found: Any = make(function)
        if module is not None:
            keep(found, function)
    compiles = found._compile_for_args

    def quietly(*args: Any, **kwargs: Any) -> Any:
        """What the compiler thinks of the text is no warning of the function."""
        with warnings_are("ignore"):
            return compiles(*args, **kwargs)

    found._compile_for_args = quietly
    made = (names[key] for key in ("COUNTED", "calling", "arrays", "filling"))
    return ForNumba(cast(Callable, found), *made)


#: The largest int, and the negative of the smallest, that a kernel is given.
LARGEST = 2**62


def fits(value: Any) -> bool:
    """Whether a number is one that kernels compute with."""
    return type(value) is not int or -LARGEST <= value <= LARGEST


def is_machines(value: Any) -> bool:
    """Whether it is one of Python's numbers that are those of machines."""
    return type(value) is float or type(value) is complex


def where_ints_fit(call: Callable, args: tuple, other: Callable) -> Callable:
    """`call`, for arguments as these; `other` where Python's ints are too large."""
    ints = tuple(k for k, value in enumerate(args) if type(value) is int)
    return asking(len(args), ints)(call, other) if ints else call


@functools.cache
def asking(count: int, ints: tuple[int, ...]) -> Callable:
    """Makes the function that asks of these of its arguments whether they fit."""
    names = ", ".join(f"x{k}" for k in range(count))
    tests = " and ".join(f"{-LARGEST} <= x{k} <= {LARGEST}" for k in ints)
    text = f"lambda call, other: lambda {names}: (call if {tests} else other)({names})"
    made: Callable = eval(text, {})
    return made


def is_of_compiler(error: Exception) -> bool:
    """Whether Numba says that it does not compile something."""
    from numba.core.errors import NumbaError

    return isinstance(error, (NumbaError, NotImplementedError))


def text_of(function: Callable) -> str:
    """The text of a function of a module, decorators included.

    `inspect` tokenises all of it, which takes longer than to load the kernel.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    found = lines[code.co_firstlineno - 1 :]
    starts = [k for k, line in enumerate(found) if line.startswith("def ")]
    if not starts:  # in a class, or in another function
        return inspect.getsource(function)
    for k, line in enumerate(found[starts[0] + 1 :], starts[0] + 1):
        if not line.startswith((" ", "\t", ")", "\n", "\r")):
            return "".join(found[:k]).rstrip() + "\n"
    return "".join(found)


def kernel(function: Callable) -> Kernel:
    """Decorator: a function that is compiled when it is first called."""
    return Kernel(function)


def checked_kernel(*arrays: str) -> Callable[[Callable], Kernel]:
    """Decorator: the same where an index of these arrays may be out of bounds."""
    return lambda function: Kernel(function, arrays)


@functools.cache
def compiled_sum() -> Any:
    """`added`, of which a compiler may change the order."""
    from numba import njit

    return njit(fastmath={"reassoc"}, inline="never")(added)


# -- the folder of compiled kernels --------------------------------------------------


def module_of(
    text: str, name: str, checked: tuple[str, ...], ranks: tuple[int | None, ...] = ()
) -> ModuleType | None:
    """The module of a kernel's text, from the folder; None where there is none.

    It is known by the kernel's own text, so that a process that finds it needs nothing
    of what writes it.
    """
    folder = cache_folder()
    if folder is None:
        return None
    path = Path(folder) / f"{name}_{digest(f'{checked}{ranks}{text}')}.py"
    try:
        if not is_sealed(path):
            write_at_once(str(path), sealed(whole_text(text, checked, ranks).encode()))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    except OSError:
        return None
    return module


def whole_text(
    text: str, checked: tuple[str, ...], ranks: tuple[int | None, ...] = ()
) -> str:
    """What stands in the file of a kernel."""
    found = None if checked else kernel_threads.split(text)
    counted = f"COUNTED = {None if found is None else found.counted}\n"
    return counted + kernel_text.file_text(text, checked, ranks)


def sealed(content: bytes) -> bytes:
    """The content under a line that tells whether it is all there, as it was."""
    return seal(content) + b"\n" + content


def seal(content: bytes) -> bytes:
    return b"# " + hashlib.sha256(content).hexdigest().encode()


def is_sealed(path: Path) -> bool:
    """Whether a file is there, and is what was written."""
    if not path.exists():
        return False
    first, _, content = path.read_bytes().partition(b"\n")
    return first == seal(content)


#: What stands between the text of a kernel and what Numba compiles.
_TEXTS = (
    "kernels",
    "kernel_ahead",
    "kernel_cache",
    "kernel_calls",
    "kernel_elementary",
    "kernel_gathers",
    "kernel_memory",
    "kernel_text",
    "kernel_words",
    "kernel_tapes",
    "kernel_threads",
    "interleaved",
)


@functools.cache
def sources() -> str:
    """What the functions are known by that kernels call."""
    folder = Path(__file__).parent
    own = [folder / f"{n}.py" for n in _TEXTS]
    files = [*own, *sorted((folder / "elementary").glob("*.py"))]
    return hashlib.sha256(b"".join(f.read_bytes() for f in files)).hexdigest()


def digest(text: str) -> str:
    """What a kernel, and what compiles it, is known by."""
    import numba

    versions = f"{numba.__version__} {np.__version__} {sys.version} {sources()}"
    return hashlib.sha256(f"{versions}\n{text}".encode()).hexdigest()[:24]
