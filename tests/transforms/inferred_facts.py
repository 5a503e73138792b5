"""Compares what inference finds in generated functions with what they do when run.

At the end of each generated function, every variable has to have the type that was
found for it, and two that share memory have to be known to.
"""

import sys
import warnings
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

import srcjax
from srcjax import pipeline
from srcjax.analysis.types import (
    Array,
    Const,
    Dict,
    List,
    Object,
    Range,
    Scalar,
    Tuple,
    Unknown,
    all_buffers,
)
from tests.corpus.directions import direction
from tests.corpus.test_batch import examples_of

MODES = ("jvp", "grad", "vjp", "vmap")


def transformed(program, mode):
    """A function that generates code for a program, and runs it."""
    args = program.args()
    if mode == "jvp":
        tangents = direction(program, args)
        return lambda: srcjax.jvp(program.function, args, tangents)
    if mode == "grad":
        gradient = srcjax.grad(program.function, argnums=program.argnums)
        return lambda: gradient(*args)
    if mode == "vjp":
        assert len(program.argnums) == len(args), "not all are differentiated"
        return lambda: srcjax.vjp(program.function, *args)
    _, batch, axes = examples_of(program)
    mapped = srcjax.vmap(program.function, in_axes=axes)
    return lambda: mapped(*batch)


def same_array_twice(program):
    arrays = [each for arg in program.args() for each in memory(arg)]
    return any(a is b for k, a in enumerate(arrays) for b in arrays[:k])


@contextmanager
def watching(each):
    pipeline.WATCHING.append(each)
    try:
        yield
    finally:
        pipeline.WATCHING.remove(each)


def contradictions(run):
    """What is wrong in the facts of the functions that `run` generates and calls."""
    types, wrong = {}, []

    def keep(found):
        if found.values is None:
            return
        for name, generated in found.functions.items():
            types.setdefault(name, []).append(found.types_of(generated.unit))

    def ended(frame, event, _):
        name = frame.f_code.co_name
        if event == "return" and name in types and is_generated(frame):
            # Texts of several functions may call theirs alike, as those of lambdas.
            mine = [t for t in types[name] if frame.f_locals.keys() <= t.keys()]
            each = [list(compared(frame, known)) for known in mine or types[name]]
            if all(each):
                wrong.extend(f"{name}: {what}" for what in each[-1])

    def called(frame, event, _):
        return ended if is_generated(frame) else None

    before = sys.gettrace()
    with watching(keep), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        sys.settrace(called)
        try:
            run()
        finally:
            sys.settrace(before)
    return wrong, len(types)


def is_generated(frame):
    return frame.f_globals.get("__name__", "").startswith("srcjax._generated.")


def compared(frame, types):
    held = []
    named = {id(v) for v in frame.f_locals.values() if isinstance(v, list)}
    for name, value in frame.f_locals.items():
        t = types.get(name)
        if t is None:
            continue
        if not fits(value, without_taken(value, t, named)):
            yield f"{name} = {value!r} is no {t}"
        held.append((name, t, list(memory(value))))
    for k, (first, t, mine) in enumerate(held):
        for second, u, theirs in held[k + 1 :]:
            if all_buffers(t) & all_buffers(u):
                continue
            if any(shared(a, b) for a in mine for b in theirs):
                yield f"{first} and {second} share memory: {t}, {u}"


def without_taken(value, t, named):
    """The type, but for tapes taken out of a tuple: their own names judge them."""
    if not isinstance(value, tuple) or not isinstance(t, Tuple):
        return t
    if len(value) != len(t.items):
        return t
    pairs = zip(value, t.items, strict=True)
    items = tuple(Unknown() if id(part) in named else u for part, u in pairs)
    return replace(t, items=items)


def fits(value, t):
    """Whether a value is of the type."""
    if isinstance(t, Const):
        known = t.value
        return value is known or (type(value) is type(known) and alike(value, known))
    if isinstance(t, Scalar):
        return np.ndim(value) == 0 and of_dtype(value, t.dtype)
    if isinstance(t, Array):
        return of_dtype(value, t.dtype) and of_shape(np.shape(value), t.shape)
    if isinstance(t, Tuple):
        parts = [getattr(value, k, None) for k in ("start", "stop", "step")]
        items = parts if isinstance(value, slice) else value
        return len(items) == len(t.items) and all(map(fits, items, t.items))
    if isinstance(t, List):
        if t.items is None:
            return t.elem is None or all(fits(v, t.elem) for v in value)
        return len(value) == len(t.items) and all(map(fits, value, t.items))
    if isinstance(t, Dict):
        if t.items is None:
            return t.elem is None or all(fits(v, t.elem) for v in value.values())
        return list(value) == [k for k, _ in t.items] and all(
            fits(value[k], part) for k, part in t.items
        )
    if isinstance(t, Object):
        return isinstance(value, t.cls) and all(
            fits(getattr(value, k, None), part) for k, part in t.items
        )
    if isinstance(t, Range):
        return isinstance(value, range)
    return True


def alike(value, known):
    return np.array_equal(value, known) or (value != value and known != known)


def of_dtype(value, dtype):
    return dtype is None or np.asarray(value).dtype == dtype


def of_shape(shape, known):
    if known is None:
        return True
    pairs = zip(shape, known, strict=False)
    return len(shape) == len(known) and all(n == k for n, k in pairs if type(k) is int)


def memory(value):
    """Arrays and containers that a value is made of."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, dict)):
        yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from memory(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from memory(item)


def shared(a, b):
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.size > 0 and b.size > 0 and np.shares_memory(a, b)
    return a is b
