"""Samples from hardware that cannot be used: each is counted and told in a sentence, and nothing of it is applied."""

import math
from types import SimpleNamespace

import pytest
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState

import rbt_ros as rbt
from rbt_ros.ros.measured_topics import JOINTS, POSE, MeasuredTopics, prescribe

JOINT, MS = "wheel_axis", 1_000_000
VALUES = {
    "measured.joints": JOINT,
    "measured.body": "hub",
    "measured.delay": 0.02,
    "measured.timeout": 0.2,
    "measured.on_loss": "hold",
    "measured.age_limit": 0.5,
    "measured.outlier": 10.0,
    "measured.cutoff": 50.0,
    "measured.bandwidth": 5.0,
    "wrench_hold": 0.1,
    "wrench_at": "origin",
    "frame_prefix": "",
}


class Bench:
    """The topics, with a node and a loop that only pass on."""

    def __init__(self, integrator="dop853", **options):
        """options: parameters of measured."""
        self.sim, self.told, self.now_ns = rbt.load("wheel").simulation(), [], 1_000_000_000
        self.started = True
        self.sim.set_integrator(integrator)
        values = VALUES | {f"measured.{name}": value for name, value in options.items()}
        self.takers, self.publishers, self.posted = {}, {JOINTS: ["encoder"], POSE: ["camera"]}, []
        self.topics = MeasuredTopics(self, self.sim, prescribe(self.sim, values.get), values.get, self.told.append)
        self.topics.attach(self)

    # a node

    def create_subscription(self, kind, topic, callback, qos):
        self.takers[topic] = callback
        return SimpleNamespace(get_publisher_count=lambda: len(self.publishers[topic]))

    def get_publishers_info_by_topic(self, topic):
        return [SimpleNamespace(node_name=name, node_namespace="/") for name in self.publishers[topic]]

    # a loop

    def stamp_ns(self):
        return self.now_ns

    def ask(self, request):
        request(self.sim)

    def post(self, command, stamp_ns):
        self.posted.append(command)

    def note(self, latched):
        pass

    # what happens

    def send(self, topic, message, after_ns=5 * MS, stamp_ns=None):
        """A message, after some time, stamped then or otherwise; what is told of it."""
        self.now_ns += after_ns
        self.sim.advance(after_ns // self.sim.h_ns)
        stamp = self.now_ns if stamp_ns is None else stamp_ns
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(stamp, 1_000_000_000)
        self.told.clear()
        self.takers[topic](message)
        return "\n".join(self.told)

    def report(self, topic):
        """Its part of /diagnostics."""
        return next(report for report in self.topics.look() if report.subject == topic)


@pytest.fixture
def bench():
    """A wheel and a hub that are followed already."""
    bench = Bench()
    assert not bench.send(JOINTS, angle(0.0)) and not bench.send(POSE, pose())
    return bench


def angle(value, **fields):
    return JointState(**{"name": [JOINT], "position": [value], **fields})


def pose(q=(1.0, 0.0, 0.0, 0.0), x=0.0, frame="world"):
    message = PoseStamped()
    message.header.frame_id = frame
    message.pose.position.x = x
    o = message.pose.orientation
    o.w, o.x, o.y, o.z = q
    return message


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        (angle(0.1, name=["elbow"]), "a sample of elbow; wheel_axis are followed, with a position each."),
        (JointState(), "a sample of none; wheel_axis are followed, with a position each."),
        (angle(0.1, position=[]), "a sample of wheel_axis; wheel_axis are followed, with a position each."),
        (angle(0.1, name=["elbow", JOINT]), "a sample of elbow, wheel_axis; wheel_axis are followed"),
        (angle(0.1, name=["elbow", JOINT], position=[0.0, 0.1], velocity=[1.0]), "with a position each."),
        (angle(math.nan), "a sample holds (nan,), (): not all of them are finite."),
        (angle(0.1, velocity=[math.inf]), "a sample holds (0.1,), (inf,): not all of them are finite."),
        (pose(q=(0.0, 0.0, 0.0, 0.0)), "measured pose: its quaternion has length 0, which must be 1."),
        (pose(q=(1.0, 1.0, 0.0, 0.0)), "measured pose: its quaternion has length 1.41421, which must be 1."),
        (pose(q=(math.nan, 0.0, 0.0, 0.0)), "measured pose: its quaternion has length nan, which must be 1."),
        (pose(x=math.inf), "not all of them are finite."),
        (pose(frame="map"), "a pose in frame 'map'; it must be in 'world', or in none."),
    ],
)
def test_what_is_no_sample_is_refused(bench, message, sentence):
    """Nothing of it acts: the wheel goes on as one that has heard nothing, the coupling pulls to where it did."""
    topic, quiet = (JOINTS if isinstance(message, JointState) else POSE), Bench()
    assert not quiet.send(JOINTS, angle(0.0)) and not quiet.send(POSE, pose())
    assert sentence in bench.send(topic, message)
    values = bench.report(topic).values
    assert (values["refused"], values["samples taken"]) == (1, 1) and sentence in values["last fault"]
    quiet.sim.advance(5)
    quiet.now_ns += 5 * MS
    for each in (bench, quiet):
        each.sim.advance(50)
        each.topics.lead(each.sim.sample(), each.now_ns)
    assert bench.sim.digest() == quiet.sim.digest() and bench.posted == quiet.posted


@pytest.mark.parametrize(("topic", "there"), [(JOINTS, angle(1.0)), (POSE, pose(x=1.0))])
def test_a_jump_is_an_outlier(bench, topic, there):
    assert "a jump at" in bench.send(topic, there) and "per s; the limit is 10." in bench.told[0]
    bench.topics.lead(bench.sim.sample(), bench.now_ns)
    values = bench.report(topic).values
    assert (values["outliers"], values["samples taken"]) == (1, 1)
    assert bench.report(topic).summary.startswith("1 samples were dropped: a jump at")


def test_a_turn_by_two_pi_of_a_quaternion_is_no_jump(bench):
    """q and -q are one attitude."""
    assert not bench.send(POSE, pose(q=(-1.0, 0.0, 0.0, 0.0)))
    assert bench.report(POSE).values["samples taken"] == 2


def test_a_publisher_without_a_node_is_one_as_well(bench):
    """As one of DDS without ROS is: its samples come, so that nothing is missing."""
    bench.publishers[JOINTS] = ["_NODE_NAME_UNKNOWN_"]
    bench.send(JOINTS, angle(0.0))
    report = bench.report(JOINTS)
    assert (report.values["publishers"], report.summary) == ("one without a node", "stamps are of our clock")


def test_a_joint_that_is_named_twice_is_followed_once():
    assert prescribe(rbt.load("wheel").simulation(), {**VALUES, "measured.joints": f"{JOINT} {JOINT}"}.get) == (JOINT,)


def test_an_integrator_that_closes_the_balance_to_its_order_is_told_with_the_way_out():
    assert "integrator:=dop853 closes it to rounding." in Bench("rk4").told[0] and not Bench().told


def test_poses_that_stay_away_are_reported(bench):
    """The coupling lets go after measured.timeout, and takes hold again."""
    assert bench.report(POSE).summary == "nothing comes: the fallback acts", "no pose has led yet"
    for seconds_ns, lost, summary in (
        (0, 0, "stamps are of our clock"),
        (200 * MS, 1, "nothing comes: the fallback acts"),
        (0, 1, "stamps are of our clock"),
    ):
        if not seconds_ns:
            bench.send(POSE, pose())
        bench.now_ns += seconds_ns
        bench.topics.lead(bench.sim.sample(), bench.now_ns)
        report = bench.report(POSE)
        assert (report.values["signals lost"], report.summary) == (lost, summary)


def test_an_attitude_jumps_by_the_angle_that_it_turns(bench):
    """10 rad/s over 5 ms are 0.05 rad; a quaternion shows the half of it. After outliers its side is told still."""
    q = (math.cos(0.03), 0.0, 0.0, math.sin(0.03))  # 0.06 rad
    assert "a jump at 12 per s; the limit is 10." in bench.send(POSE, pose(q=q))
    for stray in ((0.0, 1.0, 0.0, 0.0), (-0.6, 0.8, 0.0, 0.0)):
        assert "a jump at" in bench.send(POSE, pose(q=stray))
    assert not bench.send(POSE, pose(q=(1.0, 0.0, 0.0, 0.0)))
    assert not bench.send(POSE, pose(q=(math.cos(0.02), 0.0, 0.0, math.sin(0.02))))
    far = 0.03  # along each axis: 10.4 m/s together
    message = pose(x=far, q=(math.cos(0.02), 0.0, 0.0, math.sin(0.02)))
    message.pose.position.y = message.pose.position.z = far
    assert "a jump at 10.4 per s" in bench.send(POSE, message)


def test_stamps_of_another_clock_are_told_and_stale_ones_refused(bench):
    """A clock that is an hour ahead: an offset, no age. Of our clock half a second late: too old."""
    ours = bench.report(JOINTS)
    assert ours.summary == "stamps are of our clock" and ours.values["clock offset [s]"] == 0.0
    told = bench.send(JOINTS, angle(0.0), after_ns=700 * MS, stamp_ns=bench.now_ns + 100 * MS)
    assert told == "measured/joint_states: a sample is 0.600 s old; the limit is 0.5 s."
    other, hour = Bench(), 3600 * 1000 * MS
    for _ in range(3):
        assert not other.send(JOINTS, angle(0.0), stamp_ns=other.now_ns + hour)
    theirs = other.report(JOINTS)
    assert theirs.summary == "stamps are of another clock"
    assert theirs.values["clock offset [s]"] == pytest.approx(-3600.0, abs=0.006)


def test_of_two_publishers_none_is_believed_until_one_is_left(bench):
    before = bench.report(JOINTS).values["samples taken"]
    bench.publishers[JOINTS].append("other_encoder")
    told = bench.send(JOINTS, angle(0.01))  # before anybody has looked
    assert told == f"{JOINTS}: several publishers, /encoder, /other_encoder: refused until one is left."
    report = bench.report(JOINTS)
    assert report.summary == "several publishers: /encoder, /other_encoder"
    assert (report.values["samples taken"], report.values["refused"]) == (before, 1)
    bench.publishers[JOINTS].pop()
    bench.send(JOINTS, angle(0.01))
    assert bench.report(JOINTS).values["samples taken"] == before + 1


def test_a_joint_that_the_scenario_drives_as_well_is_refused_at_the_start():
    sim = rbt.load("two_arrays").simulation()
    with pytest.raises(
        rbt.ScenarioError, match="joint 'left' cannot follow measurements: the inputs release it at 10 s"
    ):
        prescribe(sim, {**VALUES, "measured.joints": "left", "measured.body": ""}.get)


@pytest.mark.parametrize("on_loss", ["hold", "zero", "free"])
def test_samples_that_come_back_are_followed_or_refused_with_the_way_out(on_loss):
    bench = Bench(on_loss=on_loss)
    assert not bench.send(JOINTS, angle(0.0))
    told = bench.send(JOINTS, angle(0.1), after_ns=300 * MS)
    if on_loss == "free":
        assert "by measured.on_loss 'free' the joints move by themselves since then; call ~/reset to let" in told
        bench.sim.reset()
        told = bench.send(JOINTS, angle(0.1), after_ns=20 * MS)
    assert not told and bench.report(JOINTS).summary != "nothing comes: the fallback acts"
