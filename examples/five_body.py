"""Five rods on two ball hinges and three pins, built by hand: docs/wittenburg.md. `rbt run five_body` is the same."""

import math

import rbt_ros as rbt

ROD = {"mass": 1.5, "inertia": (0.5, 0.5, 0.3), "com": (0, 0, -0.5)}

b = rbt.RobotBuilder("five_body")
b.body("upper", mass=3.0, inertia=(4.0, 4.0, 3.6), com=(0, 0, -1))
b.body("lower", mass=3.0, inertia=(4.0, 4.0, 2.4), com=(0, 0, -1))
b.body("tee", mass=2.0, inertia=(1 / 3, 5 / 12, 1 / 12), com=(0, 0, -1))
b.body("right", **ROD).body("left", **ROD)
b.hinge("shoulder", "spherical", parent="world", child="upper")
b.hinge("elbow", "spherical", parent="upper", child="lower", at=(0, 0, -2))
b.hinge("wrist", "revolute", parent="lower", child="tee", at=(0, 0, -2), axis=(0, 0, 1))
b.hinge("right_pivot", "revolute", parent="tee", child="right", at=(0.5, 0, -1), axis=(0, 1, 0))
b.hinge("left_pivot", "revolute", parent="tee", child="left", at=(-0.5, 0, -1), axis=(0, 1, 0))
robot = b.build()

if __name__ == "__main__":
    sim = rbt.Simulation(robot, gravity=(0, 0, -9.81), step=1e-3, integrator="dop853")
    sim.set_hinge("shoulder", euler=("ZXZ", math.pi, 1, 2))
    sim.set_hinge("elbow", euler=("ZXZ", 1, 2, 1))
    for name, angle in (("wrist", math.pi), ("right_pivot", 2.0), ("left_pivot", -2.0)):
        sim.set_hinge(name, angle)
    result = sim.run(until=5.0, every=0.01)
    total = result.energy.total
    print(f"energy {total[0]:.4f} J, largest change {abs(total - total[0]).max():.1e} J")
