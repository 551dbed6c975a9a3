"""A system in Pinocchio's C++: `pinocchio_aba.cpp`, compiled when needed against the headers of the `pin` wheel."""

import ctypes
import hashlib
import site
import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from bodies import SPHERICAL, System, offsets
from harness import Missing

SOURCE = Path(__file__).with_name("pinocchio_aba.cpp")
FLAGS = (
    "-O3 -std=c++17 -DNDEBUG -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS -w -shared -fPIC"
)


@cache
def library() -> ctypes.CDLL:
    """The compiled program, kept beside other temporary files as long as source and flags are the same."""
    roots = [Path(folder, "cmeel.prefix") for folder in (*site.getsitepackages(), sysconfig.get_path("purelib"))]
    root = next((r for r in roots if (r / "include" / "pinocchio").is_dir()), None)
    if root is None:
        raise Missing("the `pin` wheel, with Pinocchio's headers, is not installed")
    key = hashlib.sha256(SOURCE.read_bytes() + f"{FLAGS} {root}".encode()).hexdigest()[:16]
    target = root / f"pinocchio_aba_{key}.so"
    if not target.is_file():
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder, "aba.so")
            includes = [f"-I{root / 'include'}", f"-I{root / 'include' / 'eigen3'}"]
            links = [f"-L{root / 'lib'}", "-lpinocchio_default", f"-Wl,-rpath,{root / 'lib'}"]
            command = ["g++", *FLAGS.split(), *includes, str(SOURCE), "-o", str(made), *links]
            try:
                done = subprocess.run(command, capture_output=True, text=True)
            except FileNotFoundError as err:
                raise Missing("there is no g++ to compile a program against Pinocchio") from err
            if done.returncode != 0:
                raise Missing(f"{SOURCE.name} did not compile: {done.stderr.strip().splitlines()[0]}")
            made.replace(target) if made.stat().st_dev == root.stat().st_dev else target.write_bytes(made.read_bytes())
    compiled = ctypes.CDLL(str(target))
    compiled.make.restype = ctypes.c_void_p
    return compiled


class Peer:
    """A system in Pinocchio; its q has a quaternion as x y z w, its v is ours."""

    def __init__(self, system: System, in_world_axes: bool):
        self.library, self.in_world_axes = library(), int(in_world_axes)
        parts = system.parts
        parent = np.array([part.parent for part in parts], ctypes.c_long)
        kind = np.array([part.kind for part in parts], ctypes.c_long)
        body = np.array([[part.mass, *part.com, *part.inertia, *part.at, *part.axis] for part in parts])
        self.system = ctypes.c_void_p(
            self.library.make(len(parts), *map(address, (parent, kind, body)), ctypes.c_double(system.g))
        )
        self.q, self.v, self.vdot = system.q.copy(), system.v.copy(), np.zeros(len(system.v))
        for joint, k, _ in offsets(system):
            if joint == SPHERICAL:
                self.q[k : k + 4] = np.roll(system.q[k : k + 4], -1)

    def run(self, times: int) -> np.ndarray:
        """vdot, computed `times` times."""
        arrays = map(address, (self.q, self.v, self.vdot))
        self.library.evaluate(self.system, *arrays, times, self.in_world_axes)
        return self.vdot


def address(array: np.ndarray) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
