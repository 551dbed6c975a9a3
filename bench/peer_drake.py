"""A system of spherical and revolute hinges in Drake's continuous MultibodyPlant."""

import bodies
import numpy as np
from bodies import SPHERICAL, System, offsets
from harness import Missing


class Peer:
    """Runge-Kutta of order 5 with a fixed step, or of variable ones under its error control."""

    def __init__(self, system: System, step: float | None = None, accuracy: float | None = None):
        try:
            from pydrake import all as drake
        except ImportError as err:
            raise Missing(f"Drake is not installed: {err}") from err
        self.drake, self.system = drake, system
        self.plant = drake.MultibodyPlant(0.0)
        self.links = [self.plant.AddRigidBody(f"b{i}", self.inertia(part)) for i, part in enumerate(system.parts)]
        self.joints = [self.joint(i, part) for i, part in enumerate(system.parts)]
        self.plant.mutable_gravity_field().set_gravity_vector([0, 0, -system.g])
        self.plant.Finalize()
        self.simulator = drake.Simulator(self.plant)
        self.context = self.simulator.get_mutable_context()
        drake.ResetIntegratorFromFlags(self.simulator, "runge_kutta5", step or 0.01)
        integrator = self.simulator.get_mutable_integrator()
        integrator.set_fixed_step_mode(step is not None)
        if accuracy is not None:
            integrator.set_target_accuracy(accuracy)
            integrator.set_maximum_step_size(0.1)

    def inertia(self, part):
        """About the body's origin, as Drake wants it."""
        about_com = self.drake.UnitInertia(*(I / part.mass for I in part.inertia))
        com = np.array(part.com, float)
        return self.drake.SpatialInertia(part.mass, com, about_com.ShiftFromCenterOfMass(com), skip_validity_check=True)

    def joint(self, i, part):
        """Hinge i; a ball turns by roll, pitch, yaw."""
        drake, plant = self.drake, self.plant
        parent = plant.world_body() if part.parent < 0 else self.links[part.parent]
        place = drake.RigidTransform(np.array(part.at, float))
        frame = plant.AddFrame(drake.FixedOffsetFrame(f"p{i}", parent.body_frame(), place))
        own = self.links[i].body_frame()
        if part.kind == SPHERICAL:
            return plant.AddJoint(drake.BallRpyJoint(f"h{i}", frame, own, damping=0.0))
        return plant.AddJoint(drake.RevoluteJoint(f"h{i}", frame, own, np.array(part.axis, float), damping=0.0))

    def run(self, seconds: float) -> None:
        """From the start again."""
        drake, context = self.drake, self.context
        context.SetTime(0.0)
        for joint, (kind, k, j) in zip(self.joints, offsets(self.system), strict=True):
            q, v = self.system.q[k:], self.system.v[j:]
            if kind == SPHERICAL:
                R = bodies.matrix(q[:4])
                joint.set_angles(context, drake.RollPitchYaw(drake.RotationMatrix(R)).vector())
                joint.set_angular_velocity(context, R @ v[:3])
            else:
                joint.set_angle(context, q[0])
                joint.set_angular_rate(context, v[0])
        self.simulator.Initialize()
        self.simulator.AdvanceTo(seconds)

    def poses(self, seconds: float):
        """`bodies.poses` after `seconds`."""
        self.run(seconds)
        places = [self.plant.EvalBodyPoseInWorld(self.context, link) for link in self.links]
        R = np.array([place.rotation().matrix() for place in places])
        origins = np.array([place.translation() for place in places])
        return R, origins + np.einsum("nij,nj->ni", R, np.array([part.com for part in self.system.parts]))
