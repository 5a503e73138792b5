"""srcjax: derivatives you can read, for plain NumPy."""

from srcjax.api import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    source,
    stages,
    stop_gradient,
    value_and_grad,
    vjp,
)
from srcjax.backends.export import export
from srcjax.batch_mode import vmap
from srcjax.errors import PerformanceWarning
from srcjax.forward_mode import jvp, linearize
from srcjax.jacobians import hessian, hvp, jacfwd, jacrev
from srcjax.ops.collectives import (
    all_gather,
    axis_index,
    pmax,
    pmean,
    pmin,
    psum,
    psum_scatter,
)
from srcjax.ops.record import adjoint, elementwise, inert, operation, tangent
from srcjax.vectorized import vectorize

__all__ = [
    "PerformanceWarning",
    "adjoint",
    "all_gather",
    "axis_index",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "elementwise",
    "export",
    "grad",
    "hessian",
    "hvp",
    "inert",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "operation",
    "pmax",
    "pmean",
    "pmin",
    "psum",
    "psum_scatter",
    "source",
    "stages",
    "stop_gradient",
    "tangent",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
]
