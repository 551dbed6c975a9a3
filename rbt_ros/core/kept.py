"""Steps whose angular momentum and energy are kept: one at a time, corrected after each, or before it.

`Kept` remembers what must be kept, from the start of a motion or from a change of its mode on. y = [q, v, account];
while nothing acts the account stands still, and the steps go without it.
"""

from functools import partial

import numpy as np

from rbt_ros.core import stabilise as st
from rbt_ros.core.dynamics import coordinates, derivative
from rbt_ros.core.forces import spring_potential
from rbt_ros.core.freetop import principal_axes
from rbt_ros.core.integrate import LIE, Method, all_finite, copy, failure, step
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.kinematics import kinematics, spins
from rbt_ros.core.stabilise import (
    GRADIENT,
    MODE,
    NONE,
    SEED_ORDER,
    A,
    axes_of,
    corrected,
    gradient_turn,
    targets,
    unit4,
)
from rbt_ros.core.stabilise_tree import correct_tree, frozen
from rbt_ros.core.types import (
    COULOMB,
    DAMPING,
    GRAVITY,
    INERTIA,
    NON_FINITE,
    OK,
    SINK,
    Input,
    Model,
    Status,
)
from rbt_ros.core.vec import (
    add,
    qconj,
    qmul,
    quat,
    rotation,
    rotation_vector_quat,
    row6,
    scale,
    sym_solve,
    turn,
    turn_back,
    vec3,
)
from rbt_ros.core.work import CARRY_ROW, Work, workspace

K_E = 1e-10  # of the energy: the default of k_e


@kernel
def correct(model, y, kept, account, work, places):
    """Bring the angular momentum and the energy of y to what they must be. places: scratch, (3, n, 7)."""
    if kept[MODE] == NONE:
        return
    if model.tree.shape[0] > 1:
        correct_tree(model, y, kept, account, work, places[0], places[1], places[2])
    else:
        q, w = corrected(quat(y, 0), kept, account)
        y[0], y[1], y[2], y[3] = q
        y[7], y[8], y[9] = w


@routine
def run_kept(
    tree, body, freedom, world, y, tau, load, signal, data, rows, axes, stage, kept, account, places, good,
    h_ns, table, count, rule, t_ns, ticks,
):  # fmt: skip
    """(code, tick, body) as of `integrate.run_arrays`, each of whose steps is corrected."""
    model, work, input = Model(tree, body, freedom, world), Work(rows, axes, stage), Input(tau, load, signal, data)
    method, h, first = Method(table, count, rule), h_ns / 1e9, kept[SEED_ORDER] == 1.0
    for tick in range(ticks):
        copy(y, good)
        if first:
            correct(model, y, kept, account, work, places)
        step(model, y, input, t_ns + tick * h_ns, h, method, work)
        if not first:
            correct(model, y, kept, account, work, places)
        if not all_finite(y):
            code, culprit = failure(model, y, good)
            return code, tick, culprit
    return OK, ticks, -1


# -------------------------------------------------------------------------------------------------- Lie-Euler
@kernel
def lie_euler_step(model, y, input, t_ns, h, extra, kept, account, work):
    """y of a lone free body after h [s], order 1: L moves by h times the moment, then the attitude by h ω and `extra`.

    L is what is integrated (in the account), ω = I⁻¹ L: so |L| is kept, the energy is not. extra: a rotation vector
    [rad] in body axes.
    """
    ydot, I = work.stage[0], row6(model.body, 0, INERTIA)
    derivative(model, y, input, t_ns, 0.0, work, ydot)
    turning = qmul(qconj(quat(y, 0)), quat(ydot, 0))  # half of ω, and of what friction inside adds to it
    turned = add(scale(2.0 * h, (turning[1], turning[2], turning[3])), extra)
    q = unit4(qmul(quat(y, 0), rotation_vector_quat(turned)))
    for c in range(4, y.shape[0]):
        y[c] += h * ydot[c]
    L_W, _ = targets(kept, account)
    y[0], y[1], y[2], y[3] = q
    y[7], y[8], y[9] = sym_solve(I, turn_back(rotation(q), L_W))


@kernel
def gradient_in_body(y, kept, account):
    """The gradient corrector's rotation vector [rad] for the lone body in y, in body axes."""
    L_W, E = targets(kept, account)
    R_BP = axes_of(kept)
    L_P = turn_back(R_BP, turn_back(rotation(quat(y, 0)), L_W))
    return turn(R_BP, gradient_turn(L_P, vec3(kept, A), E, kept))


@routine
def run_lie_euler(
    tree, body, freedom, world, y, tau, load, signal, data, rows, axes, stage, kept, account, places, good,
    h_ns, t_ns, ticks,
):  # fmt: skip
    """(code, tick, body) as of `integrate.run_arrays`. In the order of the seed GRADIENT turns with the step itself."""
    model, work, input = Model(tree, body, freedom, world), Work(rows, axes, stage), Input(tau, load, signal, data)
    first = kept[SEED_ORDER] == 1.0
    for tick in range(ticks):
        copy(y, good)
        extra = (0.0, 0.0, 0.0)
        if first and kept[MODE] == GRADIENT:
            extra = gradient_in_body(y, kept, account)
        elif first:
            correct(model, y, kept, account, work, places)
        lie_euler_step(model, y, input, t_ns + tick * h_ns, h_ns / 1e9, extra, kept, account, work)
        if not first:
            correct(model, y, kept, account, work, places)
        if not all_finite(y):
            copy(good, y)
            return NON_FINITE, tick, 0
    return OK, ticks, -1


# ------------------------------------------------------------------------------------------------- from Python
@routine
def correct_arrays(tree, body, freedom, world, y, rows, axes, stage, kept, account, places):
    """`correct`, for a call from Python."""
    correct(Model(tree, body, freedom, world), y, kept, account, Work(rows, axes, stage), places)


@routine
def corrected_rotation(q, kept, account):
    """(q_WB, w_WB_B) of a lone body: see `stabilise.corrected`."""
    return corrected(q, kept, account)


@routine
def momentum_and_energy(model, y, work, places):
    """(L about the CoM [N·m·s], energy of the motion as seen from there and of springs [J], P [kg·m/s]), world axes."""
    nq = coordinates(model)
    q, v = y[:nq], y[nq : nq + model.freedom.shape[0]]
    kinematics(model, q, v, work, places[0], places[1])
    spins(model, q, v, work, places[2])
    m, _, v_C, _, L, T = frozen(model, places[0], places[1], places[2])
    return L, T + spring_potential(model, q), scale(m, v_C)


class Kept:
    """The memory of a stabilised run."""

    def __init__(self, model, base, mode, seed_order, k_e, k1, k2, i0):
        """base: the stepper of an integrator that takes its ticks in Python, or None for those compiled here.

        k_e [J], k1, k2, i0: see `stabilise.next_gain`; k_e None: K_E of the energy at the start.
        """
        n = len(model.tree)
        self._base, self._k_e = base, k_e
        falls = n > 1 and model.world[GRAVITY : GRAVITY + 3].any()
        self._quiet = not (falls or model.freedom[:, [DAMPING, COULOMB, SINK]].any())
        self._quiet_work = workspace(model)
        self._kept, self._places = np.zeros(st.KEPT_SIZE), np.zeros((3, n, 7))
        self._kept[: st.GAIN] = mode, seed_order, 0.0, k1, k2, i0
        if n == 1:
            moments, columns = principal_axes(tuple(model.body[0, INERTIA : INERTIA + 6].tolist()))
            self._kept[st.A : st.A + 3] = [1.0 / m[0] for m in moments]
            self._kept[st.AXES : st.AXES + 9] = [columns[c][r][0] for r in range(3) for c in range(3)]

    def start(self, model, y, work):
        """Keep the angular momentum and the energy of y."""
        self._quiet_work.stage[CARRY_ROW] = 0.0
        L, E, P = momentum_and_energy(model, y, work, self._places)
        account = self._account = y[-st.ACCOUNT :].copy()
        self._kept[st.TOLERANCE] = K_E * abs(E) if self._k_e is None else self._k_e
        self._kept[st.GAIN] = self._kept[st.LEAST_GAIN]
        self._kept[st.SPIN : st.SPIN + 3] = np.subtract(L, account[st.TURNING : st.TURNING + 3])
        self._kept[st.MOMENTUM : st.MOMENTUM + 3] = np.subtract(P, account[st.IMPULSE : st.IMPULSE + 3])
        self._kept[st.ENERGY] = E - (account[st.INNER_WORK] - account[st.DISSIPATED])

    def memory(self):
        """What is kept, and what rounding has kept back where nothing acts."""
        return [*self._kept.tolist(), *self._quiet_work.stage[CARRY_ROW].tolist()]

    def recall(self, memory, *_):
        """Keep what another one kept."""
        self._kept[:], self._quiet_work.stage[CARRY_ROW] = memory[: st.KEPT_SIZE], memory[st.KEPT_SIZE :] or 0.0

    def corrected_flight(self, q, w):
        """For `torque_free.Flight`, on which nothing acts: (q, w) corrected, under the account of its start."""
        return corrected_rotation(q, self._kept, self._account)

    def stepper(self, model, y, input, h_ns, method, work):
        """`advance` of an integrator with only (t_ns, ticks) left to be given."""
        account = y[-st.ACCOUNT :]
        if self._quiet and not (input.tau.any() or len(input.load) or len(input.signal)):
            y, work = y[: -st.ACCOUNT], self._quiet_work
        memory = (self._kept, account, self._places)
        if self._base is None:
            run, rest = (run_lie_euler, ()) if method.rule == LIE else (run_kept, method)
            return partial(run, *model, y, *input, *work, *memory, np.empty(len(y)), h_ns, *rest)
        go_on = self._base(model, y, input, h_ns, method, work)

        def advance(t_ns, ticks):
            for tick in range(ticks):
                status = go_on(t_ns + tick * h_ns, 1)
                if status[0] != OK:
                    return Status(status[0], tick, status[2])
                correct_arrays(*model, y, *work, *memory)
            return Status(OK, ticks, -1)

        return advance
