"""Hinge modes as parameters say them -> changes of the robot's modes: which hinges lock, which joints are driven."""

from rbt_ros.model.constraints import PRESCRIBE
from rbt_ros.model.hinge_commands import LOCKED, PRESCRIBED, Law
from rbt_ros.model.measured import Measured
from rbt_ros.model.modes import Change, Lock, Modes, Prescribe, Release, Unlock
from rbt_ros.model.robot import Robot


def changes_for(robot: Robot, modes: Modes, laws: dict[str, Law]) -> list[Change]:
    """What must change so that these joints and spherical hinges are as their laws say; of others nothing.

    Whoever has locked or prescribed one, it is free again where its law is neither.
    """
    release = [
        joint for joint, law in laws.items() if law.mode not in (LOCKED, PRESCRIBED) if _driven(robot, modes, joint)
    ]
    drive = [joint for joint, law in laws.items() if law.mode == PRESCRIBED if joint not in _followers(modes)]
    lock = [hinge for hinge in _hinges(robot, laws, locked=True) if hinge not in modes.locked]
    unlock = [hinge for hinge in _hinges(robot, laws, locked=False) if hinge in modes.locked]
    return [
        *(Release(joint) for joint in release),
        *([Unlock(tuple(unlock))] if unlock else []),
        *([Lock(tuple(lock))] if lock else []),
        *(Prescribe(joint, Measured(delay=laws[joint].delay)) for joint in drive),
    ]


def _hinges(robot: Robot, laws: dict[str, Law], locked: bool) -> list[str]:
    """The hinges of those that are to be locked, or not."""
    names = {joint: hinge.name for hinge in robot.hinges for joint in (hinge.name, *hinge.joint_names)}
    return list(dict.fromkeys(names[joint] for joint, law in laws.items() if (law.mode == LOCKED) == locked))


def _followers(modes: Modes) -> list[str]:
    """The joints that follow what comes while the simulation runs."""
    return [c.name for c in modes.prescribed if c.followed]


def _driven(robot: Robot, modes: Modes, joint: str) -> bool:
    """Whether a joint is prescribed now, by the robot or since."""
    own = any(c.kind == PRESCRIBE and c.name == joint for c in robot.constraints) and joint not in modes.released
    return own or any(c.name == joint for c in modes.prescribed)
