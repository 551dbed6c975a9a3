"""What a bag says of itself: quality of service per topic, and metadata.yaml as rosbag2 writes it (version 9)."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from rbt_ros.bags.mcap_write import Channel
from rbt_ros.errors import ScenarioError
from rbt_ros.model.reading import plain_yaml
from rbt_ros.paths import content_of

VERSION = 9
FILE = "metadata.yaml"
INFORMATION = "rosbag2_bagfile_information"
FOR_EVER = {"sec": 9223372036, "nsec": 854775807}


class Part(NamedTuple):
    """One file of a bag."""

    name: str
    first_ns: int
    last_ns: int
    messages: int


def profile(qos: str) -> list[dict[str, Any]]:
    """The offered profile of a kind of topic in `topics` (or "log"), as rosbag2 describes it."""
    return [
        {
            "history": "keep_last",
            "depth": {"latched": 1, "log": 1000}.get(qos, 10),
            "reliability": "reliable",
            "durability": "transient_local" if qos == "latched" else "volatile",
            "deadline": FOR_EVER,
            "lifespan": FOR_EVER,
            "liveliness": "automatic",
            "liveliness_lease_duration": FOR_EVER,
            "avoid_ros_namespace_conventions": False,
        }
    ]


def yaml_text(data: Any) -> str:
    """Data as YAML."""
    yaml, out = YAML(typ="safe"), io.StringIO()
    yaml.default_flow_style = False
    yaml.representer.ignore_aliases = lambda _: True
    yaml.dump(data, out)
    return out.getvalue()


def profiles_of(qos: str) -> Any:
    """Profiles from the YAML of a channel; none where it is not readable."""
    try:
        return plain_yaml(qos) or [] if qos else []
    except Exception:  # whatever a damaged file makes of ruamel: a topic without profiles is what rosbag2 takes too
        return []


def read_metadata(folder: Path) -> tuple[dict[str, Any], str]:
    """What metadata.yaml tells of a bag, and why it cannot be read; nothing of both where it is not there."""
    if not os.path.exists(folder / FILE):
        return {}, ""
    try:
        text = content_of(folder / FILE, "metadata.yaml", ScenarioError).decode()
        return dict(plain_yaml(text)[INFORMATION]), ""
    except Exception as err:  # whatever a damaged file makes of ruamel, or of us
        return {}, f"{FILE} cannot be read ({type(err).__name__}); `rbt repair {folder}` makes it again"


def custom_data(information: dict[str, Any]) -> dict[str, str]:
    """What the writer of a bag says of it, by key."""
    found = information.get("custom_data")
    return {str(key): str(value) for key, value in found.items()} if isinstance(found, dict) else {}


def shortfall(folder: Path, information: dict[str, Any], messages: int) -> list[str]:
    """What metadata.yaml tells of and the folder does not hold, in words. messages: how many it does."""
    names, count = information.get("relative_file_paths"), information.get("message_count")
    listed = [Path(str(name)).name for name in names] if isinstance(names, list) else []
    if missing := [name for name in listed if not os.path.exists(folder / name)]:
        return [f"{FILE} names {', '.join(missing)}, which the folder does not hold: its messages are missing"]
    if isinstance(count, int) and count != messages:
        return [f"{FILE} counts {count} messages, and {messages} are here"]
    return []


def write_metadata(
    folder: Path, parts: Sequence[Part], channels: Sequence[tuple[Channel, str, int]], custom: dict[str, str]
) -> None:
    """metadata.yaml; channels: (channel, RIHS01 hash, messages). The file is whole or not there."""
    first = min((part.first_ns for part in parts if part.messages), default=0)
    last = max((part.last_ns for part in parts if part.messages), default=0)
    topics = [
        {
            "topic_metadata": {
                "name": channel.topic,
                "type": channel.type,
                "serialization_format": "cdr",
                "offered_qos_profiles": profiles_of(channel.qos),
                "type_description_hash": digest,
            },
            "message_count": count,
        }
        for channel, digest, count in channels
    ]
    files = [
        {
            "path": part.name,
            "starting_time": {"nanoseconds_since_epoch": part.first_ns if part.messages else 0},
            "duration": {"nanoseconds": max(0, part.last_ns - part.first_ns) if part.messages else 0},
            "message_count": part.messages,
        }
        for part in parts
    ]
    information = {
        "version": VERSION,
        "storage_identifier": "mcap",
        "duration": {"nanoseconds": last - first},
        "starting_time": {"nanoseconds_since_epoch": first},
        "message_count": sum(part.messages for part in parts),
        "topics_with_message_count": topics,
        "compression_format": "",
        "compression_mode": "",
        "relative_file_paths": [part.name for part in parts],
        "files": files,
        "custom_data": custom,
        "ros_distro": "jazzy",
    }
    draft = folder / f"{FILE}.part"
    draft.write_text(yaml_text({INFORMATION: information}), encoding="utf-8")
    draft.replace(folder / FILE)
