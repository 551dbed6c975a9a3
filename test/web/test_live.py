"""What a viewer sets reaches the simulation, or is refused beside the control: without a server, without a browser."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags.rerun import Rerun
from rbt_ros.bags.verify import verify
from rbt_ros.model.scenario import read_scenario, scenario_from_text
from rbt_ros.stream.memory import Reader
from rbt_ros.web.live import Live

TICK_NS = 1_000_000
ROPE = """
rbt: 1
robot:
  name: swing
  bodies: {seat: {mass: 1 kg, inertia: [1, 1, 1]}}
  ropes: {line: {bodies: [world, seat], at_a: [0, 0, 1], length: 2 m}}
gravity: [0, 0, -9.81]
"""
SLEEVE = """
rbt: 1
robot:
  name: rod
  bodies: {sleeve: {mass: 1 kg, inertia: [1, 1, 1]}}
  hinges: {sleeve: {kind: cylindrical, parent: world, child: sleeve, axis: [0, 0, 1]}}
"""


@pytest.fixture
def run():
    """run(scenario) -> a Live one; closed at the end."""
    opened = []

    def run(scenario, **options):
        opened.append(Live(read_scenario(scenario) if isinstance(scenario, str) else scenario, **options))
        return opened[-1]

    yield run
    for live in opened:
        live.close()


def told(live, key):
    """The control as the page gets it."""
    return next(control for control in live.controls.settings()["controls"] if control["key"] == key)


def set_all(live, **values):
    """Set controls, `a__b` for the key a.b; none is refused."""
    assert [live.controls.do({"key": k.replace("__", "."), "value": v}) for k, v in values.items()] == [""] * len(
        values
    )


def test_time_is_that_of_the_wall_times_the_rate(run, monkeypatch):
    monkeypatch.setattr("rbt_ros.web.live.LONGEST_NS", float("inf"))  # nothing is given up on a machine under load
    live = run("cubesat")
    live.turn(16.6 * TICK_NS)
    live.turn(16.6 * TICK_NS)
    assert live.sim.tick == 33  # 33.2 ms: what is left of a step is owed
    set_all(live, rate=0.1)
    live.turn(100 * TICK_NS)
    assert live.sim.tick == 43


def test_pause_step_and_reset(run):
    live = run("cubesat")
    live.turn(10 * TICK_NS)
    assert live.controls.do({"key": "step", "value": 1}) == "it runs; pause it first."
    set_all(live, pause=True)
    live.turn(10 * TICK_NS)
    assert live.sim.tick == 10
    set_all(live, step=1)
    assert live.sim.tick == 11 and told(live, "step")["refused"] == ""
    set_all(live, reset=None)
    assert live.sim.digest() == rbt.load("cubesat").simulation().digest()


def test_a_run_with_viewers_has_the_bits_of_one_without(run):
    live, alone = run("cubesat"), rbt.load("cubesat").simulation()
    for _ in range(20):
        live.turn(16.6 * TICK_NS)
    alone.advance(live.sim.tick)
    assert live.sim.digest() == alone.digest()


def test_commands_come_through_the_pipe(run):
    live = run("cubesat")
    reader = Reader(live.stream.folder)
    reader.send({"id": 7, "key": "pause", "value": True})
    live.turn(10 * TICK_NS)
    assert live.sim.tick == 0 and reader.settings()["answered"] == 7
    reader.close()


@pytest.mark.parametrize("axes", ["body", "world"])
def test_a_push_acts_with_its_arm(run, axes):
    """From rest, one step: v = F h/m, ω = I⁻¹ (M + r × F) h, as it turns by less than 1e-6 rad meanwhile."""
    live = run(scenario_from_text("rbt: 1\nrobot: {name: r, bodies: {b: {mass: 2 kg, inertia: [2, 3, 4]}}}"))
    force, moment, arm = (0.4, -0.2, 0.3), (0.01, 0.02, 0.03), (0.3, 0.1, -0.2)
    set_all(live, push__frame=axes, push__force=force, push__moment=moment, push__arm=arm)
    live.sim.advance(1)
    twist = live.sim.sample().twist[0]
    np.testing.assert_allclose(twist[3:], np.array(force) / 2 * 1e-3, rtol=1e-6)
    np.testing.assert_allclose(twist[:3], (moment + np.cross(arm, force)) / (2, 3, 4) * 1e-3, atol=1e-12)
    set_all(live, push__force=(0, 0, 0), push__moment=(0, 0, 0))
    assert not live.sim.sample().load[:, 5:].any()


def test_a_push_goes_on_after_a_reset_and_leaves_the_body_it_is_taken_from(run):
    live = run("five_body")
    set_all(live, push__force=(0, 0, 5), reset=None)
    assert live.sim.sample().load[0, 0] == 0
    set_all(live, push__body="tee")
    forces = {int(row[0]): row[8:11].tolist() for row in live.sim.sample().load}
    assert forces[2] == [0, 0, 5] and forces[0] == [0, 0, 0]


def test_a_joint_is_driven(run):
    live = run("five_body")
    set_all(live, wrist__kp=50.0, wrist__kd=5.0, wrist__mode="position", wrist__position=1.0)
    law = live.sim.hinge_laws["wrist"]
    assert (law.mode, law.kp, law.kd) == ("position", 50.0, 5.0)
    assert told(live, "wrist.position")["value"] == 1.0
    assert "position needs a gain" in live.controls.do({"key": "left_pivot.mode", "value": "position"})
    assert "position needs a gain" in told(live, "left_pivot.mode")["refused"]
    set_all(live, elbow__torque=(1, 2, 3))
    live.sim.advance(1)
    assert live.sim.sample().tau[3:6].tolist() == [1, 2, 3]


def test_joints_lock_and_unlock_where_they_are(run):
    """A locked joint keeps its angle to the bit; unlocked it moves again."""
    live = run("five_body")
    live.sim.advance(10)
    _, q, v = live.sim.robot.joint_place("wrist")
    set_all(live, wrist__mode="locked", elbow__mode="locked")
    at = live.sim.sample().q[q]
    live.sim.advance(20)
    assert live.sim.sample().q[q] == at and live.sim.sample().v[v] == 0.0
    assert set(live.sim.sample().locked) == {"wrist", "elbow"} and told(live, "wrist.mode")["value"] == "locked"
    assert "takes no command" in live.controls.do({"key": "wrist.effort", "value": 1.0})
    set_all(live, wrist__mode="effort", elbow__mode="free")
    live.sim.advance(20)
    assert live.sim.sample().q[q] != at and live.sim.sample().locked == ()


def test_the_joints_of_one_hinge_lock_together(run):
    live = run(scenario_from_text(SLEEVE))
    assert told(live, "sleeve_turn.mode")["note"] == "locks with sleeve_slide"
    assert told(live, "sleeve_slide.position")["unit"] == "m" and told(live, "sleeve_turn.kp")["unit"] == "N·m/rad"
    set_all(live, sleeve_turn__mode="locked")
    assert live.sim.sample().locked == ("sleeve",) and told(live, "sleeve_slide.mode")["value"] == "locked"
    set_all(live, sleeve_slide__mode="free")
    assert live.sim.sample().locked == () and told(live, "sleeve_turn.mode")["value"] == "effort"


def test_solver_and_step(run):
    live = run("cubesat")
    live.sim.advance(10)
    set_all(live, integrator="dop853", stabilise="projection", step_size=0.002)
    assert (live.sim.integrator, live.sim.stabilise.method, live.sim.h_ns) == ("dop853", "projection", 2 * TICK_NS)
    set_all(live, extra_steps=15)  # a period of 2 ms in 16 steps
    assert live.sim.h_ns == 125_000 and told(live, "period")["value"] == 0.002
    live.sim.advance(1)
    assert live.sim.t_ns == 10 * TICK_NS + 125_000


def test_mass_size_and_start_act_at_reset_friction_at_once(run):
    live = run("cubesat")
    live.sim.advance(5)
    set_all(live, body__form="box", body__mass=12.0, body__size=(1.0, 2.0, 3.0), body__omega=(0.0, 0.0, 2.0))
    set_all(live, body__rotation=(90, 0, 0), friction__external=0.2)
    assert live.sim.robot.mass == pytest.approx(3.264)
    assert live.sim.tick == 5 and live.sim.robot.model.freedom[0, 2] == 0.2
    set_all(live, reset=None)
    body, sample = live.sim.robot.bodies[0], live.sim.sample()
    np.testing.assert_allclose(np.diag(body.inertia), (13.0, 10.0, 5.0), rtol=1e-15)  # m (d² + h²)/12 and so on
    assert live.sim.tick == 0 and live.sim.robot.model.freedom[0, 2] == 0.2
    np.testing.assert_allclose(sample.twist[0, :3], (0, -2, 0), atol=1e-15)  # z of the body is -y of the world
    reader = Reader(live.stream.folder)
    assert reader.scene()["bodies"][0]["mass"] == 12.0
    reader.close()


def test_hinges_of_several_bodies_are_damped_at_once_as_the_bag_tells(run, tmp_path):
    live = run("five_body", bag=tmp_path / "flight")
    live.turn(50 * TICK_NS)
    assert (told(live, "friction.wrist")["value"], told(live, "friction.wrist")["unit"]) == (0.0, "N·m·s/rad")
    set_all(live, friction__wrist=2.5)
    assert live.sim.tick == 50 and told(live, "friction.wrist")["value"] == 2.5
    before = live.sim.sample().energy.total
    live.turn(200 * TICK_NS)
    assert live.sim.sample().energy.total < before
    live.log.close()
    same(tmp_path / "flight")


def test_what_no_body_can_have_is_refused_and_stays_as_it_was(run):
    live = run("cubesat")
    before = told(live, "body.inertia")["value"]
    assert "break Ix + Iy >= Iz" in live.controls.do({"key": "body.inertia", "value": (1, 0, 0, 1, 0, 9)})
    assert told(live, "body.inertia")["value"] == before


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("rate", 0, "Rate: 0 must be a number from 0.001 to 1000 s/s."),
        ("rate", "fast", "Rate: 'fast' must be a number"),
        ("rate", float("nan"), "Rate: nan must be"),
        ("rate", True, "Rate: True must be"),
        ("body.mass", 0, "must be a number from 0.1 to 100 kg"),
        ("push.force", (1, 2), "Force: (1, 2) must be 3 numbers."),
        ("push.force", (1, 2, None), "Force z: None must be a number from -10000 to 10000 N."),
        ("integrator", "best", "Integrator: 'best' is not one of dop853, dop853_adaptive,"),
    ],
)
def test_values_are_checked_before_they_are_taken(run, key, value, words):
    live = run("cubesat")
    assert words in live.controls.do({"key": key, "value": value})
    assert words in told(live, key)["refused"]
    assert live.controls.do({"key": "nothing"}) == "there is no control 'nothing'"


def test_a_simulation_that_breaks_stands_still_and_says_why(run):
    live = run("cubesat")
    set_all(live, step_size=1.0, push__moment=(1e4, 1e4, 1e4))
    for _ in range(100):
        live.turn(1e9)
    assert live.paused and "the last good state is kept" in told(live, "pause")["refused"]


def test_a_swing_shows_its_rope(run):
    live = run(scenario_from_text(ROPE))
    reader = Reader(live.stream.folder)
    (rope,) = reader.scene()["ropes"]
    assert rope["bodies"] == [-1, 0] and rope["length"] == 2.0
    live.turn(5 * TICK_NS)
    assert reader.read().tick == 5
    reader.close()


def same(folder, digests=1):
    """The bag there, run again, has the same bits."""
    verdict = verify(rbt.Bag(folder))
    assert verdict.same and verdict.digests >= digests and not verdict.told, verdict.text()
    return rbt.Bag(folder)


def test_whatever_viewers_set_is_in_the_bag_which_runs_again_bit_for_bit(run, tmp_path):
    live = run("five_body", bag=tmp_path / "flight")
    live.turn(50 * TICK_NS)
    set_all(live, push__body="tee", push__frame="world", push__force=(1, 2, 3), push__arm=(0.1, 0.2, 0.3))
    live.turn(50 * TICK_NS)
    set_all(live, wrist__kp=50.0, wrist__kd=5.0, wrist__mode="position", wrist__position=1.0)
    set_all(live, integrator="dop853", step_size=0.0005, elbow__torque=(1, 2, 3))
    live.turn(100 * TICK_NS)
    set_all(live, elbow__mode="locked", push__moment=(0, 0, 4))
    live.turn(100 * TICK_NS)
    set_all(live, reset=None, rate=3.0, elbow__mode="free")
    live.turn(50 * TICK_NS)
    set_all(live, pause=True, step=7, wrist__mode="effort", wrist__effort=0.5, push__force=(0, 0, 0))
    set_all(live, pause=False)
    live.turn(50 * TICK_NS)
    digest = live.sim.digest()
    live.log.close()
    (report,) = live.log.reports
    bag = same(tmp_path / "flight", 3)
    assert report.folder == tmp_path / "flight" and len(bag.runs()) >= 4
    again = Rerun(bag)
    again.go(bag.runs()[-1]["stamp"] + live.sim.t_ns)
    assert again.sim.digest() == digest


def test_each_edit_of_the_body_begins_a_bag_of_its_own(run, tmp_path):
    """Friction acts at once, in the bag of before; mass and start from the reset on, in the next one."""
    live = run("cubesat", bag=tmp_path / "flight")
    live.turn(50 * TICK_NS)
    set_all(live, friction__external=0.2, push__moment=(0, 0, 0.1))
    live.turn(50 * TICK_NS)
    set_all(live, friction__internal=0.5, stabilise="projection", body__mass=12.0, body__omega=(0.1, 0.2, 2.0))
    live.turn(50 * TICK_NS)
    set_all(live, reset=None)
    live.turn(150 * TICK_NS)
    live.log.close()
    assert [report.folder.name for report in live.log.reports] == ["flight", "flight_2"]
    same(tmp_path / "flight")
    bag = same(tmp_path / "flight_2")
    edited = scenario_from_text(bag.runs()[0]["scenario"])
    assert edited.robot.mass == 12.0 and edited.stabilise.method == "projection"
    assert edited.robot.bodies[0].shapes == read_scenario("cubesat").robot.bodies[0].shapes
