"""Small dense linear systems, in a fixed order of operations: the same bits compiled, plain and on any CPU."""

from rbt_ros.core.jit import routine


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
