"""`rbt mass`: mass properties of a file."""

import argparse

from rbt_ros.cli.arguments import quantity_of
from rbt_ros.errors import ModelError


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Print mass properties as a table and as URDF <inertial>. FILE is a closed mesh (STL, OBJ, PLY, "
        "GLB), taken as a solid or with --shell as plates, or a NASTRAN deck (docs/mass.md): "
        "rbt mass hub.stl --unit mm --density '2.7 g/cm3'; rbt mass sat.bdf --unit mm --mass-unit t"
    )
    parser.add_argument("file", help="a mesh file, or a NASTRAN deck (*.bdf, *.dat, *.nas, *.blk, *.bulk)")
    parser.add_argument("--unit", metavar="U", help="unit of the lengths in the file: m, mm, cm, in, ...")
    parser.add_argument(
        "--density", type=quantity_of("density"), metavar="D", help="of a mesh: 2700 [kg/m³], '2.7 g/cm3'"
    )
    parser.add_argument("--mass", type=quantity_of("mass"), metavar="M", help="of a mesh, instead: 3 [kg], '3 g'")
    parser.add_argument(
        "--shell", action="store_true", help="the facets of the mesh are plates, not the skin of a solid"
    )
    parser.add_argument("--thickness", type=quantity_of("length"), metavar="T", help="of a shell: 0.001 [m], '1 mm'")
    parser.add_argument("--mass-unit", metavar="U", help="of a NASTRAN deck: its unit of mass: kg, t, g, slinch, ...")
    parser.add_argument("--ignore", action="append", default=[], metavar="CARD", help="pass over such NASTRAN cards")
    parser.add_argument("--lumped", action="store_true", help="NASTRAN elements as point masses, as in pyNastran")
    parser.add_argument("--allow-degenerate", action="store_true", help="take facets without area as they are")
    parser.add_argument("--json", action="store_true", help="print JSON instead")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Read and print."""
    from rbt_ros.model.mass import report
    from rbt_ros.model.mass.files import from_file

    if arguments.shell != (arguments.thickness is not None):
        raise ModelError("--shell and --thickness go together: --shell --thickness '1 mm'.")
    keys = ("unit", "density", "mass", "thickness", "mass_unit", "ignore", "lumped", "allow_degenerate")
    props = from_file(arguments.file, **{key: getattr(arguments, key) for key in keys})
    print(report.as_json(props) if arguments.json else f"{report.table(props)}\n\n{report.urdf_inertial(props)}")
    return 0
