"""`scipy.interpolate` itself."""

import sys

import scipy.interpolate

sys.modules[__name__] = scipy.interpolate
