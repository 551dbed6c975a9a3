"""Mesh files -> Mesh: STL, OBJ, PLY, GLB and what else trimesh reads. None says its unit, so you do."""

import os
from io import BytesIO
from pathlib import Path

import numpy as np

from rbt_ros.errors import ModelError, SetupError
from rbt_ros.model.mass.facets import Mesh
from rbt_ros.model.units import UNITS, unit_factor
from rbt_ros.paths import as_path

TEXTS = ("obj", "off", "stl", "ply")  # files that are texts, or begin as one
ASCII = bytes(range(128)) + b"?" * 128


def read_mesh(file: str | Path, unit: str | None = None) -> Mesh:
    """The surface in `file`, whose numbers are in `unit` ("mm"); vertices at one place become one.

    Several bodies in one file, and instances with poses (GLB), come as one surface of several parts.
    """
    path = as_path(file, "mesh")
    factor = length_factor(unit, path.name)
    if not os.path.isfile(path):
        raise ModelError(f"there is no file {path}; give the path of a mesh (STL, OBJ, PLY, GLB).")
    try:
        import trimesh
    except ImportError as err:
        raise SetupError("mesh files need trimesh: pip install 'rbt_ros[mesh]'") from err
    try:
        kind, resolver = path.suffix[1:].lower(), trimesh.resolvers.FilePathResolver(str(path))
        content = BytesIO(_plain_text(path.read_bytes(), kind)) if kind in TEXTS else None
        scene = trimesh.load_scene(content or path, file_type=kind, resolver=resolver, process=False)
        mesh = scene.to_mesh()
    except ImportError as err:  # a reader's own package
        raise SetupError(_reader_missing(path, err)) from err
    except Exception as err:  # trimesh raises what its readers raise, of any type
        raise ModelError(f"{path} cannot be read as a mesh: {err}.") from err
    if not len(getattr(mesh, "faces", ())):
        raise ModelError(f"{path.name}: there is no facet in it; a mesh has facets, not only points or lines.")
    vertices, facets = merged(np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces))
    return Mesh(vertices * factor, facets, path.name)


def _reader_missing(path: Path, err: ImportError) -> str:
    """What a format needs beside trimesh, and how to do without."""
    if path.suffix.lower() in (".step", ".stp"):
        way = "export the part as STL in your CAD, or pip install cascadio, which reads STEP (in m: --unit m)"
    else:
        way = "install that package, or give the mesh as STL, OBJ, PLY or GLB"
    return f"{path.name}: trimesh needs a package that is not here ({err}): {way}."


def _plain_text(content: bytes, kind: str) -> bytes:
    """The file with ? in place of what is not ASCII in its text: names and comments, in whatever encoding."""
    if kind == "stl" and len(content) == 84 + 50 * int.from_bytes(content[80:84], "little"):
        return content  # binary, whatever it begins with
    end = len(content) if kind != "ply" else content.find(b"end_header")
    return content[:end].translate(ASCII) + content[end:]


def merged(vertices: np.ndarray, facets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same surface with one vertex per place: STL writes each corner of each facet anew."""
    order = np.lexsort(vertices.T)
    places = vertices[order]
    is_new = np.concatenate([[True], (places[1:] != places[:-1]).any(axis=1)])
    number = np.empty(len(vertices), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    return places[is_new], number[facets]


def length_factor(unit: str | None, name: str) -> float:
    """Metres per `unit`, of the file `name`."""
    return file_factor(unit, "length", name, "unit='mm' (--unit mm)")


def file_factor(unit: str | None, dimension: str, name: str, example: str) -> float:
    """SI units per `unit`, of the file `name`, which does not say it; `example`: how to, for the error without one."""
    if unit is None:
        raise ModelError(
            f"{name}: such a file does not say its unit of {dimension}, and it is not guessed; say it: {example}, one "
            f"of {', '.join(UNITS[dimension])}."
        )
    try:
        return unit_factor(unit, dimension)
    except ValueError as err:
        raise ModelError(f"{name}: {err}.") from err
