"""What the tables of the Rigid Body Toolbox tell of: motions with exact solutions, and closed forms."""

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.toolbox.body import RigidBody
from rbt_ros.toolbox.result import LabResult
from rbt_ros.toolbox.simulate import simulate

H = 1e-3  # [s]
G, G_CURVE = 9.81, 9.8  # [m/s²] of the toolbox's scripts 2-3 and 2-4, and of the curves that they compare with
KAPPA = -0.1850  # of the first-order numerical differentiation formula, Shampine and Reichelt (1997), table 1

Curve = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


class Problem(NamedTuple):
    """What a table is about."""

    table: int
    title: str
    quantities: tuple[str, str]  # names in LabResult
    body: RigidBody
    start: dict[str, Any]  # arguments of `simulate`
    duration: float  # [s]
    curve: Curve  # the two quantities at times (N,), (N, 3) each, that the toolbox compares with
    exact: Curve  # the same as they should be

    @property
    def steps(self) -> int:
        """Of length H."""
        return round(self.duration / H)


def free_precession() -> Problem:
    """Table 1: the disc of section 2.4.1, whose ω circles in the body once in 5 s. Not rounded, as script 2-1 is."""
    W, Iz = 2.0 * math.pi / 5.0, 32.0 / 17.0
    w0 = np.array([1.0, 0.0, W / (Iz - 1.0)])
    L = np.array([1.0, 0.0, Iz * w0[2]])

    def exact(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # in the body ω turns at W about z, in space at |L|/Ix about L: Landau and Lifshitz, Mechanics, 35
        w_b = np.column_stack([np.cos(W * t), np.sin(W * t), np.full(len(t), w0[2])])
        size = np.linalg.norm(L)
        axis, angle = L / size, (size * t)[:, None]
        along = (axis @ w0) * axis
        return w_b, along + np.cos(angle) * (w0 - along) + np.sin(angle) * np.cross(axis, w0)

    body = RigidBody(inertia=(1.0, 1.0, Iz), name="disc")
    quantities = ("omega_b", "omega_e")
    return Problem(1, "free precession of a symmetric top", quantities, body, dict(omega_b=w0), 5.0, exact, exact)


def ballistic(p0: Sequence[float], v0: Sequence[float], direction: Sequence[float], g: float) -> Curve:
    """Position and velocity under g [m/s²] along `direction`."""
    p, v, a = (np.asarray(x, dtype=float) for x in (p0, v0, direction))

    def curve(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        t = t[:, None]
        return p + v * t + 0.5 * g * t * t * a, v + g * t * a

    return curve


def _flight(table: int, title: str, mass: float, duration: float, p0: Any, v0: Any, direction: Any) -> Problem:
    start = dict(position=p0, velocity=v0, gravity=G * np.asarray(direction, dtype=float))
    curves = (ballistic(p0, v0, direction, g) for g in (G_CURVE, G))
    return Problem(table, title, ("position", "velocity_e"), RigidBody(mass=mass), start, duration, *curves)


def free_fall() -> Problem:
    """Table 2, script 2-3: 70 kg fall 4 km, along all three axes at once."""
    return _flight(2, "free fall", 70.0, 28.55, (4e3, 4e3, 4e3), (0, 0, 0), (-1, -1, -1))


def parabola() -> Problem:
    """Table 3, script 2-4: a football at 28 m/s and 45°."""
    v = 28.0 * math.sqrt(0.5)
    return _flight(3, "parabola", 1.0, 4.04, (0, 0, 0), (0, v, v), (0, 0, -1))


def asymmetric_top() -> Problem:
    """No table of the toolbox: its CubeSat of section 2.4.2, L = 1 N·m·s, E = 20 J, against Jacobi's exact solution."""
    body = RigidBody(mass=3.264, inertia=(0.0361172235, 0.03378135832, 0.00733597782), name="cubesat")
    start: dict[str, Any] = dict(omega_b=tumbling(np.diag(body.inertia), 1.0, 20.0))

    @cache
    def solution() -> LabResult:
        return simulate(body, **start, duration=1.0, solver="exact", step=H)

    def exact(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        state = solution().at(t)
        return state.omega_b, state.omega_e

    return Problem(4, "free rotation of an asymmetric top", ("omega_b", "omega_e"), body, start, 1.0, exact, exact)


def tumbling(moments: np.ndarray, L: float, E: float) -> np.ndarray:
    """(0, ω_y, ω_z) [rad/s] with |I ω| = L [N·m·s] and energy E [J]: two linear equations of the squares."""
    I = moments[1:]
    squares = np.linalg.solve([I * I, I], [L * L, 2.0 * E])
    return np.array([0.0, *np.sqrt(squares)])


PROBLEMS: dict[int, Callable[[], Problem]] = {1: free_precession, 2: free_fall, 3: parabola, 4: asymmetric_top}


# ------------------------------------------------------------------------------------------------ closed forms
def refine(table: int, solver: str) -> int:
    """Samples per step: in table 1 they make no difference."""
    return 4 if solver == "ode45" and table in (2, 3) else 1


def mean_square(a: np.ndarray, b: np.ndarray) -> float:
    """Of a - b, over all samples and components."""
    return float(np.mean((a - b) ** 2))


def mismatch(steps: int, h: float, axes: int) -> tuple[float, float]:
    """Mean square of ½ Δg t² and Δg t, Δg = 0.01 m/s², at t = k h, k = 0 .. steps, in `axes` of the 3 components."""
    n, share = steps, (G - G_CURVE) ** 2 * axes / 3.0
    squares = n * (2 * n + 1) / 6.0  # Σ k² / (n + 1)
    fourths = squares * (3 * n * n + 3 * n - 1) / 5.0
    return 0.25 * share * h**4 * fourths, share * h * h * squares


def error_constants() -> dict[str, tuple[float, int]]:
    """(c, p): one step on y' = λ y is in error by c (h λ)^(p+1)."""
    gamma = 1.0 - math.sqrt(0.5)  # of TR-BDF2 and of the Rosenbrock pair, which have one stability function
    l_stable = 4.0 * gamma**3 + (1.0 - 2.0 * gamma) * 3.0 * gamma**2 - 1.0 / 6.0
    return {"ode23": (1 / 24, 3), "ode23tb": (l_stable, 2), "ode23s": (l_stable, 2), "ode23t": (1 / 12, 2)}


def predicted(table: int, solver: str) -> tuple[float | None, float | None]:
    """What a cell of the tables has to be, for quaternions and Euler angles alike, where a formula tells it."""
    if table == 1 and solver in error_constants():
        c, p = error_constants()[solver]
        W, T = 2.0 * math.pi / 5.0, 5.0
        # (ω_x, ω_y) turns at W: an error of length c W^(p+1) h^p t, its square over 3 components, mean of t² is T²/3
        return (c * W ** (p + 1) * H**p * T) ** 2 / 9.0, None
    if (table, solver) == (2, "ode15s"):
        t = np.linspace(0.0, 28.55, 28551)
        return float(np.mean((0.005 * t * t + (0.5 + KAPPA) * H * G * t) ** 2)), mismatch(28550, H, 3)[1]
    if (table, solver) == (3, "ode113"):
        flight = parabola()
        t = np.linspace(0.0, flight.duration, flight.steps + 1)
        lagging, at_t = flight.exact(t - 2.0 * H * (1.0 - t / flight.duration)), flight.curve(t)
        return mean_square(lagging[0], at_t[0]), mean_square(lagging[1], at_t[1])
    if table in (2, 3):
        steps, share = PROBLEMS[table]().steps, refine(table, solver)
        return mismatch(steps * share, H / share, 3 if table == 2 else 1)
    return None, None
