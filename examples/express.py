"""The express example of the Rigid Body Toolbox: a skydiver of 70 kg leaves his aeroplane 4 km up."""

import sys

import rbt_ros as rbt

body = rbt.RigidBody(mass=70)
result = rbt.simulate(body, position=(0, 0, 4e3), gravity=(0, 0, -9.8), duration=40)

if __name__ == "__main__":
    ground = rbt.Event(lambda t, state: state.position[2], terminal=True)
    fall = rbt.simulate(body, position=(0, 0, 4e3), gravity=(0, 0, -9.8), duration=40, events=ground)
    speed = -fall.velocity_e[-1, 2]
    print(f"on the ground after {fall.time[-1]:.3f} s, at {speed:.1f} m/s")
    result.plot(sys.argv[1] if len(sys.argv) > 1 else "express.png", title="My first simulation")
