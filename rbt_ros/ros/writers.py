"""What goes out, as bytes made by what writes our bags: a message, which rclpy has to convert, costs twice as much
(`make bench ONLY=publish_cost`).

Where this ROS defines a message otherwise than the ROS whose definitions we have, messages are filled by name.
`test_writers` compares both.
"""

import functools
from collections.abc import Callable
from typing import Any

from rbt_ros.bags.cdr import encode, encode_strictly
from rbt_ros.bags.templates import JOINT_STATE, encoder, joint_writer
from rbt_ros.bags.types import Types
from rbt_ros.model.robot import Robot
from rbt_ros.results import Sample
from rbt_ros.ros.convert import fill, message_class
from rbt_ros.topics import Fields, Topic


@functools.cache
def own_types() -> Types:
    """The definitions that we have."""
    return Types()


@functools.cache
def is_alike(kind: str) -> bool:
    """Whether this ROS has the same fields in the same order, so that our bytes are its own."""
    types = own_types()
    if not types.has(kind):
        return False
    here, fields = message_class(kind).get_fields_and_field_types(), types.fields(kind)  # type: ignore[attr-defined]
    return list(here) == [f.name for f in fields] and all(is_alike(f.message) for f in fields if f.message)


def sample_writer(topic: Topic, robot: Robot, prefix: str, local: str = "") -> Callable[[Sample, int], Any]:
    """(sample, stamp [ns]) -> what a publisher of `topic` is to send."""
    if is_alike(topic.type):
        return encoder(own_types(), topic, robot, prefix, local)
    write = field_writer(topic.type)
    return lambda sample, stamp: write(topic.fields(sample, stamp))


def field_writer(kind: str) -> Callable[[Fields], Any]:
    """Fields, as `topics` makes them -> what a publisher is to send."""
    if is_alike(kind):
        if kind == JOINT_STATE:
            return joint_writer(own_types())
        return lambda fields: bytes(encode(own_types(), kind, fields))
    message = message_class(kind)()
    return lambda fields: fill(message, fields)


def check(kind: str, fields: Fields) -> None:
    """Raises where fields that another's code has made are not those of a message."""
    if is_alike(kind):
        encode_strictly(own_types(), kind, fields)
    else:
        fill(message_class(kind)(), fields)
