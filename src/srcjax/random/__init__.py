"""Random numbers with explicit keys: JAX's functions, and JAX's numbers.

Draws are of the class `srcjax.Array`; keys are plain arrays.
"""

from srcjax.analysis.arrays import giving_arrays, stand_for
from srcjax.random.continuous import cauchy, exponential, gumbel, laplace, logistic
from srcjax.random.counts import binomial, multinomial, poisson
from srcjax.random.gammas import (
    beta,
    dirichlet,
    gamma,
    gamma_derivative,
    loggamma,
    loggamma_derivative,
    t,
)
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
from srcjax.random.more import (
    ball,
    chisquare,
    double_sided_maxwell,
    f,
    generalized_normal,
    lognormal,
    maxwell,
    pareto,
    rayleigh,
    triangular,
    wald,
    weibull_min,
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
    "ball",
    "bernoulli",
    "beta",
    "binomial",
    "bits",
    "categorical",
    "cauchy",
    "chisquare",
    "choice",
    "clone",
    "dirichlet",
    "double_sided_maxwell",
    "exponential",
    "f",
    "fold_in",
    "gamma",
    "gamma_derivative",
    "generalized_normal",
    "geometric",
    "gumbel",
    "key",
    "key_data",
    "key_impl",
    "laplace",
    "loggamma",
    "loggamma_derivative",
    "logistic",
    "lognormal",
    "maxwell",
    "multinomial",
    "multivariate_normal",
    "normal",
    "orthogonal",
    "pareto",
    "permutation",
    "poisson",
    "rademacher",
    "randint",
    "rayleigh",
    "split",
    "t",
    "triangular",
    "truncated_normal",
    "uniform",
    "wald",
    "weibull_min",
    "wrap_key_data",
]

_KEYS = "PRNGKey clone fold_in key key_data key_impl split wrap_key_data"
stand_for(globals(), giving_arrays, but=_KEYS.split())
