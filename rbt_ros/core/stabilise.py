"""Angular momentum and energy kept for ever: the attitude is turned until both fit.

The momentum L of a free body is known: its start plus the impulse of what acts. So is its energy E: start plus work. An
integrator's q and ω fit neither exactly, and the misfit grows. Seen from the body, L may only move on the sphere |L|;
there the lines of equal energy, Σ L_k²/I_k = 2E, are the polhodes. Turning the body moves L across them:

| mode | the turn | keeps E to |
|---|---|---|
| GRADIENT | along the gradient of E on the sphere, to first order, for a share (the gain) of the error | about k_e |
| PROJECTION | the smallest that brings L to the polhode of E | round-off |

and ω = I⁻¹ L afterwards. The phase along the polhode stays as wrong as the integrator has made it.

Source: dynamic stabilisation through invariants of free rigid body motion (online stereoscopic simulation, Int. J. of
Advanced Research in Computer Science): its figure 4 is GRADIENT, its equations 5 to 7 are PROJECTION. Free trees:
`stabilise_tree.py`. What the corrections cost and bring: docs/stabilise.md.
"""

import math

from rbt_ros.core.jit import kernel
from rbt_ros.core.vec import (
    cross,
    dot,
    norm,
    qmul,
    rotation,
    rotation_vector_quat,
    scale,
    times,
    turn,
    turn_back,
    vec3,
)

NONE, GRADIENT, PROJECTION = 0, 1, 2

# elements of `kept`: what the stabilisation is told and remembers
MODE = 0  # NONE, GRADIENT or PROJECTION
SEED_ORDER = 1  # 1: correct, then step, as the source does; 0: step, then correct
TOLERANCE = 2  # k_e [J]: a larger error of the energy lets the gain grow
LESSEN, AMPLIFY = 3, 4  # k1 < 1, k2 > 1: factors of the gain, per step
LEAST_GAIN = 5  # i0
GAIN = 6  # i: the share of the error that a step corrects, i0 to 1
ENERGY = 7  # [J] of the rotation (a tree: of all motion about the CoM, and springs) where the account is zero
SPIN = 8  # L about the CoM [N·m·s], world axes, where the account is zero, 3
MOMENTUM = 11  # P [kg·m/s], world axes, where the account is zero, 3: of a tree
A = 14  # of a lone body: inverse principal moments [1/(kg·m²)], 3
AXES = 17  # and R_BP, the principal axes in body axes, 9
KEPT_SIZE = 26

# what y = [q, v, account] holds beside q and v
WORK, DISSIPATED, TURNING, INNER_WORK, IMPULSE = 0, 1, 2, 5, 6  # of moments about C; of forces: 3 each
ACCOUNT = 9
ROUND_OFF = 4.0 * 2.0**-52  # relative error of Σ a u² as it is computed
ALIKE = 1e-13  # principal moments that differ by less, relatively, are one
NEAR = 1e-9  # the multiplier to its bound, relatively: below, its digits do not suffice
LARGEST_TURN = 0.1  # [rad] along the gradient at once


# --------------------------------------------------------------------------------------------- on the unit sphere
@kernel
def level(u, a):
    """Σ a_k u_k²: twice the energy over L² of a body with L along u. a: inverse principal moments."""
    return a[0] * u[0] * u[0] + a[1] * u[1] * u[1] + a[2] * u[2] * u[2]


@kernel
def unit(u):
    """u / |u|."""
    return scale(1.0 / norm(u), u)


@kernel
def nearest_on_level(l, a, c):
    """The unit vector u nearest to the unit vector l with Σ a u² = c: l itself where that is so to round-off.

    Of u·l the extremum under both constraints: u_k ∝ l_k / (1 + s (a_k - c)), where the multiplier s makes
    Σ (a - c) u² = 0. Beyond the poles, c < min a or c > max a, it is the nearest of them (of a circle of them where two
    moments are alike).
    """
    low, high = min(a[0], min(a[1], a[2])), max(a[0], max(a[1], a[2]))
    for _ in range(3):  # the second time only where s cannot be told finely enough: l almost in a plane of symmetry
        if abs(level(l, a) - c) <= ROUND_OFF * c or high - low <= ALIKE * high:
            return l
        if c <= low:
            return pole(l, a, low, ALIKE * low)
        if c >= high:
            return pole(l, a, high, ALIKE * high)
        l = unit(between_poles(l, (a[0] - c, a[1] - c, a[2] - c)))
    return l


@kernel
def pole(l, a, extreme, alike):
    """The nearest unit vector to l that lies along the axes whose a is the extreme one."""
    u = (
        l[0] if abs(a[0] - extreme) <= alike else 0.0,
        l[1] if abs(a[1] - extreme) <= alike else 0.0,
        l[2] if abs(a[2] - extreme) <= alike else 0.0,
    )
    if dot(u, u) > 0.0:
        return unit(u)
    # l is square to them: each is as near as the others
    return (
        1.0 if a[0] == extreme else 0.0,
        1.0 if a[1] == extreme and a[0] != extreme else 0.0,
        1.0 if a[2] == extreme and a[1] != extreme and a[0] != extreme else 0.0,
    )


@kernel
def share(x, lag):
    """(x / lag, 1 / lag), both 0 for x = 0, whatever lag is."""
    if x == 0.0:
        return 0.0, 0.0
    r = 1.0 / lag
    return x * r, r


@kernel
def misfit(l, d, s):
    """(u, f, f', size): u = l / (1 + s d), f = Σ d u², which falls as s grows, its derivative by s, Σ |d| u²."""
    (x, a), (y, b), (z, c) = share(l[0], 1.0 + s * d[0]), share(l[1], 1.0 + s * d[1]), share(l[2], 1.0 + s * d[2])
    p, q, r = d[0] * x * x, d[1] * y * y, d[2] * z * z
    slope = -2.0 * (d[0] * p * a + d[1] * q * b + d[2] * r * c)
    return (x, y, z), p + q + r, slope, abs(p) + abs(q) + abs(r)


@kernel
def between_poles(l, d):
    """u = l / (1 + s d) with Σ d u² = 0, not of unit length: Newton from s = 0, kept between the poles of u."""
    least, most = min(d[0], min(d[1], d[2])), max(d[0], max(d[1], d[2]))
    below, above, u = -1.0 / most, -1.0 / least, l
    s = 0.5 * level(l, d) / dot(times(d, l), times(d, l))  # the first step, where u = l
    if not below < s < above:
        s = 0.0
    while below < s < above:
        u, f, slope, size = misfit(l, d, s)
        if abs(f) <= ROUND_OFF * size:
            break
        if f > 0.0:
            below = s
        else:
            above = s
        s = s - f / slope if slope != 0.0 else above
        if not below < s < above:
            s = 0.5 * (below + above)
    extreme = least if s > 0.0 else most
    if 1.0 + s * extreme < NEAR:  # l lies in a plane of symmetry of the polhodes, or as good as
        return out_of_plane(l, d, extreme)
    return u


@kernel
def out_of_plane(l, d, extreme):
    """As `between_poles` where l_k = 0 along the axis k whose d is the extreme one: 1 + s d_k = 0, u_k from Σ d u²."""
    k = 0 if d[0] == extreme else (1 if d[1] == extreme else 2)
    u, rest = with_element(l, k, 0.0), 0.0
    for m in range(3):
        lag = 1.0 - d[m] / extreme
        x = u[m] / lag if lag > ALIKE else 0.0
        u = with_element(u, m, x)
        rest -= d[m] * x * x
    return with_element(u, k, math.copysign(math.sqrt(max(0.0, rest / extreme)), l[k]))


@kernel
def with_element(u, k, x):
    """u with x as its element k."""
    return (x if k == 0 else u[0], x if k == 1 else u[1], x if k == 2 else u[2])


# ------------------------------------------------------------------------------------------------------ corrections
@kernel
def targets(kept, account):
    """(L [N·m·s] world axes, E [J]) as they must be now: the start, plus impulse and work of what has acted."""
    L = (
        kept[SPIN] + account[TURNING],
        kept[SPIN + 1] + account[TURNING + 1],
        kept[SPIN + 2] + account[TURNING + 2],
    )
    return L, kept[ENERGY] + (account[INNER_WORK] - account[DISSIPATED])


@kernel
def shortest_turn(a, b):
    """The shortest turn that takes the unit vector a to the unit vector b, as a quaternion not of unit length."""
    x, y, z = cross(a, b)
    return (1.0 + dot(a, b), x, y, z)


@kernel
def energy_turn(w, L, error):
    """Rotation vector [rad] of a body that takes `error` off its energy, to first order: -error (ω × L) / |ω × L|².

    It moves L, seen from the body, along the gradient of the energy on the sphere |L|. At a pole there is none.
    """
    across = cross(w, L)
    steep = dot(across, across)
    if steep <= ROUND_OFF * ROUND_OFF * dot(w, w) * dot(L, L):
        return (0.0, 0.0, 0.0)
    x = scale(-error / steep, across)
    size = norm(x)
    return x if size <= LARGEST_TURN else scale(LARGEST_TURN / size, x)


@kernel
def next_gain(kept, error):
    """The share i of the error of the energy that GRADIENT takes off now.

    It grows by k2, up to 1, while |error| > k_e, and falls by k1, down to i0, else.
    """
    if abs(error) > kept[TOLERANCE]:
        kept[GAIN] = min(kept[GAIN] * kept[AMPLIFY], 1.0)
    else:
        kept[GAIN] = max(kept[GAIN] * kept[LESSEN], kept[LEAST_GAIN])
    return kept[GAIN]


@kernel
def gradient_turn(L, a, E, kept):
    """Rotation vector [rad] of GRADIENT for a lone body, in principal axes."""
    w = times(a, L)
    error = 0.5 * dot(w, L) - E
    return energy_turn(w, L, next_gain(kept, error) * error)


@kernel
def corrected(q_WB, kept, account):
    """(q_WB, w_WB_B) of a lone body, turned until L and E are what they must be."""
    L_W, E = targets(kept, account)
    L = norm(L_W)
    if L == 0.0:
        return q_WB, (0.0, 0.0, 0.0)
    a, R_BP = vec3(kept, A), axes_of(kept)
    l_P = turn_back(R_BP, turn_back(rotation(q_WB), scale(1.0 / L, L_W)))
    if kept[MODE] == PROJECTION:
        u_P = nearest_on_level(l_P, a, 2.0 * E / (L * L))
        turn_P = shortest_turn(u_P, l_P)
    else:
        turn_P = rotation_vector_quat(gradient_turn(scale(L, l_P), a, E, kept))
        u_P = turn_back(rotation(turn_P), l_P)
    x, y, z = turn(R_BP, (turn_P[1], turn_P[2], turn_P[3]))
    return unit4(qmul(q_WB, (turn_P[0], x, y, z))), turn(R_BP, scale(L, times(a, u_P)))


@kernel
def unit4(q):
    """q / |q|."""
    s = 1.0 / math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (s * q[0], s * q[1], s * q[2], s * q[3])


@kernel
def axes_of(kept):
    """R_BP."""
    return vec3(kept, AXES), vec3(kept, AXES + 3), vec3(kept, AXES + 6)
