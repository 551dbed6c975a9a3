"""What viewers cost the simulation, and what goes to them: no browser runs meanwhile."""

import time

import numpy as np
from harness import Group, Missing, Row

import rbt_ros as rbt
from rbt_ros.stream.layout import Layout
from rbt_ros.stream.memory import Stream
from rbt_ros.stream.scene import described

UPDATES = 5000
BLOCKS, BLOCK = 16, 500  # of steps at 1 kHz
MESSAGES = 300


def six_bodies() -> rbt.Simulation:
    """A hub afloat with five rods on hinges, all in motion."""
    b = rbt.RobotBuilder("six").body("hub", mass=10.0, inertia=(1, 2, 3))
    for k in range(5):
        b.body(f"rod{k}", mass=1.0, inertia=(0.1, 0.1, 0.01), com=(0, 0, -0.5))
        b.hinge(f"hinge{k}", "revolute", parent="hub", child=f"rod{k}", at=(k - 2, 0, 0), axis=(0, 1, 0))
    sim = rbt.Simulation(b.build())
    sim.set_body("hub", omega_body=(0.1, 0.2, 0.3))
    return sim


def view_publish(wanted):
    sim = six_bodies()
    sim.advance(10)
    stream = Stream(Layout(sim.robot), described(sim.robot))
    try:
        sample, took = sim.sample(), np.empty(UPDATES)
        for k in range(UPDATES):
            start = time.perf_counter_ns()
            stream.publish(sample)
            took[k] = time.perf_counter_ns() - start
    finally:
        stream.close()
    p50, p99 = np.percentile(took, [50, 99]) * 1e-3
    note = f"p99 {p99:.1f} us"
    return {"view_publish_us": Row(p50, p50, None, "us per update of six bodies, p50: at most 10", note)}


def view_step(wanted):
    """A step that is due each millisecond, without and with viewers: its computing, and its time on the wall."""
    sim = six_bodies()
    stream = Stream(Layout(sim.robot), described(sim.robot))
    p99 = np.empty((BLOCKS, 2, 2))
    try:
        for k in range(BLOCKS):  # in turns: what disturbs meets both alike
            p99[k] = [paced_block(sim, None), paced_block(sim, stream)]
    finally:
        stream.close()
    (alone, wall_alone), (shown, wall_shown) = np.median(p99, axis=0).tolist()
    note = f"time on the wall, which others share: {wall_shown / wall_alone:.2f}; medians of {BLOCKS} blocks"
    return {"view_step_p99": Row(shown / alone, shown, alone, "of p99 [us] of a 1 kHz step's computing: <= 1.10", note)}


def paced_block(sim: rbt.Simulation, stream: Stream | None) -> tuple[float, float]:
    """p99 [us] of the thread's own time, and of that on the wall."""
    took = np.empty((BLOCK, 2))
    due = time.monotonic_ns()
    for k in range(BLOCK):
        due = max(due + 1_000_000, time.monotonic_ns())
        time.sleep(max(0, due - time.monotonic_ns()) * 1e-9)
        wall, own = time.perf_counter_ns(), time.thread_time_ns()
        sim.advance(1)
        sample = sim.sample()
        if stream is not None and k % 17 == 0:  # 60 of 1000 steps
            stream.publish(sample)
            list(stream.commands())
        took[k] = time.thread_time_ns() - own, time.perf_counter_ns() - wall
    own_p99, wall_p99 = (np.percentile(took, 99, axis=0) * 1e-3).tolist()
    return own_p99, wall_p99


def view_wire(wanted):
    try:
        from websockets.sync.client import connect

        from rbt_ros.stream.process import Server
    except ImportError as err:
        raise Missing("websockets is not installed") from err
    sim = six_bodies()
    stream = Stream(Layout(sim.robot), described(sim.robot))
    server = Server(stream.folder, 0)
    try:
        with connect(server.address.replace("http", "ws").replace("/?", "/ws?")) as socket:
            size = count = 0
            start = time.perf_counter()
            while count < MESSAGES:
                sim.advance(8)
                stream.publish(sim.sample())
                try:
                    message = socket.recv(0.004)
                except TimeoutError:
                    continue
                if isinstance(message, bytes):
                    size, count = size + len(message), count + 1
            seconds = time.perf_counter() - start
    finally:
        server.close()
        stream.close()
    note = f"{size / seconds / 1e3:.1f} kB/s: at most 25"
    return {"view_messages": Row(count / seconds, None, None, "messages/s to one viewer: at least 50", note)}


GROUPS = (
    Group(("view_publish_us",), view_publish),
    Group(("view_step_p99",), view_step),
    Group(("view_messages",), view_wire),
)
