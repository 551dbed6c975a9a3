"""Residuals: what a model says against what was measured."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags.cdr import encode
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.residual import residuals
from rbt_ros.bags.types import Types
from rbt_ros.core.vec import qmul
from rbt_ros.fields import header
from rbt_ros.model.hinge_commands import HingeCommand

PENDULUM = """
rbt: 1
robot:
  bodies:
    arm: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, 0, -1]}
    rod: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, 0, -1]}
  hinges:
    shoulder: {kind: revolute, parent: world, child: arm, axis: [0, 1, 0]}
    elbow: {kind: revolute, parent: arm, child: rod, at: [0, 0, -2], axis: [0, 1, 0]}
gravity: [0, 0, -9.81]
start: {hinges: {shoulder: {angle: 0.5}, elbow: {angle: 1}}}
"""


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    file = tmp_path_factory.mktemp("model") / "pendulum.yaml"
    file.write_text(PENDULUM)
    return str(file)


@pytest.fixture(scope="module")
def bag(scenario, tmp_path_factory):
    folder = tmp_path_factory.mktemp("bags") / "b"
    sim = rbt.load(scenario).simulation()
    with rbt.Recorder(folder, sim):
        sim.advance(300)
        sim.command(HingeCommand(("elbow",), effort=(2.0,)))
        sim.advance(700)
    return rbt.Bag(folder)


def measured(folder, times_s, positions, names=("shoulder", "elbow"), back=False):
    """A bag as an encoder's driver writes it: joint states alone, positions alone."""
    writer, types = BagWriter(folder), Types()
    channel = writer.add_channel("/joint_states", "sensor_msgs/msg/JointState")
    stamps = [round(t * 1e9) + 1_700_000_000_000_000_000 for t in times_s]
    if back:
        stamps[5] = stamps[3]
    for stamp, row in zip(stamps, positions, strict=True):
        fields = {"header": header(stamp), "name": list(names), "position": list(row)}
        writer.write(channel, stamp, bytes(encode(types, "sensor_msgs/msg/JointState", fields)))
    writer.close()
    return rbt.Bag(folder)


def test_the_same_model_leaves_nothing(bag):
    """The command log acts; every residual is zero, bit by bit."""
    found = residuals(bag)
    assert {row.name for row in found.rows} == {f"{j}.{k}" for j in ("shoulder", "elbow") for k in ("position", "rate")}
    assert all(not row.error.any() for row in found.rows) and len(found.rows[0].t_ns) == 1001


def test_another_mass_is_seen_where_it_acts(bag):
    found = residuals(bag, changes={"robot.bodies.rod.mass": "1.2 kg"})
    assert all(row.error[0] == 0.0 and row.rms > 1e-4 for row in found.rows)


def test_an_encoder_bag_is_compared_and_aligned(scenario, tmp_path):
    """Stamps of another clock, at 200 Hz, with 30 ms of latency: alignment finds it.

    Interpolation between samples 5 ms apart is off by h²/8 |q''| < 2e-4: so is the shift, at a rate of 1 rad/s.
    """
    sim = rbt.load(scenario).simulation()
    result = sim.run(2.0, every=1e-3)
    times = np.arange(0.0, 1.5, 0.005)
    late = np.maximum(times - 0.03, 0.0)
    rows = [np.interp(late, result.t, result.hinge(joint).angle) for joint in ("shoulder", "elbow")]
    bag = measured(tmp_path / "b", times, zip(*rows, strict=True))
    plain, aligned = residuals(bag, scenario), residuals(bag, scenario, align=True)
    assert aligned.shift_s == pytest.approx(0.03, abs=2e-4) and plain.shift_s == 0.0
    for before, after in zip(plain.rows, aligned.rows, strict=True):
        assert after.rms < before.rms / 50


def test_measured_joints_drive(scenario, tmp_path):
    """The shoulder follows its encoder, the elbow answers: as in the run that was measured, to the spline's error.

    A cubic through samples h apart is off by 5/384 h⁴ |q''''|: 1e-8 · 0.013 · 1e4 rad at 10 ms; ends cost two orders.
    """
    sim = rbt.load(scenario).simulation()
    result = sim.run(1.0, every=0.01)
    rows = [result.hinge(joint).angle for joint in ("shoulder", "elbow")]
    bag = measured(tmp_path / "b", result.t, zip(*rows, strict=True))
    heavy = {"robot.bodies.arm.mass": "5 kg"}
    free, driven = residuals(bag, scenario, heavy), residuals(bag, scenario, heavy, driven=["shoulder"])
    worst = {row.name: np.abs(row.error).max() for row in driven.rows}
    assert worst["shoulder.position"] < 1e-6 and worst["elbow.position"] < 2e-2
    assert np.abs(free.rows[0].error).max() > 0.1
    with pytest.raises(rbt.MessageError, match="has no positions of joint 'wrist' that could drive it"):
        residuals(bag, scenario, driven=["wrist"])


def test_bags_that_do_not_fit_are_refused(scenario, tmp_path):
    times, none = np.arange(10) * 0.01, np.zeros((10, 2))
    with pytest.raises(rbt.ScenarioError, match="joints knee of the bag are not those of .*, whose elbow it lacks"):
        residuals(measured(tmp_path / "a", times, none, ("shoulder", "knee")), scenario)
    with pytest.raises(rbt.MessageError, match=r"do not rise: message 5 at .* Does the bag hold several runs\?"):
        residuals(measured(tmp_path / "b", times, none, back=True), scenario)
    writer = BagWriter(tmp_path / "c")
    channel = writer.add_channel("/joint_states", "std_msgs/msg/String")
    writer.write(channel, 1, bytes(encode(Types(), "std_msgs/msg/String", {"data": "x"})))
    writer.close()
    with pytest.raises(
        rbt.MessageError, match="topic /joint_states of .* is std_msgs/msg/String; sensor_msgs.* needed"
    ):
        residuals(rbt.Bag(tmp_path / "c"), scenario)


def states(folder, rows, topic="/joint_states"):
    """A bag of joint states (names, positions), each 10 ms."""
    writer = BagWriter(folder)
    channel = writer.add_channel(topic, "sensor_msgs/msg/JointState")
    for k, (names, positions) in enumerate(rows):
        stamp = 10**9 + k * 10**7
        fields = {"header": header(stamp), "name": list(names), "position": list(positions)}
        writer.write(channel, stamp, bytes(encode(writer.types, "sensor_msgs/msg/JointState", fields)))
    writer.close()
    return rbt.Bag(folder)


def recorded_of(found):
    return {row.name: row.recorded.tolist() for row in found.rows}


def test_names_come_in_any_order_and_some_at_a_time(scenario, tmp_path):
    """As several drivers on one topic send them; by their places they would be left out, or taken for each other."""
    swapped = [(("shoulder", "elbow"), (1.0, 2.0)), (("elbow", "shoulder"), (2.1, 1.1)), ((), ())] * 2
    found = residuals(states(tmp_path / "a", swapped), scenario)
    assert recorded_of(found) == {"shoulder.position": [1.0, 1.1] * 2, "elbow.position": [2.0, 2.1] * 2}
    apart = [(("shoulder",), (1.0,)), (("elbow",), (2.0,))] * 3
    found = residuals(states(tmp_path / "b", apart), scenario, driven=["shoulder"])
    assert recorded_of(found) == {"shoulder.position": [1.0] * 3, "elbow.position": [2.0] * 3}
    with pytest.raises(rbt.MessageError, match="message 1 has 2 names and 1 numbers as position"):
        residuals(states(tmp_path / "c", [*swapped[:1], (("shoulder", "elbow"), (1.0,))]), scenario)


def test_joints_without_an_encoder_are_simulated_and_told(scenario, tmp_path):
    found = residuals(states(tmp_path / "b", [(("shoulder",), (0.1,))] * 5), scenario, driven=["shoulder"])
    assert list(recorded_of(found)) == ["shoulder.position"]
    assert "does not tell of elbow: simulated, and compared with nothing" in found.text()
    with pytest.raises(rbt.MessageError, match="no positions of joint 'elbow' that could drive it; it has shoulder"):
        residuals(states(tmp_path / "c", [(("shoulder",), (0.1,))] * 5), scenario, driven=["elbow"])


def test_what_is_no_number_is_left_out_and_told(scenario, tmp_path):
    """It would make all of the table and the time shift no numbers."""
    rows = [(("shoulder", "elbow"), (float("nan") if k == 7 else 0.1, 0.2)) for k in range(20)]
    found = residuals(states(tmp_path / "b", rows), scenario, driven=["shoulder"], align=True)
    assert "shoulder.position: 1 of 20 recorded values are no finite numbers." in found.told
    assert [len(row.t_ns) for row in found.rows] == [19, 20] and np.isfinite([row.rms for row in found.rows]).all()
    assert abs(found.shift_s) <= 0.5


def test_joint_states_of_several_are_not_taken_for_none(scenario, tmp_path):
    writer = BagWriter(tmp_path / "b")
    for topic in ("/a/joint_states", "/b/joint_states"):
        channel = writer.add_channel(topic, "sensor_msgs/msg/JointState")
        writer.write(channel, 1, bytes(encode(writer.types, "sensor_msgs/msg/JointState", {})))
    writer.close()
    with pytest.raises(rbt.MessageError, match="no one topic joint_states: several: /a/joint_states, /b/joint_states"):
        residuals(rbt.Bag(tmp_path / "b"), scenario)


def test_an_attitude_is_compared_by_its_angle_whatever_the_sign_of_the_quaternion(tmp_path):
    """q and -q are one attitude; one that is turned on by 0.2 rad about any axis is 0.2 rad away, all along.

    Half a turn away at the start, and later: an angle has no favourite attitude.
    """
    file = tmp_path / "top.yaml"
    file.write_text(
        "rbt: 1\nrobot: {bodies: {top: {mass: 1, inertia: [1, 2, 3]}}}\n"
        "start: {bodies: {top: {omega_body: [0.1, 0, 9]}}}\n"
    )
    run = rbt.load(str(file)).simulation().run(1.0, every=0.01)
    signs = np.where(np.arange(len(run.t)) % 3, 1.0, -1.0)[:, None]
    for k, angle in enumerate((0.0, 0.2, np.pi)):
        on = np.array([np.cos(angle / 2), 0.0, 0.6 * np.sin(angle / 2), 0.8 * np.sin(angle / 2)])
        q = signs * np.stack(qmul(tuple(run.body("top").quaternion.T), tuple(on)), axis=1)
        writer = BagWriter(tmp_path / f"b{k}")
        channel = writer.add_channel("/odom", "nav_msgs/msg/Odometry")
        for t, row in zip(run.t, q, strict=True):
            pose = {"pose": {"position": {}, "orientation": dict(zip("wxyz", row.tolist(), strict=True))}}
            stamp = 10**18 + round(t * 1e9)
            fields = {"header": header(stamp), "child_frame_id": "top", "pose": pose}
            writer.write(channel, stamp, bytes(encode(writer.types, "nav_msgs/msg/Odometry", fields)))
        writer.close()
        found = residuals(rbt.Bag(tmp_path / f"b{k}"), str(file), align=k == 0)
        rows = {row.name: row for row in found.rows}
        assert list(rows) == ["top.position_x", "top.position_y", "top.position_z", "top.attitude"]
        row = rows["top.attitude"]
        assert row.unit == "rad" and row.error == pytest.approx(angle, abs=1e-12 if k else 1e-6)
        assert np.abs(np.diff(row.recorded)).max() < 0.1 and row.recorded[0] == 0.0  # 9 rad/s, each 10 ms: no jumps
        axes = found.plot().axes
        assert [ax.get_ylabel() for ax in axes[2:]] == ["simulated - recorded [m]", "angle between them [rad]"]
        assert np.array_equal(axes[3].lines[0].get_ydata(), row.error)
