"""`scipy.stats` itself; its distributions, which JAX has as modules, can be imported.

from srcjax.scipy.stats.norm import logpdf
"""

import sys
from typing import Any

import scipy.stats

#: JAX's modules of `scipy.stats`, each of which SciPy has as an object.
_MODULES = (
    *("bernoulli", "beta", "betabinom", "binom", "cauchy", "chi2", "dirichlet"),
    *("expon", "gamma", "gennorm", "geom", "gumbel_l", "gumbel_r", "laplace"),
    *("logistic", "multinomial", "multivariate_normal", "nbinom", "norm", "pareto"),
    *("poisson", "t", "truncnorm", "uniform", "vonmises", "wrapcauchy"),
)

_modules: dict[str, Any] = sys.modules
_modules[__name__] = scipy.stats
for _name in _MODULES:
    _modules[f"{__name__}.{_name}"] = getattr(scipy.stats, _name)
