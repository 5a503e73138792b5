"""What `jit` wins: beside the text as it is, and beside JAX."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import optree

import srcjax
from srcjax.versions.trials import at_once

from .compiled_cases import Work, families
from .peers import JAX_JIT, OURS, available, on_module, the_jax
from .timing import interleaved, ratio, seconds, spell, table

JIT = "srcjax jit"

Call = Callable[[], Any]


def calls_of(work: Work) -> dict[str, Call]:
    """For each peer, a function without arguments that does the work."""
    args = work.args
    plain = transformed(work, work.function, srcjax)
    compiled = srcjax.jit(plain)
    calls: dict[str, Call] = {OURS: lambda: plain(*args), JIT: lambda: compiled(*args)}
    if available(JAX_JIT) and work.in_jax:
        jax = the_jax()
        function = work.for_jax(jax) if work.for_jax else on_jax(work.function)
        numbers = tuple(k for k, a in enumerate(args) if isinstance(a, int))
        jitted = jax.jit(transformed(work, function, jax), static_argnums=numbers)
        given = [a if isinstance(a, int) else put(a) for a in args]
        calls[JAX_JIT] = lambda: jax.block_until_ready(jitted(*given))
    return calls


def transformed(work: Work, function: Callable, library: Any) -> Callable:
    """What is asked of the function, by srcjax or JAX."""
    axes = work.axes if library is not srcjax else (work.axes or 0)
    if work.mode == "grad":
        return library.grad(function)
    if work.mode == "vmap":
        return library.vmap(function, in_axes=axes)
    if work.mode == "vmap grad":
        return library.vmap(library.grad(function), in_axes=axes)
    return function


def put(value: Any) -> Any:
    """The value on JAX's device, so that no call pays for moving it."""
    return optree.tree_map(the_jax().device_put, value)


def on_jax(function: Any) -> Callable:
    """The function on `jax.numpy`."""
    jax = the_jax()
    found = on_module(function, jax.numpy)
    found.__globals__["erf"] = jax.scipy.special.erf
    return found


def shape_of(work: Work) -> str:
    """What `jit` made of it."""
    compiled = srcjax.jit(transformed(work, work.function, srcjax))
    with at_once():
        compiled(*work.args)
    module = compiled.__srcjax_transform__.module_for(work.args, {})
    if module.stays:
        return "as it is"
    if module.blocks:  # without Numba
        return "NumPy in blocks"
    count = sum(bool(f.decorator_list) for f in module.functions)
    return f"{count} and Python" if module.whole is None else "one kernel"


def compare(works: list[Work], rounds: int) -> str:
    """One row per case; the last one has the geometric means.

    The first call may run the function itself; kernels are compiled before they are
    measured, and how long that takes is a column of its own.
    """
    rows, gains, leads = [], [], []
    for work in works:
        calls = calls_of(work)
        first = {peer: seconds(call) for peer, call in calls.items()}
        with at_once():
            compiling = seconds(calls[JIT])
        times = interleaved(calls, rounds)
        gains.append(times[OURS] / times[JIT])
        jax = times.get(JAX_JIT)
        if jax is not None:
            leads.append(jax / times[JIT])
        rows.append(
            [
                work.name,
                spell(times[OURS]),
                spell(times[JIT]),
                spell(jax),
                ratio(times[OURS], times[JIT]),
                ratio(jax, times[JIT]),
                spell(first[JIT]),
                spell(first.get(JAX_JIT)),
                spell(compiling),
                shape_of(work),
            ]
        )
    means = [f"{mean(gains):.2f}x", f"{mean(leads):.2f}x" if leads else "-"]
    rows.append(["geometric mean", "", "", "", *means, "", "", "", ""])
    head = ["case", OURS, JIT, JAX_JIT, "gain", "JAX / jit"]
    return table([*head, "first call", "JAX's", "compiling", "kernels"], rows)


def mean(values: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def report(quick: bool) -> dict[str, Callable[[], str]]:
    """A table for each family."""
    rounds = 5 if quick else 15
    return {
        name: lambda works=works: compare(works, rounds)
        for name, works in families(quick).items()
    }
