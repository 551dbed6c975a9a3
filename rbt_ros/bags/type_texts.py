"""Message definitions in bags -> types; where a bag has none, those of ROS 2 Jazzy."""

import functools
from collections.abc import Iterable

from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from rbt_ros.bags.sources import Topic
from rbt_ros.bags.types import known_types

RULE = "=" * 80 + "\n"


def types_from(topics: Iterable[Topic]) -> tuple[Typestore, dict[str, str]]:
    """A store of the types of these topics, and why some are not in it."""
    return _types_from(tuple(dict.fromkeys((topic.type, topic.encoding, topic.definition) for topic in topics)))


@functools.lru_cache(maxsize=16)
def _types_from(definitions: tuple[tuple[str, str, str], ...]) -> tuple[Typestore, dict[str, str]]:
    store, reasons, known = get_typestore(Stores.EMPTY), dict[str, str](), known_types()
    for kind, encoding, definition in definitions:
        if kind in reasons or kind in store.fielddefs:
            continue
        try:
            if definition:
                store.register(_parsed(kind, encoding, definition))
            elif kind in known.fielddefs:
                store.register(_with_parts(kind, known))
            else:
                reasons[kind] = "the bag does not define it, and it is none of ROS 2 Jazzy's"
        except Exception as err:  # whatever a damaged definition makes of the parser
            reasons[kind] = f"its definition cannot be read ({type(err).__name__}: {str(err)[:100]})"
    return store, reasons


@functools.lru_cache(maxsize=256)
def _parsed(kind: str, encoding: str, definition: str) -> dict:
    if encoding != "ros2idl":
        return get_types_from_msg(definition, kind)
    if not definition.startswith(f"{RULE}IDL: "):
        return get_types_from_idl(definition)
    found: dict = {}
    for part in definition.split(RULE)[1:]:
        found.update(get_types_from_idl(part.split("\n", 1)[1]))
    return found


def _with_parts(name: str, store: Typestore) -> dict:
    """A type and all that it is made of."""
    found, waiting = {}, [name]
    while waiting:
        kind = waiting.pop()
        if kind not in found:
            found[kind] = store.fielddefs[kind]
            waiting += [part for _, node in store.fielddefs[kind][1] for part in _messages_in(node)]
    return found


def _messages_in(node) -> list[str]:
    kind, what = node
    if kind == 2:  # Nodetype.NAME
        return [what]
    return _messages_in(what[0]) if kind in (3, 4) else []
