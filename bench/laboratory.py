"""The single-body laboratory beside scipy on a right-hand side in numpy: 5 s of free precession, as a student has it.

What is timed of ours is the whole of `rbt.simulate`, from the numbers to a LabResult of 5001 samples.
"""

import math

import numpy as np
from harness import Group, Row, interleave
from peer_numpy import cross

import rbt_ros as rbt

PERIOD, IZ = 5.0, 32 / 17  # Ix = Iy = 1: seed of the case is the Rigid Body Toolbox's first demonstration
RATE = 2 * math.pi / PERIOD
WZ = RATE * 17 / 15
INERTIA = np.diag([1.0, 1.0, IZ])


def error(t, omega):
    """Root of the mean square error of ω in body axes, over samples and components."""
    exact = np.stack([np.cos(RATE * t), np.sin(RATE * t), np.full_like(t, WZ)], axis=1)
    return math.sqrt(((omega - exact) ** 2).mean())


def right_hand_side():
    """ẏ of y = [q, p, ω, v] in numpy, written for clarity and without waste."""
    inverse = np.linalg.inv(INERTIA)

    def f(t, y):
        q, w = y[:4], y[7:10]
        rate = np.empty(13)
        rate[0] = -0.5 * (q[1:] @ w)
        rate[1:4] = 0.5 * (q[0] * w + cross(q[1:], w))
        rate[4:7] = y[10:13]
        rate[7:10] = inverse @ -cross(w, INERTIA @ w)
        rate[10:13] = 0.0
        return rate

    return f


def scipy_run():
    """solve_ivp with RK45 and its longest step at 1 ms."""
    from scipy.integrate import solve_ivp

    start = np.zeros(13)
    start[[0, 7, 9]] = 1.0, 1.0, WZ
    return solve_ivp(right_hand_side(), (0.0, PERIOD), start, method="RK45", max_step=1e-3)


def ours(**options):
    """The same by `simulate`."""
    body = rbt.RigidBody(mass=1.0, inertia=(1.0, 1.0, IZ))
    return rbt.simulate(body, omega_b=(1.0, 0.0, WZ), duration=PERIOD, **options)


def repeat(options):
    """So often that what disturbs meets ours and scipy's run alike."""
    for _ in range(REPEATS):
        ours(**options)


REPEATS = 20
WAYS = {
    "lab_vs_scipy": ("rk4, 1 ms", dict(solver="rk4", step=1e-3)),
    "lab_ode45": ("ode45, max_step 1 ms", dict(solver="ode45", max_step=1e-3)),
}


def run(wanted):
    """One row per way, all interleaved with scipy."""
    jobs = {"scipy": (scipy_run, 1), **{key: (lambda o=WAYS[key][1]: repeat(o), REPEATS) for key in wanted}}
    us = interleave(jobs, rounds=10)
    peer = scipy_run()
    theirs = f"scipy RK45 max_step 1 ms: {len(peer.t)} samples, error {error(peer.t, peer.y[7:10].T):.1e}"
    rows = {}
    for key in WAYS:
        if key in wanted:
            words, options = WAYS[key]
            result = ours(**options)
            note = f"ours {words}: {len(result)} samples, error {error(result.time, result.omega_b):.1e}; {theirs}"
            rows[key] = Row(us["scipy"] / us[key], us[key] / 1e3, us["scipy"] / 1e3, "ms for 5 s", note)
    return rows


GROUPS = [Group(tuple(WAYS), run)]
