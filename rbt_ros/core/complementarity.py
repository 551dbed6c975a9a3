"""Linear complementarity by active sets: which one-sided conditions push, and how much.

    w = A λ + b,      w = 0 of two-sided conditions,      w <= 0, λ <= 0, w λ = 0 of one-sided ones

A = G M⁻¹ Gᵀ. With b = φ̈ at v̇_free it says which contacts hold and which let go; with b = φ̇ before an impact, plus what
the restitution wants, λ are its impulses. As A >= 0, this is the least change, measured by M, that the conditions
allow: a convex problem (Gauss's principle; Moreau, in Nonsmooth Mechanics and Applications, 1988).

In plain Python: it is solved at events, for a few rows. No library sums, so that the bits are the same everywhere.
"""

import numpy as np

from rbt_ros.core.linear import semidefinite_factors, semidefinite_solve

ROUNDS = 100  # at most, of the active set


def complementary(A, b, two_sided, start, tolerance):
    """(λ, active) or None. active: the rows that push, in order; of `start` the search begins with those.

    two_sided: rows 0 to two_sided - 1. tolerance: w up to which a condition counts as kept. Rows leave one by one, the
    one that pulls most first, and enter one by one, the one most broken first; after half of the rounds the first of
    them, which ends (Murty's rule). Rows that follow from others carry nothing. None: nothing was found.
    """
    held, n = list(range(two_sided)), len(b)
    active = [r for r in start if r >= two_sided]
    for turn in range(ROUNDS):
        rows = held + sorted(active)
        multipliers = solve_rows(A, b, rows)
        gains = {r: (A[r, r] * multipliers[r], True) for r in active}
        w = {r: row_value(A, b, rows, multipliers, r) for r in range(two_sided, n) if r not in active}
        gains.update({r: (value, False) for r, value in w.items()})
        wrong = {r: value for r, (value, is_active) in gains.items() if value > (0.0 if is_active else tolerance)}
        if not wrong:
            return multipliers, sorted(active)
        pulling = {r: value for r, value in wrong.items() if r in active}
        among = wrong if turn >= ROUNDS // 2 else pulling or wrong
        r = min(among) if turn >= ROUNDS // 2 else max(among, key=among.__getitem__)
        if r in active:
            active.remove(r)
        else:
            active.append(r)
    return None


def row_value(A, b, rows, multipliers, r):
    """w of row r."""
    value = b[r]
    for k in rows:
        value += A[r, k] * multipliers[k]
    return value


def solve_rows(A, b, rows):
    """λ (n,) that makes w zero in `rows`, and is zero elsewhere."""
    m = len(rows)
    found = np.zeros(len(b))
    if m:
        part, right = np.ascontiguousarray(A[np.ix_(rows, rows)]), -b[rows]
        L, size, rest, order, x = np.zeros((m, m)), np.zeros(m), np.zeros(m), np.zeros(m, np.int64), np.zeros(m)
        rank = semidefinite_factors(part, L, size, rest, order)
        semidefinite_solve(L, size, order, rank, right, x)
        found[rows] = x
    return found
