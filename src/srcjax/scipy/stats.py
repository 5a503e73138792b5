"""`scipy.stats` itself."""

import sys

import scipy.stats

sys.modules[__name__] = scipy.stats
