"""What a step of DOP853 costs in other formulations than the engine's: five bodies (S2), three panels (S4)."""

from harness import Group, Row, interleave

from rbt_ros.studies.formulation_systems import systems
from rbt_ros.studies.formulation_ways import WAYS, Problem

STEP_NS, TICKS = 1_000_000, 20  # few: a slower job must not be interrupted more often
KEYS = tuple(f"{name}_{way}" for name in ("S2", "S4") for way in ("wittenburg", "maximal"))


def formulations(wanted):
    rows, known = {}, {system.name: system for system in systems()}
    for name in ("S2", "S4"):
        keys = [key for key in KEYS if key in wanted and key.startswith(name)]
        if not keys:
            continue
        problem = Problem(known[name])
        ways = {way: WAYS[way](problem, STEP_NS) for way in ("minimal", "wittenburg", "maximal")}
        us = interleave({way: (lambda s=s: s.advance(TICKS), TICKS) for way, s in ways.items()}, rounds=100)
        for key in keys:
            other = us[key.partition("_")[2]]
            rows[key] = Row(other / us["minimal"], us["minimal"], other, "us per step, other / minimal coordinates")
    return rows


GROUPS = [Group(KEYS, formulations)]
