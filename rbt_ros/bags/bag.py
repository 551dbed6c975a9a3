"""Bag: what was recorded, read as it is asked for. MCAP to the last whole chunk; other formats through `rosbags`."""

import heapq
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.bags.arrays import Arrays, arrays_of
from rbt_ros.bags.foreign import read_foreign
from rbt_ros.bags.mcap_source import mcap_files, read_mcap
from rbt_ros.bags.metadata import custom_data, read_metadata, shortfall
from rbt_ros.bags.sources import Gap, Source, Topic, gaps_of
from rbt_ros.bags.type_texts import types_from
from rbt_ros.bags.types import Types
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.kinds import in_words
from rbt_ros.paths import as_path

PART = 20_000  # messages
STAMPS = ("header.stamp", "transforms[0].header.stamp", "stamp")
RUN: dict[str, type | tuple[type, ...]] = {  # what tells what runs, and how
    **dict.fromkeys(("name", "scenario", "folder", "integrator", "wrench_at", "frame_prefix", "digest"), str),
    **dict.fromkeys(("seed", "step_ns", "tick", "stamp"), int),
    **{"wrench_hold": (int, float), "versions": dict},
}
LATCHED, STRING = "/latched/", "std_msgs/msg/String"


class Skipped(NamedTuple):
    """A topic whose messages cannot be understood."""

    type: str
    messages: int
    reason: str


class Bag:
    """A recorded bag: the folder, or one of its files.

    `damage`: what could not be read; `gaps`: when messages are lost, also by damage before a repair; `skipped`: topics.
    """

    def __init__(self, path: str | Path):
        self.path = as_path(path, "bag", ScenarioError)
        if not os.path.exists(self.path):
            raise ScenarioError(f"there is no bag {self.path!s:.200}.")
        files = mcap_files(self.path)
        information, trouble = read_metadata(self.path) if files else ({}, "")
        # messages that are packed one by one, as metadata.yaml alone tells, are left to rosbags
        plain = str(information.get("compression_mode") or "").lower() != "message"
        source: Source = read_mcap(files) if files and plain else read_foreign(self.path)
        self.format, self.damage, self.metadata = source.format, source.damage, source.metadata
        if custom := custom_data(information):
            self.metadata.setdefault("custom_data", custom)
        if trouble:
            self.damage.append(trouble)
        self.gaps = list(dict.fromkeys([*source.gaps, *gaps_of(custom)]))
        if not self.gaps:
            count = sum(len(topic.t_ns) for topic in source.topics.values())
            self.damage += (lacking := shortfall(self.path, information, count))
            self.gaps += [Gap(None, None)] if lacking else []
        self.size = source.size
        store, reasons = types_from(source.topics.values())
        self._types = Types(store)
        self.topics: dict[str, Topic] = {}
        self.skipped: dict[str, Skipped] = {}
        for name, topic in source.topics.items():
            reason = reasons.get(topic.type, "") or ("" if self._types.has(topic.type) else "its type is not known")
            if reason:
                self.skipped[name] = Skipped(topic.type, len(topic.t_ns), reason)
            else:
                self.topics[name] = topic

    # what is in it

    @property
    def messages(self) -> int:
        """How many messages there are that can be understood."""
        return sum(len(topic.t_ns) for topic in self.topics.values())

    @property
    def span(self) -> tuple[int, int]:
        """The first and last time at which something was recorded [ns]; (0, 0) where nothing was."""
        ends = [end for topic in self.topics.values() if topic.t_ns for end in (min(topic.t_ns), max(topic.t_ns))]
        return (min(ends), max(ends)) if ends else (0, 0)

    def backwards(self) -> dict[str, int]:
        """Topics whose times go back, and how often."""
        steps = {name: int((np.diff(topic.t_ns) < 0).sum()) for name, topic in self.topics.items() if topic.t_ns}
        return {name: count for name, count in steps.items() if count}

    @in_words(MessageError)
    def topic(self, name: str, kind: str = "") -> Topic:
        """A topic, by full name or by its unique end; MessageError where it is not of that type."""
        found = self.topics.get("/" + name.lstrip("/")) or self._by_end(name)
        if kind and found.type != kind:
            raise MessageError(f"topic {found.name} of {self.path} is {found.type}; {kind} is needed.")
        return found

    def _by_end(self, name: str) -> Topic:
        ends = "/" + name.lstrip("/")
        for key in (*self.topics, *self.skipped):
            if key == name and key in self.skipped:
                skipped = self.skipped[key]
                raise MessageError(f"topic {key} of {self.path} cannot be read: {skipped.type}: {skipped.reason}.")
        ending = [topic for key, topic in self.topics.items() if key.endswith(ends)]
        found = [
            topic for topic in ending if LATCHED not in topic.name
        ] or ending  # what was sent, before what was taken
        if len(found) != 1:
            several = ", ".join(topic.name for topic in found)
            known = f"several: {several}; name one in full" if found else f"it has {', '.join(self.topics) or 'none'}"
            raise MessageError(f"{self.path} has no one topic {name}: {known}.")
        return found[0]

    # reading

    def arrays(self, name: str, kind: str = "") -> Arrays:
        """All messages of a topic as arrays."""
        topic = self.topic(name, kind)
        return self._arrays(topic, topic.t_ns, topic.data)

    def parts(self, name: str, kind: str = "", most: int = PART) -> Iterator[Arrays]:
        """The same, one after the other, of at most so many messages each: of bags that are longer than memory."""
        topic, most = self.topic(name, kind), _part(most)
        data = iter(topic.data)
        for first in range(0, len(topic.t_ns), most):
            yield self._arrays(topic, topic.t_ns[first : first + most], list(itertools.islice(data, most)))

    def _arrays(self, topic: Topic, t_ns: Sequence[int], data: Sequence[bytes]) -> Arrays:
        try:
            return arrays_of(self._types, topic.type, t_ns, data)
        except MessageError as err:
            raise MessageError(f"topic {topic.name} of {self.path}: {err}") from err

    def stamps(self, topic: Topic) -> np.ndarray:
        """(N,) the stamps in the messages [ns]; when they were recorded, where those have none."""
        found = []
        for part in self.parts(topic.name):
            key = next((path for path in STAMPS if path in part.stamps), "")
            found.append(part.stamps[key] if key else part.t_ns)
        return np.concatenate([np.empty(0, np.int64), *found])

    def rows(
        self, topics: Iterable[Topic] | None = None, *, backwards: bool = False
    ) -> Iterator[tuple[int, Topic, bytes]]:
        """(time [ns], topic, message) of all topics, or these, in the order of time, or from the last one back."""

        def of(number: int, topic: Topic) -> Iterator[tuple[int, int, Topic, bytes]]:
            order = np.argsort(np.array(topic.t_ns), kind="stable")
            return ((topic.t_ns[k], number, topic, topic.data[k]) for k in (order[::-1] if backwards else order))

        chosen = self.topics.values() if topics is None else topics
        merged = heapq.merge(*itertools.starmap(of, enumerate(chosen)), key=itemgetter(0, 1), reverse=backwards)
        return ((time, topic, data) for time, _, topic, data in merged)

    def read(self, name: str, kind: str = "") -> Iterator[tuple[int, Any]]:
        """(time [ns], message) of a topic, one by one; fields as in ROS."""
        topic = self.topic(name, kind)
        for time, data in zip(topic.t_ns, topic.data, strict=True):
            yield time, self.message(topic, data)

    def message(self, topic: Topic, data: bytes) -> Any:
        """One message; MessageError where it is not of its type."""
        try:
            return self._types.store.deserialize_cdr(data, topic.type)
        except Exception as err:  # whatever damaged bytes make of the generated code of rosbags
            raise MessageError(
                f"topic {topic.name} of {self.path} has a message that is no {topic.type}: {err}"
            ) from err

    @in_words(MessageError)
    def texts(self, name: str) -> list[tuple[int, str]]:
        """(time [ns], text) of a topic of strings."""
        found = self.arrays(name, STRING)
        said = found.texts.get("data", [])
        if len(said) != len(found.t_ns):
            raise MessageError(f"topic {name} of {self.path}: its definition has no text 'data'.")
        return list(zip(found.t_ns.tolist(), said, strict=True))

    def runs(self) -> list[dict[str, Any]]:
        """What ran, from which stamp on: see `recorder.run_of`. Empty where the bag was not recorded by us."""
        names = [key for key, topic in self.topics.items() if key.endswith("/run") and topic.type == STRING]
        found = []
        for name in names:
            for time_ns, text in self.texts(name):
                try:
                    run = json.loads(text)
                except ValueError:
                    continue  # somebody else's topic of that name
                if isinstance(run, dict) and run.get("rbt_run") == 1:
                    self._check_run(name, run)
                    found.append({**run, "node": name.removesuffix("/run"), "time_ns": time_ns})
        return sorted(found, key=lambda run: run["time_ns"])

    def _check_run(self, topic: str, run: dict[str, Any]) -> None:
        """MessageError where it lacks what `recorder.run_of` says."""
        for key, kind in RUN.items():
            if not isinstance(run.get(key), kind):
                text = f"topic {topic} of {self.path}: what runs is damaged: {key} is {run.get(key)!r:.40}."
                raise MessageError(text)

    def types(self) -> Types:
        """The types of the messages, as the bag defines them."""
        return self._types


def _part(most: int) -> int:
    """How many messages a part has at most; MessageError where that is no such number."""
    if not isinstance(most, int | np.integer) or isinstance(most, bool) or not 1 <= most < 2**63:
        raise MessageError(f"Bag.parts: most {most!r:.40} must be a whole number of messages, 1 or more.")
    return int(most)
