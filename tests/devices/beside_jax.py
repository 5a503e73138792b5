"""`pmap` beside JAX's on four devices of the CPU (`XLA_FLAGS` says how many)."""

import jax
import jax.numpy as jnp
import numpy as np

import srcjax

jax.config.update("jax_enable_x64", True)
X = np.random.default_rng(0).normal(size=(4, 4, 3))
TILED = np.random.default_rng(1).normal(size=(4, 8, 4))
W = np.random.default_rng(2).normal(size=(3, 3))
#: JAX has none, or fails: `tests/api/test_spread.py` has those of `vmap`.
WITHOUT_DERIVATIVE = ("pmax", "pmin", "all_to_all at")
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def programs(lax, np):
    """Functions of what one device gets, in terms of a library."""
    return {
        "psum": lambda x: lax.psum(x, "i"),
        "psum of a number": lambda x: x * lax.psum(2, "i"),
        "pmean": lambda x: lax.pmean(x, "i"),
        "pmax": lambda x: lax.pmax(x, "i"),
        "pmin": lambda x: lax.pmin(x, "i"),
        "all_gather": lambda x: lax.all_gather(x, "i"),
        "all_gather at": lambda x: lax.all_gather(x, "i", axis=1),
        "all_gather tiled": lambda x: lax.all_gather(x, "i", axis=1, tiled=True),
        "psum_scatter": lambda x: lax.psum_scatter(x, "i"),
        "psum_scatter tiled": lambda x: lax.psum_scatter(
            x, "i", scatter_dimension=0, tiled=True
        ),
        "ppermute": lambda x: lax.ppermute(x, "i", RING),
        "ppermute of some": lambda x: lax.ppermute(x, "i", [(0, 3), (3, 1)]),
        "pshuffle": lambda x: lax.pshuffle(x, "i", [2, 3, 1, 0]),
        "all_to_all": lambda x: lax.all_to_all(x, "i", 0, 0),
        "all_to_all at": lambda x: lax.all_to_all(x, "i", 0, 1),
        "pswapaxes": lambda x: lax.pswapaxes(x, "i", 0),
        "axis_index": lambda x: x * lax.axis_index("i"),
        "axis_size": lambda x: x / lax.axis_size("i"),
        "norm": lambda x: (x - lax.pmean(x, "i")) / np.sqrt(lax.psum(x * x, "i")),
    }


def in_parts(lax):
    return {
        "all_to_all 0 1": lambda x: lax.all_to_all(x, "i", 0, 1, tiled=True),
        "all_to_all 1 0": lambda x: lax.all_to_all(x, "i", 1, 0, tiled=True),
        "all_to_all 0 0": lambda x: lax.all_to_all(x, "i", 0, 0, tiled=True),
    }


def same(name, ours, theirs):
    """The leaves of two results are equal in shape and value."""
    one, two = jax.tree.leaves(ours), jax.tree.leaves(theirs)
    assert [np.shape(a) for a in one] == [np.shape(b) for b in two], name
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11, err_msg=name)


def inside(name, f, theirs, x):
    """The value on each device, and a gradient there."""
    same(name, srcjax.pmap(f, "i")(x), jax.pmap(theirs, "i")(x))

    def g(x):
        return np.sum(np.sin(f(x * x)) * x[0, 0])

    def h(x):
        return jnp.sum(jnp.sin(theirs(x * x)) * x[0, 0])

    ours = srcjax.pmap(srcjax.grad(g), "i")(x)
    if name not in WITHOUT_DERIVATIVE:
        same(f"grad of {name}", ours, jax.pmap(jax.grad(h), "i")(x))


def outside(name, f, theirs, x):
    """The gradient of what calls `pmap`, and a direction."""
    ours, other = srcjax.pmap(f, "i"), jax.pmap(theirs, "i")

    def g(x):
        return np.sum(np.sin(ours(x * x)))

    def h(x):
        return jnp.sum(jnp.sin(other(x * x)))

    same(f"grad through {name}", srcjax.grad(g)(x), jax.grad(h)(x))
    along = srcjax.jvp(g, (x,), (x[::-1].copy(),))
    same(f"jvp through {name}", along, jax.jvp(h, (x,), (x[::-1],)))


def of_weights(srcjax, lax, np):
    """Of rows and of weights that all devices have."""

    def layer(x, w):
        h = np.tanh(x @ w)
        return h * lax.psum(np.sum(h), "i") + lax.pmean(h, "i")

    spread = srcjax.pmap(layer, axis_name="i", in_axes=(0, None))
    return srcjax.grad(lambda x, w: np.sum(np.sin(spread(x, w))), argnums=(0, 1))


def compiled():
    """`jit` inside and around."""

    def f(x):
        return np.sum(np.sin(x) * srcjax.lax.pmean(x, "i"))

    plain = srcjax.pmap(f, "i")(X)
    same("pmap of jit", srcjax.pmap(srcjax.jit(f), "i")(X), plain)
    same("jit of pmap", srcjax.jit(srcjax.pmap(f, "i"))(X), plain)
    gradients = srcjax.pmap(srcjax.grad(f), "i")(X)
    same("of grad", srcjax.pmap(srcjax.jit(srcjax.grad(f)), "i")(X), gradients)


def main():
    assert jax.device_count() == srcjax.device_count() == 4
    theirs = programs(jax.lax, jnp)
    for name, f in programs(srcjax.lax, np).items():
        inside(name, f, theirs[name], X)
        if name not in WITHOUT_DERIVATIVE:
            outside(name, f, theirs[name], X)
    theirs = in_parts(jax.lax)
    for name, f in in_parts(srcjax.lax).items():
        inside(name, f, theirs[name], TILED)
    compiled()
    ours = of_weights(srcjax, srcjax.lax, np)(X, W)
    same("of weights", ours, of_weights(jax, jax.lax, jnp)(X, W))
    print("all the same")


if __name__ == "__main__":
    main()
