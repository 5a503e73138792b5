"""`numpy.linalg` itself."""

import sys

import numpy.linalg

sys.modules[__name__] = numpy.linalg
