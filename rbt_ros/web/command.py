"""`rbt view`: the arguments, and what each kind of source becomes."""

import argparse
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from rbt_ros.bags.bag import Bag
from rbt_ros.errors import ScenarioError
from rbt_ros.model.scenario import Scenario, find_scenario, read_scenario
from rbt_ros.paths import looks_like_bag
from rbt_ros.progress import show_progress
from rbt_ros.sim import Simulation
from rbt_ros.stream.layout import Layout
from rbt_ros.stream.memory import Stream
from rbt_ros.stream.process import served
from rbt_ros.stream.scene import Scene, described
from rbt_ros.web import bag_frames, export
from rbt_ros.web.build import build
from rbt_ros.web.live import Live
from rbt_ros.web.recording import Frame, Recording, read_arrays, read_table, record, temporary_folder

FPS = 30.0  # of films
TABLES = (".csv", ".npz")


def run(given: argparse.Namespace) -> int:
    """Until Ctrl-C, or the end of the duration."""
    if given.build:
        print(f"made {build()}", flush=True)
    if given.source is None and given.build:
        return 0
    if given.source is None:
        raise ScenarioError(
            "say what to view: a scenario, as rbt view cubesat, or a table, as rbt view out/cubesat.csv."
        )
    if not 1e-3 <= given.rate <= 1e3:
        raise ScenarioError(f"--rate {given.rate:g} must lie between 0.001 and 1000.")
    if given.port is not None and not 0 <= given.port <= 65535:
        raise ScenarioError(f"--port {given.port} must lie between 0 and 65535.")
    recorded = given.source.endswith(TABLES) or looks_like_bag(given.source)
    if recorded and given.record is not None:
        raise ScenarioError("--record is of a scenario that runs now; this is a recording already.")
    if recorded:
        return _recorded(given)
    if given.save is not None:
        raise ScenarioError("--save is of a recording: rbt run SCENARIO, then rbt view out/SCENARIO.csv --save FILE.")
    if given.of is not None:
        raise ScenarioError(f"--of is of tables, files and bags; {given.source} is a scenario itself.")
    return _live(given)


@contextmanager
def shown(scenario: Scenario, sim: Simulation) -> Iterator[Callable[[], None]]:
    """Around a run that goes as fast as it can: a function that shows the present, at most 60 times a second."""
    stream = Stream(Layout(sim.robot), _told(scenario, scenario.name))
    due = 0.0

    def show() -> None:
        nonlocal due
        if (now := time.monotonic()) >= due:
            due = now + 1.0 / 60.0
            stream.publish(sim.sample())

    try:
        with served(stream.folder):
            show()
            yield show
            stream.publish(sim.sample())
    finally:
        stream.close()


def _live(given: argparse.Namespace) -> int:
    scenario = read_scenario(given.source)
    _told(scenario, scenario.name)
    live = Live(scenario, given.rate, given.paused, given.record)
    try:
        asked = _until_asked()  # before its address is told
        with served(live.stream.folder, given.port, not given.no_browser):
            live.run(asked.is_set, given.duration)
    finally:
        live.close()
    for report in live.log.reports if live.log else ():
        print(f"wrote {report.folder}: {report.messages} messages, {report.size * 1e-6:.3g} MB")
    return 0


def _recorded(given: argparse.Namespace) -> int:
    """A table or a bag: played, or saved."""
    with temporary_folder() as folder:
        scenario, frames, damage = _bag(given) if looks_like_bag(given.source) else _table(given)
        scene = _told(scenario, Path(given.source).stem, damage) | {"rate": given.rate}
        if broken := record(frames, scenario.robot, folder, scene):
            warnings.warn(broken, stacklevel=2)
        if given.save is not None:
            return _save(Recording.open(folder), given)
        asked = _until_asked()
        with served(folder, given.port, not given.no_browser):
            asked.wait(given.duration)
    return 0


Source = tuple[Scenario, Iterator[Frame], list[str]]  # and what is known to be broken


def _table(given: argparse.Namespace) -> Source:
    path = Path(given.source)
    if not os.path.isfile(path):
        raise ScenarioError(f"{path} cannot be read: No such file or directory.")
    try:
        find_scenario(given.of or path.stem)
    except ScenarioError as err:
        raise err if given.of else ScenarioError(f"{path}: which scenario ran? Name it: --of SCENARIO.") from err
    scenario = read_scenario(given.of or path.stem)
    read = read_arrays if path.suffix == ".npz" else read_table
    return scenario, read(path, scenario.robot), []


def _bag(given: argparse.Namespace) -> Source:
    bag = Bag(given.source)
    scenario = read_scenario(given.of) if given.of else bag_frames.scenario_of(bag)
    return scenario, bag_frames.frames(bag, scenario.robot), bag.damage


def _told(scenario: Scenario, name: str, damage: Sequence[str] = ()) -> Scene:
    """The scene, with what is wrong in it and in its source; all that in the log, too."""
    scene = described(scenario.robot, name, scenario.gravity, scenario.folder or ".")
    scene["warnings"] = [*scene["warnings"], *damage]
    for text in scene["warnings"]:
        warnings.warn(text, stacklevel=3)
    return scene


def _save(recording: Recording, given: argparse.Namespace) -> int:
    """As one HTML file, or as a film at that rate."""
    if given.save.suffix == ".html":
        export.write_html(recording, given.save)
    elif given.save.suffix == ".png":
        export.write_strip(recording, given.save, np.linspace(recording.t[0], recording.t[-1], export.STRIP).tolist())
    else:
        first, last = recording.t[0], recording.t[-1]
        count = max(1, round((last - first) / given.rate * FPS))
        times = [first + k * given.rate / FPS for k in range(count)]
        export.write_film(recording, given.save, times=times, fps=FPS, progress=show_progress)
    print(f"wrote {given.save}")
    return 0


def _until_asked() -> threading.Event:
    """Set by Ctrl-C or SIGTERM."""
    asked = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: asked.set())
    return asked
