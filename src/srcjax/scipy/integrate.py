"""`scipy.integrate` itself."""

import sys

import scipy.integrate

sys.modules[__name__] = scipy.integrate
