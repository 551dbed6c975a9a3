"""Controllers that run anywhere: what they see and what they answer, the same numbers in-process and over topics.

A controller is a callable with two attributes: `joints` (whether it looks at joint_states) and `bodies` (the floating
bodies whose odom it looks at). It takes an Observation and returns actions. `in_process` makes of it what
`Simulation.run(controller=...)` takes; `rbt_ros.ros.controller` runs it as a process of its own. One that
has `aim(quaternion)` takes attitudes to go to, there by the parameter `target` and the topic `target_pose`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from rbt_ros import topics
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.kinds import in_words
from rbt_ros.model.hinge_commands import HingeCommand, HingeTorque, HingeTrajectory
from rbt_ros.model.inputs import Command, Wrench, WrenchCommand
from rbt_ros.model.robot import Robot
from rbt_ros.results import Result, Sample
from rbt_ros.sim import Simulation, load

CLOCK_START_NS = 1_000_000_000  # the stamp of t = 0, unless a scenario says otherwise


class JointSeen(NamedTuple):
    """What joint_states says of one joint."""

    position: float  # [rad, m]
    velocity: float  # [rad/s, m/s]


class BodySeen(NamedTuple):
    """What odom says of a floating body."""

    position: tuple[float, float, float]  # p_WB [m]
    quaternion: tuple[float, float, float, float]  # q_WB, w x y z
    velocity: tuple[float, float, float]  # v_WB_B [m/s]
    omega: tuple[float, float, float]  # w_WB_B [rad/s]


class Observation(NamedTuple):
    """One instant, as a controller sees it."""

    t_ns: int  # scenario time
    joints: dict[str, JointSeen]
    bodies: dict[str, BodySeen]

    @property
    def t(self) -> float:
        """Scenario time [s]."""
        return self.t_ns * 1e-9


Action = Wrench | HingeCommand | HingeTorque | HingeTrajectory


class Controller(Protocol):
    """What runs anywhere."""

    joints: bool
    bodies: Sequence[str]

    def __call__(self, seen: Observation) -> Sequence[Action]:
        """The actions until the next call."""


@in_words(ScenarioError, first=True)
def in_process(
    controller: Controller, *, wrench_hold: float = 0.1, wrench_at: str = "origin"
) -> Callable[[Simulation], None]:
    """For `Simulation.run(controller=...)`; wrench_hold [s], wrench_at: as the node's parameters of these names."""
    hold_ns = round(wrench_hold * 1e9)

    def act(sim: Simulation) -> None:
        for action in by_topic(controller(observation(controller, sim.robot, sim.sample()))).values():
            sim.command(as_command(action, hold_ns, wrench_at))

    return act


def by_topic(actions: Sequence[Action]) -> dict[str, Action]:
    """The actions of one call by the topics on which a process of its own sends them, one message each, in the order in
    which lockstep takes them. Of several on one body or joint the last counts. MessageError where one message cannot
    hold what they say."""
    found: dict[str, Action] = {}
    for action in actions:
        topic = topic_of(action)
        if isinstance(action, HingeCommand) and isinstance(before := found.get(topic), HingeCommand):
            action = merged(before, action)
        elif isinstance(action, HingeTrajectory) and topic in found:
            raise MessageError("controller: two trajectories in one call; a message holds one, with all joints.")
        found[topic] = action
    return dict(sorted(found.items()))


def topic_of(action: Action) -> str:
    """Where the node takes it."""
    if isinstance(action, Wrench):
        return f"wrench/{action.body}"
    if isinstance(action, HingeTorque):
        return f"hinges/{action.hinge}/wrench_command"
    return "hinge_commands" if isinstance(action, HingeCommand) else "hinge_trajectory"


def merged(before: HingeCommand, after: HingeCommand) -> HingeCommand:
    """Both as one command."""
    if [bool(values) for values in before[1:]] != [bool(values) for values in after[1:]]:
        raise MessageError(
            f"controller: commands to {', '.join(before.joints)} and {', '.join(after.joints)} in one call fill "
            "different arrays of position, velocity, effort; one message says one kind of thing of all its joints."
        )
    rows = {
        joint: values for c in (before, after) for joint, *values in zip(c.joints, *filter(len, c[1:]), strict=True)
    }
    columns = iter(zip(*rows.values(), strict=True))
    return HingeCommand(tuple(rows), *(next(columns) if values else () for values in before[1:]))


def run_in_process(controller: Controller, scenario: str, until: float, every: float = 1e-3) -> Result:
    """The scenario of that file or name, from its start to `until` [s], the controller called `every` so many [s]."""
    return load(scenario).simulation().run(until=until, every=every, controller=in_process(controller))


def as_command(action: Action, hold_ns: int, wrench_at: str) -> Command:
    """The command that the node makes of an action."""
    return WrenchCommand(action._replace(at=wrench_at), hold_ns) if isinstance(action, Wrench) else action


def observation(controller: Controller, robot: Robot, sample: Sample) -> Observation:
    """What the controller sees of a sample: the fields of the messages that would be sent."""
    joints: dict[str, JointSeen] = {}
    if controller.joints:
        fields = topics.joint_state_fields(robot, sample, sample.t_ns)
        joints = joints_seen(fields["name"], fields["position"], fields["velocity"])
    bodies = {}
    for name in controller.bodies:
        bodies[name] = body_seen(topics.odometry_fields(robot, "", robot.body_index(name), sample, sample.t_ns))
    return Observation(sample.t_ns, joints, bodies)


def joints_seen(names: Sequence[str], positions: Sequence[float], velocities: Sequence[float]) -> dict[str, JointSeen]:
    """From the arrays of a JointState."""
    return dict(zip(names, map(JointSeen, positions, velocities), strict=True))


def body_seen(fields: dict[str, Any]) -> BodySeen:
    """From the fields of an Odometry; vectors are NamedTuples, or dicts as `convert.fields_of` makes them."""
    pose, twist = fields["pose"]["pose"], fields["twist"]["twist"]
    p, q, v, w = pose["position"], pose["orientation"], twist["linear"], twist["angular"]
    return BodySeen(numbers(p, "xyz"), numbers(q, "wxyz"), numbers(v, "xyz"), numbers(w, "xyz"))  # type: ignore[arg-type]


def numbers(vector: Any, names: str) -> tuple[float, ...]:
    """Components by name."""
    return tuple(vector[n] if isinstance(vector, dict) else getattr(vector, n) for n in names)
