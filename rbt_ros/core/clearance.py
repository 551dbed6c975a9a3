"""How far boxes keep off each other: exact signed distances, of panels and rods as they are drawn.

Two boxes that touch no more than at their surfaces are nearest at a corner of one and any point of the other, or at two
edges. Where they overlap, the distance is minus the least way that parts them, which is along a normal of a face or of
two edges: of fifteen directions, that in which they overlap least. C. Ericson, Real-time collision detection (2005),
sections 4.4 and 5.1.9.
"""

from typing import NamedTuple

import numpy as np

from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.kinematics import kinematics
from rbt_ros.core.vec import (
    add,
    cross,
    dot,
    norm,
    put3,
    put9,
    rotation,
    row3,
    row4,
    row9,
    scale,
    sub,
    transpose,
    turn,
    turn_back,
)

# columns of Boxes.shape and of a box in the world: its middle, its axes as columns of a matrix, half its sides
CENTRE, AXES, HALF = 0, 3, 12
BOX_COLUMNS = 15
PARALLEL = 1e-8  # sine of two edges that have no common normal of their own: less than the error of that normal


class Boxes(NamedTuple):
    """The boxes of a robot, and which of them must not touch."""

    owner: np.ndarray  # (k,) int64: index of the body
    shape: np.ndarray  # (k, BOX_COLUMNS), body axes [m]
    pairs: np.ndarray  # (m, 2) int64: rows of `shape`


@kernel
def clamped(x, low, high):
    """x, brought between low and high."""
    return min(max(x, low), high)


@kernel
def segment_distance2(p, d, q, e):
    """Squared distance [m²] of the segments p + s d and q + t e, 0 <= s, t <= 1."""
    r = sub(p, q)
    a, b, c, f, g = dot(d, d), dot(d, e), dot(e, e), dot(d, r), dot(e, r)
    spread = a * c - b * b
    # nearly parallel: any s will do, the ends are looked at by the corners
    s = clamped((b * g - c * f) / spread, 0.0, 1.0) if spread > 1e-14 * a * c else 0.0
    t = clamped((b * s + g) / c, 0.0, 1.0) if c > 0.0 else 0.0
    s = clamped((b * t - f) / a, 0.0, 1.0) if a > 0.0 else 0.0
    apart = sub(add(p, scale(s, d)), add(q, scale(t, e)))
    return dot(apart, apart)


@kernel
def corner(h, n):
    """Corner n = 0..7 of a box with half sides h, in its own axes: bit k of n says on which side of axis k."""
    return (h[0] if n & 1 else -h[0], h[1] if n & 2 else -h[1], h[2] if n & 4 else -h[2])


@kernel
def side(h, k):
    """The edge along axis k = 0..2, from one end to the other, in the axes of the box."""
    return (2.0 * h[0] if k == 0 else 0.0, 2.0 * h[1] if k == 1 else 0.0, 2.0 * h[2] if k == 2 else 0.0)


@kernel
def reach(h, n):
    """How far a box with half sides h reaches along n, given in its own axes."""
    return h[0] * abs(n[0]) + h[1] * abs(n[1]) + h[2] * abs(n[2])


@kernel
def separation(a, b, R, p):
    """The widest gap [m] along any of the fifteen directions, negative where all overlap. a, b: half sides of the boxes
    A and B; R = R_AB, p = p_AB of their middles."""
    axes, back = transpose(R), turn_back(R, p)
    widest = -np.inf
    for k in range(3):
        widest = max(widest, abs(p[k]) - a[k] - reach(b, R[k]))
        widest = max(widest, abs(back[k]) - b[k] - reach(a, axes[k]))
        for m in range(3):
            n = cross((1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0), axes[m])
            size = norm(n)
            if size > PARALLEL:
                widest = max(widest, (abs(dot(p, n)) - reach(a, n) - reach(b, turn_back(R, n))) / size)
    return widest


@kernel
def corners_distance2(a, b, R, p):
    """Squared distance [m²] of box A from that corner of box B which is nearest to it."""
    least = np.inf
    for n in range(8):
        x = add(p, turn(R, corner(b, n)))
        out = (max(abs(x[0]) - a[0], 0.0), max(abs(x[1]) - a[1], 0.0), max(abs(x[2]) - a[2], 0.0))
        least = min(least, dot(out, out))
    return least


@kernel
def edges_distance2(a, b, R, p):
    """Squared distance [m²] of the nearest two edges of box A and box B."""
    least = np.inf
    for k in range(3):
        for i in range(8):
            if i >> k & 1:  # an edge starts where axis k does
                continue
            start, d = corner(a, i), side(a, k)
            for m in range(3):
                e = turn(R, side(b, m))
                for j in range(8):
                    if not j >> m & 1:
                        least = min(least, segment_distance2(start, d, add(p, turn(R, corner(b, j))), e))
    return least


@routine
def distance(boxes, i, j, enough):
    """Distance [m] of two boxes in the world, (k, BOX_COLUMNS); negative where they overlap: how deep. What is not less
    than `enough` may be given as any number that is not."""
    R_WA, R_WB = row9(boxes, i, AXES), row9(boxes, j, AXES)
    a, b = row3(boxes, i, HALF), row3(boxes, j, HALF)
    R_BW = transpose(R_WB)
    R = transpose((turn_back(R_WA, R_BW[0]), turn_back(R_WA, R_BW[1]), turn_back(R_WA, R_BW[2])))
    p = turn_back(R_WA, sub(row3(boxes, j, CENTRE), row3(boxes, i, CENTRE)))
    gap = separation(a, b, R, p)
    if gap <= 0.0 or gap >= enough:
        return gap
    least = min(corners_distance2(a, b, R, p), corners_distance2(b, a, transpose(R), scale(-1.0, turn_back(R, p))))
    if least > gap * gap * (1.0 + 1e-14):  # no corner is opposite a face: edges may be nearer
        least = min(least, edges_distance2(a, b, R, p))
    return np.sqrt(least)


@routine
def place_boxes(owner, shape, pose, placed):
    """Fill placed (k, BOX_COLUMNS): the boxes in the world, from the bodies' poses [q_WB, p_WB]."""
    for k in range(owner.shape[0]):
        R_WB, axes = rotation(row4(pose, owner[k], 0)), transpose(row9(shape, k, AXES))
        put3(placed, k, CENTRE, add(row3(pose, owner[k], 4), turn(R_WB, row3(shape, k, CENTRE))))
        put9(placed, k, AXES, transpose((turn(R_WB, axes[0]), turn(R_WB, axes[1]), turn(R_WB, axes[2]))))
        put3(placed, k, HALF, row3(shape, k, HALF))


@routine
def least_distance(boxes, pose, placed):
    """(distance [m], pair) of the two boxes that are nearest to each other, of those that must not touch."""
    place_boxes(boxes.owner, boxes.shape, pose, placed)
    least, nearest = np.inf, -1
    for m in range(boxes.pairs.shape[0]):
        found = distance(placed, boxes.pairs[m, 0], boxes.pairs[m, 1], least)
        if found < least:
            least, nearest = found, m
    return least, nearest


@routine
def shape_distances(model, boxes, shapes, q, v, work, pose, twist, placed, out):
    """Fill out (k,) with the least distance [m] at each of the shapes (k, n), coordinates behind a floating base's.

    q: the base's attitude is identity, its centre of mass lies where the origin of its own frame is the world's.
    """
    for i in range(shapes.shape[0]):
        for j in range(shapes.shape[1]):
            q[7 + j] = shapes[i, j]
        kinematics(model, q, v, work, pose, twist)
        put3(pose, 0, 4, (0.0, 0.0, 0.0))  # boxes are given in the frame of the base, not from its centre of mass
        out[i], _ = least_distance(boxes, pose, placed)
