"""`scipy.special` itself."""

import sys

import scipy.special

sys.modules[__name__] = scipy.special
