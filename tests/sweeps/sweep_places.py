"""`x.at[i]` at random places, in and out of bounds, beside JAX, in each transform."""

import importlib.util

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import srcjax
from srcjax import at

SHAPE = (4, 3, 5)
METHODS = ("set", "add", "multiply", "divide", "power", "min", "max")
KINDS = ("int", "np", "array", "matrix", "slice", "back", "uint8", "int8")


def part(rng, n, kind):
    """One part of an index, for an axis of `n` places."""
    least, above = (-2 * n, 2 * n) if rng.random() < 0.6 else (-n, n)
    if kind == "int":
        return int(rng.integers(least, above))
    if kind == "np":
        return np.int64(rng.integers(least, above))
    if kind == "slice":
        start, stop = sorted(map(int, rng.integers(-n, 2 * n, 2)))
        return slice(start, stop, int(rng.integers(1, 3)))
    if kind == "back":
        return slice(None, None, -1)
    if kind == "uint8":
        return rng.integers(0, 2 * n, 3).astype(np.uint8)
    return rng.integers(least, above, (2, 3) if kind == "matrix" else 3).astype(
        np.int8 if kind == "int8" else np.int64
    )


def index_of(rng):
    """An index of any kind."""
    drawn = rng.random()
    if drawn < 0.1:
        return rng.random(SHAPE[: int(rng.integers(1, 4))]) < 0.5
    kinds = rng.choice(KINDS, int(rng.integers(1, 4)))
    parts = [part(rng, n, kind) for n, kind in zip(SHAPE, kinds, strict=False)]
    if drawn < 0.25:
        parts.insert(int(rng.integers(0, len(parts) + 1)), None)
    elif drawn < 0.4:
        parts.append(...)
    return parts[0] if len(parts) == 1 and rng.random() < 0.7 else tuple(parts)


def options_of(rng):
    options = {}
    if rng.random() < 0.5:
        options["mode"] = str(rng.choice(["drop", "fill", "clip"]))
    if rng.random() < 0.2:
        options["wrap_negative_indices"] = False
    return options


def same(ours, theirs, **tolerance):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, **tolerance)


def outcome(call, *args):
    try:
        return call(*args)
    except (IndexError, TypeError, ValueError) as error:
        return error


@pytest.mark.parametrize("seed", range(40))
def test_values(seed):
    rng = np.random.default_rng(seed)
    with jax.enable_x64(True):
        for _ in range(5):
            x, index, options = (
                rng.uniform(0.5, 2, SHAPE),
                index_of(rng),
                options_of(rng),
            )
            for method in ("get", *METHODS):
                given = () if method == "get" else (1.3,)
                theirs = outcome(
                    lambda: getattr(jnp.asarray(x).at[index], method)(*given, **options)  # noqa: B023
                )
                ours = outcome(
                    lambda: getattr(at(x)[index], method)(*given, **options)  # noqa: B023
                )
                assert isinstance(ours, Exception) == isinstance(theirs, Exception)
                if not isinstance(ours, Exception):
                    same(ours, theirs)


TEXT = """import numpy as np


def f(x, v, index):
    return np.sin(x.at[index].{call}) * v


def total(x, v, index):
    return np.sum(f(x, v, index))
"""


def module_of(folder, call):
    """A function that makes one call of `x.at[index]`, from a file."""
    path = folder / "at_places.py"
    path.write_text(TEXT.format(call=call))
    spec = importlib.util.spec_from_file_location("at_places", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(48))
@pytest.mark.filterwarnings("ignore::srcjax.PerformanceWarning")
def test_transforms(seed, tmp_path):
    rng = np.random.default_rng(1000 + seed)
    x, v, t = rng.uniform(0.5, 2, SHAPE), 1.3, rng.normal(size=SHAPE)
    index, options = index_of(rng), options_of(rng)
    method = str(rng.choice(["get", "set", "add", "set", "add", *METHODS]))
    given = ["v"] if method != "get" else []
    given += [f"{name}={value!r}" for name, value in options.items()]
    module = module_of(tmp_path, f"{method}({', '.join(given)})")

    def theirs(x, v):
        args = () if method == "get" else (v,)
        return jnp.sin(getattr(x.at[index], method)(*args, **options)) * v

    with jax.enable_x64(True):
        wanted = outcome(theirs, jnp.asarray(x), v)
        if isinstance(wanted, Exception):
            with pytest.raises((IndexError, TypeError, ValueError, srcjax.SrcjaxError)):
                srcjax.jit(module.f)(x, v, index)
            return
        if seed % 4 == 0:
            same(srcjax.jit(module.f)(x, v, index), wanted)
            return
        if seed % 4 == 1:
            same(srcjax.vmap(module.f, (0, None, None))(x[None], v, index)[0], wanted)
            return
        try:
            y, dy = jax.jvp(theirs, (jnp.asarray(x), v), (jnp.asarray(t), 0.7))
            _, pullback = jax.vjp(theirs, jnp.asarray(x), v)
            dx, dv = pullback(jnp.ones_like(y))
        except NotImplementedError:  # JAX differentiates these for unique places alone
            return
    if seed % 4 == 2:
        found = srcjax.jvp(module.f, (x, v, index), (t, 0.7, None))
        same(found[0], y)
        same(found[1], dy)
        return
    ours_dx, ours_dv = srcjax.grad(module.total, (0, 1))(x, v, index)
    same(ours_dx, dx)
    same(ours_dv, dv)
