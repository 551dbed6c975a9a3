"""Hardware in the loop: `measured/joint_states` prescribes joints, `measured/pose` leads a floating base.

Messages are judged here, in the executor's thread; the stepping thread prescribes before its next step, and leads the
base by its own clock.
"""

import functools
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from rbt_ros import topics
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.fields import header
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.model.measured import FREE, Measured, Measurement
from rbt_ros.model.robot import WORLD
from rbt_ros.plug.integrators import INTEGRATORS
from rbt_ros.results import Sample
from rbt_ros.ros.clock_guard import UNKNOWN_NODE
from rbt_ros.ros.convert import shortened, stamp_of
from rbt_ros.ros.coupling import (
    Coupling,
    greatest_bandwidth,
    pose_distance,
    pose_of,
    slowest_period,
    unit_quaternion,
)
from rbt_ros.ros.loop import Loop
from rbt_ros.ros.measured_samples import Filter, Judged, Limits
from rbt_ros.ros.outputs import SECOND_NS
from rbt_ros.sim import Simulation

JOINTS, POSE = "measured/joint_states", "measured/pose"
EFFORTS = "measured/efforts"
FREED = (
    "the signal was lost, and by measured.on_loss 'free' the joints move by themselves since then; call ~/reset to let "
    "them follow again, and choose 'hold' or 'zero' where they shall as soon as samples come."
)
Value = Callable[[str], Any]  # of a parameter


def prescribe(sim: Simulation, value: Value) -> tuple[str, ...]:
    """Let the joints that parameter measured.joints names follow measurements, before the first step; their names."""
    joints = tuple(dict.fromkeys(value("measured.joints").split()))  # each once
    how = Measured(value("measured.delay"), value("measured.timeout"), value("measured.on_loss"))
    for joint in joints:
        sim.prescribe(joint, how)
    if (body := value("measured.body")) and sim.robot.body_index(body) not in sim.robot.free_bodies:
        raise ScenarioError(f"measured.body: '{body}' does not float; measure the joints of what carries it.")
    bandwidth, most = value("measured.bandwidth"), greatest_bandwidth(sim.h_ns * 1e-9)
    if body and bandwidth > most:
        raise ScenarioError(
            f"measured.bandwidth: steps of {sim.h_ns * 1e-6:g} ms carry a coupling of {most:.3g} Hz at most, not "
            f"{bandwidth:g} Hz; take shorter steps, or a softer one."
        )
    return joints


class MeasuredTopics:
    """The subscriptions, and their reports. Two publishers of one topic are refused until one is left."""

    def __init__(
        self,
        node: Node,
        sim: Simulation,
        joints: tuple[str, ...],
        value: Value,
        tell: Callable[[str], None],
    ):
        """tell: for the log."""
        self._node, self._sim, self._joints, self._tell = node, sim, joints, tell
        self._loop: Loop | None = None
        self._value, self._leads, self._let_go = value, False, 0  # _let_go: how often
        self._hold_ns = round(value("wrench_hold") * SECOND_NS)
        self.coupling: Coupling | None = None
        limits = Limits(
            round(value("measured.age_limit") * SECOND_NS), value("measured.outlier"), value("measured.cutoff")
        )
        self._filters: dict[str, Filter] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._newest = 0  # the sender's stamp of the last sample of joints that acts
        self._quaternion: tuple[float, ...] | None = None
        if joints:
            self._filters[JOINTS] = Filter(limits)
            self._subscribe(JointState, JOINTS, self._on_joints)
            if INTEGRATORS.find(sim.integrator).rough:
                tell(
                    f"measured.joints: integrator {sim.integrator} closes the momentum balance to its order only, rk4 "
                    "to 1e-6 in a step of 1 ms with an arm off its axis; integrator:=dop853 closes it to rounding."
                )
        if body := value("measured.body"):
            timeout_ns = round(value("measured.timeout") * SECOND_NS)
            self.coupling = Coupling(sim.robot, body, value("measured.bandwidth"), timeout_ns)
            self._filters[POSE] = Filter(limits, pose_distance)
            self._subscribe(PoseStamped, POSE, self._on_pose)

    def _subscribe(self, kind: Any, topic: str, take: Callable[[Any], None]) -> None:
        self._subscriptions[topic] = self._node.create_subscription(kind, topic, take, qos_profile_sensor_data)

    def attach(self, loop: Loop) -> None:
        """The loop that steps the simulation."""
        self._loop = loop

    # in

    def _on_joints(self, message: JointState) -> None:
        try:
            places = [list(message.name).index(joint) for joint in self._joints]
            position = [message.position[k] for k in places]
            velocity = [message.velocity[k] for k in places] if message.velocity else []
        except (ValueError, IndexError):
            known = ", ".join(message.name) or "none"
            self._refuse(JOINTS, f"a sample of {known}; {', '.join(self._joints)} are followed, with a position each.")
            return
        if (judged := self._judged(JOINTS, stamp_of(message), position, velocity)) is None:
            return
        self._ask(functools.partial(self._take, judged, stamp_of(message)))

    def _take(self, judged: Judged, stamp: int, sim: Simulation) -> None:
        """In the stepping thread, some steps after it was judged, maybe."""
        assert self._loop is not None
        age_ns = judged.age_at(self._loop.stamp_ns())
        try:
            latched = sim.command(Measurement(self._joints, judged.values, judged.rates, age_ns))
        except MessageError as err:
            freed = self._value("measured.on_loss") == FREE and self._losses()[1]
            self._refuse(JOINTS, FREED if freed else str(err))
            return
        self._newest = stamp
        self._loop.note(latched)

    def _on_pose(self, message: PoseStamped) -> None:
        p, q, frame = message.pose.position, message.pose.orientation, message.header.frame_id
        world = self._value("frame_prefix") + WORLD
        if frame not in ("", WORLD, world):
            self._refuse(POSE, f"a pose in frame '{shortened(frame)}'; it must be in '{world}', or in none.")
            return
        try:
            quaternion = unit_quaternion((q.w, q.x, q.y, q.z), self._quaternion)
        except MessageError as err:
            self._refuse(POSE, str(err))
            return
        judged = self._judged(POSE, stamp_of(message), (p.x, p.y, p.z, *quaternion), ())
        if judged is None:
            return
        self._quaternion = quaternion
        assert self.coupling is not None
        self.coupling.follow(pose_of(judged.values, judged.rates), judged.now_ns, judged.age_ns)

    def _judged(self, topic: str, stamp: int, values: Any, rates: Any) -> Judged | None:
        if self._loop is None or not self._loop.started:
            return None
        if self._subscriptions[topic].get_publisher_count() > 1:
            found = ", ".join(self._publishers(topic))
            self._refuse(topic, f"several publishers, {found}: refused until one is left.")
            return None
        filter = self._filters[topic]
        before = filter.counts.last_fault
        judged = filter.judge(stamp, self._loop.stamp_ns(), values, rates)
        if judged is None and filter.counts.last_fault != before:
            self._tell(f"{topic}: {filter.counts.last_fault}")
        return judged

    def _ask(self, request: Callable[[Simulation], None]) -> None:
        if self._loop is not None:
            self._loop.ask(request)

    def _refuse(self, topic: str, text: str) -> None:
        counts = self._filters[topic].counts
        counts.refused, counts.last_fault = counts.refused + 1, shortened(text, 300)
        self._tell(f"{topic}: {counts.last_fault}")

    # out, in the stepping thread

    def lead(self, sample: Sample, stamp: int) -> None:
        """Let the coupling act until the next call; nothing once it has let go."""
        assert self.coupling is not None and self._loop is not None
        wrench = self.coupling.wrench(sample, stamp, self._value("wrench_at"))
        if wrench is not None or self._leads:
            nothing = Wrench(self._value("measured.body"), at=self._value("wrench_at"))
            self._loop.post(WrenchCommand(wrench or nothing, self._hold_ns), 0)
            self._let_go += wrench is None
        self._leads = wrench is not None

    def effort_fields(self, sample: Sample, stamp: int) -> topics.Fields:
        """sensor_msgs/JointState: where the measured joints are, and the effort of the motor that moves them so.

        header.frame_id: the stamp [ns] of the newest sample that acts, by the sender's clock.
        """
        places = [self._sim.robot.joint_place(joint) for joint in self._joints]
        forces = sample.constraints
        return {
            "header": header(stamp, str(self._newest)),
            "name": list(self._joints),
            "position": [float(sample.q[q]) for _, q, _ in places],
            "velocity": [float(sample.v[v]) for _, _, v in places],
            "effort": [forces[joint].effort if joint in forces else 0.0 for joint in self._joints],
        }

    @property
    def lead_period(self) -> float:
        """How often `lead` is to be called [s]."""
        return min(slowest_period(self._value("measured.bandwidth")), self._value("wrench_hold"))

    def look(self) -> list[topics.Report]:
        """Once a second: who publishes, and how it goes."""
        return [self._report(topic, filter, self._publishers(topic)) for topic, filter in self._filters.items()]

    def _losses(self) -> tuple[int, bool]:
        """How often the joints' signal was lost, and whether it is now."""
        what = [change.what for change in self._sim.changes if change.what in ("lose", "find")]
        return what.count("lose"), what[-1:] == ["lose"]

    def _publishers(self, topic: str) -> list[str]:
        """The nodes that publish it, as far as discovery knows them; DDS without ROS has none."""
        infos = self._node.get_publishers_info_by_topic(topic)
        names = [f"{i.node_namespace.rstrip('/')}/{i.node_name}" for i in infos]
        return sorted("one without a node" if UNKNOWN_NODE in name else name for name in names)

    def _report(self, topic: str, filter: Filter, names: list[str]) -> topics.Report:
        counts, clock = filter.counts, filter.clock
        losses, silent = self._losses() if topic == JOINTS else (self._let_go, not self._leads)
        values = {
            "publishers": ", ".join(names) or "none",
            "samples taken": counts.taken,
            "too old": counts.old,
            "out of order": counts.unordered,
            "outliers": counts.outliers,
            "refused": counts.refused,
            "signals lost": losses,
            "clock offset [s]": clock.offset_ns * 1e-9,
            "last fault": counts.last_fault,
        }
        if len(names) > 1:
            return topics.Report(topic, topics.ERROR, f"several publishers: {values['publishers']}", values)
        if not names or silent:
            return topics.Report(topic, topics.WARN, "nothing comes: the fallback acts", values)
        if counts.faults:
            return topics.Report(
                topic, topics.WARN, f"{counts.faults} samples were dropped: {counts.last_fault}", values
            )
        clocks = "stamps are of another clock" if clock.foreign else "stamps are of our clock"
        return topics.Report(topic, topics.OK, clocks, values)
