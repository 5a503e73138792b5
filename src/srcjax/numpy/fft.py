"""`numpy.fft` itself."""

import sys

import numpy.fft

sys.modules[__name__] = numpy.fft
