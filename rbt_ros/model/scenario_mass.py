"""`mass:` of a body in a scenario: a number, or the file that says how the mass is spread."""

from pathlib import Path
from typing import Any

from rbt_ros.errors import ModelError
from rbt_ros.model.mass.files import from_file
from rbt_ros.model.reading import Item
from rbt_ros.paths import as_path

QUANTITIES = {"density": "density", "mass": "mass", "thickness": "length"}
WORDS = ("unit", "mass_unit")


def mass_from_file(body: Item, folder: Path) -> dict[str, Any]:
    """mass, inertia and com of a body with `mass: {file: hub.stl, unit: mm, density: 2700 kg/m3}`.

    The file is looked for beside the scenario; the body's frame is that of the file.
    """
    spec = body["mass"].mapping("file", *WORDS, *QUANTITIES, "ignore")
    for key in ("inertia", "com"):
        if key in body:
            raise body[key].error(f"the file of `mass` says the {key} already; keep one.")
    given: dict[str, Any] = {key: spec[key].text() for key in WORDS if key in spec}
    given |= {key: spec[key].number(dimension) for key, dimension in QUANTITIES.items() if key in spec}
    if "ignore" in spec:
        given["ignore"] = [entry.text() for entry in spec["ignore"].entries()]
    try:
        return from_file(folder / as_path(spec["file"].text(), spec.place), **given).as_body()
    except ModelError as err:
        raise spec.error(str(err)) from err
