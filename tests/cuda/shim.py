"""Runs the text of kernels on the CPU, with g++ and the words in `shim.h`."""

import ctypes
import functools
import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = ["-O0", "-std=c++17", "-fPIC", "-shared", "-w", "-fwrapv", "-ffp-contract=off"]


def has_compiler():
    return shutil.which("g++") is not None


@functools.cache
def folder():
    found = tempfile.TemporaryDirectory(prefix="srcjax-shim-")
    folder.keep = found
    return Path(found.name)


@functools.cache
def header():
    """`shim.h`, compiled once: what it includes takes longer than any kernel."""
    place = folder() / "shim.h"
    place.write_text((HERE / "shim.h").read_text())
    subprocess.run(["g++", *FLAGS, "-x", "c++-header", str(place)], check=True)
    return place


@functools.cache
def compiled(text, name):
    """A function of (grid, block, pointers of arguments) that runs a kernel."""
    whole = (
        f"{text}\n"
        f'extern "C" void run(const unsigned* sizes, void** args) {{\n'
        f"    shim::launch({name}, sizes, args);\n}}\n"
    )
    key = hashlib.sha256(whole.encode()).hexdigest()[:20]
    source, library = folder() / f"{key}.cpp", folder() / f"{key}.so"
    source.write_text(whole)
    done = subprocess.run(
        ["g++", *FLAGS, "-include", str(header()), str(source), "-o", str(library)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return ctypes.CDLL(str(library)).run


def run(text, name, grid, block, args):
    """Launch a kernel; `args` are arrays of NumPy that hold the bytes of arguments."""
    sizes = (ctypes.c_uint * 3)(grid[0], block[0], block[1])
    pointers = (ctypes.c_void_p * len(args))(*[a.ctypes.data for a in args])
    compiled(text, name)(sizes, pointers)
