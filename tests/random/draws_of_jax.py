"""The draws that are compared with JAX's, and how near they have to be.

`python -m tests.random.draws_of_jax` writes JAX's numbers to `draws_of_jax.npz`: to
compile them takes JAX a minute. A sweep compares them with those of the JAX that is
installed.
"""

from pathlib import Path

import numpy as np

RECORDED = Path(__file__).with_suffix(".npz")
SEED = 3
LOGITS = np.random.default_rng(0).normal(size=(4, 3, 5)).astype(np.float32)
ITEMS = np.arange(60, dtype=np.int32).reshape(3, 4, 5)
CHANCES = np.array([0.1, 0.2, 0.3, 0.25, 0.15], np.float32)
MEAN = np.array([1, 2, 3], np.float32)
COV = np.array([[2, 0.5, 0.1], [0.5, 1, 0.2], [0.1, 0.2, 0.7]], np.float32)
A = np.array([0.05, 0.3, 1, 2.5, 40], np.float32)
MEANS = np.array([0, 0.5, 3, 9.9, 10, 50, 400, -1, np.nan], np.float32)
TRIALS = np.array([5, 50, 1000, -1, 10000], np.float32)
SUCCESS = np.array([0.5, 0.7, 0.2, 0.3, 0.9], np.float32)
HIGHEST = np.uint32(2**32 - 1)

#: Draws that are equal bit for bit.
EXACT = {
    "split": lambda r, k: r.split(k, 5),
    "split in a shape": lambda r, k: r.split(k, (2, 3)),
    "fold_in": lambda r, k: r.fold_in(k, 7),
    "bits": lambda r, k: r.bits(k, (3, 5)),
    "bits, 8": lambda r, k: r.bits(k, (3, 5), np.uint8),
    "bits, 16": lambda r, k: r.bits(k, (3, 5), np.uint16),
    "uniform": lambda r, k: r.uniform(k, (20, 5)),
    "uniform, one": lambda r, k: r.uniform(k),
    "uniform, none": lambda r, k: r.uniform(k, (0, 3)),
    "uniform, half": lambda r, k: r.uniform(k, (20, 5), np.float16),
    "uniform between": lambda r, k: r.uniform(k, (1500,), minval=0.3, maxval=1.7),
    "uniform between, half": lambda r, k: r.uniform(k, (20,), np.float16, 0.3, 1.7),
    "uniform between arrays": lambda r, k: r.uniform(k, (2, 3), None, -MEAN, MEAN),
    "randint": lambda r, k: r.randint(k, (50,), -5, 1000),
    "randint, narrow": lambda r, k: r.randint(k, (50,), -5, np.array([3]), np.int8),
    "randint, all bytes": lambda r, k: r.randint(k, (50,), 0, 256, np.uint8),
    "randint, unsigned": lambda r, k: r.randint(k, (50,), 0, HIGHEST, np.uint32),
    "randint, one value": lambda r, k: r.randint(k, (50,), 5, 5),
    "bernoulli": lambda r, k: r.bernoulli(k, 0.3, (50,)),
    "bernoulli, chances": lambda r, k: r.bernoulli(k, CHANCES),
    "bernoulli, high": lambda r, k: r.bernoulli(k, 0.3, (50,), mode="high"),
    "rademacher": lambda r, k: r.rademacher(k, (50,)),
    "rademacher, float": lambda r, k: r.rademacher(k, (50,), np.float32),
    "permutation": lambda r, k: r.permutation(k, 100),
    "permutation of an axis": lambda r, k: r.permutation(k, ITEMS, axis=1),
    "permutation, independent": lambda r, k: r.permutation(k, ITEMS, 1, True),
    "choice": lambda r, k: r.choice(k, 10, (7, 3)),
    "choice of an axis": lambda r, k: r.choice(k, ITEMS, (2, 2), axis=2),
    "choice of all": lambda r, k: r.choice(k, ITEMS, (2, 2), replace=False, axis=2),
    "choice by chance": lambda r, k: r.choice(k, 5, (50,), p=CHANCES),
    "choice of all by chance": lambda r, k: r.choice(
        k, ITEMS, (2, 2), replace=False, p=CHANCES, axis=2
    ),
    "categorical": lambda r, k: r.categorical(k, LOGITS),
    "categorical, axis": lambda r, k: r.categorical(k, LOGITS, axis=1),
    "categorical, shape": lambda r, k: r.categorical(k, LOGITS, 0, (6, 3, 5)),
    "categorical, all": lambda r, k: r.categorical(
        k, LOGITS, shape=(3, 4, 3), replace=False
    ),
    "poisson": lambda r, k: r.poisson(k, MEANS, (20, 9)),
    "poisson of few": lambda r, k: r.poisson(k, np.float32(3), (50,)),
    "binomial": lambda r, k: r.binomial(k, TRIALS, SUCCESS, (20, 5)),
    "multinomial": lambda r, k: r.multinomial(k, np.float32(100), CHANCES),
    "geometric": lambda r, k: r.geometric(k, np.float32(0.2), (50,)),
}  # fmt: skip
#: Draws that go through `erfinv` and `log`: how many epsilons they may be apart, of the
#: larger of their size and 1.
CLOSE = {
    "normal": (4, lambda r, k: r.normal(k, (1500,))),
    "normal, half": (1, lambda r, k: r.normal(k, (50,), np.float16)),
    "normal, complex": (4, lambda r, k: r.normal(k, (50,), np.complex64)),
    "exponential": (2, lambda r, k: r.exponential(k, (500,))),
    "gumbel": (4, lambda r, k: r.gumbel(k, (500,))),
    "gumbel, high": (4, lambda r, k: r.gumbel(k, (500,), mode="high")),
    "laplace": (2, lambda r, k: r.laplace(k, (500,))),
    "logistic": (4, lambda r, k: r.logistic(k, (500,))),
    "cauchy": (8, lambda r, k: r.cauchy(k, (500,))),
    "truncated_normal": (4, lambda r, k: r.truncated_normal(k, -1.0, 2.0, (500,))),
    "truncated_normal, bounds": (4, lambda r, k: r.truncated_normal(k, -MEAN, np.inf)),
    "multivariate_normal": (8, lambda r, k: r.multivariate_normal(k, MEAN, COV, (50,))),
    "orthogonal": (32, lambda r, k: r.orthogonal(k, 4, (2,), m=3)),
    "gamma": (64, lambda r, k: r.gamma(k, A, (100, 5))),
    "loggamma": (64, lambda r, k: r.loggamma(k, A, (100, 5))),
    "beta": (64, lambda r, k: r.beta(k, A, A[::-1], (100, 5))),
    "dirichlet": (64, lambda r, k: r.dirichlet(k, A, (20,))),
    "t": (64, lambda r, k: r.t(k, A + 1, (20, 5))),
    "chisquare": (16, lambda r, k: r.chisquare(k, A)),
    "f": (16, lambda r, k: r.f(k, A, A[::-1])),
    "pareto": (16, lambda r, k: r.pareto(k, A + 1)),
    "rayleigh": (4, lambda r, k: r.rayleigh(k, A)),
    "wald": (32, lambda r, k: r.wald(k, A[:4], (20, 4))),
    "triangular": (4, lambda r, k: r.triangular(k, -1.0, 0.3, 2.0, (50,))),
    "lognormal": (4, lambda r, k: r.lognormal(k, 0.5, (50,))),
    "maxwell": (4, lambda r, k: r.maxwell(k, (50,))),
    "double_sided_maxwell": (8, lambda r, k: r.double_sided_maxwell(k, A, 2.0, (4,))),
    "weibull_min": (4, lambda r, k: r.weibull_min(k, 2.0, 3.0, (50,))),
    "generalized_normal": (8, lambda r, k: r.generalized_normal(k, 1.5, (50,))),
    "ball": (8, lambda r, k: r.ball(k, 3, 2.0, (20,))),
}  # fmt: skip
DOUBLE = {
    "bits": (0, lambda r, k: r.bits(k, (3, 5), np.uint64)),
    "uniform": (0, lambda r, k: r.uniform(k, (40,), np.float64)),
    "uniform between": (0, lambda r, k: r.uniform(k, (400,), np.float64, 0.3, 1.7)),
    "randint": (0, lambda r, k: r.randint(k, (50,), -5, 10**15, np.int64)),
    "normal": (16, lambda r, k: r.normal(k, (1500,), np.float64)),
    "exponential": (
        128,  # its `log1p` is not exact there
        lambda r, k: r.exponential(k, (400,), np.float64),
    ),
    "gumbel": (4, lambda r, k: r.gumbel(k, (400,), np.float64)),
    "truncated_normal": (
        16,
        lambda r, k: r.truncated_normal(k, -1.0, 2.0, (400,), np.float64),
    ),
    "multivariate_normal": (
        64,
        lambda r, k: r.multivariate_normal(
            k, MEAN.astype(float), COV.astype(float), (50,), np.float64
        ),
    ),
}

F = np.float32
SOME = np.array([0.3, 1.5, 4], F)
LOW = np.linspace(-1, 0, 4, dtype=F)
SMALL_COV = np.array([[2, 0.5], [0.5, 1]], F)
WEIGHTS = np.arange(4, dtype=F)
#: Functions of parameters whose gradients JAX has too.
GRADIENTS = {
    "uniform": (
        lambda r, k, a, b: (r.uniform(k, (4,), minval=a, maxval=b) ** 2).sum(),
        (LOW, F(2)),
    ),
    "truncated_normal": (
        lambda r, k, a, b: (r.truncated_normal(k, a, b) ** 2).sum(),
        (LOW, F(2)),
    ),
    "truncated_normal, open": (
        lambda r, k, a, b: (r.truncated_normal(k, a, b) ** 2).sum(),
        (F(-np.inf), np.array([1, 2], F)),
    ),
    "multivariate_normal": (
        lambda r, k, a, b: (r.multivariate_normal(k, a, b, (3,)) ** 3).sum(),
        (np.array([1, 2], F), SMALL_COV),
    ),
    "permutation": (lambda r, k, x: (r.permutation(k, x) * WEIGHTS).sum(), (LOW,)),
    "choice": (lambda r, k, x: (r.choice(k, x, (3,)) ** 2).sum(), (LOW,)),
    "gamma": (lambda r, k, a: (r.gamma(k, a, (4, 3)) ** 2).sum(), (SOME,)),
    "loggamma": (lambda r, k, a: (r.loggamma(k, a) ** 2).sum(), (SOME,)),
    "beta": (lambda r, k, a, b: (r.beta(k, a, b) ** 2).sum(), (SOME, F(2))),
    "dirichlet": (lambda r, k, a: (r.dirichlet(k, a, (2,)) ** 2).sum(), (SOME,)),
    "t": (lambda r, k, a: (r.t(k, a) ** 2).sum(), (SOME + 3,)),
    "chisquare": (lambda r, k, a: r.chisquare(k, a).sum(), (SOME,)),
    "f": (lambda r, k, a, b: r.f(k, a, b).sum(), (SOME, SOME + 5)),
    "pareto": (lambda r, k, a: r.pareto(k, a).sum(), (SOME + 1,)),
    "rayleigh": (lambda r, k, a: (r.rayleigh(k, a) ** 2).sum(), (SOME,)),
    "wald": (lambda r, k, a: (r.wald(k, a) ** 2).sum(), (SOME,)),
    "triangular": (
        lambda r, k, a, b, c: (r.triangular(k, a, b, c, (5,)) ** 2).sum(),
        (F(-1), F(0.2), F(2)),
    ),
    "lognormal": (lambda r, k, a: r.lognormal(k, a).sum(), (SOME,)),
    "double_sided_maxwell": (
        lambda r, k, a, b: (r.double_sided_maxwell(k, a, b, (2,)) ** 2).sum(),
        (SOME, F(2)),
    ),
    "weibull_min": (
        lambda r, k, a, b: (r.weibull_min(k, a, b, (3,)) ** 2).sum(),
        (SOME, F(2)),
    ),
    "generalized_normal": (
        lambda r, k, a: (r.generalized_normal(k, a, (3,)) ** 2).sum(),
        (F(1.5),),
    ),
    "ball": (lambda r, k, a: (r.ball(k, 3, a, (2,)) ** 3).sum(), (F(1.5),)),
}


def drawn_by_jax():
    """What JAX draws, by name, in 64 bits after "64: ", and gradients after "d: "."""
    import jax
    from jax import random

    def draw(key):
        close = {name: call(random, key) for name, (_, call) in CLOSE.items()}
        return {name: call(random, key) for name, call in EXACT.items()} | close

    def draw_double(key):
        return {f"64: {n}": call(random, key) for n, (_, call) in DOUBLE.items()}

    def draw_wide(key):
        return {f"wide: {name}": value for name, value in draw(key).items()}

    def gradient(f, args):
        count = range(len(args))
        return jax.grad(lambda *a: f(random, key, *a), tuple(count))(*args)

    key = random.PRNGKey(SEED)
    found = jax.jit(draw)(key)
    for name, (f, args) in GRADIENTS.items():
        for k, value in enumerate(gradient(f, args)):
            found[f"d: {name}, {k}"] = value
    with jax.enable_x64(True):
        found = found | jax.jit(draw_double)(random.PRNGKey(SEED))
        found = found | jax.jit(draw_wide)(random.PRNGKey(SEED))
    return {name: np.asarray(value) for name, value in found.items()}


if __name__ == "__main__":
    np.savez_compressed(RECORDED, **drawn_by_jax())
