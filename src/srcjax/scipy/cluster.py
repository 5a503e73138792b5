"""`scipy.cluster` itself."""

import sys

import scipy.cluster

sys.modules[__name__] = scipy.cluster
