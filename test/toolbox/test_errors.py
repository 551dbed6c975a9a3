"""What cannot be simulated says why, in one sentence."""

import math
import re

import numpy as np
import pytest

import rbt_ros as rbt

T = np.array([0.0, 1.0])
V = np.zeros((2, 3))


def late(t):
    return (math.nan, 0, 0) if t > 0.5 else (0, 0, 0)


BODIES = [
    (dict(inertia=(1, 1, 3)), "principal moments 1, 1, 3 kg·m² break Ix + Iy >= Iz"),
    (dict(inertia=np.eye(2)), "is not 3 principal moments or a finite 3x3 tensor"),
    (dict(inertia=((1, 0.1, 0), (0, 1, 0), (0, 0, 1))), "is not symmetric"),
    (dict(mass=-1), "mass -1 kg is negative"),
    (dict(mass=math.nan), "mass of body 'body': nan is not finite"),
    (dict(name="3u"), "body name '3u'|robot name '3u'"),
]
RUNS = [
    # start
    (dict(velocity=(1, 0, 0), velocity_b=(1, 0, 0)), "both velocity and velocity_b are given"),
    (dict(omega_b=(1, 0, 0), omega_e=(1, 0, 0)), "both omega_b and omega_e are given"),
    (dict(quaternion=(1, 0, 0, 0), matrix=np.eye(3)), "both quaternion and matrix are given"),
    (dict(position=(1, 2)), "position (1, 2) must be three finite numbers in m."),
    (dict(position="here"), "position: 'here' is neither a number nor a regular array of numbers"),
    (dict(velocity_b=(1, 2, math.inf)), "velocity_b (1, 2, inf) must be three finite numbers in m/s"),
    (dict(omega_e=3.0), "omega_e 3.0 must be three finite numbers in rad/s"),
    (dict(quaternion=(0, 0, 0, 0)), "start: the quaternion [0.0, 0.0, 0.0, 0.0] is zero and has no direction"),
    (dict(quaternion=(1, 0, 0)), "quaternion has the shape (3,), not (4,) (w x y z)"),
    (dict(matrix=np.eye(4)), "matrix has the shape (4, 4), not (3, 3)"),
    (dict(matrix=2 * np.eye(3)), "is no rotation"),
    (dict(euler=(0.1, 0.2, 0.3)), 'euler=(0.1, 0.2, 0.3) must be ("ZYX", a, b, c)'),
    (dict(euler=("ZZY", 0, 0, 0)), "'ZZY' is no Euler sequence"),
    (dict(euler=("zyx", 0, 0, 0)), "'zyx' in small letters means turns about fixed axes in some libraries; say which"),
    (dict(formalism="euler", sequence="zxz"), "sequence: 'zxz' in small letters"),
    # arguments
    (dict(F_b=(0, 0, 1)), "simulate: F_b is force= here; more in docs/from_matlab.md."),
    (dict(tspan=(0, 40)), "simulate: tspan is span= here"),
    (dict(mass=70), "simulate: mass is rbt.RigidBody(mass=), the first argument, here"),
    (dict(forces=(0, 0, 1)), "simulate: there is no argument 'forces'; did you mean force?"),
    (dict(nonsense=1), "simulate: there is no argument 'nonsense'; it takes position, velocity,"),
    (dict(solver="ode45", step=0.3), "or take a solver with error control: ode45 without step=."),
    (dict(duration=1e9), "1e+09 s in steps of 0.001 s are 1e+12 samples, more than 1e+08; take longer steps"),
    (dict(duration=1e300), "samples, more than 1e+08; take longer steps"),
    (dict(solver="ode45", max_step=1e-300), "max_step 1e-300 s would make more than 1e+08 steps over 1 s"),
    (dict(force=([0, 1e300], V)), "force: times must lie within ±9e+09 s, and one is 1e+300 s."),
    (dict(torque=[]), "torque: an array of shape (0,); three numbers x y z are needed"),
    (
        dict(force=lambda t: (0, 0, 100 / t)),
        "force: the function at t = 0 s has no value (ZeroDivisionError: float division by zero); start the span later",
    ),
    (dict(torque=rbt.Torque(lambda t, x: (0, 0, 1 / t), per="step")), "torque: the function at t = 0 s has no value"),
    (dict(events=lambda t, state: math.exp(1e9)), "event 0: the function at t = 0 s has no value (OverflowError"),
    (dict(omega_b="fast"), "omega_b: 'fast' is neither a number nor a regular array of numbers"),
    (dict(euler=3.0), 'euler=3.0 must be ("ZYX", a, b, c)'),
    (dict(matrix="I"), "matrix: 'I' is neither a number nor a regular array of numbers"),
    # loads
    (dict(gravity="down"), "gravity: 'down' is neither a number nor a regular array of numbers"),
    (dict(force=rbt.Force((1, 0, 0), frame=["body"])), "force: frame '['body']' is not one of body, inertial"),
    (dict(force=rbt.Force((1, 0, 0), at="tip")), "force: at: 'tip' is neither a number nor a regular array of numbers"),
    (dict(force=rbt.Force((1, 0, 0), between="spline")), "force: between='spline' is not one of hold, linear, cubic"),
    (dict(force=(["a", "b"], V)), "force: times: ['a', 'b'] is neither a number nor a regular array of numbers"),
    (dict(gravity=(0, 9.81)), "gravity (0, 9.81) must be three finite numbers in m/s²"),
    (dict(force=(1, 2)), "force: an array of shape (2,); three numbers x y z are needed"),
    (dict(torque=3.0), "torque: one number; three numbers x y z are needed"),
    (dict(force="up"), "force: 'up'; three numbers x y z are needed"),
    (dict(force=(1, 2, math.nan)), "force: [1.0, 2.0, nan], which is not finite"),
    (dict(force=rbt.Force((1, 0, 0), frame="earth")), "force: frame 'earth' is not one of body, inertial"),
    (dict(force=rbt.Force((1, 0, 0), at=(0, 1))), "force: at (0, 1) must be three finite numbers in m"),
    (dict(force=rbt.Torque((1, 0, 0))), "force: a Torque was given; it belongs to torque="),
    (dict(force=lambda t: (t, t)), "force: the function at t = 0 s returned an array of shape (2,); three numbers"),
    (dict(force=lambda a, b, c: 0), "force: a function takes (t) or (t, state), not 3 arguments"),
    (dict(torque=late, solver="rk4"), "torque: the function at t = 0.5005 s returned [nan, 0.0, 0.0], which is not"),
    (dict(torque=lambda t: None), "torque: the function at t = 0 s returned"),
    (dict(force=late, solver="rk4", formalism="matrix", step=0.25), "force: the function at t = 0.625 s returned [nan"),
    (dict(force=late, solver="ode45"), "force: the function at t = 0.5"),
    (dict(force=rbt.Force(lambda t, s: late(t), per="step")),
     "force: the function at t = 0.501 s returned [nan, 0.0, 0.0]"),
    (dict(force=lambda t, state: (0, 0, 0)), "a function of (t, state) needs per=\"step\" (called once a step"),
    (dict(force=rbt.Force(lambda t: (0, 0, 0), per="step")), "force: per='step' is for functions of (t, state)"),
    (dict(force=rbt.Force(lambda t, s: (0, 0, 0), per="step"), solver="ode23"),
     "force: per='step' holds a function over fixed steps"),
    (dict(force=(T, np.zeros((3, 3)))), "here times have the shape (2,), values (3, 3)"),
    (dict(force=(T[::-1], V)), "force: the times must rise, and 0 s follows 1 s"),
    (dict(force=(T, V + [0, 0, math.nan])), "force: sample 0 at t = 0 s is not finite"),
    (dict(force=rbt.Force((T, V), between="nearest")), "force: between='nearest' is not one of hold, linear, cubic"),
    # time
    (dict(duration=-1), "duration -1 s must be a positive finite number"),
    (dict(span=(2, 1)), "span (2, 1) s runs backwards or nowhere"),
    (dict(span=(1, 1)), "span (1, 1) s runs backwards or nowhere"),
    (dict(span=(0, math.inf)), "must be two finite times (from, to)"),
    (dict(span=(0, 1), duration=1), "both duration and span are given"),
    (dict(duration=0.0015), "0.0015 s are not a whole number of steps of 0.001 s; 0.002 s would be"),
    (dict(step=1.5e-10, duration=1.5e-9), "step 1.5e-10 s must be a positive whole number of nanoseconds"),
    (dict(output_times=[0, 2]), "output_times run from 0 to 2 s, beyond the span 0 to 1 s"),
    (dict(output_times=[0.5, 0.2]), "output_times must be finite rising times (n,) in s"),
    (dict(events=[3]), "event 0: a function of (t, state) is needed, not 3"),
    (dict(events=lambda t: t), "event 0: a function of (t, state) is needed"),
    (dict(events=lambda t, s: math.nan), "event 0: the function at t = 0 s is not finite"),
    # solver, formalism
    (dict(on_singularity="explode"), "on_singularity 'explode' is not one of stop, continue, switch"),
    (dict(solver=["ode45"]), "solver ['ode45'] is not one of dop853, dop853_adaptive"),
    (dict(step="1 ms"), "step: '1 ms' is neither a number nor a regular array of numbers"),
    (dict(step=(1e-3, 1e-3)), "step (0.001, 0.001) must be one number"),
    (dict(duration="5 s"), "duration: '5 s' is neither a number nor a regular array of numbers"),
    (dict(span=1), "span 1 must be two finite times"),
    (dict(output_times="all"), "output_times: 'all' is neither a number nor a regular array of numbers"),
    (dict(stabilise=1), "stabilise 1 is neither one of none, gradient, projection nor a rbt.Stabilise"),
    (dict(stabilise=rbt.Stabilise("gradient", k1="half")), "stabilise: k1 'half' is not a number"),
    (dict(events=lambda t, s: s.omega_b),
     "event 0: the function at t = 0 s returned 3 numbers, not one"),
    (dict(events=lambda t, s: "now"), "event 0: the function at t = 0 s returned: 'now' is neither a number nor"),
    (dict(events=rbt.Event(lambda t, s: t, direction="up")), "event 0: direction 'up' is not one of -1, 0, 1"),
    (dict(solver="ode42"), "solver 'ode42' is not one of dop853, dop853_adaptive, dormand_prince, exact, "
     "explicit_euler, heun, lie_euler, midpoint, rk4, semi_implicit, splitting, ode45, ode23, ode113, ode15s"),
    (dict(solver="rk4", rtol=1e-6), "solver 'rk4' takes step, not rtol"),
    (dict(solver="ode23", rtol=-1), "rtol -1.0 must be a positive finite number"),
    (dict(solver="dop853_adaptive", step=1e-3), "solver 'dop853_adaptive' takes rtol, atol, max_step, not step"),
    (dict(solver="exact", torque=(1, 0, 0)), "solver 'exact' moves a body without force and torque"),
    (dict(solver="dop853_adaptive", force=lambda t: (0, 0, 0)), "under constant and sampled forces; use ode45"),
    (dict(solver="dop853_adaptive", formalism="matrix"), "'dop853_adaptive' integrates quaternions by projection"),
    (dict(solver="splitting", normalise=None), "solver 'splitting' integrates quaternions by projection"),
    (dict(formalism="rodrigues"), "formalism 'rodrigues' is not one of quaternion, euler, matrix"),
    (dict(sequence="ABC"), "sequence: 'ABC' is no Euler sequence"),
    (dict(formalism="euler", on_singularity="panic"), "on_singularity 'panic' is not one of stop, continue, switch"),
    (dict(normalise="often"), "normalise 'often' is not one of 'projection', 'manifold', 'multiplier', None"),
    (dict(formalism="euler", normalise="manifold"), "Euler angles have no constraint to keep"),
    (dict(formalism="matrix", normalise="multiplier"), "normalise='multiplier' is for quaternions"),
    (dict(solver="ode23", normalise="manifold"), "normalise='manifold' needs the steps of rk4 or dop853, not 'ode23'"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "text"), BODIES, ids=[text[:40] for _, text in BODIES])
def test_bodies_that_cannot_exist(given, text):
    with pytest.raises(rbt.ModelError, match=text if "|" in text else re.escape(text)):
        rbt.RigidBody(**given)


@pytest.mark.parametrize(("given", "text"), RUNS, ids=[text[:60] for _, text in RUNS])
def test_runs_that_cannot_be(given, text):
    with pytest.raises(rbt.RbtError) as error:
        rbt.simulate(**given)
    assert text in str(error.value)


def test_a_quaternion_of_another_length():
    """Normalised; with a warning beyond 1e-6."""
    with pytest.warns(UserWarning, match="has norm 2 and was normalised"):
        found = rbt.simulate(quaternion=(2, 0, 0, 0), duration=1e-3)
    assert found.quaternion[0].tolist() == [1, 0, 0, 0]
    assert rbt.simulate(quaternion=(1 + 1e-7, 0, 0, 0), duration=1e-3).quaternion[0].tolist() == [1, 0, 0, 0]


def test_the_body_must_be_one():
    with pytest.raises(rbt.ScenarioError, match="the body is a float, not a RigidBody"):
        rbt.simulate(3.0)


@pytest.mark.filterwarnings("ignore:overflow|invalid")
@pytest.mark.parametrize(
    ("way", "text"),
    [
        (dict(), "non-finite state at hinge 'body'"),
        (dict(formalism="matrix"), "the state is not finite; try a smaller"),
    ],
)
def test_a_run_that_leaves_the_numbers_says_when(way, text):
    """ω² overflows."""
    with pytest.raises(rbt.SolveError, match=rf"t = 0\.1 s: {text}"):
        rbt.simulate(rbt.RigidBody(1, (1, 2, 3)), omega_b=(1e200, 1e200, 1e200), step=0.1, **way)


def test_vector_sums():
    with pytest.raises(rbt.ScenarioError, match="VectorSum, term 2: a function takes t alone"):
        rbt.VectorSum((0, 0, 1), lambda t, state: 0)
    with pytest.raises(rbt.ScenarioError, match=r"VectorSum, term 1: an array of shape \(2,\)"):
        rbt.VectorSum((0, 0))
    with pytest.raises(rbt.ScenarioError, match=r"VectorSum, term 1: the function at t = 0 s returned \[.*inf"):
        with np.errstate(divide="ignore"):
            rbt.VectorSum(lambda t: (0, 0, np.float64(100) / t)).at(0.0)
