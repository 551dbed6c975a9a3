"""Mass properties from shapes, surfaces and finite-element models: `rbt.mass`. Equations: docs/mass.md."""

from rbt_ros.model.mass.facets import Mesh
from rbt_ros.model.mass.finite_elements import nastran
from rbt_ros.model.mass.mesh_file import read_mesh
from rbt_ros.model.mass.primitives import box, cylinder, of_shape, plate, point, rod, sphere
from rbt_ros.model.mass.properties import MassProperties, Principal, combine, given
from rbt_ros.model.mass.shells import shell
from rbt_ros.model.mass.solids import solid

__all__ = [
    "MassProperties",
    "Mesh",
    "Principal",
    "box",
    "combine",
    "cylinder",
    "given",
    "nastran",
    "of_shape",
    "plate",
    "point",
    "read_mesh",
    "rod",
    "shell",
    "solid",
    "sphere",
]
