"""The command line: `rbt VERB`. Each verb imports what it needs when it runs, so that `rbt --help` is instant."""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rbt_ros import __version__
from rbt_ros.errors import RbtError, SetupError
from rbt_ros.paths import made_folder

DESCRIPTION = """Rigid and multibody dynamics you can check, on ROS 2.

  rbt node cubesat               the simulation on ROS 2 topics, until Ctrl-C
  rbt run cubesat --until 10     the same without ROS: a table, a CSV file, a figure
  rbt info cubesat               what is in a scenario
  rbt convert a.yaml a.urdf      its robot as URDF
  rbt mass hub.stl --unit mm --density 2700     mass, centre of mass and inertia of a mesh or a NASTRAN deck
  rbt study tables               studies that compare: the MATLAB toolbox's solvers; or: rbt study stabilise
  rbt setup-ros                  make the ROS 2 messages that pip does not have
"""
# name -> (module, what it finds out); the module has `main(arguments, progress)` with a parser of its own
STUDIES = {
    "tables": (
        "rbt_ros.studies.tables",
        "the tables of the MATLAB toolbox's thesis again: solvers, attitude formalisms",
    ),
    "stabilise": ("rbt_ros.studies.stabilise", "what keeps angular momentum and energy, and what it costs"),
}


def main() -> None:
    """Entry point `rbt`."""
    parser = _parser()
    arguments, rest = parser.parse_known_args()
    if rest and arguments.verb not in ("node", "study", "setup-ros"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    warnings.showwarning = lambda message, *_: print(f"rbt: warning: {message}", file=sys.stderr)
    try:
        sys.exit(arguments.run(arguments, rest))
    except RbtError as err:
        sys.exit(f"rbt: {err}")
    except KeyboardInterrupt:
        # a node ends by Ctrl-C, also while it still loads; other verbs are broken off
        sys.exit(0 if arguments.verb == "node" else 130)
    except BrokenPipeError:  # `rbt info x | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def simulator() -> None:
    """Entry point `rbt_simulator`: `ros2 run rbt_ros rbt_simulator --ros-args -p scenario:=cubesat`."""
    try:
        sys.exit(_ros_node().spin(args=sys.argv))
    except RbtError as err:
        sys.exit(f"rbt_simulator: {err}")
    except KeyboardInterrupt:
        sys.exit(0)  # while it still loaded: as clean an end as later


def _ros_node() -> Any:
    """The module with the node, or SetupError where ROS is not complete."""
    try:
        from rbt_ros.ros import node
    except ImportError as err:
        raise SetupError(
            f"ROS 2 is not complete here ({err}): source your ROS, or pip install 'rbt_ros[ros]' and run rbt setup-ros."
        ) from err
    return node


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rbt", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"rbt_ros {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    node = verbs.add_parser(
        "node",
        help="run a scenario as a ROS 2 node",
        description="Run a scenario as a ROS 2 node until Ctrl-C. ROS arguments go behind --ros-args, as everywhere: "
        "rbt node cubesat --ros-args -p frame_prefix:=a/ -r __ns:=/a",
    )
    _add_scenario(node)
    node.add_argument("--duration", type=_positive, metavar="S", help="end after S seconds of wall time")
    node.set_defaults(run=_node)

    run = verbs.add_parser(
        "run",
        help="run a scenario without ROS, as fast as it goes",
        description="Run a scenario without ROS. Prints what was kept (energy, momentum); writes OUT/NAME.csv and, "
        "with matplotlib, OUT/NAME.png.",
    )
    _add_scenario(run)
    run.add_argument("--until", type=_positive, metavar="S", help="scenario time to go to [s]; default: its duration")
    run.add_argument("--every", type=_positive, metavar="S", help="time between samples [s]; default: 1000 samples")
    run.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (default: out)")
    run.add_argument(
        "--stabilise",
        metavar="HOW",
        help="none, gradient or projection, in place of the scenario's own (docs/stabilise.md)",
    )
    run.set_defaults(run=_run)

    info = verbs.add_parser(
        "info", help="what is in a scenario", description="Check a scenario and print what it holds."
    )
    _add_scenario(info)
    info.set_defaults(run=_info)

    convert = verbs.add_parser(
        "convert",
        help="write a robot as URDF",
        description="Read the robot of a scenario, a URDF or a xacro file, check it, and write it as URDF "
        "(docs/urdf.md): rbt convert arm.urdf.xacro arm.urdf",
    )
    convert.add_argument("source", help="a scenario YAML file or the name of a shipped one, *.urdf or *.xacro")
    convert.add_argument("target", type=Path, help="the URDF file to write (*.urdf)")
    convert.set_defaults(run=_convert)

    mass = verbs.add_parser(
        "mass",
        help="mass, centre of mass and inertia of a mesh or a NASTRAN deck",
        description="Print mass properties as a table and as URDF <inertial>. FILE is a closed mesh (STL, OBJ, PLY, "
        "GLB), taken as a solid or with --shell as plates, or a NASTRAN deck (docs/mass.md): "
        "rbt mass hub.stl --unit mm --density '2.7 g/cm3'; rbt mass sat.bdf --unit mm --mass-unit t",
    )
    mass.add_argument("file", help="a mesh file, or a NASTRAN deck (*.bdf, *.dat, *.nas, *.blk, *.bulk)")
    mass.add_argument("--unit", metavar="U", help="unit of the lengths in the file: m, mm, cm, in, ...")
    mass.add_argument("--density", type=_quantity("density"), metavar="D", help="of a mesh: 2700 [kg/m³], '2.7 g/cm3'")
    mass.add_argument("--mass", type=_quantity("mass"), metavar="M", help="of a mesh, instead: 3 [kg], '3 g'")
    mass.add_argument("--shell", action="store_true", help="the facets of the mesh are plates, not the skin of a solid")
    mass.add_argument("--thickness", type=_quantity("length"), metavar="T", help="of a shell: 0.001 [m], '1 mm'")
    mass.add_argument("--mass-unit", metavar="U", help="of a NASTRAN deck: its unit of mass: kg, t, g, slinch, ...")
    mass.add_argument("--ignore", action="append", default=[], metavar="CARD", help="pass over such NASTRAN cards")
    mass.add_argument("--lumped", action="store_true", help="NASTRAN elements as point masses, as in pyNastran")
    mass.add_argument("--allow-degenerate", action="store_true", help="take facets without area as they are")
    mass.add_argument("--json", action="store_true", help="print JSON instead")
    mass.set_defaults(run=_mass)

    study = verbs.add_parser(
        "study",
        help="measure and compare: tables, figures",
        description="Studies that measure and compare, with a table and a figure each. Options: rbt study NAME --help",
    )
    names = study.add_subparsers(dest="study", required=True, metavar="NAME")
    for name, (_, what) in STUDIES.items():
        names.add_parser(name, help=what, add_help=False)
    study.set_defaults(run=_study)

    setup = verbs.add_parser("setup-ros", help="make the ROS 2 messages that pip does not have", add_help=False)
    setup.set_defaults(run=_setup_ros)
    return parser


def _add_scenario(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scenario", help="a scenario YAML file, or the name of a shipped one (cubesat)")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 9e9:  # 64 bits of nanoseconds
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of seconds below 9e9")
    return value


def _quantity(dimension: str) -> Callable[[str], float]:
    """Reads a number in SI, or one with a unit of that dimension."""

    def read(text: str) -> float:
        from rbt_ros.model.units import quantity

        try:
            return quantity(text, dimension)
        except ValueError as err:
            raise argparse.ArgumentTypeError(str(err)) from err

    return read


def _node(arguments: argparse.Namespace, rest: list[str]) -> int:
    from rbt_ros.model.scenario import read_scenario

    scenario = read_scenario(arguments.scenario)
    scope = os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    node = _ros_node()
    _warn_of_compiling()
    print(
        f"{scenario.name} runs as /{node.NAME}, scope {scope}. Topics to look at:\n"
        "  /tf  /odom  /joint_states  /robot_description  /diagnostics  /clock; push it on /wrench. Ctrl-C ends.",
        flush=True,
    )
    line = StatusLine()
    try:
        return node.spin(scenario, [sys.argv[0], *rest], arguments.duration, watch=line.show)
    finally:
        line.close()


class StatusLine:
    """One line about the run, rewritten in a terminal, repeated every 5 s elsewhere."""

    def __init__(self, stream: Any = None):
        self._stream = stream if stream is not None else sys.stdout
        self._live = self._stream.isatty()
        self._next = 0.0
        self._shown = False

    def show(self, node: Any) -> None:
        """Tell time, real-time factor and what is kept."""
        text = node.status_text()
        if not text or not self._live and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 5.0
        self._stream.write(("\r\x1b[K" if self._live else "") + text + ("" if self._live else "\n"))
        self._stream.flush()
        self._shown = True

    def close(self) -> None:
        """Leave the cursor on a fresh line."""
        if self._live and self._shown:
            self._stream.write("\n")
            self._stream.flush()


def _warn_of_compiling() -> None:
    """Say why the first start is slow."""
    from rbt_ros.core import jit

    if jit.is_cold():
        print("compiling the kernels: about 10 s, once", flush=True)


def _run(arguments: argparse.Namespace, rest: list[str]) -> int:
    from rbt_ros.errors import ScenarioError
    from rbt_ros.sim import load
    from rbt_ros.studies.plots import zxz_figure

    scenario = load(arguments.scenario)
    until = arguments.until or (scenario.duration_ns or 0) * 1e-9
    if not until:
        raise ScenarioError(f"scenario '{scenario.name}' has no duration; say how far to go: --until 10")
    sim = scenario.simulation()
    if arguments.stabilise:
        sim.set_stabilise(arguments.stabilise)
    out = made_folder(arguments.out)
    progress = _progress if sys.stderr.isatty() else None
    _warn_of_compiling()
    sim.warm_up()
    started = time.perf_counter()
    result = sim.run(until, arguments.every or until / 1000, progress)
    elapsed = time.perf_counter() - started
    if progress:
        sys.stderr.write("\r\x1b[K")
    csv = out / f"{scenario.name}.csv"
    result.to_csv(csv)
    kept, h = result.samples[-1].conservation, sum(c * c for c in result.angular_momentum_com[-1]) ** 0.5
    steps = f"{sim.tick} steps of {sim.h_ns * 1e-6:g} ms"
    print(f"{scenario.name}: {sim.t_ns * 1e-9:g} s in {steps}, {elapsed:.2f} s of computing")
    for change in result.changes:
        print(f"  t = {change.t:.9g} s: {change.what} {', '.join(change.names)}, {change.energy_lost:.6g} J lost")
    print(
        f"  energy               {result.energy.total[-1]:.9g} J, {_drift(kept.energy, kept.energy_since_ns, sim.t_ns)}"
    )
    if (work := result.samples[-1].work) is not None:
        print(f"  work of inputs       {work.inputs:.9g} J, {work.dissipated:.9g} J dissipated")
    drift = _drift(kept.angular_momentum, kept.since_ns, sim.t_ns)
    print(f"  angular momentum     {h:.9g} N·m·s about the CoM, {drift}")
    print(f"  largest | |q| - 1 |  {kept.quaternion:.1e}")
    print(f"  digest               {sim.digest()}")
    print(f"wrote {csv}")
    try:
        figure = csv.with_suffix(".png")
        if len(scenario.robot.free_bodies) == len(scenario.robot.bodies):
            result.plot(figure)
        else:
            zxz_figure(result, figure)
        print(f"wrote {figure}")
    except SetupError as err:
        print(f"no figure: {err}")
    return 0


def _drift(drift: float, since_ns: int, now_ns: int) -> str:
    """What a conserved quantity did since the last input, in words."""
    if drift != drift:  # NaN
        return "not kept by this system"
    if since_ns == now_ns:
        return "changed by the inputs"
    return f"relative drift {drift:.2e}" + (f" since {since_ns * 1e-9:g} s" if since_ns else "")


def _progress(fraction: float) -> None:
    """A bar on one line, which goes when all is done."""
    if fraction >= 1.0:
        sys.stderr.write("\r\x1b[K")
        return
    width = 40
    done = int(fraction * width)
    sys.stderr.write(f"\r[{'#' * done}{'.' * (width - done)}] {100 * fraction:3.0f} %")
    sys.stderr.flush()


def _info(arguments: argparse.Namespace, rest: list[str]) -> int:
    from rbt_ros.sim import load

    scenario = load(arguments.scenario)
    robot = scenario.robot
    size = f"{len(robot.bodies)} bodies, {robot.freedoms} freedoms, {robot.mass:g} kg"
    print(f"{scenario.name}: robot '{robot.name}', {size}")
    for body, hinge in zip(robot.bodies, robot.hinges, strict=True):
        moments = ", ".join(f"{m:.6g}" for m in sorted(body.inertia.diagonal()))
        print(f"  {body.name}: {hinge.kind.name.lower()} on {hinge.parent}, {body.mass:g} kg, inertia {moments} kg·m²")
    for constraint in robot.constraints:
        print(f"  {constraint.kind} {constraint.name}: {constraint.among}")
    g = ", ".join(f"{c:g}" for c in scenario.gravity)
    print(f"  gravity {g} m/s²; step {scenario.h_ns * 1e-6:g} ms, {scenario.integrator}; mode {scenario.mode}")
    rates = ", ".join(f"{key} {rate:g}" for key, rate in scenario.outputs.items())
    print(f"  outputs [Hz]: {rates}")
    return 0


def _convert(arguments: argparse.Namespace, rest: list[str]) -> int:
    from rbt_ros.errors import ModelError
    from rbt_ros.model.scenario import read_scenario
    from rbt_ros.model.urdf import urdf_text
    from rbt_ros.model.urdf_read import load_urdf

    source, target = arguments.source, arguments.target
    if target.suffix != ".urdf":
        raise ModelError(f"'{target}' does not end in .urdf, the one format that is written.")
    robot = load_urdf(source) if source.endswith((".urdf", ".xacro")) else read_scenario(source).robot
    try:
        target.write_text(urdf_text(robot), encoding="utf-8")
    except OSError as err:
        raise ModelError(f"{target} cannot be written: {err}.") from err
    print(f"wrote {target}: robot '{robot.name}', {len(robot.bodies)} bodies, {robot.freedoms} freedoms")
    return 0


def _mass(arguments: argparse.Namespace, rest: list[str]) -> int:
    from rbt_ros.errors import ModelError
    from rbt_ros.model.mass import report
    from rbt_ros.model.mass.files import from_file

    if arguments.shell != (arguments.thickness is not None):
        raise ModelError("--shell and --thickness go together: --shell --thickness '1 mm'.")
    keys = ("unit", "density", "mass", "thickness", "mass_unit", "ignore", "lumped", "allow_degenerate")
    props = from_file(arguments.file, **{key: getattr(arguments, key) for key in keys})
    print(report.as_json(props) if arguments.json else f"{report.table(props)}\n\n{report.urdf_inertial(props)}")
    return 0


def _study(arguments: argparse.Namespace, rest: list[str]) -> int:
    from importlib import import_module

    module, _ = STUDIES[arguments.study]
    progress = _progress if sys.stderr.isatty() else None
    try:
        return import_module(module).main(rest, progress)
    finally:
        if progress:
            sys.stderr.write("\r\x1b[K")


def _setup_ros(arguments: argparse.Namespace, rest: list[str]) -> int:
    from rbt_ros import setup_ros

    return setup_ros.main(rest)


if __name__ == "__main__":
    main()
