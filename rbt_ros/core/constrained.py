"""The equations of motion with constraints, and fixed steps that end on them.

    v̇ = v̇_free + M⁻¹ Gᵀ λ,        (G M⁻¹ Gᵀ) λ = -φ̈ at v̇_free

v̇_free is that of the tree (`dynamics.py`); M⁻¹ Gᵀ comes row by row from the articulated inertias that it leaves behind
(`response.py`), O(n) each. Rows that follow from others get no multiplier (`linear.semidefinite_factors`); v̇ is the
same whichever they are. A readable second formulation, with M in full: `lagrange.py`.

λ keeps φ̈ = 0, so φ and φ̇ drift by the error of the integrator. After each step both are put back to zero by the
smallest change there is, measured by M: the order holds, no spring is tuned, and impulses between bodies leave momentum
alone.

This is a module of its own so that a robot without constraints compiles and pays nothing for it.
"""

from functools import partial
from typing import NamedTuple

from rbt_ros.core.constraints import (
    BODY_B,
    LAMBDA,
    PHI,
    PHI_DDOT,
    PHI_DOT,
    RATE,
    REST,
    RIGHT,
    SIZE,
    Bonds,
    Constraints,
    bonds,
    fill_rates,
    fill_rows,
)
from rbt_ros.core.dynamics import coordinates, derivative
from rbt_ros.core.integrate import (
    KICK_AND_DRIFT,
    Method,
    all_finite,
    copy,
    failure,
    kick_and_drift,
    normalise,
    stage_state,
    step_along,
    tableau,
)
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.joints import step_on_manifold
from rbt_ros.core.kinematics import settle, unfold
from rbt_ros.core.linear import semidefinite_factors, semidefinite_solve
from rbt_ros.core.response import respond
from rbt_ros.core.types import OK, UNMET, Input, Model
from rbt_ros.core.work import GOOD_ROW, STAGE_ROW, Work

TOLERANCE = 1e-12  # of φ [m, rad] and φ̇ [m/s, rad/s] after a step, or round-off where that is more
CORRECTIONS = 10  # at most, for each of both
LOST = 1e-6  # beyond which a step has failed


@routine
def constrained_derivative(model, y, input, t_ns, s, constraints, work, bond, ydot):
    """Rank of the constraints. Fills ydot = [q̇, v̇] as `dynamics.derivative` does, and all of `bond`, λ included.

    If y has an account of what has acted (`forces.account`), the power of prescribed freedoms belongs to its first sum.
    """
    nq, nv = coordinates(model), model.freedom.shape[0]
    v, vdot = y[nq : nq + nv], ydot[nq : nq + nv]
    derivative(model, y, input, t_ns, s, work, ydot)
    fill_rows(model, constraints, y[:nq], v, vdot, t_ns, s, work, bond)
    rank = factor(model, work, bond)
    multiply(bond, PHI_DDOT, rank)
    for r in range(bond.G.shape[0]):
        add_scaled(vdot, bond.column[LAMBDA, r], bond.W[r])
        if y.shape[0] > nq + nv:
            ydot[nq + nv] += bond.column[LAMBDA, r] * bond.column[RATE, r]
    return rank


@kernel
def factor(model, work, bond):
    """Rank of A = G M⁻¹ Gᵀ; fills W, A and the factors of A."""
    m = bond.G.shape[0]
    for r in range(m):
        if all_zero(bond.G[r]):
            copy(bond.still, bond.W[r])
        else:
            respond(model, bond.G[r], bond.still, work, bond.W[r])
    for r in range(m):
        for c in range(r + 1):
            value = 0.0
            for j in range(bond.still.shape[0]):
                value += bond.G[r, j] * bond.W[c, j]
            bond.A[r, c], bond.A[c, r] = value, value
    return semidefinite_factors(bond.A, bond.L, bond.column[SIZE], bond.column[REST], bond.order)


@kernel
def all_zero(a):
    """Whether every element is zero."""
    for i in range(a.shape[0]):
        if a[i] != 0.0:
            return False
    return True


@kernel
def multiply(bond, column, rank):
    """LAMBDA = -A⁻¹ times that column."""
    right = bond.column[RIGHT]
    for r in range(right.shape[0]):
        right[r] = -bond.column[column, r]
    semidefinite_solve(bond.L, bond.column[SIZE], bond.order, rank, right, bond.column[LAMBDA])


@kernel
def add_scaled(a, c, b):
    """a += c b."""
    for i in range(a.shape[0]):
        a[i] += c * b[i]


@kernel
def largest(bond, column, rank):
    """The largest magnitude in that column, of the rows that are solved for."""
    value = 0.0
    for k in range(rank):
        value = max(value, abs(bond.column[column, bond.order[k]]))
    return value


# -------------------------------------------------------------------------------------------------- projection
@routine
def put_back(model, y, input, t_ns, s0, constraints, work, bond):
    """Put y on the constraints s0 [s] after t_ns, in place; |φ| or |φ̇| that is left, whichever is larger.

    Rows that follow from others count by their |φ|: they can be broken where motions that are given contradict each
    other. (Their |φ̇| cannot stay without it, and near a dead point is not known better than DEPENDENT lets it be.)

    Newton's method with the matrices of the first point: it is off by the error of one step, so that each correction
    gains as many digits as that had. It stops when all are below TOLERANCE, or round-off lets none get better.
    """
    nq, nv = coordinates(model), model.freedom.shape[0]
    q, v, change = y[:nq], y[nq : nq + nv], work.stage[STAGE_ROW]
    rank = constrained_derivative(model, y, input, t_ns, s0, constraints, work, bond, work.stage[0])
    position = largest(bond, PHI, rank)
    for _ in range(CORRECTIONS):
        multiply(bond, PHI, rank)
        combine(bond, change, nv)
        step_on_manifold(model, q, change[:nv], 1.0, q)
        normalise(model, q)
        unfold(model, q, work)
        for i in range(model.tree.shape[0]):
            settle(model, i, work)
        fill_rows(model, constraints, q, v, work.stage[0, nq : nq + nv], t_ns, s0, work, bond)
        before, position = position, largest(bond, PHI, rank)
        if position <= TOLERANCE or not position < before:
            break
    velocity = largest(bond, PHI_DOT, rank)
    for _ in range(CORRECTIONS):
        multiply(bond, PHI_DOT, rank)
        combine(bond, change, nv)
        add_scaled(v, 1.0, change[:nv])
        fill_rates(v, bond)
        before, velocity = velocity, largest(bond, PHI_DOT, rank)
        if velocity <= TOLERANCE or not velocity < before:
            break
    for k in range(bond.G.shape[0]):
        position = max(position, abs(bond.column[PHI, k]))
    return max(position, velocity)


@routine
def least_change(bond, column, weight, damping, change):
    """Fill change (nv,) with what takes that column to zero, to first order, at the least Σ change² / weight.

    A freedom of weight zero stays. damping: relative to the largest of the diagonal of A; with some, rows that
    contradict each other are met as well as can be, in least squares (Levenberg and Marquardt). Overwrites A and its
    factors.
    """
    largest_diagonal = 0.0
    for r in range(bond.G.shape[0]):
        for c in range(bond.G.shape[0]):
            value = 0.0
            for j in range(weight.shape[0]):
                value += bond.G[r, j] * weight[j] * bond.G[c, j]
            bond.A[r, c] = value
        largest_diagonal = max(largest_diagonal, bond.A[r, r])
    for r in range(bond.G.shape[0]):
        bond.A[r, r] += damping * largest_diagonal
    rank = semidefinite_factors(bond.A, bond.L, bond.column[SIZE], bond.column[REST], bond.order)
    multiply(bond, column, rank)
    for j in range(weight.shape[0]):
        change[j] = 0.0
        for r in range(bond.G.shape[0]):
            change[j] += weight[j] * bond.G[r, j] * bond.column[LAMBDA, r]


@kernel
def combine(bond, out, nv):
    """out[:nv] = M⁻¹ Gᵀ λ."""
    for j in range(nv):
        out[j] = 0.0
    for r in range(bond.W.shape[0]):
        add_scaled(out[:nv], bond.column[LAMBDA, r], bond.W[r])


# ------------------------------------------------------------------------------------------------------- steps
@kernel
def constrained_step(model, y, input, t_ns, s0, h, method, constraints, work, bond):
    """y h [s] later than s0 after t_ns, in place, not yet put back on the constraints: `integrate.step`."""
    A, B, C, count = tableau(method)
    s = work.stage[STAGE_ROW]
    for i in range(count):
        stage_state(y, h, work, A, i, s)
        constrained_derivative(model, s, input, t_ns, s0 + C[i] * h, constraints, work, bond, work.stage[i])
    if method.rule == KICK_AND_DRIFT:
        kick_and_drift(model, y, work.stage[0], h)
    else:
        step_along(model, y, h, work, B, count)


@kernel
def loosest(constraints, bond):
    """Body B of the row that is farthest from holding."""
    worst = 0
    for r in range(bond.G.shape[0]):
        if abs(bond.column[PHI, r]) > abs(bond.column[PHI, worst]):
            worst = r
    return int(constraints.row[worst, BODY_B])


@routine
def run_constrained_arrays(
    tree,
    body,
    freedom,
    world,
    y,
    tau,
    load,
    signal,
    data,
    rows,
    axes,
    stage,
    row,
    term,
    laws,
    numbers,
    G,
    W,
    A,
    L,
    direction,
    column,
    order,
    still,
    h_ns,
    table,
    count,
    rule,
    t_ns,
    ticks,
):
    """(code, tick, body) after `ticks` steps of h_ns [ns] from t_ns, y in place; on a failure y is the last good.

    For a call from Python: plain arrays cost less than named tuples of them.
    """
    model, input, work = Model(tree, body, freedom, world), Input(tau, load, signal, data), Work(rows, axes, stage)
    constraints, bond = Constraints(row, term, laws, numbers), Bonds(G, W, A, L, direction, column, order, still)
    method, h, good = Method(table, count, rule), h_ns / 1e9, work.stage[GOOD_ROW]
    for tick in range(ticks):
        start_ns = t_ns + tick * h_ns
        copy(y, good)
        constrained_step(model, y, input, start_ns, 0.0, h, method, constraints, work, bond)
        left = put_back(model, y, input, start_ns + h_ns, 0.0, constraints, work, bond)
        if not all_finite(y):
            code, culprit = failure(model, y, good)
            return code, tick, culprit
        if left > LOST:
            copy(good, y)
            return UNMET, tick, loosest(constraints, bond)
    return OK, ticks, -1


class Constrained(NamedTuple):
    """What `integrate.stepper` is for a tree, for one with constraints."""

    constraints: Constraints

    def stepper(self, model, y, input, h_ns, method, work):
        """A function of (t_ns, ticks) that takes y in place `ticks` steps further: (code, tick, body)."""
        bond = bonds(model, self.constraints)
        return partial(run_constrained_arrays, *model, y, *input, *work, *self.constraints, *bond, h_ns, *method)
