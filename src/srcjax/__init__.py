"""srcjax: derivatives you can read, for plain NumPy."""

from srcjax.api import (
    checkpoint,
    custom_vjp,
    grad,
    source,
    stages,
    stop_gradient,
    value_and_grad,
    vjp,
)
from srcjax.backends.export import export
from srcjax.ops.record import adjoint, elementwise, inert, operation, tangent

__all__ = [
    "adjoint",
    "checkpoint",
    "custom_vjp",
    "elementwise",
    "export",
    "grad",
    "inert",
    "operation",
    "source",
    "stages",
    "stop_gradient",
    "tangent",
    "value_and_grad",
    "vjp",
]
