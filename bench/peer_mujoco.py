"""A system in MuJoCo: no contacts, no constraints, no armature, RK4."""

import bodies
import numpy as np
from bodies import FREE, REVOLUTE, SPHERICAL, System


def xml(system: System, step: float) -> str:
    """Its description; the moments of inertia are put in afterwards."""
    text = {FREE: "free", SPHERICAL: "ball", REVOLUTE: "hinge"}

    def numbers(a):
        return " ".join(repr(float(x)) for x in a)

    def body(i):
        p = system.parts[i]
        axis = f' axis="{numbers(p.axis)}"' if p.kind == REVOLUTE else ""
        inertial = f'<inertial pos="{numbers(p.com)}" mass="{p.mass!r}" diaginertia="1 1 1"/>'
        children = "".join(body(k) for k in range(len(system.parts)) if system.parts[k].parent == i)
        joint = f'<joint name="h{i}" type="{text[p.kind]}"{axis} armature="0" damping="0"/>'
        return f'<body pos="{numbers(p.at)}">{inertial}{joint}{children}</body>'

    servos = "".join(f'<position joint="h{p.part}" kp="{system.kp}" kv="{system.kd}"/>' for p in system.paths)
    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option timestep="{step!r}" gravity="0 0 {-system.g}" integrator="RK4">'
        '<flag contact="disable" constraint="disable"/></option><worldbody>'
        + "".join(body(i) for i in range(len(system.parts)) if system.parts[i].parent < 0)
        + f"</worldbody><actuator>{servos}</actuator></mujoco>"
    )


class Peer:
    """A system in MuJoCo."""

    def __init__(self, system: System, step: float = 1e-3):
        import mujoco
        from mujoco import rollout

        self.mujoco, self.rollout, self.system, self.step = mujoco, rollout.rollout, system, step
        self.model = mujoco.MjModel.from_xml_string(xml(system, step))
        for i, part in enumerate(system.parts):  # the compiler refuses a moment that equals the sum of the others
            self.model.body_inertia[i + 1] = part.inertia
        self.data = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        self.free = system.parts[0].kind == FREE
        self.start = np.concatenate([[0.0], *self.theirs(system.q, system.v)])
        self.controls: dict[int, np.ndarray] = {}
        self.reset()

    def theirs(self, q, v):
        """q and v in MuJoCo's order: a free body's place comes first, as does its velocity."""
        if not self.free:
            return q, v
        return np.concatenate([q[4:7], q[:4], q[7:]]), np.concatenate([v[3:6], v[:3], v[6:]])

    def ours(self, q):
        """q in our order."""
        return np.concatenate([q[3:7], q[:3], q[7:]]) if self.free else np.array(q)

    def reset(self):
        """Back to the start."""
        nq = self.model.nq
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:] = self.start[1 : 1 + nq], self.start[1 + nq :]

    def run(self, steps: int):
        """q after `steps` from the start, in the fastest way: one call."""
        if self.system.paths:
            states, _ = self.rollout(self.model, self.data, self.start[None], self.held(steps)[None], nstep=steps)
            return self.ours(states[0, -1, 1 : 1 + self.model.nq])
        self.reset()
        self.mujoco.mj_step(self.model, self.data, steps)
        return self.ours(self.data.qpos)

    def held(self, steps: int):
        """The controls of each step: the path at its middle, held, which is the best that can be held."""
        if steps not in self.controls:
            middle = (np.arange(steps) + 0.5) * self.step
            followed = [path.at(middle) for path in self.system.paths]
            self.controls[steps] = np.array([r + rate * self.system.kd / self.system.kp for r, rate in followed]).T
        return self.controls[steps]

    def poses(self, steps: int):
        """`bodies.poses` after `steps`."""
        return bodies.poses(self.system, self.run(steps))
