"""Gimbal lock of Euler angles: said with time and angle, and then stopped at, switched away from, or run through."""

import math
from typing import NamedTuple

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.model.attitude import SEQUENCES
from rbt_ros.toolbox.formalisms import EulerAngles

# sine of the angle to gimbal lock: below it a run is near
NEAR = {"stop": 0.05, "continue": 0.05, "switch": 0.25}  # 2.9 deg; 14 deg, while the angles are still accurate
FAR = 0.5  # and above it comes back to its own sequence: 30 deg
SLACK = 1e-9  # within which a zero of an event finder lies


class GimbalLock(NamedTuple):
    """Where a run came near gimbal lock."""

    t: float  # [s]
    sequence: str
    angle: float  # the middle angle [rad]
    action: str  # what was done: "stop", "continue", or the sequence that was switched to


class Guard:
    """Watches a run in Euler angles."""

    def __init__(self, sequence: str, action: str):
        self.home, self.action, self.near = EulerAngles(sequence), action, NEAR[action]
        self.warnings: list[str] = []  # to be said when the run has ended
        self.locks: list[GimbalLock] = []
        self._inside = False

    def first(self, y13: np.ndarray, t: float) -> EulerAngles:
        """The form in which a run starts."""
        y = self.home.start(y13)
        if abs(self.home.margin(y)) >= self.near:
            return self.home
        if self.action == "stop":
            raise ScenarioError(
                f"the start is {_distance(self.home, y):.2g} deg from the gimbal lock of the Euler angles "
                f'{self.home.sequence}; choose another sequence, or on_singularity="switch".'
            )
        return self.meet(t, self.home, y)

    def after(self, t: float, form: EulerAngles, before: np.ndarray, y: np.ndarray) -> EulerAngles | None:
        """The form in which to go on from y at t [s], one step after `before`; None: stop here."""
        near = bool(abs(form.margin(y)) < self.near + SLACK or form.margin(before) * form.margin(y) < 0.0)
        if form != self.home:
            y13 = form.engine(y)
            if abs(self.home.margin(self.home.start(y13))) > FAR - SLACK:
                return self.home
            return self._far_from_lock(y13) if near else form
        if not near or (self._inside and self.action == "continue"):
            self._inside = near
            return form
        on = self.meet(t, form, y)
        return None if self.action == "stop" else on

    def meet(self, t: float, form: EulerAngles, y: np.ndarray) -> EulerAngles:
        """Say that form is near its lock; the form in which to go on."""
        self._inside = True
        to = self._far_from_lock(form.engine(y)) if self.action == "switch" else form
        self.locks.append(GimbalLock(t, form.sequence, float(y[1]), to.sequence if to != form else self.action))
        words = {
            "stop": "the run stops here",
            "switch": f"it goes on in {to.sequence}",
            "continue": "it goes on, and may lose its accuracy",
        }
        self.warnings.append(
            f"t = {t:.6g} s: the Euler angles {form.sequence} are {_distance(form, y):.2g} deg from gimbal lock, "
            f"middle angle {math.degrees(y[1]):.6g} deg; {words[self.action]}."
        )
        return to

    def _far_from_lock(self, y13: np.ndarray) -> EulerAngles:
        """The sequence that is farthest from its gimbal lock."""
        forms = [EulerAngles(sequence) for sequence in SEQUENCES]
        return max(forms, key=lambda form: abs(form.margin(form.start(y13))))


def _distance(form: EulerAngles, y: np.ndarray) -> float:
    """The angle to gimbal lock [deg]."""
    return math.degrees(math.asin(min(1.0, abs(float(form.margin(y))))))
