"""Message <-> plain data. Pure functions in pairs: `fill` writes fields into a message, `fields_of` reads them."""

import functools
from collections.abc import Iterable
from importlib import import_module
from typing import Any

from rbt_ros.command_messages import shortened as shortened
from rbt_ros.command_messages import stamp_of as stamp_of
from rbt_ros.command_messages import wrench_command as wrench_command


@functools.cache
def message_class(name: str) -> type:
    """The class of "nav_msgs/msg/Odometry" (or "nav_msgs/Odometry", as message definitions write it)."""
    package, *_, kind = name.split("/")
    return getattr(import_module(f"{package}.msg"), kind)


@functools.cache
def _element_class(message: type, field: str) -> type:
    kind = message.get_fields_and_field_types()[field]  # type: ignore[attr-defined]
    return message_class(kind.removeprefix("sequence<").removesuffix(">"))


def fill(message: Any, fields: dict[str, Any]) -> Any:
    """Set `fields` (as `topics` makes them) in `message`, in place, and return it. What is not named stays.

    Reusing one message for all publications costs a third of building it anew.
    """
    for name, value in fields.items():
        if isinstance(value, dict):
            fill(getattr(message, name), value)
        elif isinstance(value, tuple):  # Time, Vector3, Quaternion: by field name, so w x y z needs no care
            part = getattr(message, name)
            for key, number in zip(value._fields, value, strict=True):  # type: ignore[attr-defined]
                setattr(part, key, number)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            setattr(message, name, _filled(getattr(message, name), value, type(message), name))
        else:
            setattr(message, name, value)
    return message


def _filled(old: list, values: list[dict], owner: type, field: str) -> list:
    kind = _element_class(owner, field)
    elements = old if len(old) == len(values) else [kind() for _ in values]
    for element, value in zip(elements, values, strict=True):
        fill(element, value)
    return elements


def fields_of(message: Any) -> Any:
    """All fields of a message as nested dicts, lists and numbers: what `fill` takes, without the NamedTuples."""
    if hasattr(message, "get_fields_and_field_types"):
        return {name: fields_of(getattr(message, name)) for name in message.get_fields_and_field_types()}
    if isinstance(message, str | bytes):
        return message
    if isinstance(message, Iterable):
        return [fields_of(element) for element in message]
    return message
