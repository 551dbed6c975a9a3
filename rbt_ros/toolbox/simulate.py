"""`simulate`: one rigid body, from a start over a time span, by any solver, in any attitude formalism."""

import difflib
import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.model.attitude import checked_sequence
from rbt_ros.model.checks import numbers
from rbt_ros.model.stabilise import Stabilise, checked_stabilise, stabilise_obstacle
from rbt_ros.plug.integrators import INTEGRATORS, Integrator
from rbt_ros.progress import show_progress
from rbt_ros.toolbox import engine_runs, solver_runs
from rbt_ros.toolbox.body import RigidBody, start_state
from rbt_ros.toolbox.events import checked_events, find_hits
from rbt_ros.toolbox.forces import loads
from rbt_ros.toolbox.formalisms import Formalism, Matrices, MultiplierQuaternions, Quaternions
from rbt_ros.toolbox.gimbal import NEAR, Guard
from rbt_ros.toolbox.plant import Plant
from rbt_ros.toolbox.result import LabResult
from rbt_ros.toolbox.stretches import Progress, Steps, plain_steps
from rbt_ros.toolbox.track import Track
from rbt_ros.toolbox.vectors import OfState, OfTime

FORMALISMS = ("quaternion", "euler", "matrix")
NORMALISE = ("projection", "manifold", "multiplier", None)
STEP = 1e-3  # [s] of fixed steps, unless said otherwise
TOLERANCES, OF_ODE45 = (1e-10, 1e-12), (1e-3, 1e-6)  # rtol and atol of the compiled ones, unless said otherwise
MOST = 10**8  # fixed steps: 10 GB of samples
MATLAB = {  # of the Rigid Body Toolbox
    "F_b": "force=",
    "M_b": "torque=",
    "tspan": "span=",
    "iPosition_e": "position=",
    "iVelocity_e": "velocity=",
    "iVelocity_b": "velocity_b=",
    "iOmega_b": "omega_b=",
    "iQuaternion": "quaternion=",
    "iEuler": 'euler=("ZYX", psi, theta, phi)',
    "ode_options": "rtol=, atol=, max_step=, first_step=",
    "mass": "rbt.RigidBody(mass=), the first argument,",
    "inertia": "rbt.RigidBody(inertia=), the first argument,",
}
OPTIONS = {  # what each kind of solver takes
    "fixed": ("step",),
    "adaptive": ("rtol", "atol", "max_step"),
    "named": ("rtol", "atol", "max_step", "first_step", "step"),
}


class Problem(NamedTuple):
    """What is to be integrated."""

    plant: Plant
    y13: np.ndarray  # the start, in the engine's coordinates
    span: tuple[float, float]  # [s]


class Way(NamedTuple):
    """How."""

    solver: str
    how: Integrator | None  # the engine's of that name; None: it is one of `solver_runs`
    formalism: str
    normalise: str | None
    guard: Guard | None  # of Euler angles
    options: dict[str, float]
    stabilise: Stabilise
    progress: Progress | None


def simulate(
    body: RigidBody | None = None,
    *,
    position: Sequence[float] = (0.0, 0.0, 0.0),
    velocity: Sequence[float] | None = None,
    velocity_b: Sequence[float] | None = None,
    omega_b: Sequence[float] | None = None,
    omega_e: Sequence[float] | None = None,
    quaternion: Sequence[float] | None = None,
    euler: Sequence[Any] | None = None,
    matrix: Any = None,
    force: Any = None,
    torque: Any = None,
    gravity: Sequence[float] = (0.0, 0.0, 0.0),
    duration: float | None = None,
    span: Sequence[float] | None = None,
    solver: str = "dop853",
    step: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | None = None,
    first_step: float | None = None,
    output_times: Any = None,
    events: Any = (),
    formalism: str = "quaternion",
    sequence: str = "ZYX",
    on_singularity: str = "stop",
    normalise: str | None = "projection",
    stabilise: str | Stabilise = "none",
    progress: bool | Callable[[float], None] = False,
    **unknown: Any,
) -> LabResult:
    """The motion of `body` (default: 1 kg, 1 kg·m² about each axis) from t = 0 over `duration` [s] (default: 1), or
    over `span` = (from, to) [s].

    Start: position [m], velocity (inertial axes) or velocity_b (body axes) [m/s], omega_b or omega_e [rad/s], attitude
    by quaternion (w, x, y, z), euler ("ZYX", a, b, c) [rad] or matrix. force [N], torque [N·m]: (x, y, z), f(t),
    (times, values), `VectorSum`, in body axes at the centre of mass; other axes, points, and f(t, state): `Force`,
    `Torque`, or a list of them. gravity [m/s²].

    solver: ours (dop853, rk4, semi_implicit, lie_euler, exact, splitting at a fixed `step` [s]; dop853_adaptive) or one
    of MATLAB's by name (ode45, ...; rtol, atol, max_step, first_step, or a fixed step). output_times: samples there,
    not where the solver makes them. events: `Event`s or functions of (t, state). progress: True, or a function that is
    called with the fraction done.

    formalism: the attitude is integrated as "quaternion", "euler" (angles of `sequence`; `on_singularity`: "stop",
    "switch" or "continue") or "matrix". normalise: "projection", "manifold", "multiplier" or None. stabilise: "none",
    "gradient" or "projection" keep angular momentum and energy by correcting each fixed step (`rbt.Stabilise`).
    """
    _refuse_unknown(unknown)
    body = RigidBody() if body is None else body
    if not isinstance(body, RigidBody):
        raise ScenarioError(f"the body is a {type(body).__name__}, not a RigidBody: rbt.RigidBody(mass=, inertia=).")
    y13 = start_state(position, velocity, velocity_b, omega_b, omega_e, quaternion, euler, matrix)
    problem = Problem(Plant(body, gravity, loads(force, torque)), y13, _span(duration, span))
    given = dict(step=step, rtol=rtol, atol=atol, max_step=max_step, first_step=first_step)
    name, action = checked_sequence(sequence, "sequence"), _known("on_singularity", on_singularity, tuple(NEAR))
    how = _integrator(solver)
    options = _options(solver, how, given, problem.span)
    if solver == "ode45":
        how = INTEGRATORS.find("dormand_prince")._replace(adaptive="step" not in options)
    way = Way(
        solver,
        how,
        _known("formalism", formalism, FORMALISMS),
        _normalise(normalise, formalism),
        Guard(name, action) if formalism == "euler" else None,
        options,
        _stabilise(stabilise, body),
        _progress(progress),
    )
    times = _output_times(output_times, problem.span)
    wanted = checked_events(events)
    try:
        track = _integrate(problem, way)
    finally:
        for text in way.guard.warnings if way.guard else ():
            warnings.warn(text, stacklevel=2)
    hits = find_hits(track, wanted)
    if hits and wanted[hits[-1].event].terminal:
        track.end = hits[-1].t
        times = _until(track.end, track.t if times is None else times)
    elif times is not None:
        times = times[times <= track.t[-1]]
    locks = way.guard.locks if way.guard else ()
    return LabResult(track, solver, times, locks, hits, name)


def _integrate(problem: Problem, way: Way) -> Track:
    """Choose the way: compiled where it can be, plain Python where formalism or inputs ask for it."""
    plant, y13, span = problem
    engine = way.formalism == "quaternion" and way.normalise == "projection"
    fixed = way.how is not None and not way.how.adaptive
    if way.stabilise.method != "none" and not (engine and fixed):
        raise ScenarioError(
            "stabilise corrects the fixed steps of integrators like rk4, dop853, exact in quaternions with normalise="
            f"'projection'; not those of '{way.solver}' in '{way.formalism}' with normalise={way.normalise!r}."
        )
    if way.how is not None and not way.how.adaptive:
        return _by_steps(problem, way, way.how, engine)
    if plant.held:
        raise ScenarioError(
            f"{plant.loads[plant.held[0]].name}: per='step' holds a function over fixed steps; use rk4 or dop853, "
            f"ode45 with step=, or per='stage', not '{way.solver}'."
        )
    if way.normalise == "manifold":
        raise ScenarioError(f"normalise='manifold' needs the steps of rk4 or dop853, not '{way.solver}'.")
    matlab, asked = way.solver == "ode45", any(isinstance(x.source, OfTime | OfState) for x in plant.loads)
    if way.how is not None and engine and not asked and "first_step" not in way.options:
        assert way.how.method is not None
        tolerances = OF_ODE45 if matlab else TOLERANCES
        return engine_runs.adaptive(plant, y13, span, way.how.method, tolerances, way.options)
    if way.how is not None and not matlab:
        raise ScenarioError(
            f"solver '{way.solver}' integrates quaternions by projection, under constant and sampled forces; use ode45."
        )
    form, guard = _form(way, y13, span[0])
    return solver_runs.run(plant, form, y13, span, way.solver, way.normalise, guard, way.options, way.progress)


def _by_steps(problem: Problem, way: Way, how: Integrator, engine: bool) -> Track:
    """Fixed steps: of the engine, or of its tableaux in plain Python."""
    plant, y13, span = problem
    steps = _steps(span, way.options)
    asks_stages = any(isinstance(x.source, OfState) and x.source.per == "stage" for x in plant.loads)
    if engine and how.torque_free:
        if plant.loads:
            raise ScenarioError(f"solver '{way.solver}' moves a body without force and torque; use dop853 for inputs.")
        return engine_runs.torque_free(plant, y13, steps, how, way.stabilise, way.progress)
    corrected = way.stabilise.method != "none" or how.one_body
    if engine and not asks_stages and corrected:
        return engine_runs.stabilised(plant, y13, steps, how, way.stabilise, way.progress)
    if engine and not asks_stages:
        return engine_runs.fixed(plant, y13, steps, how, way.progress)
    if how.method is None or not how.plain:
        raise ScenarioError(
            f"solver '{way.solver}' integrates quaternions by projection, without functions per='stage'; use "
            "rk4, dop853, ode45 here."
        )
    form, guard = _form(way, y13, span[0])
    stretches, held = plain_steps(plant, form, y13, steps, how.method, way.normalise, guard, way.progress)
    return Track(plant, stretches, how.knots, held)


def _form(way: Way, y13: np.ndarray, t0: float) -> tuple[Formalism, Guard | None]:
    """The coordinates in which a run starts."""
    if way.guard is not None:
        return way.guard.first(y13, t0), way.guard
    if way.formalism == "matrix":
        return Matrices(), None
    return (MultiplierQuaternions() if way.normalise == "multiplier" else Quaternions()), None


# ------------------------------------------------------------------------------------------------ what was given
def _refuse_unknown(given: Sequence[str] | dict[str, Any]) -> None:
    """ScenarioError for arguments that are not there: the toolbox's own names, and slips of the pen."""
    known = [name for name in inspect.signature(simulate).parameters if name not in ("body", "unknown")]
    for name in given:
        if name in MATLAB:
            raise ScenarioError(f"simulate: {name} is {MATLAB[name]} here; more in docs/from_matlab.md.")
        near = difflib.get_close_matches(name, known, 1)
        meant = f"did you mean {near[0]}?" if near else f"it takes {', '.join(known)}."
        raise ScenarioError(f"simulate: there is no argument '{name}'; {meant}")


def _integrator(solver: Any) -> Integrator | None:
    """The engine's integrator of that name; None: one of `solver_runs`."""
    try:
        return INTEGRATORS.find(solver)
    except ModelError as err:
        if isinstance(solver, str) and solver in solver_runs.names():
            return None
        ours = INTEGRATORS.names()
        if isinstance(solver, str) and solver in ours:  # it is broken
            raise ScenarioError(str(err)) from err
        known = ", ".join((*ours, *(name for name in solver_runs.names() if name not in ours)))
        raise ScenarioError(f"solver {solver!r:.80} is not one of {known}.") from err


def _known(what: str, name: Any, known: Sequence[str]) -> str:
    if not isinstance(name, str) or name not in known:
        raise ScenarioError(f"{what} {name!r:.80} is not one of {', '.join(known)}.")
    return str(name)


def _normalise(given: str | None, formalism: str) -> str | None:
    if not isinstance(given, str | None) or given not in NORMALISE:
        raise ScenarioError(f"normalise {given!r} is not one of 'projection', 'manifold', 'multiplier', None.")
    if formalism == "euler" and given in ("manifold", "multiplier"):
        raise ScenarioError(f"normalise='{given}': Euler angles have no constraint to keep; leave it out.")
    if formalism == "matrix" and given == "multiplier":
        raise ScenarioError("normalise='multiplier' is for quaternions; matrices take 'projection', 'manifold', None.")
    return given


def _stabilise(given: str | Stabilise, body: RigidBody) -> Stabilise:
    options = checked_stabilise(given)
    if options.method != "none" and (text := stabilise_obstacle(body.robot, 0.0)):
        raise ScenarioError(text)
    return options


def _span(duration: float | None, span: Sequence[float] | None) -> tuple[float, float]:
    if duration is not None and span is not None:
        raise ScenarioError("both duration and span are given; they say the same thing: give one.")
    if span is None:
        end = 1.0 if duration is None else _one(duration, "duration")
        if not (math.isfinite(end) and end > 0):
            raise ScenarioError(f"duration {duration} s must be a positive finite number.")
        return 0.0, end
    times = numbers(span, "span", ScenarioError)
    if times.shape != (2,) or not np.isfinite(times).all():
        raise ScenarioError(f"span {span} must be two finite times (from, to) in s.")
    start, end = times.tolist()
    if not start < end:
        raise ScenarioError(f"span {tuple(span)} s runs backwards or nowhere; the first time must be the smaller one.")
    return start, end


def _one(value: Any, what: str) -> float:
    """One number."""
    array = numbers(value, what, ScenarioError)
    if array.shape != ():
        raise ScenarioError(f"{what} {value!r:.80} must be one number.")
    return float(array)


def _options(
    solver: str, how: Integrator | None, given: dict[str, float | None], span: tuple[float, float]
) -> dict[str, float]:
    """Those options that were given, checked."""
    kind = "named" if how is None else "adaptive" if how.adaptive else "fixed"
    options = {name: _one(value, name) for name, value in given.items() if value is not None}
    for name, value in options.items():
        if name not in OPTIONS[kind]:
            raise ScenarioError(f"solver '{solver}' takes {', '.join(OPTIONS[kind])}, not {name}.")
        if not (math.isfinite(value) and value > 0):
            raise ScenarioError(f"{name} {value} must be a positive finite number.")
    if (span[1] - span[0]) / MOST > options.get("max_step", math.inf):
        raise ScenarioError(
            f"max_step {options['max_step']:g} s would make more than {MOST:.0g} steps over {span[1] - span[0]:g} s; "
            "give a larger one."
        )
    return options


def _steps(span: tuple[float, float], options: dict[str, float]) -> Steps:
    """Whole steps over the span."""
    step, length = options.get("step", STEP), span[1] - span[0]
    h_ns, whole = round(step * 1e9), round(min(length / step, 1e18))
    if h_ns <= 0 or abs(step * 1e9 - h_ns) > 1e-3:
        raise ScenarioError(f"step {step} s must be a positive whole number of nanoseconds.")
    if whole > MOST:
        raise ScenarioError(
            f"{length:.4g} s in steps of {step:g} s are {length / step:.3g} samples, more than {MOST:.0g}; take longer "
            "steps, a solver with error control (dop853_adaptive) or rbt.Simulation, which samples less often."
        )
    if whole < 1 or abs(whole * step - length) > 1e-9 * length:
        raise ScenarioError(
            f"{length:.9g} s are not a whole number of steps of {step:g} s; {max(1, whole) * step:.9g} s would be. "
            "Change the end or step=, or take a solver with error control: ode45 without step=."
        )
    return Steps(span[0], h_ns, whole)


def _output_times(given: Any, span: tuple[float, float]) -> np.ndarray | None:
    if given is None:
        return None
    times = numbers(given, "output_times", ScenarioError)
    if times.ndim != 1 or len(times) == 0 or not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise ScenarioError("output_times must be finite rising times (n,) in s.")
    if times[0] < span[0] or times[-1] > span[1]:
        raise ScenarioError(
            f"output_times run from {times[0]:g} to {times[-1]:g} s, beyond the span {span[0]:g} to {span[1]:g} s."
        )
    return times


def _until(end: float, times: np.ndarray) -> np.ndarray:
    """The times before the end, and the end."""
    return np.append(times[times < end], end)


def _progress(given: bool | Callable[[float], None]) -> Progress | None:
    if callable(given):
        return given
    return show_progress if given else None
