"""What another process sees of a flight: attitude, momentum, the books of energy, the commands that act."""

import json
from pathlib import Path

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from observed import Motion, quaternion, rotation, vector, wrench
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

import rbt_ros as rbt
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.ros.convert import stamp_of

EPS = np.finfo(float).eps
CLOCK_START = 1_000_000_000  # [ns]
R1 = json.loads((Path(__file__).parents[1] / "reference" / "r1_free_top.json").read_text(encoding="utf-8"))


def offline(scenario, tick: int, step: float | None = None):
    """The Sample at `tick`, computed here."""
    sim = rbt.load(str(scenario)).simulation() if step is None else halved(scenario, step)
    sim.advance(tick)
    return sim.sample()


def halved(scenario, step: float) -> rbt.Simulation:
    loaded = rbt.load(str(scenario))
    sim = rbt.Simulation(loaded.robot, gravity=loaded.gravity, step=step)
    for name, start in loaded.start_bodies.items():
        sim.set_body(name, **vars(start))
    return sim


def test_tf_is_the_exact_attitude_to_the_order_of_rk4(ros):
    """r1's CubeSat at 1 s and 10 s. What RK4 may be wrong by is measured without ROS: halving h takes 15/16 of it away.

    Slow at first, so that the first second is not over before anybody listens, and until the first transform has come;
    one a second, of which the queues hold ten, so that none is lost though this process be stopped for seconds.
    """
    child = ros.start(outputs__tf=1.0, realtime_factor=0.01)
    peer = ros.peer()
    clock, tf = peer.listen(Clock, "/clock", depth=1), peer.listen(TFMessage, "/tf")
    peer.until(lambda: clock and peer.node.count_publishers("/tf"), "clock", child)
    assert clock[0].clock.sec == 1, "the clock starts at clock_start = 1 s, and this test came too late"
    assert peer.set_parameter("realtime_factor", 0.1).successful
    peer.until(lambda: tf, "the transform of the first second", child)
    assert peer.set_parameter("realtime_factor", 4.0).successful
    peer.until(lambda: tf and tf[-1].transforms[0].header.stamp.sec >= 11, "10 s of flight", child)

    seen = {stamp_of(m.transforms[0]) - CLOCK_START: quaternion(m.transforms[0].transform.rotation) for m in tf}
    states = {state["t"]: np.array(state["q"]) for state in R1["cases"]["cubesat_H1_E20"]["states"]}
    for t in (1.0, 10.0):
        q, ticks = seen[round(t * 1e9)], round(t * 1e3)
        fine = offline("cubesat", 2 * ticks, step=0.5e-3).pose[0, :4]
        coarse = offline("cubesat", ticks).pose[0, :4]
        rk4_error = 16 / 15 * np.linalg.norm(coarse - fine)
        error = min(np.linalg.norm(q - sign * states[t]) for sign in (1, -1))
        assert error == pytest.approx(rk4_error, rel=0.2)  # measured: 1.0e-6 and 1.2e-5, estimate within 2 %
        assert np.array_equal(q, coarse)  # no bit is lost on the way


def test_diagnostics_keep_the_same_books_as_an_observer_of_odom(ros, tumbler):
    """T, U, P and both L from odom and the inertia at the stamp of the report, to 1e-12 of their size."""
    child = ros.start(tumbler)
    peer = ros.peer()
    odom, diagnostics = peer.listen(Odometry, "odom"), peer.diagnostics()

    def both():
        reports = {stamp_of(report): report for report in diagnostics.messages}
        return next(((reports[stamp_of(m)], Motion(m)) for m in odom if stamp_of(m) in reports), None)

    report, motion = peer.until(both, "a report, and odom of its stamp", child)
    stamp = stamp_of(report)
    values = diagnostics.values(report, "conservation").items()
    told = {key: float(value) for key, value in values if "drift" not in key}  # a drift may have nothing to count from

    robot = rbt.load(str(tumbler)).robot
    body, g = robot.bodies[0], np.array(rbt.load(str(tumbler)).gravity)
    R = rotation(motion.q)
    com = motion.p + R @ body.com
    P = motion.momentum(body)
    spin = R @ body.inertia @ motion.w_B
    kinetic = P @ P / (2 * body.mass) + motion.w_B @ body.inertia @ motion.w_B / 2
    potential = -body.mass * g @ com
    size = kinetic + body.mass * np.abs(g * com).sum()
    lever = np.linalg.norm(com) * np.linalg.norm(P) + np.linalg.norm(spin)

    def told_vector(name: str, unit: str) -> np.ndarray:
        return np.array([told[f"{name} {axis} [{unit}]"] for axis in "xyz"])

    assert told["scenario time [s]"] == pytest.approx((stamp - CLOCK_START) * 1e-9, abs=1e-12)
    assert told["energy, kinetic [J]"] == pytest.approx(kinetic, abs=1e-12 * size)
    assert told["energy, potential [J]"] == pytest.approx(potential, abs=1e-12 * size)
    assert told["energy, total [J]"] == pytest.approx(kinetic + potential, abs=1e-12 * size)
    np.testing.assert_allclose(told_vector("momentum", "kg m/s"), P, atol=1e-12 * np.linalg.norm(P), rtol=0)
    about_com, about_origin = "angular momentum about the CoM", "angular momentum about the origin"
    np.testing.assert_allclose(told_vector(about_com, "N m s"), spin, atol=1e-12 * np.linalg.norm(spin), rtol=0)
    np.testing.assert_allclose(told_vector(about_origin, "N m s"), np.cross(com, P) + spin, atol=1e-12 * lever, rtol=0)


def test_a_force_pulse_changes_the_momentum_by_the_impulse_booked(ros):
    """P rises by F h in each of the 20 ticks of its hold from the stamp in the command log, and then no more."""
    child = ros.start(wrench_hold=0.02, realtime_factor=0.1, outputs__odom=1000.0)
    peer = ros.peer()
    odom = peer.listen(Odometry, "odom")
    push, log = peer.commander("wrench/cubesat", "/rbt_simulator/latched/wrench/cubesat", child)
    peer.until(lambda: len(odom) > 5, "odom", child)
    force = np.array([1.0, 2.0, -3.0])

    def pulse() -> list[Motion | None]:
        """The motion from 3 ticks before the command to 9 behind its hold; None where a slow reader lost it."""
        before = len(log)
        push.publish(wrench("world", tuple(force)))
        peer.until(lambda: len(log) > before, "the command in the log", child)
        booked = stamp_of(log[-1])
        peer.until(lambda: stamp_of(odom[-1]) >= booked + 30_000_000, "the end of the pulse", child)
        assert len(log) == before + 1
        motions = {m.stamp: m for m in map(Motion, odom)}
        return [motions.get(booked + tick * 1_000_000) for tick in range(-3, 30)]

    while None in (motions := pulse()):
        pass
    assert log[-1].header.frame_id == "world"
    assert (vector(log[-1].wrench.force) == force).all() and not vector(log[-1].wrench.torque).any()
    body = rbt.load("cubesat").robot.bodies[0]
    for tick, motion in enumerate(motions, -3):
        impulse = force * 1e-3 * (20 * (len(log) - 1) + min(max(tick, 0), 20))
        # 20 sums, two rotations: measured 1.4 EPS of the whole impulse
        atol = 20 * EPS * np.linalg.norm(force) * 0.02 * len(log)
        np.testing.assert_allclose(motion.momentum(body), impulse, rtol=0, atol=atol)


@pytest.mark.parametrize(("at", "frame"), [("origin", "world"), ("origin", ""), ("com", "world"), ("com", "brick")])
def test_a_commanded_flight_is_repeated_bit_by_bit_from_the_command_log(ros, tumbler, at, frame):
    """The command log, fed into a Simulation here, gives every later odom: frame, point, hold and stamp are as told."""
    quiet = {"outputs__odom": 0.0, "outputs__joint_states": 0.0}
    child = ros.start(tumbler, wrench_at=at, wrench_hold=0.03, realtime_factor=0.1, **quiet)
    peer = ros.peer()
    tf = peer.listen(TFMessage, "/tf")
    push, log = peer.commander("wrench", "/rbt_simulator/latched/wrench/brick", child)
    peer.until(lambda: tf, "tf", child)
    message = wrench(frame, (30.0, -20.0, 10.0), (1.0, 2.0, 3.0))
    push.publish(message)
    peer.until(lambda: log, "the command in the log", child)

    def later() -> list:
        return [m.transforms[0] for m in tf if stamp_of(m.transforms[0]) >= stamp_of(log[0])]

    peer.until(lambda: len(later()) > 60, "the pulse and what follows", child)
    assert log[0].header.frame_id == (frame or "brick")
    assert log[0].wrench == message.wrench

    sim = rbt.load(str(tumbler)).simulation()
    sim.advance((stamp_of(log[0]) - CLOCK_START) // 1_000_000)
    axes = "world" if frame == "world" else "body"
    sim.command(WrenchCommand(Wrench("brick", (30.0, -20.0, 10.0), (1.0, 2.0, 3.0), axes, at), 30_000_000))
    for stamped in later():  # of a thousand a second, slowed down, a reader under load may still lose some
        sim.advance((stamp_of(stamped) - CLOCK_START) // 1_000_000 - sim.tick)
        pose = sim.sample().pose[0]
        assert np.array_equal(quaternion(stamped.transform.rotation), pose[:4])
        assert np.array_equal(vector(stamped.transform.translation), pose[4:])
