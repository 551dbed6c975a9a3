"""Bags of other formats and versions: sqlite3, compressed files, ROS 1. Read into memory by `rosbags`, as CDR."""

import os
from array import array
from collections import defaultdict
from pathlib import Path
from typing import Any

from rosbags.interfaces import MessageDefinitionFormat
from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2
from rosbags.rosbag2.metadata import dump_qos_v9
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from rbt_ros.bags.metadata import read_metadata, yaml_text
from rbt_ros.bags.sources import Gap, Source, Topic
from rbt_ros.bags.types import known_types
from rbt_ros.errors import ScenarioError
from rbt_ros.paths import opened

HEADER = "std_msgs/msg/Header"
WAL = "sqlite3 FILE.db3 'PRAGMA wal_checkpoint' takes them in"
ENCODINGS = {MessageDefinitionFormat.MSG: "ros2msg", MessageDefinitionFormat.IDL: "ros2idl"}


def read_foreign(path: Path) -> Source:
    """The bag, or ScenarioError in one sentence where rosbags cannot read it."""
    is_ros1 = path.suffix == ".bag"
    _refuse_pipes(path)
    if os.path.isdir(path) and not os.path.exists(path / "metadata.yaml"):
        files = sorted(path.glob("*.db3"))
        if len(files) != 1:
            raise ScenarioError(f"{path} is no bag: it has no metadata.yaml, no .mcap file and not one .db3 file.")
        path = files[0]
    try:
        return _read_ros1(path) if is_ros1 else _read_ros2(path)
    except Exception as err:  # whatever damaged files make of rosbags, sqlite and their decompressors
        text = " ".join(str(err).split())[:200]
        raise ScenarioError(f"the bag {path} cannot be read ({type(err).__name__}: {text}).") from err


def _refuse_pipes(path: Path) -> None:
    """ScenarioError where others would wait for what is no file, or metadata.yaml is too large in full."""
    try:
        files = [file for file in path.iterdir() if not file.is_dir()] if os.path.isdir(path) else [path]
    except OSError as err:
        raise ScenarioError(f"{path} cannot be read ({err.strerror}); give the folder of a bag.") from err
    for file in files:
        opened(file, "a bag", ScenarioError).close()
    if trouble := read_metadata(path)[1]:  # with a budget, which rosbags has not
        raise ScenarioError(f"the bag {path} cannot be read: {trouble.partition(';')[0]}.")


def _read_ros2(path: Path) -> Source:
    with Reader2(path) as reader:
        topics, data_of = dict[str, Topic](), defaultdict[str, list[bytes]](list)
        for connection in reader.connections:
            extra: Any = connection.ext
            if connection.topic not in topics:
                qos = yaml_text(dump_qos_v9(extra.offered_qos_profiles)) if extra.offered_qos_profiles else ""
                encoding, definition = ENCODINGS.get(connection.msgdef.format, ""), connection.msgdef.data
                name, kind = connection.topic, connection.msgtype
                topics[name] = Topic(name, kind, definition, encoding, qos, array("q"), data_of[name])
        damage: list[str] = []
        try:
            for connection, time, data in reader.messages():
                topics[connection.topic].t_ns.append(time)
                data_of[connection.topic].append(bytes(memoryview(data)))  # bytes, not so many zeros
        except Exception as err:  # the rest of a damaged file
            damage.append(f"{path.name}: {type(err).__name__}: {str(err)[:200]}; what was read before that is here")
        counted = dict.fromkeys(topics, 0)
        for connection in reader.connections:
            counted[connection.topic] += connection.msgcount
        for name, count in counted.items():
            if not damage and (read := len(topics[name].t_ns)) != count:
                damage.append(f"{path.name}: of {name} {count} messages are counted, and {read} are here")
        damage += [f"{name} holds messages that never came into the bag: {WAL}" for name in _write_ahead_logs(path)]
        custom = {"custom_data": dict(getattr(reader.storage.metadata, "custom", None) or {})}
    gaps = [Gap(None, None)] if damage else []  # of which messages, it does not tell
    return Source("rosbag2", topics, damage, custom, _size(path), gaps)


def _read_ros1(path: Path) -> Source:
    """Messages as CDR, with the definitions that ROS 2 would have."""
    store = get_typestore(Stores.EMPTY)
    with Reader1(path) as reader:
        topics, skipped = dict[str, Topic](), dict[str, str]()
        data_of = defaultdict[str, list[bytes]](list)
        for connection in reader.connections:
            kind = connection.msgtype
            definition = ""
            try:
                parsed = get_types_from_msg(connection.msgdef.data, kind)
                if HEADER in parsed:  # without `seq`, as in ROS 2 and as `ros1_to_cdr` takes it for granted
                    parsed[HEADER] = known_types().fielddefs[HEADER]
                store.register(parsed)
                definition = store.generate_msgdef(kind, ros_version=2)[0]
            except Exception as err:  # whatever a definition that rosbags does not understand makes of it
                skipped[kind] = str(err)
            name = connection.topic
            topics.setdefault(name, Topic(name, kind, definition, "ros2msg", "", array("q"), data_of[name]))
        for connection, time, data in reader.messages():
            topic = topics[connection.topic]
            topic.t_ns.append(time)
            data_of[topic.name].append(b"" if topic.type in skipped else bytes(store.ros1_to_cdr(data, topic.type)))
    return Source("rosbag1", topics, [], {}, _size(path), [])


def _write_ahead_logs(path: Path) -> list[str]:
    """What sqlite did not take into its file before it was killed."""
    files = path.glob("*.db3-wal") if path.is_dir() else [path.with_name(path.name + "-wal")]
    return [file.name for file in files if file.exists() and file.stat().st_size]


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in path.iterdir())
