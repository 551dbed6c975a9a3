"""Totals of test/reference/nastran/*.bdf by pyNastran: `python test/nastran_oracle.py` writes them to totals.json.

pyNastran 1.4.1 takes an element as a point mass in the mean of its corners. The inertia of a CONM2 it adds with
products of the wrong sign, and not at all where CID is above 0: the decks have no such, their test has a closed form.
"""

import json
from pathlib import Path

DECKS = Path(__file__).parent / "reference" / "nastran"
TOTALS = DECKS / "totals.json"


def totals():
    """By deck: mass, CoM and the tensor about it, in the units of the deck."""
    from pyNastran.bdf.bdf import read_bdf
    from pyNastran.bdf.mesh_utils.mass_properties import mass_properties

    found = {}
    for deck in sorted(DECKS.glob("*.bdf")):
        punch = "BEGIN BULK" not in deck.read_text(encoding="ascii")
        mass, com, (xx, yy, zz, xy, xz, yz) = mass_properties(read_bdf(str(deck), punch=punch, debug=None))
        inertia = [[xx, -xy, -xz], [-xy, yy, -yz], [-xz, -yz, zz]]
        found[deck.stem] = {"mass": mass, "com": list(com), "inertia": inertia}
    return found


if __name__ == "__main__":
    import pyNastran

    TOTALS.write_text(json.dumps({"by": f"pyNastran {pyNastran.__version__}", **totals()}, indent=1) + "\n")
