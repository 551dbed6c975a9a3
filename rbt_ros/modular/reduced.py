"""The equations of an array that floats at rest, as functions of CasADi: shape alone, and the attitude that follows.

At momentum zero the kinetic energy is that of the shape, ½ psi̇ᵀ M(psi) psi̇, with what the base does about it taken out,

    M = Σ (Jᵀ I J + m Vᵀ V) - Nᵀ L⁻¹ N,      L: inertia of all about their centre of mass,   N psi̇: their momentum,

and the base turns at ω = -L⁻¹ N psi̇. With the momenta p = M psi̇ of the hinges, ṗ = u + ∂/∂psi (½ psi̇ᵀ M psi̇), whose
gradient is that of the whole energy with ω held, since ω makes it least. State: the quaternion of the base (w x y z),
the shape, the momenta of the hinges: far shorter expressions than with psï.
"""

from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.types import JointKind
from rbt_ros.model.attitude import matrices
from rbt_ros.model.robot import Robot
from rbt_ros.modular.collocation import casadi
from rbt_ros.modular.turns import Folding

ATTITUDE = slice(0, 4)  # of the state
ROUND_OFF = 1e-15


class Reduced(NamedTuple):
    """Functions of CasADi, n hinges."""

    motion: Any  # state (4 + 2 n), torques (n) -> derivative of the state
    momenta: Any  # shape, rates -> momenta of the hinges
    torques: Any  # shape, rates, accelerations -> torques
    shape: slice  # of the state


def reduced(robot: Robot) -> Reduced:
    """Of an array on single axes that floats."""
    ca, n = casadi(), Folding(robot).size
    psi, p, u, q, rate, accel, turn = (
        ca.SX.sym(name, k) for name, k in zip("spuqraw", (n, n, n, 4, n, n, 3), strict=True)
    )
    L, N, M = _inertias(ca, robot, psi)
    A = -ca.mtimes(ca.inv_minor(L), N)
    mass = M + ca.mtimes(N.T, A)
    energy = 0.5 * (ca.dot(turn, ca.mtimes(L, turn)) + ca.dot(rate, ca.mtimes(M, rate)))
    push = ca.gradient(energy + ca.dot(turn, ca.mtimes(N, rate)), psi)
    rates = ca.densify(ca.mtimes(ca.inv_minor(mass), p))
    turns = ca.densify(ca.mtimes(A, rates))
    pushed = ca.substitute(ca.substitute(push, turn, turns), rate, rates)
    w, x, y, z = ca.vertsplit(q)
    spin = 0.5 * ca.vertcat(
        -x * turns[0] - y * turns[1] - z * turns[2],
        w * turns[0] + y * turns[2] - z * turns[1],
        w * turns[1] + z * turns[0] - x * turns[2],
        w * turns[2] + x * turns[1] - y * turns[0],
    )
    state, flow = ca.vertcat(q, psi, p), ca.vertcat(spin, rates, u + pushed)
    held = ca.substitute(push, turn, ca.densify(ca.mtimes(A, rate)))
    momenta = ca.mtimes(mass, rate)
    torques = ca.mtimes(mass, accel) + ca.mtimes(ca.jacobian(momenta, psi), rate) - held
    return Reduced(
        ca.Function("motion", [state, u], [flow], {"cse": True}),
        ca.Function("momenta", [psi, rate], [momenta]),
        ca.Function("torques", [psi, rate, accel], [torques]),
        slice(4, 4 + n),
    )


def _inertias(ca: Any, robot: Robot, psi: Any) -> tuple[Any, Any, Any]:
    """L, N, and the sum in M, of the energy ½ ωᵀ L ω + ωᵀ N psi̇ + ½ psi̇ᵀ (...) psi̇, in axes of the base."""
    n = psi.numel()

    def fixed(value: Any) -> Any:
        """Without its zeros, which would be multiplied out."""
        return ca.sparsify(ca.DM(value), ROUND_OFF)

    R, p, J = [ca.SX.eye(3)], [ca.SX(3, 1)], [ca.SX(3, n)]
    for hinge in robot.hinges[1:]:
        i, k = robot.body_index(hinge.parent), robot.joint_place(hinge.name)[2] - 6
        R_WJ, axis = ca.mtimes(R[i], fixed(matrices(np.array(hinge.quaternion)))), fixed(hinge.axis)
        place, turns = p[i] + ca.mtimes(R[i], fixed(hinge.at)), ca.SX(J[i])
        if hinge.kind == JointKind.REVOLUTE:
            turns[:, k] = ca.mtimes(R_WJ, axis)
            R_WJ = ca.mtimes(R_WJ, _turn(ca, axis, psi[k]))
        else:
            place = place + ca.mtimes(R_WJ, axis) * psi[k]
        R, p, J = [*R, R_WJ], [*p, place], [*J, turns]
    centres = [a + ca.mtimes(b, fixed(body.com)) for a, b, body in zip(p, R, robot.bodies, strict=True)]
    total = sum(body.mass for body in robot.bodies)
    middle = sum(body.mass * c for body, c in zip(robot.bodies, centres, strict=True)) / total
    L, N, M = ca.SX(3, 3), ca.SX(3, n), ca.SX(n, n)
    for body, turn, rates, centre in zip(robot.bodies, R, J, centres, strict=True):
        arm = centre - middle
        V, cross = ca.jacobian(arm, psi), ca.sparsify(ca.skew(arm))
        inertia = ca.mtimes([turn, fixed(body.inertia), turn.T])
        L = L + inertia - body.mass * ca.mtimes(cross, cross)
        N = N + ca.mtimes(inertia, rates) + body.mass * ca.mtimes(cross, V)
        M = M + ca.mtimes([rates.T, inertia, rates]) + body.mass * ca.mtimes(V.T, V)
    return L, N, M


def _turn(ca: Any, axis: Any, angle: Any) -> Any:
    """Rodrigues' rotation matrix."""
    K = ca.sparsify(ca.skew(axis))
    return ca.SX.eye(3) + ca.sin(angle) * K + (1.0 - ca.cos(angle)) * ca.mtimes(K, K)
