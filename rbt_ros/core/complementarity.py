"""Linear complementarity by active sets: which one-sided conditions push, and how much.

    w = A λ + b,      w = 0 of two-sided conditions,      w <= 0, λ <= 0, w λ = 0 of one-sided ones

A = G M⁻¹ Gᵀ. With b = φ̈ at v̇_free it says which contacts hold and which let go; with b = φ̇ before an impact, plus what
the restitution wants, λ are its impulses. As A >= 0, this is the least change, measured by M, that the conditions
allow: a convex problem (Gauss's principle; Moreau, in Nonsmooth Mechanics and Applications, 1988).

In plain Python: it is solved at events, for a few rows. No library sums, so that the bits are the same everywhere.
"""

import numpy as np

from rbt_ros.core.linear import DEPENDENT, semidefinite_factors, semidefinite_solve

ROUNDS = 100  # at most, of the active set
SHARE = 1e-6  # of another row in one that follows from it: below this it is not there


def complementary(A, b, two_sided, start, tolerance, pull=0.0):
    """(λ, active) or None. active: the rows that push, in order; of `start` the search begins with those.

    two_sided: rows 0 to two_sided - 1. tolerance: w up to which a condition counts as kept. Rows leave one by one, the
    one that pulls most first, and enter one by one, the one most broken first; after half of the rounds the first of
    them, which ends (Murty's rule). Active rows that follow from others carry nothing: they stay if w = 0, leave if
    w < 0, and if w > 0 one of those others gives way. pull: of A_rr λ, up to which an active row does not pull. None:
    nothing was found.
    """
    held, n = list(range(two_sided)), len(b)
    active = [r for r in start if r >= two_sided]
    for turn in range(ROUNDS):
        rows = held + sorted(active)
        multipliers, carrying = solve_rows(A, b, rows)
        w = {r: row_value(A, b, rows, multipliers, r) for r in range(two_sided, n) if r not in carrying}
        active = [r for r in active if r in carrying or w[r] >= -tolerance]
        pulling = {r: A[r, r] * multipliers[r] for r in active if r in carrying}
        pulling = {r: value for r, value in pulling.items() if value > pull}
        wrong = pulling | {r: value for r, value in w.items() if value > tolerance}
        if not wrong:
            return multipliers, sorted(active)
        among = wrong if turn >= ROUNDS // 2 else pulling or wrong
        r = min(among) if turn >= ROUNDS // 2 else max(among, key=among.__getitem__)
        if r in pulling:
            active.remove(r)
        elif r not in active:
            active.append(r)
        else:
            leaves = gives_way(A, multipliers, carrying, [k for k in active if k in carrying], r)
            if leaves is None:
                return None
            active.remove(leaves)
    return None


def gives_way(A, multipliers, carrying, one_sided, r):
    """The one of `one_sided` whose λ is the first to vanish as row r, which follows from `carrying`, pushes; or None.

    G_r = Σ c_k G_k, so the motion stays the same while λ_r falls by a share of what the others lose by c_k of it.
    """
    share, _ = solve_rows(A, -A[:, r], carrying)
    reach = {k: -multipliers[k] / share[k] for k in one_sided if share[k] > SHARE}
    return min(reach, key=reach.__getitem__, default=None)


def row_value(A, b, rows, multipliers, r):
    """w of row r."""
    value = b[r]
    for k in rows:
        value += A[r, k] * multipliers[k]
    return value


def solve_rows(A, b, rows):
    """λ (n,) that makes w zero in `rows`, and is zero elsewhere; who of them carry it: the others follow."""
    m, rank = len(rows), 0
    found, order = np.zeros(len(b)), np.zeros(m, np.int64)
    if m:
        part, right = np.ascontiguousarray(A[np.ix_(rows, rows)]), -b[rows]
        L, size, rest, x = np.zeros((m, m)), np.zeros(m), np.zeros(m), np.zeros(m)
        rank = semidefinite_factors(part, L, size, rest, order)
        semidefinite_solve(L, size, order, rank, right, x)
        found[rows] = x
    return found, [rows[k] for k in order[:rank].tolist()]


def shortest(A, x):
    """Of all x with this A x, A symmetric, the shortest: the part of x in the span of A's columns, one by one."""
    found, rest, least = np.zeros(len(x)), A.copy(), 0.0
    for _ in range(len(x)):
        sizes = np.sqrt((rest**2).sum(axis=0))
        k = int(sizes.argmax())
        least = least or DEPENDENT * sizes[k]
        if not sizes[k] > least:
            break
        u = rest[:, k] / sizes[k]
        found += (u * x).sum() * u
        rest -= np.outer(u, (u[:, None] * rest).sum(axis=0))
    return found
