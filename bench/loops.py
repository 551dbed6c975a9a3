"""A closed loop beside MuJoCo's equality constraint: a four-bar linkage under gravity, RK4 of 1 ms.

MuJoCo holds it by stiff springs (its defaults), in whichever of its solvers is fastest; both sides print how far the
loop is open.
"""

import numpy as np
from harness import Group, Row, interleave

import rbt_ros as rbt

CRANK, COUPLER, ROCKER, GROUND = 1.0, 3.0, 2.5, 3.0
THIN = 0.02  # [kg·m²] about the rods' own axes
START = 1.2  # [rad] of the crank
SOLVERS = ("Newton", "CG", "PGS")


def four_bar(integrator="rk4", step=1e-3):
    """The linkage in the engine, at its start."""
    b = rbt.RobotBuilder("four_bar")
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        I = length**2 / 12
        b.body(name, mass=1.0, inertia=(THIN, I, I), com=(length / 2, 0, 0))
    b.hinge("a", "revolute", parent="world", child="crank", axis=(0, -1, 0))
    b.hinge("b", "revolute", parent="crank", child="coupler", at=(CRANK, 0, 0), axis=(0, -1, 0))
    b.hinge("d", "revolute", parent="world", child="rocker", at=(GROUND, 0, 0), axis=(0, -1, 0))
    b.closure("loop", "point", "coupler", "rocker", at_a=(COUPLER, 0, 0), at_b=(ROCKER, 0, 0))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), step=step, integrator=integrator)
    for hinge, angle in zip("abd", start(), strict=True):
        sim.set_hinge(hinge, angle)
    return sim


def start():
    """The angles of the closed linkage, by triangles."""
    P = CRANK * np.array([np.cos(START), np.sin(START)])
    x, z = GROUND - P[0], -P[1]
    L = np.hypot(x, z)
    phi = np.arctan2(z, x) + np.arccos((COUPLER**2 + L**2 - ROCKER**2) / (2 * COUPLER * L))
    gamma = np.arctan2(P[1] + COUPLER * np.sin(phi), P[0] + COUPLER * np.cos(phi) - GROUND)
    return np.array([START, phi - START, gamma])


def opening(q):
    """How far the ends of coupler and rocker are apart [m]."""
    a, c, d = q[0], q[0] + q[1], q[2]
    x = CRANK * np.cos(a) + COUPLER * np.cos(c) - GROUND - ROCKER * np.cos(d)
    return np.hypot(x, CRANK * np.sin(a) + COUPLER * np.sin(c) - ROCKER * np.sin(d))


def peer(solver):
    """The linkage in MuJoCo: a function of steps from the start to the angles."""
    import mujoco

    def body(name, joint, length, at, inner=""):
        I = length**2 / 12
        return (
            f'<body name="{name}" pos="{at} 0 0"><joint name="{joint}" axis="0 -1 0" armature="0" damping="0"/>'
            f'<inertial mass="1" pos="{length / 2} 0 0" diaginertia="{THIN} {I} {I}"/>{inner}</body>'
        )

    coupler = body("coupler", "b", COUPLER, CRANK)
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><compiler angle="radian"/>'
        f'<option timestep="0.001" gravity="0 0 -9.81" integrator="RK4" solver="{solver}">'
        '<flag contact="disable"/></option>'
        f"<worldbody>{body('crank', 'a', CRANK, 0, coupler)}{body('rocker', 'd', ROCKER, GROUND)}</worldbody>"
        f'<equality><connect body1="coupler" body2="rocker" anchor="{COUPLER} 0 0"/></equality></mujoco>'
    )
    model.eq_data[0, 3:6] = ROCKER, 0, 0  # the compiler puts it where the open linkage has it
    data, at = mujoco.MjData(model), start()

    def run(steps):
        mujoco.mj_resetData(model, data)
        data.qpos[:] = at
        mujoco.mj_step(model, data, steps)
        return data.qpos.copy()

    return run


def loop(wanted):
    sim = four_bar()

    def ours(steps=2000, sim=sim):
        sim.reset()
        sim.advance(steps)
        return sim.state.q

    peers = {solver: peer(solver) for solver in SOLVERS}
    us = interleave({"ours": (ours, 2000), **{name: (lambda run=run: run(2000), 2000) for name, run in peers.items()}})
    fastest = min(SOLVERS, key=us.__getitem__)
    exact = four_bar("dop853", 0.25e-3)
    exact.advance(8000)
    sides = ("ours", ours()), (f"MuJoCo ({fastest})", peers[fastest](2000))
    note = "; ".join(
        f"{name}: error after 2 s {np.abs(q - exact.state.q).max():.1e} rad, loop open by {opening(q):.1e} m"
        for name, q in sides
    )
    return {
        "loop_vs_mujoco": Row(us[fastest] / us["ours"], us["ours"], us[fastest], "us per RK4 step of a four-bar", note)
    }


GROUPS = (Group(("loop_vs_mujoco",), loop),)
