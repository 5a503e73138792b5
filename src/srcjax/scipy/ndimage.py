"""`scipy.ndimage` itself."""

import sys

import scipy.ndimage

sys.modules[__name__] = scipy.ndimage
