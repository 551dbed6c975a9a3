"""`type_hashes PACKAGE TYPE...`: the hashes of message types that this environment advertises to other nodes.

Run in a process of its own (`setup_ros.installed_hashes`): type support that was imported once is never seen anew.
"""

import ctypes
import importlib
import sys


class TypeHash(ctypes.Structure):
    """rosidl_type_hash_t."""

    _fields_ = [("version", ctypes.c_uint8), ("value", ctypes.c_uint8 * 32)]


def type_hash(package: str, kind: str, name: str) -> str:
    """RIHS01_..., as the generated C library has it."""
    cls = getattr(importlib.import_module(f"{package}.{kind}"), name)
    cls.__class__.__import_type_support__()
    library = ctypes.CDLL(f"lib{package}__rosidl_generator_c.so")
    function = getattr(library, f"{package}__{kind}__{name}__get_type_hash")
    function.argtypes, function.restype = [ctypes.c_void_p], ctypes.POINTER(TypeHash)
    found = function(None).contents
    return f"RIHS{found.version:02d}_{bytes(found.value).hex()}"


if __name__ == "__main__":
    for each in sys.argv[2:]:
        print(type_hash(sys.argv[1], *each.split("/")))
