"""Forward dynamics by articulated bodies, O(n): M(q) v̇ = τ - C(q, v) without ever forming M.

Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 7, in three blocks of 3x3 instead of one 6x6. Seen from its
inboard hinge, a body with all that hangs on it answers an acceleration (angular ẇ, linear a of its origin) with

    moment = I ẇ + H a + n        I, M symmetric; (n, f): the bias wrench, what is needed at v̇ = 0
    force  = Hᵀ ẇ + M a + f

ẇ and a count from the motion at v̇ = 0, which the outward pass has computed, and the bias is that of Newton and Euler:
so no velocities appear in the elimination. A hinge of single-axis freedoms loses them one at a time, the outermost
first, as Gauss eliminates unknowns. A spherical hinge lets no moment pass: its body hands on nothing but a 3x3 mass.
"""

from rbt_ros.core.jit import kernel
from rbt_ros.core.joints import turns_only, twist
from rbt_ros.core.kinematics import move, settle, start_at_the_world, unfold
from rbt_ros.core.lanes import common
from rbt_ros.core.newton_euler import newton_euler
from rbt_ros.core.rows import at_once, eight
from rbt_ros.core.types import COM, INERTIA, KIND, MASS, NV, PARENT, JointKind, V
from rbt_ros.core.vec import (
    add,
    cross,
    dot,
    gyroscopic,
    lower_solve,
    mat_add,
    put3,
    put6,
    put9,
    row3,
    row6,
    row9,
    scale,
    skew,
    sub,
    sub_outer,
    sym_add,
    sym_factors,
    sym_mul,
    sym_solve,
    sym_sub_outer,
    sym_turn,
    times,
    transpose,
    turn,
    turn_back,
    upper_solve,
    vec3,
)
from rbt_ros.core.work import (
    ACC,
    ACC_V,
    ARM,
    AXIS_W,
    D_INV,
    EFFORT,
    FORCE,
    HH,
    II,
    LEAF,
    MM,
    MOMENT,
    OWN,
    REST_EFFORT,
    ROT,
    SPIN,
    SPIN_DOT,
    SPIN_DOT_V,
    UF,
    UN,
)


@kernel
def weigh(i, m, c, I_Bcm, body):
    """Fill I, H, M of row i with those of one body of mass m, CoM at c: I_Bcm + m (c² 1 - c cᵀ), m [c]×, m 1."""
    mc = scale(m, c)
    xx, yy, zz = c[0] * mc[0], c[1] * mc[1], c[2] * mc[2]
    steiner = (yy + zz, xx + zz, xx + yy, -c[0] * mc[1], -c[0] * mc[2], -c[1] * mc[2])
    put6(body, i, II, sym_add(I_Bcm, steiner))
    put9(body, i, HH, ((0.0, -mc[2], mc[1]), (mc[2], 0.0, -mc[0]), (-mc[1], mc[0], 0.0)))
    put6(body, i, MM, (m, m, m, 0.0, 0.0, 0.0))


@kernel
def add_to_parent(model, i, work, I, H, M, n, f):
    """Add what body i hands on, about the parent's origin, to the parent's row; the world takes nothing."""
    p = model.tree[i, PARENT]
    if p < 0:
        return
    put6(work.bodies, p, II, sym_add(row6(work.bodies, p, II), I))
    put9(work.bodies, p, HH, mat_add(row9(work.bodies, p, HH), H))
    put6(work.bodies, p, MM, sym_add(row6(work.bodies, p, MM), M))
    put3(work.bodies, p, MOMENT, add(row3(work.bodies, p, MOMENT), n))
    put3(work.bodies, p, FORCE, add(row3(work.bodies, p, FORCE), f))


@kernel
def hand_to_parent(model, i, work, I, H, M, n, f):
    """Add the articulated body at r = p_PB, fixed to the parent, to the parent's: n_P = n + r × f."""
    r = row3(work.bodies, i, ARM)
    I_P, H_P = about_parent(r, I, H, M)
    add_to_parent(model, i, work, I_P, H_P, M, add(n, cross(r, f)), f)


@kernel
def about_parent(r, I, H, M):
    """I and H about P of what has I, H, M about B at r = p_PB: B has a = a_P + ẇ × r.

    H_P = H + [r]× M,    I_P = I - H [r]× + [r]× H_Pᵀ.
    """
    H_P = mat_add(H, moments_of(r, M))
    a0, a1, a2 = cross(r, H[0]), cross(r, H[1]), cross(r, H[2])  # rows of -H [r]×
    b0, b1, b2 = cross(r, H_P[0]), cross(r, H_P[1]), cross(r, H_P[2])  # columns of [r]× H_Pᵀ
    shift = (a0[0] + b0[0], a1[1] + b1[1], a2[2] + b2[2], a0[1] + b1[0], a0[2] + b2[0], a1[2] + b2[1])
    return sym_add(I, shift), H_P


@kernel
def rigid_about_parent(r, I, h, m):
    """`about_parent` where H = [h]× and M = m 1: h_P = h + m r, I_P = I + (g·r) 1 - r hᵀ - h_P rᵀ, g = h + h_P."""
    h_P = add(h, scale(m, r))
    g = add(h, h_P)
    xx, yy, zz = g[0] * r[0], g[1] * r[1], g[2] * r[2]
    xy, xz, yz = r[0] * h[1] + h_P[0] * r[1], r[0] * h[2] + h_P[0] * r[2], r[1] * h[2] + h_P[1] * r[2]
    return sym_add(I, (yy + zz, xx + zz, xx + yy, -xy, -xz, -yz)), skew(h_P)


@kernel
def moments_of(r, M):
    """[r]× M for a symmetric M."""
    xx, yy, zz, xy, xz, yz = M
    x, y, z = r
    return (
        (y * xz - z * xy, y * yz - z * yy, y * zz - z * yz),
        (z * xx - x * xz, z * xy - x * yz, z * xz - x * zz),
        (x * xy - y * xx, x * yy - y * xy, x * yz - y * xz),
    )


@kernel
def eliminate_axes(model, i, work):
    """Take the turns and slides of hinge i out of its articulated body and hand the rest to the parent.

    Each freedom with the twist S: U = inertia × S, D = S·U, v̇ = (τ - S·bias - U·(ẇ, a)) / D; what remains is
    inertia - U Uᵀ / D and bias + U (τ - S·bias) / D.
    """
    j = model.tree[i, V]
    for k in range(j + NV[model.tree[i, KIND]] - 1, j, -1):
        eliminate_axis(model, i, k, work)
    I, H, M = row6(work.bodies, i, II), row9(work.bodies, i, HH), row6(work.bodies, i, MM)
    n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
    Un, Uf, D, bias = felt_along(model, j, I, H, M, n, f, work)
    I_P, H_P = about_parent(row3(work.bodies, i, ARM), I, H, M)
    hand_on_released(model, i, work, Un, Uf, D, bias, I_P, H_P, M)


@kernel
def eliminate_leaf(model, i, work):
    """`eliminate_axes` for one freedom of a body that carries nothing: H = [m c]×, M = m 1."""
    j, I, m = model.tree[i, V], row6(work.bodies, i, II), work.bodies[i, MM]
    n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
    h = (work.bodies[i, HH + 7], work.bodies[i, HH + 2], work.bodies[i, HH + 3])
    w, v = twist(model, j, work.freedoms, AXIS_W)
    Un, Uf = add(sym_mul(I, w), cross(h, v)), add(cross(w, h), scale(m, v))
    I_P, H_P = rigid_about_parent(row3(work.bodies, i, ARM), I, h, m)
    D, bias = dot(w, Un) + dot(v, Uf), dot(w, n) + dot(v, f)
    hand_on_released(model, i, work, Un, Uf, D, bias, I_P, H_P, (m, m, m, 0.0, 0.0, 0.0))


@kernel
def felt_along(model, j, I, H, M, n, f, work):
    """U = [moment, force] that freedom j takes for v̇ = 1; S·U and S·bias. Most freedoms only turn: that is cheaper."""
    e = row3(work.freedoms, j, AXIS_W)
    if turns_only(model, j):
        Un, Uf = sym_mul(I, e), turn_back(H, e)
        return Un, Uf, dot(e, Un), dot(e, n)
    w, v = twist(model, j, work.freedoms, AXIS_W)
    Un, Uf = add(sym_mul(I, w), turn(H, v)), add(turn_back(H, w), sym_mul(M, v))
    return Un, Uf, dot(w, Un) + dot(v, Uf), dot(w, n) + dot(v, f)


@kernel
def keep_answer(j, Un, Uf, D, bias, work):
    """1/D and τ - S·bias of freedom j; its row keeps them, and U, for `answer`."""
    D_inv, rest = 1.0 / D, work.freedoms[j, EFFORT] - bias
    put3(work.freedoms, j, UN, Un)
    put3(work.freedoms, j, UF, Uf)
    work.freedoms[j, D_INV] = D_inv
    work.freedoms[j, REST_EFFORT] = rest
    return D_inv, rest


@kernel
def eliminate_axis(model, i, j, work):
    """Take freedom j out of row i, in place."""
    I, H, M = row6(work.bodies, i, II), row9(work.bodies, i, HH), row6(work.bodies, i, MM)
    n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
    Un, Uf, D, bias = felt_along(model, j, I, H, M, n, f, work)
    D_inv, rest = keep_answer(j, Un, Uf, D, bias, work)
    put6(work.bodies, i, II, sym_sub_outer(I, Un, D_inv))
    put9(work.bodies, i, HH, sub_outer(H, scale(D_inv, Un), Uf))
    put6(work.bodies, i, MM, sym_sub_outer(M, Uf, D_inv))
    put3(work.bodies, i, MOMENT, add(n, scale(D_inv * rest, Un)))
    put3(work.bodies, i, FORCE, add(f, scale(D_inv * rest, Uf)))


@kernel
def hand_on_released(model, i, work, Un, Uf, D, bias, I_P, H_P, M):
    """Hand I_P, H_P, M to the parent less U Uᵀ / D: as if hinge i were locked, but its last freedom is not.

    About the parent's origin U is (Un + r × Uf, Uf). So the shift from B to P need not wait for the division by D.
    """
    r = row3(work.bodies, i, ARM)
    n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
    D_inv, rest = keep_answer(model.tree[i, V], Un, Uf, D, bias, work)
    U_P, s = add(Un, cross(r, Uf)), D_inv * rest
    I_P, M = sym_sub_outer(I_P, U_P, D_inv), sym_sub_outer(M, Uf, D_inv)
    H_P = sub_outer(H_P, scale(D_inv, U_P), Uf)
    n_P = add(add(n, cross(r, f)), scale(s, U_P))
    add_to_parent(model, i, work, I_P, H_P, M, n_P, add(f, scale(s, Uf)))


@kernel
def carry(model, i, work):
    """A fixed hinge hands on all there is."""
    I, H, M = row6(work.bodies, i, II), row9(work.bodies, i, HH), row6(work.bodies, i, MM)
    hand_to_parent(model, i, work, I, H, M, row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE))


@kernel
def eliminate_ball(model, i, work):
    """Take the three turns of a spherical hinge out of I ẇ + H a = τ - n, by Gauss: I = L D Lᵀ.

    Row i + 1 keeps D⁻¹ and L, h = L⁻¹ H, s = L⁻¹ (τ - n) in the places of I, H, n: Lᵀ ẇ = D⁻¹ (s - h a). What remains
    is M - hᵀ D⁻¹ h and f + hᵀ D⁻¹ s. Never I⁻¹: it is huge about a thin rod's own axis, and in world axes that
    drowns the last digits of its other elements, which every ẇ would then miss.
    """
    j = model.tree[i, V]
    H, M = row9(work.bodies, i, HH), row6(work.bodies, i, MM)
    n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
    tau = turn(row9(work.bodies, i, ROT), row3_efforts(work, j))
    D_inv, L = sym_factors(row6(work.bodies, i, II))
    h0 = H[0]
    h1 = sub(H[1], scale(L[0], h0))
    h2 = sub(sub(H[2], scale(L[1], h0)), scale(L[2], h1))
    s = lower_solve(L, sub(tau, n))
    put3(work.bodies, i, II, D_inv)
    put3(work.bodies, i, II + 3, L)
    put9(work.bodies, i, HH, (h0, h1, h2))
    put3(work.bodies, i, MOMENT, s)
    M = sym_sub_outer(sym_sub_outer(sym_sub_outer(M, h0, D_inv[0]), h1, D_inv[1]), h2, D_inv[2])
    mass_to_parent(model, i, work, M, tau, add(f, turn_back((h0, h1, h2), times(D_inv, s))))


@kernel
def mass_to_parent(model, i, work, M, n, f):
    """Hand on a body with I = 0 and H = 0: H_P = [r]× M, I_P = [r]× H_Pᵀ."""
    r = row3(work.bodies, i, ARM)
    H_P = moments_of(r, M)
    b0, b1, b2 = cross(r, H_P[0]), cross(r, H_P[1]), cross(r, H_P[2])
    I_P = (b0[0], b1[1], b2[2], b1[0], b2[0], b2[1])
    add_to_parent(model, i, work, I_P, H_P, M, add(n, cross(r, f)), f)


@kernel
def row3_efforts(work, j):
    """The efforts of freedoms j, j+1, j+2."""
    return (work.freedoms[j, EFFORT], work.freedoms[j + 1, EFFORT], work.freedoms[j + 2, EFFORT])


@kernel
def solve_free(model, i, v, work, vdot):
    """v̇ of a free body with all that hangs on it: 6 equations by blocks, (I - H M⁻¹ Hᵀ) ẇ = n' - H M⁻¹ f'.

    Without M⁻¹, as in `eliminate_ball`: M = L D Lᵀ. Its own turning is Euler's equation in body axes, where its inertia
    is constant; only what hangs on it comes from world axes. So a lone body keeps its energy to the last digits.
    """
    j = model.tree[i, V]
    I, H, M = row6(work.bodies, i, II), row9(work.bodies, i, HH), row6(work.bodies, i, MM)
    R_WB, I_B, w_B = row9(work.bodies, i, ROT), row6(model.body, i, INERTIA), vec3(v, j)
    f = sub(row3_efforts(work, j + 3), row3(work.bodies, i, FORCE))
    D_inv, L = sym_factors(M)
    h0, h1, h2 = lower_solve(L, H[0]), lower_solve(L, H[1]), lower_solve(L, H[2])  # columns of h = L⁻¹ Hᵀ
    g0, g1, g2 = times(D_inv, h0), times(D_inv, h1), times(D_inv, h2)
    s = lower_solve(L, f)
    carried = (
        I[0] - dot(h0, g0),
        I[1] - dot(h1, g1),
        I[2] - dot(h2, g2),
        I[3] - dot(h0, g1),
        I[4] - dot(h0, g2),
        I[5] - dot(h1, g2),
    )  # I - hᵀ D⁻¹ h
    R_BW = transpose(R_WB)
    n_B = turn(R_BW, add(row3(work.bodies, i, MOMENT), (dot(g0, s), dot(g1, s), dot(g2, s))))
    n_B = sub(sub(row3_efforts(work, j), n_B), gyroscopic(I_B, w_B))
    wdot_B = sym_solve(sym_add(I_B, sym_turn(R_BW, carried)), n_B)
    wdot = turn(R_WB, wdot_B)
    a = upper_solve(L, times(D_inv, sub(s, turn_back((h0, h1, h2), wdot))))
    put3(work.bodies, i, SPIN_DOT_V, wdot)
    put3(work.bodies, i, ACC_V, a)
    vdot[j], vdot[j + 1], vdot[j + 2] = wdot_B
    vdot[j + 3], vdot[j + 4], vdot[j + 5] = a


@kernel
def freedom_acceleration(j, wdot, a, work):
    """v̇ of freedom j, when what it moves against has ẇ and a."""
    felt = dot(row3(work.freedoms, j, UN), wdot) + dot(row3(work.freedoms, j, UF), a)
    return (work.freedoms[j, REST_EFFORT] - felt) * work.freedoms[j, D_INV]


@kernel
def answer(model, i, work, vdot):
    """v̇ of hinge i, and SPIN_DOT_V and ACC_V of row i, when the parent's are known."""
    p, kind, j = model.tree[i, PARENT], model.tree[i, KIND], model.tree[i, V]
    wdot = row3(work.bodies, p, SPIN_DOT_V)
    a = add(row3(work.bodies, p, ACC_V), cross(wdot, row3(work.bodies, i, ARM)))
    if kind == JointKind.SPHERICAL:
        wdot_P = wdot
        D_inv, L = row3(work.bodies, i, II), row3(work.bodies, i, II + 3)
        s = sub(row3(work.bodies, i, MOMENT), turn(row9(work.bodies, i, HH), a))
        wdot = upper_solve(L, times(D_inv, s))
        vdot[j], vdot[j + 1], vdot[j + 2] = turn_back(row9(work.bodies, i, ROT), sub(wdot, wdot_P))
    elif kind == JointKind.REVOLUTE:
        vdot[j] = freedom_acceleration(j, wdot, a, work)
        wdot = add(wdot, scale(vdot[j], row3(work.freedoms, j, AXIS_W)))
    else:
        for k in range(NV[kind]):
            s = vdot[j + k] = freedom_acceleration(j + k, wdot, a, work)
            w, v = twist(model, j + k, work.freedoms, AXIS_W)
            wdot, a = add(wdot, scale(s, w)), add(a, scale(s, v))
    put3(work.bodies, i, SPIN_DOT_V, wdot)
    put3(work.bodies, i, ACC_V, a)


@kernel
def set_out(model, q, v, work):
    """Outward: motion at v̇ = 0, own inertia and bias of every body (a free one's turning is left to `solve_free`)."""
    start_at_the_world(model, work)
    unfold(model, q, work)
    for i in range(model.tree.shape[0]):
        settle(model, i, work)
        move(model, i, v, work)
    rows = eight(work.bodies)
    for i in range(0, model.tree.shape[0], at_once(work.bodies)):
        R_WB, m = row9(rows, i, ROT), rows[i, OWN + MASS]
        c, I_W = turn(R_WB, row3(rows, i, OWN + COM)), sym_turn(R_WB, row6(rows, i, OWN + INERTIA))
        weigh(i, m, c, I_W, rows)
        n, f = newton_euler(m, c, I_W, row3(rows, i, SPIN), row3(rows, i, SPIN_DOT), row3(rows, i, ACC))
        put3(rows, i, MOMENT, n)
        put3(rows, i, FORCE, f)


@kernel
def solve_tree(model, v, work, vdot):
    """v̇ from the rows that `set_out` and the forces have filled: inward elimination, outward answer."""
    n = model.tree.shape[0]
    for i in range(n - 1, -1, -1):
        kind = model.tree[i, KIND]
        if kind == JointKind.SPHERICAL:
            eliminate_ball(model, i, work)
        elif kind == JointKind.FREE:
            solve_free(model, i, v, work, vdot)
        elif kind == JointKind.FIXED:
            carry(model, i, work)
        elif NV[kind] == 1 and common(work.bodies[i, LEAF]) == 1.0:
            eliminate_leaf(model, i, work)
        else:
            eliminate_axes(model, i, work)
    for i in range(n):
        if model.tree[i, KIND] != JointKind.FREE:
            answer(model, i, work, vdot)
