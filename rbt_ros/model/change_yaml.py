"""`inputs: [{lock: elbow, at: 2 s}, ...]` of a scenario -> changes of modes, each at its time."""

from collections.abc import Callable
from typing import Any

from rbt_ros.model.constraint_yaml import joint_dimension
from rbt_ros.model.constraints import prescribe
from rbt_ros.model.inputs import PlannedChange
from rbt_ros.model.measured import ON_LOSS, Measured
from rbt_ros.model.modes import DOCK_KINDS, Change, Dock, Lock, Prescribe, Release, Undock, Unlock, check_change
from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.schema import TEXT, TIME, Key, Section, Value, any_of, checked, choice, list_of, vector
from rbt_ros.model.yaml_parts import MOTION, motion, pair, placed

NAMES = list_of(TEXT)


def _hinges(item: Item) -> tuple[str, ...]:
    return tuple(NAMES.read(item)) if isinstance(item.value, list) else (item.text(),)


AT_TIME = checked(TIME, lambda ns: ns >= 0, "{} lies before the start; it happens at 0 s or later.", minimum=0)
AT = Key("at", AT_TIME, "when it happens", needed=True, to="at_ns")
HINGES = any_of(_hinges, TEXT, NAMES)
SECONDS = Value(lambda item: item.nanoseconds() * 1e-9, TIME.schema)
MEASURED = Section(
    "measured",
    "How a joint follows the samples of its position: docs/testbed.md.",
    Key("delay", SECONDS, "from the measurement of a sample until the joint passes it", Measured().delay),
    Key("timeout", SECONDS, "without a sample, after which the signal is lost; without this key: never"),
    Key("on_loss", choice(ON_LOSS), "what the joint does then: rest, move freely, go to 0", Measured().on_loss),
)
CHANGES = (
    Section("lock", "Hold hinges: docs/locking.md.", Key("lock", HINGES, "one hinge, or several", needed=True), AT),
    Section("unlock", "Let hinges move again.", Key("unlock", HINGES, "one hinge, or several", needed=True), AT),
    Section(
        "dock",
        "Join two bodies as they lie.",
        Key("dock", pair("joined", "[arm, hub]"), "the two bodies, or world and a body", needed=True),
        Key("kind", choice(DOCK_KINDS), "how they are joined", "weld"),
        Key("name", TEXT, "of the dock; without this key: the names of the bodies with _ between"),
        Key("point", vector("length"), "where, in the frame of the first body", [0, 0, 0], to="at"),
        Key("axis", vector(), "of a revolute dock, in the frame of the first body", [0, 0, 1]),
        AT,
    ),
    Section("undock", "Part two bodies.", Key("undock", TEXT, "the name of the dock", needed=True), AT),
    Section(
        "prescribe_from",
        "Let a joint follow a motion, or its measurements, from then on.",
        Key("prescribe", TEXT, "the joint", needed=True),
        Key("motion", MOTION, "its position, or a signal of the time since then"),
        Key("measured", MEASURED, "instead of a motion"),
        AT,
        oneOf=[{"required": ["motion"]}, {"required": ["measured"]}],
    ),
    Section("release", "Let a joint move by itself.", Key("release", TEXT, "the prescribed joint", needed=True), AT),
)


MADE: dict[str, Callable[..., Change]] = {"lock": Lock, "unlock": Unlock, "undock": Undock, "release": Release}


def planned_change(word: str, given: dict[str, Any], item: Item, robot: Robot) -> PlannedChange:
    """What is read of one of `CHANGES`, by its first key."""
    change = _change(word, given, item, robot)
    placed(item, check_change, robot, change)
    return PlannedChange(change, given["at_ns"])


def _change(word: str, given: dict[str, Any], item: Item, robot: Robot) -> Change:
    if word == "dock":
        return Dock(*given["dock"], **{key: given[key] for key in Dock._fields if key in given})
    if word != "prescribe":
        return MADE[word](given[word])
    if "measured" in given and "motion" in given:
        raise item.error("give motion, or measured, not both.")
    joint = given[word]
    if "measured" in given:
        return Prescribe(joint, Measured(**given["measured"]))
    followed = motion(item["motion"], joint_dimension(robot, joint))
    placed(item["motion"], prescribe, joint, followed)
    return Prescribe(joint, followed)
