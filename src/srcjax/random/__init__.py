"""Random numbers with explicit keys: JAX's functions, and JAX's numbers."""

from srcjax.random.continuous import cauchy, exponential, gumbel, laplace, logistic
from srcjax.random.keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_impl,
    split,
    wrap_key_data,
)
from srcjax.random.normals import (
    multivariate_normal,
    normal,
    orthogonal,
    truncated_normal,
)
from srcjax.random.orders import choice, permutation
from srcjax.random.uniforms import bits, uniform
from srcjax.random.whole import (
    bernoulli,
    categorical,
    geometric,
    rademacher,
    randint,
)

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "clone",
    "exponential",
    "fold_in",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_impl",
    "laplace",
    "logistic",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "permutation",
    "rademacher",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
    "wrap_key_data",
]
