"""`rbt node` does what the launch files do, without ROS's launch: namespace, mode, rate, RViz beside the node."""

import argparse
import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rbt_ros.errors import ScenarioError, SetupError
from rbt_ros.model.reading import plain_yaml
from rbt_ros.model.scenario import Scenario
from rbt_ros.paths import as_path, content_of
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
def rviz_beside(scenario: Scenario, namespace: str, prefix: str) -> Iterator[None]:
    """While it is open, rviz2 shows the scenario as a node publishes it in that namespace, with that frame prefix."""
    program = shutil.which("rviz2")
    if program is None:
        raise SetupError("rviz2 is not on PATH: source your ROS (apt: ros-jazzy-rviz2), or leave --rviz out.")
    with tempfile.TemporaryDirectory(prefix="rbt_rviz_") as folder:
        file = written_displays(scenario, prefix, folder)
        remap = ["-r", f"__ns:={namespace}"] if namespace.strip("/") else []
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


def parameters_in(file: str | Path, node: str) -> dict[str, Any]:
    """What a file of parameters gives to a node of that name ("/a/rbt_simulator"), by rcl's rules: `*` stands for a
    part of a name, `**` for any number of them, and of several the last one counts."""
    text = content_of(as_path(file, "params_file", ScenarioError), "a file of parameters", ScenarioError).decode(
        "utf-8"
    )
    found: dict[str, Any] = {}
    node = "/" + "/".join(filter(None, node.split("/")))

    def look(tree: Any, name: str) -> None:
        for key, value in tree.items() if isinstance(tree, dict) else ():
            if key != "ros__parameters":
                look(value, f"{name}/{str(key).strip('/')}")
            elif isinstance(value, dict) and re.fullmatch(_pattern(name), node):
                found.update(value)

    look(plain_yaml(text), "")
    return found


def _pattern(name: str) -> str:
    parts = {"*": "/[^/]+", "**": "(/[^/]+)*"}
    return "".join(parts.get(part) or "/" + re.escape(part) for part in name.split("/")[1:])
