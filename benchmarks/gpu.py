"""Kernels on a GPU: time of a call, and the share of the bandwidth that copies have.

Each call waits until the device is done. Beside `jit` of srcjax: the function as it is
with CuPy, JAX's `jit`, and `torch.compile`, each where it is installed and finds a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcjax

from .timing import interleaved, spell, table

OURS, CUPY, JAX, TORCH = "srcjax", "CuPy", "jax.jit", "torch.compile"
PEERS = (OURS, CUPY, JAX, TORCH)


@dataclass
class Case:
    """A function in the words of a module of arrays, and its arguments."""

    name: str
    #: `make(np)` gives the function; `np` is NumPy, `jax.numpy` or torch.
    make: Callable[[Any], Callable]
    args: tuple
    #: Bytes that have to be read and written at least.
    least: int
    peers: tuple[str, ...] = PEERS
    #: Whether its gradient is timed.
    gradient: bool = False


def chain(np: Any) -> Callable:
    def f(x: Any) -> Any:
        return np.tanh(np.exp(-(x * x)) * x + 1 / (1 + np.exp(-x)))

    return f


def chain_sum(np: Any) -> Callable:
    def f(x: Any) -> Any:
        return np.sum(np.tanh(np.exp(-(x * x)) * x + 1 / (1 + np.exp(-x))))

    return f


def total(np: Any) -> Callable:
    def f(x: Any) -> Any:
        return np.sum(x * x)

    return f


def scaled(np: Any) -> Callable:
    def f(x: Any, y: Any) -> Any:
        return 2.0 * x + y

    return f


def softmax(np: Any) -> Callable:
    highest = np.amax if hasattr(np, "compile") else np.max
    keep = {"keepdim" if hasattr(np, "compile") else "keepdims": True}

    def f(x: Any) -> Any:
        e = np.exp(x - highest(x, 1, **keep))
        return e / np.sum(e, 1, **keep)

    return f


def softmax_of_numpy(np: Any) -> Callable:
    def f(x: Any) -> Any:
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        return e / np.sum(e, axis=1, keepdims=True)

    return f


def kepler(M: Any, e: Any) -> Any:
    E = M
    for _ in range(50):
        d = (E - e * np.sin(E) - M) / (1 - e * np.cos(E))
        E = E - d
        if abs(d) < 1e-10:
            break
    return E


def cases(quick: bool) -> list[Case]:
    """What is timed."""
    random = np.random.default_rng(0)
    found = []
    for dtype in (np.float32, np.float64):
        size = np.dtype(dtype).itemsize
        for n in (10**5, 10**7) if not quick else (10**5,):
            x, y = (random.normal(size=n).astype(dtype) for _ in range(2))
            rows = x[: n // 1000 * 1000].reshape(-1, 1000)
            label = f"{np.dtype(dtype).name} {n:.0e}"
            found += [
                Case(f"2x + y {label}", scaled, (x, y), 3 * n * size),
                Case(f"chain {label}", chain, (x,), 2 * n * size),
                Case(f"sum {label}", total, (x,), n * size),
                Case(
                    f"gradient of a chain {label}",
                    chain_sum,
                    (x,),
                    2 * n * size,
                    (OURS, JAX),
                    gradient=True,
                ),
                Case(f"softmax {label}", softmax_of_numpy, (rows,), 2 * n * size),
            ]
    return found


def calls_of(case: Case) -> dict[str, Callable[[], Any]]:
    """What is timed of each peer that is there; all wait for the device."""
    found: dict[str, Callable[[], Any]] = {}
    import cupy

    device = cupy.cuda.Device()
    given = srcjax.device_put(case.args)
    f = case.make(np)
    own = srcjax.jit(srcjax.grad(f) if case.gradient else f)

    def waiting(call: Callable, args: tuple) -> Callable[[], Any]:
        def run() -> Any:
            result = call(*args)
            device.synchronize()
            return result

        return run

    found[OURS] = waiting(own, given)
    if CUPY in case.peers:
        found[CUPY] = waiting(f, given)
    if JAX in case.peers:
        made = jax_call(case)
        if made is not None:
            found[JAX] = made
    if TORCH in case.peers:
        made = torch_call(case)
        if made is not None:
            found[TORCH] = made
    return found


def jax_call(case: Case) -> Callable[[], Any] | None:
    """JAX's, on its GPU."""
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        place = jax.devices("gpu")[0]
    except (ImportError, RuntimeError):
        return None
    g = case.make(jax.numpy)
    compiled = jax.jit(jax.grad(g) if case.gradient else g)
    args = [jax.device_put(a, place) for a in case.args]
    return lambda: jax.block_until_ready(compiled(*args))


def torch_call(case: Case) -> Callable[[], Any] | None:
    """PyTorch's, compiled."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.cuda.is_available():
        return None
    make = softmax if case.make is softmax_of_numpy else case.make
    compiled = torch.compile(make(torch))
    args = [torch.from_numpy(a).cuda() for a in case.args]

    def run() -> Any:
        result = compiled(*args)
        torch.cuda.synchronize()
        return result

    return run


def copies_per_second() -> float:
    """Bytes that copies of large arrays read and write in a second."""
    import cupy

    source = cupy.zeros(2**27, np.float32)
    target = cupy.empty_like(source)
    device = cupy.cuda.Device()

    def copy() -> None:
        cupy.copyto(target, source)
        device.synchronize()

    return 2 * source.nbytes / interleaved({"copy": copy}, 15)["copy"]


def compare(quick: bool) -> str:
    """One row per case; a line of why there is none, without a GPU."""
    if len(srcjax.devices()) == 1:
        return "There is no GPU here, or no CuPy: nothing is timed."
    bandwidth = copies_per_second()
    head = ["case", *PEERS, "of the copy bandwidth"]
    rows = []
    for case in cases(quick):
        times = interleaved(calls_of(case), 5 if quick else 15)
        share = case.least / times[OURS] / bandwidth
        cells = [spell(times.get(p)) for p in PEERS]
        rows.append([case.name, *cells, f"{share:.0%}"])
    rows += per_example(quick)
    return f"Copies: {bandwidth / 1e9:.0f} GB/s.\n\n{table(head, rows)}"


def per_example(quick: bool) -> list[list[str]]:
    """Kepler's equation for many orbits, each until it has converged; the gradient."""
    import cupy

    n = 10**5 if quick else 10**6
    random = np.random.default_rng(0)
    args = srcjax.device_put((random.uniform(0, 3, n), random.uniform(0, 0.8, n)))
    device = cupy.cuda.Device()
    rows = []
    for name, f in (("Kepler", kepler), ("its gradient", srcjax.grad(kepler))):
        compiled = srcjax.jit(srcjax.vmap(f))

        def run(compiled: Callable = compiled) -> None:
            compiled(*args)
            device.synchronize()

        taken = interleaved({OURS: run}, 5 if quick else 15)[OURS]
        rows.append([f"{name} {n:.0e}", spell(taken), "-", "-", "-", "-"])
    return rows
