"""That each one-step method is the one it says: its stability function, its order, its interpolant, its cost."""

import math

import numpy as np
import pytest

from rbt_ros.solvers import METHODS, solve

EPS = np.finfo(float).eps
ONE_STEP = {"ode23": 3, "ode45": 5, "rk4": 4, "dop853": 8, "ode23s": 2, "ode23t": 2, "ode23tb": 2}  # name -> order
Z = [-0.5, -3.0, -40.0, 0.7, 3.0j, -1.0 + 2.0j, -200.0 - 500.0j]


def exponential(degree):
    return lambda z: sum(z**k / math.factorial(k) for k in range(degree + 1))


def second_order_l_stable(z):
    """Of TR-BDF2 and of the modified Rosenbrock method alike: the only one of degree 1 over (1 - d z)²."""
    return (1 + (math.sqrt(2) - 1) * z) / (1 - (1 - 1 / math.sqrt(2)) * z) ** 2


STABILITY = {
    "ode23": exponential(3),
    "rk4": exponential(4),
    "ode45": lambda z: exponential(5)(z) + z**6 / 600,  # Dormand and Prince 1980: the last stage of the six
    "ode23t": lambda z: (1 + z / 2) / (1 - z / 2),
    "ode23tb": second_order_l_stable,
    "ode23s": second_order_l_stable,
}


def one_step(method, z, **options):
    """y after a step of 1 from 1 on y' = z y."""
    found = solve(lambda t, y: z * y, (0, 1), [1.0 + 0j], method, step=1.0, **options)
    assert found.steps == 1
    return found.y[-1, 0]


@pytest.mark.parametrize("z", Z)
@pytest.mark.parametrize("method", STABILITY)
def test_stability_function(method, z):
    """Explicit: sums of terms z^k k! of alternating sign. Implicit: 1 - d z is divided by twice."""
    expected = STABILITY[method](complex(z))
    largest = max(abs(z) ** 6, 1.0) if not METHODS[method].stiff else 1.0
    assert abs(one_step(method, z, jac=[[z]]) - expected) <= 20 * EPS * largest


@pytest.mark.parametrize("z", [-0.5, -40.0, -200.0 - 500.0j])
@pytest.mark.parametrize("method", ["ode23t", "ode23tb", "ode23s"])
def test_stability_function_with_a_jacobian_by_differences(method, z):
    """Forward differences are good to √eps: ode23s, which does not iterate, has R as exactly as its Jacobian."""
    assert abs(one_step(method, z) - STABILITY[method](complex(z))) <= (1e-7 if method == "ode23s" else 1e-12)


def test_damping_at_infinity():
    """L-stable: R(-∞) = 0, so that what is stiff is gone after a step; the trapezoidal rule only turns its sign."""
    assert abs(one_step("ode23s", -1e9, jac=[[-1e9]])) < 1e-8
    assert abs(one_step("ode23tb", -1e9, jac=[[-1e9]])) < 1e-8
    assert one_step("ode23t", -1e9, jac=[[-1e9]]) == pytest.approx(-1.0, abs=1e-8)


def swinging(t, y):
    """y = exp(sin t) and 1 / (1 + t²): depends on time, and is not linear."""
    return np.array([y[0] * np.cos(t), -2.0 * t * y[1] ** 2])


def swung(t):
    return np.stack([np.exp(np.sin(t)), 1.0 / (1.0 + t**2)], axis=-1)


STEPS = {"dop853": (4, 8, 16), "ode45": (40, 80, 160), "rk4": (20, 40, 80)}  # where truncation is far above round-off


@pytest.mark.parametrize("backward", [False, True], ids=["forward", "backward"])
@pytest.mark.parametrize("method", ONE_STEP)
def test_order(method, backward):
    """Half the step, 2^-p of the error."""
    span = (0.0, -2.0) if backward else (0.0, 2.0)
    errors = []
    for n in STEPS.get(method, (40, 80, 160)):
        found = solve(swinging, span, swung(span[0]), method, step=2.0 / n)
        assert found.steps == n and found.rejected == 0 and found.t[-1] == span[1]
        errors.append(np.abs(found.y[-1] - swung(span[1])).max())
    assert -np.diff(np.log2(errors))[-1] == pytest.approx(ONE_STEP[method], abs=0.25)


@pytest.mark.parametrize("method", ONE_STEP)
def test_interpolant_has_the_order_of_the_method(method):
    """Between the steps: h^p of what the ends have, and at most h^(q + 1) of its own, q = 3 (cubic), 4, 7, 2."""
    order, times, errors = ONE_STEP[method], np.linspace(0.0, 2.0, 97), []
    for n in STEPS.get(method, (40, 80, 160)):
        found = solve(swinging, (0, 2), swung(0.0), method, step=2.0 / n, output_times=times)
        errors.append(np.abs(found.y - swung(times)).max())
    assert -np.diff(np.log2(errors))[-1] >= order - 0.5


@pytest.mark.parametrize("method", ["ode45", "dop853", "ode23", "ode23s", "ode23t", "ode23tb", "rk4"])
def test_interpolant_meets_the_steps(method):
    """Continuous with y at both ends of every step, to round-off."""
    found = solve(swinging, (0, 2), swung(0.0), method, step=0.1, dense=True)
    for piece in found.dense.interpolants:
        k = np.argmin(np.abs(found.t - piece.t_old))
        assert piece(piece.t_old) == pytest.approx(found.y[k], abs=20 * EPS)
        assert piece(piece.t) == pytest.approx(found.y[k + 1], abs=20 * EPS)


def test_fixed_steps_are_those_of_scipy_under_control():
    """One step of the pairs, forced to one length: ours of fixed step and scipy's, to round-off."""
    for method in ("ode45", "ode23", "dop853"):
        ours = solve(swinging, (0, 0.1), swung(0.0), method, step=0.1, output_times=[0.03, 0.1])
        loose = dict(first_step=0.1, max_step=0.1, rtol=0.5, atol=10.0)
        theirs = solve(swinging, (0, 0.1), swung(0.0), method, output_times=[0.03, 0.1], **loose)
        assert theirs.steps == 1
        assert ours.y == pytest.approx(theirs.y, abs=10 * EPS)


@pytest.mark.parametrize(("method", "stages"), [("ode45", 6), ("ode23", 3), ("dop853", 12)])
def test_explicit_pairs_cost_their_stages(method, stages):
    """f at the end is f at the start of the next step. Two evaluations choose the first step."""
    found = solve(lambda t, y: [y[1], -(20.0**2) * y[0] * (t > 1)], (0, 3), [1.0, 1.0], method, rtol=1e-6)
    assert found.rejected > 0
    assert found.evaluations == 2 + stages * (found.steps + found.rejected)


CONSTANTS = [("ode23", 1 / 24, 3), ("ode23t", 1 / 12, 2), ("ode23tb", 0.0404401, 2), ("ode23s", 0.0404401, 2)]


@pytest.mark.parametrize(("method", "constant", "order"), CONSTANTS)
def test_error_constant_of_a_rotation(method, constant, order):
    """ẏ = i w y: off by c w^(p + 1) h^p t, c = 1/12 of the trapezoidal rule, (3 √2 - 4) / 6 of the other two."""
    w, h, T = 2.0, 0.01, 5.0
    found = solve(lambda t, y: 1j * w * y, (0, T), [1.0 + 0j], method, step=h, jac=[[1j * w]])
    expected = constant * w ** (order + 1) * h**order * T
    assert np.abs(found.y[-1, 0] - np.exp(1j * w * T)) == pytest.approx(expected, rel=2e-3)
