"""`rbt verify BAG`: runs again what a bag holds, and says where the first bit differs."""

from typing import NamedTuple

import numpy as np

from rbt_ros import topics
from rbt_ros.bags.bag import Bag
from rbt_ros.bags.cdr import Layout, layout
from rbt_ros.bags.rerun import Rerun
from rbt_ros.bags.sources import Gap, Topic
from rbt_ros.bags.templates import Encoder, encoder
from rbt_ros.bags.types import Types
from rbt_ros.errors import RbtError, ScenarioError

COMPARED = ("tf", "joint_states", "odom", "multi_dof_joint_states", "ropes")  # markers remember what was before


class Stream(NamedTuple):
    """A topic whose messages are made again."""

    topic: Topic
    encode: Encoder
    stamps: np.ndarray  # (N,) rising
    rows: np.ndarray  # (N,) which message has each

    def recorded(self, stamp: int) -> bytes | None:
        """The message of that stamp, the last where there are several."""
        k = int(np.searchsorted(self.stamps, stamp, "right")) - 1
        return self.topic.data[int(self.rows[k])] if k >= 0 and self.stamps[k] == stamp else None


class Verdict(NamedTuple):
    """What came of running a bag again."""

    same: bool
    digests: int  # that agree
    messages: int  # that agree byte by byte
    until_ns: int  # the last stamp at which all agreed
    difference: str  # where and in what it starts; "" where all is the same
    told: list[str]  # what else there is to say
    gaps: list[Gap]  # of which nothing could be compared, as it is lost

    @property
    def code(self) -> int:
        """0: all is the same; 1: it differs; 2: it cannot be said, as messages are lost (before it differs)."""
        before = [gap for gap in self.gaps if self.same or gap.first_ns is None or gap.first_ns <= self.until_ns]
        return 2 if before else 0 if self.same else 1

    def text(self) -> str:
        """For people."""
        agreed = f"{self.digests} digests and {self.messages} messages agree, to {self.until_ns * 1e-9:.9g} s"
        lost = [f"not compared, as messages are lost: {gap.text()}" for gap in self.gaps]
        if self.same:
            last = f"what is left is the same: {agreed}" if lost else f"the same: {agreed}"
        else:
            last = f"differs {self.difference}; before that {agreed}"
            last += ". What is lost may be what acted there" if self.code == 2 else ""
        return "\n".join([*self.told, *lost, last])


def verify(bag: Bag, scenario: str | None = None) -> Verdict:
    """Run a bag again and compare every digest and every message; ScenarioError where that cannot be done."""
    again = Rerun(bag, scenario)
    trail, streams = _trail(bag, again.node), _streams(bag, again)
    stamps = np.unique(np.concatenate([np.array(list(trail), np.int64), *(stream.stamps for stream in streams)]))
    if not len(stamps):
        raise ScenarioError(f"{bag.path} holds no digest and no message that could be compared.")
    digests = messages = 0
    last = again.stamp
    told = [f"damaged: {text}" for text in bag.damage]
    for stamp in map(int, stamps):
        try:
            again.go(stamp)
            difference, compared = _compared(again, stamp, streams, trail.get(stamp))
        except RbtError as err:
            difference, compared = f"it cannot go on: {err}", 0
        if difference:
            where = f"in tick {again.sim.tick}, at {stamp * 1e-9:.9g} s (all agreed to {last * 1e-9:.9g} s)"
            return Verdict(False, digests, messages, last, f"{where}: {difference}", told + again.told, bag.gaps)
        messages, digests, last = messages + compared, digests + (stamp in trail), stamp
    return Verdict(True, digests, messages, last, "", told + again.told, bag.gaps)


def _trail(bag: Bag, node: str) -> dict[int, str]:
    name = f"{node}/digest"
    return dict(bag.texts(name)) if name in bag.topics else {}


def _streams(bag: Bag, again: Rerun) -> list[Stream]:
    """What the table of topics has and the bag holds."""
    space, types, robot = again.node.rpartition("/")[0], Types(), again.sim.robot
    found = []
    for topic in topics.published(robot, again.prefix):
        name = topic.name if topic.name.startswith("/") else f"{space}/{topic.name}"
        if topic.key in COMPARED and name in bag.topics:
            recorded = bag.topic(name, topic.type)
            stamps = bag.stamps(recorded)  # when a bag of others was recorded is not when it holds
            order = np.argsort(stamps, kind="stable")
            found.append(Stream(recorded, encoder(types, topic, robot, again.prefix), stamps[order], order))
    return found


def _compared(again: Rerun, stamp: int, streams: list[Stream], digest: str | None) -> tuple[str, int]:
    """What differs at this stamp, and how many messages do not."""
    if again.stamp != stamp:
        return f"no tick has that stamp; the step is {again.sim.h_ns * 1e-6:g} ms", 0
    sample, count = again.sim.sample(), 0
    for stream in streams:
        recorded = stream.recorded(stamp)
        if recorded is None:
            continue
        if (made := stream.encode(sample, stamp)) != recorded:
            return f"{stream.topic.name}: {differing(stream.topic.type, recorded, made)}", count
        count += 1
    made_digest = f"{sample.tick} {sample.digest()}"
    if digest is not None and digest != made_digest:
        return f"digest of the state: recorded '{digest}', now '{made_digest}'", count
    return "", count


def differing(kind: str, recorded: bytes, made: bytes) -> str:
    """The first number or string in which two messages of a type differ."""
    types = Types()
    a, b = layout(types, kind, recorded), layout(types, kind, made)
    named = {path: found for path, found in zip(_texts(a, recorded), _texts(b, made), strict=False) if path != found}
    for before, after in named.items():
        return f"recorded {before[0]} = '{before[1]}', now {after[0]} = '{after[1]}'"
    for path, leaf in a.numbers.items():
        if path not in b.numbers or b.numbers[path] != leaf:
            return f"{path} has another length"
        count = 1 if leaf.length is None else leaf.length
        old, new = (
            np.frombuffer(data, found.order + leaf.letter, count, leaf.offset)
            for data, found in ((recorded, a), (made, b))
        )
        if old.tobytes() != new.tobytes():
            k = int(np.flatnonzero(old.view(np.uint8).reshape(count, -1) != new.view(np.uint8).reshape(count, -1))[0])
            k //= old.itemsize
            which = path if leaf.length is None else f"{path}[{k}]"
            before, now = old[k].item(), new[k].item()
            return f"{which}: recorded {before!r}, now {now!r}, difference {now - before:.3g}"
    return "in bytes that hold no value"


def _texts(found: Layout, data: bytes) -> list[tuple[str, str]]:
    return [(path, bytes(data[at : at + n]).decode("utf-8", "replace")) for path, (at, n) in found.strings.items()]
