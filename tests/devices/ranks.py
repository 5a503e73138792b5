"""What a process does that `mpiexec` starts: `mpiexec -n 2 python ranks.py values`."""

import os
import signal
import sys

import numpy as np

import srcjax
from srcjax import lax, pmap, vmap

srcjax.distributed.initialize()
ME, COUNT = srcjax.process_index(), srcjax.process_count()


def all_of_them(x):
    many = lax.axis_size("i")
    ring = [(k, (k + 1) % many) for k in range(many)]
    return {
        "index": lax.axis_index("i"),
        "sums": (lax.psum(x, "i"), lax.psum(2.0, "i"), lax.psum(x[0, 0], "i")),
        "counts": (lax.psum(x > 0, "i"), lax.psum(1, "i")),
        "single": lax.psum(x.astype(np.float32), "i"),
        "others": (lax.pmean(x, "i"), lax.pmax(x, "i"), lax.pmin(x > 0, "i")),
        "gathered": (
            lax.all_gather(x, "i"),
            lax.all_gather(x, "i", axis=1, tiled=True),
        ),
        "parts": (
            lax.psum_scatter(x, "i"),
            lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True),
        ),
        "passed": (
            lax.ppermute(x, "i", ring),
            lax.ppermute(x[0, 0], "i", [(0, many - 1)]),
        ),
        "exchanged": (
            lax.all_to_all(x, "i", 0, 1),
            lax.all_to_all(x, "i", 0, 1, tiled=True),
        ),
    }


def values(local):
    """Each collective beside that of a `vmap` over all devices."""
    srcjax.config.update("jax_num_cpu_devices", local)
    many = COUNT * local
    assert (srcjax.device_count(), srcjax.local_device_count()) == (many, local)
    mine = slice(ME * local, (ME + 1) * local)
    assert [d.id for d in srcjax.local_devices()] == list(range(many))[mine]
    x = np.random.default_rng(0).normal(size=(many, many, 2 * many))
    ours = pmap(all_of_them, axis_name="i")(x[mine])
    expected = vmap(all_of_them, axis_name="i")(x)
    for a, b in zip(*map(srcjax.tree.leaves, (ours, expected)), strict=True):
        rtol = 1e-5 if b.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(a, b[mine], rtol=rtol, atol=rtol)


def total(x):
    return lax.psum(x, "i")


def gradients(local):
    """Derivatives inside and outside, beside those of a `vmap`."""

    def f(x):
        return np.sum(np.sin(x) * lax.psum(x, "i") ** 2)

    mine = slice(ME * local, (ME + 1) * local)
    x = np.random.default_rng(0).normal(size=(COUNT * local, 3))
    inner = pmap(srcjax.grad(f), axis_name="i")(x[mine])
    outer = srcjax.grad(lambda x: pmap(f, axis_name="i")(x).sum())(x[mine])
    expected = srcjax.grad(lambda x: vmap(f, axis_name="i")(x).sum())(x)
    np.testing.assert_allclose(inner, expected[mine], rtol=1e-9)
    np.testing.assert_allclose(outer, expected[mine], rtol=1e-9)


def dies(how):
    """The last process goes its own way in the fourth step of ten."""
    x = np.ones((1, 3))
    for k in range(10):
        if k == 3 and ME == COUNT - 1:
            if how == "raises":
                raise ValueError("a bad batch")
            if how == "raises inside":
                pmap(lambda x: np.linalg.inv(np.zeros((2, 2))) @ x)(np.ones((1, 2)))
            if how == "ends":
                sys.exit(0)
            if how == "is killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "differs":
                pmap(lambda x: lax.pmax(x, "i"), axis_name="i")(x)
        pmap(total, axis_name="i")(x)


if __name__ == "__main__":
    if sys.argv[1] == "values":
        values(int(sys.argv[2]))
        gradients(int(sys.argv[2]))
        print(f"process {ME} is done")
    else:
        dies(sys.argv[1])
