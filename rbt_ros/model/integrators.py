"""What each integrator is for: which robots it moves, what it refuses."""

from rbt_ros.core.types import DAMPING, SINK, JointKind
from rbt_ros.errors import ScenarioError
from rbt_ros.model.robot import Robot

ADAPTIVE = ("dop853_adaptive", "dormand_prince")  # under error control
TORQUE_FREE = ("exact", "splitting")
ONE_BODY = (*TORQUE_FREE, "lie_euler")
INTEGRATORS = ("semi_implicit", "rk4", "dop853", *ADAPTIVE, *ONE_BODY)


def checked_integrator(integrator: str) -> str:
    """The name of an integrator."""
    if not isinstance(integrator, str) or integrator not in INTEGRATORS:
        raise ScenarioError(f"integrator '{integrator}' is not one of {', '.join(INTEGRATORS)}.")
    return integrator


def obstacle(integrator: str, robot: Robot, attraction: float) -> str:
    """Why this integrator cannot move this robot; empty if it can."""
    if not isinstance(robot, Robot):
        return (
            f"{type(robot).__name__} is no Robot that could be simulated; RobotBuilder.build() makes one, and "
            "rbt.load(name).simulation() is the simulation of a scenario."
        )
    if robot.constraints and integrator in ONE_BODY:
        return (
            f"integrator '{integrator}' does not keep the constraints of robot '{robot.name}', as its steps do not end "
            "on them; use semi_implicit, rk4, dop853, or one under error control."
        )
    if (robot.ropes or robot.stops) and integrator in ONE_BODY:
        return (
            f"integrator '{integrator}' does not see the ropes and stops of robot '{robot.name}'; use "
            "semi_implicit, rk4, dop853, or one under error control, which find the instants of impacts."
        )
    if integrator == "semi_implicit" and robot.model.freedom[:, SINK].any():
        return f"integrator '{integrator}' cannot turn a body by the friction inside it: use rk4 or dop853."
    if integrator not in ONE_BODY:
        return ""
    alone = " without torque" if integrator in TORQUE_FREE else ""
    rule, way_out = f"integrator '{integrator}' moves one floating body{alone}", "use rk4 or dop853."
    if len(robot.bodies) > 1:
        return f"{rule}; robot '{robot.name}' has {len(robot.bodies)} bodies: {way_out}"
    hinge = robot.hinges[0]
    if hinge.kind != JointKind.FREE:
        return f"{rule}; body '{hinge.child}' hangs on the {hinge.kind.name.lower()} hinge '{hinge.name}': {way_out}"
    slowed = robot.model.freedom[:, [DAMPING, SINK]].any()
    if slowed and integrator in TORQUE_FREE:
        return f"{rule}; friction acts on body '{hinge.child}': {way_out}"
    if attraction != 0.0 and integrator in TORQUE_FREE:
        return f"{rule}; a point mass attracts robot '{robot.name}', and its gravity gradient turns it: {way_out}"
    return ""


def no_inputs(integrator: str) -> str:
    """Why inputs are refused under this integrator; empty if they are not."""
    if integrator not in TORQUE_FREE:
        return ""
    return f"integrator '{integrator}' moves a torque-free body; use rk4 or dop853 for inputs."
