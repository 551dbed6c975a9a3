"""The integrators side by side, through `Simulation`: order by halving, drift, cost, error against time spent.

python bench/integrators.py [order] [drift] [cost] [precision]      (all of them without arguments, one minute)
"""

import sys
import time

import numpy as np
from harness import interleave

import rbt_ros as rbt

FIXED = ("semi_implicit", "rk4", "dop853")
FREE = (*FIXED, "splitting", "exact")


def swing(integrator, step, **options):
    """Two bodies on a ball and a sprung hinge, which a torque drives: smooth, and nothing conserved by accident."""
    b = rbt.RobotBuilder("swing")
    b.body("upper", mass=1.0, inertia=(0.1, 0.08, 0.05), com=(0.0, 0.0, -0.5))
    b.body("lower", mass=0.5, inertia=(0.02, 0.02, 0.01), com=(0.1, 0.0, -0.3))
    b.hinge("ball", "spherical", parent="world", child="upper")
    b.hinge("knee", "revolute", parent="upper", child="lower", at=(0, 0, -1), axis=(0, 1, 0), stiffness=2.0)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), step=step, integrator=integrator, **options)
    sim.set_hinge("ball", euler=("ZXZ", 0.0, 1.0, 0.0), omega=(0.5, 1.0, 2.0))
    sim.set_hinge("knee", 0.4, rate=1.0)
    sim.add_input(rbt.Effort("knee", (1.0,)), signal=rbt.sines([(1.0, 5.0, 0.0)]))
    return sim


def satellite(integrator, step, **options):
    """The tumbling CubeSat: no force, no torque, |ω| = 51 rad/s."""
    scenario = rbt.load("cubesat")
    sim = rbt.Simulation(scenario.robot, step=step, integrator=integrator, **options)
    sim.set_body("cubesat", omega_body=scenario.start_bodies["cubesat"].omega_body, velocity=(1.0, 0.0, 0.0))
    return sim


def five(integrator, step, **options):
    """The five bodies of `rbt run five_body`."""
    scenario = rbt.load("five_body")
    sim = rbt.Simulation(scenario.robot, gravity=scenario.gravity, step=step, integrator=integrator, **options)
    for name, start in scenario.start_hinges.items():
        sim.set_hinge(name, start.position, quaternion=start.quaternion)
    return sim


def spring(integrator, step, **options):
    """A mass on a stiff spring, sqrt(k/m) = 500 rad/s: half a radian in 1 ms."""
    b = rbt.RobotBuilder("spring")
    b.body("mass", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.hinge("spring", "prismatic", parent="world", child="mass", axis=(1, 0, 0), stiffness=2.5e5)
    sim = rbt.Simulation(b.build(), step=step, integrator=integrator, **options)
    sim.set_hinge("spring", 0.01)
    return sim


def state_after(make, integrator, step, duration, **options):
    """q and v as one array."""
    sim = make(integrator, step, **options)
    sim.advance(round(duration / step))
    return np.concatenate([sim.state.q, sim.state.v])


def orders():
    """Errors at three steps, each half of the one before, and the powers of the step by which they fall."""
    print("order: largest error of q and v with steps h, h/2, h/4; the powers of h between them")
    print(f"{'':<10}{'integrator':<16}{'h [ms]':>8}{'error':>10}{'h/2':>10}{'h/4':>10}{'powers':>13}")
    free = {"semi_implicit": 1e-5, "rk4": 2e-3, "dop853": 1.25e-2, "splitting": 2e-2}
    driven = {
        "explicit_euler": 4e-3,
        "semi_implicit": 4e-3,
        "midpoint": 8e-3,
        "heun": 8e-3,
        "rk4": 2e-2,
        "dop853": 6e-2,
    }
    cases = [(swing, 0.6, "dop853", 5e-4, driven)]
    cases += [(satellite, 1.0, "exact", 1e-3, free)]
    for make, duration, truth, fine, steps in cases:
        reference = state_after(make, truth, fine, duration)
        for integrator, h in steps.items():
            errors = [np.abs(state_after(make, integrator, h / n, duration) - reference).max() for n in (1, 2, 4)]
            powers = -np.diff(np.log2(errors))
            figures = "".join(f"{e:10.1e}" for e in errors)
            print(f"{make.__name__:<10}{integrator:<16}{h * 1e3:8g}{figures}{powers[0]:7.2f}{powers[1]:6.2f}")


def drift_over(sim, seconds):
    """Largest changes after `seconds`, sampled every 10 ms: energy / largest kinetic energy, |ΔL| / |L|, ||q| - 1|."""
    first = sim.sample()
    L0, worst, kinetic, norm = np.array(first.angular_momentum_com), np.zeros(2), 0.0, 0.0
    every = max(1, round(0.01e9 / sim.h_ns))
    for _ in range(round(seconds * 1e9 / sim.h_ns / every)):
        sim.advance(every)
        now = sim.sample()
        dE = abs(now.energy.kinetic - first.energy.kinetic + now.energy.potential - first.energy.potential)
        worst = np.maximum(worst, [dE, np.abs(np.array(now.angular_momentum_com) - L0).max()])
        kinetic, norm = max(kinetic, now.energy.kinetic), max(norm, now.conservation.quaternion)
    return worst[0] / kinetic, worst[1] / np.linalg.norm(L0) if L0.any() else np.nan, norm


def drifts():
    """What a minute of steps of 1 ms costs in energy and angular momentum."""
    print("drift in 60 s, h = 1 ms (dop853_adaptive: ticks of 10 ms, rtol 1e-10)")
    print("energy over the largest kinetic one, L about the CoM")
    print(f"{'':<26}{'energy':>10}{'|dL|/|L|':>10}{'||q| - 1|':>10}")
    for make, integrators in ((five, (*FIXED, "dop853_adaptive")), (spring, FIXED), (satellite, FREE)):
        for integrator in integrators:
            sim = make(integrator, 1e-2 if integrator == "dop853_adaptive" else 1e-3)
            try:
                energy, L, norm = drift_over(sim, 60.0)
                L_text = f"{L:10.1e}" if make is satellite else f"{'-':>10}"
                figures = f"{energy:10.1e}{L_text}{norm:10.1e}"
            except rbt.SolveError:
                figures = f"   not finite after {sim.t_ns * 1e-9:.2g} s"
            print(f"{make.__name__:<10}{integrator:<16}{figures}", flush=True)


def costs():
    """Time per step over that of rk4, in calls of 2000 steps; and what a call of one step from Python takes."""
    print("cost of a step, rk4 = 1; of a call of one step (interleaved, medians)")
    for make, integrators in ((five, FIXED), (satellite, FREE)):
        sims = {integrator: make(integrator, 1e-4) for integrator in integrators}
        many = interleave({name: (lambda sim=sim: sim.advance(2000), 2000) for name, sim in sims.items()})
        calls = interleave({name: (lambda sim=sim: one_by_one(sim, 200), 200) for name, sim in sims.items()})
        for name, cost in many.items():
            print(f"{make.__name__:<10}{name:<16}{cost / many['rk4']:8.3g}   ({cost:.2f} us; {calls[name]:.1f} us)")


def one_by_one(sim, n):
    """n calls of one step."""
    for _ in range(n):
        sim.advance()


def precision():
    """The error after 2 s of the five bodies, and the time it took over that of rk4 at 1 ms."""
    print("five bodies, 2 s: error of q and v against the time it took (rk4 at 1 ms = 1)")
    reference = state_after(five, "dop853", 5e-5, 2.0)
    jobs = [("semi_implicit", 1e-4, {}), ("rk4", 4e-3, {}), ("rk4", 1e-3, {}), ("rk4", 2.5e-4, {})]
    jobs += [("dop853", 1e-2, {}), ("dop853", 4e-3, {}), ("dop853", 1e-3, {})]
    for name in ("dop853_adaptive", "dormand_prince"):
        jobs += [(name, 0.5, dict(rtol=10.0**-k, atol=10.0**-k)) for k in (6, 9, 12)]
    rows = []
    for integrator, step, options in jobs:
        spent = []
        for _ in range(5):
            sim = five(integrator, step, **options)
            start = time.perf_counter()
            sim.advance(round(2.0 / step))
            spent.append(time.perf_counter() - start)
        y = np.concatenate([sim.state.q, sim.state.v])
        rows.append((integrator, step, options, np.abs(y - reference).max(), min(spent[1:])))
    unit = next(row[4] for row in rows if row[:2] == ("rk4", 1e-3))
    for integrator, step, options, error, spent in rows:
        setting = f"rtol = atol = {options['rtol']:.0e}" if options else f"h = {step * 1e3:g} ms"
        print(f"{integrator:<16}{setting:<24}{error:10.1e}{spent / unit:8.2f}")


def main():
    """What is asked for on the command line."""
    parts = {"order": orders, "drift": drifts, "cost": costs, "precision": precision}
    for name in sys.argv[1:] or parts:
        parts[name]()
        print()


if __name__ == "__main__":
    main()
