"""Coefficients of the Runge-Kutta pair of orders 5 and 4 of Dormand and Prince, the method behind the name ode45.

Dormand and Prince, A family of embedded Runge-Kutta formulae (1980); interpolant of order 4 with the smallest error
terms: Shampine, Some practical Runge-Kutta formulas (1986). Both in Hairer, Norsett and Wanner, Solving Ordinary
Differential Equations I (1993), tables II.5.2 and (6.12). Row 6 of A is B: the derivative at the end of the step.
"""

import numpy as np

STAGES = 6  # of a step; 7 with the error estimate and the dense output

# stage times
C = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])

# stage i starts from y + h Σ A[i, j] k_j
A = np.zeros((7, 7))
A[1, :1] = [1 / 5]
A[2, :2] = [3 / 40, 9 / 40]
A[3, :3] = [44 / 45, -56 / 15, 32 / 9]
A[4, :4] = [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729]
A[5, :5] = [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656]
A[6, :6] = [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84]

# weights of the step, order 5
B = A[6].copy()

# weights of the error: order 5 less order 4
E = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])

# weights of the last coefficient of the dense output, x² (1-x)²
D = np.array(
    [
        -12715105075 / 11282082432,
        0.0,
        87487479700 / 32700410799,
        -10690763975 / 1880347072,
        701980252875 / 199316789632,
        -1453857185 / 822651844,
        69997945 / 29380423,
    ]
)
