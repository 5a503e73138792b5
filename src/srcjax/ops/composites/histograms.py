"""Histograms, as plain NumPy.

As in JAX, counts are constants; weights, the width of bins that follow the extremes of
the data, and densities over them, have derivatives.
"""

from __future__ import annotations

import numpy as np

from srcjax.ops.record import composite

# mypy: disable-error-code="assignment"


@composite(np.bincount)
def bincount(x, /, weights=None, minlength=0):
    """The sum of the weights at each number, or how often it is there."""
    size = max(minlength, np.max(x, initial=-1) + 1)
    if weights is None:
        counts = np.zeros(size, np.intp)
        np.add.at(counts, x, 1)
        return counts
    sums = np.zeros(size, np.float64)
    np.add.at(sums, x, weights)
    return sums


@composite(np.histogram_bin_edges)
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """Even from the smallest value to the largest, or as given."""
    if isinstance(bins, str):
        raise NotImplementedError("`bins` by a name: which bins depends on the values")
    if np.ndim(bins) == 1:
        return np.asarray(bins)
    if range is None:
        low, high = np.min(a), np.max(a)
    else:
        low, high = range
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1)


@composite(np.histogram, real_only=True)
def histogram(a, bins=10, range=None, density=None, weights=None):
    """Bins include their left edge, the last one both."""
    edges = np.histogram_bin_edges(a, bins, range)
    values = np.ravel(a)
    index = np.searchsorted(edges, values, side="right") - 1
    index = np.where(values == edges[-1], len(edges) - 2, index)
    inside = (index >= 0) & (index < len(edges) - 1)
    if weights is None:
        counts = np.bincount(index[inside], minlength=len(edges) - 1)
    else:
        chosen = np.ravel(weights)[inside]
        counts = np.bincount(index[inside], chosen, minlength=len(edges) - 1)
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges


@composite(np.histogramdd, real_only=True)
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Counts in a grid of bins; `sample` has a row for each point."""
    if isinstance(sample, (list, tuple)):
        sample = np.stack(sample, axis=-1)
    count = sample.shape[1]
    edges = []
    places = np.zeros(len(sample), int)
    inside = np.ones(len(sample), bool)
    shape = ()
    for i in np.arange(count):
        chosen = bins if np.ndim(bins) == 0 else bins[i]
        between = None if range is None else range[i]
        edge = np.histogram_bin_edges(sample[:, i], chosen, between)
        index = np.searchsorted(edge, sample[:, i], side="right") - 1
        index = np.where(sample[:, i] == edge[-1], len(edge) - 2, index)
        inside = inside & (index >= 0) & (index < len(edge) - 1)
        places = places * (len(edge) - 1) + index
        shape = (*shape, len(edge) - 1)
        edges.append(edge)
    ones = np.ones(len(sample)) if weights is None else np.asarray(weights)
    counts = np.bincount(places[inside], ones[inside], minlength=int(np.prod(shape)))
    counts = np.reshape(counts, shape)
    if density:
        counts = counts / np.sum(counts)
        for i in np.arange(count):
            widths = np.diff(edges[i])
            counts = counts / np.reshape(widths, (-1,) + (1,) * (count - 1 - int(i)))
    return counts, edges


@composite(np.histogram2d)
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Counts in a grid of bins."""
    if np.ndim(bins) == 1 and len(bins) not in (1, 2):
        bins = [bins, bins]
    sample = np.stack((x, y), axis=-1)
    counts, edges = np.histogramdd(sample, bins, range, density, weights)
    return counts, edges[0], edges[1]
