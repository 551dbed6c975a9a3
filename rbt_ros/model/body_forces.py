"""Force laws in use: which law acts on which bodies, where, with which numbers; as rows of Input.load, and as told."""

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba.core.errors import NumbaError

from rbt_ros.core import types as t
from rbt_ros.core.forces import load_gain
from rbt_ros.core.laws import Place
from rbt_ros.core.types import Input
from rbt_ros.core.vec import add, cross, qturn, rotation
from rbt_ros.errors import ModelError, SolveError
from rbt_ros.kinds import in_words
from rbt_ros.model.checks import WORLD, vector
from rbt_ros.model.parameters import values_of
from rbt_ros.model.robot import Robot
from rbt_ros.plug.force import FORCES, ForceLaw

Vector = tuple[float, float, float]
STILL = (0.0, 0.0, 0.0)
C_LIBRARY = re.compile(  # functions whose last bit is another one on another machine
    r'declare [^@\n]*@"?(?:llvm\.)?(a?sinh?|a?cosh?|a?tanh?|atan2|exp2?|expm1|log1?[0p2]?|pow|cbrt)\b'
)


class BodyForce(NamedTuple):
    """A law that acts on a body, or between two of which one may be the world."""

    name: str
    law: ForceLaw
    bodies: tuple[str, ...]
    points: tuple[Vector, ...]  # where it acts on each, from the CoM, in body axes; of the world from its origin [m]
    values: Any  # its parameters, the law's NamedTuple

    def __str__(self) -> str:
        return f"force '{self.name}' on {' and '.join(repr(body) for body in self.bodies)}"


class LawRows(NamedTuple):
    """A BodyForce as rows of Input.load and the numbers behind them."""

    force: BodyForce
    rows: tuple[tuple[float, ...], ...]
    data: tuple[float, ...]


@in_words(ModelError)
def body_force(
    robot: Robot,
    law: str | ForceLaw | Callable[..., Any],
    bodies: Sequence[str],
    at: Sequence[Any] = (),
    parameters: Mapping[str, Any] | None = None,
) -> BodyForce:
    """A checked BodyForce. law: its name, itself, or a Python function of (t [s], body) -> force or (moment, force)."""
    name, law = _named(law)
    where = f"force '{name}'"
    if len(bodies) != law.bodies:
        wanted = "one body" if law.bodies == 1 else "two bodies, of which one may be the world"
        raise ModelError(f"{where} acts on {wanted}, not on {', '.join(map(repr, bodies)) or 'none'}.")
    for body in bodies:
        if body != WORLD or law.bodies == 1:
            robot.body_index(body)
    if len(set(bodies)) != len(bodies):
        raise ModelError(f"{where} acts between two bodies, not between '{bodies[0]}' and itself.")
    places = (*at, *["com"] * (law.bodies - len(at)))
    if len(places) != law.bodies:
        raise ModelError(f"{where}: at takes one point for each body, not {len(places)}.")
    points = tuple(_point(robot, body, place, where) for body, place in zip(bodies, places, strict=True))
    return BodyForce(name, law, tuple(bodies), points, values_of(law, parameters or {}, where))


def _named(law: Any) -> tuple[str, ForceLaw]:
    if isinstance(law, str):
        return law, FORCES.find(law)
    if isinstance(law, ForceLaw):
        return FORCES.name_of(law) or _called(law.wrench), law
    if not callable(law):
        raise ModelError(f"{law!r:.80} is no force: give the name of one, a ForceLaw, or a function of (t, body).")

    def wrench(p: Any, a: Place, time: float) -> tuple[Any, Any]:
        found = law(time, a)
        if np.ndim(found) == 1 and len(found) == 3:
            return STILL, found
        if np.shape(found) == (2, 3):
            return found
        raise TypeError(f"it gave {found!r:.80}; a force of three numbers, or (moment, force), is wanted")

    return _called(law), ForceLaw(wrench, compiled=False)


def _called(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", type(function).__name__)


def _point(robot: Robot, body: str, at: Any, where: str) -> Vector:
    com = STILL if body == WORLD else robot.bodies[robot.body_index(body)].com
    x, y, z = point_of(body, com, at, where)
    return (x - com[0], y - com[1], z - com[2])


def point_of(body: str, com: Vector, at: Any, where: str) -> Vector:
    """A point in the frame of a body: "com", "origin" or three numbers [m]."""
    if isinstance(at, str):
        if at not in ("com", "origin"):
            raise ModelError(f"{where}: at {at!r:.80} is not one of com, origin, nor a point of '{body}' in m.")
        return com if at == "com" else STILL
    return vector(at, f"{where}: at")


# ------------------------------------------------------------------------------------------------ for the engine
def law_rows(robot: Robot, force: BodyForce) -> LawRows:
    """Its rows of Input.load: one for each body that is not the world; where its numbers start is still to be added."""
    entry = force.law.entry
    try:
        called_at = entry.address()
    except NumbaError as err:
        text = re.sub(r"\x1b\[\d*m", "", str(err)).rpartition("nopython frontend)")[2]
        why = next((line.strip() for line in text.splitlines() if line.strip()), "numba refuses it")
        raise ModelError(
            f"{force} cannot be compiled: {why}. Functions that it calls are decorated with rbt_ros.core.jit.kernel; "
            "ForceLaw(..., compiled=False) takes any Python."
        ) from err
    data: list[float] = []
    for value in force.values:
        data += value if isinstance(value, tuple) else [value]
    at = [-1 if body == WORLD else robot.body_index(body) for body in force.bodies]
    rows = []
    for k, i in enumerate(at):
        if i < 0:
            continue
        row = [0.0] * t.LOAD_COLUMNS
        row[t.LOAD_BODY], row[t.LOAD_FRAME] = i, t.WORLD_AXES
        row[t.LOAD_POINT : t.LOAD_POINT + 3] = force.points[k]
        row[t.LOAD_LAW], row[t.LOAD_SIDE], row[t.LOAD_OTHER] = called_at, 1.0 - 2.0 * k, t.ALONE
        row[t.LOAD_STORES] = float(force.law.potential is not None)
        if len(at) == 2:
            row[t.LOAD_OTHER] = at[1 - k]
            row[t.LOAD_OTHER_POINT : t.LOAD_OTHER_POINT + 3] = force.points[1 - k]
        rows.append(tuple(row))
    if foreign := sorted({*C_LIBRARY.findall(entry.assembly)}):
        warnings.warn(
            f"{force} calls {', '.join(foreign)} of the C library, whose last bits depend on the machine: the "
            "same run may have others elsewhere. rbt_ros.core.vec.sincos and rbt_ros.core.lanes.root do not.",
            stacklevel=2,
        )
    return LawRows(force, tuple(rows), tuple(data))


# ------------------------------------------------------------------------------------------------ what it does now
class Told(NamedTuple):
    """What the laws do at an instant."""

    load: np.ndarray  # Input.load with their moments and forces, world axes
    stored: float  # [J] their potentials


def told(robot: Robot, acting: Sequence[LawRows], input: Input, pose: np.ndarray, twist: np.ndarray, t_ns: int) -> Told:
    """What they do. input: what acts; pose, twist: of the bodies' own frames."""
    load, stored, time = input.load.copy(), 0.0, t_ns / 1e9
    rows = iter(np.flatnonzero(load[:, t.LOAD_LAW]))
    for law_rows in acting:
        force, places = law_rows.force, _places(robot, law_rows.force, pose, twist)
        try:
            n, f, potential = _evaluated(force, places, time)
        except SolveError as err:
            warnings.warn(str(err), stacklevel=3)
            n, f, potential = (math.nan,) * 3, (math.nan,) * 3, math.nan
        for row in law_rows.rows:
            k = next(rows)
            gain, side = float(load_gain(input, k, t_ns, 0.0)), row[t.LOAD_SIDE]
            lever = STILL if side > 0 else cross(np.subtract(places[0].p, places[1].p), f)
            load[k, t.LOAD_MOMENT : t.LOAD_MOMENT + 3] = gain * side * np.add(n, lever)
            load[k, t.LOAD_FORCE : t.LOAD_FORCE + 3] = gain * side * np.array(f)
        stored += potential * load[k, t.LOAD_STORES]
    load[:, t.LOAD_LAW] = 0.0  # where it is called is of this process alone
    return Told(load, stored)


def culprit(robot: Robot, acting: Sequence[LawRows], pose: np.ndarray, twist: np.ndarray, t_ns: int) -> str:
    """Which law has raised or gives what is no number, in words; "" where none does."""
    for force in (law_rows.force for law_rows in acting):
        if (error := force.law.entry.error) is not None:
            force.law.entry.error = None
            return f" {force} raised {type(error).__name__}: {error}."
        try:
            n, f, _ = _evaluated(force, _places(robot, force, pose, twist), t_ns / 1e9)
        except SolveError as err:
            return f" {err}."
        if not all(math.isfinite(x) for x in (*n, *f)):
            return f" {force} gives moment {tuple(n)} N·m, force {tuple(f)} N; finite numbers are wanted."
    return ""


def _evaluated(force: BodyForce, places: Sequence[Place], time: float) -> tuple[Any, Any, float]:
    """(moment, force, potential), called as Python."""
    try:
        n, f = (tuple(float(x) for x in part) for part in force.law.wrench(force.values, *places, time)[:2])
        (_, _, _), (_, _, _) = n, f
        potential = 0.0 if force.law.potential is None else float(force.law.potential(force.values, *places, time))
    except Exception as err:  # it is another's function
        raise SolveError(f"{force} raised {type(err).__name__}: {err}") from err
    return n, f, potential


def _places(robot: Robot, force: BodyForce, pose: np.ndarray, twist: np.ndarray) -> list[Place]:
    found = []
    for body, point in zip(force.bodies, force.points, strict=True):
        if body == WORLD:
            found.append(
                Place(point, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), rotation((1.0, 0.0, 0.0, 0.0)), 0.0, (0.0,) * 6)
            )
            continue
        i = robot.body_index(body)
        q, p = tuple(pose[i, :4].tolist()), tuple(pose[i, 4:].tolist())
        w, v = tuple(twist[i, :3].tolist()), tuple(twist[i, 3:].tolist())
        r = qturn(q, add(robot.bodies[i].com, point))
        inertia = robot.bodies[i].inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        found.append(
            Place(add(p, r), add(v, cross(w, r)), w, rotation(q), robot.bodies[i].mass, tuple(inertia.tolist()))
        )
    return found
