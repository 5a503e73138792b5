"""`scipy.spatial` itself."""

import sys

import scipy.spatial

sys.modules[__name__] = scipy.spatial
