"""What moves now: the robot with its modes taken in, its state, and what holds it."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.forces import spring_potential
from rbt_ros.core.invariants import kinetic_energy
from rbt_ros.core.types import Input
from rbt_ros.core.work import CARRY_ROW, Work, workspace
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.model.arrays import frozen
from rbt_ros.model.assembly import Loops
from rbt_ros.model.checks import remembered
from rbt_ros.model.constraints import drives, follow
from rbt_ros.model.contacts import Contacts
from rbt_ros.model.coordinates import BodyStart, HingeStart, neutral, put_body, put_hinge
from rbt_ros.model.hinge_targets import Aim
from rbt_ros.model.impact import Motion, collide, motion_of
from rbt_ros.model.measured import FREE, Followed, Knot, Measurement, aimed, at_rest, check_measurement, lost, sampled
from rbt_ros.model.mode_changes import Here, Outcome, changed
from rbt_ros.model.mode_memory import modes_memory, modes_of
from rbt_ros.model.modes import Change, Modes
from rbt_ros.model.reactions import Reactions
from rbt_ros.model.reduction import Reduction, reduced, reduction_of, then_memory, whole
from rbt_ros.model.revisions import Revisions
from rbt_ros.model.robot import Robot
from rbt_ros.model.world import sink_floor


class Moved(NamedTuple):
    """What the engine moves, with all that is made for it alone."""

    now: Reduction
    model: t.Model
    y: np.ndarray  # [q, v, account]
    work: Work
    loops: Loops | None
    contacts: Contacts | None


class Mechanism:
    """A robot as the engine moves it: y = [q, v, account], its model and workspace, loops and contacts.

    When its modes change all of these are made anew, for another robot is moved then; the account is carried over.
    """

    def __init__(self, robot: Robot, world: np.ndarray, revisions: Revisions):
        self.robot = robot  # as the user knows it
        self.modes = Modes()
        self.lost = self.driven = 0.0  # [J] since t = 0 in changes of modes: energy lost, work of what is prescribed
        self.stored = 0.0  # [J] in the springs of locked hinges
        self._revisions = revisions
        self._world = world
        self._seen_world = world.view()  # by all models: what is written into `_world` later, they have
        self._seen_world.flags.writeable = False
        self._whole = whole(robot)
        self._become(self._made(self._whole, neutral(robot), np.zeros(0), None))

    def _made(self, now: Reduction, motion: np.ndarray, account: np.ndarray, before: Contacts | None) -> Moved:
        """All that is needed to move that robot from [q, v] on; before: its contacts in other modes."""
        moved, model = now.robot, now.robot.model._replace(world=self._seen_world)
        work = workspace(model, len(account))
        loops = Loops(moved, model, work) if moved.constraints else None
        one_sided = self.robot.ropes or self.robot.stops  # where locks keep them all, they remember what has happened
        contacts = Contacts(moved, model, work, before) if one_sided else None
        return Moved(now, model, np.concatenate([motion, account]), work, loops, contacts)

    def _become(self, moved: Moved) -> None:
        """Let that be what moves."""
        self.now, self.model, y, work, self.loops, self.contacts = moved
        self._put_y(y, work)
        self._revisions.builds()

    def _put_y(self, y: np.ndarray, work: Work) -> None:
        size = self.now.robot.coordinates + self.now.robot.freedoms
        self.y, self.motion, self.work = y, y[:size], work
        self.carry = work.stage[CARRY_ROW, :size]  # beside y: what its positions have lost to rounding

    @property
    def account(self) -> np.ndarray:
        """What y has beside [q, v]."""
        return self.y[len(self.motion) :]

    def open_account(self, size: int) -> None:
        """Make room in y for at least `size` sums of what has acted: see `forces.account`."""
        missing, carry = size - len(self.account), self.carry
        if missing <= 0:
            return
        y = np.append(self.y, np.zeros(missing))
        self._put_y(y, workspace(self.model, size))
        self.carry[:] = carry
        self._revisions.steps()
        for holder in (self.loops, self.contacts):
            if holder:
                holder.set_work(self.work)

    def set_sink_floor(self, h_ns: int) -> None:
        """Steps are so long from now on."""
        self._world[t.SINK_FLOOR] = sink_floor(self.robot, h_ns)

    def back_to(self, modes: Modes, motion: np.ndarray) -> None:
        """The motion of a start, in these modes, which are those of what moves; nothing has happened yet."""
        self.modes = modes
        for joint, followed in self._followed().items():
            self._follow(joint, followed)
        self.y[:] = self.carry[:] = 0.0
        self.motion[:] = motion
        self.lost = self.driven = 0.0
        if self.contacts:
            self.contacts.forget()
        if self.loops:
            self.loops.given = set(), set()
        self._revisions.places(opens=False)

    # as the user sees it

    def seen(self) -> np.ndarray:
        """[q, v] of the whole robot."""
        return self.now.expanded(self.model, self.motion, self.work)

    def put_body(self, name: str, start: BodyStart) -> None:
        """Place a floating body."""
        if name in [self.robot.bodies[i].name for i in self.now.carried]:
            raise ScenarioError(f"body '{name}' is carried by what it is docked to; undock it before it is set.")
        self._put(put_body, name, start)
        if self.loops:
            self.loops.given_body(name, start)

    def put_hinge(self, name: str, start: HingeStart) -> None:
        """Set a hinge."""
        if name in self.modes.locked:
            raise ScenarioError(f"hinge '{name}' is locked; unlock it before it is set.")
        self._put(put_hinge, name, start)
        if self.loops:
            self.loops.given_hinge(name, start)

    def _put(self, put: Callable[[Robot, np.ndarray, str, Any], None], name: str, start: Any) -> None:
        """Set a part of the whole robot, and so what moves of it."""
        if self.now.is_whole:
            put(self.robot, self.y, name, start)
        else:
            motion, nq = self.seen(), self.robot.coordinates
            put(self.robot, motion, name, start)
            self.now.put(motion[:nq], motion[nq:], self.motion)
        self.carry[:] = 0.0
        self._revisions.places(opens=True)

    def reactions(self, acting: Input, t_ns: int) -> Reactions:
        """What the hinges transmit now, to be computed when somebody asks."""
        held = self.contacts.rows if self.contacts else self.loops.rows if self.loops else None
        if held is not None and self._followed():  # motions that measurements write anew
            held = held._replace(signal=frozen(held.signal.copy()), data=frozen(held.data.copy()))
        return Reactions(self.now, self.modes.docked, self.model, self.motion.copy(), acting, t_ns, held)

    # changes of modes

    def bodies(self) -> Motion:
        """How all bodies move."""
        return motion_of(self.model, self.motion, self.work)

    def after(self, changes: Sequence[Change], before: Motion, t_ns: int) -> tuple[list[Outcome], Reduction]:
        """The modes after each change, and what would move after all of them; an error where it cannot be."""
        pose, _ = self.now.frames(before.pose, before.twist)
        q, v = np.split(self.seen(), [self.robot.coordinates])
        modes, outcomes = self.modes, []
        for change in changes:
            outcomes.append(changed(self.robot, modes, change, Here(q, v, pose, t_ns)))
            modes = outcomes[-1].modes
        if not any(outcome.names for outcome in outcomes):
            return outcomes, self.now
        return outcomes, self._whole if modes == Modes() else reduced(self.robot, modes, q, pose)

    def switch(self, modes: Modes, now: Reduction, before: Motion, acting: Input, t_ns: int) -> float:
        """Become what moves in these modes; energy lost [J] as all velocities collide. On an error nothing changes."""
        after = self._made(now, now.restricted(self.seen()), self.account, self.contacts)
        motion = after.y[: now.robot.coordinates + now.robot.freedoms]
        twists = before.com_twist[self.now.rows][now.order]
        lost, kinetic = collide(after.model, motion, twists, after.work, after.loops, acting, t_ns)
        if after.contacts:  # the lock or dock comes first, then what it jerks at
            after.contacts.begin(motion, acting, t_ns, anew=False)
        self.lost += lost
        if drives(now.robot.constraints):
            self.driven += kinetic + lost - kinetic_energy(self.model, before.pose, before.twist, before.spin)
        self._enter(modes, after)
        return lost

    # checkpoints

    def memory(self) -> dict[str, Any]:
        """All that the future depends on, as lists and numbers."""
        return {
            "modes": modes_memory(self.modes),
            "then": then_memory(self.now),
            "y": self.y.tolist(),
            "carry": self.carry.tolist(),
            "energies": [self.lost, self.driven, self.stored],
            "contacts": self.contacts.memory() if self.contacts else None,
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Become what `memory` told."""
        self.modes = modes_of(memory["modes"])
        now = reduction_of(self.robot, self.modes, memory["then"])
        size = now.robot.coordinates + now.robot.freedoms
        motion, account = np.split(remembered(memory["y"], (size,), "coordinates and velocities", more=True), [size])
        self._become(self._made(now, motion, account, None))
        self.carry[:] = memory.get("carry", 0.0)  # none in checkpoints of before
        self.lost, self.driven, self.stored = memory["energies"]
        if self.contacts:
            self.contacts.recall(memory["contacts"])

    # joints that follow measurements

    def measure(self, command: Measurement, t_ns: int) -> tuple[str, ...]:
        """Take samples, all or none; the joints whose signal was lost and is back. MessageError: it is refused."""
        following = self._followed()
        check_measurement(command, self.robot.joint_names, tuple(following))
        measured_ns = t_ns - command.age_ns
        for joint in command.joints:
            last = following[joint].last
            if last is not None and measured_ns <= last[0]:
                raise MessageError(
                    f"measurement of joint '{joint}' at {measured_ns * 1e-9:.9g} s is not newer than the last one."
                )
        velocities = command.velocity or (None,) * len(command.joints)
        for joint, position, velocity in zip(command.joints, command.position, velocities, strict=True):
            here = self._knot(joint, t_ns)
            self._follow(joint, sampled(following[joint], here, measured_ns, position, velocity))
        return tuple(joint for joint in command.joints if following[joint].lost)

    def aim(self, aim: Aim, t_ns: int) -> None:
        """Let a joint go to a set-point, if nobody has released it since."""
        here, followed = self._knot(aim.joint, t_ns), self._followed().get(aim.joint)
        if followed is None:
            return
        if aim.point is None:
            self._follow(aim.joint, at_rest(followed, here))
        else:
            self._follow(aim.joint, aimed(followed, here, *aim.point, round(aim.delay * 1e9)))

    def next_loss_ns(self) -> int | None:
        """When the next signal is lost, if nothing comes; None: none."""
        times = [followed.loss_ns for followed in self._followed().values()]
        return min((at for at in times if at is not None), default=None)

    def lose(self, t_ns: int) -> tuple[list[str], list[str]]:
        """Joints whose signal is lost by now: those that do by themselves what was declared, and those to be freed."""
        silent = {joint: x for joint, x in self._followed().items() if x.loss_ns is not None and x.loss_ns <= t_ns}
        free = [joint for joint, followed in silent.items() if followed.how.on_loss == FREE]
        alone = [joint for joint in silent if joint not in free]
        for joint in alone:
            self._follow(joint, lost(silent[joint], self._knot(joint, t_ns)))
        return alone, free

    def _followed(self) -> dict[str, Followed]:
        """What the joints do that follow measurements."""
        return {c.name: c.followed for c in self.modes.prescribed if c.followed}

    def _knot(self, joint: str, t_ns: int) -> Knot:
        """Where a joint is."""
        seen, (_, q, v) = self.seen(), self.robot.joint_place(joint)
        return Knot(t_ns, float(seen[q]), float(seen[self.robot.coordinates + v]))

    def _follow(self, joint: str, followed: Followed) -> None:
        """Let that joint move so from now on."""
        motion = follow(joint, followed)
        prescribed = tuple(motion if c.name == joint else c for c in self.modes.prescribed)
        self.modes = self.modes._replace(prescribed=prescribed)
        self._revisions.acts()
        if self.loops:
            self.loops.set_motion(motion)

    def warm_up(self, acting: Input, t_ns: int) -> None:
        """Compile what changes of modes need; nothing moves."""
        collide(self.model, self.motion.copy(), self.bodies().com_twist, self.work, None, acting, t_ns)

    def change_robot(self, robot: Robot) -> None:
        """One of the same bodies and hinges moves from here on, whole."""
        self.robot, self._whole = robot, whole(robot)
        self.install(Modes(), self._whole, self.motion.copy())

    def install(self, modes: Modes, now: Reduction, motion: np.ndarray) -> None:
        """Let that robot move from [q, v] on."""
        self._enter(modes, self._made(now, motion, self.account, self.contacts))

    def reopen(self, modes: Modes, now: Reduction) -> None:
        """Be in these modes, of the same hinges, as a start that is still to be found; what was set stays set."""
        given, motion = self.loops and self.loops.given, now.restricted(self.seen())
        self.install(modes, now, motion)
        if self.loops and given:
            self.loops.given = given
        self._revisions.places(opens=True)

    def _enter(self, modes: Modes, moved: Moved) -> None:
        """Be in these modes."""
        self.modes = modes
        self._become(moved)
        self.stored = 0.0
        if self.robot.model.freedom[:, t.STIFFNESS].any():
            whole_q, q = self.seen()[: self.robot.coordinates], self.motion[: self.now.robot.coordinates]
            self.stored = float(spring_potential(self.robot.model, whole_q) - spring_potential(self.model, q))
