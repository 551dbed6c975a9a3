"""Checkpoints: a file from which a simulation goes on with the bits it would have had, pending commands included.

JSON, numbers with all their digits. Noise of sensors follows from seed and time; `rbt_ros.case_rng` makes random
numbers of a case from its seed, which the file pins with the scenario.
"""

import contextlib
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from rbt_ros.errors import RbtError, ScenarioError
from rbt_ros.kinds import in_words
from rbt_ros.model.checks import STAMP_END_NS
from rbt_ros.paths import as_path
from rbt_ros.sim import Simulation

FORMAT = 4
BEGINNING = re.compile(rb'\{\s*"rbt_checkpoint"|\Z')  # an empty file is as good as none


@in_words(ScenarioError)
def save_state(sim: Simulation, file: str | Path) -> None:
    """Write everything that the future of `sim` depends on."""
    write_state(sim.memory(), file)


def write_state(memory: dict[str, Any], file: str | Path, clock_ns: int = 0) -> None:
    """Write what `Simulation.memory` gave. The file is whole or not there, whenever this is ended."""
    path = as_path(file, "checkpoint", ScenarioError)
    sha256 = checksum([clock_ns, memory])
    content = {"rbt_checkpoint": FORMAT, "clock_ns": clock_ns, "sha256": sha256, "simulation": memory}
    text = json.dumps(content, indent=1)
    refusal = f"checkpoint '{path}' cannot be written"
    if os.path.exists(path) and not os.path.isfile(path):  # unlike those of a Path they take any name
        raise ScenarioError(f"{refusal}: that is no file; name one.")
    if not _may_be_replaced(path):
        raise ScenarioError(f"{refusal}: a file of that name is there, and it is no checkpoint; give another name.")
    draft = path.parent / f"{path.name}.{os.getpid()}.part"
    try:
        with draft.open("w", encoding="utf-8") as out:
            out.write(text + "\n")
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    except (OSError, ValueError) as err:
        with contextlib.suppress(OSError, ValueError):  # no such file, where its name is what is wrong
            draft.unlink()
        raise ScenarioError(f"{refusal}: {getattr(err, 'strerror', err)}.") from err


def _may_be_replaced(path: Path) -> bool:
    """Whether nothing is there, or something that begins as a checkpoint does, of any format, damaged or not."""
    try:
        with path.open("rb") as file:
            return BEGINNING.match(file.read(100)) is not None
    except FileNotFoundError:
        return True
    except (OSError, ValueError):  # told by who writes; what cannot be read is not ours to replace
        return not os.path.exists(path)


def checksum(written: Any) -> str:
    """By which a file is known to hold what was written: a damaged number is as good a number as any other."""
    return hashlib.sha256(json.dumps(written).encode()).hexdigest()


def read_state(file: str | Path) -> dict[str, Any]:
    """The content of a checkpoint; ScenarioError where it is none."""
    path = as_path(file, "checkpoint", ScenarioError)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for
        raise ScenarioError(f"checkpoint {path} cannot be read: that is no file; name one.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as err:
        raise ScenarioError(f"checkpoint {path} cannot be read: {err.strerror}.") from err
    except (ValueError, RecursionError) as err:
        raise ScenarioError(f"{path} is no checkpoint: {err}.") from err
    if not isinstance(content, dict) or content.get("rbt_checkpoint") != FORMAT:
        raise ScenarioError(f"{path} is no checkpoint of format {FORMAT}.")
    if type(clock := content.get("clock_ns")) is not int or not 0 <= clock < STAMP_END_NS:
        raise ScenarioError(
            f"checkpoint {path} is damaged: clock_ns is {clock!r}, not a time [ns] that stamps can hold."
        )
    if content.get("sha256") != checksum([clock, content.get("simulation")]):
        raise ScenarioError(f"checkpoint {path} is damaged: its content is not what was written; save it anew.")
    return content


@in_words(ScenarioError)
def load_state(sim: Simulation, file: str | Path) -> None:
    """Let `sim` go on from a checkpoint of the same scenario."""
    restore(sim, read_state(file), file)


def restore(sim: Simulation, content: dict[str, Any], file: str | Path) -> None:
    """Let `sim` go on from what `read_state` found in `file`; nothing changes when it does not fit."""
    try:
        sim.recall(content["simulation"])
    except RbtError as err:
        raise ScenarioError(f"checkpoint {file}: {err}") from err


def rehearse(twin: Simulation, content: dict[str, Any], file: str | Path) -> None:
    """ScenarioError where a simulation like `twin` could not go on from there, or from its start. Compiles for both."""
    restore(twin, content, file)
    try:
        twin.warm_up()
        twin.advance(1)
        twin.sample().digest()
        twin.reset()
        twin.advance(1)
    except RbtError as err:
        raise ScenarioError(f"from checkpoint {file} no step can be taken: {err}") from err
    except Exception as err:
        raise ScenarioError(f"checkpoint {file} is damaged: {type(err).__name__}: {err!s:.200}.") from err
