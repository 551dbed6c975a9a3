"""Recorder: looks on while a Simulation runs, and writes a bag of it."""

import functools
import platform
from pathlib import Path
from typing import Any

import numba
import numpy as np

from rbt_ros import __version__
from rbt_ros.bags.cdr import encode_strictly
from rbt_ros.bags.recording import MOST_WAITING, Recording, Report
from rbt_ros.bags.types import Types
from rbt_ros.command_log import friction_name
from rbt_ros.errors import ScenarioError
from rbt_ros.kinds import in_words
from rbt_ros.model.inputs import Effort, Latched
from rbt_ros.model.scenario import OUTPUT_RATES, Scenario
from rbt_ros.sensing import Reader, due, next_due, warn
from rbt_ros.sim import Simulation

FORMAT = 1


def run_of(
    sim: Simulation,
    scenario: Scenario | None,
    *,
    wrench_at: str = "origin",
    wrench_hold: float = 0.1,
    frame_prefix: str = "",
) -> dict[str, Any]:
    """What runs, so that it can be run again: the scenario, and all that the future of `sim` depends on.

    wrench_at, wrench_hold: how wrenches of the command log are to be read.
    """
    try:
        memory, obstacle = sim.memory(), ""
    except ScenarioError as err:
        memory, obstacle = None, str(err)
    return {
        "rbt_run": FORMAT,
        "name": scenario.name if scenario else sim.robot.name,
        "scenario": scenario.text if scenario else "",
        "folder": _folder(scenario),
        "seed": sim.seed,
        "step_ns": sim.h_ns,
        "integrator": sim.integrator,
        "wrench_at": wrench_at,
        "wrench_hold": wrench_hold,
        "frame_prefix": frame_prefix,
        "versions": {
            "rbt_ros": __version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
            "machine": platform.machine(),
        },
        "tick": sim.tick,
        "t_ns": sim.t_ns,
        "digest": sim.digest(),
        "memory": memory,
        "obstacle": obstacle,
    }


def _folder(scenario: Scenario | None) -> str:
    return str(scenario.folder) if scenario and scenario.folder else ""


class Recorder:
    """Records a Simulation from now on: `with rbt.Recorder("flight", sim): sim.run(10.0)`.

    A run without a clock waits where the disk is slower; nothing is lost. The motion keeps its bits.
    """

    @in_words(ScenarioError)
    def __init__(
        self,
        folder: str | Path,
        sim: Simulation,
        *,
        outputs: dict[str, float] | None = None,
        compression: str = "zstd",
        split_bytes: int = 0,
        split_s: float = 0.0,
        most_waiting: int = MOST_WAITING,
        apart: bool = False,
    ):
        """folder: of the bag, not there yet. outputs: rates [Hz] by key, in place of the scenario's.

        compression: zstd, lz4, none. split_bytes [bytes], split_s [s]: a new file begins beyond; 0: never. apart: a
        process of its own writes, for a run whose steps are paced; a thread of this one is ready sooner.
        """
        scenario = sim.scenario
        self._sim, self._sensors, self._reader = sim, tuple(sim.sensors.values()), Reader(sim, warn)
        self._check = functools.partial(encode_strictly, types := Types())
        for sensor in self._sensors:
            for message in sensor.kind.messages:
                if not types.has(message.type):
                    raise ScenarioError(f"{sensor}: a bag has standard messages of ROS 2 only, no {message.type}.")
        clock_start_ns = scenario.clock_start_ns if scenario else 1_000_000_000
        self._zero_ns = clock_start_ns - sim.t_ns  # the stamp of t = 0
        rates = scenario.outputs if scenario else OUTPUT_RATES
        self.recording = Recording(
            folder,
            sim.robot,
            h_ns=sim.h_ns,
            outputs={**rates, **checked_outputs(outputs or {})},
            clock_start_ns=clock_start_ns,
            compression=compression,
            split_bytes=split_bytes,
            split_s=split_s,
            most_waiting=most_waiting,
            extra=tuple((topic, m.type) for sensor in self._sensors for topic, m in sensor.topics),
            mounts=tuple(sensor.mount for sensor in self._sensors if sensor.mount),
            apart=apart,
        )
        sample, self._last = sim.sample(), self._stamp(sim)
        self.recording.begin(sample, self._last, run_of(sim, scenario))
        self._take(sim)
        sim.attach(self)

    def _stamp(self, sim: Simulation) -> int:
        return self._zero_ns + sim.t_ns

    # Observer

    def next_tick(self, tick: int) -> int:
        """The first tick after this one at which something is recorded."""
        next_tick = tick + self.recording.ticks_to_next(self._stamp(self._sim))
        return min(next_tick, next_due(self._sensors, self._sim.ticks, tick)) if self._sensors else next_tick

    def look(self, sim: Simulation) -> None:
        """Record what is due now."""
        self._last = self._stamp(sim)
        self._take(sim)

    def _take(self, sim: Simulation) -> None:
        sample = sim.sample()
        self.recording.take(sample, self._last, wait=True)
        for sensor in due(self._sensors, sim.ticks, sim.tick):
            for topic, message in sensor.topics:
                if (fields := self._reader.fields(sensor, message, "", self._check, sample, self._last)) is not None:
                    self.recording.put(topic, fields, self._last, always=True)

    def latched(self, sim: Simulation, latched: Latched) -> None:
        """Record a command."""
        self._last = self._stamp(sim)
        self.recording.note(latched, self._last)

    def effort(self, sim: Simulation, effort: Effort) -> None:
        """Record an effort."""
        self._last = self._stamp(sim)
        self.recording.note_effort(effort, self._last)

    def friction(self, sim: Simulation, hinge: str, given: dict[str, float]) -> None:
        """Record it as parameters."""
        self.note_parameters({friction_name(hinge, key): value for key, value in given.items()})

    def note_parameters(self, values: dict[str, Any]) -> None:
        """Record parameters that act on the motion from the next step on."""
        self._last = self._stamp(self._sim)
        self.recording.note_parameters(values, self._last)

    def changed(self, sim: Simulation) -> None:
        """Record what runs from now on; stamps never go back."""
        before = self._last
        if self._stamp(sim) < before:
            self._zero_ns = before + sim.h_ns - sim.t_ns
        self._last = self._stamp(sim)
        self.recording.runs(self._last, run_of(sim, sim.scenario), after=before)

    # the end

    def close(self) -> Report:
        """Look on no more; write what waits, the index, metadata.yaml."""
        self._sim.detach(self)
        return self.recording.close()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def checked_outputs(outputs: dict[str, float]) -> dict[str, float]:
    """Rates by key, or ScenarioError."""
    for key, rate in outputs.items():
        if key not in OUTPUT_RATES:
            raise ScenarioError(f"output '{key}' is not one of {', '.join(OUTPUT_RATES)}.")
        if not (isinstance(rate, int | float) and 0 <= rate < 1e9):
            raise ScenarioError(f"rate {rate!r:.40} of output '{key}' must be a number of Hz, 0 or more.")
    return outputs
