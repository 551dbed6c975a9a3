"""`mass:` of a body in a scenario: a number, or the file that says how the mass is spread."""

from pathlib import Path
from typing import Any

from rbt_ros.errors import ModelError
from rbt_ros.model.mass.files import from_file
from rbt_ros.model.reading import Item
from rbt_ros.model.schema import TEXT, Key, Section, list_of, number
from rbt_ros.paths import as_path

MASS_FILE = Section(
    "mass_file",
    "A mesh or a NASTRAN deck that says how mass is spread: docs/mass.md.",
    Key("file", TEXT, "beside the scenario", needed=True),
    Key("unit", TEXT, "of its lengths"),
    Key("mass_unit", TEXT, "of a NASTRAN deck"),
    Key("density", number("density"), "of a mesh"),
    Key("mass", number("mass"), "of a mesh, instead of a density"),
    Key("thickness", number("length"), "of a mesh that is a shell"),
    Key("ignore", list_of(TEXT), "cards of a NASTRAN deck to ignore"),
)


def mass_from_file(body: Item, folder: Path) -> dict[str, Any]:
    """mass, inertia and com of a body with `mass: {file: hub.stl, unit: mm, density: 2700 kg/m3}`.

    The file is looked for beside the scenario; the body's frame is that of the file.
    """
    spec = body["mass"]
    given = MASS_FILE.read(spec)
    for key in ("inertia", "com"):
        if key in body:
            raise body[key].error(f"the file of `mass` says the {key} already; keep one.")
    try:
        return from_file(folder / as_path(given.pop("file"), spec.place), **given).as_body()
    except ModelError as err:
        raise spec.error(str(err)) from err
