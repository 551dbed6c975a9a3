"""Closed forms: heavy top, double pendulum, hinge spring, gravity gradient, reaction wheel."""

import json
from pathlib import Path

import numpy as np
import pytest
from trees import EPS, body_row, frozen, model_of, no_input

from rbt_ros.core import types as t
from rbt_ros.core.adaptive import solve
from rbt_ros.core.dynamics import derivative
from rbt_ros.core.events import Event
from rbt_ros.core.integrate import DOP853, RK4, advance
from rbt_ros.core.invariants import ANGULAR, KINETIC, POTENTIAL, SUMMARY_COLUMNS, observe
from rbt_ros.core.types import JointKind
from rbt_ros.core.vec import rotation
from rbt_ros.core.work import workspace

R8 = json.loads((Path(__file__).parents[1] / "reference" / "r8_closed_forms.json").read_text())
FREE, REVOLUTE, SPHERICAL = JointKind.FREE, JointKind.REVOLUTE, JointKind.SPHERICAL
Y = (0, 1, 0)


def with_columns(model, **columns):
    """The model with freedom columns set, e.g. STIFFNESS=[...]."""
    freedom = model.freedom.copy()
    for name, values in columns.items():
        freedom[:, getattr(t, name)] = values
    return frozen(model._replace(freedom=freedom))


def summary_of(model, y):
    n, out = len(model.tree), np.zeros(SUMMARY_COLUMNS)
    observe(model, y, workspace(model), np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 3)), out)
    return out


@pytest.mark.parametrize("branch", [0, 1], ids=["slow", "fast"])
def test_heavy_top_precesses_steadily(branch):
    """Tilt constant, azimuth at the root of I1 cos(th) W² - I3 w3 W + m g l = 0: one turn, DOP853 1 ms."""
    case = R8["heavy_top"]
    p = case["parameters"]
    about_com = p["I1"] - p["m"] * p["l"] ** 2
    row = body_row(p["m"], (0, 0, p["l"]), (about_com, about_com, p["I3"]))
    model = model_of([(-1, SPHERICAL)], [row], (0, 0, -p["g"]))
    y = np.array(case["initial q"] + case["initial omega_body with body x on the line of nodes"][branch], dtype=float)
    rate = case["precession rates slow, fast [rad/s]"][branch]
    steps = round(2 * np.pi / rate * 1000)
    axis = np.array([row[2] for row in rotation(tuple(y[:4]))])
    assert advance(model, y, no_input(model), 0, 1_000_000, steps, DOP853, workspace(model)).code == t.OK
    turned = np.array([row[2] for row in rotation(tuple(y[:4]))])
    angle = rate * steps * 1e-3
    c, s = np.cos(angle), np.sin(angle)
    # the given start is rounded to 1e-16 of 60 rad/s; the reference's own run drifts by 6e-13
    assert turned == pytest.approx([c * axis[0] - s * axis[1], s * axis[0] + c * axis[1], axis[2]], abs=1e-10)


@pytest.mark.parametrize("name", ["dzhanibekov", "dzhanibekov_tee"])
def test_body_flips_about_its_middle_axis_every_2k_over_p(name):
    """Zeros of ω_mid: 20 flips, adaptive DOP853 at rtol 1e-13.

    An error e in L² changes 1 - k² by e / (1 - k²) of itself, and a flip by half of that over p; e: about the rtol.
    """
    case = R8[name]
    inertia, interval = case["parameters"]["I"], case["flip interval 2K/p"]
    model = model_of([(-1, FREE)], [body_row(1.0, (0, 0, 0), inertia)])
    y = np.array([1.0, 0, 0, 0, 0, 0, 0, *case["parameters"]["omega0"], 0, 0, 0])
    flip = Event(lambda s, y: y[8])
    found = solve(model, y, no_input(model), round(20.2 * interval * 1e9), rtol=1e-13, atol=1e-16, events=[flip])
    zeros = np.array([hit.t for hit in found.hits])
    worst = np.abs(np.diff(zeros) - interval).max()
    allowed = 1e-13 / case["1-k^2"] / case["p"]
    print(f"{name}: {worst:.2g} of {allowed:.2g} s")
    assert len(zeros) == 20
    assert worst < allowed


@pytest.mark.parametrize("spread", [1e-1, 1e-4, 1e-8])
def test_a_lone_body_obeys_eulers_equations_to_the_last_digits(spread):
    """ẇ_x = (I_y - I_z) / I_x ω_y ω_z, each component within some eps of itself: at any attitude, however small it is,
    however close the moments of inertia are. Else noise in ẇ decides where flips near the separatrix happen."""
    rng, worst = np.random.default_rng(7), 0.0
    for _ in range(100):
        I = 1.0 + spread * rng.uniform(0, 1, 3)
        model = model_of([(-1, FREE)], [body_row(1.0, (0, 0, 0), I)])
        w, q = rng.uniform(1, 2, 3) * (1e-6, 1.0, 1e-3), rng.normal(size=4)
        ydot = np.zeros(13)
        y = np.concatenate([q / np.linalg.norm(q), np.zeros(3), w, np.zeros(3)])
        derivative(model, y, no_input(model), 0, 0.0, workspace(model), ydot)
        exact = (np.roll(I, -1) - np.roll(I, -2)) / I * np.roll(w, -1) * np.roll(w, -2)
        worst = max(worst, np.abs(ydot[7:10] / exact - 1).max())
    print(f"{worst / EPS:.3g} eps")
    assert worst < 10 * EPS


@pytest.mark.parametrize("name", ["double_pendulum_points", "double_pendulum_rods"])
@pytest.mark.parametrize("mode", [0, 1])
def test_double_pendulum_swings_in_its_modes(name, mode):
    """Periods of linear theory: those at two small amplitudes, extrapolated to none (the error is of order a⁴)."""
    case = R8[name]
    p, ratio = case["parameters"], case["mode ratio th2/th1"][mode]
    rows = [
        body_row(p["m1"], (0, 0, -p["c1"]), (p["J1"], p["J1"], 0), axis=Y),
        body_row(p["m2"], (0, 0, -p["c2"]), (p["J2"], p["J2"], 0), (0, 0, -p["l1"]), axis=Y),
    ]
    model = model_of([(-1, REVOLUTE), (0, REVOLUTE)], rows, (0, 0, -p["g"]))
    period = case["periods [s]"][mode]

    def measured(amplitude):
        y = np.array([amplitude, amplitude * (ratio - 1.0), 0.0, 0.0])
        falling = Event(lambda s, y: y[0], direction=-1)
        solution = solve(model, y, no_input(model), round(1.6e9 * period), rtol=1e-12, atol=1e-16, events=[falling])
        return solution.hits[1].t - solution.hits[0].t

    assert (4 * measured(1e-3) - measured(2e-3)) / 3 == pytest.approx(period, rel=1e-9)


def test_hinge_spring_between_two_free_bodies():
    """Two bars in a hinge with spring and damper, floating: damped period and decrement of the reduced inertia."""
    case = R8["hinge_spring"]
    p = case["parameters"]
    a, b = p["LA"] / 2, p["LB"] / 2
    JA, JB = p["mA"] * p["LA"] ** 2 / 12, p["mB"] * p["LB"] ** 2 / 12
    rows = [
        body_row(p["mA"], (0, 0, 0), (1e-3, JA, JA)),
        body_row(p["mB"], (b, 0, 0), (1e-3, JB, JB), (a, 0, 0), axis=(0, 0, 1)),
    ]
    model = with_columns(
        model_of([(-1, FREE), (0, REVOLUTE)], rows), STIFFNESS=[0] * 6 + [p["k"]], DAMPING=[0] * 6 + [p["c"]]
    )
    y = np.zeros(15)
    y[0], y[7] = 1.0, 1e-4
    peaks = Event(lambda s, y: y[-1], direction=-1)
    solution = solve(model, y, no_input(model), 12_000_000_000, rtol=1e-12, atol=1e-16, events=[peaks])
    times, heights = [h.t for h in solution.hits], [h.y[7] for h in solution.hits]
    assert times[1] - times[0] == pytest.approx(case["damped period"], rel=1e-7)  # amplitude² = 1e-8
    assert np.log(heights[0] / heights[1]) == pytest.approx(case["log decrement"], rel=1e-6)


def satellite(mu, inertia):
    model = model_of([(-1, FREE)], [body_row(100.0, (0, 0, 0), inertia)])
    world = model.world.copy()
    world[t.ATTRACTION] = mu
    return frozen(model._replace(world=world))


@pytest.mark.parametrize("amplitude", ["0.001", "0.3", "0.8"])
def test_gravity_gradient_pitch_period(amplitude):
    """A satellite on a circular orbit swings in pitch with the period of the elliptic integral."""
    case = R8["gravity_gradient"]
    p = case["parameters"]
    radius = p["Re"] + p["altitude"]
    model = satellite(p["mu"], p["I"])
    n = np.sqrt(p["mu"] / radius**3)
    # orbit in the x-z plane, nadir at -x of the world; body z to nadir, x along track (+z world), y to the normal
    theta = float(amplitude)
    c, s = np.cos(theta), np.sin(theta)
    nadir, track = np.array([-1.0, 0, 0]), np.array([0, 0, 1.0])
    normal = np.cross(nadir, track)
    R = np.stack([c * track - s * nadir, normal, s * track + c * nadir], axis=1)
    w = 0.5 * np.sqrt(1 + np.trace(R))
    q = np.array([w, (R[2, 1] - R[1, 2]) / (4 * w), (R[0, 2] - R[2, 0]) / (4 * w), (R[1, 0] - R[0, 1]) / (4 * w)])
    spin = -n * np.array([0, 1.0, 0])  # world axes: position × velocity = x × z = -y
    y = np.concatenate([q, [radius, 0, 0], R.T @ spin, [0, 0, radius * n]])

    def pitch(when, y):
        R = np.array(rotation(tuple(y[:4])))
        up = y[4:7] / np.linalg.norm(y[4:7])
        return float(np.dot(R[:, 0], up))

    duration = round(1.3e9 * case["check"][f"amplitude {amplitude} rad"]["period formula [s]"])
    down = Event(pitch, direction=-1)
    solution = solve(model, y, no_input(model), duration, rtol=1e-12, atol=1e-12, events=[down])
    measured = solution.hits[1].t - solution.hits[0].t
    # the formula takes the orbit as given; the body's own second-order force bends it by (size / radius)² = 1e-14
    assert measured == pytest.approx(case["check"][f"amplitude {amplitude} rad"]["period formula [s]"], rel=1e-6)


def test_attraction_keeps_energy_and_angular_momentum():
    """A body as large as a tenth of its distance: the second-order force belongs to the torque, so both are kept."""
    model = satellite(1.0, (0.5, 0.8, 1.0))
    y = np.array([0.9, 0.1, -0.3, 0.3, 10.0, 0, 0, 0.05, 0.02, -0.03, 0.0, 0.3, 0.05])
    y[:4] /= np.linalg.norm(y[:4])
    before = summary_of(model, y)
    advance(model, y, no_input(model), 0, 10_000_000, 5000, DOP853, workspace(model))
    after = summary_of(model, y)
    energy = after[KINETIC] + after[POTENTIAL] - before[KINETIC] - before[POTENTIAL]
    assert abs(energy) < 5000 * EPS * (abs(before[KINETIC]) + abs(before[POTENTIAL]))
    size = np.abs(before[ANGULAR : ANGULAR + 3]).max()
    assert np.abs(after[ANGULAR : ANGULAR + 3] - before[ANGULAR : ANGULAR + 3]).max() < 5000 * EPS * size


def test_reaction_wheel_turns_its_satellite():
    """Motor torque tau for t: hub rate -tau t / J, wheel tau t (1/Iw + 1/J) against it, hub angle -tau t² / (2 J)."""
    case = R8["reaction_wheel"]
    p = case["parameters"]
    rows = [
        body_row(50.0, (0, 0, 0), (12.0, 12.0, p["J"])),
        body_row(1.0, (0, 0, 0), (0.01, 0.01, p["Iw"]), axis=(0, 0, 1)),
    ]
    model = model_of([(-1, FREE), (0, REVOLUTE)], rows)
    y = np.zeros(15)
    y[0] = 1.0
    input = no_input(model)
    input.tau[6] = p["tau"]
    steps = round(p["t"] * 100)
    assert advance(model, y, input, 0, 10_000_000, steps, RK4, workspace(model)).code == t.OK
    assert y[10] == pytest.approx(case["with constant motor torque tau for t: hub rate"], abs=steps * EPS)
    assert y[14] == pytest.approx(case["relative wheel speed"], rel=steps * EPS)
    angle = 2 * np.arctan2(y[3], y[0])
    assert np.exp(1j * angle) == pytest.approx(np.exp(1j * case["hub angle"]), abs=1e-9)  # RK4, 10 ms: h⁴ w⁵ t / 120


def test_friction_stops_a_slider_where_it_should():
    """Coulomb friction c on m: at rest after m v0² / (2 c), but for the creep's width; energy only falls."""
    model = with_columns(
        model_of([(-1, JointKind.PRISMATIC)], [body_row(2.0, (0, 0, 0), (1, 1, 1))]), COULOMB=[3.0], CREEP=[1e-4]
    )
    y = np.array([0.0, 1.5])
    assert advance(model, y, no_input(model), 0, 20_000, 75_000, RK4, workspace(model)).code == t.OK
    assert y[0] == pytest.approx(2.0 * 1.5**2 / (2 * 3.0), rel=1e-3)
    assert abs(y[1]) < 1e-6


def test_viscous_friction_decays_exponentially():
    model = with_columns(model_of([(-1, REVOLUTE)], [body_row(2.0, (0, 0, 0), (1, 1, 0.5))]), DAMPING=[0.2])
    y = np.array([0.0, 3.0])
    advance(model, y, no_input(model), 0, 1_000_000, 1000, DOP853, workspace(model))
    assert y[1] == pytest.approx(3.0 * np.exp(-0.4), abs=1000 * EPS)
