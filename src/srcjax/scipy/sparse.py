"""`scipy.sparse` itself."""

import sys

import scipy.sparse

sys.modules[__name__] = scipy.sparse
