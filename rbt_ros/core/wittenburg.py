"""Forward dynamics by Wittenburg's method: a graph, augmented bodies, A q̈ = B. The readable second formulation.

Wittenburg, Dynamics of Systems of Rigid Bodies (1977), ch. 5; docs/wittenburg.md goes through it letter by letter.
"i <= j": body i lies on the way from the world to body j, so that T_ij = -1. All vectors in world axes.

    Ω = pᵀ q̇,    ω = -Tᵀ Ω,    ω̇ = -Tᵀ (pᵀ q̈ + f)
    A = (pT) K (pT)ᵀ,    B = -(pT) (K Tᵀ f + M' + M) + Y

The book's hinges turn only. Here a hinge may also slide: its vector on the parent then changes, kᵀ q̇ is its velocity,
and A, B get the terms with h and T m Tᵀ. A turn has k = 0, a slide has p = 0: no case is treated apart.
The cost is O(n³): for teaching, and for checking the recursion of `articulated.py`, which has only hinges and forces in
common with this. The letters are explained in `graph.py`.
"""

from rbt_ros.core.forces import attraction_wrench, constant_wrench, efforts
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.joints import axes, half_turns, place, rates, twist
from rbt_ros.core.linear import solve_symmetric
from rbt_ros.core.types import (
    ATTRACTION,
    ATTRACTOR,
    COM,
    GRAVITY,
    INERTIA,
    KIND,
    LOAD_BODY,
    MASS,
    NV,
    PARENT,
    JointKind,
    V,
)
from rbt_ros.core.vec import (
    add,
    cross,
    dot,
    put3,
    put4,
    put9,
    qmul,
    rotation,
    row3,
    row4,
    row6,
    row9,
    scale,
    sub,
    sub_outer,
    sym_rows,
    sym_turn,
    transpose,
    turn,
    turn_back,
    vec3,
)
from rbt_ros.core.work import EFFORT

NONE = (0.0, 0.0, 0.0)
ZERO = (NONE, NONE, NONE)
E = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@kernel
def at(a, i, j):
    """The 3-vector a[i, j]."""
    return (a[i, j, 0], a[i, j, 1], a[i, j, 2])


@kernel
def put(a, i, j, x):
    """Write the 3-vector x into a[i, j]."""
    a[i, j, 0], a[i, j, 1], a[i, j, 2] = x[0], x[1], x[2]


# ------------------------------------------------------------------------------------------- where everything is
@routine
def hinge_vectors(model, q, work, x):
    """Fill quat, R, c0, c: the transformation matrices of the hinges multiplied outward, and the hinge vectors."""
    half_turns(model, q, work)
    for a in range(model.tree.shape[0]):
        p = model.tree[a, PARENT]
        q_WP, R_WP, com_P = (1.0, 0.0, 0.0, 0.0), E, NONE
        if p >= 0:
            q_WP, R_WP, com_P = row4(x.quat, p, 0), row9(x.R, p, 0), row3(model.body, p, COM)
        q_PB, p_PB = place(model, a, q, work)
        q_WB, arm = qmul(q_WP, q_PB), turn(R_WP, p_PB)
        R_WB = rotation(q_WB)
        put4(x.quat, a, 0, q_WB)
        put9(x.R, a, 0, R_WB)
        put(x.c, a, a, scale(-1.0, turn(R_WB, row3(model.body, a, COM))))
        if p < 0:
            put3(x.c0, a, 0, arm)
        else:
            put(x.c, p, a, sub(arm, turn(R_WP, com_P)))


@routine
def freedoms(model, v, x):
    """Fill p, k, ϕ for v as the engine has it: rates of turns and slides; body-axis ω of what turns about a point."""
    for a in range(model.tree.shape[0]):
        p, kind, j = model.tree[a, PARENT], model.tree[a, KIND], model.tree[a, V]
        R_WB, R_WP = row9(x.R, a, 0), E
        if p >= 0:
            R_WP = row9(x.R, p, 0)
        put3(x.phi, a, 0, NONE)
        if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
            columns = transpose(R_WB)
            for c in range(3):
                put3(x.p, j + c, 0, columns[c])
                if kind == JointKind.FREE:
                    put3(x.k, j + 3 + c, 0, E[c])
        else:
            axes(model, a, R_WP, R_WB, x.p, 0)
            for l in range(j, j + NV[kind]):
                turning, sliding = twist(model, l, x.p, 0)
                put3(x.p, l, 0, turning)
                put3(x.k, l, 0, sliding)
            put3(x.phi, a, 0, successive_turns(x.p, v, j, NV[kind]))


@kernel
def successive_turns(p, v, j, count):
    """ϕ = Σ_{l<m} p_l × p_m q̇_l q̇_m [rad/s²]: Σ ṗ q̇ as seen in the child, of turns one after the other.

    Each turn carries the axes of those after it along, so that in the child's axes ṗ_l = p_l × Σ_{m>l} p_m q̇_m.
    """
    phi = NONE
    for m in range(count):
        for l in range(m):
            phi = add(phi, scale(v[j + l] * v[j + m], cross(row3(p, j + l, 0), row3(p, j + m, 0))))
    return phi


# ------------------------------------------------------------------------------------------- how everything moves
@routine
def velocities(model, v, x):
    """Fill Ω, slide, ω = -Tᵀ Ω, f = ϕ + ω × Ω, g = 2 ω⁺ × slide."""
    n = model.tree.shape[0]
    for a in range(n):
        j, Omega, slide = model.tree[a, V], NONE, NONE
        for l in range(j, j + NV[model.tree[a, KIND]]):
            Omega, slide = add(Omega, scale(v[l], row3(x.p, l, 0))), add(slide, scale(v[l], row3(x.k, l, 0)))
        put3(x.Omega, a, 0, Omega)
        put3(x.slide, a, 0, slide)
    for i in range(n):
        put3(x.omega, i, 0, scale(-1.0, column_sum(x.T, i, x.Omega)))
    for a in range(n):
        omega, Omega = row3(x.omega, a, 0), row3(x.Omega, a, 0)
        put3(x.f, a, 0, add(row3(x.phi, a, 0), cross(omega, Omega)))
        put3(x.g, a, 0, scale(2.0, cross(sub(omega, Omega), row3(x.slide, a, 0))))  # ω⁺ = ω - Ω


@kernel
def column_sum(T, i, y):
    """(Tᵀ y)_i = Σ_a T_ai y_a of vectors y_a."""
    total = NONE
    for a in range(T.shape[0]):
        total = add(total, scale(T[a, i], row3(y, a, 0)))
    return total


# ------------------------------------------------------------------------------------------- augmented bodies
@routine
def augmented_bodies(model, x):
    """Fill d_ij = Σ_a T_aj S_ia c_ia, b_i0 = Σ_j m_j d_ij / M, h, K and T m Tᵀ."""
    n = model.tree.shape[0]
    M = total_mass(model)
    for i in range(n):
        b = NONE
        for j in range(n):
            d = NONE
            for a in range(n):
                d = add(d, scale(x.T[a, j] * x.S[i, a], at(x.c, i, a)))
            put(x.d, i, j, d)
            b = add(b, scale(model.body[j, MASS] / M, d))
        put3(x.b, i, 0, b)
    for i in range(n):
        for a in range(n):
            h, carried = NONE, 0.0
            for k in range(n):
                h = add(h, scale(model.body[k, MASS] * x.T[a, k], at(x.d, i, k)))
                carried += x.T[i, k] * model.body[k, MASS] * x.T[a, k]
            put(x.h, i, a, h)
            x.mass[i, a] = carried
        for j in range(n):
            put9(x.K[i], j, 0, augmented_inertia(model, M, i, j, x))


@kernel
def total_mass(model):
    """M [kg]."""
    M = 0.0
    for i in range(model.tree.shape[0]):
        M += model.body[i, MASS]
    return M


@routine
def augmented_inertia(model, M, i, j, x):
    """K_ij [kg·m²]: J_i + Σ m_k (d_ik² E - d_ik d_ik) for i = j; off the diagonal M times d and b of the inner one."""
    if i == j:
        K = sym_rows(sym_turn(row9(x.R, i, 0), row6(model.body, i, INERTIA)))
        for k in range(model.tree.shape[0]):
            d = at(x.d, i, k)
            K = add_dyad(K, model.body[k, MASS], d, d)
        return K
    if x.T[i, j] != 0.0:  # i < j
        return add_dyad(ZERO, M, row3(x.b, j, 0), at(x.d, i, j))
    if x.T[j, i] != 0.0:  # j < i
        return add_dyad(ZERO, M, at(x.d, j, i), row3(x.b, i, 0))
    return ZERO


@kernel
def add_dyad(K, m, a, b):
    """K + m (a·b E - a b)."""
    s = m * dot(a, b)
    K = sub_outer(K, scale(m, a), b)
    return (add(K[0], (s, 0.0, 0.0)), add(K[1], (0.0, s, 0.0)), add(K[2], (0.0, 0.0, s)))


# ------------------------------------------------------------------------------------------- forces
@routine
def applied(model, input, t_ns, s, x):
    """Fill F and M: gravity, attraction, loads at s [s] after t_ns."""
    mu = model.world[ATTRACTION]
    for i in range(model.tree.shape[0]):
        m = model.body[i, MASS]
        F, M = scale(m, vec3(model.world, GRAVITY)), NONE
        if mu != 0.0:
            I_W = sym_turn(row9(x.R, i, 0), row6(model.body, i, INERTIA))
            n, attraction = attraction_wrench(mu, m, I_W, sub(com_position(x, i), vec3(model.world, ATTRACTOR)))
            F, M = add(F, attraction), add(M, n)
        put3(x.F, i, 0, F)
        put3(x.M, i, 0, M)
    for l in range(input.load.shape[0]):
        i = int(input.load[l, LOAD_BODY])
        n, F = constant_wrench(model, input, l, t_ns, s, row9(x.R, i, 0))
        n = add(n, cross(at(x.c, i, i), F))  # it came about the hinge point, which lies at c_ii from the CoM
        put3(x.F, i, 0, add(row3(x.F, i, 0), F))
        put3(x.M, i, 0, add(row3(x.M, i, 0), n))


@kernel
def com_position(x, i):
    """r_i = -Σ_a T_ai S_0a c_0a - Σ_j d_ji [m]: from the world's origin to the CoM of body i."""
    r = NONE
    for a in range(x.T.shape[0]):
        r = sub(r, add(scale(x.T[a, i] * x.S0[a], row3(x.c0, a, 0)), at(x.d, a, i)))
    return r


@kernel
def centripetal(omega, a):
    """ω × (ω × a)."""
    return cross(omega, cross(omega, a))


@routine
def turning_moments(model, x):
    """Fill M'_i = -ω_i × K_i ω_i - M Σ_{i<j} d_ij × (ω_j × (ω_j × b_j0)) - M b_i0 × Σ_{j<i} ω_j × (ω_j × d_ji)
    - Σ_{i<=j} d_ij × F_j."""
    n, M = model.tree.shape[0], total_mass(model)
    for i in range(n):
        omega, b = row3(x.omega, i, 0), row3(x.b, i, 0)
        M1 = scale(-1.0, cross(omega, turn(row9(x.K[i], i, 0), omega)))
        for j in range(n):
            omega_j = row3(x.omega, j, 0)
            if x.T[i, j] != 0.0:  # i <= j
                M1 = sub(M1, cross(at(x.d, i, j), row3(x.F, j, 0)))
                if i != j:
                    M1 = sub(M1, scale(M, cross(at(x.d, i, j), centripetal(omega_j, row3(x.b, j, 0)))))
            elif x.T[j, i] != 0.0:  # j < i
                M1 = sub(M1, scale(M, cross(b, centripetal(omega_j, at(x.d, j, i)))))
        put3(x.M1, i, 0, M1)


# ------------------------------------------------------------------------------------------- A q̈ = B
@routine
def left_side(model, x):
    """Fill pT, pTK and A = (pT) K (pT)ᵀ - (pT)·(h × kᵀ) - [(pT)·(h × kᵀ)]ᵀ + k (T m Tᵀ) kᵀ."""
    n = model.tree.shape[0]
    for a in range(n):
        for l in range(model.tree[a, V], model.tree[a, V] + NV[model.tree[a, KIND]]):
            for i in range(n):
                put(x.pT, l, i, scale(x.T[a, i], row3(x.p, l, 0)))
            for j in range(n):
                pTK = NONE
                for i in range(n):
                    pTK = add(pTK, turn_back(row9(x.K[i], j, 0), at(x.pT, l, i)))
                put(x.pTK, l, j, pTK)
    for a in range(n):
        for l in range(model.tree[a, V], model.tree[a, V] + NV[model.tree[a, KIND]]):
            for c in range(n):
                for m in range(model.tree[c, V], model.tree[c, V] + NV[model.tree[c, KIND]]):
                    k_l, k_m = row3(x.k, l, 0), row3(x.k, m, 0)
                    A = x.mass[a, c] * dot(k_l, k_m)
                    for j in range(n):
                        A += dot(at(x.pTK, l, j), at(x.pT, m, j))
                        A -= dot(at(x.pT, l, j), cross(at(x.h, j, c), k_m))
                        A -= dot(at(x.pT, m, j), cross(at(x.h, j, a), k_l))
                    x.A[l, m] = A


@routine
def right_side(model, x):
    """Fill B = -(pT) (K Tᵀ f + M' + M - h × g) + Y; of a slide k·[Σ_j (Tᵀf)_j × h_ja - ω_j × (ω_j × h_ja) - m g - T F].
    Each freedom is one or the other."""
    n = model.tree.shape[0]
    for a in range(n):
        # what the slides of hinge a feel
        along = NONE
        for j in range(n):
            h = at(x.h, j, a)
            along = add(along, sub(cross(column_sum(x.T, j, x.f), h), centripetal(row3(x.omega, j, 0), h)))
            along = sub(along, scale(x.mass[a, j], row3(x.g, j, 0)))
            along = sub(along, scale(x.T[a, j], row3(x.F, j, 0)))
        for l in range(model.tree[a, V], model.tree[a, V] + NV[model.tree[a, KIND]]):
            B = x.Y[l] + dot(row3(x.k, l, 0), along)
            for i in range(n):
                moment = add(row3(x.M1, i, 0), row3(x.M, i, 0))
                for c in range(n):
                    moment = sub(moment, cross(at(x.h, i, c), row3(x.g, c, 0)))
                B -= dot(at(x.pTK, l, i), column_sum(x.T, i, x.f)) + dot(at(x.pT, l, i), moment)
            x.B[l] = B


@routine
def solve(model, v, input, t_ns, s, x, vdot):
    """q̈ (nv,) when quat to c, p, k, ϕ and Y are filled."""
    velocities(model, v, x)
    augmented_bodies(model, x)
    applied(model, input, t_ns, s, x)
    turning_moments(model, x)
    left_side(model, x)
    right_side(model, x)
    solve_symmetric(x.A, x.B, x.L, vdot)


@routine
def forward_dynamics(model, q, v, input, t_ns, s, work, x, vdot):
    """Fill vdot (nv,) at q, v, s [s] after t_ns, under `input`: what the articulated bodies give too. x: `matrices`."""
    hinge_vectors(model, q, work, x)
    freedoms(model, v, x)
    efforts(model, q, v, input, t_ns, s, work)
    for l in range(v.shape[0]):
        x.Y[l] = work.freedoms[l, EFFORT]
    solve(model, v, input, t_ns, s, x, vdot)


@routine
def derivative(model, y, input, t_ns, s, work, x, ydot):
    """Fill ydot = [q̇, v̇] at y = [q, v], s [s] after t_ns, under `input`."""
    nq, nv = y.shape[0] - model.freedom.shape[0], model.freedom.shape[0]
    q, v, vdot = y[:nq], y[nq : nq + nv], ydot[nq : nq + nv]
    rates(model, q, v, ydot)
    forward_dynamics(model, q, v, input, t_ns, s, work, x, vdot)
