"""The shape that is a mesh in a file, and how large it is, so that pictures have room. Only viewers read the mesh."""

import functools
import math
import os
from pathlib import Path

import numpy as np

from rbt_ros.errors import ModelError, SetupError
from rbt_ros.paths import content_of
from rbt_ros.plug.shapes import MESH as MARKER
from rbt_ros.plug.shapes import Shape, ShapeKind, Surface

MOST_BYTES, MOST_OTHERS = 1 << 28, 1 << 24  # of a binary STL file (100 MB: 0.5 s); of others, which take longer
HEADER, FACET = 84, np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])  # binary STL


@functools.cache
def mesh_radius(file: str, scale: tuple[float, ...]) -> float:
    """How far the mesh goes from its own origin [m]; 0 where it cannot be read: what draws it will say why."""
    try:
        path = local_path(file)
        vertices = _stl_vertices(path) if path.suffix.lower() == ".stl" else _others_vertices(path)
    except (ModelError, SetupError):
        return 0.0
    farthest = np.einsum("ij,ij,j->i", vertices, vertices, np.square(scale), dtype=float, casting="same_kind")
    far = math.sqrt(farthest.max(initial=0.0))
    return far if math.isfinite(far) else 0.0


def local_path(file: str) -> Path:
    """Where a mesh is that is named by a path, file:// or package://."""
    if not file.startswith("package://"):
        return Path(file.removeprefix("file://"))
    name = file.removeprefix("package://")
    for prefix in filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)):
        if (place := Path(prefix, "share", name)).is_file():
            return place
    raise ModelError(
        f"there is no {file:.200} below the folders of AMENT_PREFIX_PATH; source the workspace that has it."
    )


def _stl_vertices(path: Path) -> np.ndarray:
    content = content_of(path, "a mesh", ModelError, MOST_BYTES)
    count = int.from_bytes(content[HEADER - 4 : HEADER], "little")
    if len(content) != HEADER + count * FACET.itemsize:
        return _others_vertices(path)  # as text
    return np.frombuffer(content, FACET, count, HEADER)["corners"].reshape(-1, 3)


def _others_vertices(path: Path) -> np.ndarray:
    from rbt_ros.model.mass.mesh_file import read_mesh

    content_of(path, "a mesh", ModelError, MOST_OTHERS)
    return read_mesh(path, "m").vertices


class MeshFile(ShapeKind):
    """Its size is its scale along x, y, z; a negative one mirrors it."""

    numbers = dict.fromkeys(("x", "y", "z"), "length")
    rule = "none of them zero"
    usual = (1.0, 1.0, 1.0)
    from_file = True
    urdf = {"scale": 3}
    marker = MARKER

    def fits(self, size: tuple[float, ...]) -> bool:
        return 0.0 not in size

    def triangles(self, shape: Shape) -> Surface:
        raise ModelError(
            f"the unit of mesh {shape.file:.200} is not known; say it: rbt.mass.solid(*rbt.mass.read_mesh(file, 'mm'))."
        )

    def support(self, shape: Shape, n: np.ndarray) -> np.ndarray:
        """It counts as its place."""
        return np.zeros(len(n))

    def radius(self, shape: Shape) -> float:
        return mesh_radius(shape.file, shape.size)

    def scale(self, shape: Shape) -> tuple[float, ...]:
        return shape.size


MESH = MeshFile()
