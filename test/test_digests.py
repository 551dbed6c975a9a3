"""Each bit of the motion of the scenarios of the package stays what it was; a commit that changes one says why."""

import json
from pathlib import Path

import pytest

import rbt_ros as rbt
from rbt_ros.model.stabilise import METHODS

KNOWN = json.loads((Path(__file__).parent / "reference" / "digests.json").read_text(encoding="utf-8"))["digests"]


@pytest.mark.parametrize(("name", "how"), [(name, how) for name, known in KNOWN.items() for how in known])
def test_the_bits_of_a_scenario_are_those_of_before(name, how):
    sim = rbt.load(name).simulation()
    for word in how.split() if how != "as it is" else ():
        (sim.set_stabilise if word in METHODS else sim.set_integrator)(word)
    sim.advance(int(0.3e9 // sim.h_ns))
    assert sim.digest().startswith(KNOWN[name][how])


def test_every_scenario_is_in_the_list():
    assert {file.stem for file in (Path(__file__).parents[1] / "config").glob("*.yaml")} == set(KNOWN)
