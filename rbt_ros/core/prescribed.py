"""Signals as motions: value, rate and acceleration of a prescribed freedom.

Only laws without jumps in value and rate: sines, polynomials, cubic tables. They hold for ever; before its first knot
and after its last one a table goes on straight, with the rate it has there.
"""

from rbt_ros.core.jit import kernel
from rbt_ros.core.signals import interval
from rbt_ros.core.types import COUNT, DATA, LAW, ORIGIN, POLYNOMIAL, SINES
from rbt_ros.core.vec import sincos


@kernel
def signal_motion(constraints, k, t_ns, s):
    """u, u̇, ü of signal k of the constraints, s [s] after t_ns."""
    law, start, count = constraints.signal[k, LAW], constraints.signal[k, DATA], constraints.signal[k, COUNT]
    since, data = t_ns - constraints.signal[k, ORIGIN], constraints.data
    if law == SINES:
        return sines_motion(data, start, count, since / 1e9 + s)
    if law == POLYNOMIAL:
        return polynomial_motion(data, start, count, since / 1e9 + s)
    return cubic_motion(data, start, count, since, s)


@kernel
def sines_motion(data, start, count, x):
    """c + Σ a sin(w x + p) and its derivatives."""
    u, u_dot, u_ddot = data[start], 0.0, 0.0
    for i in range(start + 1, start + 1 + 3 * count, 3):
        a, w = data[i], data[i + 1]
        sine, cosine = sincos(w * x + data[i + 2])
        u += a * sine
        u_dot += a * w * cosine
        u_ddot -= a * w * w * sine
    return u, u_dot, u_ddot


@kernel
def polynomial_motion(data, start, count, x):
    """c0 + c1 x + c2 x² + ... and its derivatives, by Horner."""
    u, u_dot, half = 0.0, 0.0, 0.0
    for i in range(start + count - 1, start - 1, -1):
        half = half * x + u_dot
        u_dot = u_dot * x + u
        u = u * x + data[i]
    return u, u_dot, 2.0 * half


@kernel
def cubic_motion(data, start, count, since, s):
    """The cubic of the interval, straight on outside the table."""
    piece = interval(data, start, count, since, s)
    first = start + count + 4 * min(max(piece, 0), count - 2)
    if piece < 0 or piece == count - 1:
        knot = data[start + max(piece, 0)]
        width = 0.0 if piece < 0 else (data[start + count - 1] - data[start + count - 2]) / 1e9
        u, u_dot, _ = polynomial_motion(data, first, 4, width)
        return u + u_dot * ((since - knot) / 1e9 + s), u_dot, 0.0
    return polynomial_motion(data, first, 4, (since - data[start + piece]) / 1e9 + s)
