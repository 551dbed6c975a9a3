"""The user guide's loop: a body flies at 100 m/s; once it has gone 300 m, a force of -50 N acts on it. Successive runs,
joined into one series; and the same with an event, which finds the moment itself."""

import sys

import numpy as np
from matplotlib.figure import Figure

import rbt_ros as rbt

END, EVERY, SPEED, WHERE, PUSH = 10.0, 0.2, 100.0, 300.0, (-50.0, 0, 0)  # [s], [s], [m/s], [m], [N] on 1 kg


def closed_form(t):
    """Position x [m]: uniform as far as 300 m, then thrown back at 50 m/s²."""
    later = np.maximum(0, t - WHERE / SPEED)
    return SPEED * t - 25 * later**2


def by_loop():
    """Runs of 0.2 s, as in the guide: look where the body is, then go on."""
    position, velocity, force = (0, 0, 0), (SPEED, 0, 0), (0, 0, 0)
    flown = rbt.VectorSum()
    for k in range(round(END / EVERY)):
        span = (k * EVERY, (k + 1) * EVERY)
        run = rbt.simulate(position=position, velocity=velocity, force=force, span=span, solver="ode45", step=0.01)
        flown.join(run.time, run.position)
        position, velocity = run.position[-1], run.velocity_e[-1]
        if position[0] > WHERE - 1e-6:  # it is there after 15 runs, but for round-off
            force = PUSH
    return flown


def by_event():
    """Two runs: the first ends where the body has gone 300 m, wherever its steps are."""
    there = rbt.Event(lambda t, state: state.position[0] - WHERE, terminal=True)
    first = rbt.simulate(velocity=(SPEED, 0, 0), duration=END, solver="ode45", max_step=0.07, events=there)
    start = dict(position=first.position[-1], velocity=first.velocity_e[-1])
    second = rbt.simulate(**start, force=PUSH, span=(first.time[-1], END), solver="ode45", max_step=0.07)
    return rbt.VectorSum().join(first.time, first.position).join(second.time, second.position)


def main(path="guide_disturbance.png"):
    """Both ways, compare, draw."""
    fig = Figure(figsize=(8, 4), layout="constrained")
    ax = fig.subplots()
    t = np.linspace(0, END, 201)
    ax.plot(t, closed_form(t), color="C3", label="closed form")
    for name, flown, mark in (("loop of 50 runs", by_loop(), "o"), ("event, two runs", by_event(), "x")):
        error = abs(flown.values[:, 0] - closed_form(flown.times)).max()
        print(f"{name}: {len(flown.times)} samples, largest error {error:.1e} m, ends at {flown.values[-1, 0]:.3f} m")
        some = slice(None, None, max(1, len(flown.times) // 25))
        ax.plot(flown.times[some], flown.values[some, 0], mark, label=name)
    ax.axhline(WHERE, color="0.6", linestyle=":", label="300 m")
    ax.set(xlabel="time t [s]", ylabel="position x [m]")
    ax.legend()
    ax.grid(alpha=0.3)
    fig.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
