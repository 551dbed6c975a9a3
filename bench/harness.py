"""What all benchmarks share: a row of results, fair timing, the description of the machine."""

import os
import platform
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


class Missing(Exception):
    """What a comparison needs is not on this machine: one sentence."""


class Row(NamedTuple):
    """One comparison. `value` is a ratio, more is better for us, unless the unit says otherwise."""

    value: float
    ours: float | None
    peer: float | None
    unit: str
    note: str = ""  # what was compared, with the error of both sides where that applies


class Group(NamedTuple):
    """Benchmarks that are run together, interleaved."""

    keys: tuple[str, ...]
    run: Callable[[set[str]], dict[str, Row]]  # the wanted ones of its keys -> rows


def interleave(jobs: dict[str, tuple[Callable[[], object], int]], rounds: int = 9) -> dict[str, float]:
    """Median microseconds per operation of each job {name: (callable, operations)}.

    The jobs take turns, so that whatever else the machine does meets all of them alike.
    """
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for call, _ in jobs.values():
        call()
    for _ in range(rounds):
        for name, (call, operations) in jobs.items():
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) / operations * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def machine() -> dict[str, object]:
    """Where this was measured."""
    model = "unknown"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load when started": os.getloadavg()[0],
        "system": platform.platform(),
        "python": platform.python_version(),
        "date": time.strftime("%Y-%m-%d"),
    }
