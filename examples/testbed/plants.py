"""Stand-ins for hardware: a motor with an encoder, an air-bearing table, a spherical air bearing. No ROS in here."""

import math
from collections import deque

import numpy as np

import rbt_ros as rbt
from rbt_ros.model.inputs import WrenchCommand

STEP = 5e-3  # [s] from one sample to the next


class Line:
    """What lies between a sensor and us: samples come `delay` later, and some never."""

    def __init__(self, delay=5e-3, dropouts=0.02, seed=0):
        self._delay, self._dropouts, self._rng = round(delay / STEP), dropouts, np.random.default_rng(seed)
        self._under_way = deque()

    def send(self, sample):
        """Put one sample in; what comes out now: (sample, its age [ns]), or None."""
        lost = self._rng.random() < self._dropouts
        self._under_way.append(None if lost else sample)
        if len(self._under_way) <= self._delay:
            return None
        sample = self._under_way.popleft()
        return None if sample is None else (sample, round(self._delay * STEP * 1e9))


class Motor:
    """J φ̈ = n - b φ̇, solved exactly while the torque n is held; an encoder of 16 bits tells φ."""

    def __init__(self, inertia=0.0007, friction=2e-6, limit=0.05, bits=16):
        self.inertia, self.friction, self.limit, self.count = inertia, friction, limit, 2.0 * math.pi / 2**bits
        self.angle, self.rate = 0.0, 0.0

    def step(self, torque):
        """One STEP with this torque [N·m] within the motor's limit; the encoder's angle [rad]."""
        torque = max(-self.limit, min(self.limit, torque))
        settled, decay = torque / self.friction, math.exp(-self.friction / self.inertia * STEP)
        self.angle += settled * STEP + (self.rate - settled) * (1.0 - decay) * self.inertia / self.friction
        self.rate = settled + (self.rate - settled) * decay
        return round(self.angle / self.count) * self.count


class Bearing:
    """A vehicle on air, simulated as hardware: thrusters push it, a camera tells its pose with a little noise."""

    def __init__(self, sim, body, noise=2e-5, seed=1):
        self.sim, self.body, self._noise, self._rng = sim, body, noise, np.random.default_rng(seed)
        self._i = sim.robot.body_index(body)

    def step(self, force, moment):
        """One STEP with this wrench, world axes, at the centre of mass; the measured p_WB and q_WB."""
        wrench = rbt.Wrench(self.body, tuple(force), tuple(moment), "world", "com")
        self.sim.command(WrenchCommand(wrench, round(STEP * 1e9)))
        self.sim.advance(round(STEP * 1e9) // self.sim.h_ns)
        return self.pose()

    def pose(self):
        """p_WB [m] and q_WB as the camera tells them."""
        pose = self.sim.sample().pose[self._i] + self._noise * self._rng.standard_normal(7)
        return tuple(pose[4:]), tuple(pose[:4] / np.linalg.norm(pose[:4]))


def air_table(start=(0.5, -0.3, 0.7)):
    """A vehicle of 12 kg on three pads: it slides in x and y and turns about z."""
    b = rbt.RobotBuilder("air_table").body("hub", mass=12.0, inertia=(0.2, 0.2, 0.15))
    b.hinge("pads", "planar", parent="world", child="hub", axis=(0, 0, 1), axis2=(1, 0, 0), damping=0.02)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81))
    sim.set_hinge("pads", start)
    return Bearing(sim, "hub")


def spherical_bearing(offset=1e-4):
    """The same vehicle on a ball of air, its centre of mass `offset` [m] off the middle: gravity turns it."""
    b = rbt.RobotBuilder("spherical_bearing")
    b.body("hub", mass=12.0, inertia=(0.2, 0.2, 0.15), com=(offset, 0.0, -offset))
    b.hinge("ball", "spherical", parent="world", child="hub")
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81))
    sim.set_hinge("ball", euler=("ZYX", 0.6, 0.3, -0.2))
    return Bearing(sim, "hub")
