"""How each peer computes the gradient of a case. A peer that is missing is left out."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import srcjax

from .cases import Case

BY_HAND = "by hand"
OURS = "srcjax"
JAX_JIT = "JAX jit"
JAX_EAGER = "JAX eager"
AUTOGRAD = "autograd"
PEERS = (BY_HAND, OURS, JAX_JIT, JAX_EAGER, AUTOGRAD)

Call = Callable[[], Any]


def available(peer: str) -> bool:
    """Whether what the peer needs is installed."""
    needs = {JAX_JIT: "jax", JAX_EAGER: "jax", AUTOGRAD: "autograd"}
    return peer not in needs or importlib.util.find_spec(needs[peer]) is not None


def calls_of(case: Case, peers: tuple[str, ...] = PEERS) -> dict[str, Call]:
    """For each peer that can run the case, a function that computes the gradient."""
    return {
        peer: call_of(case, peer)
        for peer in peers
        if peer not in case.without and available(peer)
    }


def call_of(case: Case, peer: str) -> Call:
    """A function without arguments that computes the gradient with this peer."""
    makers = {
        BY_HAND: by_hand,
        OURS: with_srcjax,
        JAX_JIT: with_jax_jit,
        JAX_EAGER: with_jax,
        AUTOGRAD: with_autograd,
    }
    return makers[peer](case)


def by_hand(case: Case) -> Call:
    gradient, args = case.by_hand, case.args
    return lambda: gradient(*args)


def with_srcjax(case: Case) -> Call:
    gradient, args = srcjax.grad(case.function), case.args
    return lambda: gradient(*args)


def with_jax_jit(case: Case) -> Call:
    jax = the_jax()
    whole = tuple(i for i, arg in enumerate(case.args) if isinstance(arg, int))
    gradient = jax.jit(jax.grad(jax_function(case)), static_argnums=whole)
    args = jax_arguments(case)
    return lambda: jax.block_until_ready(gradient(*args))


def with_jax(case: Case) -> Call:
    jax = the_jax()
    gradient, args = jax.grad(jax_function(case)), jax_arguments(case)
    return lambda: jax.block_until_ready(gradient(*args))


def with_autograd(case: Case) -> Call:
    import autograd
    import autograd.numpy

    function = on_module(case.function, autograd.numpy)
    gradient, args = autograd.grad(function), case.args
    return lambda: gradient(*args)


def the_jax() -> Any:
    """JAX in double precision, on the CPU like the others."""
    import jax
    import jax.numpy

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_platforms", "cpu")
    return jax


def jax_function(case: Case) -> Callable[..., Any]:
    """The function of the case on `jax.numpy`."""
    jax = the_jax()
    if case.for_jax is not None:
        return case.for_jax(jax)
    return on_module(case.function, jax.numpy)


def jax_arguments(case: Case) -> tuple:
    """The arguments on JAX's device, so that no call pays for moving them."""
    jax = the_jax()
    return tuple(
        arg if isinstance(arg, int) else jax.device_put(arg) for arg in case.args
    )


def on_module(function: FunctionType, numpy: Any) -> FunctionType:
    """A copy of a function, and of those it calls, with another `np` and `math`."""
    world: dict[str, Any] = dict(function.__globals__)
    world.update(np=numpy, math=numpy)
    done: dict[int, FunctionType] = {}

    def copied(original: FunctionType) -> FunctionType:
        if id(original) not in done:
            done[id(original)] = FunctionType(
                original.__code__,
                world,
                original.__name__,
                original.__defaults__,
                original.__closure__ and tuple(map(cell, original.__closure__)),
            )
        return done[id(original)]

    def cell(original: Any) -> Any:
        value = original.cell_contents
        if isinstance(value, FunctionType):
            value = copied(value)
        return type(original)(value)

    own = vars(sys.modules[function.__module__])
    for name, value in own.items():
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            world[name] = copied(value)
    return copied(function)
