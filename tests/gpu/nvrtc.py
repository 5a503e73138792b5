"""Compiles CUDA with NVRTC, which needs no device."""

import ctypes
import functools
import glob
import sysconfig

from srcjax.backends.cuda import elementwise
from srcjax.backends.cuda.run import words


@functools.cache
def library():
    """NVRTC, from NVIDIA's package or from the system; None where there is none."""
    folder = sysconfig.get_paths()["purelib"]
    found = sorted(glob.glob(f"{folder}/nvidia/**/libnvrtc.so*", recursive=True))
    for path in [*found, "libnvrtc.so"]:
        try:
            return ctypes.CDLL(path)
        except OSError:
            continue
    return None


def is_there():
    return library() is not None


def joined(launched):
    """The texts of kernels as one, with what they share in it once."""
    ours, operations = words(), elementwise.operations()
    found = [text.replace(ours, "").replace(operations, "") for text, _, _ in launched]
    return "\n".join([ours, *dict.fromkeys(found)])


def compile_text(text, arch, options=()):
    """NVRTC's complaints about a text; none where it compiles."""
    nvrtc, program = library(), ctypes.c_void_p()
    made = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None
    )
    assert made == 0
    given = [f"--gpu-architecture={arch}", "--std=c++17", *options]
    chars = (ctypes.c_char_p * len(given))(*[g.encode() for g in given])
    result = nvrtc.nvrtcCompileProgram(program, len(given), chars)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return log.value.decode() if result else ""
