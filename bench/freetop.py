"""Accuracy and cost of torque-free motion: exact propagation against r1, halves of 1e6 s, splitting against RK4.

python bench/freetop.py
"""

import json
import time
from pathlib import Path

import numpy as np

from rbt_ros.core.freetop import checked_inertia, fill_states, free_rotation, free_top
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.splitting import splitting_steps
from rbt_ros.core.vec import add, cross, qmul, scale

R1 = json.loads((Path(__file__).parents[1] / "test" / "reference" / "r1_free_top.json").read_text())


def state_error(state, reference):
    """max |q - q_ref| up to sign, max |ω - ω_ref| / max |ω_ref|."""
    (q, w), (r, v) = state, reference
    dq = min(np.abs(np.subtract(q, r)).max(), np.abs(np.add(q, r)).max())
    return max(dq, np.abs(np.subtract(w, v)).max() / np.abs(v).max())


@kernel
def rates(I, q, w):
    """(q̇, ω̇) without torque."""
    n = cross((I[0] * w[0], I[1] * w[1], I[2] * w[2]), w)
    p = qmul(q, (0.0, 0.5 * w[0], 0.5 * w[1], 0.5 * w[2]))
    return p, (n[0] / I[0], n[1] / I[1], n[2] / I[2])


@kernel
def add4(q, h, k):
    """q + h k."""
    return (q[0] + h * k[0], q[1] + h * k[1], q[2] + h * k[2], q[3] + h * k[3])


@kernel
def rk4_step(I, q, w, h):
    """Classical Runge-Kutta on (q, ω), the yardstick."""
    a1, b1 = rates(I, q, w)
    a2, b2 = rates(I, add4(q, h / 2.0, a1), add(w, scale(h / 2.0, b1)))
    a3, b3 = rates(I, add4(q, h / 2.0, a2), add(w, scale(h / 2.0, b2)))
    a4, b4 = rates(I, add4(q, h, a3), add(w, scale(h, b3)))
    q = add4(add4(add4(add4(q, h / 6.0, a1), h / 3.0, a2), h / 3.0, a3), h / 6.0, a4)
    w = add(w, scale(h / 6.0, add(add(b1, b4), scale(2.0, add(b2, b3)))))
    n = 1.0 / np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (n * q[0], n * q[1], n * q[2], n * q[3]), w


def run_splitting(I, q, w, h, n):
    """n steps."""
    return splitting_steps((*I, 0.0, 0.0, 0.0), q, w, h, n)


@routine
def run_rk4(I, q, w, h, n):
    """n steps."""
    for _ in range(n):
        q, w = rk4_step(I, q, w, h)
    return q, w


def timed(f, *arguments):
    """(seconds, result), the best of three."""
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        result = f(*arguments)
        best = min(best, time.perf_counter() - start)
    return best, result


def invariants(I, q, w):
    """(|h|, T)."""
    h = np.multiply(I, w)
    return np.sqrt(h @ h), h @ w / 2


def main():
    q0 = tuple(map(float, R1["attitude at t=0"]))
    print(
        "exact: error against r1 at 1, 10, 100, 1000 s; twice 5e5 s against once 1e6 s; what 1 ulp of ω at 5e5 s moves"
    )
    for name, case in R1["cases"].items():
        I, w0 = case["inertia_diag"], np.array(case["omega0_body"], dtype=float)
        errors = [state_error(free_rotation(I, q0, w0, s["t"]), (s["q"], s["omega_body"])) for s in case["states"]]
        once, (q1, w1) = free_rotation(I, q0, w0, 1e6), free_rotation(I, q0, w0, 5e5)
        twice, moved = free_rotation(I, q1, w1, 5e5), 0.0
        for k in range(3):
            x = w1.copy()
            x[k] = np.nextafter(x[k], np.inf)
            moved += state_error(free_rotation(I, q1, x, 5e5), twice)
        print(f"  {name:26}", *(f"{e:7.1e}" for e in errors), f"  {state_error(twice, once):7.1e}  {moved:7.1e}")
    case = R1["cases"]["cubesat_generic"]
    I, w0 = tuple(case["inertia_diag"]), tuple(case["omega0_body"])
    t, q, w = np.linspace(0.0, 1e3, 20000), np.empty((20000, 4)), np.empty((20000, 3))
    top = free_top(checked_inertia(I), q0, w0)
    fill_states(top, t, q, w)
    J = checked_inertia(I)
    constants = timed(lambda: [free_top(J, q0, w0) for _ in range(1000)])[0] / 1000
    state = timed(fill_states, top, t, q, w)[0] / t.size
    print(f"  cost: constants {constants * 1e6:.1f} µs (called from Python), one state {state * 1e6:.2f} µs")

    print("cubesat_generic, 100 s: step, error and µs per second of motion; drift of |h| and T in 100 s")
    reference = free_rotation(I, q0, w0, 100.0)
    h0, T0 = invariants(I, q0, w0)
    for title, run, steps in (
        ("splitting", run_splitting, (0.02, 0.01, 0.005, 0.001)),
        ("RK4", run_rk4, (0.005, 0.002, 0.001, 0.0001)),
    ):
        for h in steps:
            n = round(100.0 / h)
            seconds, state = timed(run, I, q0, w0, h, n)
            L, T = invariants(I, *state)
            print(
                f"  {title:10} h = {h * 1e3:5.1f} ms  {state_error(state, reference):7.1e}  {seconds * 1e4:9.1f}",
                f" {L / h0 - 1:8.1e} {T / T0 - 1:8.1e}",
            )
    print("splitting, h = 1 ms: |h|/|h0| - 1 and T/T0 - 1 after 1e4, 1e5, 1e6, 1e7 steps")
    for n in (10**4, 10**5, 10**6, 10**7):
        L, T = invariants(I, *run_splitting(I, q0, w0, 1e-3, n))
        print(f"  {n:9d} {L / h0 - 1:9.1e} {T / T0 - 1:9.1e}")


if __name__ == "__main__":
    main()
