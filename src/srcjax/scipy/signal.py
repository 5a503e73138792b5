"""`scipy.signal` itself."""

import sys

import scipy.signal

sys.modules[__name__] = scipy.signal
