"""`rbt run`: a scenario without ROS."""

import argparse
import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from rbt_ros.cli.arguments import above_zero, add_scenario, positive
from rbt_ros.cli.sampling import warn_of_far_samples
from rbt_ros.errors import ScenarioError, SetupError
from rbt_ros.interruptible import interruptible
from rbt_ros.model.scenario import Scenario
from rbt_ros.paths import made_folder
from rbt_ros.progress import show_progress
from rbt_ros.results import Result
from rbt_ros.sim import Simulation, load

Progress = Callable[[float], None]


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Run a scenario without ROS. Prints what was kept (energy, momentum); writes OUT/NAME.csv and, "
        "with matplotlib, OUT/NAME.png."
    )
    add_scenario(parser)
    parser.add_argument("--until", type=positive, metavar="S", help="scenario time to go to [s]; default: its duration")
    parser.add_argument("--every", type=positive, metavar="S", help="time between samples [s]; default: 1000 samples")
    parser.add_argument(
        "--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (default: out)"
    )
    parser.add_argument(
        "--stabilise",
        metavar="HOW",
        help="none, gradient or projection, in place of the scenario's own (docs/stabilise.md)",
    )
    parser.add_argument("--reactions", action="store_true", help="tell what the hinges transmit too (docs/hinges.md)")
    parser.add_argument("--view", action="store_true", help="show it in the browser meanwhile (docs/view.md)")
    parser.add_argument("--record", type=Path, metavar="BAG", help="record a bag: a folder that is not there yet")
    bag = parser.add_argument_group("of the bag that --record makes (docs/bags.md)")
    bag.add_argument("--storage", choices=("mcap", "sqlite3"), help="sqlite3: converted once the run is over (mcap)")
    bag.add_argument("--compression", choices=("zstd", "lz4", "none"), help="of each chunk of MCAP (zstd)")
    bag.add_argument("--split-mb", type=above_zero, metavar="MB", help="a new file begins when one holds more")
    bag.add_argument("--split-s", type=positive, metavar="S", help="a new file begins when one holds more [s]")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Run it, tell what came out, write the files."""
    _check_bag(arguments)
    scenario = load(arguments.scenario)
    until = arguments.until or (scenario.duration_ns or 0) * 1e-9
    if not until:
        raise ScenarioError(f"scenario '{scenario.name}' has no duration; say how far to go: --until 10")
    sim = interruptible(scenario.simulation)
    if arguments.stabilise:
        sim.set_stabilise(arguments.stabilise)
    out = made_folder(arguments.out)
    progress: Progress | None = show_progress if sys.stderr.isatty() else None
    interruptible(sim.warm_up)
    started = time.perf_counter()
    with _recorded(arguments, sim), _shown(arguments.view, scenario, sim, progress) as progress:
        result = sim.run(until, arguments.every or _thousandth(until, sim.h_ns * 1e-9), progress)
    elapsed = time.perf_counter() - started
    steps = f"{sim.tick} steps of {sim.h_ns * 1e-6:g} ms"
    print(f"{scenario.name}: {sim.t_ns * 1e-9:g} s in {steps}, {elapsed:.2f} s of computing")
    _tell(result, sim.digest())
    spin = np.linalg.norm([sample.twist[:, :3] for sample in result.samples], axis=2)
    spins = {body.name: (result.t, spin[:, k]) for k, body in enumerate(result.robot.bodies)}
    warn_of_far_samples(spins, sim.h_ns * 1e-9)
    csv = out / f"{scenario.name}.csv"
    result.to_csv(csv, reactions=arguments.reactions)
    print(f"wrote {csv}")
    try:
        _draw(result, csv.with_suffix(".png"))
        if arguments.reactions:
            _draw_reactions(result, csv.with_name(f"{scenario.name}_reactions.png"))
    except SetupError as err:
        print(f"no figure: {err}")
    return 0


def _check_bag(arguments: argparse.Namespace) -> None:
    """ScenarioError where options of a bag do not go together, or the bag is there already."""
    of_mcap = {"--compression": arguments.compression, "--split-mb": arguments.split_mb, "--split-s": arguments.split_s}
    given = [name for name, value in {"--storage": arguments.storage, **of_mcap}.items() if value]
    if given and arguments.record is None:
        raise ScenarioError(f"{', '.join(given)}: of a bag, and none is recorded; say where: --record BAG")
    if arguments.storage == "sqlite3":
        if others := [name for name in given if name in of_mcap]:
            raise ScenarioError(f"{', '.join(others)}: for --storage mcap only; sqlite3 is one file, as it is.")
        if os.path.exists(arguments.record):
            raise ScenarioError(f"the bag {arguments.record} is there already; give another name, or remove it.")


@contextlib.contextmanager
def _recorded(arguments: argparse.Namespace, sim: Simulation) -> Iterator[None]:
    """Around what is to be recorded, where it is."""
    folder: Path | None = arguments.record
    if folder is None:
        yield
        return
    from rbt_ros.bags.recorder import Recorder

    converted = arguments.storage == "sqlite3"
    written = folder.with_name(f"{folder.name}_mcap") if converted else folder
    split_bytes, split_s = round((arguments.split_mb or 0.0) * 1e6), arguments.split_s or 0.0
    compression = arguments.compression or "zstd"
    with Recorder(written, sim, compression=compression, split_bytes=split_bytes, split_s=split_s) as recorder:
        yield
    report = recorder.close()
    size = report.size
    if converted:
        from rbt_ros.bags.bag import Bag
        from rbt_ros.bags.convert import write_bag

        write_bag(Bag(written), folder, "sqlite3")
        shutil.rmtree(written)
        size = Bag(folder).size
    print(f"wrote {folder}: {report.messages} messages, {size * 1e-6:.3g} MB")


@contextlib.contextmanager
def _shown(wanted: bool, scenario: Scenario, sim: Simulation, progress: Progress | None) -> Iterator[Progress | None]:
    """Around what is to be shown in the browser, where it is: what to call after each sample."""
    if not wanted:
        yield progress
        return
    from rbt_ros.web.command import shown

    with shown(scenario, sim) as show:

        def both(fraction: float) -> None:
            show()
            if progress is not None:
                progress(fraction)

        yield both


def _thousandth(until: float, step: float) -> float:
    """A thousandth of the run, in whole steps."""
    return max(1, round(until / 1000 / step)) * step


def _tell(result: Result, digest: str) -> None:
    """What was kept, what has changed."""
    last = result.samples[-1]
    for change in result.changes:
        came = change.error or f"{', '.join(change.names)}, {change.energy_lost:.6g} J lost"
        print(f"  t = {change.t:.9g} s: {change.what} {came}")
    kept, h = last.conservation, sum(c * c for c in last.angular_momentum_com) ** 0.5
    print(f"  energy               {last.energy.total:.9g} J, {_drift(kept.energy, kept.energy_since_ns, last.t_ns)}")
    if last.work is not None:
        print(f"  work of inputs       {last.work.inputs:.9g} J, {last.work.dissipated:.9g} J dissipated")
    drift = _drift(kept.angular_momentum, kept.since_ns, last.t_ns)
    print(f"  angular momentum     {h:.9g} N·m·s about the CoM, {drift}")
    print(f"  largest | |q| - 1 |  {kept.quaternion:.1e}")
    print(f"  digest               {digest}")


def _draw(result: Result, figure: Path) -> None:
    """The figure that fits the robot."""
    from rbt_ros.studies.plots import zxz_figure

    if len(result.robot.free_bodies) == len(result.robot.bodies):
        result.plot(figure)
    else:
        zxz_figure(result, figure)
    print(f"wrote {figure}")


def _drift(drift: float, since_ns: int, now_ns: int) -> str:
    """What a conserved quantity did since the last input, in words."""
    if drift != drift:  # NaN
        return "not kept by this system"
    if since_ns == now_ns:
        return "changed by the inputs"
    found = f"relative drift {drift:.2e}" if drift else "kept to round-off"
    return found + (f" since {since_ns * 1e-9:g} s" if since_ns else "")


def _draw_reactions(result: Result, figure: Path) -> None:
    from rbt_ros.studies.plots import reaction_figure

    reaction_figure(result, figure)
    print(f"wrote {figure}")
