"""`rbt solve`: manoeuvres that are best, or that get there: a report, a result file, a scenario to play, a figure."""

import argparse
import json
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from rbt_ros.errors import ScenarioError, SetupError, SolveError
from rbt_ros.model.attitude import unit_quaternion
from rbt_ros.model.folding import ARRAYS, array, l_shape, rods
from rbt_ros.model.hinge_commands import HingeTrajectory
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.modular import optimal, planar, spatial
from rbt_ros.modular.clearance import Clearance
from rbt_ros.modular.flights import check_stillness
from rbt_ros.modular.gains import SMOOTH, STIFF, Gains, gains, step_for
from rbt_ros.modular.optimal import INTERVALS, Solution, sampled, simulate, solve
from rbt_ros.modular.paths import PROFILES, ShapePath, ellipse, polygon, rectangle, spline, trajectory
from rbt_ros.modular.plans import Plan, Planner, fly_plan, plan_in_plane
from rbt_ros.modular.pointing import plan_pointing
from rbt_ros.modular.rectangles import MOST, best_rectangles
from rbt_ros.modular.spatial import solve_attitude
from rbt_ros.modular.steering import REST
from rbt_ros.modular.turns import Folding, angles, conjugates, net_turn, products
from rbt_ros.paths import made_folder
from rbt_ros.results import Sample
from rbt_ros.sim import Simulation
from rbt_ros.studies.maps import literal, pairs
from rbt_ros.studies.solve_figures import draw, draw_panels

KNOTS, STEPS = 1000, 4  # in a scenario: of driven hinges, with cubics (1e-6 of a turn); steps between them, of optima
HELD = 12  # knots at rest behind an optimum: what a spline rings falls to 2 - √3 from each to the next
MISS = 1e-4  # [rad] with which a scenario of an optimum is none
LEG = 6.0  # [s] of each side of a rectangle in a scenario
FOLLOW_STEP = 0.002  # [s] at most
ASTRAY = np.radians(1.0)  # that a path which is followed may end off


def main(arguments: Sequence[str], progress: Callable[[float], None] | None = None) -> int:
    """`rbt solve`."""
    given = _parser().parse_args(arguments)
    made_folder(given.out)
    if given.what == "attitude":
        return _attitude(given)
    if given.what == "point":
        return _point(given)
    if given.what == "path":
        return _path(given)
    if given.what != "plane" and given.to is not None:
        return _optimal_attitude(given)
    lengths, masses = given.lengths or [2.0, 2.0, 2.0], given.masses or [1.0]
    robot = rods(lengths, masses[0] if len(masses) == 1 else masses)
    options = {"lengths": lengths, "masses": masses * (3 if len(masses) == 1 else 1)}
    turn, end = float(np.radians(given.turn)), given.out / given.name
    if given.what == "plane":
        plan = plan_in_plane(robot, turn)
        _tell_plan(plan)
        _write(end.with_suffix(".yaml"), plan_scenario("rods", options, plan))
        return 0
    solution = solve(
        robot,
        turn,
        time=given.time if given.what == "effort" else None,
        torque=given.torque,
        avoid=given.avoid,
        starts=given.starts,
        intervals=INTERVALS if given.intervals is None else given.intervals,
        progress=progress,
    )
    _tell(robot, given.what, solution)
    if given.what == "effort":
        _tell_rectangles(robot, turn, given)
    goes, target = driven(robot, solution, optimal.SHAPE), np.array([np.cos(0.5 * turn), 0.0, 0.0, np.sin(0.5 * turn)])
    text = path_scenario("rods", options, robot, goes, _step_ns(solution))
    _tell_played(text, target, goes)
    _keep(given, solution, text, lambda path: draw(robot, solution, path))
    return 0


def _optimal_attitude(given: argparse.Namespace) -> int:
    """The best way of panels to an attitude."""
    for option, value in (("--lengths", given.lengths), ("--masses", given.masses), ("--intervals", given.intervals)):
        if value is not None:
            raise ScenarioError(f"{option} is for three rods and goes with --turn; panels take --array, --starts.")
    robot, target = array(given.array), unit_quaternion(given.to, "--to")
    solution = solve_attitude(
        robot,
        target,
        time=given.time if given.what == "effort" else None,
        torque=given.torque,
        avoid=given.avoid,
        starts=given.starts or 1,
    )
    _tell_optimum(given.what, solution)
    _, check = spatial.simulate(robot, target, solution)
    print(
        f"  simulated anew       attitude {check.turn_error:.1e} rad off, shape {check.shape_error:.1e} rad, rates "
        f"{check.rate_error:.1e} rad/s, angular momentum {check.momentum:.1e} N·m·s, clearance {check.clearance:.4f} m"
    )
    goes = driven(robot, solution, slice(4, 6))
    text = path_scenario(given.array, {}, robot, goes, _step_ns(solution))
    _tell_played(text, np.array(target), goes)
    _keep(given, solution, text, lambda path: draw_panels(robot, solution, path))
    return 0


def _keep(given: argparse.Namespace, solution: Solution, scenario: str, drawn: Callable[[Path], None]) -> None:
    """Result file, scenario and figure."""
    end = given.out / given.name
    parameters = {key: str(value) if isinstance(value, Path) else value for key, value in vars(given).items()}
    with open(end.with_suffix(".npz"), "wb") as file:
        values = solution._asdict() | {"parameters": json.dumps(parameters)}
        np.savez_compressed(file, **{key: np.array(value) for key, value in values.items()})
    print(f"wrote {end.with_suffix('.npz')}")
    _write(end.with_suffix(".yaml"), scenario)
    try:
        figure = given.out / f"{given.name}_path.png"  # `rbt run` of the scenario draws one of its name
        drawn(figure)
        print(f"wrote {figure}")
    except SetupError as err:
        print(f"no figure: {err}")


def _attitude(given: argparse.Namespace) -> int:
    """A plan of the L-shape, flown."""
    robot = array(given.array, **({} if given.array != "l_shape" else {"inertia": given.inertia}))
    plan = Planner(robot).plan(given.quaternion)
    _tell_plan(plan)
    options = {"inertia": given.inertia} if given.array == "l_shape" else {}
    _write((given.out / given.name).with_suffix(".yaml"), plan_scenario(given.array, options, plan))
    flown = fly_plan(robot, plan)
    print(
        f"  flown: {np.degrees(flown.error):.2g}° off after {flown.time:g} s, {1e3 * flown.clearance:.3g} mm clear, "
        f"angular momentum {flown.momentum:.1e} N·m·s, |psi| up to {np.degrees(flown.largest):.4g}°"
    )
    return 0


def _point(given: argparse.Namespace) -> int:
    """A plan after which each module looks at its own target."""
    robot = array(given.array)
    targets = {name: _numbers(value) for name, _, value in (text.partition("=") for text in given.target)}
    pointed = plan_pointing(Planner(robot), targets)
    _tell_plan(pointed.plan)
    shape = ", ".join(
        f"{joint} {np.degrees(angle):.3f}°"
        for joint, angle in zip(robot.joint_names, pointed.pointing.shape, strict=True)
    )
    print(f"  then {shape}; boresights off by {np.degrees(max(pointed.pointing.misses.values())):.1e}°")
    _write((given.out / given.name).with_suffix(".yaml"), plan_scenario(given.array, {}, pointed.plan, pointed.fold))
    return 0


def _path(given: argparse.Namespace) -> int:
    """A closed path of the shape: what it turns, whether it is free, and what PD controllers make of it."""
    options = {key: literal(value) for key, value in pairs(given.option, "--option")}
    robot = array(given.array, **options)
    path = _given_path(given)
    turn, pieces = net_turn(robot, path), len(path.pieces)
    goes = trajectory(path, given.time, given.profile, max(1, KNOTS // (1 if path.smooth else pieces)))
    axis = ", ".join(f"{c:.6g}" for c in turn.axis)
    print(f"turns by {np.degrees(turn.angle):.6f}° about ({axis}), efficiency {turn.efficiency:.4g}", flush=True)
    seen = Clearance(robot)
    seen.require_free(path, given.margin, given.time / pieces)
    print(f"  panels {seen.along(path):.4f} m apart at least, within 0.1 mm")
    _write((given.out / given.name).with_suffix(".yaml"), path_scenario(given.array, options, robot, goes))
    stiffness = gains(robot, given.kp, given.kd, like=STIFF)
    sample = _followed(robot, path, goes, given.time, stiffness)
    off = angles(products(conjugates(sample.pose[:1, :4]), turn.quaternion[None]))[0]
    print(
        f"  followed by PD controllers, {stiffness}: {np.degrees(off):.2g}° off, angular momentum "
        f"{np.linalg.norm(sample.angular_momentum_com):.1e} N·m·s"
    )
    if off > ASTRAY:
        raise SolveError(
            f"followed with {stiffness}, the path ends {np.degrees(off):.2g}° off, more than {np.degrees(ASTRAY):g}°; "
            "give more --time or stiffer gains. The scenario drives its hinges exactly."
        )
    return 0


def _followed(robot: Robot, path: ShapePath, goes: HingeTrajectory, time: float, stiffness: Gains) -> Sample:
    """How the path ends when all hinges have PD controllers, and none a lock until then."""
    sim = Simulation(robot, step=FOLLOW_STEP, integrator="dop853")
    sim.command(stiffness.settings)
    sim.set_step(step_for(Folding(robot), stiffness, path, SMOOTH, FOLLOW_STEP, locking=False))
    sim.command(goes)
    sim.advance(round((time + REST) * 1e9 / sim.h_ns))
    sim.lock(*(hinge.name for hinge in robot.hinges[1:]))
    check_stillness(sim, time, stiffness)
    return sim.sample()


def _given_path(given: argparse.Namespace) -> ShapePath:
    """The path of the options, in degrees there."""
    joints = tuple(given.joints.split(","))
    if given.rectangle is not None:
        return rectangle(*_degrees(given.rectangle, 2), first=given.first, joints=joints)
    if given.ellipse is not None:
        return ellipse(_degrees(given.ellipse, 2), tilt=float(np.radians(given.tilt)), joints=joints)
    flat, text = [0.0] * len(joints), given.polygon if given.spline is None else given.spline
    if not text.split():
        raise ScenarioError("the path has no corner; give one at least: --polygon='90,0 90,-90'.")
    points = [flat, *(_degrees(part, len(joints)) for part in text.split())]
    return spline(points, joints) if given.polygon is None else polygon([*points, flat], joints)


def _degrees(text: str, count: int) -> list[float]:
    """[rad] of so many angles."""
    found = _numbers(text)
    if len(found) != count:
        raise ScenarioError(f"'{text}' must be {count} angles, one for each joint: {','.join(['90'] * count)}.")
    return np.radians(found).tolist()


def driven(robot: Robot, solution: Solution, shape: slice) -> HingeTrajectory:
    """The shapes that a solution passes, a whole number of steps apart, and rest at the last one; shape: of its state.

    Without that rest a spline keeps a rate where torques jump just before the end.
    """
    state, _ = sampled(solution, np.minimum(np.arange(KNOTS + HELD + 1) / KNOTS, 1.0))
    times = tuple(k * STEPS * _step_ns(solution) for k in range(KNOTS + HELD + 1))
    return HingeTrajectory(robot.joint_names, times, tuple(tuple(row) for row in state[:, shape].tolist()))


def _step_ns(solution: Solution) -> int:
    """Of the scenario that plays it: kinks of the motion fall on ticks."""
    return max(1, round(solution.time * 1e9 / (KNOTS * STEPS)))


def path_scenario(
    kind: str, options: dict[str, Any], robot: Robot, goes: HingeTrajectory, step_ns: int = 5_000_000
) -> str:
    """A scenario that goes through it: its joints driven, exactly, the others locked."""
    end = 1e-9 * goes.times_ns[-1]
    head = ["rbt: 1", f"robot: {{array: {kind}, options: {json.dumps(options)}}}", f"step: {step_ns} ns"]
    lines = [*head, "integrator: dop853", f"duration: {end + REST:.12g} s", "inputs:"]
    lines += [f"  - {{lock: {h.name}, at: 0 s}}" for h in robot.hinges[1:] if not set(h.joint_names) & set(goes.joints)]
    times = ", ".join(f"{1e-9 * t:.12g}" for t in goes.times_ns)
    for joint, row in zip(goes.joints, zip(*goes.positions, strict=True), strict=True):
        values = ", ".join(f"{value:.15g}" for value in row)
        lines.append(f"  - {{prescribe: {joint}, at: 0 s,")
        lines.append(f"     motion: {{table: {{between: cubic, times: [{times}], values: [{values}]}}}}}}")
    return "\n".join(lines) + "\n"


def _tell_optimum(what: str, solution: Solution) -> None:
    """How good it is, as the discrete problem has it."""
    unit = "N²·m²·s of effort" if what == "effort" else "s"
    print(f"{solution.objective:.10g} {unit} in {solution.time:.7g} s; {len(solution.mesh) - 1} intervals")
    print(f"  largest torque       {np.abs(solution.torque).max():.5g} N·m")
    print(f"  best of local optima {', '.join(f'{x:.6g}' for x in sorted(solution.objectives))}, on the first mesh")
    print(f"  miss between points  {solution.defect:.1e}, relative; path {'clear' if solution.clear else 'collides'}")


def _tell(robot: Robot, what: str, solution: Solution) -> None:
    """Optimality, and the independent integration."""
    _tell_optimum(what, solution)
    _, check = simulate(robot, solution)
    print(
        f"  simulated anew       turn {check.turn_error:.1e} rad off, shape {check.shape_error:.1e} rad, rates "
        f"{check.rate_error:.1e} rad/s, angular momentum {check.momentum:.1e} N·m·s"
    )


def _tell_rectangles(robot: Robot, turn: float, given: argparse.Namespace) -> None:
    """What one hinge at a time would take."""
    found = best_rectangles(planar.of_rods(robot), turn, given.avoid) if turn else None
    if found is None:
        print(
            f"  rectangles           none, up to {MOST} in a row, turn so far{' and keep clear' if given.avoid else ''}"
        )
        return
    p, q = np.degrees([found.psi1, found.psi2])
    times = "one" if found.rounds == 1 else f"{found.rounds}"
    print(
        f"  best rectangle       {found.effort / given.time**3:.6g} N²·m²·s: {times} to ({p:.1f}°, {q:.1f}°), "
        f"psi{found.first} first, one hinge at a time"
    )


def _tell_played(text: str, target: np.ndarray, goes: HingeTrajectory) -> None:
    """How far the scenario ends from the attitude and shape asked for; SolveError where that is no manoeuvre."""
    scenario = scenario_from_text(text)
    sim = Simulation.of(scenario)
    sim.advance(round((goes.times_ns[-1] + 1e9 * REST) / scenario.h_ns))
    sample = sim.sample()
    turn = float(angles(products(conjugates(sample.pose[:1, :4]), target[None]))[0])
    shape = float(np.abs(sample.q[7:] - goes.positions[-1]).max())
    if max(turn, shape) > MISS:
        raise SolveError(
            f"the scenario of this solution ends {turn:.1e} rad off its attitude, {shape:.1e} rad off its shape, and "
            f"{MISS:g} rad are allowed; try more intervals, or starts."
        )
    print(f"  scenario played      attitude {turn:.1e} rad off, shape {shape:.1e} rad")


def _tell_plan(plan: Plan) -> None:
    print(f"{len(plan.turns)} turns, {np.degrees(plan.way):.5g}° of the hinges, {plan.time(1.0):.4g} s at 1 rad/s")
    for turn, alike in groupby(plan.turns):
        order, times = "psi1 first" if turn.first == 1 else "psi2 first", len(list(alike))
        text = f"  psi1 {np.degrees(turn.psi1):8.3f}°  psi2 {np.degrees(turn.psi2):8.3f}°  {order}"
        print(text + (f", {times} times" if times > 1 else ""))


def plan_scenario(kind: str, options: dict[str, Any], plan: Plan, fold: ShapePath | None = None) -> str:
    """A scenario that goes through a plan, and a fold behind it: one hinge driven by the profile of least jerk,
    the other one locked."""
    lines, time, locked, driven = [], 0.0, None, None
    for path in (*(turn.path for turn in plan.turns), *([fold] if fold else [])):
        corners = path.corners
        for a, b in zip(corners, corners[1:], strict=False):
            k = int(np.argmax(np.abs(b - a)))
            joint, other, d = f"psi{k + 1}", f"psi{2 - k}", float(b[k] - a[k])
            at = f"at: {time:g} s"
            if locked is None:
                lines.append(f"  - {{lock: [{other}], {at}}}")
            elif locked == joint:
                lines += [f"  - {{lock: [{other}], {at}}}", f"  - {{release: {other}, {at}}}"]
                lines.append(f"  - {{unlock: [{joint}], {at}}}")
            elif driven == joint:
                lines.append(f"  - {{release: {joint}, {at}}}")
            locked, driven = other, joint
            c = [float(a[k]), 0.0, 0.0, 10 * d / LEG**3, -15 * d / LEG**4, 6 * d / LEG**5]
            lines.append(f"  - {{prescribe: {joint}, motion: {{polynomial: {c}}}, {at}}}")
            time += LEG
    if locked is not None:
        lines += [f"  - {{lock: [{driven}], at: {time:g} s}}", f"  - {{release: {driven}, at: {time:g} s}}"]
    head = ["rbt: 1", f"robot: {{array: {kind}, options: {json.dumps(options)}}}", "step: 10 ms", "integrator: dop853"]
    return "\n".join([*head, f"duration: {time + LEG:g} s", *(["inputs:", *lines] if lines else [])]) + "\n"


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    print(f"wrote {path}; rbt run {path}, or rbt node {path}, plays it")


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as err:
        raise ScenarioError(f"'{text}' is no row of numbers: 1,2,3.") from err


def _add_path(one: argparse.ArgumentParser) -> None:
    shape = one.add_mutually_exclusive_group(required=True)
    shape.add_argument("--rectangle", metavar="P,Q", help="far corner [°], one hinge at a time: --rectangle=90,-90")
    shape.add_argument("--polygon", metavar="'P,Q P,Q ...'", help="corners [°] on the way from flat and back")
    shape.add_argument("--ellipse", metavar="A,B", help="half axes [°]; flat at the end of the first one")
    shape.add_argument("--spline", metavar="'P,Q P,Q ...'", help="a smooth closed curve from flat through points [°]")
    one.add_argument("--tilt", type=float, default=0.0, metavar="DEG", help="of the ellipse's first axis from psi1 (0)")
    one.add_argument("--first", type=int, choices=(1, 2), default=1, help="which hinge of a rectangle moves first (1)")
    one.add_argument("--joints", default="psi1,psi2", metavar="A,B", help="that move (psi1,psi2); polygons: any number")
    one.add_argument("--array", default=l_shape.__name__, help=f"one of {', '.join(ARRAYS)} (l_shape)")
    one.add_argument("--option", action="append", default=[], metavar="KEY=VALUE", help="of the array: size=2")
    one.add_argument("--profile", choices=PROFILES, default=PROFILES[0], help=f"of the time ({PROFILES[0]})")
    one.add_argument("--time", type=float, default=24.0, metavar="S", help="of the whole (24)")
    one.add_argument("--margin", type=float, default=0.0, metavar="M", help="that panels keep (0: may not touch)")
    for gain, unit, usual in zip(("--kp", "--kd"), ("N·m/rad", "N·m·s/rad"), STIFF, strict=True):
        text = f"{unit} of all hinges (by the inertia of each: {usual:g} for panels of 1 m and 1 kg)"
        one.add_argument(gain, type=float, metavar="K", help=text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rbt solve", description=__doc__ + " See docs/modular.md.")
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")
    for kind, text in (
        ("effort", "least effort of three rods, or panels, in a given time"),
        ("time", "least time of three rods, or panels, with bounded torques"),
        ("plane", "equal rectangles that turn three rods by any angle"),
        ("attitude", "turns that bring an array of panels to an attitude"),
        ("point", "turns and a shape in which each module looks at its own target"),
        ("path", "what a closed path of the shape turns; whether it is free; followed; as a scenario"),
    ):
        one = kinds.add_parser(kind, help=text, description=text)
        one.add_argument("--name", default="solution", help="of the files (solution)")
        one.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (out)")
        if kind == "point":
            one.add_argument("target", nargs="+", metavar="MODULE=X,Y,Z", help="where its normal shall look: a=1,0,0")
            one.add_argument("--array", default=l_shape.__name__, help="with hinges psi1 and psi2 (l_shape)")
            continue
        if kind == "attitude":
            one.add_argument("quaternion", type=float, nargs=4, metavar="Q", help="w x y z, from identity")
            one.add_argument("--array", default=l_shape.__name__, help="with hinges psi1 and psi2 (l_shape)")
            one.add_argument("--inertia", choices=("thin", "equal"), default="thin", help="of the l_shape's panels")
            continue
        if kind == "path":
            _add_path(one)
            continue
        turn: Any = one if kind == "plane" else one.add_mutually_exclusive_group(required=True)
        turn.add_argument("--turn", type=float, required=kind == "plane", metavar="DEG", help="of rod a of three rods")
        if kind != "plane":
            turn.add_argument("--to", type=float, nargs=4, metavar="Q", help="w x y z of an array of panels")
            one.add_argument("--array", default=l_shape.__name__, help="with --to: of two hinges (l_shape)")
        one.add_argument("--lengths", type=_numbers, metavar="A,B,C", help="[m] (2,2,2)")
        one.add_argument("--masses", type=_numbers, metavar="A,B,C", help="[kg] (1)")
        if kind == "plane":
            continue
        if kind == "effort":
            one.add_argument("--time", type=float, required=True, metavar="S", help="of the manoeuvre")
        one.add_argument("--torque", type=float, required=kind == "time", metavar="N·m", help="bound of each hinge")
        one.add_argument("--avoid", action="store_true", help="rods or panels must not touch")
        starts = "first guesses that compete (rods: 8 loops and the best rectangles; panels: 1)"
        one.add_argument("--starts", type=int, metavar="N", help=starts)
        one.add_argument("--intervals", type=int, metavar="N", help="of the first mesh (40); rods")
    return parser
