"""What acts on bodies and freedoms besides inertia: gravity, springs, friction, loads."""

import math

from rbt_ros.core.jit import kernel
from rbt_ros.core.joints import twist
from rbt_ros.core.lanes import common, larger, root
from rbt_ros.core.laws import call
from rbt_ros.core.signals import driven_effort, signal_value
from rbt_ros.core.types import (
    ALONE,
    ATTRACTION,
    ATTRACTOR,
    COM,
    COULOMB,
    CREEP,
    DAMPING,
    DRIVES,
    GRAVITY,
    INERTIA,
    KIND,
    LOAD_BODY,
    LOAD_DATA,
    LOAD_FORCE,
    LOAD_FRAME,
    LOAD_LAW,
    LOAD_MOMENT,
    LOAD_OTHER,
    LOAD_OTHER_POINT,
    LOAD_POINT,
    LOAD_SIDE,
    LOAD_SIGNAL,
    LOAD_STORES,
    MASS,
    NV,
    PARENT,
    REST,
    SINK,
    SINK_FLOOR,
    STIFFNESS,
    WORLD_AXES,
    JointKind,
    Q,
    V,
)
from rbt_ros.core.vec import (
    add,
    cross,
    dot,
    put3,
    qmul,
    quat,
    rotation,
    row3,
    row4,
    row6,
    row9,
    scale,
    sub,
    sym_mul,
    sym_solve,
    sym_turn,
    turn,
    vec3,
)
from rbt_ros.core.work import ARM, AXIS_W, EFFORT, FORCE, MOMENT, POS, ROT, SPIN


# -------------------------------------------------------------------------------------------------- freedoms
@kernel
def friction(model, j, u):
    """Effort [N·m, N] against the rate u of freedom j: viscous -d u, Coulomb -c u / sqrt(u² + s²).

    The smooth step of width s = CREEP keeps the order of the integrator; at rest a load below c makes it creep by less
    than s, which is the price of not sticking.
    """
    tau = -model.freedom[j, DAMPING] * u
    if common(model.freedom[j, COULOMB]) != 0.0:
        s = model.freedom[j, CREEP]
        tau -= model.freedom[j, COULOMB] * u / root(u * u + s * s)
    return tau


@kernel
def ball_spring(kx, ky, kz, q):
    """Torque [N·m] in B of a spring in a spherical hinge with the potential 2 (kx x² + ky y² + kz z²), q = w x y z.

    For small angles ½ Σ k angle²; about one axis the torque is k sin(angle). Smooth everywhere, no preferred order.
    """
    w, x, y, z = q
    return (
        -2.0 * (kx * x * w + (ky - kz) * y * z),
        -2.0 * (ky * y * w + (kz - kx) * z * x),
        -2.0 * (kz * z * w + (kx - ky) * x * y),
    )


@kernel
def add_spring(model, j, at, work):
    """Add the spring of freedom j, which is at that coordinate, to its effort."""
    work.freedoms[j, EFFORT] -= model.freedom[j, STIFFNESS] * (at - model.freedom[j, REST])


@kernel
def springs(model, i, q, work):
    """Add the springs of hinge i to its efforts: -k (q - rest) per freedom. A free body has none."""
    kind, k, j = model.tree[i, KIND], model.tree[i, Q], model.tree[i, V]
    if kind == JointKind.FREE:
        return
    if kind == JointKind.REVOLUTE:
        add_spring(model, j, q[k], work)
        return
    if kind == JointKind.SPHERICAL:
        stiffness = (model.freedom[j, STIFFNESS], model.freedom[j + 1, STIFFNESS], model.freedom[j + 2, STIFFNESS])
        tau = ball_spring(stiffness[0], stiffness[1], stiffness[2], quat(q, k))
        for c in range(3):
            work.freedoms[j + c, EFFORT] += tau[c]
        return
    for c in range(NV[kind]):
        add_spring(model, j + c, q[k + c], work)


@kernel
def efforts(model, q, v, input, t_ns, s, work):
    """Fill column EFFORT of every freedom: inputs, friction, springs."""
    for j in range(model.freedom.shape[0]):
        work.freedoms[j, EFFORT] = input.tau[j] + friction(model, j, v[j])
    for k in range(input.signal.shape[0]):
        j = input.signal[k, DRIVES]
        if j >= 0:
            work.freedoms[j, EFFORT] += driven_effort(input, k, q, v, t_ns, s)
    for i in range(model.tree.shape[0]):
        springs(model, i, q, work)


@kernel
def spring_potential(model, q):
    """½ k (q - rest)² of all freedoms, 2 Σ k x² of spherical hinges [J]."""
    U = 0.0
    for i in range(model.tree.shape[0]):
        kind, k, j = model.tree[i, KIND], model.tree[i, Q], model.tree[i, V]
        if kind == JointKind.FREE:
            continue
        for c in range(NV[kind]):
            if kind == JointKind.SPHERICAL:
                U += 2.0 * model.freedom[j + c, STIFFNESS] * q[k + 1 + c] * q[k + 1 + c]
            else:
                stretch = q[k + c] - model.freedom[j + c, REST]
                U += 0.5 * model.freedom[j + c, STIFFNESS] * stretch * stretch
    return U


# -------------------------------------------------------------------------------------------------- bodies
@kernel
def take_off(i, work, n, f):
    """What acts on body i, the parent need not exert: moment n about its origin and force f, world axes."""
    put3(work.bodies, i, MOMENT, sub(row3(work.bodies, i, MOMENT), n))
    put3(work.bodies, i, FORCE, sub(row3(work.bodies, i, FORCE), f))


@kernel
def attraction_wrench(mu, m, I_W, d):
    """Moment about the CoM and force of a point mass at -d from the CoM: the gradient of `attraction_potential`.

    f = -mu m d/r³ - (3 mu/2) (tr I d + 2 I d)/r⁵ + (15 mu/2) (d·I d) d/r⁷, n = 3 mu d × I d / r⁵.
    The force has the second-order term that belongs to the gravity-gradient torque, so that energy and angular momentum
    about the attracting mass are kept exactly. Hughes, Spacecraft Attitude Dynamics (1986), section 8.1.
    """
    r2 = dot(d, d)
    s = mu / (r2 * root(r2))
    Id, trace = sym_mul(I_W, d), I_W[0] + I_W[1] + I_W[2]
    along = -s * (m + (1.5 * trace - 7.5 * dot(d, Id) / r2) / r2)
    return scale(3.0 * s / r2, cross(d, Id)), add(scale(along, d), scale(-3.0 * s / r2, Id))


@kernel
def attraction_potential(mu, m, I_W, d):
    """-mu (m/r + tr I / (2 r³) - 3 d·I d / (2 r⁵)) [J]: a body in the field of a point mass, to second order."""
    r2 = dot(d, d)
    r = math.sqrt(r2)
    trace = I_W[0] + I_W[1] + I_W[2]
    return -mu * (m / r + 0.5 * (trace - 3.0 * dot(d, sym_mul(I_W, d)) / r2) / (r2 * r))


@kernel
def attraction(model, work):
    """Inverse-square gravity of the point mass of Model.world on every body."""
    mu = model.world[ATTRACTION]
    if mu == 0.0:
        return
    for i in range(model.tree.shape[0]):
        R_WB = row9(work.bodies, i, ROT)
        c, I_W = turn(R_WB, row3(model.body, i, COM)), sym_turn(R_WB, row6(model.body, i, INERTIA))
        d = sub(add(row3(work.bodies, i, POS), c), vec3(model.world, ATTRACTOR))
        n, f = attraction_wrench(mu, model.body[i, MASS], I_W, d)
        take_off(i, work, add(n, cross(c, f)), f)


@kernel
def gravity_potential(model, pose):
    """Uniform gravity -m g·p and attraction, of all bodies [J]."""
    U, g_W, mu = 0.0, vec3(model.world, GRAVITY), model.world[ATTRACTION]
    for i in range(model.tree.shape[0]):
        m, R_WB = model.body[i, MASS], rotation(row4(pose, i, 0))
        p_WC = add(row3(pose, i, 4), turn(R_WB, row3(model.body, i, COM)))
        U -= m * dot(g_W, p_WC)
        if mu != 0.0:
            I_W = sym_turn(R_WB, row6(model.body, i, INERTIA))
            U += attraction_potential(mu, m, I_W, sub(p_WC, vec3(model.world, ATTRACTOR)))
    return U


@kernel
def constant_wrench(model, input, k, t_ns, s, R_WB):
    """Moment about the body's origin and force, world axes, of row k of Input.load, which has no law."""
    n, f = row3(input.load, k, LOAD_MOMENT), row3(input.load, k, LOAD_FORCE)
    gain = load_gain(input, k, t_ns, s)
    n, f = scale(gain, n), scale(gain, f)
    if common(input.load[k, LOAD_FRAME]) != WORLD_AXES:
        n, f = turn(R_WB, n), turn(R_WB, f)
    i = int(common(input.load[k, LOAD_BODY]))
    p_BQ_W = turn(R_WB, add(row3(model.body, i, COM), row3(input.load, k, LOAD_POINT)))
    return add(n, cross(p_BQ_W, f)), f


@kernel
def load_gain(input, k, t_ns, s):
    """What row k of Input.load is times."""
    signal = int(common(input.load[k, LOAD_SIGNAL])) - 1
    return signal_value(input, signal, t_ns, s) if signal >= 0 else 1.0


@kernel
def place_of(model, i, point, v, work):
    """Body i, or the world for -1, at that point as laws see it: the numbers of `laws.Place`."""
    R, w, inside = row9(work.bodies, i, ROT), row3(work.bodies, i, SPIN), 1.0 if i >= 0 else 0.0
    r = turn(R, add(scale(inside, row3(model.body, i, COM)), point))
    p, moves = add(row3(work.bodies, i, POS), r), add(origin_velocity(model, i, v, work), cross(w, r))
    I = row6(model.body, i, INERTIA)
    return (
        *p,
        *moves,
        *w,
        *R[0],
        *R[1],
        *R[2],
        inside * model.body[i, MASS],
        *scale(inside, I[:3]),
        *scale(inside, I[3:]),
    )


@kernel
def law_wrench(model, input, k, v, t_ns, s, work):
    """What row k of Input.load, which has a law, does: see `load_wrench`."""
    i, other = int(common(input.load[k, LOAD_BODY])), int(common(input.load[k, LOAD_OTHER]))
    at, start = common(input.load[k, LOAD_LAW]), int(common(input.load[k, LOAD_DATA]))
    t, side = t_ns / 1e9 + s, common(input.load[k, LOAD_SIDE])
    a = place_of(model, i, row3(input.load, k, LOAD_POINT), v, work)
    if other == ALONE:
        x = call(at, input.data, start, a, t)
    else:
        b = place_of(model, other, row3(input.load, k, LOAD_OTHER_POINT), v, work)
        if side < 0.0:
            a, b = b, a
        x = call(at, input.data, start, (*a, *b), t)
    gain = side * load_gain(input, k, t_ns, s)
    n, f = scale(gain, (x[0], x[1], x[2])), scale(gain, (x[3], x[4], x[5]))
    # in the point of a, on both
    return add(n, cross(sub((a[0], a[1], a[2]), row3(work.bodies, i, POS)), f)), f, load_gain(input, k, t_ns, s) * x[6]


@kernel
def load_wrench(model, input, k, v, t_ns, s, work):
    """Moment about the body's origin and force, world axes, of row k of Input.load; and, where there is a potential,
    the power that it takes for good."""
    if common(input.load[k, LOAD_LAW]) != 0.0:
        return law_wrench(model, input, k, v, t_ns, s, work)
    i = int(common(input.load[k, LOAD_BODY]))
    n, f = constant_wrench(model, input, k, t_ns, s, row9(work.bodies, i, ROT))
    return n, f, 0.0 * f[0]


@kernel
def body_forces(model, v, input, t_ns, s, work):
    """All that acts on bodies besides uniform gravity: attraction, and the loads of Input. After the outward pass."""
    attraction(model, work)
    for k in range(input.load.shape[0]):
        n, f, _ = load_wrench(model, input, k, v, t_ns, s, work)
        take_off(int(common(input.load[k, LOAD_BODY])), work, n, f)


# ------------------------------------------------------------------------- what changes momentum and energy
@kernel
def dissipated_power(model, v):
    """Power [W] that dampers and friction take."""
    power = 0.0
    for j in range(model.freedom.shape[0]):
        power -= friction(model, j, v[j]) * v[j]
    return power


@kernel
def account(model, q, v, input, t_ns, s, work, out):
    """Fill out = [power of efforts and loads, power that friction takes [W]].

    If out is longer, and the model one floating tree: also the moment [N·m] about its centre of mass C, world axes, of
    loads and of its root's damping, the power of efforts and loads as seen from C, and the force [N] with gravity: what
    changes the angular momentum about C, the energy of all motion about it, and the momentum.
    """
    p_C, v_C, moment, force = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if out.shape[0] > 2:
        m, p_C, v_C = centre(model, v, work)
        force = scale(m, vec3(model.world, GRAVITY))
        drag = (friction(model, 0, v[0]), friction(model, 1, v[1]), friction(model, 2, v[2]))
        moment = turn(row9(work.bodies, 0, ROT), drag)
    power = 0.0
    for j in range(model.freedom.shape[0]):
        power += input.tau[j] * v[j]
    for k in range(input.signal.shape[0]):
        j = input.signal[k, DRIVES]
        if j >= 0:
            power += driven_effort(input, k, q, v, t_ns, s) * v[j]
    inner, taken = power, dissipated_power(model, v)
    for k in range(input.load.shape[0]):
        i = int(common(input.load[k, LOAD_BODY]))
        n, f, loss = load_wrench(model, input, k, v, t_ns, s, work)
        turning, v_WB = dot(n, row3(work.bodies, i, SPIN)), origin_velocity(model, i, v, work)
        if common(input.load[k, LOAD_STORES]) == 0.0:
            power += turning + dot(f, v_WB)
        elif common(input.load[k, LOAD_SIDE]) > 0.0:
            taken += loss
        inner += turning + dot(f, sub(v_WB, v_C))
        moment = add(moment, add(n, cross(sub(row3(work.bodies, i, POS), p_C), f)))
        force = add(force, f)
    out[0], out[1] = power, taken
    if out.shape[0] > 2:
        out[2], out[3], out[4] = moment
        out[5] = inner
        out[6], out[7], out[8] = force


@kernel
def centre(model, v, work):
    """Mass, p_WC, v_WC of the whole, world axes, from the rows of the outward pass."""
    m, p_C, v_C = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(model.tree.shape[0]):
        m_i, c = model.body[i, MASS], turn(row9(work.bodies, i, ROT), row3(model.body, i, COM))
        v_i = add(origin_velocity(model, i, v, work), cross(row3(work.bodies, i, SPIN), c))
        m, p_C = m + m_i, add(p_C, scale(m_i, add(row3(work.bodies, i, POS), c)))
        v_C = add(v_C, scale(m_i, v_i))
    return m, scale(1.0 / m, p_C), scale(1.0 / m, v_C)


@kernel
def origin_velocity(model, i, v, work):
    """v_WB of body i, world axes, from the rows of the outward pass: Σ w_WP × r + slides down to the world."""
    total = (0.0, 0.0, 0.0)
    b = i
    while b >= 0:
        p, kind, j = model.tree[b, PARENT], model.tree[b, KIND], model.tree[b, V]
        if kind == JointKind.FREE:
            return add(total, vec3(v, j + 3))
        total = add(total, cross(row3(work.bodies, p, SPIN), row3(work.bodies, b, ARM)))
        for k in range(NV[kind]):
            _, slide = twist(model, j + k, work.freedoms, AXIS_W)
            total = add(total, scale(v[j + k], slide))
        b = p
    return total


# ---------------------------------------------------------------------------------------------- friction inside a body
@kernel
def inner_friction(model, q, v, ydot):
    """Add to ydot = [q̇, v̇] of a lone free body what friction inside it does; the power [W] that it takes.

    The body turns by an extra δω = -k (ω × L) / |ω × L|² in addition to ω: L stays, dE/dt = -k, until the body spins
    about its axis of the largest moment. Close to that, |ω × L|² below SINK_FLOOR L², the power fades, so that no step
    asks for more than there is.
    """
    I, w = row6(model.body, 0, INERTIA), vec3(v, 0)
    L = sym_mul(I, w)
    across = cross(w, L)
    steep, floor = dot(across, across), model.world[SINK_FLOOR] * dot(L, L)
    share = model.freedom[0, SINK] / larger(larger(steep, floor), 1e-200)  # at rest there is nothing to take
    extra = scale(-share, across)
    turned, wdot = qmul(quat(q, 0), (0.0, extra[0], extra[1], extra[2])), sym_solve(I, cross(L, extra))
    for c in range(4):
        ydot[c] += 0.5 * turned[c]
    for c in range(3):
        ydot[7 + c] += wdot[c]
    return share * steep
