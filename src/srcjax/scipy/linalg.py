"""`scipy.linalg` itself."""

import sys

import scipy.linalg

sys.modules[__name__] = scipy.linalg
