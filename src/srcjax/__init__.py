"""srcjax: derivatives you can read, for plain NumPy.

Importing it is quick: what the names stand for is imported when they are first used.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from srcjax.analysis.arrays import Array
    from srcjax.api.batch import vmap
    from srcjax.api.compiled import explain, jit
    from srcjax.api.devices import (
        block_until_ready,
        default_device,
        device_count,
        device_get,
        device_put,
        devices,
        local_device_count,
        local_devices,
        process_count,
        process_index,
    )
    from srcjax.api.forward import jvp, linearize
    from srcjax.api.given_functions import (
        custom_gradient,
        linear_transpose,
        pure_callback,
    )
    from srcjax.api.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
    from srcjax.api.reverse import (
        checkpoint,
        custom_jvp,
        custom_vjp,
        grad,
        remat,
        source,
        stages,
        stop_gradient,
        value_and_grad,
        vjp,
    )
    from srcjax.api.scopes import ensure_compile_time_eval, named_call, named_scope
    from srcjax.api.shapes import eval_shape
    from srcjax.api.spread import pmap
    from srcjax.api.vectorized import vectorize
    from srcjax.backends.export import export
    from srcjax.errors import DerivativeMismatch, PerformanceWarning
    from srcjax.jaxprs.make import make_jaxpr
    from srcjax.ops.collectives import (
        all_gather,
        all_to_all,
        axis_index,
        axis_size,
        pmax,
        pmean,
        pmin,
        ppermute,
        pshuffle,
        psum,
        psum_scatter,
    )
    from srcjax.ops.composites.places import at
    from srcjax.ops.record import adjoint, elementwise, inert, operation, tangent
    from srcjax.ops.structs import ShapeDtypeStruct
    from srcjax.random.widths import enable_x64
    from srcjax.teaching.exercises import exercise
    from srcjax.teaching.graphs import graph
    from srcjax.teaching.modes import compare_modes
    from srcjax.teaching.trace import trace
    from srcjax.versions.config import config
    from srcjax.versions.modes import debug_nans, disable_jit
    from srcjax.view.show import show

__all__ = [
    "Array",
    "DerivativeMismatch",
    "PerformanceWarning",
    "ShapeDtypeStruct",
    "adjoint",
    "all_gather",
    "all_to_all",
    "at",
    "axis_index",
    "axis_size",
    "block_until_ready",
    "checkpoint",
    "compare_modes",
    "config",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "debug_nans",
    "default_device",
    "enable_x64",
    "device_count",
    "device_get",
    "device_put",
    "devices",
    "disable_jit",
    "elementwise",
    "ensure_compile_time_eval",
    "eval_shape",
    "exercise",
    "explain",
    "export",
    "grad",
    "graph",
    "hessian",
    "hvp",
    "inert",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "linear_transpose",
    "linearize",
    "local_device_count",
    "local_devices",
    "make_jaxpr",
    "named_call",
    "named_scope",
    "operation",
    "pmap",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "process_count",
    "process_index",
    "pshuffle",
    "psum",
    "psum_scatter",
    "pure_callback",
    "remat",
    "show",
    "source",
    "stages",
    "stop_gradient",
    "tangent",
    "trace",
    "value_and_grad",
    "vectorize",
    "vjp",
    "vmap",
]

#: `srcjax.numpy` stands for NumPy (`frontend.numpy_names`).
__srcjax_stands_for__ = None

#: Where the names live.
_NAMES = {
    "analysis.arrays": "Array",
    "api.batch": "vmap",
    "api.compiled": "explain jit",
    "api.devices": (
        "block_until_ready default_device device_count device_get device_put devices "
        "local_device_count local_devices process_count process_index"
    ),
    "api.forward": "jvp linearize",
    "api.given_functions": "custom_gradient linear_transpose pure_callback",
    "api.jacobians": "hessian hvp jacfwd jacobian jacrev",
    "api.reverse": (
        "checkpoint custom_jvp custom_vjp grad remat source stages stop_gradient "
        "value_and_grad vjp"
    ),
    "api.scopes": "ensure_compile_time_eval named_call named_scope",
    "api.shapes": "eval_shape",
    "api.spread": "pmap",
    "api.vectorized": "vectorize",
    "backends.export": "export",
    "errors": "DerivativeMismatch PerformanceWarning",
    "jaxprs.make": "make_jaxpr",
    "ops.collectives": (
        "all_gather all_to_all axis_index axis_size pmax pmean pmin ppermute pshuffle "
        "psum psum_scatter"
    ),
    "ops.composites.places": "at",
    "ops.record": "adjoint elementwise inert operation tangent",
    "ops.structs": "ShapeDtypeStruct",
    "teaching.exercises": "exercise",
    "teaching.graphs": "graph",
    "teaching.modes": "compare_modes",
    "teaching.trace": "trace",
    "view.show": "show",
    "random.widths": "enable_x64",
    "versions.config": "config",
    "versions.modes": "debug_nans disable_jit",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}
#: Modules of the package that are for users.
_MODULES = "experimental image lax nn numpy optim random scipy testing tree tree_util"


def __getattr__(name: str) -> _typing.Any:
    """A name of the API, or a module of the package, at its first use."""
    if name in _HOMES:
        if _HOMES[name].startswith("ops."):  # what users add comes after what is there
            _importlib.import_module(f"{__name__}.ops.registry")
        found = getattr(_importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
        globals()[name] = found
        return found
    if name == "__version__":
        return _version()
    if not name.startswith("_"):
        try:
            return _importlib.import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}",
        name=name,
        obj=_importlib.import_module(__name__),  # Python says what may be meant
    )


def _version() -> str:
    """What is installed; of a checkout that is not, nothing is known."""
    from importlib import metadata

    try:
        return metadata.version(__name__)
    except metadata.PackageNotFoundError:
        return "unknown"


def __dir__() -> list[str]:
    """What users call, and what every module has."""
    own = [n for n in globals() if n.startswith("__") and n.endswith("__")]
    return sorted({*own, "__version__", *_HOMES, *_MODULES.split()})
