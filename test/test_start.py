"""Consistent starts: what follows from what is given, what is left open, what is said twice; closures of a plane."""

import functools
import warnings

import numpy as np
import pytest
from linkages import Y, four_bar, four_bar_angles, off

import rbt_ros as rbt

PHI, GAMMA, PHI_DOT, GAMMA_DOT = four_bar_angles(1.2, 2.0)


def linkage(kind="pin", **given):
    """The four-bar at rest, of which some angles were set."""
    sim = rbt.Simulation(four_bar(kind).build())
    for name, angle in given.items():
        sim.set_hinge(name, angle)
    return sim


@pytest.mark.parametrize("kind", ["pin", "point", "revolute"])
@pytest.mark.filterwarnings("ignore:robot 'four_bar'")
@pytest.mark.parametrize("left", ["a", "b", "d"])
def test_two_angles_of_three_leave_the_third_to_be_found(left, kind):
    """What was given says too much, but agrees: the third is found from anywhere near, by damped steps."""
    exact = {"a": 1.2, "b": PHI - 1.2, "d": GAMMA}
    given = {name: float(angle) for name, angle in exact.items() if name != left}
    sim = linkage(kind, **given)
    assert off(sim.state.q, np.array(list(exact.values()))) < 1e-10
    report = sim.start_report.positions
    assert set(report.given) == set(given) == set(report.tied)
    assert (report.found, report.undetermined, report.surplus) == ((left,), (), 1)


def test_a_report_names_what_is_given_found_open_and_said_twice():
    """One freedom: nothing given leaves all open, the crank determines the rest, three angles are two too many."""
    assert linkage().start_report.positions == ((), (), ("a", "b", "d"), (), 0)
    sim = linkage(a=1.2)
    assert sim.start_report.positions == (("a",), ("b", "d"), (), (), 0)
    assert sim.start_report.rates == ((), (), ("a", "b", "d"), (), 0)
    sim.set_hinge("d", rate=0.3)
    assert sim.start_report.rates == (("d",), ("a", "b"), (), (), 0)
    report = linkage(a=1.2, b=float(PHI - 1.2), d=float(GAMMA)).start_report.positions
    assert str(report) == "given: a, b, d; found: nothing; 2 of a, b, d follow from the others"
    driven = rbt.Simulation(four_bar("pin", speed=2.0).build())
    assert driven.start_report.positions == ((), ("a", "b", "d"), (), (), 0)
    driven = rbt.Simulation(four_bar("pin", speed=2.0).build())
    driven.set_hinge("a", 1.2)
    assert driven.start_report.positions == (("a",), ("b", "d"), (), ("a",), 1)
    assert rbt.Simulation(rbt.load("cubesat").robot).start_report is None


def test_parts_of_what_floats_are_named():
    """A body tied to the world by a distance: its attitude is open, and what of its place the rod does not say."""
    b = rbt.RobotBuilder("kite").body("kite", mass=1.0, inertia=(0.1, 0.2, 0.25))
    b.closure("line", "distance", "world", "kite", at_b=(0.1, 0, 0), length=2.0)
    sim = rbt.Simulation(b.build())
    sim.set_body("kite", position=(1.9, 0, 0))
    report = sim.start_report.positions
    assert report.given == ("position of kite",) and report.undetermined == ("attitude of kite",)
    sim.set_body("kite", quaternion=(1, 0, 0, 0), position=(1.9, 0, 0))
    assert sim.start_report.positions.surplus == 1
    assert (
        sim.start_report.positions.tied == ("attitude of kite", "position of kite") or sim.start_report.positions.tied
    )


@pytest.mark.parametrize("kind", ["pin", "point"])
@pytest.mark.filterwarnings("ignore:robot 'four_bar'")
def test_a_contradiction_says_by_how_much_what_is_nearest_and_what_is_too_much(kind):
    """The angle of d is off by 0.02: the nearest start is within that, and the text says who contradicts whom."""
    sim = linkage(kind, a=1.2, b=float(PHI - 1.2), d=float(GAMMA + 0.02))
    with pytest.raises(rbt.ScenarioError) as refused:
        sim.sample()
    words = str(refused.value)
    assert words.startswith("start: closure 'loop' does not hold, by 0.0")
    assert words.endswith("2 of a, b, d follow from the others: give less. Ways out: set_hinge or set_body.")
    near = [
        float(part.split()[1]) for part in words.split("that do: ")[1].split(".  ")[0].split("; ")[0].split(", ")[:2]
    ]
    assert near == pytest.approx([1.2, PHI - 1.2], abs=0.02)
    sim = linkage(kind, a=1.2)
    for name, rate in (("a", 2.0), ("d", float(GAMMA_DOT) + 0.5)):
        sim.set_hinge(name, rate=rate)
    with pytest.raises(rbt.ScenarioError, match="the rates given do not allow it; .* 1 of a, d follow from the others"):
        sim.sample()


@pytest.mark.parametrize("kind", ["point", "revolute"])
def test_a_plane_closure_is_told_to_be_a_pin(kind):
    """The warning names what follows, and the kind that says the same without; with that there is no warning, and the
    motion is the same to round-off."""
    swing = rbt.Simulation(four_bar(kind).build(), gravity=(0, 0, -9.81))
    swing.set_hinge("a", 1.2)
    count = {"point": "1 of 3", "revolute": "3 of 5"}[kind]
    words = rf"{count} conditions of closure 'loop' follow .* of kind 'pin' says the same: axis=\((-?0, -?1, -?0)\)\."
    with pytest.warns(UserWarning, match=words):
        swing.sample()
    pinned = rbt.Simulation(four_bar("pin").build(), gravity=(0, 0, -9.81))
    pinned.set_hinge("a", 1.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pinned.sample()
    for sim in (swing, pinned):
        sim.advance(500)
    assert pinned.state.q == pytest.approx(swing.state.q, abs=1e-12)
    assert pinned.sample().constraints["loop"].wrench == pytest.approx(
        swing.sample().constraints["loop"].wrench, abs=1e-9
    )


def test_a_pin_in_space_holds_a_point_on_a_line():
    """A bead on a tilted wire: it falls along it by g sin(tilt), and the wire pushes it across only."""
    tilt = np.array([0.6, 0.0, 0.8])
    b = rbt.RobotBuilder("wire").body("bead", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.closure("wire", "pin", "world", "bead", at_a=(0, 0, 1), axis=tuple(tilt))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -10))
    sim.set_body("bead", position=(0, 0, 1))
    result = sim.run(until=0.5, every=0.1)
    fallen = -0.5 * 8.0 * result.t**2
    assert result.body("bead").position == pytest.approx(np.array([0, 0, 1]) + np.outer(fallen, tilt), abs=1e-13)
    force = result.constraint("wire").wrench[0, 3:]
    assert force == pytest.approx(2.0 * (np.array([0, 0, 10]) - 8.0 * tilt), abs=1e-12)


def driven_arm():
    """Afloat, with an arm that swings by itself, and so cannot be set elsewhere."""
    b = rbt.RobotBuilder("driven_arm")
    b.body("hub", mass=10.0, inertia=(1.0, 1.1, 1.2))
    b.body("arm", mass=1.0, inertia=(0.1, 0.1, 0.01), com=(0, 0, 0.5))
    b.hinge("sh", "revolute", parent="hub", child="arm", axis=Y)
    return rbt.Simulation(b.prescribe("sh", rbt.sines([(0.5, 1.0, 0.0)])).build())


@pytest.mark.filterwarnings("ignore:robot 'four_bar'")
@pytest.mark.parametrize("ticks", [0, 3])
@pytest.mark.parametrize(
    ("kind", "wrong"), [(driven_arm, {"sh": 0.7}), (functools.partial(linkage, a=1.2), {"b": 1.0, "d": 0.3})]
)
def test_a_state_that_cannot_be_raises_the_same_error_until_it_is_mended(kind, wrong, ticks):
    """Whoever asks, however often, and nothing moves. After a reset it moves with the bits that it has without it."""
    sim, plain = kind(), kind()
    for each in (sim, plain):
        each.warm_up()
        each.advance(ticks)
    for name, angle in wrong.items():
        sim.set_hinge(name, angle)
    told = set()
    for reader in 2 * (sim.sample, lambda: sim.state, sim.digest, sim.memory, sim.warm_up, sim.advance):
        with pytest.raises(rbt.ScenarioError, match=r"Ways out: set_hinge or set_body, .*reset\(\)\.$") as refused:
            reader()
        told.add(str(refused.value))
    assert len(told) == 1 and sim.tick == ticks
    sim.reset()
    sim.advance(ticks)
    assert sim.digest() == plain.digest()


def test_a_first_start_that_cannot_be_has_nothing_to_go_back_to():
    """It can be set otherwise; a reset says what is wrong."""
    sim = linkage(a=1.2, b=1.0, d=0.3)
    for way in (sim.sample, sim.reset):
        with pytest.raises(rbt.ScenarioError, match=r"give less\. Ways out: set_hinge or set_body\.$"):
            way()
    for name, angle in {"b": PHI - 1.2, "d": GAMMA}.items():
        sim.set_hinge(name, float(angle))
    assert off(sim.sample().q[-1], GAMMA) < 1e-9


def test_what_is_prescribed_against_what_was_set_can_be_released():
    sim = driven_arm()
    sim.set_hinge("sh", 0.7)
    with pytest.raises(rbt.ScenarioError, match=r"release\('sh'\)"):
        sim.advance(1)
    assert sim.release("sh").names == ("sh",)
    sim.advance(1)
    assert sim.sample().q[-1] == pytest.approx(0.7, abs=1e-6)


@pytest.mark.parametrize("in_impact", [False, True])
def test_a_planned_change_that_cannot_be_made_is_told_once_and_stands_in_the_changes(monkeypatch, in_impact):
    """Where it is found to be wrong, and where its impact has no solution."""

    def unsolvable(*_):
        raise rbt.SolveError("no impulses are found")

    sim = driven_arm()
    if in_impact:
        monkeypatch.setattr(type(sim._mech), "switch", unsolvable)
    change, why = (rbt.Release("sh"), "no impulses") if in_impact else (rbt.Undock("nothing"), "nothing is docked by")
    sim.add_input(change, start=0.005)
    with pytest.raises(rbt.SolveError, match=f"planned {type(change).__name__}.* failed: {why}"):
        sim.advance(10)
    assert sim.tick == 5
    sim.advance(5)
    (told,) = sim.changes
    assert (told.t, told.what, told.names) == (0.005, type(change).__name__.lower(), ()) and why in told.error
