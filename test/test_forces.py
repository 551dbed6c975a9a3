"""Forces that are plugged in: closed forms, conservation, the same bits however a law is called, errors."""

import functools
import math
import os
import subprocess
import sys

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros import ensemble
from rbt_ros.core.lanes import larger, root
from rbt_ros.core.vec import dot, scale, sub
from rbt_ros.model.scenario import scenario_from_text

G = 9.81
DROP = """
rbt: 1
robot: {bodies: {ball: {mass: 1, inertia: [1, 1, 1]}, hub: {mass: 2, inertia: [1, 1, 1]}}}
gravity: [0, 0, -9.81]
work_of_inputs: true
forces:
  - {linear_drag: ball, coefficient: 0.1 N s/m}
  - {spring: [hub, world], at_a: [0, 0, 0.1], stiffness: 30, damping: 0.4 N s/m, rest: 0.2 m, from: 0.5 s}
"""


def ball(integrator="rk4", **given):
    """One ball of 1 kg that falls."""
    b = rbt.RobotBuilder("drop").body("ball", mass=1.0, inertia=(1, 1, 1), com=(0.1, 0, 0))
    return rbt.Simulation(b.build(), gravity=(0, 0, -G), integrator=integrator, work_of_inputs=True, **given)


def chain():
    """A floating tree: a base, an arm that swings, and a body apart."""
    b = rbt.RobotBuilder("chain")
    b.body("base", mass=3.0, inertia=(1.0, 2.0, 2.5), com=(0.1, 0, 0))
    b.body("arm", mass=1.0, inertia=(0.2, 0.3, 0.25), com=(0.3, 0.1, 0))
    b.body("apart", mass=2.0, inertia=(1, 1, 1), com=(0, 0.2, 0))
    b.hinge("elbow", "revolute", parent="base", child="arm", at=(0.5, 0, 0), axis=(0, 1, 1))
    return b.build()


def tied(integrator="dop853", **given):
    """That tree under way, with springs between arm and body, and between base and world."""
    sim = rbt.Simulation(chain(), integrator=integrator, work_of_inputs=True, **given)
    sim.set_body("base", omega_body=(0.3, 2.0, 0.1))
    sim.set_body("apart", position=(2, 0.3, 0), velocity=(0, 0.5, 0))
    sim.set_hinge("elbow", 0.4, rate=-1.0)
    sim.add_force("spring", "arm", "apart", at=[(0, 0.2, 0), "origin"], stiffness=50, damping=0.3, rest=1.5)
    return sim


@pytest.mark.parametrize("integrator", ["rk4", "dop853_adaptive"])
def test_a_falling_mass_with_friction(integrator):
    """v = g m/c (1 - exp(-c t/m)): 9.3354 m/s after 1 s; the work is what the energy lacks."""
    sim = ball(integrator)
    sim.add_force("linear_drag", "ball", coefficient=0.1)
    sim.advance(1000)
    sample = sim.sample()
    assert -sample.twist[0, 5] == pytest.approx(G * 10 * (1 - math.exp(-0.1)), rel=1e-11)
    assert -sample.twist[0, 5] == pytest.approx(9.3354, abs=5e-5)
    assert sample.energy.total - 0.0 == pytest.approx(sample.work.inputs, rel=1e-9)
    assert sample.load[0, 8:11] == pytest.approx((0, 0, 0.1 * 9.335449290672), rel=1e-10)  # what it does now


def test_two_masses_on_a_spring_swing_at_the_reduced_mass():
    b = rbt.RobotBuilder("pair")
    for name, mass in (("a", 1.0), ("b", 3.0)):
        b.body(name, mass=mass, inertia=(1, 1, 1))
    sim = rbt.Simulation(b.build(), integrator="dop853")
    sim.set_body("b", position=(1.2, 0, 0))
    sim.add_force("spring", "a", "b", stiffness=12.0, rest=1.0)
    sim.advance(1000)
    stretch = 0.2 * math.cos(math.sqrt(12.0 / 0.75))
    assert sim.sample().pose[1, 4] - sim.sample().pose[0, 4] == pytest.approx(1 + stretch, rel=1e-13)


def test_a_spring_between_bodies_keeps_momentum_and_the_balance_of_energy():
    """Action and reaction in one point: L and P stay to round-off; what the damper takes is what the energy lacks."""
    sim = tied()
    start = sim.sample()
    sim.advance(2000)
    end = sim.sample()
    assert end.angular_momentum == pytest.approx(start.angular_momentum, abs=2e-12)
    assert end.momentum == pytest.approx(start.momentum, abs=2e-12)
    assert abs(end.conservation.energy) < 1e-12 and end.work.inputs == 0.0
    assert end.work.dissipated == pytest.approx(start.energy.total - end.energy.total, rel=1e-10)
    assert end.work.dissipated > 0.005


def test_a_spring_that_is_turned_up_and_down_works_from_outside():
    b = rbt.RobotBuilder("one").body("a", mass=1.0, inertia=(1, 1, 1))
    sim = rbt.Simulation(b.build(), integrator="dop853", work_of_inputs=True)
    sim.set_body("a", position=(1.2, 0, 0))
    sim.add_force("spring", "a", "world", stiffness=12.0, rest=1.0, signal=rbt.sines([(0.5, 3.0, 0.0)], offset=1.0))
    sim.advance(1000)
    sample = sim.sample()
    assert abs(sample.conservation.energy) < 1e-12 and sample.work.inputs == pytest.approx(
        sample.energy.total, rel=1e-12
    )


def test_hinges_carry_what_laws_do():
    """A body fixed to the world at rest: its hinge holds its weight less the pull of the spring."""
    b = rbt.RobotBuilder("held").body("post", mass=2.0, inertia=(1, 1, 1))
    b.hinge("root", "fixed", parent="world", child="post")
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -G))
    sim.add_force("spring", "post", "world", at=[(1, 0, 0), (1, 0, 3)], stiffness=5.0, rest=1.0)
    reaction = sim.sample().reactions["root"]
    assert reaction.force == pytest.approx((0, 0, 2 * G - 10), rel=1e-15)
    assert reaction.moment == pytest.approx((0, 10, 0), rel=1e-15)


@pytest.mark.parametrize(
    "change", [lambda sim: sim.lock("elbow"), lambda sim: sim.dock("apart", "base")], ids=["lock", "dock"]
)
def test_laws_stay_on_their_bodies_when_the_tree_changes(change):
    """The energy balance holds over a lock and a dock, which put rows and order of bodies anew."""
    sim = tied()
    sim.advance(100)
    change(sim)
    sim.advance(500)
    assert abs(sim.sample().conservation.energy) < 1e-11
    assert sim.sample().load[0, 0] == 1.0


def python_spring(stiffness, damping, rest):
    """The law of `spring` as a stranger writes it, with and without compiler."""

    def wrench(p, a, b, t):
        d = sub(b.p, a.p)
        length = root(dot(d, d))
        e = scale(1.0 / larger(length, 1e-300), d)
        rate = dot(e, sub(b.v, a.v))
        return (0.0, 0.0, 0.0), scale(p.stiffness * (length - p.rest) + p.damping * rate, e)

    return wrench


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "dop853_adaptive"])
def test_the_same_bits_compiled_and_as_python(integrator):
    names = ("stiffness", "damping", "rest")
    digests = []
    for compiled in (True, False):
        sim = rbt.Simulation(chain(), integrator=integrator)
        sim.set_body("apart", position=(2, 0.3, 0), velocity=(0, 0.5, 0))
        law = rbt.ForceLaw(python_spring(1, 2, 3), tuple(map(rbt.Parameter, names)), bodies=2, compiled=compiled)
        sim.add_force(law, "arm", "apart", stiffness=50, damping=0.3, rest=1.5)
        sim.advance(40)
        digests.append(sim.digest())
    own = rbt.Simulation(chain(), integrator=integrator)
    own.set_body("apart", position=(2, 0.3, 0), velocity=(0, 0.5, 0))
    own.add_force("spring", "arm", "apart", stiffness=50, damping=0.3, rest=1.5)
    own.advance(40)
    assert digests == [own.digest()] * 2


def test_the_same_bits_without_a_compiler_and_side_by_side(monkeypatch):
    """NUMBA_DISABLE_JIT, and eight at a time with other numbers each."""
    sims = [tied("rk4", seed=k) for k in range(9)]
    for k, sim in enumerate(sims):
        sim.add_force("linear_drag", "base", coefficient=0.1 * k, turning=0.01)
    alone = tied("rk4")
    alone.add_force("linear_drag", "base", coefficient=0.1 * 3, turning=0.01)
    script = (
        "import sys; sys.path.insert(0, 'test'); from test_forces import tied; s = tied('rk4');"
        "s.add_force('linear_drag', 'base', coefficient=0.1 * 3, turning=0.01); s.advance(3); print(s.digest())"
    )
    plain = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True
    )
    alone.advance(3)
    assert plain.stdout.strip() == alone.digest(), plain.stderr
    alone.advance(197)
    together = []
    monkeypatch.setattr(ensemble, "_pays", lambda work: True)
    monkeypatch.setattr(ensemble.Eight, "advance", _counted(ensemble.Eight.advance, together))
    assert rbt.advance_many(sims, 200, threads=1) == [None] * 9
    assert together and sims[3].digest() == alone.digest() and len({sim.digest() for sim in sims}) == 9


def _counted(advance, calls):
    def counted(self, ticks):
        calls.append(ticks)
        return advance(self, ticks)

    return counted


def test_a_scenario_says_it_in_a_line():
    sim = rbt.Simulation.of(scenario_from_text(DROP))
    sim.advance(1000)
    assert -sim.sample().twist[0, 5] == pytest.approx(9.3354, abs=5e-5)
    free_fall = 0.5 * G * 0.5**2
    assert -sim.sample().pose[1, 6] < 0.5 * G < 4 * free_fall + 1e-9  # the spring held it from 0.5 s on
    assert abs(sim.sample().conservation.energy) < 1e-9


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "linear_drag: ball",
            "lineal_drag: ball",
            r"forces\[0\].*'lineal_drag' is no force; there are linear_drag, spring",
        ),
        ("linear_drag: ball", "linear_drag: bell", r"forces.0.: robot .* has no body 'bell'; it has ball, hub"),
        (
            ", coefficient: 0.1 N s/m",
            "",
            r"force 'linear_drag': coefficient is missing: force per velocity .*.N s/m.",
        ),
        ("0.1 N s/m", "0.1 N s", "unit 'N s', which is no N s/m; write a number in SI or one with a unit of N s/m"),
        ("0.1 N s/m", "-0.1", "force 'linear_drag': coefficient -0.1 N s/m must be 0 N s/m or more"),
        (
            "coefficient",
            "koefficient",
            "unknown key 'koefficient'; the keys here are linear_drag, at, coeff",
        ),
        ("[hub, world]", "[hub]", "force 'spring' acts on two bodies, of which one may be the world, not on 'hub'"),
        ("[hub, world]", "[hub, hub]", "acts between two bodies, not between 'hub' and itself"),
        ("[hub, world]", "hub", "must be a list"),
        ("at_a: [0, 0, 0.1]", "at_a: top", "at 'top' is not one of com, origin, nor a point of 'hub' in m"),
        ("work_of_inputs: true", "integrator: exact", "exact"),
    ],
)
def test_a_wrong_force_in_a_scenario_is_refused(old, new, message):
    assert old in DROP
    with pytest.raises(rbt.ScenarioError, match=message):
        scenario_from_text(DROP.replace(old, new))


def uncompilable(p, a, t):
    return nothing_there(t)  # noqa: F821


def shapeless(t, a):
    return 3


def exploding(p, a, t):
    return (0.0, 0.0, 0.0), (1.0 / (t - t), 0.0, 0.0)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (rbt.ForceLaw(uncompilable), "force 'uncompilable' on 'ball' cannot be compiled: .*compiled=False"),
        (rbt.ForceLaw(exploding), "last good state is kept.* force 'exploding' on 'ball' raised ZeroDivisionError"),
        (lambda t, a: 1 / 0, "force '<lambda>' on 'ball' raised ZeroDivisionError: division by zero"),
        (
            lambda t, a: (math.nan, 0, 0),
            "'<lambda>' on 'ball' gives moment .*, force .nan.* finite numbers are",
        ),
        (shapeless, "force 'shapeless' on 'ball' raised TypeError: it gave 3; a force of three numbers, or"),
        ("nonsense", "'nonsense' is no force; there are linear_drag, spring"),
        (7, "7 is no force: give the name of one, a ForceLaw, or a function"),
    ],
)
def test_a_law_that_fails_is_named_and_the_last_good_state_kept(law, message):
    sim = ball()
    sim.set_body("ball", velocity=(1, 2, 3))
    good = sim.digest()
    with pytest.raises(rbt.RbtError, match=message):
        sim.add_force(law, "ball")
        sim.advance(3)
    assert sim.digest() == good and sim.t_ns == 0
    assert np.isfinite(sim.sample().pose).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"wrench": functools.partial(shapeless, 0.0)}, "must be a function, to be compiled; compiled=False takes"),
        ({"parameters": (rbt.Parameter("a b"),)}, "parameter 'a b' must be a word that begins with a letter"),
        ({"parameters": (rbt.Parameter("k"),) * 2}, "parameter 'k' is there twice; rename it"),
        ({"parameters": (rbt.Parameter("stop"),)}, "parameter 'stop' has a name that all of them use; rename it"),
        ({"parameters": ("k",)}, "'k' is no rbt.Parameter"),
        ({"bodies": 3}, "bodies 3 must be 1 or 2"),
    ],
)
def test_what_cannot_be_a_law_is_refused_where_it_is_written(given, message):
    with pytest.raises(rbt.ModelError, match=f"a force law, .*{message}"):
        rbt.ForceLaw(**{"wrench": exploding, **given})


def test_anything_that_can_be_called_is_a_law_without_compiler():
    sim = ball()
    push = functools.partial(lambda force, p, a, t: ((0.0, 0.0, 0.0), force), (1.0, 0.0, 0.0))
    sim.add_force(rbt.ForceLaw(push, compiled=False), "ball")
    sim.advance(1000)
    assert sim.sample().twist[0, 3] == pytest.approx(1.0, rel=1e-12)


def whole_numbers(p, a, t):
    return (0, 0, 0), (1, 2, a.v[0])


def test_a_law_may_give_whole_numbers():
    sim = ball()
    sim.add_force(rbt.ForceLaw(whole_numbers), "ball")
    sim.advance(1000)
    assert sim.sample().twist[0, 3:5] == pytest.approx([1, 2], rel=1e-12)


def with_exp(p, a, t):
    return (0.0, 0.0, 0.0), (math.exp(t), 0.0, 0.0)


def test_a_law_that_calls_the_c_library_is_told_of():
    with pytest.warns(UserWarning, match="force 'with_exp' on 'ball' calls exp of the C library"):
        ball().add_force(rbt.ForceLaw(with_exp), "ball")
