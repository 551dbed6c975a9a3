"""What is to be recorded, as data that another process can take; and the scribe, who makes the messages and writes."""

import json
import struct
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rbt_ros import topics
from rbt_ros.bags.cdr import encode
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.sources import OURS
from rbt_ros.bags.templates import Encoder, encoder
from rbt_ros.fields import Fields
from rbt_ros.model.robot import Robot
from rbt_ros.model.sensors import Mount
from rbt_ros.results import Sample

FLUSH_S = 0.25  # [s] steady time from one chunk to the next
STRING = "std_msgs/msg/String"
DIGEST = "digest"  # the key of the one output that is no topic of the node
MOST_DIGESTS = 1000  # in the metadata of a bag
OF_MOTION = {DIGEST, "tf", "joint_states", "odom", "multi_dof_joint_states"}  # outputs that need no more than it


class Channel(NamedTuple):
    """One topic of a bag; its number is its place among them, from 1 on."""

    topic: str
    type: str
    qos: str


class Output(NamedTuple):
    """What is made of a sample every so often."""

    key: str  # as in `outputs` of a scenario, or DIGEST
    topic: str  # as in `topics.published`
    period_ns: int
    channel: int


class Plan(NamedTuple):
    """A recording."""

    folder: str
    robot: Robot
    prefix: str
    channels: tuple[Channel, ...]
    outputs: tuple[Output, ...]
    clock: Output  # with each sample
    latched: tuple[Output, ...]  # said once
    compression: str
    split_bytes: int
    split_s: float
    run: int  # the channel that tells what runs
    mounts: tuple[Mount, ...] = ()  # frames of sensors


class Due(NamedTuple):
    """What is made of one sample."""

    outputs: tuple[int, ...]  # places in the plan
    whole: bool  # whether it needs more than the motion
    reactions: bool  # whether it needs what hinges transmit
    packed: bytes  # the places as numbers of 16 bits, filled up to a multiple of 8 bytes


def due_of(outputs: Sequence[Output], places: tuple[int, ...]) -> Due:
    """These outputs of a plan."""
    keys = {outputs[k].key for k in places}
    filled = places + (0,) * (-len(places) % 4)
    packed = struct.pack(f"<{len(filled)}H", *filled)
    return Due(places, not keys <= OF_MOTION, "hinge_wrenches" in keys, packed)


class Written(NamedTuple):
    """What became of a recording; failure: why it is not whole."""

    messages: int = 0
    size: int = 0  # [bytes]
    failure: str = ""


class Trail:
    """Digests at even distances over a run of any length."""

    def __init__(self, most: int = MOST_DIGESTS):
        """most: how many are kept, an even number; of more, each second one is dropped."""
        self._most, self._every, self._count = most, 1, 0
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        """The next one."""
        if self._count % self._every == 0:
            if len(self.lines) == self._most:
                self.lines, self._every = self.lines[::2], 2 * self._every
            self.lines.append(line)
        self._count += 1


class Scribe:
    """Makes messages and writes them. Used by one thread, of this process or another."""

    def __init__(self, plan: Plan, writer: Callable[..., BagWriter] = BagWriter, *, made: bool = False):
        """made: whether the folder was made already."""
        self._bag = writer(
            plan.folder,
            compression=plan.compression,
            split_bytes=plan.split_bytes,
            split_s=plan.split_s,
            made=made,
        )
        self._types, self._kinds = self._bag.types, [channel.type for channel in plan.channels]
        for channel in plan.channels:
            self._bag.add_channel(*channel)
        known = {topic.name: topic for topic in topics.published(plan.robot, plan.prefix, mounts=plan.mounts)}

        def encoded(output: Output) -> tuple[int, Encoder]:
            if output.key == DIGEST:
                return output.channel, self._digest
            return output.channel, encoder(self._types, known[output.topic], plan.robot, plan.prefix)

        self._outputs = [encoded(output) for output in plan.outputs]
        self._clock, self._latched = encoded(plan.clock), [encoded(output) for output in plan.latched]
        self._flushed = time.monotonic()
        self._run, self._trail, self._said = plan.run, Trail(), dict[str, str]()

    def _digest(self, sample: Sample, stamp: int) -> bytes:
        text = f"{sample.tick} {sample.digest()}"
        self._trail.add(f"{stamp} {text}")
        return bytes(encode(self._types, STRING, {"data": text}))

    def sample(self, due: tuple[int, ...], sample: Sample, stamp: int) -> None:
        """The clock and the outputs that are due."""
        write, (channel, encoded) = self._bag.write, self._clock
        write(channel, stamp, encoded(sample, stamp))
        for k in due:
            channel, encoded = self._outputs[k]
            write(channel, stamp, encoded(sample, stamp))

    def latched(self, sample: Sample, stamp: int) -> None:
        """What is said once."""
        for channel, encoded in self._latched:
            self._bag.write(channel, stamp, encoded(sample, stamp))

    def fields(self, channel: int, fields: Fields, time_ns: int) -> None:
        """One message of other origin."""
        self._bag.write(channel, time_ns, bytes(encode(self._types, self._kinds[channel - 1], fields)))
        if channel == self._run and not self._said:
            self._said = said_of(json.loads(fields["data"]))
            self._bag.add_metadata(OURS, self._said)  # now: it is there whatever is killed

    def flush_in_time(self) -> None:
        """Close the chunk where that is due."""
        if (now := time.monotonic()) - self._flushed >= FLUSH_S:
            self._bag.flush()
            self._flushed = now

    def end(self, lost: int) -> Written:
        """Write the index and metadata.yaml."""
        custom = {**self._said, "rbt_lost_samples": str(lost), "rbt_digests": "\n".join(self._trail.lines)}
        self._bag.add_metadata(OURS, custom)
        self._bag.close(custom)
        return Written(self._bag.messages, self._bag.size)

    def abandon(self) -> None:
        """Leave the files as they are."""
        self._bag.abandon()


def said_of(run: dict[str, Any]) -> dict[str, str]:
    """Of what runs that which the metadata of a bag tells: scenario, seed, versions."""
    found = {f"rbt_{key}": run[key] for key in ("scenario", "seed", "versions") if key in run}
    return {key: value if isinstance(value, str) else json.dumps(value) for key, value in found.items()}
