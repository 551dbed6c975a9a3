"""Set-points, trajectories and torques of hinges: a PD controller at every stage is a spring and a damper."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.hinge_commands import (
    HingeCommand,
    HingeSetting,
    HingeSettings,
    HingeTorque,
    HingeTrajectory,
)

KP, KD = 30.0, 2.0
EPS = np.finfo(float).eps


def pendulum(step=1e-3, integrator="rk4", work=False, **hinge) -> rbt.Simulation:
    b = rbt.RobotBuilder("pendulum")
    b.body("rod", mass=2.0, inertia=(0.1, 0.1, 0.01), com=(0, 0, -0.5))
    b.hinge("pivot", "revolute", parent="world", child="rod", axis=(0, 1, 0), **hinge)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), step=step, integrator=integrator, work_of_inputs=work)
    sim.set_hinge("pivot", 0.2, rate=1.0)
    return sim


def steered(mode="position", **options) -> rbt.Simulation:
    sim = pendulum(**options)
    sim.command(HingeSettings((HingeSetting("pivot", mode, KP, KD),)))
    return sim


def state(sim) -> np.ndarray:
    return np.concatenate([sim.state.q, sim.state.v])


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "dop853"])
def test_a_held_set_point_is_a_spring_and_a_damper(integrator):
    """With an effort beside it, against the hinge's own spring and damper and `set_effort`: equal to round-off."""
    sim, spring = steered(integrator=integrator), pendulum(integrator=integrator, stiffness=KP, rest=0.7, damping=KD)
    sim.command(HingeCommand(("pivot",), (0.7,), (), (0.3,)))
    spring.set_effort("pivot", 0.3)
    sim.advance(1000)
    spring.advance(1000)
    assert np.abs(state(sim) - state(spring)).max() < 1e4 * EPS  # measured: 0 to 2 EPS; a thousand steps of a few ulp


def test_a_set_point_of_velocity_pulls_the_rate_there():
    """No gravity, no friction: v - u falls as exp(-kd t / I)."""
    sim = rbt.Simulation(pendulum().robot, step=1e-3)
    sim.command(HingeSettings((HingeSetting("pivot", "velocity", 0.0, KD),)))
    sim.command(HingeCommand(("pivot",), (), (3.0,)))
    sim.advance(500)
    inertia = 0.1 + 2.0 * 0.25
    # RK4: relative error (h kd/I)^5/120 per step: 500 x 3.4e-15
    assert sim.state.v[0] == pytest.approx(3.0 * (1 - np.exp(-KD / inertia * 0.5)), rel=1e-11)


def test_rk4_keeps_its_order_on_a_trajectory():
    """Cubic pieces with knots on ticks; halving the step takes 15/16 of the error away."""
    points = HingeTrajectory(("pivot",), (160_000_000, 320_000_000), ((1.0,), (0.4,)), ((2.0,), (-1.0,)))
    ends = []
    for step in (0.016, 0.008, 0.004, 0.0005):
        sim = steered(step=step)
        sim.command(points)
        sim.advance(round(0.4 / step))
        ends.append(state(sim))
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert np.diff(np.log2(errors)) == pytest.approx([-4, -4], abs=0.4)


@pytest.mark.parametrize("velocities", [((2.0,), (-1.0,)), ()])
def test_a_trajectory_passes_its_points(velocities):
    """A stiff controller follows it: within the lag of gravity over kp, through every point, and stays at the last."""
    sim = pendulum()
    sim.command(HingeSettings((HingeSetting("pivot", "position", 1e5, 600.0),)))
    sim.command(HingeTrajectory(("pivot",), (200_000_000, 400_000_000), ((1.0,), (0.4,)), velocities))
    for tick, expected in ((200, 1.0), (400, 0.4), (1000, 0.4)):
        sim.advance(tick - sim.tick)
        # acceleration of the reference at most 150 rad/s²: 0.6 · 150 / 1e5, and 9.81 / 1e5 of gravity, and the kink's
        assert sim.state.q[0] == pytest.approx(expected, abs=0.01)


def test_what_lies_before_now_is_left_out_and_a_point_at_now_is_the_start():
    sim, other = steered(), steered()
    late = HingeTrajectory(("pivot",), (-50_000_000, 0, 100_000_000), ((9.0,), (0.3,), (0.5,)))
    latched = sim.command(late)
    assert latched.command == HingeTrajectory(("pivot",), (0, 100_000_000), ((0.3,), (0.5,)))
    other.command(latched.command)
    sim.advance(200)
    other.advance(200)
    assert sim.digest() == other.digest()


def test_the_energy_books_close_with_a_controller():
    """Energy now - at the start = work of inputs - dissipated, to the order of the integrator: error falls by 2^4."""
    misses = []
    for step in (4e-3, 2e-3):
        sim = steered(step=step, work=True)
        sim.command(HingeTrajectory(("pivot",), (200_000_000,), ((1.0,),), ((0.5,),)))
        before = sim.sample()
        sim.advance(round(0.4 / step))
        after = sim.sample()
        assert after.work.inputs != 0.0
        misses.append(after.energy.total - before.energy.total - after.work.inputs + after.work.dissipated)
    assert abs(misses[1]) < 1e-6
    assert misses[0] / misses[1] == pytest.approx(16, rel=0.3)


def test_the_last_valid_command_wins_and_a_refused_one_changes_nothing():
    sim = steered()
    sim.command(HingeCommand(("pivot",), (0.3,)))
    sim.advance(10)
    before = sim.memory()
    with pytest.raises(rbt.MessageError, match="position of joint 'pivot' is nan"):
        sim.command(HingeCommand(("pivot",), (float("nan"),)))
    assert sim.memory() == before
    sim.command(HingeCommand(("pivot",), (-0.3,)))
    sim.advance(20_000)  # decays as exp(-kd/2I t), kd/2I = 1.7/s
    q = sim.state.q[0]
    assert KP * (-0.3 - q) - 2.0 * 9.81 * 0.5 * np.sin(q) == pytest.approx(0.0, abs=1e-10)


def test_a_new_mode_begins_where_the_joint_is():
    sim = pendulum()
    sim.set_effort("pivot", 1.0)
    sim.advance(100)
    here = sim.state.q[0]
    sim.command(HingeSettings((HingeSetting("pivot", "position", KP, KD),)))
    held = pendulum()
    held.set_effort("pivot", 1.0)
    held.advance(100)
    held.command(HingeSettings((HingeSetting("pivot", "position", KP, KD, position=here),)))
    sim.advance(50)
    held.advance(50)
    assert sim.digest() == held.digest()


def test_a_command_without_values_lets_go():
    sim = steered()
    sim.command(HingeCommand(("pivot",), (0.3,), (), (1.0,)))
    sim.command(HingeCommand(("pivot",)))
    free = pendulum()
    sim.advance(100)
    free.advance(100)
    assert sim.digest() == free.digest()


def test_a_torque_on_a_ball_is_an_effort_on_its_freedoms():
    sim, other = (rbt.load("five_body").simulation() for _ in range(2))
    sim.command(HingeTorque("elbow", (0.1, -0.2, 0.3)))
    other.set_effort("elbow", (0.1, -0.2, 0.3))
    sim.advance(20)
    other.advance(20)
    assert sim.digest() == other.digest()


def test_reset_drops_set_points_and_keeps_modes_and_gains():
    sim = steered()
    sim.command(HingeCommand(("pivot",), (0.3,)))
    sim.advance(10)
    sim.reset()
    free = pendulum()
    sim.advance(10)
    free.advance(10)
    assert sim.digest() == free.digest()
    assert sim.hinge_laws["pivot"][:3] == ("position", KP, KD)


REFUSED = {
    "unknown joint": (
        HingeCommand(("knee",), (1.0,)),
        "robot 'five_body' has no joint 'knee' of one axis; it has wrist",
    ),
    "a ball": (HingeCommand(("elbow",), (), (), (1.0,)), "has no joint 'elbow' of one axis"),
    "no names": (HingeCommand(()), "hinge command without names"),
    "twice": (HingeCommand(("wrist", "wrist")), "names joint 'wrist' more than once"),
    "lengths": (HingeCommand(("wrist",), (), (), (1.0, 2.0)), "2 numbers as effort for 1 joints"),
    "infinite": (HingeCommand(("wrist",), (), (), (np.inf,)), "effort of joint 'wrist' is inf, which is not finite"),
    "position in effort": (HingeCommand(("wrist",), (1.0,)), "joint 'wrist' takes effort, not position"),
    "velocity in effort": (HingeCommand(("wrist",), (), (1.0,)), "joint 'wrist' takes effort, not velocity"),
    "effort in position": (HingeCommand(("left_pivot",), (), (), (1.0,)), "joint 'left_pivot' takes positions"),
    "position in velocity": (HingeCommand(("right_pivot",), (1.0,)), "joint 'right_pivot' takes velocities"),
    "trajectory in effort": (HingeTrajectory(("wrist",), (1,), ((1.0,),)), "joint 'wrist' does not follow positions"),
    "no points": (HingeTrajectory(("left_pivot",), (), ()), "trajectory without points"),
    "falling times": (
        HingeTrajectory(("left_pivot",), (5, 5), ((1.0,), (1.0,))),
        "times must rise, and 5e-09 s follows 5e-09 s",
    ),
    "in the past": (
        HingeTrajectory(("left_pivot",), (-(10**9),), ((1.0,),)),
        "its last point lies 1.000 s in the past",
    ),
    "ragged": (HingeTrajectory(("left_pivot",), (1,), ((1.0, 2.0),)), "2 numbers as position for 1 joints"),
    "some velocities": (
        HingeTrajectory(("left_pivot",), (1, 2), ((1.0,), (1.0,)), ((1.0,),)),
        "all points have velocities, or none",
    ),
    "torque on no ball": (HingeTorque("wrist", (1.0, 0.0, 0.0)), "has no spherical hinge 'wrist'"),
    "torque of nan": (HingeTorque("elbow", (np.nan, 0.0, 0.0)), "must be three finite numbers"),
    "torque on a free ball": (
        HingeTorque("shoulder", (1.0, 0.0, 0.0)),
        "hinge 'shoulder' is free and takes no command",
    ),
    "unknown mode": (HingeSettings((HingeSetting("wrist", "magic"),)), "'magic' is not one of free, effort, position"),
    "no delay": (HingeSettings((HingeSetting("wrist", delay=0.0),)), "hinges.wrist.delay: 0.0 s must be positive"),
    "a ball that is driven": (HingeSettings((HingeSetting("elbow", "prescribed"),)), "is spherical: it is free, takes"),
    "set-point of a lock": (HingeSettings((HingeSetting("wrist", "locked", position=1.0),)), "'wrist' is locked and t"),
    "no kp": (HingeSettings((HingeSetting("wrist", "position"),)), "position needs a gain; set hinges.wrist.kp"),
    "no kd": (HingeSettings((HingeSetting("wrist", "velocity", 1.0),)), "velocity needs a gain; set hinges.wrist.kd"),
    "negative": (HingeSettings((HingeSetting("wrist", kp=-1.0),)), "hinges.wrist.kp: -1.0 must be finite and not"),
    "ball gains": (HingeSettings((HingeSetting("elbow", kp=1.0),)), "hinge 'elbow' is spherical: it is free, takes"),
    "no such hinge": (HingeSettings((HingeSetting("knee", "free"),)), "has no hinge 'knee' with a mode"),
    "set-point against the mode": (HingeSettings((HingeSetting("wrist", position=1.0),)), "takes effort, not position"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_refused_whole_and_says_why(case):
    command, words = REFUSED[case]
    sim = rbt.load("five_body").simulation()
    sim.command(
        HingeSettings(
            (
                HingeSetting("left_pivot", "position", KP, KD),
                HingeSetting("right_pivot", "velocity", 0.0, KD),
                HingeSetting("shoulder", "free"),
            )
        )
    )
    before = sim.memory()
    with pytest.raises(rbt.MessageError) as refused:
        sim.command(command)
    assert words in str(refused.value)
    assert sim.memory() == before


def test_settings_are_taken_all_or_none():
    sim = rbt.load("five_body").simulation()
    both = HingeSettings((HingeSetting("wrist", "position", KP, KD), HingeSetting("left_pivot", "position")))
    before = sim.memory()
    with pytest.raises(rbt.MessageError):
        sim.command(both)
    assert sim.memory() == before


def test_torque_free_integrators_refuse_hinge_commands_too():
    sim = rbt.Simulation(rbt.load("cubesat").robot, integrator="exact")
    with pytest.raises(rbt.MessageError, match="moves a torque-free body"):
        sim.command(HingeCommand(("x",)))
