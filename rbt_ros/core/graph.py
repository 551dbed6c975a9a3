"""A tree of bodies as a directed graph, and the letters of Wittenburg's method. `wittenburg.py` computes with them.

Wittenburg, Dynamics of Systems of Rigid Bodies (1977), ch. 5. Hinge a carries body a: it leads from body i⁺(a),
the parent, to body i⁻(a) = a. Vectors in world axes.
"""

from typing import NamedTuple

import numpy as np

from rbt_ros.core.types import PARENT
from rbt_ros.core.work import model_size


class Matrices(NamedTuple):
    """The letters of the method for one model. `matrices` makes them; an evaluation refills all but S0, S, T."""

    S0: np.ndarray  # (n,) +1 where hinge a leaves the world
    S: np.ndarray  # (n, n) S_ia = +1 where hinge a leaves body i = i⁺(a), -1 where it arrives, i = i⁻(a)
    T: np.ndarray  # (n, n) T_ai = -1 where hinge a lies between the world and body i; T = S⁻¹
    quat: np.ndarray  # (n, 4) q_WB
    R: np.ndarray  # (n, 9) R_WB
    c0: np.ndarray  # (n, 3) c_0a [m]: from the world's origin to hinge a
    c: np.ndarray  # (n, n, 3) c_ia [m]: from the CoM of body i to hinge a
    d: np.ndarray  # (n, n, 3) d_ij [m]: in body i, from the hinge that leads on to body j (i = j: the CoM) to hinge i
    b: np.ndarray  # (n, 3) b_i0 [m]: from the barycentre of the augmented body i to hinge i
    h: np.ndarray  # (n, n, 3) h_ia = Σ m_k T_ak d_ik [kg·m]: what a slide of hinge a does about body i
    K: np.ndarray  # (n, n, 9) K_ij [kg·m²]: of the augmented bodies
    mass: np.ndarray  # (n, n) T m Tᵀ [kg]: what slides a and c both carry
    p: np.ndarray  # (nv, 3) unit axis of a turn, or the vector of an Euler angle's rate
    k: np.ndarray  # (nv, 3) unit axis of a slide
    Omega: np.ndarray  # (n, 3) Ω_a [rad/s]: of body i⁻(a) against i⁺(a)
    omega: np.ndarray  # (n, 3) ω_i [rad/s]
    slide: np.ndarray  # (n, 3) kᵀ q̇ [m/s]: velocity of the slides of hinge a
    phi: np.ndarray  # (n, 3) ϕ_a [rad/s²]: Σ ṗ q̇ as seen in body i⁻(a)
    f: np.ndarray  # (n, 3) f_a = ϕ_a + ω × Ω_a [rad/s²]
    g: np.ndarray  # (n, 3) g_a = 2 ω⁺ × slide [m/s²]: Coriolis
    F: np.ndarray  # (n, 3) F_i [N] on body i at its CoM
    M: np.ndarray  # (n, 3) M_i [N·m] on body i about its CoM
    M1: np.ndarray  # (n, 3) M'_i [N·m]: of what turns, of F
    Y: np.ndarray  # (nv,) effort of each freedom [N·m, N]
    pT: np.ndarray  # (nv, n, 3) p_l T_ai, a the hinge of freedom l
    pTK: np.ndarray  # (nv, n, 3)
    A: np.ndarray  # (nv, nv)
    B: np.ndarray  # (nv,)
    L: np.ndarray  # (nv, nv) factors of A
    q: np.ndarray  # (nq,), (nv,) the engine's coordinates and velocities: scratch of the Z-X-Z form, zxz.py
    v: np.ndarray


def incidence(model):
    """S0 (n,) and S (n, n): the graph of the tree."""
    n = len(model.tree)
    S0, S = np.zeros(n), np.zeros((n, n))
    np.fill_diagonal(S, -1.0)
    for a, parent in enumerate(model.tree[:, PARENT]):
        if parent < 0:
            S0[a] = 1.0
        else:
            S[parent, a] = 1.0
    return S0, S


def paths(model):
    """T (n, n) = S⁻¹, found by walking from every body to the world."""
    n = len(model.tree)
    T = np.zeros((n, n))
    for i in range(n):
        a = i
        while a >= 0:
            T[a, i] = -1.0
            a = model.tree[a, PARENT]
    return T


def matrices(model):
    """All letters of the method for `model`: allocate once, reuse for ever."""
    n, (nq, nv) = len(model.tree), model_size(model)
    sizes = dict(quat=(n, 4), R=(n, 9), c=(n, n, 3), d=(n, n, 3), h=(n, n, 3), K=(n, n, 9), mass=(n, n))
    sizes |= dict(
        p=(nv, 3), k=(nv, 3), Y=(nv,), pT=(nv, n, 3), pTK=(nv, n, 3), A=(nv, nv), B=(nv,), L=(nv, nv), q=(nq,), v=(nv,)
    )
    given = {name: np.zeros(sizes.get(name, (n, 3))) for name in Matrices._fields}
    given["S0"], given["S"] = incidence(model)
    given["T"] = paths(model)
    return Matrices(**given)
