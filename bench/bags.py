"""Bags beside plain loops of `rosbags`: JointState(9) written and read; and what recording costs a run."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from harness import Group, Row, interleave
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import rbt_ros as rbt
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.templates import encoder
from rbt_ros.bags.types import Types
from rbt_ros.topics import published

MESSAGES = 20_000
SECONDS = float(os.environ.get("SECONDS_EACH", "5"))
ROUNDS = 6
JOINTS = 9
KIND = "sensor_msgs/msg/JointState"


def chain() -> "rbt.Simulation":
    """Nine hinges in a row."""
    b = rbt.RobotBuilder("chain")
    for k in range(JOINTS):
        b.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1))
        parent = f"b{k - 1}" if k else "world"
        b.hinge(f"joint_{k}", "revolute", parent=parent, child=f"b{k}", at=(0, 0, -1), axis=(0, 1, 0))
    return rbt.Simulation(b.build())


class Jobs:
    """The same messages written and read, by us and by rosbags; each into a bag that is not there."""

    def __init__(self, folder: Path):
        self.sim, self.folder, self.count = chain(), folder, 0
        self.sample = self.sim.sample()
        self.topic = next(t for t in published(self.sim.robot) if t.key == "joint_states")
        self.store = get_typestore(Stores.ROS2_JAZZY)
        self.bag = self.write_theirs()

    def fresh(self) -> Path:
        """A folder that is not there; the last one goes."""
        shutil.rmtree(self.folder / str(self.count), ignore_errors=True)
        self.count += 1
        return self.folder / str(self.count)

    def write_ours(self) -> Path:
        """From samples, by the template, uncompressed as theirs."""
        bag, sample = BagWriter(path := self.fresh(), compression="none"), self.sample
        channel, encode = bag.add_channel("/joint_states", KIND), encoder(Types(), self.topic, self.sim.robot, "")
        for k in range(MESSAGES):
            bag.write(channel, k * 1_000_000, encode(sample, k * 1_000_000))
        bag.close()
        return path

    def write_theirs(self) -> Path:
        """From one message object whose stamp and numbers are set."""
        store, robot, sample = self.store, self.sim.robot, self.sample
        time_class, header_class, joints_class = (
            store.types[name] for name in ("builtin_interfaces/msg/Time", "std_msgs/msg/Header", KIND)
        )
        names, none = list(robot.joint_names), np.zeros(0)
        with Writer(path := self.fresh(), version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            connection = writer.add_connection("/joint_states", KIND, typestore=store)
            for k in range(MESSAGES):
                header = header_class(stamp=time_class(*divmod(k * 1_000_000, 1_000_000_000)), frame_id="")
                message = joints_class(header=header, name=names, position=sample.q, velocity=sample.v, effort=none)
                writer.write(connection, k * 1_000_000, store.serialize_cdr(message, KIND))
        return path

    def read_ours(self) -> np.ndarray:
        """Positions as one array."""
        return rbt.Bag(self.bag).arrays("joint_states").numbers["position"]

    def read_theirs(self) -> np.ndarray:
        """Message by message into an array."""
        rows = []
        with Reader(self.bag) as reader:
            for _, _, data in reader.messages():
                rows.append(self.store.deserialize_cdr(data, KIND).position)
        return np.array(rows)


def loops(wanted: set[str]) -> dict[str, Row]:
    """Microseconds per message, interleaved."""
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(Path(folder))
        kept = Path(folder) / "kept"
        shutil.move(jobs.bag, kept)
        jobs.bag = kept
        assert (jobs.read_ours() == jobs.read_theirs()).all()
        calls: dict[str, tuple[Callable[[], object], int]] = {
            name: (getattr(jobs, name), MESSAGES) for name in ("write_ours", "write_theirs", "read_ours", "read_theirs")
        }
        us = interleave(calls, rounds=7)
    rows = {
        "bag_write": Row(
            us["write_theirs"] / us["write_ours"],
            us["write_ours"],
            us["write_theirs"],
            "us per JointState(9), serialised and written to MCAP",
            "ours from a sample by a patched template, with an index and a checksum; rosbags 0.11",
        ),
        "bag_read": Row(
            us["read_theirs"] / us["read_ours"],
            us["read_ours"],
            us["read_theirs"],
            "us per JointState(9), read from MCAP into one array",
            "of the same file, which rosbags wrote",
        ),
    }
    return {key: row for key, row in rows.items() if key in wanted}


def cost(wanted: set[str]) -> dict[str, Row]:
    """p99 of the time of a step of the node at 1 kHz with the five-body chain, recorded or not in turns."""
    import domain_coordinator

    with domain_coordinator.domain_id() as domain, tempfile.TemporaryDirectory() as folder:
        local = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_LOG_DIR": folder}
        script = [sys.executable, str(Path(__file__).with_name("record_node.py")), f"{folder}/bags"]
        done = subprocess.run(
            [*script, str(SECONDS), str(ROUNDS)],
            env={**os.environ, **local},
            capture_output=True,
            text=True,
            check=True,
        )
    told = json.loads(done.stdout.splitlines()[-1])
    (p50, mine), (plain_p50, theirs) = told["recorded"], told["plain"]
    note = f"{ROUNDS} x {SECONDS:g} s each; p50 {p50:.1f} against {plain_p50:.1f} us; {told['lost']} samples lost, "
    note += f"{told['bytes']:.0f} bytes per message in the bag; at most 1.1 is asked"
    return {"record_cost": Row(mine / theirs, mine, theirs, "p99 of a step, recorded over not, less is better", note)}


GROUPS = [Group(("bag_write", "bag_read"), loops), Group(("record_cost",), cost)]
