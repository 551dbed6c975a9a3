"""The attitude formalisms agree with each other and with the exact solution, each of the order of its method."""

import math
import warnings

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.attitude import SEQUENCES
from rbt_ros.toolbox.formalisms import EulerAngles, Matrices, MultiplierQuaternions, Quaternions

BODY = rbt.RigidBody(2.0, ((0.9, 0.05, 0.0), (0.05, 0.7, 0.02), (0.0, 0.02, 0.5)))
# far enough from gimbal lock of all 12 sequences for 0.4 s: a lock would warn, and warnings are errors here
START = dict(euler=("ZYX", 0.8, 0.5, 0.7), omega_b=(0.5, 0.9, -0.8), duration=0.4)
WAYS = {
    **{sequence: dict(formalism="euler", sequence=sequence) for sequence in SEQUENCES},
    "matrix": dict(formalism="matrix"),
    "matrix, manifold": dict(formalism="matrix", normalise="manifold"),
    "matrix, free": dict(formalism="matrix", normalise=None),
    "quaternion": dict(),
    "quaternion, manifold": dict(normalise="manifold"),
    "quaternion, multiplier": dict(normalise="multiplier"),
    "quaternion, free": dict(normalise=None),
}


@pytest.fixture(scope="module")
def exact():
    return rbt.simulate(BODY, **START, solver="exact", step=0.4)


@pytest.mark.parametrize("way", WAYS)
def test_order_of_rk4_in_every_formalism(way, exact):
    """Against the closed form: halving the step divides the error of the attitude by 2⁴."""
    errors = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for step in (0.04, 0.02, 0.01):
            found = rbt.simulate(BODY, **START, solver="rk4", step=step, **WAYS[way])
            errors.append(np.abs(found.matrix[-1] - exact.matrix[-1]).max())
    assert errors[-1] > 1e-12  # far above round-off: an order can be seen
    assert np.diff(np.log2(errors)) == pytest.approx([-4, -4], abs=0.3)  # measured -3.84 to -4.27


@pytest.mark.parametrize("way", ["ZYX", "matrix, manifold", "quaternion", "quaternion, multiplier"])
def test_order_of_ode45_at_a_fixed_step(way, exact):
    """5: compiled for quaternions, plain for the others. (A matrix that is projected shows 6.1: its error of order 5 is
    along the constraint's normal.)"""
    errors = []
    for step in (0.1, 0.05, 0.025):
        found = rbt.simulate(BODY, **START, solver="ode45", step=step, **WAYS[way])
        errors.append(np.abs(found.matrix[-1] - exact.matrix[-1]).max())
    assert errors[-1] > 5e-14  # round-off is 1e-15
    assert np.diff(np.log2(errors)) == pytest.approx([-5, -5], abs=0.45)  # measured -4.96 to -5.40


@pytest.mark.parametrize("way", WAYS)
def test_dop853_is_exact_to_round_off_in_every_formalism(way, exact):
    """40 steps: h⁸ is far below round-off, which is a few EPS per step, in Euler angles over the sine of the lock."""
    found = rbt.simulate(BODY, **START, solver="dop853", step=0.01, **WAYS[way])
    assert np.abs(found.matrix[-1] - exact.matrix[-1]).max() <= 2e-14  # measured 3e-15
    assert np.abs(found.omega_b[-1] - exact.omega_b[-1]).max() <= 5e-15


@pytest.mark.parametrize("solver", ["ode45", "ode113"])
@pytest.mark.parametrize("way", ["ZYX", "ZXZ", "matrix", "quaternion", "quaternion, multiplier"])
def test_solvers_by_name_in_every_formalism(way, solver, exact):
    found = rbt.simulate(BODY, **START, solver=solver, rtol=1e-9, atol=1e-11, **WAYS[way])
    assert np.abs(found.matrix[-1] - exact.matrix[-1]).max() <= 1e-8  # measured 3e-9


@pytest.mark.parametrize(
    "form", [Quaternions(), Matrices(), MultiplierQuaternions(), *(EulerAngles(s) for s in SEQUENCES)]
)
def test_coordinates_and_their_rates_fit_the_engine(form):
    """There and back; and d/dt of the coordinates along a turn at constant ω, by central differences of order 2."""
    y13 = rbt.simulate(BODY, **{**START, "duration": 1e-3}, position=(1, 2, 3), velocity=(4, 5, 6)).y[0]
    assert form.engine(form.start(y13)) == pytest.approx(y13, abs=1e-15)
    h, q, w = 1e-4, y13[:4], y13[7:10]

    def at(t):
        """Turned on by ω t about the body's axes."""
        half = 0.5 * t * np.linalg.norm(w)
        turn = np.array([math.cos(half), *(math.sin(half) * w / np.linalg.norm(w))])
        left = np.array([[q[0], -q[1], -q[2], -q[3]], [q[1], q[0], -q[3], q[2]], [q[2], q[3], q[0], -q[1]],
                         [q[3], -q[2], q[1], q[0]]])  # fmt: skip
        return form.start(np.array([*(left @ turn), *y13[4:]]))

    size = {EulerAngles: 3, Matrices: 9}.get(type(form), 4)
    rate13 = np.array([0.0] * 4 + [4.0, 5.0, 6.0] + [0.0] * 6)
    rate13[:4] = np.array([-q[1:] @ w, *(q[0] * w + np.cross(q[1:], w))]) / 2
    rate = form.rate(form.start(y13), rate13)
    difference = (at(h) - at(-h)) / (2 * h)
    assert rate[:size] == pytest.approx(difference[:size], abs=3e-7)  # h² |ω|³ / 6 over the margin
    if isinstance(form, MultiplierQuaternions):  # q̈ = λ q, λ = -ω²/4: the law of the multiplier
        assert rate[7:11] == pytest.approx(-0.25 * (w @ w) * q, abs=1e-15)


def test_what_keeps_the_constraint_and_what_does_not():
    """Projection and manifold to round-off; without them the error is that of the method, and the multiplier's too."""
    errors = {}
    for way in ("quaternion", "quaternion, manifold", "quaternion, multiplier", "quaternion, free", "matrix",
                "matrix, manifold", "matrix, free"):  # fmt: skip
        found = rbt.simulate(BODY, **START, solver="rk4", step=0.02, **WAYS[way])
        errors[way] = np.abs(found.constraint_errors()).max()
    assert max(errors["quaternion"], errors["quaternion, manifold"]) <= 1e-15
    assert max(errors["matrix"], errors["matrix, manifold"]) <= 5e-15
    assert min(errors["quaternion, free"], errors["quaternion, multiplier"], errors["matrix, free"]) > 1e-13


# ------------------------------------------------------------------------------------------------- gimbal lock
TUMBLE = dict(omega_b=(0.002, 1.0, 0.001), duration=3.0)  # pitches through 90 deg at t = π/2, missing it by 0.1 deg
BALL = rbt.RigidBody(1.0, (1.0, 1.0, 1.0))
WARNS = r"t = 1\.5\d+ s: the Euler angles ZYX are 2\.\d deg from gimbal lock, middle angle 87\.\d+ deg; "
EARLY = (
    r"t = 1\.3\d+ s: the Euler angles ZYX are 14 deg from gimbal lock, middle angle 7\d\.\d+ deg; it goes on in [XYZ]+"
)


def tumble(action, **options):
    return rbt.simulate(BALL, **TUMBLE, formalism="euler", on_singularity=action, **options)


@pytest.mark.parametrize("options", [dict(solver="rk4", step=0.01), dict(solver="ode45", rtol=1e-8, atol=1e-10)])
def test_gimbal_lock_stops_the_run(options):
    with pytest.warns(UserWarning, match=WARNS + "the run stops here"):
        found = tumble("stop", **options)
    assert found.time[-1] == pytest.approx(math.pi / 2 - 0.05, abs=0.015)
    (lock,) = found.gimbal_locks
    assert (lock.sequence, lock.action) == ("ZYX", "stop")
    assert lock.t == pytest.approx(found.time[-1]) and lock.angle == pytest.approx(found.euler()[-1, 1])


@pytest.mark.parametrize("options", [dict(solver="rk4", step=0.01), dict(solver="ode45", rtol=1e-8, atol=1e-10)])
def test_a_run_that_switches_sequence_knows_no_lock(options):
    """As exact as quaternions, and in its own sequence again at the end."""
    with pytest.warns(UserWarning, match=EARLY):
        found = tumble("switch", **options)
    exact = rbt.simulate(BALL, **TUMBLE, solver="exact", step=0.01)
    assert found.time[-1] == 3.0
    assert np.abs(found.matrix[-1] - exact.matrix[-1]).max() < 1e-7
    forms = [stretch.form.sequence for stretch in found.track.stretches]
    assert forms[0] == forms[-1] == "ZYX" and len(forms) == 3
    assert [lock.action for lock in found.gimbal_locks] == [forms[1]]


@pytest.mark.parametrize("options", [dict(solver="rk4", step=0.01), dict(solver="ode45", rtol=1e-8, atol=1e-10)])
def test_a_run_that_goes_on_says_so(options):
    with pytest.warns(UserWarning, match=WARNS + "it goes on, and may lose its accuracy"):
        found = tumble("continue", **options)
    assert found.time[-1] == 3.0 and [lock.action for lock in found.gimbal_locks] == ["continue"]


def test_gimbal_lock_costs_accuracy_and_switching_does_not():
    exact = rbt.simulate(BALL, **TUMBLE, solver="exact", step=0.01)
    errors = {}
    for action in ("continue", "switch"):
        with pytest.warns(UserWarning, match="gimbal lock"):
            found = tumble(action, solver="rk4", step=0.01)
        errors[action] = np.abs(found.matrix[-1] - exact.matrix[-1]).max()
    assert errors["continue"] > 1e3 * errors["switch"]


@pytest.mark.parametrize("options", [dict(solver="rk4", step=0.2), dict(solver="ode45", max_step=0.3)])
def test_a_lock_that_a_step_jumps_over_is_seen(options):
    """Straight through the lock: the margin changes its sign within one step."""
    with pytest.warns(UserWarning, match="gimbal lock"):
        found = rbt.simulate(BALL, omega_b=(0, 1, 0), duration=2.0, formalism="euler", **options)
    assert found.time[-1] < 1.8


def test_a_start_in_gimbal_lock():
    with pytest.raises(rbt.ScenarioError, match="the start is 0 deg from the gimbal lock of the Euler angles ZXZ"):
        rbt.simulate(BODY, formalism="euler", sequence="ZXZ")
    with pytest.warns(UserWarning, match="t = 0 s: the Euler angles ZXZ are 0 deg .* it goes on in"):
        found = rbt.simulate(BODY, omega_b=(1, 0, 0), formalism="euler", sequence="ZXZ", on_singularity="switch")
    assert found.track.stretches[-1].form.sequence == "ZXZ"  # it has come back
    with (
        pytest.warns(UserWarning, match="gimbal lock"),
        pytest.raises(rbt.SolveError, match="gimbal lock at a middle angle of 0 deg; the rates"),
    ):
        rbt.simulate(BODY, omega_b=(1, 0, 0), formalism="euler", sequence="ZXZ", on_singularity="continue")
