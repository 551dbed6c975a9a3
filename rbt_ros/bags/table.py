"""A bag as one wide table and back: a row per stamp, a column per number, with its unit in the header.

`stamp [ns]`, `t [s]`; `<joint>.position [rad]` (`.rate`, `.effort`); `<child>.in.<parent>.position_x [m]` and
`.quaternion_w` of transforms; `<body>.odom.position_x [m]`, `.velocity_body_x [m/s]`, `.omega_body_x [rad/s]`. A cell
is empty where nothing was recorded at that stamp. What `rbt run` writes is read, too.
"""

import csv
import re
import shutil
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.bags.arrays import joined
from rbt_ros.bags.bag import Bag
from rbt_ros.bags.cdr import encode
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.sources import Topic
from rbt_ros.errors import MessageError
from rbt_ros.fields import Fields, Quaternion, Vector3, header
from rbt_ros.paths import opened, writing

JOINTS, TF, ODOMETRY = "sensor_msgs/msg/JointState", "tf2_msgs/msg/TFMessage", "nav_msgs/msg/Odometry"
POSE = [
    *((f"position_{c} [m]", "translation." + c) for c in "xyz"),
    *((f"quaternion_{c}", "rotation." + c) for c in "wxyz"),
]
ODOM = [
    *((f"position_{c} [m]", f"pose.pose.position.{c}") for c in "xyz"),
    *((f"quaternion_{c}", f"pose.pose.orientation.{c}") for c in "wxyz"),
    *((f"velocity_body_{c} [m/s]", f"twist.twist.linear.{c}") for c in "xyz"),
    *((f"omega_body_{c} [rad/s]", f"twist.twist.angular.{c}") for c in "xyz"),
]
STAMP, TIME = "stamp [ns]", "t [s]"
ROWS = 10_000  # of a table that are text at a time
SECOND_NS = 1_000_000_000


class Table(NamedTuple):
    """Columns of different instants."""

    columns: dict[str, tuple[np.ndarray, np.ndarray]]  # name -> (stamps [ns], values)
    left_out: list[str]  # what has no columns, in words


# ---------------------------------------------------------------------------------------------------------- bag -> CSV
def table_of(bag: Bag) -> Table:
    """The joint states, transforms and odometry of a bag."""
    columns: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    left_out = []
    slides = _sliding_joints(bag)
    for topic in bag.topics.values():
        if not topic.t_ns:
            continue
        if topic.type == JOINTS and "/latched/" not in topic.name:
            found = _joint_columns(bag, topic, slides)
        elif topic.type == TF:
            found = _transform_columns(bag, topic)
        elif topic.type == ODOMETRY:
            found = _odometry_columns(bag, topic)
        else:
            left_out.append(f"{topic.name}: {len(topic.t_ns)} messages of {topic.type}")
            continue
        if taken := found.keys() & columns.keys():
            raise MessageError(f"{bag.path}: {topic.name} brings {sorted(taken)[0]} again; name one topic in one bag.")
        columns.update(found)
    return Table(columns, left_out)


def _sliding_joints(bag: Bag) -> set[str]:
    """Joints in metres, as robot_description has them."""
    try:
        text = bag.texts("robot_description")[0][1]
        joints = ElementTree.fromstring(text).iter("joint")
    except (MessageError, ElementTree.ParseError, IndexError):
        return set()
    return {joint.get("name", "") for joint in joints if joint.get("type") == "prismatic"}


def _named(bag: Bag, topic: Topic, texts: dict[str, list[str]], paths: list[str]) -> list[str]:
    """The text at each path, which has to be the same in all messages."""
    names = []
    for path in paths:
        if len(set(texts[path])) != 1:
            raise MessageError(f"{topic.name} of {bag.path}: {path} changes; it has no columns.")
        names.append(texts[path][0])
    return names


def _joint_columns(bag: Bag, topic: Topic, slides: set[str]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    read = joined(bag.parts(topic.name), ("position", "velocity", "effort").__contains__)
    names = _named(bag, topic, read.texts, sorted((p for p in read.texts if p.startswith("name[")), key=_number))
    columns = {}
    for key, field in (("position", "position"), ("rate", "velocity"), ("effort", "effort")):
        values = read.numbers[field]
        if values.dtype == object or values.shape[1] not in (0, len(names)):
            raise MessageError(f"{topic.name} of {bag.path}: the length of {field} changes; it has no columns.")
        for name, column in zip(names, values.T, strict=False):
            units = {"position": "m", "rate": "m/s", "effort": "N"} if name in slides else {}
            unit = units.get(key) or {"position": "rad", "rate": "rad/s", "effort": "N m"}[key]
            columns[f"{name}.{key} [{unit}]"] = read.stamps["header.stamp"], column
    return columns


def _number(path: str) -> int:
    return int(re.findall(r"\d+", path)[0])


def _transform_columns(bag: Bag, topic: Topic) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    paths = {path for _, path in POSE}
    read, columns = joined(bag.parts(topic.name), lambda path: path.partition(".transform.")[2] in paths), {}
    for k in range(sum(path.endswith("child_frame_id") for path in read.texts)):
        at = f"transforms[{k}]"
        child, parent = _named(bag, topic, read.texts, [f"{at}.child_frame_id", f"{at}.header.frame_id"])
        for key, path in POSE:
            columns[f"{child}.in.{parent}.{key}"] = (
                read.stamps[f"{at}.header.stamp"],
                read.numbers[f"{at}.transform.{path}"],
            )
    return columns


def _odometry_columns(bag: Bag, topic: Topic) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    read = joined(bag.parts(topic.name), {path for _, path in ODOM}.__contains__)
    (body,) = _named(bag, topic, read.texts, ["child_frame_id"])
    return {f"{body}.odom.{key}": (read.stamps["header.stamp"], read.numbers[path]) for key, path in ODOM}


def write_csv(bag: Bag, file: Path) -> Table:
    """The table of a bag as CSV, 17 digits: what is read back has the same bits."""
    table = table_of(bag)
    if not table.columns:
        raise MessageError(f"{bag.path} holds no joint states, transforms or odometry to make a table of.")
    stamps = np.unique(np.concatenate([np.unique(t_ns) for t_ns, _ in table.columns.values()]))
    for name, (t_ns, _) in table.columns.items():
        if len(np.unique(t_ns)) < len(t_ns):
            table.left_out.append(f"{name}: {len(t_ns) - len(np.unique(t_ns))} values at stamps that come twice")
    with writing(file), file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([STAMP, TIME, *table.columns])
        for first in range(0, len(stamps), ROWS):
            some = stamps[first : first + ROWS]
            columns = [_cells(some, t_ns, values) for t_ns, values in table.columns.values()]
            times = [str(t) for t in some.tolist()], [repr(t * 1e-9) for t in some.tolist()]
            writer.writerows(zip(*times, *columns, strict=True))
    return table


def _cells(stamps: np.ndarray, t_ns: np.ndarray, values: np.ndarray) -> list[str]:
    """One column at these stamps; the last value of each, empty where there is none."""
    cells = [""] * len(stamps)
    there = np.flatnonzero((t_ns >= stamps[0]) & (t_ns <= stamps[-1]))
    for row, value in zip(np.searchsorted(stamps, t_ns[there]).tolist(), values[there].tolist(), strict=True):
        cells[row] = repr(value)
    return cells


# ---------------------------------------------------------------------------------------------------------- CSV -> bag
class Columns(NamedTuple):
    """Where the numbers of a message are in a row."""

    topic: str
    type: str
    places: dict[str, int]  # by what `make` calls them
    make: Any  # (numbers by place, stamp) -> fields


def read_csv(file: Path, folder: Path) -> list[str]:
    """A bag of a wide table; what is not understood, in words. Where a line is wrong, no bag is left."""
    try:
        with TextIOWrapper(opened(file, "a table", MessageError), encoding="utf-8", newline="") as lines:
            return _read_rows(file, csv.reader(lines), folder)
    except (OSError, UnicodeDecodeError, csv.Error) as err:
        raise MessageError(f"{file} cannot be read as CSV: {err}.") from err


def _read_rows(file: Path, rows: Iterator[list[str]], folder: Path) -> list[str]:
    names = [name.strip() for name in next(rows, [])]
    if STAMP not in names and TIME not in names:
        raise MessageError(f"{file} has no column '{STAMP}' or '{TIME}'; it is no table of a motion.")
    groups, unknown = _groups(names)
    if not groups:
        raise MessageError(f"{file} has no columns of joints, transforms or odometry, as docs/bags.md names them.")
    writer = BagWriter(folder)
    try:
        channels = [writer.add_channel(group.topic, group.type) for group in groups]
        for number, row in enumerate(rows, 2):
            if len(row) != len(names):
                raise MessageError(f"{file}, line {number}: {len(row)} cells under {len(names)} names.")
            stamp = _stamp(file, number, names, row)
            for group, channel in zip(groups, channels, strict=True):
                values = {key: _value(file, number, names, row, at) for key, at in group.places.items() if row[at]}
                if values:
                    data = encode(writer.types, group.type, group.make(values, stamp))
                    writer.write(channel, stamp, bytes(data))
        writer.close()
    except BaseException:
        writer.abandon()
        shutil.rmtree(writer.folder)  # which was made here
        raise
    return [f"column '{name}' is not understood" for name in unknown]


def _stamp(file: Path, number: int, names: list[str], row: list[str]) -> int:
    if STAMP in names:
        text = row[names.index(STAMP)]
        if not re.fullmatch(r"\d{1,18}", text):
            raise MessageError(f"{file}, line {number}: '{text[:40]}' under '{STAMP}' is no whole number.")
        return int(text)
    seconds = _value(file, number, names, row, names.index(TIME))
    if not 0.0 <= seconds < 9e9:
        raise MessageError(f"{file}, line {number}: {seconds} under '{TIME}' is no time from 0 to 9e9 s.")
    return round(seconds * SECOND_NS)


def _value(file: Path, number: int, names: list[str], row: list[str], at: int) -> float:
    try:
        return float(row[at])
    except ValueError:
        raise MessageError(f"{file}, line {number}: '{row[at][:40]}' under '{names[at]}' is no number.") from None


def _groups(names: list[str]) -> tuple[list[Columns], list[str]]:
    """What each column belongs to; those that belong to nothing."""
    joints: dict[str, int] = {}
    frames: dict[str, int] = {}
    bodies: dict[str, dict[str, int]] = {}
    unknown = []
    odometry, pose = {key for key, _ in ODOM}, {key for key, _ in POSE}
    for at, name in enumerate(names):
        start, _, rest = name.rpartition(".")
        if name in (STAMP, TIME):
            continue
        if re.fullmatch(r"(position|rate|effort) \[[^\]]+\]", rest):
            joints[f"{start}\n{rest.split()[0]}"] = at
        elif start.endswith(".odom") and rest in odometry:
            bodies.setdefault(start.removesuffix(".odom"), {})[rest] = at
        elif start and rest in pose:
            frames[f"{start}\n{rest}"] = at
        else:
            unknown.append(name)
    groups = [Columns("/joint_states", JOINTS, joints, _joint_fields)] if joints else []
    groups += [Columns("/tf", TF, frames, _transform_fields)] if frames else []
    for body, places in bodies.items():
        topic = "/odom" if len(bodies) == 1 else f"/odom/{body}"
        groups.append(Columns(topic, ODOMETRY, places, lambda values, t, body=body: _odometry_fields(body, values, t)))
    return groups, unknown


def _joint_fields(values: dict[str, float], stamp: int) -> Fields:
    names = list(dict.fromkeys(key.partition("\n")[0] for key in values))
    fields: Fields = {"header": header(stamp), "name": names}
    for key, field in (("position", "position"), ("rate", "velocity"), ("effort", "effort")):
        column = [values[f"{name}\n{key}"] for name in names if f"{name}\n{key}" in values]
        fields[field] = column if len(column) == len(names) else []
    return fields


def _transform_fields(values: dict[str, float], stamp: int) -> Fields:
    transforms = []
    for frame in dict.fromkeys(key.partition("\n")[0] for key in values):
        child, _, parent = frame.partition(".in.")
        p, q = _pose({key: values.get(f"{frame}\n{key}") for key, _ in POSE})
        pose = {"translation": p, "rotation": q}
        transforms.append({"header": header(stamp, parent or "world"), "child_frame_id": child, "transform": pose})
    return {"transforms": transforms}


def _pose(values: dict[str, float | None]) -> tuple[Vector3, Quaternion]:
    found = [0.0 if value is None else value for value in values.values()]
    return Vector3(*found[:3]), Quaternion(*found[3:7])


def _odometry_fields(body: str, values: dict[str, float], stamp: int) -> Fields:
    p, q = _pose({key: values.get(key) for key, _ in POSE})
    v, w = (
        Vector3(*(values.get(f"{what}_{c} [{unit}]", 0.0) for c in "xyz"))
        for what, unit in (("velocity_body", "m/s"), ("omega_body", "rad/s"))
    )
    return {
        "header": header(stamp, "world"),
        "child_frame_id": body,
        "pose": {"pose": {"position": p, "orientation": q}},
        "twist": {"twist": {"linear": v, "angular": w}},
    }
