"""`numpy.fft`, whose functions give arrays of the class `srcjax.Array`."""

import numpy.fft as _library

from srcjax.numpy.standing import getting as _getting

#: As `srcjax.numpy` stands for NumPy.
__srcjax_stands_for__ = _library
__srcjax_gives_arrays__ = True

__all__ = _library.__all__
__getattr__ = _getting(_library, globals())


def __dir__() -> list[str]:
    return sorted({*dir(_library), *globals()})
