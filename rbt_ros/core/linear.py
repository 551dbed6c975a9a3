"""Small dense linear systems, in a fixed order of operations: the same bits compiled, plain and on any CPU."""

import math

from rbt_ros.core.jit import routine

DEPENDENT = 1e-11  # a pivot below this, of a matrix with a unit diagonal, belongs to a row that follows from others


@routine
def solve_symmetric(A, b, L, x):
    """Fill x with A⁻¹ b of a symmetric positive definite A (n, n); L (n, n) becomes its factors.

    A = L D Lᵀ without square roots: L has ones on its diagonal, and D stands in their place. Golub and Van Loan, Matrix
    Computations (2013), section 4.1. A singular A gives infinities or NaN, which the check of each tick sees.
    """
    n = b.shape[0]
    for j in range(n):
        for i in range(j, n):
            rest = A[i, j]
            for k in range(j):
                rest -= L[i, k] * L[k, k] * L[j, k]
            L[i, j] = rest if i == j else rest / L[j, j]
    # L y = b
    for i in range(n):
        x[i] = b[i]
        for k in range(i):
            x[i] -= L[i, k] * x[k]
    # Lᵀ x = D⁻¹ y
    for i in range(n - 1, -1, -1):
        x[i] = x[i] / L[i, i]
        for k in range(i + 1, n):
            x[i] -= L[k, i] * x[k]


@routine
def semidefinite_factors(A, L, size, rest, order):
    """Rank of a symmetric A (n, n) >= 0, and its factors: A ≈ L Lᵀ with A scaled to a unit diagonal, L (n, rank).

    Cholesky, the largest of what is left on the diagonal first: row order[k] is the k-th. It stops at the first pivot
    below DEPENDENT: the rows that are left follow from those before. Higham, Accuracy and Stability of Numerical
    Algorithms (2002), section 10.3. size, rest (n,): 1 / sqrt(A_ii), and what is left of the diagonal, -1 once taken.
    """
    n = A.shape[0]
    for i in range(n):
        size[i] = 1.0 / math.sqrt(A[i, i]) if A[i, i] > 0.0 else 0.0
        rest[i] = 1.0 if A[i, i] > 0.0 else 0.0
    for k in range(n):
        p = 0
        for i in range(1, n):
            if rest[i] > rest[p]:
                p = i
        if not rest[p] > DEPENDENT:
            return k
        order[k] = p
        L[p, k] = math.sqrt(rest[p])
        rest[p] = -1.0
        for i in range(n):
            if rest[i] >= 0.0:
                value = A[i, p] * size[i] * size[p]
                for m in range(k):
                    value -= L[i, m] * L[p, m]
                L[i, k] = value / L[p, k]
                rest[i] = max(0.0, rest[i] - L[i, k] * L[i, k])
    return n


@routine
def semidefinite_solve(L, size, order, rank, b, x):
    """Fill x with a solution of A x = b from `semidefinite_factors`; zero in the rows that follow from others."""
    for i in range(x.shape[0]):
        x[i] = 0.0
    # L y = b, y in the places of x
    for k in range(rank):
        p = order[k]
        x[p] = size[p] * b[p]
        for m in range(k):
            x[p] -= L[p, m] * x[order[m]]
        x[p] /= L[p, k]
    # Lᵀ x = y
    for k in range(rank - 1, -1, -1):
        p = order[k]
        for m in range(k + 1, rank):
            x[p] -= L[order[m], k] * x[order[m]]
        x[p] /= L[p, k]
    for k in range(rank):
        x[order[k]] *= size[order[k]]
