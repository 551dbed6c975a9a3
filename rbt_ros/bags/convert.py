"""`rbt convert`: bags to tables, arrays, animations and other storages; tables to bags."""

import os
import zipfile
from pathlib import Path

import numpy as np
from rosbags.interfaces import Qos
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.metadata import parse_qos

from rbt_ros.bags.bag import Bag
from rbt_ros.bags.poses import world_poses
from rbt_ros.bags.sources import Topic
from rbt_ros.bags.table import read_csv, write_csv
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.model.attitude import without_flips
from rbt_ros.paths import as_path, writing
from rbt_ros.results import write_columns

LAYOUTS = ("wide", "blender")
STORAGES = ("mcap", "sqlite3")


def convert(
    source: str, target: str, *, layout: str = "wide", frame_rate: float = 24.0, storage: str = "sqlite3"
) -> list[str]:
    """Write `target` (.csv, .npz or a bag's folder) from a bag, or a bag from a .csv; what happened, in words."""
    out = as_path(target, "target", ScenarioError)
    if Path(source).suffix == ".csv":
        left = read_csv(as_path(source, "table"), out)
        return [f"wrote {out}: {Bag(out).messages} messages", *left]
    bag = Bag(source)
    told = [f"damaged: {text}" for text in bag.damage]
    told += [f"skipped: {name}, {s.messages} messages of {s.type}: {s.reason}" for name, s in bag.skipped.items()]
    if out.suffix == ".csv":
        if layout == "blender":
            return [*told, f"wrote {out}: {write_blender(bag, out, frame_rate)} frames"]
        table = write_csv(bag, out)
        left_out = [f"left out: {text}" for text in table.left_out]
        return [*told, f"wrote {out}: {len(table.columns)} columns", *left_out]
    if layout != "wide":
        raise ScenarioError(f"layout '{layout}' is of a .csv file, which '{target}' is not.")
    if out.suffix == ".npz":
        return [*told, f"wrote {out}: {write_npz(bag, out)} arrays"]
    if out.suffix:
        raise ScenarioError(f"'{target}' is neither .csv nor .npz, nor a folder for a bag.")
    return [*told, f"wrote {out}: {write_bag(bag, out, storage)} messages, {storage}"]


def write_npz(bag: Bag, file: Path) -> int:
    """All numbers by topic and path; strings where they never change. Their number.

    "joint_states:position", "joint_states:header.stamp" [ns], "joint_states:t_ns" when they were recorded [ns].
    """
    count = 0
    with writing(file), zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as out:
        for topic in bag.topics.values():
            for path, column in _columns(bag, topic).items() if topic.t_ns else ():
                with out.open(f"{topic.name.lstrip('/')}:{path}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, column)
                count += 1
    return count


def _columns(bag: Bag, topic: Topic) -> dict[str, np.ndarray]:
    """The numbers of a topic by path, and its strings."""
    read = bag.arrays(topic.name)
    found = {"t_ns": read.t_ns, **read.stamps}
    found |= {path: column for path, column in read.numbers.items() if column.dtype != object}
    ragged = [path for path, column in read.numbers.items() if column.dtype == object]
    for path in ragged:  # as one row of all numbers, and how many each message has
        rows = [np.zeros(0) if row is None else np.atleast_1d(row) for row in read.numbers[path]]
        found[path], found[f"{path}:count"] = np.concatenate(rows), np.array([len(row) for row in rows])
    return found | {path: np.array(texts if len(set(texts)) > 1 else texts[:1]) for path, texts in read.texts.items()}


def write_blender(bag: Bag, file: Path, frame_rate: float) -> int:
    """A row per frame of an animation, from 1 on: place and attitude of every frame in the world. How many.

    Of the recorded instants the nearest is taken; nothing is made up between them.
    """
    if not 0.0 < frame_rate <= 1e4:
        raise ScenarioError(f"frame rate {frame_rate} must lie between 0 and 1e4 per second.")
    poses = world_poses(bag)
    t = (poses.t_ns - poses.t_ns[0]) * 1e-9
    if (np.diff(t) <= 0).any():
        raise MessageError(f"{bag.path}: the stamps of /tf do not rise; split the bag before it is animated.")
    frames = np.arange(int(t[-1] * frame_rate + 1e-9) + 1)
    at = np.searchsorted((t[1:] + t[:-1]) / 2, frames / frame_rate) if len(t) > 1 else np.zeros(1, int)
    columns: dict[str, np.ndarray] = {"frame": frames + 1, "t [s]": t[at]}
    for name, (q, p) in poses.frames.items():
        q = without_flips(q)  # between frames Blender goes the short way
        columns |= {f"{name}.{c} [m]": p[at, k] for k, c in enumerate("xyz")}
        columns |= {f"{name}.q{c}": q[at, k] for k, c in enumerate("wxyz")}
    write_columns(columns, file)
    return len(frames)


def write_bag(bag: Bag, folder: Path, storage: str) -> int:
    """The same messages in another storage of rosbag2, by `rosbags`. Those of types that are not known are left out."""
    if os.path.exists(folder):
        raise ScenarioError(f"the bag {folder} is there already; give another name, or remove it.")
    plugin = StoragePlugin.MCAP if storage == "mcap" else StoragePlugin.SQLITE3
    types, connections, count = bag.types(), {}, 0
    try:
        with Writer(folder, version=9, storage_plugin=plugin) as writer:
            for topic in bag.topics.values():
                definition, digest = types.definition(topic.type)
                connections[topic.name] = writer.add_connection(
                    topic.name, topic.type, msgdef=definition, rihs01=digest, offered_qos_profiles=_profiles(topic)
                )
            for values in bag.metadata.values():
                for key, value in values.items():
                    writer.set_custom_data(key, value)
            for time, topic, data in bag.rows():
                writer.write(connections[topic.name], time, data)
                count += 1
    except OSError as err:
        raise ScenarioError(f"the bag {folder} cannot be written ({err.strerror}).") from err
    return count


def _profiles(topic: Topic) -> list[Qos]:
    """The offered profiles; none where they cannot be read."""
    try:
        return parse_qos(topic.qos) if topic.qos else []
    except Exception:  # whatever a damaged file makes of rosbags: a topic without profiles is what rosbag2 takes too
        return []
