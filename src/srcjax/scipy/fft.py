"""`scipy.fft` itself."""

import sys

import scipy.fft

sys.modules[__name__] = scipy.fft
