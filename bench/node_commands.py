"""The node with a controller in the loop: latency, what publishing costs, how fast it goes, beside bare rclpy."""

import os
import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from harness import Group, Row
from node_loop import BARE, ROUNDS, SECONDS, last_told

LOOP_SECONDS = float(os.environ.get("SECONDS_EACH", "120"))
FAST_SECONDS = min(SECONDS, 10.0)
NODE = ("-m", "rbt_ros.cli", "node")
ECHO = (str(Path(__file__).with_name("echo.py")),)
CONTROLLERS = Path(__file__).parents[1] / "examples" / "controllers"
CYCLES = 2000


def settings(**values: str) -> tuple[str, ...]:
    """ROS arguments, `__` standing for a dot."""
    pairs = [("-p", f"{name.replace('__', '.')}:={value}") for name, value in values.items()]
    return ("--ros-args", *(word for pair in pairs for word in pair))


def measure_round_trip(wanted: set[str]) -> dict[str, Row]:
    """From a sample published to the arrival of the command that answers it; node and bare loop in turns."""
    import domain_coordinator

    ours, bare = [], []
    keys = ("latency p50 [us]", "latency p99 [us]")
    with domain_coordinator.domain_id() as domain:
        for _ in range(ROUNDS):
            told = last_told(*NODE, "cubesat", domain=domain, beside=ECHO)
            ours.append([told[key] for key in keys])
            told = last_told(str(BARE), "--duration", str(SECONDS + 3), domain=domain, beside=ECHO)
            bare.append([told[key] for key in keys])
    mine, theirs = np.median(ours, axis=0), np.median(bare, axis=0)
    rows = {}
    for k, name in enumerate(("round_trip_p50", "round_trip_p99")):
        rows[name] = Row(mine[k] / theirs[k], mine[k], theirs[k], "us, ours over bare: less is better")
    return {key: row for key, row in rows.items() if key in wanted}


def measure_loop_rate(wanted: set[str]) -> dict[str, Row]:
    """Five bodies at 1 kHz, default topics, the hinge controller in another process; before it the bare loop."""
    import domain_coordinator

    beside = (str(CONTROLLERS / "hinge_pd.py"),)
    priorities = {"loop_rate": "50", "loop_rate_ordinary": "0"}
    rows = {}
    with domain_coordinator.domain_id() as domain:
        for key in sorted(wanted):
            words = (str(BARE), "--duration", str(LOOP_SECONDS + 3), "--priority", priorities[key])
            bare = last_told(*words, domain=domain, beside=ECHO, seconds=LOOP_SECONDS)
            words = (*NODE, "five_body", *settings(mode="realtime", realtime__priority=priorities[key]))
            told = last_told(*words, domain=domain, beside=beside, seconds=LOOP_SECONDS)
            rows[key] = loop_row(told, bare)
    return rows


def loop_row(told: dict[str, Any], bare: dict[str, Any]) -> Row:
    """Steps that began late, of the node and of the bare loop."""
    overruns, missing = told["overruns, part of ticks"], abs(told["missing"])
    note = f"{told['elapsed [s]']:.0f} s, {told['ticks']:.0f} ticks, {missing:.1f} of them missing, at most 1"
    for who, run in (("node", told), ("bare loop", bare)):
        note += f"; {who}: {run['scheduling']}, p99 {run['jitter p99 [us]']:.0f} us late, "
        note += f"max {run['jitter max [us]']:.0f} us"
    peer = bare["overruns, part of ticks"]
    return Row(overruns, overruns, peer, "part of ticks that began late by a step, less is better", note)


def measure_speed(wanted: set[str]) -> dict[str, Row]:
    """Steps per second as fast as it goes, and in lockstep with a controller in another process."""
    import domain_coordinator

    rows = {}
    with domain_coordinator.domain_id() as domain:
        if "max_rate" in wanted:
            rate = steps_per_second(last_told(*NODE, "five_body", domain=domain, seconds=FAST_SECONDS))
            rows["max_rate"] = Row(rate, rate, None, "steps/s of five bodies, default topics")
        if "lockstep_rate" in wanted:
            rows["lockstep_rate"] = lockstep_rate(domain)
    return rows


def lockstep_rate(domain: int) -> Row:
    """The node with a controller that computes, and bare rclpy with one that only answers, in turns."""
    words = settings(mode="lockstep", lockstep__deadline="30.0")
    beside = (str(CONTROLLERS / "hinge_pd.py"),)
    bare = str(BARE.with_name("bare_lockstep.py"))
    ours, theirs = [], []
    for _ in range(ROUNDS):
        told = last_told(*NODE, "five_body", *words, domain=domain, beside=beside, seconds=FAST_SECONDS)
        ours.append(steps_per_second(told))
        told = last_told(bare, domain=domain, beside=ECHO, seconds=FAST_SECONDS)
        theirs.append(steps_per_second(told))
    mine, limit = np.median(ours), np.median(theirs)
    note = f"bare rclpy without simulation: {limit:.0f}; ours over that {mine / limit:.2f}"
    return Row(mine, mine, limit, "steps/s in lockstep with a Python controller", note)


def steps_per_second(told: dict[str, float]) -> float:
    """Over the last second."""
    return told["real-time factor"] / told["step [s]"]


def measure_publish_cost(wanted: set[str]) -> dict[str, Row]:
    """A second of a 1 kHz cycle with JointState(9), and TF(6) at 100 Hz: the node's way from a Sample, and by hand."""
    import rclpy
    from rclpy.serialization import deserialize_message
    from sensor_msgs.msg import JointState
    from tf2_msgs.msg import TFMessage

    import rbt_ros as rbt
    from rbt_ros import topics
    from rbt_ros.ros.writers import sample_writer

    sample, robot = chain_of_six()
    rclpy.init()
    node = rclpy.create_node("publish_cost")
    send_joints = node.create_publisher(JointState, "joint_states", 10).publish
    send_tf = node.create_publisher(TFMessage, "/tf", 10).publish
    table = {topic.key: sample_writer(topic, robot, "") for topic in topics.published(robot)}

    def ours():
        for k in range(CYCLES):
            send_joints(table["joint_states"](sample, k))
            if k % 10 == 0:
                send_tf(table["tf"](sample, k))

    ours()
    joints = deserialize_message(table["joint_states"](sample, 0), JointState)
    transforms = deserialize_message(table["tf"](sample, 0), TFMessage)
    position, velocity = list(joints.position), list(joints.velocity)

    def bare():
        for k in range(CYCLES):
            joints.header.stamp.nanosec = k
            joints.position, joints.velocity = array("d", position), array("d", velocity)
            send_joints(joints)
            if k % 10 == 0:
                for t in transforms.transforms:
                    t.header.stamp.nanosec = k
                    p, q = t.transform.translation, t.transform.rotation
                    p.x, p.y, p.z = 1.0, 2.0, 3.0
                    q.w, q.x, q.y, q.z = 1.0, 0.0, 0.0, 0.0
                send_tf(transforms)

    times = {ours: [], bare: []}
    for _ in range(9):
        for job, found in times.items():
            start = time.perf_counter()
            job()
            found.append((time.perf_counter() - start) / CYCLES * 1e6)
    node.destroy_node()
    rclpy.shutdown()
    mine, theirs = min(times[ours]), min(times[bare])
    note = f"{len(joints.name)} joints, {len(transforms.transforms)} transforms; rbt_ros {rbt.__version__}"
    return {"publish_cost": Row(mine / theirs, mine, theirs, "us per cycle, ours over bare: less is better", note)}


def chain_of_six():
    """A Sample of six bodies with nine one-axis freedoms, and its robot."""
    import rbt_ros as rbt

    b, parent = rbt.RobotBuilder("chain"), "world"
    for k in range(6):
        b.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0, 0, -0.5))
        b.hinge(
            f"h{k}",
            "cylindrical" if k < 3 else "revolute",
            parent=parent,
            child=f"b{k}",
            at=(0, 0, -1.0),
            axis=(0, 1, 0),
        )
        parent = f"b{k}"
    sim = rbt.Simulation(b.build())
    return sim.sample(), sim.robot


GROUPS = [
    Group(("loop_rate", "loop_rate_ordinary"), measure_loop_rate),
    Group(("round_trip_p50", "round_trip_p99"), measure_round_trip),
    Group(("publish_cost",), measure_publish_cost),
    Group(("max_rate", "lockstep_rate"), measure_speed),
]
