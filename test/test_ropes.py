"""Ropes: the seed's example against its reference, momentum and energy of what floats, many at once, bad input."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt

REFERENCE = json.loads((Path(__file__).parent / "reference" / "r6_rope.json").read_text())
CASES = REFERENCE["cases"]


def seed_example(parameters, **options):
    """A mass on a rope in the vertical plane, with friction -f V: r6's x is our x, its y our z."""
    p = parameters
    b = rbt.RobotBuilder("seed")
    b.body("mass", mass=p["m"], inertia=(0.1, 0.1, 0.1))
    plane = dict(parent="world", child="mass", axis=(0, -1, 0), axis2=(1, 0, 0), damping=p["f"])
    b.hinge("plane", "planar", **plane)
    impact = "radial" if p["impact"] == "project" else "stop"
    b.rope("tether", "world", "mass", at_a=(p["XR"][0], 0, p["XR"][1]), length=p["l"], impact=impact)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -p["g"]), **options)
    sim.set_hinge("plane", (*p["X0"], 0), rate=(*p["V0"], 0))
    return sim


@pytest.mark.parametrize("name", CASES)
def test_rope_of_the_seed_is_that_of_the_reference(name):
    """Both impact rules: taut and slack at 1e-10 s (6e-16 measured), states 1e-9 (3e-14), tension 1e-8 N (1e-13)."""
    case = CASES[name]
    sim = seed_example(case["parameters"], integrator="dop853", step=1e-2)
    result = sim.run(until=case["parameters"]["tend"], every=1e-2)
    expected = [e for e in case["events"] if e["type"] in ("taut", "slack")]
    assert [e.what for e in result.events] == [e["type"] for e in expected]
    for found, e in zip(result.events, expected, strict=True):
        assert found.t == pytest.approx(e["t"], abs=1e-10)
        assert found.energy_lost == pytest.approx(e.get("energy lost", 0.0), abs=1e-9)
        assert found.speed == pytest.approx(e.get("radial velocity lost", 0.0), abs=1e-9)
    tether = result.rope("tether")
    for sample in case["samples"]:
        k = round(sample["t"] / 1e-2)
        assert result.hinge("plane").position[k, :2] == pytest.approx(np.array(sample["X"]), abs=1e-9)
        assert result.hinge("plane").rate[k, :2] == pytest.approx(np.array(sample["V"]), abs=1e-9)
        assert tether.tension[k] == pytest.approx(sample["tension"], abs=1e-8)
        assert tether.taut[k] == (sample["mode"] == "taut")


@pytest.mark.parametrize("name", CASES)
def test_swings_of_the_seed_turn_when_the_reference_says(name):
    """Bottoms and turning points at 1e-10 s: zeros of cubics through samples of 1 ms, whose error in the zero is
    h⁴/384 times the fourth derivative over the slope, 1e-12 s."""
    case, p, h = CASES[name], CASES[name]["parameters"], 1e-3
    result = seed_example(p, integrator="dop853", step=h).run(until=p["tend"])
    r = result.hinge("plane").position[:, :2] - np.array(p["XR"])
    V = result.hinge("plane").rate[:, :2]
    phi = np.arctan2(r[:, 0], -r[:, 1])
    omega = (r[:, 0] * V[:, 1] - r[:, 1] * V[:, 0]) / p["l"] ** 2
    omega_dot = -p["g"] / p["l"] * np.sin(phi) - p["f"] / p["m"] * omega
    for event in case["events"]:
        if event["type"] not in ("bottom", "turning"):
            continue
        k = math.floor(event["t"] / h)
        f, rate = (phi, omega) if event["type"] == "bottom" else (omega, omega_dot)
        a, b = h * rate[k], h * rate[k + 1]
        rise = f[k + 1] - f[k]
        roots = np.roots([a + b - 2 * rise, 3 * rise - 2 * a - b, a, f[k]])
        x = min((z.real for z in roots if abs(z.imag) < 1e-9), key=lambda z: abs(z - (event["t"] / h - k)))
        assert (k + x) * h == pytest.approx(event["t"], abs=1e-10)


def test_order_holds_across_events():
    """Thrown over, slack, taut again: the error at 3 s falls as h⁴ with rk4, h⁸ with dop853, once impacts are inside
    steps. By least squares over three halvings, as where events lie in their steps is chance: half an order."""
    case = CASES["throw_slack"]["parameters"]

    def end(integrator, step):
        sim = seed_example(case, integrator=integrator, step=step)
        sim.advance(round(3.0 / step))
        return np.concatenate([sim.state.q, sim.state.v])

    exact = end("dop853", 2e-3)
    for integrator, steps, order in (("rk4", (2e-2, 1e-2, 5e-3, 2.5e-3), 4), ("dop853", (1e-1, 5e-2, 2.5e-2), 8)):
        errors = [np.abs(end(integrator, step) - exact).max() for step in steps]
        slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
        assert slope > order - 0.5
