"""What sensors measure, against what the textbook says of it; their noise; any number of them; what is refused."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

import rbt_ros as rbt
from rbt_ros.core.vec import rotation as rotation_rows
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.plug.noise import Noise, inverse_normal, log

AT, TURN = (0.3, -0.2, 0.5), ("ZYX", 0.4, -0.3, 0.2)


def craft(base="free", gravity=(0.0, 0.0, 0.0), **options):
    """A hub of 10 kg with a body of 10 g at AT, turned by TURN, and an inertial sensor at the same place."""
    b = rbt.RobotBuilder("craft").body("hub", mass=10.0, inertia=(0.4, 0.5, 0.6), com=(0.02, 0.0, -0.01))
    if base == "held":
        b.hinge("mount", "fixed", parent="world", child="hub")
    b.body("box", mass=0.01, inertia=(1e-7, 1e-7, 1e-7))
    b.hinge("box_mount", "fixed", parent="hub", child="box", at=AT, rotation=TURN)
    b.body("arm", mass=2.0, inertia=(0.1, 0.1, 0.02), com=(0.0, 0.0, 0.3))
    b.hinge("shoulder", "revolute", parent="hub", child="arm", axis=(1, 0, 0), at=(0.0, 0.2, 0.0))
    sim = rbt.Simulation(b.build(), gravity=gravity, **options)
    sim.add_sensor("imu", "imu", body="hub", at=AT, rotation=TURN, rate=100)
    return sim


def test_at_rest_it_measures_what_holds_it_and_in_free_fall_nothing():
    up = np.array(rotation_rows(craft().robot.hinges[1].quaternion)).T @ [0, 0, 9.81]
    found = craft("held", (0, 0, -9.81)).read("imu")
    assert found["specific_force"] == pytest.approx(up, abs=1e-12) and found["angular_velocity"] == [0, 0, 0]
    assert craft(gravity=(0, 0, -9.81)).read("imu")["specific_force"] == pytest.approx([0, 0, 0], abs=1e-13)


def test_it_measures_the_force_of_its_mount_on_a_small_body_by_its_mass():
    """Whatever acts: thrust, a moving arm, turning; and a point mass that attracts, whose gradient across 10 g is
    beyond round-off."""
    sim = craft(gravity=(0, 0, -9.81), attraction=4e5, attractor=(0.0, 0.0, -300.0))
    sim.set_body("hub", omega_body=(0.3, -0.4, 1.2), velocity=(1, 2, 3))
    sim.set_hinge("shoulder", 0.3, rate=2.0)
    sim.add_input(rbt.Wrench("hub", force=(3.0, -2.0, 1.0), moment=(0.1, 0.2, 0.3)))
    sim.advance(50)
    sample, box = sim.sample(), sim.robot.body_index("box")
    R_BW = np.array(rotation_rows(sample.pose[box, :4])).T
    found = sim.read("imu")
    assert found["specific_force"] == pytest.approx(
        R_BW @ sample.reactions["box_mount"].force / 0.01, abs=1e-11
    )  # 9.81 and 4.4 m/s² cancel in both
    assert found["angular_velocity"] == pytest.approx(R_BW @ sample.twist[box, :3], abs=1e-15)


def test_a_spinning_body_pulls_it_inward():
    """About a principal axis through the centre of mass: a = -ω² r, r from the axis."""
    sim = rbt.Simulation(rbt.RobotBuilder("rotor").body("hub", mass=10.0, inertia=(0.4, 0.4, 0.6)).build())
    sim.set_body("hub", omega_body=(0, 0, 3.0))
    sim.add_sensor("imu", "imu", body="hub", at=(0.3, 0, 0.1), rate=1000)
    found = sim.read("imu")
    assert found["specific_force"] == pytest.approx([-9.0 * 0.3, 0, 0], abs=1e-13)
    assert found["angular_velocity"] == [0, 0, 3.0]


# noise


def test_normals_are_of_the_normal_distribution_and_have_the_same_bits_everywhere():
    tail = np.logspace(-15.9, -0.302, 500)
    p = np.concatenate([tail, 1 - tail])
    assert np.abs(np.array([inverse_normal(x) for x in p]) / ndtri(p) - 1).max() < 1e-14  # measured 9e-16
    assert max(abs(log(x) / math.log(x) - 1) for x in tail) < 1e-15
    bits = ["-0x1.00e981bf1177dp-1", "0x1.546d8ee9815dep+0", "-0x1.101f7a3a8cbc5p-1"]
    assert [x.hex() for x in Noise(7, "imu1", 3).normal(3)] == bits
    many = np.array([Noise(1, "a", k).normal(4) for k in range(2500)])
    assert abs(many.mean()) < 0.04 and abs(many.std() - 1) < 0.03  # four standard deviations of 10⁴ numbers
    assert abs(np.corrcoef(many[1:, 0], many[:-1, 0])[0, 1]) < 0.08


def test_noise_is_of_the_sample_alone_and_the_motion_keeps_its_bits():
    """Another sensor, a checkpoint, another way there: the same noise. Another name or seed: other noise."""
    noise = dict(force_noise=0.1, rate_noise=0.01)
    alone, watched, seeded = craft(), craft(), craft(seed=1)
    for sim in (watched, seeded):
        sim.add_sensor("other", "imu", body="arm", rate=1000, **noise)
        sim.add_sensor("noisy", "imu", body="hub", at=AT, rotation=TURN, rate=200, **noise)
    for sim in (alone, watched, seeded):
        sim.set_body("hub", omega_body=(0.3, -0.4, 1.2))
    result = watched.run(until=0.1, every=0.05)
    alone.advance(100)
    assert watched.digest() == alone.digest()
    found, clean = result.sensor("noisy"), result.sensor("imu")
    assert found.t == pytest.approx(np.arange(21) * 0.005) and clean.t == pytest.approx(np.arange(11) * 0.01)
    error = found["specific_force"][::2] - clean["specific_force"]
    assert 0.05 < error.std() < 0.2 and np.unique(error).size == error.size
    alone.add_sensor("noisy", "imu", body="hub", at=AT, rotation=TURN, rate=200, **noise)
    assert alone.read("noisy") == watched.read("noisy") == {name: found[name][-1].tolist() for name in found}
    seeded.advance(100)
    assert seeded.read("noisy") != alone.read("noisy")


def test_no_two_samples_have_the_same_noise_where_the_step_changes():
    sim = craft()
    sim.add_sensor("noisy", "imu", body="hub", rate=100, rate_noise=1.0)
    sim.advance(25)
    sim.set_step(2e-3)
    found = sim.run(until=0.125, every=0.1).sensor("noisy")["angular_velocity"]
    assert len(found) == np.unique(found[:, 0]).size == 11


# in files, refused, broken

FILE = """\
rbt: 1
robot: {bodies: {hub: {mass: 1, inertia: [1, 2, 3]}}}
step: 2 ms
sensors:
  imu1: {kind: imu, body: hub, at: [0, 0, 10 cm], rotation: [ZYX, 90 deg, 0, 0], rate: 50 Hz, rate_noise: 1 deg/s}
  imu2: {kind: imu, body: hub, at: com, rate: 500}
"""


def test_a_scenario_has_any_number_of_them():
    sim = rbt.Simulation.of(scenario_from_text(FILE))
    one = sim.sensors["imu1"]
    assert one.at == (0, 0, 0.1) and one.rate == 50 and one.values.rate_noise == pytest.approx(math.pi / 180)
    assert one.quaternion == pytest.approx([math.sqrt(0.5), 0, 0, math.sqrt(0.5)])
    assert len(sim.run(until=0.1).sensor("imu2").t) == 51


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("kind: imu, body: hub, at: com", "kind: umi, body: hub", "'umi' is no sensor; there are imu"),
        ("body: hub, at: com", "body: bus", r"sensors.imu2.*has no body 'bus'; it has hub"),
        ("body: hub, at: com", "hinge: hub", "unknown key 'hinge'; the keys here are kind, body, at, rotation, rate"),
        ("rate: 500", "rate: 501", "'imu2': rate 501 Hz must be above 0 Hz and at most 500 Hz, one sample a step of 2"),
        ("rate: 500", "rate: 0", "rate 0 Hz must be above 0 Hz"),
        (", rate: 500", "", "'rate' is missing"),
        ("imu2:", "hub:", "sensor 'hub': a frame of the robot has that name"),
        ("imu2:", "a b:", "sensor name 'a b': use a letter"),
        ("1 deg/s", "1 deg", "unit 'deg'"),
        ("1 deg/s", "-1", "rate_noise -1 rad/s must be 0 rad/s or more"),
        ("at: com", "at: top", "at 'top' is not one of com, origin, nor a point of 'hub' in m"),
    ],
)
def test_a_wrong_sensor_in_a_scenario_is_refused(old, new, message):
    assert old in FILE
    with pytest.raises(rbt.ScenarioError, match=message):
        scenario_from_text(FILE.replace(old, new))


def test_a_wrong_sensor_in_python_is_refused_and_leaves_none():
    sim = craft()
    for arguments, message in (
        (dict(name="imu", kind="imu", body="hub", rate=1), "sensor 'imu': another sensor has that name"),
        (dict(name="a", kind="imu", hinge="shoulder", rate=1), "mounted on a body; give body="),
        (dict(name="a", kind="imu", body="hub", rate=1, noise=3), "unknown parameter 'noise'; it has force_noise"),
        (dict(name="a", kind=3, body="hub", rate=1), "3 is no kind of sensor"),
    ):
        with pytest.raises(rbt.RbtError, match=message):
            sim.add_sensor(**arguments)
    assert list(sim.sensors) == ["imu"]
    with pytest.raises(rbt.ModelError, match="there is no sensor 'a'; there are imu"):
        sim.read("a")
    with pytest.raises(rbt.ModelError, match="there is no sensor 3; there are imu"):
        sim.run(until=0.01).sensor(3)


def sensor(read):
    return rbt.SensorKind(read, (rbt.Quantity("angle", "rad"),), (), mount="hinge")


def test_a_sensor_that_fails_is_named_and_the_run_goes_on():
    sim = craft()
    sim.set_hinge("shoulder", 0.25, rate=1.0)
    sim.add_sensor("good", sensor(lambda p, seen, noise: {"angle": seen.hinge_position[0]}), hinge="shoulder", rate=1e3)
    sim.add_sensor("shut", sensor(lambda p, seen, noise: None), hinge="shoulder", rate=1e3)
    sim.add_sensor("raises", sensor(lambda p, seen, noise: 1 / (seen.t - 2e-3)), hinge="shoulder", rate=500)
    sim.add_sensor("nan", sensor(lambda p, seen, noise: {"angle": math.nan}), hinge="shoulder", rate=1e3)
    assert sim.read("good") == {"angle": 0.25} and sim.read("shut") is None
    with pytest.raises(rbt.SolveError, match="'nan' on 'shoulder' gave angle nan; one finite number in rad is wanted"):
        sim.read("nan")
    with pytest.warns(UserWarning) as told:
        result = sim.run(until=4e-3)
    said = [str(each.message) for each in told]
    assert len(said) == 2 and "'raises' on 'shoulder' gave -500" in "".join(said) and "goes on without" in said[0]
    assert [len(result.sensor(name).t) for name in ("good", "shut", "raises", "nan")] == [5, 0, 0, 0]
    assert result.sensor("good")["angle"][-1] == result.hinge("shoulder").position[-1]


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        ("std_msgs/msg/Float64", {"dada": 1.0}, "std_msgs/msg/Float64 has no field 'dada'; it has data"),
        ("std_msgs/msg/Float64", {"data": "x"}, "it is no std_msgs/msg/Float64: "),
        ("sensor_msgs/msg/Imu", {"orientation": {"a": 1}}, "geometry_msgs/msg/Quaternion has no field 'a'"),
        (
            "sensor_msgs/msg/Imu",
            {"orientation_covariance": [0.0] * 8},
            "Imu: orientation_covariance has 9 elements, not 8",
        ),
    ],
)
def test_a_message_that_is_none_is_left_out_of_a_bag_that_has_all_else(tmp_path, kind, fields, message):
    sim = craft()
    bad = rbt.SensorKind(
        lambda *_: {"x": 1.0}, (rbt.Quantity("x"),), (rbt.SensorMessage("data_raw", kind, lambda *_: fields),)
    )
    sim.add_sensor("bad", bad, body="hub", rate=500)
    with pytest.warns(UserWarning, match=f"sensor 'bad' on 'hub': fields: MessageError: .*{message}") as told:
        with rbt.Recorder(tmp_path / "bag", sim):
            sim.advance(20)
    counts = {name: len(topic.t_ns) for name, topic in rbt.Bag(tmp_path / "bag").topics.items()}
    assert len(told) == 1 and counts["/sensors/imu/data_raw"] == 3 and not counts.get("/sensors/bad/data_raw")


def test_what_no_message_can_be_is_refused(tmp_path):
    for wrong, message in (
        (dict(messages=(rbt.SensorMessage("a", "Imu", dict),)), "message .'Imu'. is not like sensor_msgs/msg/Imu"),
        (dict(messages=(rbt.SensorMessage("a b", "a/msg/B", dict),)), "topic .'a b'. is not like data_raw"),
        (dict(messages=(rbt.SensorMessage("a", "a/msg/B", dict),) * 2), "topic .'a', 'a'. is not like data_raw"),
        (dict(gives=()), "gives is empty"),
        (dict(parameters=(rbt.Parameter("rate"),)), "parameter 'rate' has a name that all of them use"),
    ):
        with pytest.raises(rbt.ModelError, match=message):
            rbt.SensorKind(**{"read": dict, "gives": (rbt.Quantity("x"),), "messages": (), **wrong})
    sim = craft()
    alien = rbt.SensorKind(lambda *_: {"x": 1.0}, (rbt.Quantity("x"),), (rbt.SensorMessage("b", "a_msgs/msg/B", dict),))
    sim.add_sensor("alien", alien, body="hub", rate=500)
    with pytest.raises(
        rbt.ScenarioError, match="'alien' on 'hub': a bag has standard messages of ROS 2 only, no a_msgs"
    ):
        rbt.Recorder(tmp_path / "bag", sim)
