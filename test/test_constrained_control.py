"""Closed loops and prescribed joints under error control: the tolerance holds, each step ends on the constraints."""

import numpy as np
import pytest
from linkages import four_bar, four_bar_angles, off

import rbt_ros as rbt

ADAPTIVE = ("dop853_adaptive", "dormand_prince")
pytestmark = pytest.mark.filterwarnings("ignore:robot 'four_bar'")


def swinging(integrator, step=0.05, **options):
    """The linkage let go under gravity."""
    phi, gamma, *_ = four_bar_angles(1.2, 0.0)
    sim = rbt.Simulation(four_bar().build(), gravity=(0, 0, -9.81), integrator=integrator, step=step, **options)
    for name, angle in (("a", 1.2), ("b", phi - 1.2), ("d", gamma)):
        sim.set_hinge(name, angle)
    sim.set_hinge("a", rate=1.0)
    return sim


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_the_error_falls_with_the_tolerance_and_loops_stay_closed(integrator):
    """A local error of rtol per step makes a global one in proportion: a decade each, a tenth of an order for chance;
    against DOP853 at 0.5 ms, whose own is 1e-13. Residuals are round-off whatever the tolerance."""
    exact = swinging("dop853", 0.5e-3)
    exact.advance(4000)
    tolerances, errors = np.array([1e-5, 1e-7, 1e-9, 1e-11]), []
    for rtol in tolerances:
        result = (sim := swinging(integrator, 0.5, rtol=rtol, atol=1e-3 * rtol)).run(until=2.0)
        assert result.constraint("loop").residual.max() < 1e-12
        errors.append(np.abs(sim.state.q - exact.state.q).max())
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert slope == pytest.approx(1.0, abs=0.1)
    assert (np.array(errors) < 10 * tolerances).all()  # measured: at most 3.7


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_a_driven_crank_follows_its_closed_form_and_its_work_is_booked(integrator):
    """20 rad/s through ticks of 50 ms, a sixth of a turn: what the geometry says is met to round-off."""
    sim = rbt.Simulation(four_bar(speed=20.0).build(), integrator=integrator, step=0.05, work_of_inputs=True)
    phi, gamma, *_ = four_bar_angles(1.2, 20.0)
    sim.set_hinge("b", phi - 1.2)
    result = sim.run(until=2.0)
    phi, gamma, phi_dot, gamma_dot = four_bar_angles(1.2 + 20 * result.t, 20.0)
    assert off(result.hinge("d").angle, gamma) < 1e-12
    assert result.hinge("d").rate == pytest.approx(gamma_dot, abs=1e-10)
    assert max(abs(s.conservation.energy) for s in result.samples) < 1e-8  # 100 times rtol


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_steps_end_where_an_input_jumps(integrator):
    """A torque that is switched within the tick: ten ticks in one, the switch on none of them, is the same motion."""
    ends = []
    for step in (0.25, 0.025):
        sim = swinging(integrator, step, rtol=1e-11, atol=1e-13)
        sim.add_input(rbt.Effort("a", (5.0,)), signal=rbt.table([0, 0.1, 0.163], [0, 1, -1], between="hold"))
        sim.advance(round(0.5 / step))
        ends.append(np.concatenate([sim.state.q, sim.state.v]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-8)


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_bits_do_not_depend_on_cuts_or_looks(integrator):
    whole, cut = swinging(integrator), swinging(integrator)
    whole.advance(8)
    for _ in range(8):
        cut.advance()
        cut.sample()
    assert cut.digest() == whole.digest()


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_a_crank_driven_to_where_nothing_reaches_stops_at_its_last_good_state(integrator):
    """The rocker is driven on past where crank and coupler are one line: what they can reach ends there."""
    phi, gamma, *_ = four_bar_angles(1.2, 0.0)
    robot = four_bar().prescribe("d", rbt.polynomial([gamma, -1.0])).build()
    sim = rbt.Simulation(robot, integrator=integrator, step=0.02)
    sim.set_hinge("a", 1.2)
    sim.set_hinge("b", phi - 1.2)
    with pytest.raises(rbt.SolveError, match=r"tick \d+, t = [\d.]+ s: the (constraints|steps) at hinge '"):
        sim.run(until=10.0)
    assert np.isfinite(sim.state.q).all() and 0 < sim.tick < 500
    assert sim.sample().constraints["loop"].residual < 1e-9


@pytest.mark.parametrize("integrator", ADAPTIVE)
def test_ropes_and_loops_together(integrator):
    """A weight on a slack rope from the rocker, the linkage let go: events within 1e-8 s, the end within 1e-7, of
    DOP853 at 2 ms; energy and what impacts took add up."""
    runs = []
    for name, step in ((integrator, 0.02), ("dop853", 2e-3)):
        b = four_bar()
        b.body("weight", mass=0.5, inertia=(0.01, 0.01, 0.01))
        b.rope("line", "rocker", "weight", at_a=(1.0, 0, 0), length=0.8)
        phi, gamma, *_ = four_bar_angles(1.2, 0.0)
        sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), integrator=name, step=step, rtol=1e-11, atol=1e-13)
        for hinge, angle in (("a", 1.2), ("b", phi - 1.2), ("d", gamma)):
            sim.set_hinge(hinge, angle)
        end = (3 + np.cos(gamma), 0, np.sin(gamma))
        sim.set_body("weight", position=(end[0], 0, end[2] - 0.3))
        runs.append((sim.run(until=1.0, every=0.1), sim))
    found, exact = runs[0][0], runs[1][0]
    assert [e.what for e in found.events] == [e.what for e in exact.events] and found.events
    assert [e.t for e in found.events] == pytest.approx([e.t for e in exact.events], abs=1e-8)
    assert runs[0][1].state.q == pytest.approx(runs[1][1].state.q, abs=1e-7)
    lost = np.array([s.impact_loss for s in found.samples])
    assert np.ptp(found.energy.total + lost) < 1e-8
    assert found.constraint("loop").residual.max() < 1e-12
