"""Bilateral constraints as data: closures between points of two bodies, couplings of freedoms, prescribed freedoms.

Each row is one scalar condition φ = 0. P_A, P_B: points fixed in bodies A, B, d = p_B - p_A; a, b: unit vectors fixed
in A, B; t, e: the direction of the row, so that φ̇ = t·(w_B - w_A) + e·(v_B - v_A), both bodies' velocity at P_B.

| law | φ | t | e |
|---|---|---|---|
| POINT | a·d - target | | a |
| DISTANCE | length of d - target | | d / length |
| DOT | a·b - target | b × a | |
| COUPLING | Σ factor q - target - u(t) | | |
| ENDS | has none: of impacts | | a, for v_B at P_B less v_A at P_A |

A ball closure is three POINT rows; a revolute one has two DOT rows more, a weld three. Seen from A, so that a motion of
A and B as one body changes nothing: multipliers act as equal and opposite wrenches in one point, and momentum is kept
even where φ is not zero. All is measured from the last body that A and B hang on both, wherever the robot flies.

But ENDS are for the jerk of a rope that stops its ends dead, with d not zero: seen from the world, each body's velocity
is that of its own end, so that it does not matter who is named first. Forces are equal and opposite in two points.

What holds is what is in the rows: a rope that goes slack, a stop that is left is another, shorter array.
"""

import math
from typing import NamedTuple

import numpy as np

from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.joints import twist
from rbt_ros.core.prescribed import signal_motion
from rbt_ros.core.types import KIND, NO_DATA, NO_SIGNAL, NV, PARENT, JointKind, V
from rbt_ros.core.vec import add, cross, dot, put3, row3, row9, scale, sub, turn, turn_back, vec3
from rbt_ros.core.work import ACC, ACC_V, ARM, AXIS_W, ROT, SPIN, SPIN_DOT, SPIN_DOT_V

POINT, DISTANCE, DOT, COUPLING, ENDS = 0, 1, 2, 3, 4

# columns of Constraints.row
LAW = 0
BODY_A, BODY_B = 1, 2  # -1: the world (COUPLING: the body of a freedom in both)
COMMON = 3  # the last body that A and B hang on both, or are; -1: the world
POINT_A, POINT_B = 4, 7  # in the body's axes from the engine's origin [m], 3 and 3
AXIS_A, AXIS_B = 10, 13  # a, b in the body's axes, 3 and 3
TARGET = 16
FIRST, COUNT = 17, 18  # its rows of Constraints.term
SIGNAL = 19  # 0: none; k: signal k - 1 is u
ROW_COLUMNS = 20

# columns of Constraints.term
TERM_Q, TERM_V, FACTOR = 0, 1, 2
TERM_COLUMNS = 3

# columns of Bonds.column
PHI, PHI_DOT = 0, 1
PHI_DDOT = 2  # at the v̇ that the tree would have without constraints
LAMBDA = 3  # the multiplier: force [N] along e, moment [N·m] along t, effort over factor
RATE = 4  # u̇ of its signal
SIZE, REST = 5, 6  # scratch of linear.semidefinite_factors
RIGHT = 7  # right-hand side of a solve
BOND_COLUMNS = 8

NEGLIGIBLE = 1e-12  # a row of G this small beside what its bodies' freedoms could do is round-off: it says nothing


class Constraints(NamedTuple):
    """What holds beside the hinges. Read-only arrays."""

    row: np.ndarray  # (m, ROW_COLUMNS)
    term: np.ndarray  # (k, TERM_COLUMNS)
    signal: np.ndarray = NO_SIGNAL  # as in Input: the laws of prescribed freedoms
    data: np.ndarray = NO_DATA


def no_constraints():
    """Nothing holds beside the hinges."""
    arrays = np.zeros((0, ROW_COLUMNS)), np.zeros((0, TERM_COLUMNS)), NO_SIGNAL.copy(), NO_DATA.copy()
    for array in arrays:
        array.flags.writeable = False
    return Constraints(*arrays)


class Bonds(NamedTuple):
    """Scratch arrays of the constraints of one run."""

    G: np.ndarray  # (m, nv) φ̇ = G v - u̇
    W: np.ndarray  # (m, nv) rows: M⁻¹ Gᵀ
    A: np.ndarray  # (m, m) G M⁻¹ Gᵀ
    L: np.ndarray  # (m, m) its factors
    direction: np.ndarray  # (m, 6) t and e, world axes
    column: np.ndarray  # (BOND_COLUMNS, m)
    order: np.ndarray  # (m,) int64: the rows that are solved for, first `rank` of them
    still: np.ndarray  # (nv,) zeros


def bonds(model, constraints):
    """The scratch arrays for the constraints of `model`."""
    m, nv = len(constraints.row), len(model.freedom)
    order = np.zeros(m, np.int64)
    sizes = (m, nv), (m, nv), (m, m), (m, m), (m, 6), (BOND_COLUMNS, m)
    return Bonds(*(np.zeros(size) for size in sizes), order, np.zeros(nv))


@routine
def fill_rows(model, constraints, q, v, vdot, t_ns, s, work, bond):
    """Fill G and its directions, and φ, φ̇ and φ̈ of each row at q, v and v̇, s [s] after t_ns.

    The rows of `work` are those of q; φ̈ wants those of v and v̇ too.
    """
    for r in range(constraints.row.shape[0]):
        G, law = bond.G[r], int(constraints.row[r, LAW])
        for j in range(G.shape[0]):
            G[j] = 0.0
        put3(bond.direction, r, 0, (0.0, 0.0, 0.0))
        put3(bond.direction, r, 3, (0.0, 0.0, 0.0))
        bond.column[RATE, r] = 0.0
        if law == COUPLING:
            phi, phi_ddot = coupling(constraints, r, q, vdot, t_ns, s, bond)
        else:
            phi, phi_ddot = closure(model, constraints, r, law, v, work, bond)
        bond.column[PHI, r], bond.column[PHI_DDOT, r] = phi, phi_ddot
    fill_rates(v, bond)


@kernel
def fill_rates(v, bond):
    """φ̇ = G v - u̇ of each row."""
    for r in range(bond.G.shape[0]):
        rate = -bond.column[RATE, r]
        for j in range(v.shape[0]):
            rate += bond.G[r, j] * v[j]
        bond.column[PHI_DOT, r] = rate


@kernel
def coupling(constraints, r, q, vdot, t_ns, s, bond):
    """φ and φ̈ of a row that couples freedoms."""
    u, u_dot, u_ddot, k = 0.0, 0.0, 0.0, int(constraints.row[r, SIGNAL]) - 1
    if k >= 0:
        u, u_dot, u_ddot = signal_motion(constraints, k, t_ns, s)
    bond.column[RATE, r] = u_dot
    phi, phi_ddot = -constraints.row[r, TARGET] - u, -u_ddot
    first = int(constraints.row[r, FIRST])
    for k in range(first, first + int(constraints.row[r, COUNT])):
        j, c = int(constraints.term[k, TERM_V]), constraints.term[k, FACTOR]
        bond.G[r, j] += c
        phi += c * q[int(constraints.term[k, TERM_Q])]
        phi_ddot += c * vdot[j]
    return phi, phi_ddot


@kernel
def closure(model, constraints, r, law, v, work, bond):
    """φ and φ̈ of a row between two bodies; fills its row of G."""
    A, B = int(constraints.row[r, BODY_A]), int(constraints.row[r, BODY_B])
    common, zero = int(constraints.row[r, COMMON]), (0.0, 0.0, 0.0)
    R_WA, R_WB = row9(work.bodies, A, ROT), row9(work.bodies, B, ROT)
    a, b = turn(R_WA, row3(constraints.row, r, AXIS_A)), turn(R_WB, row3(constraints.row, r, AXIS_B))
    p_AA, p_BB = turn(R_WA, row3(constraints.row, r, POINT_A)), turn(R_WB, row3(constraints.row, r, POINT_B))
    d = sub(from_common(model, B, common, p_BB, work), from_common(model, A, common, p_AA, work))
    length = math.sqrt(dot(d, d))
    inverse = 1.0 / length if length > 0.0 else 0.0  # points that meet have no direction: an empty row of G
    if law == DOT:
        t, e, phi = cross(b, a), zero, dot(a, b)
    elif law == DISTANCE:
        t, e, phi = zero, scale(inverse, d), length
    else:
        t, e, phi = zero, a, dot(a, d)
    put3(bond.direction, r, 0, t)
    put3(bond.direction, r, 3, e)
    r_A, r_B = p_AA if law == ENDS else add(p_AA, d), p_BB  # to P_B from both origins; to both ends
    v_A, size_A = walk(model, A, common, -1.0, r_A, t, e, v, work, bond.G[r])
    v_B, size_B = walk(model, B, common, 1.0, r_B, t, e, v, work, bond.G[r])
    drop_noise(bond.G[r], size_A + size_B)
    w_rel, v_rel, wdot_rel, a_rel = relative_motion_in_A(A, B, r_A, r_B, add(v_A, v_B), work)
    phi_ddot = dot(t, wdot_rel) + dot(e, a_rel)
    if law == DOT:
        phi_ddot += dot(a, cross(w_rel, cross(w_rel, b)))
    elif law == DISTANCE:
        along = dot(e, v_rel)
        phi_ddot += (dot(v_rel, v_rel) - along * along) * inverse
    return phi - constraints.row[r, TARGET], phi_ddot


@kernel
def relative_motion_in_A(A, B, r_A, r_B, v_rel, work):
    """Of B against A at the point P, seen by one who turns with A: angular and linear velocity and acceleration."""
    w_A = row3(work.bodies, A, SPIN)
    w_rel = sub(row3(work.bodies, B, SPIN), w_A)
    wdot_A, a_A = point_acceleration(A, r_A, work)
    wdot_B, a_B = point_acceleration(B, r_B, work)
    wdot_rel = sub(sub(wdot_B, wdot_A), cross(w_A, w_rel))
    return w_rel, v_rel, wdot_rel, sub(sub(a_B, a_A), scale(2.0, cross(w_A, v_rel)))


@kernel
def from_common(model, i, common, p, work):
    """A point at p from body i's origin: from that of the common ancestor, world axes."""
    while i != common:
        p = add(p, row3(work.bodies, i, ARM))
        i = model.tree[i, PARENT]
    return p


@kernel
def walk(model, i, common, sign, r, t, e, v, work, G):
    """Add sign times what each freedom between body i and the common ancestor does to t·w + e·v_P to G.

    P is at r from body i's origin. Back come sign times the velocity of P that these freedoms make, and the sum of
    squares of what they could make in any direction.
    """
    velocity, size = (0.0, 0.0, 0.0), 0.0
    lever = dot(e, e)
    while i != common:
        kind, j = model.tree[i, KIND], model.tree[i, V]
        m = add(t, cross(r, e))  # the moment of the row's direction about this hinge
        turns = dot(t, t) + lever * dot(r, r)
        if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
            R_WB = row9(work.bodies, i, ROT)
            x, y, z = turn_back(R_WB, m)
            G[j] += sign * x
            G[j + 1] += sign * y
            G[j + 2] += sign * z
            velocity = add(velocity, cross(turn(R_WB, vec3(v, j)), r))
            size += turns
            if kind == JointKind.FREE:
                G[j + 3] += sign * e[0]
                G[j + 4] += sign * e[1]
                G[j + 5] += sign * e[2]
                velocity = add(velocity, vec3(v, j + 3))
                size += lever
        else:
            for k in range(NV[kind]):
                turning, sliding = twist(model, j + k, work.freedoms, AXIS_W)
                G[j + k] += sign * (dot(m, turning) + dot(e, sliding))
                velocity = add(velocity, scale(v[j + k], add(cross(turning, r), sliding)))
                size += turns * dot(turning, turning) + lever * dot(sliding, sliding)
        r = add(r, row3(work.bodies, i, ARM))
        i = model.tree[i, PARENT]
    return scale(sign, velocity), size


@kernel
def drop_noise(G, size):
    """Zero a row of G that is nothing but round-off: the freedoms cannot break this condition, nor keep it."""
    total = 0.0
    for j in range(G.shape[0]):
        total += G[j] * G[j]
    if total <= NEGLIGIBLE * NEGLIGIBLE * size:
        for j in range(G.shape[0]):
            G[j] = 0.0


@kernel
def point_acceleration(i, r, work):
    """(ẇ, a) of the point at r from body i's origin, less uniform gravity; i = -1: the world."""
    w = row3(work.bodies, i, SPIN)
    wdot = add(row3(work.bodies, i, SPIN_DOT), row3(work.bodies, i, SPIN_DOT_V))
    a = add(row3(work.bodies, i, ACC), row3(work.bodies, i, ACC_V))
    return wdot, add(a, add(cross(wdot, r), cross(w, cross(w, r))))
