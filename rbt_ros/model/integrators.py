"""What an integrator is asked before it moves a robot."""

from rbt_ros.core.integrate import SEMI_IMPLICIT
from rbt_ros.core.types import DAMPING, SINK, JointKind
from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.model.robot import Robot
from rbt_ros.plug.integrators import INTEGRATORS, Integrator


def integrator_named(name: str) -> Integrator:
    """What is plugged in under that name."""
    try:
        return INTEGRATORS.find(name)
    except ModelError as err:
        raise ScenarioError(str(err)) from err


def obstacle(integrator: str, robot: Robot, attraction: float) -> str:
    """Why this integrator cannot move this robot; empty if it can."""
    if not isinstance(robot, Robot):
        return (
            f"{type(robot).__name__} is no Robot that could be simulated; RobotBuilder.build() makes one, and "
            "rbt.load(name).simulation() is the simulation of a scenario."
        )
    how = integrator_named(integrator)
    if robot.constraints and how.one_body:
        return (
            f"integrator '{integrator}' does not keep the constraints of robot '{robot.name}', as its steps do not end "
            "on them; use semi_implicit, rk4, dop853, or one under error control."
        )
    if (robot.ropes or robot.stops) and how.one_body:
        return (
            f"integrator '{integrator}' does not see the ropes and stops of robot '{robot.name}'; use "
            "semi_implicit, rk4, dop853, or one under error control, which find the instants of impacts."
        )
    if how.method is SEMI_IMPLICIT and robot.model.freedom[:, SINK].any():
        return f"integrator '{integrator}' cannot turn a body by the friction inside it: use rk4 or dop853."
    if not how.one_body:
        return ""
    alone = " without torque" if how.torque_free else ""
    rule, way_out = f"integrator '{integrator}' moves one floating body{alone}", "use rk4 or dop853."
    if len(robot.bodies) > 1:
        return f"{rule}; robot '{robot.name}' has {len(robot.bodies)} bodies: {way_out}"
    hinge = robot.hinges[0]
    if hinge.kind != JointKind.FREE:
        return f"{rule}; body '{hinge.child}' hangs on the {hinge.kind.name.lower()} hinge '{hinge.name}': {way_out}"
    slowed = robot.model.freedom[:, [DAMPING, SINK]].any()
    if slowed and how.torque_free:
        return f"{rule}; friction acts on body '{hinge.child}': {way_out}"
    if attraction != 0.0 and how.torque_free:
        return f"{rule}; a point mass attracts robot '{robot.name}', and its gravity gradient turns it: {way_out}"
    return ""


def no_inputs(integrator: str) -> str:
    """Why inputs are refused under this integrator; empty if they are not."""
    if not integrator_named(integrator).torque_free:
        return ""
    return f"integrator '{integrator}' moves a torque-free body; use rk4 or dop853 for inputs."
