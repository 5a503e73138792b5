"""`scipy.optimize` itself."""

import sys

import scipy.optimize

sys.modules[__name__] = scipy.optimize
