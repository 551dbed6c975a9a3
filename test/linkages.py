"""Planar linkages with closed forms: a four-bar and a slider-crank, and the angles that geometry gives them."""

import numpy as np

import rbt_ros as rbt

Y = (0.0, -1.0, 0.0)  # a turn about it takes x to z: angles in the plane as drawn
INERTIA = (0.02, 0.03, 0.04)


def rod(b, name, length, mass=1.0):
    I = mass * length**2 / 12
    b.body(name, mass=mass, inertia=(0.01, I, I), com=(length / 2, 0, 0))


CRANK, COUPLER, ROCKER, GROUND = 1.0, 3.0, 2.5, 3.0


def four_bar(kind="point", speed=None):
    """Crank on hinge a, coupler on b, rocker on d, closed where the two meet."""
    b = rbt.RobotBuilder("four_bar")
    for name, length in (("crank", CRANK), ("coupler", COUPLER), ("rocker", ROCKER)):
        rod(b, name, length)
    b.hinge("a", "revolute", parent="world", child="crank", axis=Y)
    b.hinge("b", "revolute", parent="crank", child="coupler", at=(CRANK, 0, 0), axis=Y)
    b.hinge("d", "revolute", parent="world", child="rocker", at=(GROUND, 0, 0), axis=Y)
    b.closure("loop", kind, "coupler", "rocker", at_a=(COUPLER, 0, 0), at_b=(ROCKER, 0, 0), **turn(kind))
    if speed is not None:
        b.prescribe("a", rbt.polynomial([1.2, speed]))
    return b


def turn(kind):
    return {"axis": Y} if kind in ("revolute", "pin") else {}


def four_bar_angles(theta, omega):
    """Angles and rates of coupler and rocker in the plane, the branch with the joint above: by triangles."""
    P = CRANK * np.array([np.cos(theta), np.sin(theta)])
    x, z = GROUND - P[0], -P[1]
    L = np.hypot(x, z)
    phi = np.arctan2(z, x) + np.arccos((COUPLER**2 + L**2 - ROCKER**2) / (2 * COUPLER * L))
    gamma = np.arctan2(P[1] + COUPLER * np.sin(phi), P[0] + COUPLER * np.cos(phi) - GROUND)
    phi_dot = omega * CRANK * np.sin(gamma - theta) / (COUPLER * np.sin(phi - gamma))
    gamma_dot = omega * CRANK * np.sin(theta - phi) / (ROCKER * np.sin(gamma - phi))
    return phi, gamma, phi_dot, gamma_dot


def off(angle, exact):
    """Largest difference of two angles, whole turns apart or not."""
    return np.abs(np.exp(1j * angle) - np.exp(1j * exact)).max()


SWING = rbt.sines([(3.0, 2.0, 0.0)], offset=0.4)


def slider_crank(kind, motion=SWING):
    """A crank of 0.5 m that is driven, a rod of 2 m (a body, or a distance), a slider along x."""
    b = rbt.RobotBuilder("engine")
    rod(b, "crank", 0.5)
    b.body("slider", mass=2.0, inertia=INERTIA)
    b.hinge("main", "revolute", parent="world", child="crank", axis=Y)
    b.hinge("bore", "prismatic", parent="world", child="slider", axis=(1, 0, 0))
    if kind == "distance":
        b.closure("rod", "distance", "crank", "slider", at_a=(0.5, 0, 0), length=2.0)
    else:
        rod(b, "link", 2.0)
        b.hinge("pin", "revolute", parent="crank", child="link", at=(0.5, 0, 0), axis=Y)
        b.closure("rod", kind, "link", "slider", at_a=(2.0, 0, 0), **turn(kind))
    return b.prescribe("main", motion).build()


def slider_position(theta):
    """r cos θ + √(l² - r² sin² θ)."""
    return 0.5 * np.cos(theta) + np.sqrt(4 - 0.25 * np.sin(theta) ** 2)
