"""`rbt node` does what the launch files do, without ROS's launch: namespace, mode, rate, RViz beside the node."""

import argparse
import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from rbt_ros.errors import SetupError
from rbt_ros.model.scenario import Scenario
from rbt_ros.rviz import rviz_text

END_S = 5.0  # how long RViz may take to end


def ros_arguments(options: argparse.Namespace) -> list[str]:
    """Those options in ROS's own words."""
    words = []
    if options.namespace is not None:
        words += ["-r", f"__ns:=/{options.namespace.strip('/')}"]
    if options.frame_prefix:
        words += ["-p", f"frame_prefix:={options.frame_prefix}"]
    if options.mode:
        words += ["-p", f"mode:={options.mode}"]
    if options.view:
        words += ["-p", "view:=true"]
    if options.rate is not None:
        words += ["-p", f"realtime_factor:={float(options.rate)}"]
    return ["--ros-args", *words, "--"] if words else []


@contextlib.contextmanager
def rviz_beside(scenario: Scenario, options: argparse.Namespace) -> Iterator[None]:
    """While it is open, rviz2 shows the scenario, if the options ask for it."""
    if not options.rviz:
        yield
        return
    program = shutil.which("rviz2")
    if program is None:
        raise SetupError("rviz2 is not on PATH: source your ROS (apt: ros-jazzy-rviz2), or leave --rviz out.")
    with tempfile.TemporaryDirectory(prefix="rbt_rviz_") as folder:
        file = written_displays(scenario, options.frame_prefix, folder)
        remap = ["-r", f"__ns:=/{options.namespace.strip('/')}"] if options.namespace else []
        command = [program, "-d", str(file), "--ros-args", "-p", "use_sim_time:=true", *remap]
        child = subprocess.Popen(command, start_new_session=True)  # Ctrl-C is for us
        try:
            yield
        finally:
            child.terminate()
            try:
                child.wait(END_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def written_displays(scenario: Scenario, prefix: str, folder: str | Path) -> Path:
    """The .rviz file of the scenario in `folder`; `prefix` stands before every frame name."""
    file = Path(folder, f"{scenario.name}.rviz")
    file.write_text(rviz_text(scenario, prefix), encoding="utf-8")
    return file
