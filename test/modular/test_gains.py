"""Gains by inertia and the steps they need: similar arrays move alike, stiff ones are integrated, or refused."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.modular import flights, paths, turns
from rbt_ros.modular.gains import STIFF, THESIS, gains

ARRAYS = {
    "rods": rbt.modular.rods((1.0, 2.5, 0.7), (2.0, 0.5, 1.5)),
    "heavy": rbt.modular.l_shape(size=3.0, mass=100.0),
    "slide": rbt.modular.l_shape(hinge="slide"),
    "chain": rbt.modular.chain(6, mass=0.1),
    "net": rbt.modular.cubic_net(),
}


def fastest(robot, found):
    """[1/s] of S psï + kd psi̇ = 0, flat."""
    return np.linalg.eigvals(
        np.linalg.solve(
            turns.Folding(robot).reduced_inertias(np.zeros((1, len(robot.joint_names))))[0], np.diag(found.kd)
        )
    ).real.max()


def test_the_l_shape_has_the_gains_of_the_thesis():
    for usual in (THESIS, STIFF):
        found = gains(rbt.modular.l_shape(), like=usual)
        assert (found.kp.tolist(), found.kd.tolist()) == ([usual[0]] * 2, [usual[1]] * 2)


@pytest.mark.parametrize("robot", ARRAYS.values(), ids=ARRAYS)
def test_every_array_has_the_same_fastest_pole(robot):
    """To the six figures of the gains."""
    like = rbt.modular.l_shape()
    assert fastest(robot, gains(robot)) == pytest.approx(fastest(like, gains(like)), rel=1e-5)


@pytest.mark.parametrize("size, mass", [(3.0, 100.0), (0.5, 0.2)])
def test_similar_arrays_turn_alike(size, mass):
    """All lengths times `size`, all masses times `mass`: the same angles at the same times, to the figures of gains."""
    path = paths.rectangle(2.0, -1.2)
    one, other = (
        flights.fly(rbt.modular.l_shape(**o), path) for o in ({}, dict(size=size, thickness=0.01 * size, mass=mass))
    )
    assert other.corners == pytest.approx(one.corners, abs=1e-7)
    assert other.quaternion == pytest.approx(one.quaternion, abs=1e-7)


@pytest.mark.parametrize("kp, kd", [(20.0, 12.0), (100.0, 40.0)])
def test_stiff_hinges_turn_as_the_kinematics(kp, kd):
    """The step goes with the gains: within 1e-7 of the path through the corners (2.6 rad off by steps of 10 ms)."""
    robot, path = rbt.modular.l_shape(), paths.rectangle(np.radians(-170), np.radians(-170))
    flight = flights.fly(robot, path, kp=kp, kd=kd)
    there = turns.along(robot, paths.polygon(flight.corners))[-1]
    assert np.abs(flight.quaternion * np.sign(flight.quaternion @ there) - there).max() < 1e-7
    assert flight.momentum < 1e-8 and flight.simulation.h_ns < 10_000_000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"kp": 100.0, "kd": 40.0, "step": 0.01},
            "has an angular momentum of .* and should have none: with kp 100, kd 40",
        ),
        (
            {"leg": 1.0},
            r"joint 'psi1' is at .* after a leg of 1 s and should be at 2, within 10% of its way: with kp 5, kd",
        ),
        ({"kp": 1.0, "kd": 0.0}, "joint 'psi1' is at .* it is too slow or swings; give a longer leg or other gains"),
    ],
)
def test_a_flight_that_goes_wrong_is_an_error(options, message):
    robot, path = rbt.modular.l_shape(), paths.rectangle(2.0, 2.0)
    with pytest.raises(rbt.SolveError, match=message):
        flights.fly(robot, path, **options)
    (failed,) = flights.fly_many(robot, [path], **options)
    assert isinstance(failed, rbt.SolveError)


def test_gains_that_no_step_can_follow_are_refused():
    with pytest.raises(
        rbt.ScenarioError, match=r"with kp 1e\+06, kd 1e\+06 its hinges settle at .* 1/s, which takes steps"
    ):
        flights.fly(rbt.modular.l_shape(), paths.rectangle(1.0, 1.0), kp=1e6, kd=1e6)
