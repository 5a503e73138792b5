"""Runs the text of kernels on the CPU, with g++ and the words in `shim.h`."""

import ctypes
import functools
import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = ["-O0", "-std=c++17", "-fPIC", "-w", "-fwrapv", "-ffp-contract=off"]


def has_compiler():
    return shutil.which("g++") is not None


def compiler(*options):
    done = subprocess.run(["g++", *FLAGS, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@functools.cache
def folder():
    """A folder with what is compiled once: the header, and what runs the threads."""
    made = tempfile.TemporaryDirectory(prefix="srcjax-shim-")
    found = Path(made.name)
    (found / "shim.h").write_text((HERE / "shim.h").read_text())
    compiler("-x", "c++-header", str(found / "shim.h"))
    compiler("-shared", f"-I{found}", str(HERE / "shim.cpp"), "-o", f"{found}/shim.so")
    ctypes.CDLL(f"{found}/shim.so", ctypes.RTLD_GLOBAL)
    KEPT.append(made)
    return found


#: Folders that go when the process ends.
KEPT = []


@functools.cache
def compiled(text, name):
    """A function of (blocks and threads, pointers to arguments) that runs a kernel."""
    parameters = re.search(rf"void {name}\((.*?)\) {{", text, re.DOTALL)[1]
    types = [p.strip().rpartition(" ")[0] for p in split(parameters)]
    given = ", ".join(f"*({t}*)args[{k}]" for k, t in enumerate(types))
    whole = (
        f"{text}\nstatic void body(void** args) {{ {name}({given}); }}\n"
        f'extern "C" void run(const unsigned* sizes, void** args) {{\n'
        f"    shim::launch(body, sizes, args);\n}}\n"
    )
    key = hashlib.sha256(whole.encode()).hexdigest()[:20]
    source, library = folder() / f"{key}.cpp", folder() / f"{key}.so"
    source.write_text(whole)
    options = ["-shared", "-include", f"{folder()}/shim.h", str(source)]
    compiler(*options, "-o", str(library))
    return ctypes.CDLL(str(library)).run


def split(parameters):
    """The parameters of a kernel, apart at the commas that are in no `<>`."""
    return [p for p in re.split(r",(?![^<]*>)", parameters) if p.strip()]


def run(text, name, grid, block, args):
    """Launch a kernel; `args` are arrays of NumPy that hold the bytes of arguments."""
    sizes = (ctypes.c_uint * 3)(grid[0], block[0], block[1])
    pointers = (ctypes.c_void_p * len(args))(*[a.ctypes.data for a in args])
    compiled(text, name)(sizes, pointers)
