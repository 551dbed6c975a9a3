"""`simulate(stabilise=...)`: the laboratory keeps what the engine keeps, and refuses what it cannot."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.errors import ScenarioError

BODY = rbt.RigidBody(mass=1.0, inertia=(0.2, 0.35, 0.5))
SPIN = {"omega_b": (1.0, 0.3, 2.0), "step": 0.02}


@pytest.mark.parametrize("solver", ["semi_implicit", "rk4", "dop853", "lie_euler", "exact", "splitting"])
def test_projection_keeps_both_to_round_off(solver):
    result = rbt.simulate(BODY, **SPIN, duration=20, solver=solver, stabilise="projection")
    L = np.linalg.norm(result.angular_momentum_e, axis=1)
    assert np.abs(L / L[0] - 1).max() < 1e-14
    assert np.abs(result.rotational_energy / result.rotational_energy[0] - 1).max() < 1e-14


def test_a_controller_is_not_undone():
    """Damping held over 1 ms steps: with and without projection the same but for RK4's own error."""
    torque = rbt.Torque(lambda t, state: -0.1 * state.omega_b, per="step")
    runs = [
        rbt.simulate(BODY, omega_b=(1, 0.3, 2), duration=2, step=1e-3, solver="rk4", torque=torque, stabilise=how)
        for how in ("none", "projection")
    ]
    assert np.abs(runs[0].omega_b - runs[1].omega_b).max() < 1e-11  # largest found: 2.3e-13


def test_lie_euler_is_of_first_order():
    exact = rbt.simulate(BODY, omega_b=(1, 0.3, 2), duration=2, step=0.5, solver="exact")
    errors = []
    for step in (2e-3, 1e-3, 5e-4):
        found = rbt.simulate(BODY, omega_b=(1, 0.3, 2), duration=2, step=step, solver="lie_euler")
        errors.append(np.abs(found.omega_b[-1] - exact.omega_b[-1]).max())
    assert np.diff(np.log2(errors)) == pytest.approx([-1, -1], abs=0.05)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"solver": "ode45", "step": None},
            "stabilise corrects the fixed steps of .*; not those of 'ode45' in 'quaternion'",
        ),
        ({"formalism": "euler"}, "not those of 'dop853' in 'euler'"),
        ({"normalise": None}, "with normalise=None"),
        ({"stabilise": "much"}, "stabilise 'much' is not one of none, gradient, projection"),
        ({"stabilise": rbt.Stabilise("gradient", k_e=-1.0)}, "k_e -1.0 must be a positive error"),
    ],
)
def test_what_cannot_be_corrected_is_refused(options, text):
    with pytest.raises(ScenarioError, match=text):
        rbt.simulate(BODY, **{**SPIN, "duration": 1, "stabilise": "projection", **options})
