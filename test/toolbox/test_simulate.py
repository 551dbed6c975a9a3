"""`simulate`: the thesis' cases against their closed forms, defaults, steps, events, output times, progress."""

import math

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.plug.integrators import INTEGRATORS

EPS = np.finfo(float).eps
IZ, RATE = 32 / 17, 2 * math.pi / 5  # of the precession: Ix = Iy = 1, period 5 s
WZ = RATE * 17 / 15
DISC = rbt.RigidBody(1.0, (1.0, 1.0, IZ))


def precession(t):
    """ω in body axes."""
    return np.stack([np.cos(RATE * t), np.sin(RATE * t), np.full_like(t, WZ)], axis=1)


def mse(a, b):
    """Mean over samples and components, at the solver's own times."""
    return ((a - b) ** 2).mean()


@pytest.mark.parametrize(
    ("solver", "bound"),
    # RK4: the local error (RATE h)⁵/120, 5000 times, is 1.3e-13: its mean square over time and components 1.9e-27
    [("dop853", 1e-29), ("exact", 1e-29), ("splitting", 1e-29), ("ode45", 1e-29), ("rk4", 2e-27)],
)
def test_precession(solver, bound):
    found = rbt.simulate(DISC, omega_b=(1, 0, WZ), duration=5.0, solver=solver, step=1e-3)
    assert len(found) == 5001 and np.array_equal(found.time, np.arange(5001) / 1000)
    assert mse(found.omega_b, precession(found.time)) <= bound


@pytest.mark.parametrize("way", [dict(), dict(solver="rk4"), dict(formalism="euler", step=0.05)])
def test_free_fall_and_parabola(way):
    """Polynomials of order 2: exact to the round-off of positions of 4000 m."""
    fall = rbt.simulate(rbt.RigidBody(70), position=[4000] * 3, gravity=[-9.81] * 3, duration=28.55, **way)
    t = fall.time[:, None]
    assert mse(fall.position, 4000 - 9.81 / 2 * t**2 + np.zeros(3)) <= 1e-18
    assert mse(fall.velocity_e, -9.81 * t + np.zeros(3)) <= 1e-20
    start = np.array([0.0, 28 * math.cos(math.pi / 4), 28 * math.sin(math.pi / 4)])
    kick = rbt.simulate(velocity=start, force=(0, 0, -9.81), duration=4.05, **way)
    t = kick.time[:, None]
    assert mse(kick.position, start * t - (0, 0, 9.81 / 2) * t**2) <= 1e-22


def test_three_lines_and_defaults():
    found = rbt.simulate()
    assert (found.time[0], found.time[-1], found.body.mass, found.solver) == (0.0, 1.0, 1.0, "dop853")
    assert not found.y[:, 1:].any() and np.all(found.y[:, 0] == 1.0)


@pytest.mark.parametrize(
    "solver", [*INTEGRATORS.names(), "ode45", "ode23", "ode113", "ode15s", "ode23s", "ode23t", "ode23tb", "ode15i"]
)
def test_every_solver_moves_the_body(solver):
    found = rbt.simulate(DISC, omega_b=(1, 0, WZ), velocity=(1, 2, 3), duration=0.5, solver=solver)
    assert found.omega_b[-1] == pytest.approx(precession(found.time[-1:])[0], abs=5e-3)
    assert found.position[-1] == pytest.approx((0.5, 1.0, 1.5), abs=2e-3)
    assert found.omega_e[-1] == pytest.approx(found.matrix[-1] @ found.omega_b[-1], abs=1e-14)


def test_starts_in_every_form_are_one_start():
    euler = ("XYZ", 0.4, -0.3, 0.9)
    first = rbt.simulate(euler=euler, velocity=(1, 2, 3), omega_b=(0.1, 0.2, 0.3), duration=1e-3)
    R = first.matrix[0]
    for attitude in (dict(quaternion=first.quaternion[0]), dict(matrix=R)):
        again = rbt.simulate(
            **attitude, velocity_b=R.T @ (1, 2, 3), omega_e=R @ (0.1, 0.2, 0.3), position=(0, 0, 0), span=(0, 1e-3)
        )
        assert np.abs(again.y[0] - first.y[0]).max() <= 8 * EPS
    assert first.euler("XYZ")[0] == pytest.approx(euler[1:], abs=4 * EPS)
    assert first.velocity_b[0] == pytest.approx(R.T @ (1, 2, 3), abs=4 * EPS)


def test_mass_properties_make_a_body():
    """Their centre of mass becomes the origin."""
    properties = rbt.MassProperties(3.0, np.array([1.0, 2.0, 3.0]), np.diag([3.0, 2.0, 4.0]))
    body = rbt.RigidBody.of(properties)
    assert body.mass == 3.0 and np.array_equal(body.inertia, properties.inertia)
    assert rbt.simulate(body, omega_b=(0, 0, 1), duration=0.01).position.any() == np.False_


def test_chained_runs_are_the_same_bits_as_one():
    """A run that starts where another ended: no state is hidden (fixed steps at the same times)."""
    whole = rbt.simulate(DISC, omega_b=(1, 0, WZ), duration=1.0, solver="rk4")
    half = rbt.simulate(DISC, omega_b=(1, 0, WZ), duration=0.5, solver="rk4")
    rest = rbt.simulate(DISC, quaternion=half.quaternion[-1], omega_b=half.omega_b[-1], span=(0.5, 1.0), solver="rk4")
    assert np.array_equal(rest.y, whole.y[500:])


# -------------------------------------------------------------------------------------- between samples, events
@pytest.mark.parametrize(("solver", "order"), [("rk4", 4), ("dop853", 8)])
def test_states_between_samples_are_of_the_solvers_order(solver, order):
    """Hermite's error alone: from exact samples it falls as h^order; at the middle of the steps."""
    errors = []
    for step in (0.1, 0.05):
        found = rbt.simulate(DISC, omega_b=(1, 0, 3), duration=1.0, solver=solver, step=step)
        fine = rbt.simulate(DISC, omega_b=(1, 0, 3), duration=1.0, solver="exact", step=step / 2)
        found.track.y[:] = fine.y[::2]
        middle = fine.time[7:-7:2]  # with samples to both sides
        errors.append(np.abs(found.at(middle).omega_b - fine.at(middle).omega_b).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize("way", [dict(solver="ode45", rtol=1e-9, atol=1e-11), dict(solver="dop853_adaptive"),
                                 dict(solver="ode113", rtol=1e-10, atol=1e-12), dict(solver="rk4")])  # fmt: skip
def test_output_times(way):
    """At whatever times, to the accuracy of the solution; those of the solver are left out."""
    times = np.array([0.0, 0.1, 1 / 3, math.sqrt(2), 2.0])
    found = rbt.simulate(DISC, omega_b=(1, 0, WZ), duration=2.0, output_times=times, **way)
    assert np.array_equal(found.time, times) and len(found) == 5
    assert np.abs(found.omega_b - precession(times)).max() < 3e-8
    assert np.abs(np.linalg.norm(found.quaternion, axis=1) - 1).max() < 1e-14
    assert found.energy == pytest.approx(found.energy[0], rel=1e-7)


@pytest.mark.parametrize(
    "way", [dict(), dict(solver="ode45"), dict(solver="ode23"), dict(formalism="matrix", step=0.05)]
)
def test_an_event_ends_the_run(way):
    """The skydiver reaches the ground at √(2 h/g)."""
    ground = rbt.Event(lambda t, state: state.position[2], terminal=True, direction=-1)
    start = dict(position=(0, 0, 4000), gravity=(0, 0, -9.81), duration=40.0)
    found = rbt.simulate(rbt.RigidBody(70), **start, events=ground, **way)
    (hit,) = found.events
    assert hit.t == found.time[-1] == pytest.approx(math.sqrt(8000 / 9.81), rel=1e-12)
    assert found.velocity_e[-1, 2] == pytest.approx(-math.sqrt(2 * 9.81 * 4000), rel=1e-12)
    assert hit.state.position[2] == pytest.approx(0, abs=1e-9)
    with pytest.raises(rbt.ScenarioError, match=r"t = 35 s lies outside of the run, 0 to 28\.5568625 s"):
        found.at(35)


def test_events_count_by_direction_and_the_run_goes_on():
    """sin t: zeros at π (falling), 2π (rising) within 8 s; the third function falls once, with the first."""
    events = [lambda t, s: math.sin(t), rbt.Event(lambda t, s: math.sin(t), direction=1),
              rbt.Event(lambda t, s: s.position[0] - 4, direction=-1)]  # fmt: skip
    found = rbt.simulate(duration=8.0, velocity=(1, 0, 0), step=0.1, events=events)
    assert [(hit.event, round(hit.t, 9)) for hit in found.events] == [
        (0, round(math.pi, 9)),
        (0, round(2 * math.pi, 9)),
        (1, round(2 * math.pi, 9)),
    ]
    assert found.time[-1] == 8.0


@pytest.mark.parametrize("way", [dict(), dict(solver="exact"), dict(solver="ode23"), dict(formalism="matrix"),
                                 dict(force=rbt.Force(lambda t, s: (0, 0, 0), per="step"))])  # fmt: skip
def test_progress_goes_from_nothing_to_all(way):
    told = []
    rbt.simulate(
        DISC, omega_b=(1, 0, 0), step=None if way.get("solver") == "ode23" else 0.01, progress=told.append, **way
    )
    assert told == sorted(told) and told[-1] == pytest.approx(1.0) and 1 < len(told) <= 201


def test_progress_bar(capsys):
    rbt.simulate(duration=0.01, progress=True)
    assert capsys.readouterr().err.endswith("90 %\r\x1b[K")  # it goes when all is done
