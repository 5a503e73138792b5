"""Kernels on a GPU: time of a call, and the share of the bandwidth that copies have.

Each call waits until the device is done. Beside `jit` of srcjax: the function as it is
with CuPy, JAX's `jit`, and `torch.compile`, each where it is installed and finds a GPU.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcjax

from .timing import interleaved, seconds, spell, table

OURS, CUPY, JAX, TORCH = "srcjax", "CuPy", "jax.jit", "torch.compile"
PEERS = (OURS, CUPY, JAX, TORCH)


@dataclass
class Case:
    """A function in the words of a module of arrays, and its arguments."""

    name: str
    #: `make(np)` gives the function; `np` is NumPy, `jax.numpy` or torch.
    make: Callable[[Any], Callable]
    args: tuple
    #: Bytes that have to be read and written at least; 0 where memory is no bound.
    least: int
    #: The arguments of its gradient, which is what is timed then.
    argnums: tuple[int, ...] = ()
    peers: tuple[str, ...] = PEERS


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


def column_means(np: Any) -> Callable:
    def f(x: Any) -> Any:
        return np.mean(x * x, axis=0)

    return f


def scaled(np: Any) -> Callable:
    def f(x: Any, y: Any) -> Any:
        return 2.0 * x + y

    return f


def softmax(np: Any) -> Callable:
    def f(x: Any) -> Any:
        e = np.exp(x - np.amax(x, axis=1, keepdims=True))
        return e / np.sum(e, axis=1, keepdims=True)

    return f


def layer_norm(np: Any) -> Callable:
    def f(x: Any, g: Any, b: Any) -> Any:
        m = np.mean(x, axis=1, keepdims=True)
        v = np.mean((x - m) ** 2, axis=1, keepdims=True)
        return (x - m) / np.sqrt(v + 1e-5) * g + b

    return f


def layer_norm_loss(np: Any) -> Callable:
    normal = layer_norm(np)

    def f(x: Any, g: Any, b: Any) -> Any:
        y = normal(x, g, b)
        return np.sum(y * y * y)

    return f


def network(np: Any) -> Callable:
    def f(W1: Any, b1: Any, W2: Any, b2: Any, x: Any, y: Any) -> Any:
        h = np.tanh(x @ W1 + b1)
        d = h @ W2 + b2 - y
        return np.mean(d * d)

    return f


def logistic(np: Any) -> Callable:
    def f(w: Any, X: Any, y: Any) -> Any:
        return np.mean(np.log1p(np.exp(-y * (X @ w))))

    return f


def heat(np: Any) -> Callable:
    def f(u: Any) -> Any:
        u = u.copy()
        for _ in range(20):
            u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return np.sum(u * u)

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
    """What is timed: whole steps, then chains, folds and rows by their size."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> np.ndarray:
        return random.standard_normal(shape, np.float32)

    found = []
    for batch, width in ((32, 64), (4096, 1024)):
        shapes = (
            (width, width),
            (width,),
            (width, 10),
            (10,),
            (batch, width),
            (batch, 10),
        )
        args = tuple(normal(*s) / 8 for s in shapes)
        name = f"gradient of a network {batch} x {width}"
        found.append(Case(name, network, args, 0, (0, 1, 2, 3)))
    for batch, width in ((100, 10), (10**5, 100)):
        args = normal(width) / 8, normal(batch, width), normal(batch)
        name = f"gradient of a logistic loss {batch} x {width}"
        found.append(Case(name, logistic, args, 0, (0,)))
    for n in (10**3, 10**6):
        name = f"gradient of 20 steps in place {n:.0e}"
        found.append(Case(name, heat, (normal(n),), 0, (0,), (OURS, CUPY)))
    sizes = [(np.float32, n) for n in (10**3, 10**5, 10**7, 10**8)]
    for dtype, n in sizes[:1] if quick else [*sizes, (np.float64, 10**7)]:
        large = dtype is np.float32 and n >= 10**7  # `torch.compile` takes seconds
        peers = PEERS if large else PEERS[:-1]
        least = n * np.dtype(dtype).itemsize
        x, y = normal(n).astype(dtype), normal(n).astype(dtype)
        width = min(1000, n // 10)
        rows, g, b = x.reshape(-1, width), x[:width], y[:width]

        def case(name: str, make: Callable, args: tuple, times: int, *of: int) -> Case:
            label = f"{name} {np.dtype(dtype).name} {n:.0e}"  # noqa: B023
            return Case(label, make, args, times * least, of, peers)  # noqa: B023

        found += [
            case("2x + y", scaled, (x, y), 3),
            case("chain", chain, (x,), 2),
            case("gradient of a chain", chain_sum, (x,), 2, 0),
            case("sum", total, (x,), 1),
            case("means of columns", column_means, (rows,), 1),
            case("softmax", softmax, (rows,), 2),
            case("layer norm", layer_norm, (rows, g, b), 2),
            case("gradient of layer norm", layer_norm_loss, (rows, g, b), 2, 0, 1, 2),
        ]
    return found


def calls_of(case: Case) -> dict[str, Callable[[], Any]]:
    """What is timed of each peer that is there; all wait for the device."""
    import cupy

    device = cupy.cuda.Device()
    given = srcjax.device_put(case.args)
    f = case.make(np)
    if case.argnums:
        f = srcjax.grad(f, argnums_of(case))

    def waiting(call: Callable) -> Callable[[], Any]:
        def run() -> Any:
            result = call(*given)
            device.synchronize()
            return result

        return run

    found = {OURS: waiting(srcjax.jit(f)), CUPY: waiting(f)}
    found[JAX], found[TORCH] = jax_call(case), torch_call(case)
    return {p: call for p, call in found.items() if p in case.peers and call}


def argnums_of(case: Case) -> int | tuple[int, ...]:
    return case.argnums if len(case.argnums) > 1 else case.argnums[0]


def jax_call(case: Case) -> Callable[[], Any] | None:
    """JAX's, on its GPU."""
    try:
        import jax

        jax.config.update("jax_enable_x64", True)
        place = jax.devices("gpu")[0]
    except (ImportError, RuntimeError):
        return None
    g = case.make(jax.numpy)
    compiled = jax.jit(jax.grad(g, argnums_of(case)) if case.argnums else g)
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
    torch._dynamo.reset()  # each case is compiled for its own sizes
    g = case.make(torch)
    if case.argnums:
        g = torch.func.grad(g, argnums_of(case))
    compiled = torch.compile(g)
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
    if srcjax.devices()[0].platform == "cpu":
        return "There is no GPU here, or no CuPy: nothing is timed."
    bandwidth = copies_per_second()
    head = ["case", *PEERS, "of the copy bandwidth", "first call", "JAX's first"]
    rows = []
    for case in cases(quick):
        rows.append(row_of(case, bandwidth, 5 if quick else 9))
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    rows += per_example(quick)
    return f"Copies: {bandwidth / 1e9:.0f} GB/s.\n\n{table(head, rows)}"


def row_of(case: Case, bandwidth: float, rounds: int) -> list[str]:
    """The times of a case; what a peer raises is told in the place of its time."""
    calls, first, cells = calls_of(case), {}, {}
    for peer, call in list(calls.items()):
        try:
            first[peer] = seconds(call)
        except Exception as error:
            cells[peer] = type(error).__name__
            del calls[peer]
    times = interleaved(calls, rounds)
    cells |= {peer: spell(taken) for peer, taken in times.items()}
    share = case.least / times[OURS] / bandwidth if OURS in times else 0.0
    return [
        case.name,
        *(cells.get(peer, "-") for peer in PEERS),
        f"{share:.0%}" if share else "-",
        spell(first.get(OURS)),
        spell(first.get(JAX)),
    ]


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
        rows.append([f"{name} {n:.0e}", spell(taken), *["-"] * 6])
    return rows
