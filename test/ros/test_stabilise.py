"""The stabilised node: real torques are booked, the parameter switches while it runs."""

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from observed import Motion, rotation, vector, wrench

import rbt_ros as rbt
from rbt_ros.ros.convert import stamp_of

HOLD_NS = 100_000_000


def booked(log, end_ns):
    """Σ moment · time and Σ force · time of the command log up to end_ns: each acts for its hold, or until the next."""
    turning, push = np.zeros(3), np.zeros(3)
    for message, after in zip(log, [*map(stamp_of, log[1:]), end_ns], strict=True):
        assert message.header.frame_id == "world"
        seconds = min(HOLD_NS, after - stamp_of(message)) * 1e-9
        turning += seconds * vector(message.wrench.torque)
        push += seconds * vector(message.wrench.force)
    return turning, push


@pytest.mark.parametrize("seconds", [6, pytest.param(600, marks=[pytest.mark.soak, pytest.mark.timeout(900)])])
def test_momentum_changes_by_what_is_booked(ros, seconds):
    """Wrenches that come and go: both momenta, of the published q and omega, to 1e-10 of the largest impulse."""
    ros.limit = 150 + seconds
    child = ros.start("cubesat", stabilise="projection", realtime_factor=20.0, wrench_at="com", outputs__odom=100.0)
    peer = ros.peer()
    odom = peer.listen(Odometry, "odom")
    push, log = peer.commander("wrench/cubesat", "/rbt_simulator/latched/wrench/cubesat", child)
    peer.until(lambda: odom, "odom", child)
    rng, body = np.random.default_rng(5), rbt.load("cubesat").robot.bodies[0]
    start = Motion(odom[-1])
    end = start.stamp + seconds * 1_000_000_000
    while stamp_of(odom[-1]) < end or len(log) < 10:  # a machine under load gets few commands into these seconds
        sent = len(log) + 1
        push.publish(wrench("world", tuple(rng.normal(size=3)), tuple(0.02 * rng.normal(size=3))))
        peer.until(lambda n=sent: len(log) >= n, "the command in the log", child)
        resume = stamp_of(log[-1]) + int(rng.integers(0, 3 * HOLD_NS))
        peer.until(lambda t=resume: stamp_of(odom[-1]) >= t, "a pause", child)
    peer.until(lambda: stamp_of(odom[-1]) >= stamp_of(log[-1]) + 2 * HOLD_NS, "the end of the last pulse", child)

    last = Motion(odom[-1])
    turning, impulse = booked(log, last.stamp)
    spin = [rotation(m.q) @ body.inertia @ m.w_B for m in (start, last)]
    size = sum(np.linalg.norm(vector(m.wrench.torque)) for m in log) * 0.1 + np.linalg.norm(spin[0])
    assert np.abs(spin[1] - spin[0] - turning).max() < 1e-10 * size
    moved = last.momentum(body) - start.momentum(body)
    assert np.abs(moved - impulse).max() < 1e-10 * sum(np.linalg.norm(vector(m.wrench.force)) for m in log) * 0.1


def test_the_parameter_switches_while_it_runs(ros):
    child = ros.start()
    peer = ros.peer()
    diagnostics = peer.diagnostics()
    diagnostics.next(child)
    for method in ("gradient", "none", "projection"):
        assert peer.set_parameter("stabilise", method).successful
    refused = peer.set_parameter("stabilise", "much")
    assert not refused.successful and "'much' is not one of none, gradient, projection" in refused.reason
    drifts: list[list[float]] = []

    def stays(message) -> bool:
        told = diagnostics.values(message, "conservation")
        drifts.append([float(told[f"{what} drift, relative"]) for what in ("energy", "angular momentum")])
        return len(drifts) > 1 and np.abs(np.subtract(*drifts[-2:])).max() < 1e-13

    # RK4 has drifted by 1e-8 each second before; with the projection nothing moves any more
    diagnostics.until(stays, "a second without drift", child)
    assert stays(diagnostics.next(child))


def test_a_robot_that_hangs_on_the_world_says_why_not(ros):
    child = ros.start("five_body", stabilise="projection")
    assert child.wait() == 1
    assert "parameter stabilise: 'projection' is not one of none" in child.stderr
    assert "hangs on the spherical hinge 'shoulder'" in child.stderr
