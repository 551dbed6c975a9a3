"""Error, evaluations and time of every solver, as in docs/solvers.md: an orbit, and Robertson's kinetics.

python bench/solvers.py
"""

import math
import time

import numpy as np

from rbt_ros.solvers import METHODS, solve


def orbit(t, y):
    """Two bodies, eccentricity 0.5: after 2 π back at the start."""
    return np.array([y[2], y[3], *(-y[:2] / (y[0] * y[0] + y[1] * y[1]) ** 1.5)])


def robertson(t, y):
    """Stiff: rates 0.04, 1e4 and 3e7."""
    slow, fast, square = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return np.array([-slow + fast, slow - fast - square, square])


PROBLEMS = {
    "orbit": (orbit, 4 * math.pi, np.array([0.5, 0.0, 0.0, math.sqrt(3.0)]), 1e-2, None),
    "robertson": (robertson, 1e5, np.array([1.0, 0.0, 0.0]), 1e-5, 1.78659211e-2),
}


def main():
    """One line per problem, method and tolerance."""
    print(f"{'':<11}{'':<9}{'rtol':>7}{'error':>10}{'steps':>8}{'rejected':>10}{'f':>8}{'ms':>8}")
    for problem, (f, end, start, share, last) in PROBLEMS.items():
        for name, method in METHODS.items():
            if method.controlled is None or (problem == "robertson" and not method.stiff):
                continue
            for rtol in (1e-3, 1e-6) if method.order == "2" else (1e-3, 1e-6, 1e-9):
                begin = time.perf_counter()
                found = solve(f, (0.0, end), start, name, rtol=rtol, atol=share * rtol)
                ms = 1e3 * (time.perf_counter() - begin)
                error = abs(found.y[-1, 0] - (start[0] if last is None else last))
                rejected = "-" if found.rejected is None else found.rejected
                print(
                    f"{problem:<11}{name:<9}{rtol:>7.0e}{error:>10.1e}{found.steps:>8}{rejected:>10}"
                    f"{found.evaluations:>8}{ms:>8.0f}"
                )


if __name__ == "__main__":
    main()
