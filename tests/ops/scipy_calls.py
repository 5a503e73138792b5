"""Calls of SciPy's filters and transforms: the function, what varies, and the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft
import scipy.ndimage as nd
import scipy.signal as sg

rng = np.random.default_rng(7)
ROW = rng.normal(size=9)
LONG = rng.normal(size=24)
ROWS = rng.normal(size=(3, 8))
PICTURE = rng.normal(size=(5, 6))
SECTIONS = sg.butter(3, 0.4, output="sos")
SECTIONS_WITH_STATE = (SECTIONS, np.array([[0.1, -0.2], [0.3, 0.05]]))

#: By name: the function of what varies, then that.
CALLS: dict[str, tuple[Any, ...]] = {}


def add(name: str, function: Any, *varying: Any, **fixed: Any) -> None:
    CALLS[name] = (function, varying, fixed)


# -- scipy.signal: recursive filters
B, A = np.array([0.2, 0.3, -0.1]), np.array([1.5, -0.5, 0.2])
add("lfilter", sg.lfilter, B, A, ROW)
add("lfilter_axis", sg.lfilter, B, A[:2], ROWS, axis=0)
add("lfilter_short", sg.lfilter, np.arange(1.0, 7.0), A, ROW[:4])
add("lfilter_state", sg.lfilter, B, A, ROW, zi=np.array([0.3, -0.2]))
add("lfilter_state_rows", sg.lfilter, B, A, ROWS, zi=ROWS[:, :2])
add("lfilter_state_long", sg.lfilter, np.arange(1.0, 7.0), A, ROW[:3], zi=ROW[:5])
add("lfilter_zi", sg.lfilter_zi, B, A)
add("filtfilt", sg.filtfilt, B, A, LONG)
add("filtfilt_even", sg.filtfilt, B, A, LONG, padtype="even", padlen=4)
add("filtfilt_constant", sg.filtfilt, B, A, PICTURE, padtype="constant", padlen=2)
add("filtfilt_none", sg.filtfilt, B, A, PICTURE, axis=0, padtype=None)
add("sosfilt", lambda x: sg.sosfilt(SECTIONS, x), ROW)
add("sosfilt_state", lambda x: sg.sosfilt(SECTIONS, x, zi=SECTIONS_WITH_STATE[1]), ROW)
add(
    "sosfilt_sections",
    lambda b, x: sg.sosfilt(np.concatenate([b, SECTIONS[:, 3:]], axis=1), x),
    SECTIONS[:, :3],
    ROW,
)
add("sosfiltfilt", lambda x: sg.sosfiltfilt(SECTIONS, x), LONG)
add(
    "sosfiltfilt_axis", lambda x: sg.sosfiltfilt(SECTIONS, x, axis=0, padlen=3), PICTURE
)
# -- scipy.signal: neighbours, lines, frequencies
add("savgol", lambda x: sg.savgol_filter(x, 5, 2), ROW)
add("savgol_even", lambda x: sg.savgol_filter(x, 4, 2, mode="mirror"), ROW)
add("savgol_even_ends", lambda x: sg.savgol_filter(x, 4, 2), ROW)
add("savgol_slope", lambda x: sg.savgol_filter(x, 5, 3, deriv=1, delta=0.2), ROWS)
add("savgol_axis", lambda x: sg.savgol_filter(x, 3, 1, axis=0, mode="nearest"), PICTURE)
add("savgol_curve", lambda x: sg.savgol_filter(x, 5, 3, deriv=2, mode="wrap"), ROW)
add("detrend", sg.detrend, ROWS)
add("detrend_constant", sg.detrend, PICTURE, axis=0, type="constant")
add("detrend_parts", sg.detrend, ROW, bp=[3, 6])
add("hilbert", lambda x: np.abs(sg.hilbert(x)), ROW)
add("hilbert_even", lambda x: np.abs(sg.hilbert(x, axis=0)), LONG[:8].reshape(4, 2))
add("resample_fewer", lambda x: sg.resample(x, 6), ROW)
add("resample_more", lambda x: sg.resample(x, 12, axis=1), ROWS)
add("resample_even", lambda x: sg.resample(x, 4, axis=1), ROWS)
add("medfilt", sg.medfilt, ROW + 0.2)
add("medfilt_2d", lambda x: sg.medfilt(x, (3, 5)), PICTURE)
add("oaconvolve", sg.oaconvolve, ROW, B)
# -- scipy.ndimage
for _mode in ("reflect", "constant", "nearest", "mirror", "wrap"):
    add(f"correlate1d_{_mode}", nd.correlate1d, PICTURE, B, mode=_mode, cval=0.7)
add("correlate1d_even", nd.correlate1d, PICTURE, ROW[:4], axis=0, origin=-1)
add("convolve1d", nd.convolve1d, PICTURE, B, axis=0)
add("convolve1d_even", nd.convolve1d, PICTURE, ROW[:4], origin=1)
add("correlate", nd.correlate, PICTURE, ROWS[:, :3], mode="mirror")
add("correlate_even", nd.correlate, PICTURE, ROWS[:, :2], origin=[0, -1])
add("convolve", nd.convolve, PICTURE, ROWS[:, :3], mode="constant", cval=0.3)
add("convolve_even", nd.convolve, PICTURE, ROWS[:2, :4], origin=(0, 1), mode="wrap")
add("convolve_row", nd.convolve, ROW, B)
add("gaussian_filter1d", nd.gaussian_filter1d, ROW, 1.3)
add("gaussian_filter1d_slope", nd.gaussian_filter1d, PICTURE, 0.8, axis=0, order=1)
add("gaussian_filter1d_third", nd.gaussian_filter1d, ROW, 1.1, order=3, radius=4)
add("gaussian_filter", nd.gaussian_filter, PICTURE, 0.9)
add(
    "gaussian_filter_axes",
    lambda x: nd.gaussian_filter(x, [0.9, 0], (1, 0), mode=["wrap", "nearest"]),
    PICTURE,
)
add("uniform_filter1d", lambda x: nd.uniform_filter1d(x, 4, origin=1), PICTURE)
add("uniform_filter", lambda x: nd.uniform_filter(x, [3, 1], mode="wrap"), PICTURE)
add("sobel", nd.sobel, PICTURE)
add("prewitt", nd.prewitt, PICTURE, axis=0, mode="nearest")
add("laplace", nd.laplace, PICTURE, mode="wrap")
add("gaussian_laplace", nd.gaussian_laplace, PICTURE, 0.9)
add("gaussian_gradient", nd.gaussian_gradient_magnitude, PICTURE, 0.9, mode="wrap")
add("maximum_filter", lambda x: nd.maximum_filter(x, 3), PICTURE)
add("minimum_filter", lambda x: nd.minimum_filter(x, (2, 3), mode="wrap"), PICTURE)
add("median_filter", lambda x: nd.median_filter(x, 3), PICTURE)
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])
add("median_cross", lambda x: nd.median_filter(x, footprint=CROSS), PICTURE)
add("median_even", lambda x: nd.median_filter(x, (2, 2), mode="mirror"), PICTURE)
# -- scipy.fft
for _type in (1, 2, 3, 4):
    for _norm in (None, "ortho", "forward"):
        for _wave in ("dct", "dst", "idct", "idst"):
            add(
                f"{_wave}_{_type}_{_norm}",
                getattr(scipy.fft, _wave),
                ROW[:5],
                type=_type,
                norm=_norm,
            )
for _wave in ("dct", "dst", "idct", "idst"):
    add(f"{_wave}_cut", getattr(scipy.fft, _wave), ROWS, n=5)
    add(f"{_wave}_longer", getattr(scipy.fft, _wave), ROWS, n=6, axis=0)
    add(
        f"{_wave}_not_orthogonal",
        getattr(scipy.fft, _wave),
        ROWS,
        norm="ortho",
        orthogonalize=False,
    )
    add(f"{_wave}n", getattr(scipy.fft, _wave + "n"), PICTURE, norm="ortho")
    add(f"{_wave}n_sizes", getattr(scipy.fft, _wave + "n"), PICTURE, s=[4, 7])
add("fft", lambda x: np.abs(scipy.fft.fft(x)), ROW)
add("ifft", lambda x: np.real(scipy.fft.ifft(x, 7)), ROW)
add("rfft", lambda x: np.abs(scipy.fft.rfft(x, axis=0)), PICTURE)
add("irfft", lambda x: scipy.fft.irfft(scipy.fft.rfft(x) ** 2), PICTURE)
add("fft2", lambda x: np.abs(scipy.fft.fft2(x)), PICTURE)
add("ifft2", lambda x: np.abs(scipy.fft.ifft2(x)), PICTURE)
add("fftn", lambda x: np.abs(scipy.fft.fftn(x, axes=[0])), PICTURE)
add("ifftn", lambda x: np.abs(scipy.fft.ifftn(x)), PICTURE)
add("rfft2", lambda x: scipy.fft.irfft2(scipy.fft.rfft2(x) ** 2), PICTURE)
add("rfftn", lambda x: scipy.fft.irfftn(scipy.fft.rfftn(x) ** 2), PICTURE)
add("fftshift", lambda x: scipy.fft.fftshift(x) + scipy.fft.ifftshift(x), PICTURE)
