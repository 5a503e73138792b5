"""Prints the tables: `python -m benchmarks [name] [--quick] [--threads N] [--save]`.

Names are `elementary`, `generation`, `gpu` (which says so where there is none), `grad`,
`jacobians`, `jit`, `orders` and `vmap`; without one, all are printed.

Where other work shares the cores, `--threads 1` gives steadier times: libraries that
wait for each other's threads are slow in a way that says nothing of the gradients. With
`--cpu-time` the time that other programs had the core for does not count either.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import os
import platform
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

import srcjax

from . import batches, cases, generation, jacobians, orders
from .cases import Case
from .peers import (
    AUTOGRAD,
    BY_HAND,
    JAX_EAGER,
    JAX_JIT,
    OURS,
    PEERS,
    available,
    call_of,
    calls_of,
    on_module,
    the_jax,
)
from .timing import CLOCK, interleaved, ratio, seconds, spell, table

RESULTS = Path(__file__).parent / "results"


# --- tables -----------------------------------------------------------------------


def compare(
    chosen: Iterable[Any],
    rounds: int,
    calls_of: Callable[[Any], dict[str, Callable[[], Any]]] = calls_of,
    peers: tuple[str, ...] = PEERS,
) -> str:
    """One row per case: each peer's time, and how many times the code by hand."""
    head = ["case", *peers, "compiling"]
    rows = []
    for case in chosen:
        calls, first, failed = working(calls_of(case))
        times = interleaved(calls, rounds)
        cells = [failed.get(p) or cell(times.get(p), times[BY_HAND]) for p in peers]
        rows.append([case.name, *cells, spell(first.get(JAX_JIT))])
    return table(head, rows)


def working(
    made: dict[str, Callable[[], Any]],
) -> tuple[dict[str, Callable[[], Any]], dict[str, float], dict[str, str]]:
    """Peers that run the case; the time of their first call; the errors of others."""
    calls, first, failed = {}, {}, {}
    for peer, call in made.items():
        try:
            first[peer] = seconds(call)
            calls[peer] = call
        except Exception as error:
            failed[peer] = type(error).__name__
    return calls, first, failed


def cell(duration: float | None, reference: float) -> str:
    """A time, and its ratio to the reference."""
    if duration is None:
        return "-"
    return f"{spell(duration)} ({ratio(duration, reference)})"


def growth(make: Callable[[int], Case], sizes: list[int], rounds: int, per: str) -> str:
    """The time per unit of size: constant where the cost is linear."""
    found = {n: interleaved(working(calls_of(make(n)))[0], rounds) for n in sizes}
    rows = [
        [
            f"{per} = {n}",
            *(spell(each[p] / n) if p in each else "-" for p in PEERS),
            ratio(each.get(OURS), each[BY_HAND]),
        ]
        for n, each in found.items()
    ]
    return table([f"time per {per}", *PEERS, "srcjax / by hand"], rows)


def memory(make: Callable[[int], Case], sizes: list[int]) -> str:
    """Most memory that one gradient takes, in arrays of the size of the argument."""
    rows = []
    for n in sizes:
        case = make(n)
        size = case.args[0].nbytes
        peaks = [peak_bytes(call_of(case, peer)) / size for peer in (BY_HAND, OURS)]
        derivative = srcjax.grad(case.function)
        copies = copies_in_loops(srcjax.source(derivative, *case.args))
        rows.append([case.name, *(f"{p:.1f}" for p in peaks), str(copies)])
    head = ["memory, in arrays", BY_HAND, OURS, "copies in loops of the text"]
    return table(head, rows)


def peak_bytes(call: Callable[[], Any]) -> int:
    """The most memory in use during a call, above what was in use before."""
    for _ in range(3):  # the second call writes the tests for the next ones
        call()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        call()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - before


def copies_in_loops(text: str) -> int:
    """How many calls of `copy` of a plain name stand in the loops of a text."""
    found = set()
    for loop in ast.walk(ast.parse(text)):
        if not isinstance(loop, ast.For | ast.While):
            continue
        for node in ast.walk(loop):
            match node:
                case ast.Call(func=ast.Attribute(value=ast.Name(), attr="copy")):
                    found.add((node.lineno, node.col_offset))
    return len(found)


# --- the first result -------------------------------------------------------------


def first_results(rounds: int) -> str:
    """From decorating the digits MLP to its first gradient, functions being new."""
    case = cases.digits_case()
    makers: dict[str, Callable[[FunctionType], Callable]] = {OURS: srcjax.grad}
    if available(JAX_JIT):
        jax = the_jax()
        makers[JAX_JIT] = lambda f: jax.jit(jax.grad(f))
        makers[JAX_EAGER] = jax.grad
    if available(AUTOGRAD):
        import autograd

        makers[AUTOGRAD] = autograd.grad
    modules = {OURS: np}
    if available(JAX_JIT):
        modules[JAX_JIT] = modules[JAX_EAGER] = the_jax().numpy
    if available(AUTOGRAD):
        import autograd.numpy

        modules[AUTOGRAD] = autograd.numpy
    times: dict[str, list[float]] = {peer: [] for peer in makers}
    for _ in range(max(3, rounds // 3)):
        for peer, make in makers.items():
            fresh = on_module(case.function, modules[peer])
            start = CLOCK["clock"]()
            make(fresh)(*case.args)
            times[peer].append(CLOCK["clock"]() - start)
    medians = {peer: statistics.median(found) for peer, found in times.items()}
    rows = [
        ["new functions, same process", *(spell(medians.get(p)) for p in PEERS[1:])],
        ["new process, after imports", spell(new_process()), *["-"] * 3],
    ]
    return table(["first gradient of the digits MLP", *PEERS[1:]], rows)


def new_process() -> float:
    """The same in a process of its own, which has imported srcjax and the function."""
    clock = CLOCK["clock"].__name__
    code = (
        "import time, srcjax; from benchmarks import cases; c = cases.digits_case()\n"
        f"t = time.{clock}(); srcjax.grad(c.function)(*c.args)\n"
        f"print(time.{clock}() - t)"
    )
    found = []
    for _ in range(3):
        run = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[1],
        )
        found.append(float(run.stdout))
    return statistics.median(found)


# --- dispatch ---------------------------------------------------------------------


def dispatch(rounds: int) -> str:
    """What a call costs beyond the generated function: `df(x)` without the `f`."""
    rows = []
    for case in (
        cases.scalar_case(),
        cases.network_case([4, 8, 2], 8),
        cases.network_case([4] * 20 + [2], 8),
    ):
        derivative = srcjax.grad(case.function)
        derivative(*case.args)
        (version,) = derivative.__srcjax_transform__.versions.values()
        raw, args = version.function, case.args
        times = interleaved(
            {
                "df(x)": lambda df=derivative, a=args: df(*a),
                "generated": lambda df=raw, a=args: df(*a),
                BY_HAND: lambda df=case.by_hand, a=args: df(*a),
            },
            rounds,
        )
        extra = times["df(x)"] - times["generated"]
        share = f"{max(extra, 0) / times['df(x)']:.0%}"
        columns = ("df(x)", "generated", BY_HAND)
        shown = [spell(times[each]) for each in columns]
        rows.append([case.name, *shown, spell(max(extra, 0)), share])
    head = ["case", "df(x)", "generated alone", BY_HAND, "dispatch", "share"]
    return table(head, rows)


# --- all of them ------------------------------------------------------------------


def grad_report(quick: bool) -> str:
    """Every table about `srcjax.grad`."""
    rounds = 5 if quick else 15
    large = [784, 512, 512, 10]
    lengths = [100, 1000] if quick else [100, 1000, 10000]
    sizes = [100, 1000] if quick else [100, 1000, 10000]
    main = [
        cases.scalar_case(),
        cases.network_case([4, 8, 2], 8),
        cases.digits_case(),
        cases.network_case(large, 256, np.float32),
        cases.chain_case(1000),
        cases.nesting_case(10),
        cases.sweep_case(1000),
        cases.trajectory_case(1000),
        cases.heat_case(10000),
    ]
    parts: list[tuple[str, Callable[[], str]]] = [
        ("Gradients", lambda: compare(main, rounds)),
        ("A loop", lambda: growth(cases.chain_case, lengths, rounds, "iteration")),
        (
            "Calls in calls",
            lambda: growth(cases.nesting_case, [*cases.DEEP], rounds, "depth"),
        ),
        (
            "Entries updated in place",
            lambda: growth(cases.sweep_case, sizes, rounds, "entry"),
        ),
        (
            "A trajectory in an array",
            lambda: growth(cases.trajectory_case, sizes, rounds, "step"),
        ),
        (
            "Memory",
            lambda: (
                memory(cases.sweep_case, sizes)
                + "\n\n"
                + memory(cases.heat_case, [1000, 100000])
            ),
        ),
        ("The first result", lambda: first_results(rounds)),
        ("Dispatch", lambda: dispatch(rounds)),
    ]
    return "\n\n".join(f"## {title}\n\n{attempt(make)}" for title, make in parts)


def attempt(make: Callable[[], str]) -> str:
    """The table, or why there is none; the other tables are printed all the same."""
    try:
        return make()
    except Exception as error:
        return f"failed: {type(error).__name__}: {str(error).splitlines()[0]}"


def machine() -> str:
    """What it ran on, in a line."""
    threads = os.environ.get(THREADS[0], "default")
    return (
        f"Python {platform.python_version()}, NumPy {np.__version__}, "
        f"{os.cpu_count()} cores, {threads} BLAS threads, {platform.machine()}"
    )


def orders_report(quick: bool) -> str:
    """Every table about derivatives of higher order."""
    parts: list[tuple[str, Callable[[], str]]] = [
        ("What is executed", lambda: orders.costs(5 if quick else 15)),
        ("The third derivative of the polynomial", orders.polynomials),
        ("The text of order 1 to 5", lambda: orders.growth(3 if quick else 5)),
    ]
    return "\n\n".join(f"## {title}\n\n{attempt(make)}" for title, make in parts)


def generation_report(quick: bool) -> str:
    """What it takes until the first derivative is there."""
    parts: list[tuple[str, Callable[[], str]]] = [
        ("A new process", lambda: generation.starts(quick)),
        ("The first call", lambda: generation.firsts(quick)),
        ("By the length of the function", lambda: generation.growth(quick)),
        ("Functions of packages", lambda: generation.of_packages(quick)),
    ]
    return "\n\n".join(f"## {title}\n\n{attempt(make)}" for title, make in parts)


def jacobians_report(quick: bool) -> str:
    """Jacobians and Hessians."""
    title = "Jacobians and Hessians: all columns at once, and one by one"
    return f"## {title}\n\n{attempt(lambda: jacobians.compare(5 if quick else 15))}"


def vmap_report(quick: bool) -> str:
    """What batched code takes, beside a person's."""
    chosen = batches.batch_cases(quick)
    return compare(chosen, 5 if quick else 15, batches.calls_of, batches.PEERS)


def elementary_report(quick: bool) -> str:
    """Functions of compiled loops; needs Numba."""
    from . import elementary

    parts = []
    for dtype in (np.float64, np.float32):
        made = attempt(lambda d=dtype: elementary.compare(d, 5 if quick else 15))
        parts.append(f"## {dtype.__name__}\n\n{made}")
    return "\n\n".join(parts)


def gpu_report(quick: bool) -> str:
    """Kernels on a GPU."""
    from . import gpu

    return attempt(lambda: gpu.compare(quick))


def jit_report(quick: bool) -> str:
    """Compiled functions; needs Numba."""
    from . import compiled

    parts = compiled.report(quick)
    return "\n\n".join(f"## {name}\n\n{attempt(make)}" for name, make in parts.items())


REPORTS = {
    "elementary": elementary_report,
    "generation": generation_report,
    "gpu": gpu_report,
    "grad": grad_report,
    "jacobians": jacobians_report,
    "jit": jit_report,
    "orders": orders_report,
    "vmap": vmap_report,
}
THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def again_with_threads(count: int) -> None:
    """Start anew: the libraries read how many threads to use when they are loaded."""
    for name in THREADS:
        os.environ[name] = str(count)
    if count == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    os.execv(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]])


def main() -> None:
    """Print the reports; write them only with `--save`."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*REPORTS, []], metavar="name")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and sizes")
    parser.add_argument("--threads", type=int, help="threads of BLAS and of JAX")
    parser.add_argument("--cpu-time", action="store_true", help="not the wall's clock")
    parser.add_argument("--save", action="store_true", help="write results/*.md")
    options = parser.parse_args()
    if options.threads and os.environ.get(THREADS[0]) != str(options.threads):
        again_with_threads(options.threads)
    kind = "times"
    if options.cpu_time:
        CLOCK["clock"], kind = time.process_time, "CPU times"
    for name in options.names or REPORTS:
        title = f"# {name}\n\nMedian {kind}, interleaved. {machine()}."
        report = f"{title}\n\n{REPORTS[name](options.quick)}\n"
        print(report, flush=True)
        if options.save:
            RESULTS.mkdir(exist_ok=True)
            path = RESULTS / f"{datetime.date.today().isoformat()}-{name}.md"
            path.write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
