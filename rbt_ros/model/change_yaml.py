"""`inputs: [{lock: elbow, at: 2 s}, ...]` of a scenario -> changes of modes, each at its time."""

from typing import Any

from rbt_ros.model.constraint_yaml import joint_dimension
from rbt_ros.model.constraints import prescribe
from rbt_ros.model.inputs import PlannedChange
from rbt_ros.model.measured import ON_LOSS, Measured
from rbt_ros.model.modes import DOCK_KINDS, Change, Dock, Lock, Prescribe, Release, Undock, Unlock, check_change
from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.yaml_parts import placed, signal

WORDS = ("lock", "unlock", "dock", "undock", "prescribe", "release")


def planned_change(item: Item, robot: Robot) -> PlannedChange:
    """{lock: HINGE or [HINGES], at: TIME}, unlock likewise; {dock: [A, B], kind:, name:, point:, axis:, at:};
    {undock: NAME, at:}; {prescribe: JOINT, motion: or measured:, at:}; {release: JOINT, at:}."""
    word = next(word for word in WORDS if word in item)
    extra = {"dock": ("kind", "name", "point", "axis"), "prescribe": ("motion", "measured")}.get(word, ())
    item.mapping(word, *extra, "at")
    at_ns = item["at"].nanoseconds()
    if at_ns < 0:
        raise item["at"].error(f"{item['at'].value} lies before the start; it happens at 0 s or later.")
    change = _change(word, item, robot)
    placed(item, check_change, robot, change)
    return PlannedChange(change, at_ns)


def _change(word: str, item: Item, robot: Robot) -> Change:
    if word == "dock":
        return _dock(item)
    if word == "undock":
        return Undock(item["undock"].text())
    if word == "release":
        return Release(item["release"].text())
    if word == "prescribe":
        joint = item["prescribe"].text()
        if "measured" in item:
            return Prescribe(joint, _measured(item))
        motion = item["motion"]
        moving = isinstance(motion.value, dict)
        given: Any = signal(motion) if moving else motion.number(joint_dimension(robot, joint))
        placed(motion, prescribe, joint, given)
        return Prescribe(joint, given)
    several = isinstance(item[word].value, list)
    hinges = tuple(entry.text() for entry in (item[word].entries() if several else [item[word]]))
    return Lock(hinges) if word == "lock" else Unlock(hinges)


def _measured(item: Item) -> Measured:
    """{delay: TIME, timeout: TIME, on_loss: hold, free or zero}: what is left out is as in `Measured`."""
    if "motion" in item:
        raise item.error("give motion, or measured, not both.")
    given, how = item["measured"], Measured()
    given.mapping("delay", "timeout", "on_loss")
    if "delay" in given:
        how = how._replace(delay=given["delay"].nanoseconds() * 1e-9)
    if "timeout" in given:
        how = how._replace(timeout=given["timeout"].nanoseconds() * 1e-9)
    return how._replace(on_loss=given["on_loss"].choice(*ON_LOSS)) if "on_loss" in given else how


def _dock(item: Item) -> Dock:
    bodies = [body.text() for body in item["dock"].entries()]
    if len(bodies) != 2:
        raise item["dock"].error(f"names the two bodies that are joined, not {len(bodies)}: [arm, hub].")
    given: dict[str, Any] = {}
    if "kind" in item:
        given["kind"] = item["kind"].choice(*DOCK_KINDS)
    if "name" in item:
        given["name"] = item["name"].text()
    if "point" in item:
        given["at"] = item["point"].vector("length")
    if "axis" in item:
        given["axis"] = item["axis"].vector("plain number")
    return Dock(bodies[0], bodies[1], **given)
