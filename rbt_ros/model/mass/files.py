"""Any file that says how mass is spread -> MassProperties: meshes as solids or shells, NASTRAN decks."""

from collections.abc import Iterable
from pathlib import Path

from rbt_ros.errors import ModelError
from rbt_ros.model.mass.finite_elements import nastran
from rbt_ros.model.mass.mesh_file import read_mesh
from rbt_ros.model.mass.properties import MassProperties
from rbt_ros.model.mass.shells import shell
from rbt_ros.model.mass.solids import solid
from rbt_ros.paths import as_path

NASTRAN = (".bdf", ".dat", ".nas", ".blk", ".bulk")


def from_file(
    file: str | Path,
    *,
    unit: str | None = None,
    density: float | None = None,
    mass: float | None = None,
    thickness: float | None = None,
    mass_unit: str | None = None,
    ignore: Iterable[str] = (),
    lumped: bool = False,
    allow_degenerate: bool = False,
) -> MassProperties:
    """The mass properties of a mesh file (a solid; with thickness [m] a shell) or of a NASTRAN deck, by its ending.

    unit: of the file's lengths. A mesh takes density [kg/m³] or mass [kg]; a deck has densities, and takes mass_unit.
    """
    path = as_path(file, "mass.from_file")
    deck = {"mass_unit": mass_unit, "ignore": tuple(ignore), "lumped": lumped}
    mesh = {"density": density, "mass": mass, "thickness": thickness, "allow_degenerate": allow_degenerate}
    is_deck = path.suffix.lower() in NASTRAN
    out_of_place = [key for key, value in (mesh if is_deck else deck).items() if value not in (None, False, ())]
    if out_of_place:
        kind = "a NASTRAN deck, which has its own densities and thicknesses" if is_deck else "a mesh file"
        raise ModelError(f"{path.name}: {', '.join(out_of_place)} does not go with {kind}; leave it out.")
    if is_deck:
        return nastran(path, length_unit=unit, mass_unit=mass_unit, ignore=ignore, lumped=lumped)
    surface = read_mesh(path, unit)
    if thickness is None:
        return solid(*surface, density=density, mass=mass, allow_degenerate=allow_degenerate)
    return shell(*surface, thickness=thickness, density=density, mass=mass, allow_degenerate=allow_degenerate)
